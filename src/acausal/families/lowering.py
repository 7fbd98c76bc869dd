"""Lowering: a translated system becomes what a solver works on: assignments, residuals, a pattern, and where every unknown went.

Workspace: `w = [ y | y' | known | computed ]`; explicit variables (see `explicit.py`) live in `computed`, which belongs to the
known part as far as solvers are concerned. The Jacobian of the residuals by y goes through them by the chain rule. With M the
derivatives by y of residual rows and of computed cells, and P those by computed cells, `M[t] += P[t, z] · M[z]`, computed cells in
their order first: a list of products over positions of one value array `[ pattern | M of computed cells | P | dump ]`.

A family whose outputs share costly work falls apart here: some of its rows stay residuals, others become assignments of several
levels. Those of one level stay one kernel; a call that kernels of several levels need gets a computed cell of its own, so that it
is still made once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

import numpy as np

from ..language.expression import Call, Expression, Slot, transform, walk
from ..records import dataclass
from .chain import Chain
from .explicit import Determines, Explicit, choose_explicit, negative, places_of, unfolded
from .forms import Form, Forms, Outputs, formed, over_used_slots
from .forms import kept as _kept
from .pattern import Pattern, distinct, sorted_unique
from .system import System
from .template import MINUS, MIXED, Family, merged_families

Merged = dict[Outputs, list[tuple[np.ndarray, np.ndarray]]]
Piece = tuple[int, np.ndarray, Form]  # output, columns, what these contribute
Placed = dict[int, dict[int, Form]]  # by level and output

_NOTHING = np.zeros(0)
_RESIDUAL = 0  # the level of rows that stay
_LAST = 1 << 30  # within a level, variables come after the calls that they share


@dataclass(slots=True, eq=False)
class Lowered:
    """Families over the lowered workspace, and the way back to the system's own numbers."""

    system: System
    families: list[Family]
    assignments: list[Family]  # in the order in which they must run; rows are numbers of computed cells
    pattern: Pattern  # `positions` of the families, then of the assignments
    products: np.ndarray  # (3, k): value[target] += value[first] · value[second]
    cells: int  # of the value array behind the pattern, the dump not counted
    kept: np.ndarray  # the system's unknowns that are still unknowns
    kept_rows: np.ndarray
    explicit: Explicit
    place: np.ndarray  # of each of the system's unknowns, its workspace index
    index: np.ndarray  # the system's workspace indices → lowered ones
    coefficients: list[tuple[Expression, Family, np.ndarray]] = field(default_factory=list)  # that are divided by
    shared_rows: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))  # of each shared call, a row with it

    @property
    def size(self) -> int:
        return len(self.kept)

    @property
    def computed(self) -> int:
        """Computed cells: explicit variables, then shared calls."""
        return len(self.explicit.unknown) + len(self.shared_rows)

    def usable(self, known: np.ndarray) -> bool:
        """Whether no coefficient that is divided by is zero with these parameters."""
        from .evaluate import evaluate_arrays

        offset = 2 * self.system.size
        for partial, family, columns in self.coefficients:
            cells = {s.number: unfolded(family, s.number)[columns] - offset for s in walk(partial) if isinstance(s, Slot)}
            signs = {k: np.where(negative(family, k)[columns], -1.0, 1.0) for k in cells}
            leaf = lambda s, c=cells, g=signs: g[s.number] * known[c[s.number]]  # noqa: E731
            if not np.all(evaluate_arrays(partial, leaf, batch=1)):
                return False
        return True

    def initial_families(self) -> list[Family]:
        """The families of the initial equations over the lowered workspace (they name no explicit variable)."""
        return self.moved(self.system.initial_families)

    def moved(self, families: list[Family]) -> list[Family]:
        """Families of the system over the lowered workspace."""
        if not self.computed:
            return families
        merged: Merged = {}
        for family in families:
            everywhere = np.ones(family.count, dtype=bool)
            merged.setdefault(family.template.outputs, []).append((_signed(family, everywhere, self.index), family.rows))
        return merged_families(merged)

    def expand(self, workspace: np.ndarray) -> np.ndarray:
        """A lowered workspace, or several as rows, in the layout of the system."""
        n, m = self.system.size, self.size
        whole = np.zeros((*workspace.shape[:-1], 2 * n + self.system.known_count))
        whole[..., :n] = workspace[..., self.place]
        whole[..., n + self.kept] = workspace[..., m : 2 * m]
        whole[..., 2 * n :] = workspace[..., 2 * m : 2 * m + self.system.known_count]
        return whole

    def original_row(self, row: int, workspace: np.ndarray) -> int:
        """The system's row behind a lowered one; if an explicit variable has no value, the row that computes it."""
        computed = workspace[2 * self.size + self.system.known_count :]
        wrong = np.flatnonzero(~np.isfinite(computed))
        return int(np.append(self.explicit.row, self.shared_rows)[wrong[0]]) if len(wrong) else int(self.kept_rows[row])


def lower(system: System, pattern: Pattern, keep: np.ndarray | None = None, fit: Determines | None = None) -> Lowered:
    """Lower a square system; without `keep` nothing is made explicit. `fit` says which (unknowns, rows) may belong together."""
    nothing = np.zeros(0, dtype=np.int64)
    if keep is None:
        return _unchanged(system, pattern, Explicit(nothing, nothing, nothing))
    return lower_with(system, pattern, choose_explicit(system, pattern, keep, fit))


def lower_with(system: System, pattern: Pattern, explicit: Explicit) -> Lowered:
    """Lower with assignments that were chosen already."""
    return _Lowering(system, explicit).lowered() if len(explicit.unknown) else _unchanged(system, pattern, explicit)


def _unchanged(system: System, pattern: Pattern, explicit: Explicit) -> Lowered:
    everything = np.arange(system.size)
    products = np.zeros((3, 0), dtype=np.int32)
    rows = np.arange(system.equation_count)
    index = np.arange(2 * system.size + system.known_count, dtype=np.int32)
    return Lowered(system, system.families, [], pattern, products, 0, everything, rows, explicit, everything, index)


class _Lowering:
    def __init__(self, system: System, explicit: Explicit) -> None:
        self.system, self.explicit = system, explicit
        n = system.size
        self.number = np.full(n, -1, dtype=np.int32)  # of computed cells
        self.number[explicit.unknown] = np.arange(len(explicit.unknown), dtype=np.int32)
        self.unknown_of_row = np.full(system.equation_count, -1, dtype=np.int32)
        self.unknown_of_row[explicit.row] = explicit.unknown
        self.level_of_row = np.zeros(system.equation_count, dtype=np.int32)
        self.level_of_row[explicit.row] = explicit.level
        self.kept = np.flatnonzero(self.number < 0)
        self.kept_rows = np.flatnonzero(self.unknown_of_row < 0)
        self.m, self.z = len(self.kept), len(explicit.unknown)
        self.new_row = np.where(self.unknown_of_row < 0, np.cumsum(self.unknown_of_row < 0, dtype=np.int32) - 1, -1)
        self.index = self._workspace_map()
        self.level_of_unknown = np.zeros(n, dtype=np.int64)
        self.level_of_unknown[explicit.unknown] = explicit.level
        self.residuals: Merged = {}
        self.assigned: dict[tuple[int, int], Merged] = {}  # by level and place within it
        self.shared: list[np.ndarray] = []
        self.coefficients: list[tuple[Expression, Family, np.ndarray]] = []
        self.forms = Forms()

    def _workspace_map(self) -> np.ndarray:
        """Old workspace index → new one."""
        n, known = self.system.size, self.system.known_count
        new, stays = np.empty(2 * n + known, dtype=np.int32), self.number < 0
        unknown = np.cumsum(stays, dtype=np.int32) - 1
        new[:n] = np.where(stays, unknown, self.number + (2 * self.m + known))
        new[n : 2 * n] = np.where(stays, unknown + self.m, -1)
        new[2 * n :] = np.arange(2 * self.m, 2 * self.m + known)
        return new

    def lowered(self) -> Lowered:
        self._place_all()
        families = merged_families(self.residuals)
        assignments = [f for key in sorted(self.assigned) for f in merged_families(self.assigned[key])]
        shared = np.concatenate([np.zeros(0, dtype=np.int64), *self.shared])
        chain = Chain(self.m, self.z + len(shared), self.system.known_count, families, assignments)
        pattern, products, cells = chain.tables()
        place = self.index[: self.system.size]
        return Lowered(
            self.system, families, assignments, pattern, products, cells, self.kept, self.kept_rows, self.explicit, place,
            self.index, self.coefficients, shared,
        )  # fmt: skip

    def _place_all(self) -> None:
        """Every output of every row becomes a part of a residual or of an assignment."""
        scale = np.ones(self.system.equation_count)  # literal coefficients of the rows
        own = [self._own_terms(family, scale) for family in self.system.families]
        for family, terms in zip(self.system.families, own, strict=True):
            if len(family.template.slots) == len(family.slots) and (self.unknown_of_row.take(family.rows) < 0).all():
                table = _signed(family, None, self.index), self.new_row.take(family.rows)
                self.residuals.setdefault(family.template.outputs, []).append(table)
                continue
            pieces = list(self._pieces(family, terms, scale))
            for columns, outputs in self._alike(family, pieces):
                self._place(family, columns, outputs)

    def _own_terms(self, family: Family, scale: np.ndarray) -> list[Piece]:
        """Rows of a family that contain the variable they compute: solved for it."""
        found: list[Piece] = []
        for k, here in places_of(family, self.unknown_of_row):
            output, slot, value, _ = family.template.entries[k]
            minus = negative(family, slot)
            for columns, sign in ((here & ~minus, 1.0), (here & minus, -1.0)):
                if not columns.any():
                    continue
                if value is not None:
                    scale[family.rows[output][columns]] = sign * value
                else:
                    self.coefficients.append((self.forms.partial(family.template, k), family, np.flatnonzero(columns)))
                found.append((output, columns, ("solved", k, sign)))
        return found

    def _pieces(self, family: Family, own: list[Piece], scale: np.ndarray) -> Iterator[Piece]:
        """What the rows of each output are: residuals, variables that they compute, or summands of one that others compute."""
        for output in range(len(family.template.outputs)):
            stays = self.unknown_of_row[family.rows[output]] < 0
            if stays.any():
                yield output, stays, ("itself", 0, 1.0)
            rest = ~stays
            for piece in own:
                if piece[0] == output:
                    rest = rest & ~piece[1]
                    yield piece
            factors = scale[family.rows[output]] if rest.any() else _NOTHING
            for factor in distinct(factors[rest]) if len(factors) else ():
                yield output, rest & (factors == factor), ("scaled", 0, -1.0 / float(factor))

    def _alike(self, family: Family, pieces: list[Piece]) -> Iterator[tuple[np.ndarray, Placed]]:
        """Columns in which every output has the same piece and level: {level: {output: form}}."""
        level = self.level_of_row.take(family.rows)
        if len(pieces) == len(level) and (level == level[:, :1]).all():  # one piece of each output, in all columns
            alike: Placed = {}
            for output, _, form in pieces:
                alike.setdefault(int(level[output, 0]), {})[output] = form
            yield np.ones(family.count, dtype=bool), alike
            return
        code = np.zeros(family.count, dtype=np.int64)
        which = np.zeros((len(family.template.outputs), family.count), dtype=np.int64)
        for k, (output, columns, _) in enumerate(pieces):
            which[output, columns] = k
        for output in range(len(which)):
            own = which[output] * (int(level.max(initial=0)) + 1) + level[output]
            if family.count and (own != own[0]).any():
                code = sorted_unique(code * (int(own.max(initial=0)) + 1) + own)[1]
        for group in distinct(code):
            columns = code == group
            first = int(np.argmax(columns))
            outputs: Placed = {}
            for output in range(len(which)):
                outputs.setdefault(int(level[output, first]), {})[output] = pieces[which[output, first]][2]
            yield columns, outputs

    def _place(self, family: Family, columns: np.ndarray, placed: Placed) -> None:
        """One kernel for each level; calls that several of them need come first."""
        slots = _signed(family, columns, self.index)
        if len(placed) > 1 and family.template.calls:
            return self._place_calls(family, columns, placed, slots)
        for level, forms in placed.items():
            kept, template, used = self.forms.of(family.template, forms, level == _RESIDUAL)
            if kept:
                self._add(family, columns, level, kept, template, slots if used is None else slots[used])

    def _place_calls(self, family: Family, columns: np.ndarray, placed: Placed, slots: np.ndarray) -> None:
        """The same where functions are called."""
        outputs = {n: {k: formed(family.template, k, form) for k, form in forms.items()} for n, forms in placed.items()}
        shared, slots = self._shared(family, columns, outputs, slots)
        for level, values in outputs.items():
            kept = _kept(values, level == _RESIDUAL)
            if kept:
                using = tuple(transform(values[k], lambda n: shared.get(n)) if shared else values[k] for k in kept)
                template, used = over_used_slots(using, len(slots))
                self._add(family, columns, level, kept, template, slots if used is None else slots[used])

    def _add(self, family: Family, columns: np.ndarray, level: int, kept: list[int], template: Outputs, table: np.ndarray) -> None:
        rows = family.rows[kept] if columns.all() else family.rows[kept][:, columns]
        if level == _RESIDUAL:
            merged, targets = self.residuals, self.new_row.take(rows)
        else:
            merged, targets = self._level(level, _LAST), self.number.take(self.unknown_of_row.take(rows))
        merged.setdefault(template, []).append((table, targets))

    def _shared(
        self, family: Family, columns: np.ndarray, outputs: dict[int, dict[int, Expression]], slots: np.ndarray
    ) -> tuple[dict[Expression, Expression], np.ndarray]:
        """Calls that several levels need become computed cells: which slot holds each, and the table with these slots."""
        found: dict[Expression, Expression] = {}
        for depth, calls in enumerate(_calls_of_several(outputs)):
            first = self.z + sum(len(rows) for rows in self.shared)
            numbers = np.arange(first, first + len(calls) * slots.shape[1], dtype=np.int32).reshape(len(calls), -1)
            template, used = over_used_slots(tuple(_over(call, found) for call in calls), len(slots))
            table = slots if used is None else slots[used]
            level = self._level_of(family, columns, calls[0])
            for value in distinct(level):
                here = level == value
                merged = self._level(int(value), depth)
                own = (table.copy(), numbers) if here.all() else (table[:, here], numbers[:, here])
                merged.setdefault(template, []).append(own)
            self.shared += [family.rows[0][columns].astype(np.int64)] * len(calls)
            found |= {call: Slot(len(slots) + k, "variable") for k, call in enumerate(calls)}
            slots = np.concatenate([slots, numbers + np.int32(2 * self.m + self.system.known_count)])
        return found, slots

    def _level_of(self, family: Family, columns: np.ndarray, call: Expression) -> np.ndarray:
        """For each column, the level at which everything in a call has a value."""
        level = np.ones(int(columns.sum()), dtype=np.int64)
        for node in walk(call):
            if isinstance(node, Slot):
                index = unfolded(family, node.number)[columns]
                own = self.level_of_unknown[np.minimum(index, self.system.size - 1)]
                np.maximum(level, np.where(index < self.system.size, own + 1, 1), out=level)
        return level

    def _level(self, level: int, place: int) -> Merged:
        return self.assigned.setdefault((level, place), {})


def _over(call: Call, found: dict[Expression, Expression]) -> Expression:
    """A call whose arguments take from their cells what has one."""
    return transform(call, lambda n: found.get(n) if n is not call else None)


def _calls_of_several(outputs: dict[int, dict[int, Expression]]) -> list[tuple[Call, ...]]:
    """Calls that outputs of more than one level need, those within others first; results of one evaluation stand together.

    Those that matter under a condition only stay where they are: mostly nobody needs them at all."""
    from .fuse import work_of
    from .needs import needs

    if len(outputs) < 2:
        return []
    levels: dict[object, set[int]] = {}
    parts: dict[object, dict[Call, None]] = {}
    for level, values in outputs.items():
        for node in walk(*values.values()):
            if isinstance(node, Call):
                levels.setdefault(work_of(node), set()).add(level)
    roots = tuple(v for values in outputs.values() for v in values.values())
    nodes = list(walk(*roots))
    need = needs(nodes, roots)
    for node in nodes:
        if isinstance(node, Call) and len(levels[work_of(node)]) > 1 and need[node] is None:
            parts.setdefault(work_of(node), {})[node] = None
    return [tuple(calls) for calls in parts.values()]


def _signed(family: Family, columns: np.ndarray | None, new: np.ndarray) -> np.ndarray:
    """The slots of some rows (of all, if not said) as signed indices into another workspace."""
    table = family.slots if columns is None or columns.all() else family.slots[:, columns]
    if MIXED in family.signs:
        minus = table < 0
        index = new.take(np.where(minus, ~table, table))
        index = np.where(minus, ~index, index)
    else:
        index = new.take(table)
    turned = [k for k, sign in enumerate(family.signs) if sign == MINUS]
    if turned:
        index[turned] = ~index[turned]
    return index.astype(np.int32, copy=False)
