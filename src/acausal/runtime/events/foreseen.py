"""Fast functions of time in relations: `sin(2π·500·time) > x` while everything else moves slowly.

Relations are looked at where a step ends. A step over a whole period of a carrier would see nothing of what happens within, so
steps end where such a function turns: between two of these times it is monotone, and a relation between it and something slow
switches once at most. What turns when is computed from bounds of its slope (see `ranges`), so that no turn is overlooked.
Where a relation reads time alone, it is known which turns it has switched before, and the others need no end of a step.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, replace

import numpy as np

from ...errors import Diagnostic
from ...language.expression import Expression, Slot, walk
from ...records import dataclass
from ..problem import Floats, Mask, Problem
from .of_time import FunctionsOfTime, Part, index_of
from .ranges import can_bound

_FIRST, _MOST = 64, 4096  # stretches of time that are looked at together for each function, at first and later, and …
_MOST_ROWS = 1 << 18  # … for all of them
_FINE = 1e-4  # of the time between two turns: how exactly they are found
_FINEST = 1e-12  # of a run: so exactly where they are few, a pulse may be short
_FEW = 32  # stretches in a run
_MOST_PLANS = 16
_REACH = 1000.0  # seconds: how far a run is looked over whose end nobody knows
_LOOKS = 16  # parts of a stretch, to see whose fault it is that it is short
_HOPELESS = 1e-8  # of a run: no more than this in one search, or …
_HOPELESS_AT_MOST = 1e-5  # … in one of `_MOST` stretches: `tanh(t) - (tanh(t) + 1)` has bounds that never tell where it turns
_NONE = np.zeros(0, dtype=bool)
_CROWDED = 1e-4  # of the time between two turns before: so close together they pile up at a pole


@dataclass(slots=True)
class _Plan:
    """All times from `begin` until `until`, of which only those that were found last are kept."""

    begin: float
    until: float
    times: Floats = field(default_factory=lambda: np.zeros(0))
    most: int = _FIRST  # grows: what changes at every event is not computed far ahead
    apart: float = 0.0  # the longest mean time between two turns so far


class Foreseen(FunctionsOfTime):
    """The times at which steps end for the sake of functions of time."""

    def __init__(self, problem: Problem, varying: np.ndarray, t_end: float) -> None:
        """`varying`: known cells that inputs fill, about which nothing is known."""
        self.t_end = t_end
        self._plans = dict[bytes, _Plan]()  # by constants: what reads discrete values goes back and forth between a few
        self.lost = list[int]()  # relations whose functions of time cannot be followed
        super().__init__(problem, varying)
        self._forget()

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
            apart = (plan.until - begin) / (1 + len(plan.times))
            plan.apart = max(plan.apart, apart)
            least = _HOPELESS_AT_MOST if plan.most == _MOST else _HOPELESS
            short = plan.until - begin < least * (self.t_end - begin if np.isfinite(self.t_end) else _REACH)
            if short or apart < _CROWDED * plan.apart:
                self._give_up(self._without_bounds(begin, plan.until, w) if short else self._crowded())
                return self.next(t, w)
            k = int(np.searchsorted(plan.times, t, side="right"))
        return float(plan.times[k]) if k < len(plan.times) else np.inf

    def told(self, relation: int, t: float) -> Diagnostic:
        """That the function of time in a relation cannot be followed any more."""
        system = self.problem.lowered.system
        return replace(
            system.describe_rule("relation", relation),
            what=f"From {t:.6g} {system.plant.independent[1]} on it is not known where the function of time "
            "in a relation turns: where it is fast, the relation may change, and change back, between two steps.",
            remedy="If the function is slow, this is of no account; otherwise limit the step: simulate(…, max_step=…).",
        )

    def _plan(self, t: float, constants: bytes) -> _Plan:
        """What is known of the time from t on, with these constants."""
        plan = self._plans.pop(constants, None)
        if plan is None or not plan.begin <= t <= plan.until:
            plan = _Plan(t, t)
        self._plans[constants] = plan  # the latest is the last
        if len(self._plans) > _MOST_PLANS:
            del self._plans[next(iter(self._plans))]
        return plan

    # --- what may turn ----------------------------------------------------------------------------------------------------------
    def _reads_time(self) -> bool:
        lowered = self.problem.lowered
        assert lowered.system.hybrid is not None
        part = lowered.system.hybrid.parts["relation"]
        if not part.count:
            return False
        return any((f.slots == self._time).any() for f in (*lowered.moved(part.families), *lowered.assignments))

    def _chosen(self) -> Iterator[Part]:
        """The largest functions of time alone within relations."""
        hybrid = self.problem.lowered.system.hybrid
        assert hybrid is not None
        for family in self.problem.lowered.moved(hybrid.parts["relation"].families):
            index = index_of(family.slots)
            sorts = np.concatenate([self._of_time[index], self._moves[index]])
            if not sorts[len(index) :].any():
                continue
            patterns, which = np.unique(sorts, axis=1, return_inverse=True)
            for k, pattern in enumerate(patterns.T):
                columns = np.flatnonzero(np.ravel(which) == k)
                of_time, moves = pattern[: len(index)], pattern[len(index) :]
                for output, whole in enumerate(family.template.outputs):
                    for expression in _largest(whole, of_time, moves):
                        yield Part(family, output, columns, expression, expression is whole)

    # --- what cannot be followed ------------------------------------------------------------------------------------------------
    def _without_bounds(self, begin: float, until: float, w: Floats) -> Mask:
        """Functions of which nothing can be said here (a pole, no bounds)."""
        ends, every = np.linspace(begin, until, _LOOKS + 1), np.arange(self._offsets[-1])
        function = np.repeat(every, _LOOKS)
        _, _, low, high = self._over(function, np.tile(ends[:-1], len(every)), np.tile(ends[1:], len(every)), w)
        undecided = ~((low > 0) | (high < 0) | (low == high))
        return np.bincount(function, undecided, len(every)) >= _LOOKS // 2

    def _crowded(self) -> Mask:
        """Functions whose turns pile up."""
        return np.asarray(2 * self._turns >= self._turns.max(initial=1))

    def _give_up(self, hopeless: Mask) -> None:
        """Of some functions nothing more is sought; of others it is."""
        kept, given = list[Part](), np.split(hopeless, self._offsets[1:-1])
        for part, lost in zip(self._parts, given, strict=True):
            self.lost += part.family.rows[part.output, part.columns[lost]].tolist()
            if not lost.all():
                kept.append(Part(part.family, part.output, part.columns[~lost], part.expression, part.switches))
        self._parts = kept if hopeless.any() else []
        self._number()
        self._forget()
        self._plans.clear()

    def _forget(self) -> None:
        """Nothing is known of the turns of these functions, but which of them switch relations by themselves."""
        count = int(self._offsets[-1]) if self._parts else 0
        self._switches = np.repeat([p.switches for p in self._parts], np.diff(self._offsets)).astype(bool) if count else _NONE
        self._turns = np.zeros(count, dtype=np.int64)  # of each function in the last search

    # --- turns ------------------------------------------------------------------------------------------------------------------
    def _search(self, begin: float, most: int, w: Floats) -> tuple[Floats, float]:
        """The times from `begin` on, and up to which time these are all.

        Every function has stretches of its own in which it may turn, sorted by function and time: what others do costs it nothing.
        """
        end = until = self.t_end if np.isfinite(self.t_end) else begin + max(_REACH, abs(begin))
        count = int(self._offsets[-1])
        function, lower, upper = np.arange(count), np.full(count, begin), np.full(count, end)
        most = max(min(most * count, _MOST_ROWS), 8 * count)
        finest = max(_FINEST * (end - begin), 16 * np.finfo(float).eps * max(abs(begin), abs(end)))
        turning, ends = [function[:0]], [lower[:0]]
        jumping, brinks = [function[:0]], [lower[:0]]
        while len(function):
            fine = _fine(function, lower, upper, until - begin, until == end)
            done = upper - lower <= np.maximum(fine, finest)[function]
            last = done & _last(function, lower, upper)
            turning.append(function[last])
            ends.append(upper[last])
            jumps = done & self._jumps(function, lower, upper, done, w)
            jumping.append(function[jumps])
            brinks.append(lower[jumps])
            function, lower, upper = self._halved(function[~done], lower[~done], upper[~done], w)
            if len(function) > most:
                until = min(until, float(np.partition(lower, most // 2)[most // 2]))
                early = lower < until
                function, lower, upper = function[early], lower[early], upper[early]
        turned, when = np.concatenate(turning), np.concatenate(ends)
        self._turns = np.bincount(turned[when < until], minlength=count)
        turned, when = np.concatenate([turned, *jumping]), np.concatenate([when, *brinks])
        early = (when < until) & (when > begin)
        return self._switching(begin, turned[early], when[early], until, w), until

    def _jumps(self, function: np.ndarray, lower: Floats, upper: Floats, asked: Mask, w: Floats) -> Mask:
        """Of the stretches asked about those in which the function may jump: what it was before, its value behind does not tell."""
        found = np.zeros(len(function), dtype=bool)
        _, _, low, high = self._over(function[asked], lower[asked], upper[asked], w)
        found[asked] = ~np.isfinite(low) | ~np.isfinite(high)
        return found

    def _halved(self, function: np.ndarray, lower: Floats, upper: Floats, w: Floats) -> tuple[np.ndarray, Floats, Floats]:
        """Halves of stretches, those in which the function may turn. One that stands still does not."""
        middle, function = 0.5 * (lower + upper), np.repeat(function, 2)
        lower, upper = np.column_stack([lower, middle]).ravel(), np.column_stack([middle, upper]).ravel()
        _, _, low, high = self._over(function, lower, upper, w)
        may = (low <= 0) & (high >= 0) & (low < high)  # a turn may lie between two stretches exactly
        return function[may], lower[may], upper[may]

    def _switching(self, begin: float, function: np.ndarray, turns: Floats, until: float, w: Floats) -> Floats:
        """Of the turns those that matter: all, but for relations of time alone those by which they have switched."""
        every = np.arange(self._offsets[-1])
        function, points = (
            np.concatenate([every, function, every]),
            np.concatenate([np.full(len(every), begin), turns, np.full(len(every), until)]),
        )
        by = np.lexsort((points, function))
        function, points = function[by], points[by]
        side = np.sign(self._over(function, points, points, w)[0])
        first = np.append(True, function[1:] != function[:-1])
        matter = ~first & (~self._switches[function] | np.append(False, side[1:] != side[:-1]))
        found = np.unique(points[matter & (points < until)])
        # a turn may lie just before `until`; there, one looks further
        goes_on = until < self.t_end and (bool(matter[points == until].any()) or not np.isfinite(self.t_end))
        return np.append(found, until) if goes_on else found


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


def _fine(function: np.ndarray, lower: Floats, upper: Floats, span: float, whole: bool) -> Floats:
    """How long stretches in which something turns may remain, of each function."""
    stretches = np.bincount(function)
    clusters = np.bincount(function, _last(function, lower, upper), len(stretches))
    return np.where(whole & (stretches <= _FEW), 0.0, _FINE * span / (1 + np.maximum(clusters, 1)))


def _last(function: np.ndarray, lower: Floats, upper: Floats) -> Mask:
    """The last one of each run of adjacent stretches of a function: it ends behind the turn."""
    return np.append((function[1:] != function[:-1]) | (lower[1:] > upper[:-1]), True)[: len(function)]
