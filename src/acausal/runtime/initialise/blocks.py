"""Block by block: what to do when Newton's method fails on the whole system.

The blocks of the block triangular form are solved in order, so that a block sees solved values and not guesses. Evaluating a block
alone is not possible here: a residual costs O(n), whatever part of it is wanted. Three things keep the cost down.

- Blocks of one level share no unknown. They are solved together, each with its own step length (`newton.Groups`).
- Most blocks are easy. Levels are not walked one by one: a range of levels is tried as one system, and cut in two if that fails.
  One hard block among L levels then costs O(log L) Newton iterations more, not L: h hard levels cost O(h log L · n) instead of
  O(L · n), which for a chain of 10^5 levels is the difference between seconds and an hour.
- Only blocks that fail on their own level go through the succession of `methods`, together again.

When a block fails for good, what depends on it is left out, and everything else is still solved: independent mistakes are reported
together.
"""

from __future__ import annotations

import numpy as np

from .conditions import Conditions
from .equations import Stack, Subsystem
from .methods import SUCCESSION, Step
from .newton import Groups, NewtonResult, Verdict, newton
from .options import Options
from .ordering import BlockOrder
from .report import Attempt, FailedBlock, Report
from .types import Floats, Integers, Mask

_NEAR_AND_FAR = (1e-2, -1e-2, 1.0, -1.0, 1e3, -1e3)
_SAME = 1e-12
_STEPS_OF_LINEAR = 3  # one, and what rounding and bounds may need

REASONS = {
    Verdict.STALLED: "Newton's method came to a point where no step makes the residual smaller.",
    Verdict.SINGULAR: "its Jacobian is singular.",
    Verdict.OUTSIDE_DOMAIN: "an equation has no value at or near the start.",
    Verdict.TOO_MANY_ITERATIONS: "Newton's method did not converge within its iterations.",
}


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
        linear = self._linear(blocks) if self.options.frozen else np.zeros(len(blocks), bool)
        self._solve_level(blocks[linear], _STEPS_OF_LINEAR, ())
        self._solve_level(blocks[~linear], self.options.block_iterations, SUCCESSION)

    def _solve_level(self, blocks: Integers, limit: int, succession: tuple[Step, ...]) -> None:
        if not len(blocks):
            return
        system, place = self._subsystem(blocks)
        groups = self._groups(blocks)
        result = newton(system, self.start[place], self.options, limit, groups)
        self._told("Newton's method by blocks" if len(blocks) > 1 else "Newton's method", system.size, result)
        self.x[system.columns] = result.z
        failed, verdict = blocks[~result.converged], result.verdict[~result.converged]
        tried = ["Newton's method"]
        for step in succession:
            if len(failed) and (self.options.homotopy or not step.continues):
                still = ~np.isin(failed, self._apply(step, failed, tried))
                failed, verdict = failed[still], verdict[still]
        self._give_up(failed, verdict, tuple(tried))

    def _linear(self, blocks: Integers) -> Mask:
        """The blocks whose Jacobian is the same near and far: one Newton step solves them, or they have no solution."""
        system, _ = self._subsystem(blocks)
        groups = self._groups(blocks)
        kept = self.x[system.columns].copy()
        first = system.jacobian(kept)
        size = np.maximum(np.bincount(system.indices, np.abs(first), system.size), 1e-300)[system.indices]
        direction = np.random.default_rng(1957).uniform(0.5, 1.5, system.size) * np.maximum(system.nominal, np.abs(kept))
        moved = np.zeros(system.size)
        for far in _NEAR_AND_FAR:
            change = np.abs(system.jacobian(system.project(kept + far * direction)) - first) / size
            moved = np.maximum(moved, np.maximum.reduceat(np.append(change, 0.0), system.indptr[:-1]))
        self.x[system.columns] = kept
        return np.asarray(groups.max(moved) <= _SAME)  # a value that does not exist is not the same

    def _apply(self, step: Step, blocks: Integers, tried: list[str]) -> Integers:
        """The blocks that the method solved. Values of those it did not solve stay where Newton's method had left them."""
        system, place = self._subsystem(blocks)
        kept = self.x[system.columns].copy()
        fit = step.fits(system, self.start[place], self._groups(blocks))
        self.x[system.columns] = kept
        if not fit.all():
            return self._apply(step, blocks[fit], tried) if fit.any() else blocks[:0]
        groups = self._groups(blocks)
        z, solved = step.method(system, self.start[place], groups, self.options)
        tried.append(step.name)
        self.report.attempts.append(Attempt(step.name, system.size, bool(solved.all())))
        self.x[system.columns] = np.where(groups.spread(solved), z, kept)
        self.by_continuation |= step.continues and bool(solved.any())
        return blocks[solved]

    def _give_up(self, blocks: Integers, verdicts: Integers, tried: tuple[str, ...]) -> None:
        for block, verdict in zip(blocks, verdicts, strict=True):
            place = slice(self.order.offsets[block], self.order.offsets[block + 1])
            self.verdicts.append(int(verdict))
            rows, columns = self.rows[place], self.columns[place]
            given = np.setdiff1d(self.stack.incidence.columns_of(rows), columns)
            self.report.failed.append(FailedBlock(rows, columns, REASONS[Verdict(verdict)], tried, given))
        self.waiting |= self.order.after(blocks)

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
