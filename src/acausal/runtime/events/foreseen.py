"""Fast functions of time in relations: `sin(2π·500·time) > x` while everything else moves slowly.

Relations are looked at where a step ends. A step over a whole period of a carrier would see nothing of what happens within, so
steps end where such a function turns: between two of these times it is monotone, and a relation between it and something slow
switches once at most. What turns when is computed from bounds of its slope (see `ranges`), so that no turn is overlooked.
Where a relation reads time alone, it is known which turns it has switched before, and the others need no end of a step.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

import numpy as np

from ...families.template import MINUS, MIXED, Family
from ...language.expression import Expression, Slot, walk
from ...records import dataclass
from ..problem import Floats, Mask, Problem
from .ranges import Range, can_bound, ranges

_FIRST, _MOST = 64, 4096  # stretches of time that are looked at together, at first and later, and …
_MOST_ROWS = 1 << 20  # … times functions
_FINE = 1e-4  # of the time between two turns: how exactly they are found
_FINEST = 1e-12  # of a run: so exactly where they are few, a pulse may be short
_FEW = 32  # stretches in a run
_MOST_PLANS = 16
_REACH = 1000.0  # seconds: how far a run is looked over whose end nobody knows
_LOOKS = 16  # parts of a stretch, to see whose fault it is that it is short
_HOPELESS = 1e-8  # of a run: no more than this in one search


@dataclass(frozen=True, slots=True)
class _Part:
    """Some columns of a family whose slots hold the same sort of thing: of time alone or not."""

    family: Family
    output: int
    columns: np.ndarray
    expression: Expression
    switches: bool  # the expression is all of a relation


@dataclass(slots=True)
class _Plan:
    """All times from `begin` until `until`, of which only those that were found last are kept."""

    begin: float
    until: float
    times: Floats = field(default_factory=lambda: np.zeros(0))
    most: int = _FIRST  # grows: what changes at every event is not computed far ahead


class Foreseen:
    """The times at which steps end for the sake of functions of time."""

    def __init__(self, problem: Problem, varying: np.ndarray, t_end: float) -> None:
        """`varying`: known cells that inputs fill, about which nothing is known."""
        self.problem, self.t_end, self._parts = problem, t_end, list[_Part]()
        self._time, self._first = problem.time_index, 2 * problem.size + len(problem.known) - problem.lowered.computed
        self._plans = dict[bytes, _Plan]()  # by constants: what reads discrete values goes back and forth between a few
        self.lost = list[int]()  # relations whose functions of time cannot be followed
        self.constants: np.ndarray = np.zeros(0, dtype=np.intp)  # cells of the workspace whose change makes the times obsolete
        if self._reads_time():
            self._of_time, self._moves = self._classified(varying)
            self._bands = self._band_cells()
            self._parts = list(self._relations())
            self._needed = self._closure()
            self.constants = self._read()

    def next(self, t: float, w: Floats) -> float:
        """The first of these times after t, with known values as they are in `w`."""
        if not self._parts:
            return np.inf
        plan = self._plan(t, w[self.constants].tobytes())
        k = int(np.searchsorted(plan.times, t, side="right"))
        while k == len(plan.times) and plan.until < self.t_end:
            begin = plan.until
            plan.times, plan.until = self._search(begin, plan.most, w)
            plan.most = min(2 * plan.most, _MOST)
            if plan.until - begin < _HOPELESS * (self.t_end - begin if np.isfinite(self.t_end) else _REACH):
                self._give_up(begin, plan.until, w)
                return self.next(t, w)
            k = int(np.searchsorted(plan.times, t, side="right"))
        return float(plan.times[k]) if k < len(plan.times) else np.inf

    def _plan(self, t: float, constants: bytes) -> _Plan:
        """What is known of the time from t on, with these constants."""
        plan = self._plans.pop(constants, None)
        if plan is None or not plan.begin <= t <= plan.until:
            plan = _Plan(t, t)
        self._plans[constants] = plan  # the latest is the last
        if len(self._plans) > _MOST_PLANS:
            del self._plans[next(iter(self._plans))]
        return plan

    # --- what reads time alone --------------------------------------------------------------------------------------------------
    def _reads_time(self) -> bool:
        """Whether there are relations, and time is in an equation that could lead to them at all."""
        lowered = self.problem.lowered
        assert lowered.system.hybrid is not None
        part = lowered.system.hybrid.parts["relation"]
        if not part.count:
            return False
        return any((f.slots == self._time).any() for f in (*lowered.moved(part.families), *lowered.assignments))

    def _classified(self, varying: np.ndarray) -> tuple[Mask, Mask]:
        """Cells of the workspace that depend on time and constants only; and those of them that do depend on time."""
        problem = self.problem
        of_time = np.ones(2 * problem.size + len(problem.known), dtype=bool)
        of_time[: 2 * problem.size] = False
        of_time[self._first :] = False
        of_time[varying] = False
        moves = np.zeros(len(of_time), dtype=bool)
        moves[self._time] = True
        for family in problem.lowered.assignments:
            index = _index(family.slots)
            plain = all(_is_plain(o) for o in family.template.outputs)
            for target in family.rows:
                of_time[self._first + target] = plain & of_time[index].all(axis=0)
                moves[self._first + target] = moves[index].any(axis=0)
        return of_time, moves & of_time

    def _band_cells(self) -> np.ndarray:
        hybrid = self.problem.lowered.system.hybrid
        assert hybrid is not None
        return np.asarray(2 * self.problem.size + hybrid.parts["relation"].bands)

    def _relations(self) -> Iterator[_Part]:
        """The largest functions of time alone within relations."""
        hybrid = self.problem.lowered.system.hybrid
        assert hybrid is not None
        for family in self.problem.lowered.moved(hybrid.parts["relation"].families):
            index = _index(family.slots)
            sorts = np.concatenate([self._of_time[index], self._moves[index]])
            if not sorts[len(index) :].any():
                continue
            patterns, which = np.unique(sorts, axis=1, return_inverse=True)
            for k, pattern in enumerate(patterns.T):
                columns = np.flatnonzero(np.ravel(which) == k)
                of_time, moves = pattern[: len(index)], pattern[len(index) :]
                for output, whole in enumerate(family.template.outputs):
                    for expression in _largest(whole, of_time, moves):
                        yield _Part(family, output, columns, expression, expression is whole)

    def _closure(self) -> list[tuple[Family, np.ndarray]]:
        """Assignments that these functions need, in order, with the columns that are needed."""
        wanted = np.zeros(len(self._of_time), dtype=bool)
        for part in self._parts:
            for leaf in _slots(part.expression):
                wanted[_index(part.family.slots[leaf.number, part.columns])] = True
        found = []
        for family in reversed(self.problem.lowered.assignments):
            columns = np.flatnonzero(
                wanted[self._first + family.rows].any(axis=0) & self._of_time[self._first + family.rows].all(axis=0)
            )
            if len(columns):
                found.append((family, columns))
                wanted[_index(family.slots[:, columns])] = True
        self._wanted = wanted
        return found[::-1]

    def _read(self) -> np.ndarray:
        """Constants whose change makes everything known obsolete. Bands are next to nothing."""
        wanted = self._wanted.copy()
        wanted[self._first :] = False
        wanted[self._time] = False
        wanted[self._bands] = False
        return np.flatnonzero(wanted)

    # --- bounds -----------------------------------------------------------------------------------------------------------------
    def _evaluated(self, begin: Floats, end: Floats, w: Floats) -> list[Range]:
        """Bounds of each part's function over stretches of time: arrays (columns, stretches)."""
        cells: dict[int, Range] = {self._time: Range((begin[None], end[None]), (np.ones((1, 1)), np.ones((1, 1))))}

        def leaves(family: Family, columns: np.ndarray, leaf: Expression) -> Range:
            assert isinstance(leaf, Slot)
            places = family.slots[leaf.number, columns]
            index = _index(places)
            minus = places < 0 if family.signs[leaf.number] == MIXED else np.full(len(index), family.signs[leaf.number] == MINUS)
            return _gathered(index, minus, cells, w, self._bands, self._moves)

        for family, columns in self._needed:
            for output, target in zip(family.template.outputs, family.rows[:, columns], strict=True):
                found = ranges(output, lambda leaf, f=family, c=columns: leaves(f, c, leaf))  # type: ignore[misc]
                for k, row in enumerate(target):
                    cells[self._first + int(row)] = _row(found, k, len(columns))
        return [ranges(p.expression, lambda leaf, p=p: leaves(p.family, p.columns, leaf)) for p in self._parts]  # type: ignore[misc]

    def _may_turn(self, begin: Floats, end: Floats, w: Floats) -> Mask:
        """Stretches in which a function may turn. One that stands still does not, nor is anything sought in what has no bounds
        even in a short stretch."""
        may = np.zeros(len(begin), dtype=bool)
        for found in self._evaluated(begin, end, w):
            low, high = found.slope
            undecided = (low <= 0) & (high >= 0) & (low < high)  # a turn may lie between two stretches exactly
            may |= np.broadcast_to(undecided, (*undecided.shape[:-1], len(begin))).reshape(-1, len(begin)).any(axis=0)
        return may

    def _give_up(self, begin: float, until: float, w: Floats) -> None:
        """Of functions of which nothing can be said here (a pole, no bounds) nothing more is sought; of others it is."""
        ends = np.linspace(begin, until, _LOOKS + 1)
        kept, count = list[_Part](), sum(len(part.columns) for part in self._parts)
        for part, found in zip(self._parts, self._evaluated(ends[:-1], ends[1:], w), strict=True):
            low, high = (np.broadcast_to(bound, (len(part.columns), _LOOKS)) for bound in found.slope)
            hopeless = np.count_nonzero(~((low > 0) | (high < 0) | (low == high)), axis=1) >= _LOOKS // 2
            self.lost += part.family.rows[part.output, part.columns[hopeless]].tolist()
            if not hopeless.all():
                kept.append(_Part(part.family, part.output, part.columns[~hopeless], part.expression, part.switches))
        self._parts = kept if sum(len(part.columns) for part in kept) < count else []
        self._plans.clear()

    def _search(self, begin: float, most: int, w: Floats) -> tuple[Floats, float]:
        """The times from `begin` on, and up to which time these are all."""
        end = until = self.t_end if np.isfinite(self.t_end) else begin + max(_REACH, abs(begin))
        lower, upper = np.array([begin]), np.array([end])
        functions = sum(len(p.columns) for p in self._parts)
        most = int(np.clip(_MOST_ROWS // max(functions, 1), 16, most))
        finest = max(_FINEST * (end - begin), 16 * np.finfo(float).eps * max(abs(begin), abs(end)))
        while len(lower) and upper[0] - lower[0] > max(_fine(lower, upper, until - begin, until == end), finest):
            middle = 0.5 * (lower + upper)
            lower, upper = np.column_stack([lower, middle]).ravel(), np.column_stack([middle, upper]).ravel()
            may = self._may_turn(lower, upper, w)
            lower, upper = lower[may], upper[may]
            if len(lower) > most:
                until = float(lower[most // 2])
                lower, upper = lower[: most // 2], upper[: most // 2]
        ends = _cluster_ends(lower, upper)
        return self._switching(begin, ends[ends < until], until, w), until

    def _switching(self, begin: float, turns: Floats, until: float, w: Floats) -> Floats:
        """Of the turns those that matter: all, but for relations of time alone those by which they have switched."""
        points = np.concatenate([[begin], turns, [until]])
        matter = np.zeros(len(points), dtype=bool)
        for part, found in zip(self._parts, self._evaluated(points, points, w), strict=True):
            value = np.broadcast_to(found.value[0], (len(part.columns), len(points)))
            if part.switches:
                matter[1:] |= (np.sign(value[:, 1:]) != np.sign(value[:, :-1])).any(axis=0)
            else:
                matter[1:] = True  # a turn may lie just before `until`
        matter[-1] = until < self.t_end and (matter[-1] or not np.isfinite(self.t_end))  # there, one looks further
        return points[matter]


def _index(slots: np.ndarray) -> np.ndarray:
    return np.where(slots < 0, ~slots, slots)


def _slots(expression: Expression) -> list[Slot]:
    return [n for n in walk(expression) if isinstance(n, Slot)]


def _is_plain(expression: Expression) -> bool:
    """Whether bounds are known of everything in it."""
    return all(can_bound(n) for n in walk(expression))


def _largest(whole: Expression, of_time: Mask, moves: Mask) -> list[Expression]:
    """The largest sub-expressions of time alone that do change with it."""
    fit: dict[Expression, tuple[bool, bool]] = {}
    for node in walk(whole):
        if isinstance(node, Slot):
            fit[node] = bool(of_time[node.number]), bool(moves[node.number])
        else:
            fit[node] = can_bound(node) and all(fit[a][0] for a in node.args), any(fit[a][1] for a in node.args)
    found: list[Expression] = []
    waiting = [whole]
    while waiting:
        node = waiting.pop()
        alone, moving = fit[node]
        if alone and moving:
            found.append(node)
        elif not alone:
            waiting += node.args
    return found


def _gathered(index: np.ndarray, minus: Mask, cells: dict[int, Range], w: Floats, bands: np.ndarray, moves: Mask) -> Range:
    """Bounds of what some cells hold, one row for each; a minus sign exchanges them."""
    constant = np.where(np.isin(index, bands), 0.0, w[index])[:, None]
    if not moves[index].any():
        return Range.constant(np.where(minus[:, None], -constant, constant))
    index, first, place = np.unique(index, return_index=True, return_inverse=True)  # mostly one: time
    rows = [cells[int(i)] if moves[i] else Range.constant(c) for i, c in zip(index, constant[first], strict=True)]
    bounds = []
    for which in ("value", "slope"):
        pairs = [getattr(r, which) for r in rows]
        low, high = (np.concatenate(np.broadcast_arrays(*(np.atleast_2d(p[k]) for p in pairs))) for k in (0, 1))
        if len(index) > 1:
            low, high = low[np.ravel(place)], high[np.ravel(place)]
        bounds.append((np.where(minus[:, None], -high, low), np.where(minus[:, None], -low, high)))
    return Range(bounds[0], bounds[1])


def _row(found: Range, k: int, rows: int) -> Range:
    """One row of bounds that may have been given once for all rows."""

    def of(bound: Floats) -> Floats:
        whole = np.atleast_2d(bound)
        return whole[k : k + 1] if len(whole) == rows and rows > 1 else whole[:1]

    return Range((of(found.value[0]), of(found.value[1])), (of(found.slope[0]), of(found.slope[1])))


def _fine(lower: Floats, upper: Floats, span: float, whole: bool) -> float:
    """How long stretches in which something turns may remain."""
    if whole and len(lower) <= _FEW:
        return 0.0
    return _FINE * span / (2 + int(np.count_nonzero(lower[1:] > upper[:-1])))


def _cluster_ends(lower: Floats, upper: Floats) -> Floats:
    """Where each run of adjacent stretches ends: behind the turn."""
    if not len(lower):
        return lower
    last = np.append(lower[1:] > upper[:-1], True)
    return upper[last]
