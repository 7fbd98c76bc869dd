"""Starts that are more than the equations leave open, where equations bend: those that the others follow from well are kept.

Problem. A bar that turns in a plane has x = L cos φ, y = L sin φ and their derivatives. Whoever starts x, y, x' and y' and says
nothing of the angle states four values of which two are open, and all four may be right. Structure takes y and y', say, and
computes φ = arcsin(y/L), φ' = y'/(L cos φ) and x, x' from these: on the wrong side for half of all angles, and where the bar
stands upright whatever rounding makes of 0/0. So where starts that somebody gave are lost, values z are sought for which

    F(z) = 0   and   Σ w (z - s)² is least, over all starts s that were given,

by Gauss and Newton's method: with J = ∂F/∂z and W = diag(w), a step d solves (Nocedal and Wright, Numerical Optimization,
2nd ed., section 18.1)

    [ W  Jᵀ ] [ d ]   [ W (s - z) ]
    [ J  -δ ] [ λ ] = [ -F        ]

where a small δ lets dependent rows pass and what has no start gets a weight next to none. Starts that somebody gave an instance
weigh more than what its class declares. From there on, what is taken at its start is chosen anew: with the same matrix, unit
vectors are projected to the directions that the equations leave open, and as many starts as there are directions are chosen, the
one that moves most along what is left first (a Cholesky factorisation with pivots). Then everything else follows from them well,
and is solved for from the point found. What comes of it counts only if what was lost is kept, but for rounding: of starts that
contradict each other nobody knows which are guesses, and they stay as they were.

Only parts of the system are looked at in which a start is lost: what shares no unknown with them stays as it is. So do parts with
initial equations, which say by themselves what is meant.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...structure.unions import components
from .conditions import Conditions, ranks
from .equations import Stack, Subsystem
from .newton import Groups, newton
from .options import Options
from .types import Floats, Integers, Mask

_LOST = 1e-7  # of a start, or of its nominal value: by so much it is missed
_WEIGHT = 1e-2  # what the start of a standing weighs beside those of the next higher one, before it is squared
_NO_START = 1e-5  # and what has no start
_PASSES = 1e-12  # δ, in units of the scales
_STEPS = 25
_PUSHES = 5  # without success
_FAR = 1e-2  # a start that is missed by less, in units of its size, is not on another side
_ARRIVED = 1e-8  # the last step, in units of the scales
_MOST = 400  # starts of one part among which is chosen: this is dense in them
_NEARER = 1e-2  # times the distance from the starts before: what was lost is kept, but for rounding
_SHARED = 0.9  # the same where starts that contradict each other share: two of them are 0.7 times as far away together


class Closest:
    """The starts of the parts in which some are lost, at values x that satisfy the equations; or, where none were found
    (not `solved`), of everything."""

    def __init__(self, stack: Stack, conditions: Conditions, x: Floats, solved: bool = True) -> None:
        problem, n = stack.problem, stack.size
        self.stack, self.conditions, self.x, self.solved = stack, conditions, x, solved
        rank = ranks(problem, conditions.mode)[:n]
        self.free: Mask = rank >= 1
        given = np.asarray(getattr(problem, "start_given", np.ones(n, bool)))
        level = getattr(problem, "start_level", None)
        self.level: Integers = np.where(given & self.free, 1 if level is None else level, 0)
        self.start = np.where(np.isfinite(problem.start), problem.start, 0.0)
        nominal = np.where(problem.nominal > 0, problem.nominal, 1.0)
        self.size = np.maximum(np.maximum(np.tile(nominal, 2), np.abs(x)), np.abs(np.concatenate([self.start, np.zeros(n)])))

    def _away(self, x: Floats) -> Floats:
        """Of every unknown whose start was given, how far it is from there, in units of its size."""
        n = self.stack.size
        away = np.abs(x[:n] - self.start) / self.size[:n]
        return np.where((self.level > 0) & (away > _LOST), away, 0.0)

    def lost(self) -> bool:
        """Whether a start that was given is not kept, and others could make room for it."""
        taken = self.conditions.taken
        return bool(self.free[taken].any()) and bool(self._away(self.x).any())

    def found(self, options: Options) -> tuple[Floats, Conditions] | None:
        """All values, nearer to the starts, and which starts are taken; None if there are none.

        First from the values found; then what is still not met is tried with pushes of what has no start: where that is on the far
        side of a circle, no direction leads nearer.
        """
        begun, pushes, fruitless = self.x, np.random.default_rng(1814), 0
        while fruitless <= _PUSHES and (part := self._part()) is not None:
            before, first, given = self.x, self.x.copy(), np.flatnonzero(self.level)
            silent = np.intersect1d(np.flatnonzero(self.free & (self.level == 0)), part.columns)
            first[given] = self.start[given]
            if fruitless:
                first[silent] = self.start[silent] + self.size[silent] * pushes.uniform(-3.0, 3.0, len(silent))
            self._try(part, first, options)
            fruitless = 1 if self.x is not before else fruitless + 1
            if not len(silent) or not self.solved or self._away(self.x).max() < _FAR:
                break
        return None if self.x is begun else (self.x, self.conditions)

    def _try(self, part: _Part, x: Floats, options: Options) -> None:
        """Take what comes out near x where it is nearer to the starts, each of what hangs together by itself."""
        near = part.nearest(x)
        chosen = None if near is None else part.chosen(near)
        if near is None or chosen is None:
            return
        near[part.columns[chosen]] = self.start[part.columns[chosen]]
        good = part.solve(near, chosen, options)
        if self.solved:
            unknown = part.columns < self.stack.size
            good &= self._nearer(near, part.columns[unknown], part.label[unknown], len(good), _NEARER)
        elif not good.all():
            return
        if good.any():
            kept = good[part.label]
            self.x, self.solved = self.x.copy(), True
            self.x[part.columns[kept]] = near[part.columns[kept]]
            self.conditions = self._exchanged(part.columns[kept], part.columns[chosen][kept[chosen]])

    def _exchanged(self, columns: Integers, chosen: Integers) -> Conditions:
        conditions = self.conditions
        released = np.setdiff1d(np.intersect1d(conditions.taken, columns), chosen)
        computed = np.union1d(np.setdiff1d(conditions.columns, chosen), released)
        return replace(conditions, columns=computed, taken=np.union1d(np.setdiff1d(conditions.taken, released), chosen))

    def nearer(self, x: Floats) -> bool:
        """Whether these values are nearer to the starts, as those are that share what is too much."""
        unknowns = np.arange(self.stack.size)
        return bool(self._nearer(x, unknowns, np.zeros_like(unknowns), 1, _SHARED)[0])

    def _nearer(self, now: Floats, unknowns: Integers, label: Integers, count: int, by: float) -> Mask:
        """Of each part, whether starts of the highest standing that makes a difference are nearer."""
        away, level = [self._away(x)[unknowns] ** 2 for x in (self.x, now)], self.level[unknowns]
        better, open_ = np.zeros(count, dtype=bool), np.ones(count, dtype=bool)
        for standing in np.unique(level[level > 0])[::-1]:
            old, new = (np.sqrt(np.bincount(label, np.where(level == standing, a, 0.0), count)) for a in away)
            differs = open_ & ((new < by * old) | (old < by * new))
            better |= differs & (new < old)
            open_ &= ~differs
        return better

    def _part(self) -> _Part | None:
        """The rows and columns that hang together with a start that is lost, where some are taken."""
        conditions, n = self.conditions, self.stack.size
        taken = conditions.taken[self.free[conditions.taken]]
        columns = np.union1d(conditions.columns, taken)
        indptr, indices, _ = self.stack.incidence.part(conditions.rows, columns)
        count = len(columns)
        owner = np.repeat(np.arange(count), np.diff(indptr))
        label = components(count + len(conditions.rows), owner, count + indices)
        lost = np.zeros(count, dtype=bool)
        lost[columns < n] = self._away(self.x)[columns[columns < n]] > 0
        free = np.bincount(label[:count], (columns < n) & self.free[columns % n], minlength=label.max() + 1)
        concerned = np.intersect1d(label[:count][lost], label[:count][np.isin(columns, taken)])
        keep = (np.isin(label, concerned) | (not self.solved)) & (free <= _MOST)[label]
        keep &= ~np.isin(label, label[count:][conditions.rows >= self.stack.equations])  # initial equations say what is meant
        if not keep.any() or not (self.solved or keep.all()):
            return None
        return _Part(self, conditions.rows[keep[count:]], columns[keep[:count]], label[:count][keep[:count]])


class _Part:
    """Some rows with all columns that are computed from them or taken; `label` says which columns hang together."""

    def __init__(self, starts: Closest, rows: Integers, columns: Integers, label: Integers) -> None:
        n = starts.stack.size
        self.stack, self.rows, self.columns = starts.stack, rows, columns
        self.label: Integers = np.unique(label, return_inverse=True)[1]
        self.size = starts.size[columns]
        self.goal, level, self.free = np.zeros(len(columns)), np.zeros(len(columns)), np.zeros(len(columns), dtype=bool)
        unknown = columns < n
        self.goal[unknown], level[unknown] = starts.start[columns[unknown]], starts.level[columns[unknown]]
        self.free[unknown] = starts.free[columns[unknown]]
        self.weight = np.where(level > 0, _WEIGHT ** (2 * (level.max() - level)), _NO_START**2)
        self.pull = np.where(level > 0, self.weight, 0.0)
        self.indptr, self.indices, self._source = starts.stack.incidence.part(rows, columns)
        self.owner = np.repeat(np.arange(len(columns)), np.diff(self.indptr))

    def nearest(self, x: Floats) -> Floats | None:
        """Values that satisfy the rows as near to the starts as there are, from x; None where the iteration leads nowhere."""
        for _ in range(_STEPS):
            factor, weight = self._factor(x)
            if factor is None:
                return None
            z = x[self.columns]
            right = np.concatenate([self.pull * (self.goal - z) / self.size, -self.stack.residual(x)[self.rows] / weight])
            step = factor.solve(right)[: len(z)] if np.isfinite(right).all() else np.full(1, np.nan)
            if not np.isfinite(step).all():
                return None
            x[self.columns] = z + self.size * step
            if np.abs(step).max() < _ARRIVED * max(1.0, float((np.abs(z) / self.size).max())):
                return x
        return x

    def _factor(self, x: Floats) -> tuple[Any, Floats]:
        """Of the matrix at x, in units of the scales, and what those of the rows are."""
        from scipy.sparse import block_array, csc_array, diags_array, eye_array
        from scipy.sparse.linalg import splu

        count = len(self.rows)
        entries = self.stack.derivatives(x)[self._source] * self.size[self.owner]
        sums = np.bincount(self.indices, np.abs(entries), count)
        weight: Floats = np.where((sums > 0) & np.isfinite(sums), sums, 1.0)
        if not np.isfinite(entries).all():
            return None, weight
        jacobian = csc_array((entries / weight[self.indices], self.indices, self.indptr), shape=(count, len(self.columns)))
        matrix = block_array([[diags_array(self.weight), jacobian.T], [jacobian, -_PASSES * eye_array(count)]], format="csc")
        try:
            return splu(matrix), weight
        except RuntimeError:  # exactly singular
            return None, weight

    def solve(self, x: Floats, taken: Integers, options: Options) -> Mask:
        """Compute all but what is taken, from x on; whether that succeeded, for each of what hangs together."""
        computed = np.setdiff1d(np.arange(len(self.columns)), taken)
        computed = computed[np.argsort(self.label[computed], kind="stable")]
        label_of_row = self._label_of_row()
        rows = np.argsort(label_of_row, kind="stable")
        sizes = np.bincount(label_of_row)
        whole = Subsystem(self.stack, self.rows[rows], self.columns[computed], x)
        result = newton(whole, x[whole.columns], options, groups=Groups(np.concatenate([[0], np.cumsum(sizes)])))
        x[whole.columns] = result.z
        return result.converged & (result.regular and not whole.nearly_singular())

    def chosen(self, x: Floats) -> Integers | None:
        """As many places as the rows leave open at x, those that say most of it first; None if the matrix is no help."""
        factor = self._factor(x)[0]
        members = self._members()
        if factor is None:
            return None
        most = max(len(own) for own in members)
        found, root = [np.zeros((len(own), len(own))) for own in members], np.sqrt(self.weight)
        for k in range(most):  # the k-th of each part at once: they do not see each other
            right = np.zeros(len(self.columns) + len(self.rows))
            here = [own[k] for own in members if k < len(own)]
            right[here] = root[here]
            moved = root * factor.solve(right)[: len(self.columns)]
            for own, projected in zip(members, found, strict=True):
                if k < len(own):
                    projected[:, k] = moved[own]
        picked = [own[_pivots(part, number)] for own, part, number in zip(members, found, self._open(), strict=True)]
        return np.sort(np.concatenate(picked))

    def _members(self) -> list[Integers]:
        """The unknowns of each part that might be taken."""
        own = np.flatnonzero(self.free)
        own = own[np.argsort(self.label[own], kind="stable")]
        return np.split(own, np.cumsum(np.bincount(self.label[own], minlength=self.label.max() + 1))[:-1])

    def _open(self) -> Integers:
        """How many more columns than rows each part has."""
        count = self.label.max() + 1
        return np.asarray(np.bincount(self.label, minlength=count) - np.bincount(self._label_of_row(), minlength=count))

    def _label_of_row(self) -> Integers:
        found = np.zeros(len(self.rows), dtype=np.intp)
        found[self.indices] = self.label[self.owner]
        return found


def _pivots(projector: Floats, count: int) -> Integers:
    """As many of its columns as asked for, in which it has the most to say: Cholesky's factorisation with pivots."""
    left, chosen = projector.copy(), []
    for _ in range(count):
        best = int(np.argmax(np.diag(left)))
        pivot = left[best, best]
        chosen.append(best)
        left = left - np.outer(left[:, best], left[best]) / (pivot if pivot > 0 else 1.0)
        left[best, best] = -np.inf
    return np.array(chosen, dtype=np.intp)
