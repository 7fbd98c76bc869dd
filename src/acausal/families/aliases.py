"""Aliases: variables that are equal up to a sign, or equal to something known, become one unknown or none.

Sources are connections and equations of the forms `a == b`, `a + b == 0`, `a == p`, `a == 0`. Where a potential turns out to be
zero, sums of three and more shrink, row by row, and may become aliases too (a grounded capacitor's voltage is its node's).
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np

from ..errors import Diagnostic, ModelError
from ..language.expression import Expression, Literal, Reference, Time
from ..records import dataclass
from .plant import TIME, ZERO, Kind, Plant, Quantity

if TYPE_CHECKING:
    from .affine import Affine
    from .connections import Nodes
    from .traced import Traced, TracedEquation


@dataclass(slots=True, eq=False)
class Reducible:
    """Rows `Σ sign·variable == 0` of three or more variables that may shrink when some of them are zero."""

    equation: TracedEquation
    kind: Kind
    variables: np.ndarray  # (terms, rows)
    signs: np.ndarray  # (terms,)
    kept: np.ndarray  # mask of rows that are still equations


@dataclass(slots=True, eq=False)
class Aliases:
    """For each declared variable where it lives: unknown `index`, or known cell `index`, times `sign`."""

    index: np.ndarray
    sign: np.ndarray
    known: np.ndarray  # mask: lives in a known cell
    unknown_count: int
    representative: np.ndarray  # of each unknown, the variable's number
    literals: np.ndarray  # values of the literal cells, which follow the parameters and inputs
    label: np.ndarray  # of each unknown, the variable that messages call it by


@dataclass(slots=True)
class _Edges:
    first: list[np.ndarray] = field(default_factory=list)
    second: list[np.ndarray] = field(default_factory=list)
    sign: list[np.ndarray] = field(default_factory=list)

    def add(self, a: np.ndarray, b: np.ndarray, sign: np.ndarray | int) -> None:
        a, b = np.broadcast_arrays(a.ravel(), b.ravel())
        self.first.append(a)
        self.second.append(b)
        self.sign.append(np.broadcast_to(np.asarray(sign, dtype=np.int8), a.shape))

    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        if not self.first:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int8)
        return np.concatenate(self.first), np.concatenate(self.second), np.concatenate(self.sign)


def _handed_on(plant: Plant, nodes: Nodes) -> np.ndarray:
    """Inputs of composites that nothing drives and that are connected to inputs inside only: of each such set the outermost."""
    from ..structure.unions import components

    depth = np.full(plant.variable_count, -1, dtype=np.int64)  # of inputs
    for kind in plant.kinds:
        for q in kind.quantities.values():
            if q.role == "input" and nodes.connected[q.base : q.base + kind.count * q.size].any():
                for member in kind.members:
                    first = q.base + member.first * q.size
                    depth[first : first + member.count * q.size] = len(member._steps_from(plant.root) or ())
    equal = nodes.equal[(depth[nodes.equal] >= 0).any(axis=1)]
    if not len(equal):
        return np.zeros(0, dtype=np.int64)
    label = components(plant.variable_count, equal[:, 0], equal[:, 1])
    members = np.unique(equal)
    driven = np.zeros(len(label), dtype=bool)
    driven[label[members[(depth[members] < 0) | nodes.stated[members]]]] = True
    least = np.full(len(label), np.iinfo(np.int64).max)
    np.minimum.at(least, label[members], depth[members])
    first = members[(depth[members] == least[label[members]]) & ~driven[label[members]]]
    alone = np.bincount(label[first], minlength=len(label)) == 1  # of two that are as far out neither has more to say
    return first[alone[label[first]]]


class AliasGraph:
    """Nodes are the variables, then the known cells."""

    def __init__(self, plant: Plant, nodes: Nodes) -> None:
        self.plant = plant
        self.edges = _Edges()
        self.literals: list[np.ndarray] = []
        self.literal_count = 0
        self._literal_cells: dict[Expression | float, np.ndarray] = {}
        self.reducible: list[Reducible] = []
        self._taken: list[tuple[Kind, TracedEquation, np.ndarray]] = []  # equations that became aliases, for messages
        self._open_flows = nodes.zero
        self.edges.add(nodes.equal[:, 0], nodes.equal[:, 1], 1)
        self.edges.add(nodes.opposed[:, 0], nodes.opposed[:, 1], nodes.opposed_sign)
        self.edges.add(nodes.zero, self._cell(np.array([ZERO])), 1)
        if plant.seen is not None:
            self.edges.add(plant.seen.known[:, 0], self._cell(plant.seen.known[:, 1]), 1)
        self._external_inputs(nodes)

    def _cell(self, known: np.ndarray) -> np.ndarray:
        return self.plant.variable_count + known

    def _external_inputs(self, nodes: Nodes) -> None:
        """Inputs with nothing connected, those of the whole model, and those that are only handed on to inputs inside take
        the value given from outside."""
        root, free = self.plant.root.kind, ~nodes.connected
        free[_handed_on(self.plant, nodes)] = True
        for kind in self.plant.kinds:
            for q in kind.quantities.values():
                if q.role == "input":
                    self._attach_input(kind, q, free, kind is root)

    def _attach_input(self, kind: Kind, quantity: Quantity, free: np.ndarray, outermost: bool) -> None:
        numbers = np.arange(kind.count * quantity.size)
        outside = np.ones(len(numbers), dtype=bool) if outermost else free[quantity.base + numbers]
        self.edges.add(quantity.base + numbers[outside], self._cell(quantity.known_base + numbers[outside]), 1)

    # --- equations ----------------------------------------------------------------------------------------------------
    def take_from(self, traced: Traced) -> None:
        """Move alias equations of a kind into the graph; rows that may shrink are noted."""
        from .affine import affine

        remaining = []
        for equation in traced.equations:
            form = affine(equation.residual) if not equation.terms else None
            if form is None or not self._take(traced.kind, equation, form):
                remaining.append(equation)
        traced.equations = remaining

    def _take(self, kind: Kind, equation: TracedEquation, form: Affine) -> bool:
        unknowns, knowns = list(form.unknowns.items()), list(form.knowns.items())
        sizes = {abs(c) for _, c in unknowns + knowns}
        if len(unknowns) == 2 and not knowns and not form.constant and len(sizes) == 1:
            (a, ca), (b, cb) = unknowns
            self.edges.add(self._noted(kind, equation, a), self._rows(kind, equation, b), int(-np.sign(ca * cb)))
            return True
        if len(unknowns) == 1 and not knowns:
            (a, ca) = unknowns[0]
            self.edges.add(self._noted(kind, equation, a), self._constant_cell(-form.constant / ca), 1)
            return True
        if len(unknowns) == 1 and len(knowns) == 1 and not form.constant and len(sizes) == 1:
            (a, ca), (k, ck) = unknowns[0], knowns[0]
            self.edges.add(self._noted(kind, equation, a), self._known_cells(kind, equation, k), int(-np.sign(ca * ck)))
            return True
        if len(unknowns) >= 3 and not knowns and not form.constant and len(sizes) == 1:
            variables = np.stack([self._rows(kind, equation, a) for a, _ in unknowns])
            signs = np.array([np.sign(c) for _, c in unknowns], dtype=np.int8)
            self.reducible.append(Reducible(equation, kind, variables, signs, np.ones(variables.shape[1], dtype=bool)))
        return False

    def _noted(self, kind: Kind, equation: TracedEquation, leaf: Expression) -> np.ndarray:
        """Rows of an equation that becomes an alias; it is remembered in case that turns out to be a contradiction."""
        rows = self._rows(kind, equation, leaf)
        self._taken.append((kind, equation, rows))
        return rows

    def _rows(self, kind: Kind, equation: TracedEquation, leaf: Expression) -> np.ndarray:
        assert isinstance(leaf, Reference)
        return broadcast_rows(self.plant.numbers(kind, leaf), leaf.shape, equation.shape)

    def _known_cells(self, kind: Kind, equation: TracedEquation, leaf: Expression) -> np.ndarray:
        if isinstance(leaf, Time):
            return self._cell(np.array([TIME]))
        if isinstance(leaf, Literal):
            cells = self._literal_array(leaf)
            return self._cell(broadcast_rows(np.broadcast_to(cells, (kind.count, *leaf.shape)), leaf.shape, equation.shape))
        assert isinstance(leaf, Reference)
        return self._cell(broadcast_rows(self.plant.numbers(kind, leaf), leaf.shape, equation.shape))

    def _constant_cell(self, value: float) -> np.ndarray:
        if value == 0:
            return self._cell(np.array([ZERO]))
        if value not in self._literal_cells:
            self._literal_cells[value] = self.new_cells(np.array([value]))
        return self._cell(self._literal_cells[value])

    def _literal_array(self, leaf: Literal) -> np.ndarray:
        if leaf not in self._literal_cells:
            self._literal_cells[leaf] = self.new_cells(leaf.values.ravel()).reshape(leaf.shape)
        return self._literal_cells[leaf]

    def new_cells(self, values: np.ndarray) -> np.ndarray:
        """Known cells behind those of the plant, with their values."""
        first = self.plant.known_count + self.literal_count
        self.literals.append(values)
        self.literal_count += len(values)
        return first + np.arange(len(values))

    def literal_cells(self, leaf: Literal) -> np.ndarray:
        """Known cells (not graph nodes) that hold the values of a literal array."""
        return self._literal_array(leaf)

    # --- solution -------------------------------------------------------------------------------------------------------
    def solve(self, eliminated: np.ndarray) -> Aliases:
        """Join everything; `eliminated` marks variables that local definitions took out."""
        while True:
            representative, sign, zero = self._joined()
            if not self._shrink(representative, sign, zero):
                break
        return self._numbered(representative, sign, zero, eliminated)

    def _joined(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        from ..structure.unions import signed_components

        total = self.plant.variable_count + self.plant.known_count + self.literal_count
        representative, sign, conflict = signed_components(total, *self.edges.arrays())
        zero_class = representative[self.plant.variable_count + ZERO]
        return representative, sign, conflict | (representative == zero_class)

    def _shrink(self, representative: np.ndarray, sign: np.ndarray, zero: np.ndarray) -> bool:
        """Rows that lost summands: those with two left are aliases, with one left zero. True if anything was found."""
        found = False
        for rows in self.reducible:
            live = np.flatnonzero(rows.kept)
            variables = rows.variables[:, live]
            places, signs = representative[variables], rows.signs[:, None] * sign[variables]
            present = ~zero[variables]
            _cancel(places, signs, present)
            left = present.sum(axis=0)
            for k, column in ((2, left == 2), (1, left == 1)):
                if column.any():
                    self._alias_rows(rows, live[column], variables[:, column], present[:, column], k)
                    found = True
        return found

    def _alias_rows(self, rows: Reducible, live: np.ndarray, variables: np.ndarray, present: np.ndarray, left: int) -> None:
        first = present.argmax(axis=0)
        column = np.arange(len(live))
        a = variables[first, column]
        if left == 1:
            self.edges.add(a, self._cell(np.array([ZERO])), 1)
        else:
            last = present.shape[0] - 1 - present[::-1].argmax(axis=0)
            self.edges.add(a, variables[last, column], -rows.signs[first] * rows.signs[last])
        rows.kept[live] = False

    def _numbered(self, representative: np.ndarray, sign: np.ndarray, zero: np.ndarray, eliminated: np.ndarray) -> Aliases:
        count = self.plant.variable_count
        cell_of_class, sign_of_class = np.full(count, -1, dtype=np.int64), np.ones(count, dtype=np.int8)
        knowns = count + np.flatnonzero(representative[count:] < count)  # those that are a variable, whose number is smaller
        self._check_single_known(representative, zero, knowns)
        cell_of_class[representative[knowns]] = knowns - count
        sign_of_class[representative[knowns]] = sign[knowns]
        cell_of_class[representative[:count][zero[:count]]] = ZERO
        known_cell = cell_of_class.take(representative[:count])
        known = known_cell >= 0
        free = ~known & ~eliminated
        leads = free & (representative[:count] == np.arange(count))
        number = np.cumsum(leads) - 1
        index = np.where(known, known_cell, number.take(representative[:count]))
        signs = np.where(known, sign[:count] * sign_of_class.take(representative[:count]), sign[:count]).astype(np.int8)
        literals = np.concatenate([np.zeros(0), *self.literals])
        lead = np.flatnonzero(leads)
        return Aliases(index, signs, known, len(lead), lead, literals, self._labels(lead, index, free & (signs > 0)))

    def _labels(self, lead: np.ndarray, index: np.ndarray, named: np.ndarray) -> np.ndarray:
        """A variable that a component declares for itself says more than the connectors and inputs that share it: `cell[99].T`."""
        own = np.zeros(self.plant.variable_count, dtype=bool)
        for kind in self.plant.kinds:
            for q in kind.quantities.values():
                if q.role == "variable" and q.connector is None and not q.declaration.auxiliary:
                    own[q.base : q.base + kind.count * q.size] = True
        label, chosen = lead.copy(), np.flatnonzero(own & named)[::-1]
        label[index[chosen]] = chosen  # of several the first, which is written last
        return label

    def _check_single_known(self, representative: np.ndarray, zero: np.ndarray, knowns: np.ndarray) -> None:
        classes = representative[knowns]
        turned = zero[knowns] & (knowns != self.plant.variable_count + ZERO)  # equal to its own negative, but not zero
        twice = np.union1d(np.flatnonzero(np.bincount(classes) > 1), classes[turned])
        if len(twice):
            raise ModelError(*(self._fixed_twice(representative, int(c), knowns) for c in twice[:8]))

    def _fixed_twice(self, representative: np.ndarray, chosen: int, knowns: np.ndarray) -> Diagnostic:
        """Two known values in one class: shown by the shortest chain of equations between them, since the class may be large."""
        givers = knowns[representative[knowns] == chosen]
        if len(givers) == 1:
            members, said = np.flatnonzero(representative[: self.plant.variable_count] == chosen), self._known_name(int(givers[0]))
            what = f"`{self.plant.name_of(int(members[0]))}` is given two values at once: {said} and -{said}."
            remedy = "A sign is wrong: flows are positive into a component, so one that passes through is `p.i + n.i == 0`."
        else:
            members = self._chain(int(givers[-1]), int(givers[0]))
            said = ", ".join(self._known_name(int(k)) for k in givers[:6])
            what = f"`{self.plant.name_of(int(members[0]))}` is given two values at once: {said}."
            remedy = "Two sources, grounds or fixed values meet at one node; remove one of them, or put a component between them."
            if np.isin(members[-1], self._open_flows) and givers[0] == self.plant.variable_count + ZERO:
                flow = self.plant.name_of(int(members[-1]))
                port, value = flow.rpartition(".")[0], self._known_name(int(givers[-1]))
                what = f"`{port}` is not connected to anything, so `{flow}` is 0, but it is also {value}."
                remedy = f"Connect `{port}`, or remove its component."
        names = [self.plant.name_of(int(m)) for m in members[:6]]
        equal = f"equal up to their sign: {', '.join(names)}{', …' if len(members) > 6 else ''}"
        return Diagnostic(what, details=(equal, *self._stated(members)), remedy=remedy)

    def _chain(self, a: int, b: int) -> np.ndarray:
        """The variables on a shortest way from one node of the graph to another."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import breadth_first_order

        first, second, _ = self.edges.arrays()
        size = self.plant.variable_count + self.plant.known_count + self.literal_count
        graph = coo_array((np.ones(len(first)), (first, second)), shape=(size, size)).tocsr()
        _, before = breadth_first_order(graph, a, directed=False)
        way = [b]
        while way[-1] != a:
            way.append(int(before[way[-1]]))
        return np.array([node for node in way[::-1] if node < self.plant.variable_count])

    def _stated(self, members: np.ndarray) -> list[str]:
        """Equations that make these variables equal to each other or to something known."""
        found = []
        for kind, equation, variables in self._taken:
            for row in np.flatnonzero(np.isin(variables, members))[:2]:
                path = self.plant.path_of(kind, int(row) // max(int(np.prod(equation.shape)), 1)) or "the model"
                place = f"  ({equation.location})" if equation.location else ""
                found.append(f"in:        {path} ({kind.name}): {equation.text}{place}")
        return found[:8]

    def _known_name(self, node: int) -> str:
        cell = node - self.plant.variable_count
        if cell >= self.plant.known_count:
            return f"{float(np.concatenate(self.literals)[cell - self.plant.known_count]):g}"
        return {TIME: "time", ZERO: "0"}.get(cell) or self.plant.name_of(cell, "known")


def _cancel(places: np.ndarray, signs: np.ndarray, present: np.ndarray) -> None:
    """`a - a` in a row is nothing: mark both as absent (in place)."""
    terms = len(places)
    for i in range(terms):
        for j in range(i + 1, terms):
            gone = present[i] & present[j] & (places[i] == places[j]) & (signs[i] == -signs[j])
            present[i] &= ~gone
            present[j] &= ~gone


def broadcast_rows(numbers: np.ndarray, shape: tuple[int, ...], wanted: tuple[int, ...]) -> np.ndarray:
    """(count, *shape) numbers spread over an equation's shape and flattened to its rows."""
    if shape == wanted:
        return numbers.ravel()
    count = numbers.shape[0]
    padded = numbers.reshape((count, *(1,) * (len(wanted) - len(shape)), *shape))
    return np.broadcast_to(padded, (count, *wanted)).ravel()
