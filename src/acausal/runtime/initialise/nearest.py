"""Starts that contradict each other: the consistent values nearest to all of them.

Problem. Unknowns that might be states have starts s, of which the equations leave fewer open than there are: two inductors share
the current of a source, i1 + i2 = I, both said to start at 0. The `conditions` take some of them, t, and compute the others,
c(t). Which ones are taken is a matter of how the equations happen to be numbered; the same circuit would start otherwise as
objects, as arrays and in composites. So where starts of equal standing disagree, t is chosen such that the sum of squares of

    (t - s) / nominal   and   (c(t) - s) / nominal

is least, each counted as often as there are variables with a start that are the same unknown (two inductors in series): first for
starts that were given to an instance, then, with what that leaves open, for those that its class declares, then for others. This
does not depend on which of them are called t, nor on which are one unknown. Fixed starts stay what they are.

Only where c is linear. Of nonlinear constraints (a pendulum's length) the starts that are taken are those that the others follow
from well, which is a matter of numbers, not of numbering.
"""

from __future__ import annotations

import numpy as np

from .conditions import Conditions, ranks
from .equations import Stack, Subsystem
from .newton import newton
from .options import Options
from .types import Floats, Integers

_MOST = 400  # starts that are taken: what follows is dense in them
_APART = 1e-9  # in nominal values: a start that is not kept
_LINEAR = 1e-6  # of a change, or of the nominal value: by so much it may bend
_OPEN = 1e-9  # a direction in which no start of a standing changes


class Nearest:
    """The starts that take part, at values x that satisfy the equations."""

    def __init__(self, stack: Stack, conditions: Conditions, x: Floats) -> None:
        problem, n = stack.problem, stack.size
        free = ranks(problem, conditions.mode)[:n] >= 1
        self.stack, self.conditions, self.x = stack, conditions, x
        self.taken: Integers = np.asarray([k for k in conditions.taken if free[k]], dtype=np.intp)
        computed = conditions.columns[conditions.columns < n]
        self.computed: Integers = computed[free[computed]]
        self.start = np.where(np.isfinite(problem.start), problem.start, 0.0)
        self.nominal = np.where(problem.nominal > 0, problem.nominal, 1.0)
        given = np.asarray(getattr(problem, "start_given", np.ones(n, bool)))
        level = getattr(problem, "start_level", None)
        self.level = np.where(given, 1, 0) if level is None else level
        voices = getattr(problem, "start_voices", None)
        self.weight = np.ones(n) if voices is None else np.sqrt(voices)

    def contradicted(self) -> bool:
        """Whether a start that somebody gave is not kept, and others could make room for it."""
        if not len(self.taken) or len(self.taken) > _MOST or not len(self.computed):
            return False
        return bool((np.abs(self._away(self.computed)) > _APART)[self.level[self.computed] > 0].any())

    def _away(self, columns: Integers) -> Floats:
        return np.asarray((self.x[columns] - self.start[columns]) / self.nominal[columns])

    def found(self, whole: Subsystem, options: Options) -> Floats | None:
        """All values where the starts are met halfway; None if the equations are not linear in them, or singular."""
        slopes = self._slopes(whole)
        if slopes is None:
            return None
        change = np.zeros(2 * self.stack.size)
        change[self.taken] = self._move(slopes) * self.nominal[self.taken]
        before, found = self.x[whole.columns], []
        for part in (0.5, 1.0):
            whole.x[:] = self.x + part * change
            result = newton(whole, before, options)
            if not result.converged.all():
                return None
            found.append(result.z)
        bend = np.abs(found[1] - 2 * found[0] + before)  # half the way is half the change
        if not (bend <= _LINEAR * np.maximum(whole.nominal, np.abs(found[1] - before))).all():
            return None
        x = self.x + change
        x[whole.columns] = found[1]
        return x

    def _move(self, slopes: Floats) -> Floats:
        """By how much what is taken moves, in nominal values."""
        columns = np.concatenate([self.taken, self.computed])
        weight, level = self.weight[columns], self.level[columns]
        rows, away = weight[:, None] * np.concatenate([np.eye(len(self.taken)), slopes]), weight * self._away(columns)
        move, open_ = np.zeros(len(self.taken)), np.eye(len(self.taken))
        for standing in np.unique(level)[::-1]:
            own = rows[level == standing]
            left, size, right = np.linalg.svd(own @ open_, full_matrices=True)
            reached = size > _OPEN * max(1.0, size.max(initial=0.0))
            count = int(reached.sum())
            step = right[:count].T @ ((left[:, :count].T @ -(away[level == standing] + own @ move)) / size[:count])
            move = move + open_ @ step
            open_ = open_ @ right[count:].T
            if not open_.shape[1]:
                break
        return move

    def _slopes(self, whole: Subsystem) -> Floats | None:
        """What is computed by what is taken, both in nominal values, at x; None if the equations do not determine it."""
        whole.x[:] = self.x
        if not whole.factorise(whole.jacobian(self.x[whole.columns])):
            return None
        place = np.full(2 * self.stack.size, -1)
        place[whole.columns] = np.arange(whole.size)
        indptr, indices, source = self.stack.incidence.part(whole.rows, self.taken)
        entries, slopes = self.stack.derivatives(self.x)[source], np.zeros((len(self.computed), len(self.taken)))
        for k in range(len(self.taken)):
            right = np.zeros(whole.size)
            part = slice(indptr[k], indptr[k + 1])
            np.add.at(right, indices[part], -entries[part] * self.nominal[self.taken[k]])
            slopes[:, k] = whole.solve(right)[place[self.computed]] / self.nominal[self.computed]
        return slopes
