"""Block by block: what to do when Newton's method fails on the whole system.

The blocks of the block triangular form are solved in order, so that a block sees solved values and not guesses. Evaluating a block
alone is not possible here: a residual costs O(n), whatever part of it is wanted. Three things keep the cost down.

- Blocks of one level share no unknown. They are solved together, each with its own step length (`newton.Groups`).
- Most blocks are easy. Levels are not walked one by one: a range of levels is tried as one system, and cut in two if that fails.
  One hard block among L levels then costs O(log L) Newton iterations more, not L: h hard levels cost O(h log L · n) instead of
  O(L · n), which for a chain of 10^5 levels is the difference between seconds and an hour.
- Only blocks that fail on their own level go through the succession of methods below, together again.

When a block fails for good, what depends on it is left out, and everything else is still solved: independent mistakes are reported
together.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .bracket import bracket
from .conditions import Conditions
from .equations import Stack, Subsystem
from .homotopy import follow_arc, follow_model, follow_residual, uses_model_continuation
from .newton import Groups, NewtonResult, Verdict, newton
from .options import Options
from .ordering import BlockOrder
from .report import Attempt, FailedBlock, Report
from .types import Floats, Integers, Mask

REASONS = {
    Verdict.STALLED: "Newton's method came to a point where no step makes the residual smaller.",
    Verdict.SINGULAR: "its Jacobian is singular.",
    Verdict.OUTSIDE_DOMAIN: "an equation has no value at or near the start.",
    Verdict.TOO_MANY_ITERATIONS: "Newton's method did not converge within its iterations.",
}
_ARCS, _ARC_SIZE = 5, 1000  # blocks that are followed by arc length, one after the other, and their largest size

Method = Callable[[Subsystem, Groups, Floats], tuple[Floats, Mask]]
Step = tuple[str, Method, Callable[[Integers], Mask]]  # name, method, the blocks it is for


class BlockSolver:
    """Solves the initial system by blocks, from the values in `x`, which become the solution. The story goes into `report`."""

    def __init__(
        self, stack: Stack, conditions: Conditions, order: BlockOrder, x: Floats, options: Options, report: Report
    ) -> None:
        self.stack, self.order, self.options, self.report = stack, order, options, report
        self.rows, self.columns = conditions.rows[order.rows], conditions.columns[order.columns]
        self.x = x
        self.start = x[self.columns].copy()
        self.waiting: Mask = np.zeros(order.count, bool)  # for a block that failed
        self.verdicts: list[int] = []
        self.by_continuation = False

    def solve(self) -> bool:
        levels = len(self.order.levels) - 1
        self.report.blocks = self.order.count
        if levels > 1:  # the whole has been tried before
            self._halves(0, levels)
        else:
            self._level(np.arange(self.order.count))
        self.report.not_reached = int(self.waiting.sum())
        return not self.report.failed

    # ------------------------------------------------------------------------------------------------------------ ranges of levels

    def _range(self, first: int, last: int) -> None:
        blocks = np.arange(self.order.levels[first], self.order.levels[last])
        blocks = blocks[~self.waiting[blocks]]
        if not len(blocks):
            return
        if last - first == 1:
            self._level(blocks)
            return
        system, place = self._subsystem(blocks)
        result = newton(system, self.start[place], self.options)
        self._told("Newton's method", system.size, result)
        if result.converged.all():
            self.x[system.columns] = result.z
        else:
            self.x[system.columns] = self.start[place]
            self._halves(first, last)

    def _halves(self, first: int, last: int) -> None:
        middle = (first + last) // 2
        self._range(first, middle)
        self._range(middle, last)

    # -------------------------------------------------------------------------------------------------------------------- one level

    def _level(self, blocks: Integers) -> None:
        system, place = self._subsystem(blocks)
        groups = self._groups(blocks)
        result = newton(system, self.start[place], self.options, self.options.block_iterations, groups)
        self._told("Newton's method by blocks" if len(blocks) > 1 else "Newton's method", system.size, result)
        self.x[system.columns] = result.z
        failed, verdict = blocks[~result.converged], result.verdict[~result.converged]
        tried = ["Newton's method"]
        for name, method, fits in self._succession():
            if not len(failed):
                return
            chosen = failed[fits(failed)]
            if len(chosen):
                still = ~np.isin(failed, self._apply(name, method, chosen, tried))
                failed, verdict = failed[still], verdict[still]
        self._give_up(failed, verdict, tuple(tried))

    def _apply(self, name: str, method: Method, blocks: Integers, tried: list[str]) -> Integers:
        """The blocks that the method solved. Values of those it did not solve stay where Newton's method had left them."""
        system, place = self._subsystem(blocks)
        kept = self.x[system.columns].copy()
        z, solved = method(system, self._groups(blocks), self.start[place])
        tried.append(name)
        self.report.attempts.append(Attempt(name, system.size, bool(solved.all())))
        self.x[system.columns] = np.where(self._groups(blocks).spread(solved), z, kept)
        return blocks[solved]

    def _succession(self) -> list[Step]:
        """What is tried, in this order. The model's own simplification comes first: it is the only one that knows what is meant."""

        def every(blocks: Integers) -> Mask:
            return np.ones(len(blocks), bool)

        def single(blocks: Integers) -> Mask:
            return np.asarray(np.diff(self.order.offsets)[blocks] == 1)

        def small(blocks: Integers) -> Mask:
            return np.asarray(np.diff(self.order.offsets)[blocks] <= _ARC_SIZE)

        steps: list[Step] = [
            ("the model's own homotopy", self._model_homotopy, self._simplifiable),
            ("bracketing", self._bracket, single),
            ("Newton homotopy", self._newton_homotopy, every),
            ("other starts", self._other_starts, every),
            ("homotopy by arc length", self._arc, small),
        ]
        return steps if self.options.homotopy else [s for s in steps if "homotopy" not in s[0]]

    def _give_up(self, blocks: Integers, verdicts: Integers, tried: tuple[str, ...]) -> None:
        for block, verdict in zip(blocks, verdicts, strict=True):
            place = slice(self.order.offsets[block], self.order.offsets[block + 1])
            self.verdicts.append(int(verdict))
            self.report.failed.append(FailedBlock(self.rows[place], self.columns[place], REASONS[Verdict(verdict)], tried))
        self.waiting |= self.order.after(blocks)

    # ------------------------------------------------------------------------------------------------------------------ the methods

    def _bracket(self, system: Subsystem, groups: Groups, z: Floats) -> tuple[Floats, Mask]:
        near, _ = bracket(system, z)
        return self._newton_from(system, groups, near)

    def _newton_from(self, system: Subsystem, groups: Groups, z: Floats) -> tuple[Floats, Mask]:
        result = newton(system, z, self.options, self.options.iterations, groups)
        return result.z, result.converged

    def _other_starts(self, system: Subsystem, groups: Groups, z: Floats) -> tuple[Floats, Mask]:
        """Everything at rest, nominal values, their negatives, the middle between bounds: with luck one is on the right side of the
        hill. Networks with check valves, say, open from rest, but hardly close from a wrong guess of the flow."""
        solved, best = np.zeros(groups.count, bool), z
        bounded = np.isfinite(system.lower) & np.isfinite(system.upper)
        middle = z + 0.1 * system.nominal
        middle[bounded] = 0.5 * (system.lower[bounded] + system.upper[bounded])
        for guess in (np.zeros(system.size), system.nominal, -system.nominal, middle):
            found, good = self._newton_from(system, groups, np.where(groups.spread(solved), best, guess))
            best = np.where(groups.spread(good & ~solved), found, best)
            solved |= good
            if solved.all():
                break
        return best, solved

    def _simplifiable(self, blocks: Integers) -> Mask:
        system, place = self._subsystem(blocks)
        kept = self.x[system.columns].copy()
        uses = uses_model_continuation(system, self.start[place])
        self.x[system.columns] = kept
        return np.full(len(blocks), uses)

    def _model_homotopy(self, system: Subsystem, groups: Groups, z: Floats) -> tuple[Floats, Mask]:
        return self._noted(follow_model(system, z, groups, self.options))

    def _newton_homotopy(self, system: Subsystem, groups: Groups, z: Floats) -> tuple[Floats, Mask]:
        inside = newton(system, z, self.options, 0, groups).z
        return self._noted(follow_residual(system, inside, groups, self.options))

    def _arc(self, system: Subsystem, groups: Groups, z: Floats) -> tuple[Floats, Mask]:
        solved, best = np.zeros(groups.count, bool), z.copy()
        for k in range(min(groups.count, _ARCS)):
            place = slice(groups.begin[k], groups.begin[k] + groups.sizes[k])
            one = Subsystem(self.stack, system.rows[place], system.columns[place], self.x)
            inside = newton(one, z[place], self.options, 0).z
            best[place], solved[k] = follow_arc(one, inside, self.options)
        return self._noted((best, solved))

    def _noted(self, found: tuple[Floats, Mask]) -> tuple[Floats, Mask]:
        self.by_continuation |= bool(found[1].any())
        return found

    # --------------------------------------------------------------------------------------------------------------------- in short

    def _subsystem(self, blocks: Integers) -> tuple[Subsystem, Integers]:
        """The equations of these blocks, one after the other, and their places in the order of solution."""
        begin, sizes = self.order.offsets[blocks], np.diff(self.order.offsets)[blocks]
        place = np.arange(sizes.sum()) + np.repeat(begin - (np.cumsum(sizes) - sizes), sizes)
        return Subsystem(self.stack, self.rows[place], self.columns[place], self.x), place

    def _groups(self, blocks: Integers) -> Groups:
        return Groups(np.concatenate([[0], np.cumsum(np.diff(self.order.offsets)[blocks])]))

    def _told(self, method: str, unknowns: int, result: NewtonResult) -> None:
        worst = float(np.max(np.where(result.converged, 0.0, result.residual)))
        self.report.attempts.append(Attempt(method, unknowns, bool(result.converged.all()), result.iterations, worst))
        self.report.statistics.iterations += result.iterations
