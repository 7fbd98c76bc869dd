"""Consistent initial values: the whole task, from what the model gives to what the integrator needs.

Problem. Find y and y' with F(t0, y, y') = 0 and the initial conditions (see `conditions`).

The ordinary plant is linear or starts close by: one damped Newton iteration on the whole system, with one factorisation, does
it, and that path is kept free of everything else, of modules too: what it does not need is imported where it is needed. What
fails there is solved block by block (see `blocks`).
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ...records import dataclass
from .conditions import Conditions, Mode, by_structure, ordinary
from .equations import Counts, PatternGrew, Stack, Subsystem
from .options import Options
from .report import Attempt, InitialisationError, Outcome, Report
from .types import Floats, InitialProblem, Integers

if TYPE_CHECKING:
    from .newton import NewtonResult
    from .ordering import BlockOrder

_SINGULAR = "The Jacobian is singular at the solution, which may not be unique: "
_NEWTON = "Newton's method"
_NEAREST, _REACHED = "the one nearest to the start was taken.", "the one that the model reaches from its start was taken."


@dataclass(frozen=True, slots=True)
class Initialised:
    """Consistent values, and the story of how they were found."""

    y: Floats
    yp: Floats
    report: Report
    outcome: Outcome


def initialise(
    problem: InitialProblem,
    t0: float,
    *,
    mode: Mode = "start",
    y_guess: Floats | None = None,
    yp_guess: Floats | None = None,
    options: Options | None = None,
    tolerance: float | None = None,
) -> Initialised:
    """Consistent values for one run. For many runs of one problem keep an `Initialiser`.

    Every day:
        mode: "start" (fixed and given starts), "steady" (all derivatives zero) or "hold" (differential unknowns keep `y_guess`).
        y_guess: guesses instead of the starts, from an earlier result say; starts that are conditions stay conditions.
        tolerance: largest relative error of an unknown.
    """
    options = options or Options()
    if tolerance is not None:
        options = replace(options, tolerance=tolerance)
    return Initialiser(problem, mode, options).run(t0, y_guess=y_guess, yp_guess=yp_guess)


class Initialiser:
    """Initial values of one problem, prepared once and computed many times.

    Index maps and the symbolic factorisation are kept from run to run. Parameters, starts, nominal values and bounds are read anew
    by each run; a change of `fixed` makes it prepare again.
    """

    def __init__(self, problem: InitialProblem, mode: Mode = "start", options: Options | None = None) -> None:
        options = options or Options()
        self.problem, self.mode = problem, mode
        self.options = replace(options, accept_nearest=True) if mode == "steady" else options
        self.stack = Stack(problem)
        self._fixed: object = None
        self._conditions: Conditions | None = None
        self._whole: Subsystem | None = None
        self._start: tuple[bytes, Floats] | None = None  # start values, and where a search begins with them
        self._order: BlockOrder | None = None

    def run(
        self,
        t0: float,
        *,
        y_guess: Floats | None = None,
        yp_guess: Floats | None = None,
        quick: bool = False,
        led: bool = True,
    ) -> Initialised:
        """Consistent values at t0, or an `InitialisationError` that carries what was reached.

        `quick`: Newton's method on the whole system or nothing, for guesses that are good or else useless. `led`: whether the
        model's own simplification, where it states one, leads to the solution; not from values that are better than any start.
        """
        begin = time.perf_counter()
        self.stack.time, self.stack.counts = float(t0), Counts()
        for _ in range(20):
            try:
                self._prepare()
                if y_guess is None and yp_guess is None and self._is_plain():
                    straight = self._straight(begin)
                    if straight is not None:
                        return straight
                report = _Run(self, y_guess, yp_guess, quick, led and not quick and y_guess is None).report
                break
            except PatternGrew:  # a trial evaluation had missed an entry; each time at least one is won
                self._conditions = None
        counts, told = self.stack.counts, report.statistics
        told.residuals, told.jacobians, told.factorisations = counts.residuals, counts.jacobians, counts.factorisations
        told.seconds = time.perf_counter() - begin
        if self._only_slopes_are_open(report):
            nearest = replace(self.options, accept_nearest=True)
            found = Initialiser(self.problem, self.mode, nearest).run(t0, y_guess=y_guess, yp_guess=yp_guess)
            found.report.notes.append("Only combinations of some derivatives are determined; the smallest derivatives were taken.")
            return found
        if not report.outcome.solved:
            raise InitialisationError(report)
        return Initialised(report.y, report.yp, report, report.outcome)

    def _is_plain(self) -> bool:
        """Whether there is nothing to choose, to follow or to compare: the equations, as they are, and as many unknowns."""
        chosen = self.conditions
        doubtful = chosen.by_structure or self.mode == "steady" or len(chosen.surplus)
        return self._whole is not None and not doubtful and getattr(self.problem, "uses_continuation", True) is False

    def _straight(self, begin: float) -> Initialised | None:
        """What the native core finds with full steps from the start values: all that `_Run` would do for an ordinary plant."""
        whole, n, stack = self._whole, self.stack.size, self.stack
        assert whole is not None
        now = self.problem.start.tobytes()
        if self._start is None or self._start[0] != now:
            self._start = now, start_values(self.problem.start)
        start = self._start[1]
        whole.x[:] = start
        found = whole.at_once(start[whole.columns], self.options.tolerance, self.options.iterations) if whole.size else None
        if found is None:
            stack.counts = Counts()
            return None
        z, residual, iterations = found
        x = start.copy()
        x[whole.columns] = z
        report = Report(self.problem, stack.time, self.conditions, start, Outcome.NEWTON, x[:n], x[n:])
        report.attempts.append(Attempt(_NEWTON, whole.size, True, iterations, residual))
        counts, told = stack.counts, report.statistics
        told.residuals, told.jacobians, told.factorisations = counts.residuals, counts.jacobians, counts.factorisations
        told.iterations, told.seconds = iterations, time.perf_counter() - begin
        return Initialised(report.y, report.yp, report, report.outcome)

    def _only_slopes_are_open(self, report: Report) -> bool:
        """Whether nothing but derivatives lacks a value, as where a mass matrix is singular: C (y1' - y2') stands in two equations.

        The integrator needs y; of such derivatives any that satisfy the equations will do.
        """
        singular = report.outcome is Outcome.SINGULAR and bool(report.failed) and not self.options.accept_nearest
        return singular and all((block.columns >= self.problem.size).all() for block in report.failed)

    # ------------------------------------------------------------------------------------------------------------ prepared and kept

    def _prepare(self) -> None:
        fixed = np.asarray(self.problem.fixed).tobytes()
        if self._conditions is None or fixed != self._fixed:
            self._fixed = fixed
            self.use(ordinary(self.problem, self.mode) or by_structure(self.stack, self.mode))
        if self._whole is not None:
            self._whole.read_attributes()

    def use(self, conditions: Conditions) -> None:
        self.stack.incidence.prepare()
        self._conditions, self._order = conditions, None
        self._whole = Subsystem(self.stack, conditions.rows, conditions.columns) if conditions.square else None

    @property
    def conditions(self) -> Conditions:
        if self._conditions is None:
            self._prepare()
        assert self._conditions is not None
        return self._conditions

    @property
    def whole(self) -> Subsystem | None:
        """All equations that are to be solved; None if they are not as many as the unknowns."""
        return self._whole

    def order(self) -> BlockOrder | None:
        """The block triangular form; None if the system is structurally singular."""
        from .ordering import block_order, rows_by_columns

        if self._order is None and self._whole is not None:
            self._order = block_order(rows_by_columns(self._whole.indptr, self._whole.indices, self._whole.size))
        return self._order


def start_values(start: Floats) -> Floats:
    """Unknowns at their starts and derivatives at zero, as a search begins; what has no start begins at zero."""
    n = len(start)
    x = np.zeros(2 * n)
    x[:n] = start
    x[:n][~np.isfinite(start)] = 0.0
    return x


class _Run:
    """One initialisation; `report` has the result."""

    def __init__(
        self, owner: Initialiser, y_guess: Floats | None, yp_guess: Floats | None, quick: bool = False, led: bool = False
    ) -> None:
        self.owner, self.stack, self.options, self.quick = owner, owner.stack, owner.options, quick
        self.led = led and owner.mode != "hold"
        self.guesses, self.exchanged, self.guessed = (y_guess, yp_guess), False, y_guess is not None
        self._begin()
        self.report.outcome = self._solve()
        self._finish()

    def _begin(self) -> None:
        self.x = self._first_values(*self.guesses)
        self.report = Report(self.owner.problem, self.stack.time, self.owner.conditions, self.x.copy())

    def _first_values(self, y_guess: Floats | None, yp_guess: Floats | None) -> Floats:
        problem, n = self.owner.problem, self.stack.size
        x = start_values(problem.start)
        if y_guess is None and yp_guess is None:
            return x
        computed = np.zeros(2 * n, bool)
        computed[self.owner.conditions.columns] = True
        if self.owner.mode == "hold":
            computed[:n] = True
        for guess, half in ((y_guess, slice(0, n)), (yp_guess, slice(n, 2 * n))):
            if guess is not None:
                x[half] = np.where(computed[half] & np.isfinite(guess), guess, x[half])
        return x

    # ------------------------------------------------------------------------------------------------------------------- solving

    def _solve(self) -> Outcome:
        outcome = self._solve_as_chosen()
        if outcome in (Outcome.SINGULAR, Outcome.NOT_FOUND) and not self.quick and self._choose_again():
            outcome = self._solve_as_chosen()
        if self.owner.mode == "start" and not self.quick and not self.guessed:
            if outcome.solved:
                self._reconcile()
            elif outcome in (Outcome.SINGULAR, Outcome.NOT_FOUND) and self._from_other_starts():
                outcome = Outcome.NEWTON
        too_many = self.owner.mode == "start" and (self.owner.conditions.surplus >= self.stack.equations).any()
        return Outcome.CROWDED if outcome is Outcome.NOT_FOUND and too_many else outcome

    def _reconcile(self) -> None:
        """Starts that contradict each other are met halfway, where equations are linear in them (see `nearest`); where they are
        not, and contradict each other only because of how they were taken, they are all kept (see `closest`)."""
        whole, conditions = self.owner.whole, self.owner.conditions
        if whole is None or not conditions.by_structure or len(conditions.surplus):
            return
        from .closest import Closest
        from .nearest import Nearest

        near, closest = Nearest(self.stack, conditions, self.x), Closest(self.stack, conditions, self.x)
        halfway = near.found(whole, self.options) if near.contradicted() else None
        if halfway is not None:
            self.x = halfway
        if closest.lost() and (halfway is None or not closest.nearer(halfway)):  # beside a turn, what bends looks linear
            self.x, self.report.conditions = closest.found(self.options) or (self.x, conditions)

    def _from_other_starts(self) -> bool:
        """Whether, where those that were taken led nowhere, there are values near to all starts that were given."""
        whole, conditions = self.owner.whole, self.owner.conditions
        if whole is None or not conditions.by_structure or len(conditions.surplus) or not len(conditions.taken):
            return False
        from .closest import Closest

        found = Closest(self.stack, conditions, self.x, solved=False).found(self.options) if np.isfinite(self.x).all() else None
        if found is not None:
            self.x, self.report.conditions = found
            self.report.failed, self.report.not_reached = [], 0
        self.report.attempts.append(Attempt("all starts at once", whole.size, found is not None))
        return found is not None

    def _choose_again(self) -> bool:
        """Whether, at the point reached, other starts than those taken, or other rows than those chosen, determine the rest."""
        chosen = self.owner.conditions
        choice = len(chosen.taken) + len(chosen.surplus)
        if not chosen.by_structure or not choice or not np.isfinite(self.x).all():
            return False
        other = by_structure(self.stack, self.owner.mode, self.x)
        same = np.array_equal(other.columns, chosen.columns) and np.array_equal(other.rows, chosen.rows)
        if same or not other.square or len(other.rows) != len(chosen.rows):
            return False
        self._begin_with(other)
        return True

    def _exchange_starts(self, order: BlockOrder) -> bool:
        """Whether other starts than those taken leave a regular system, where these do not."""
        chosen, again = self.owner.conditions, self.exchanged
        self.exchanged = True
        if again or self.owner.mode != "start" or not len(chosen.taken) or not np.isfinite(self.x).all():
            return False
        from .numeric import by_numbers

        other = by_numbers(self.stack, chosen, order, self.x, self.report.start)
        if other is None or np.array_equal(other.columns, chosen.columns):
            return False
        self.x = self.report.start.copy()
        self._begin_with(other)
        return True

    def _begin_with(self, other: Conditions) -> None:
        attempts, n = self.report.attempts, self.stack.size
        self.guesses = self.x[:n].copy(), self.x[n:].copy()
        self.owner.use(other)
        self._begin()
        self.report.attempts = [*attempts, Attempt("other conditions", len(other.columns), True)]

    def _solve_as_chosen(self) -> Outcome:
        if self.owner.whole is None:
            return self._not_square()
        if self.led and self._follow_model(self.owner.whole):
            return self._checked(Outcome.HOMOTOPY)
        result = self._newton(self.owner.whole)
        doubtful = self.owner.mode == "steady" or (self.owner.conditions.by_structure and len(self.owner.conditions.taken) > 0)
        if doubtful and result.regular and not result.undefined.size and not self.quick:  # rounding may hide what is not determined
            result.regular = not self.owner.whole.nearly_singular()
        if result.all_converged and result.regular:
            return self._checked(Outcome.NEWTON)
        order = self.owner.order()
        if order is None:
            return self._singular_structure()
        if self.quick and not result.all_converged:
            return Outcome.NOT_FOUND
        if not result.regular and self._exchange_starts(order):
            return self._solve_as_chosen()
        at_rest = self.owner.mode == "steady" and not self.quick and self._at_rest(self.owner.whole)
        if not result.all_converged:
            return self._checked(Outcome.REST) if at_rest else self._by_blocks(order)
        self.report.notes.append(_SINGULAR + (_REACHED if at_rest else _NEAREST))
        return self._checked(Outcome.REST if at_rest else Outcome.NEWTON)

    def _at_rest(self, whole: Subsystem) -> bool:
        """A steady state that is hard to find, or not the only one: the one that the start leads to, if it leads to one."""
        from .newton import newton

        n, first = self.stack.size, self.report.start
        if not self.owner.problem.differential.any() or self.stack.equations != n:
            return False
        from .transient import settle

        y, arrived = settle(self.stack, self._as_started(first[:n]), self.options)
        if arrived:
            whole.x[:] = 0.0
            whole.x[:n] = y
            result = newton(whole, whole.x[whole.columns], self.options)
            arrived = bool(result.converged.all())
        self.report.attempts.append(Attempt("pseudo-transient continuation", n, arrived))
        if arrived:
            self.x[:n] = y
            self.x[whole.columns] = result.z
        return arrived

    def _as_started(self, y: Floats) -> Floats:
        """Where a run would start, so that what the model conserves has the value that its starts mean."""
        with suppress(InitialisationError):
            return Initialiser(self.owner.problem, "start").run(self.stack.time).y
        return y.copy()

    def _follow_model(self, whole: Subsystem) -> bool:
        """Where the model states a simplified form, that says which of several solutions is meant (IDA Solver 2.4)."""
        from .homotopy import follow_model, uses_model_continuation
        from .newton import Groups

        whole.x[:] = self.x
        first = self.x[whole.columns]
        if not self.options.homotopy or not uses_model_continuation(whole, first):
            return False
        z, arrived = follow_model(whole, first, Groups.one(whole.size), self.options)
        self.report.attempts.append(Attempt("the model's own homotopy", whole.size, bool(arrived.all())))
        if arrived.all():
            self.x[whole.columns] = z
        return bool(arrived.all())

    def _newton(self, whole: Subsystem) -> NewtonResult:
        from .newton import newton

        whole.x[:] = self.x
        result = newton(whole, self.x[whole.columns], self.options)
        self.report.non_finite = whole.rows[result.undefined]
        self.report.attempts.append(
            Attempt(_NEWTON, whole.size, result.all_converged, result.iterations, float(result.residual.max()))
        )
        self.report.statistics.iterations += result.iterations
        if result.all_converged:
            self.x[whole.columns] = result.z
        return result

    def _by_blocks(self, order: BlockOrder) -> Outcome:
        from .blocks import BlockSolver
        from .newton import Verdict

        solver = BlockSolver(self.stack, self.owner.conditions, order, self.x, self.options, self.report)
        if solver.solve() and self._conditions_hold(order):
            return self._checked(Outcome.HOMOTOPY if solver.by_continuation else Outcome.BLOCKS)
        verdicts = set(solver.verdicts)  # empty where every block by itself was solved, but not the whole
        if verdicts == {Verdict.OUTSIDE_DOMAIN}:
            return Outcome.OUTSIDE_DOMAIN
        return Outcome.SINGULAR if verdicts == {Verdict.SINGULAR} else Outcome.NOT_FOUND

    def _conditions_hold(self, order: BlockOrder) -> bool:
        """The order of blocks does not know what conditions read: a block may have been solved with a branch that what came after
        it forbids. So the whole is solved once more from there; where that fails, the blocks are, until nothing changes."""
        whole = self.owner.whole
        assert whole is not None
        for _ in range(1 + order.count):
            if self._newton(whole).converged.all():
                return True
            from .blocks import BlockSolver

            before = self.x.copy()
            if not BlockSolver(self.stack, self.owner.conditions, order, self.x, self.options, self.report).solve():
                return False
            if np.allclose(before, self.x, rtol=1e-9, atol=0.0):
                return True
        return False

    # --------------------------------------------------------------------------------------------------------- when counts disagree

    def _singular_structure(self) -> Outcome:
        """The ordinary choice of conditions does not fit this problem: let the structure choose, and try again."""
        whole, conditions = self.owner.whole, self.owner.conditions
        assert whole is not None
        if not conditions.by_structure and self.owner.mode != "hold":
            attempts = self.report.attempts
            self.owner.use(by_structure(self.stack, self.owner.mode))
            self._begin()
            self.report.attempts = attempts
            return self._solve_as_chosen()
        from .ordering import rows_by_columns, undetermined

        rows, columns = undetermined(rows_by_columns(whole.indptr, whole.indices, whole.size))
        return self._told_structure(whole.rows[rows], whole.columns[columns])

    def _not_square(self) -> Outcome:
        conditions = self.owner.conditions
        stack = self.stack.incidence.part(conditions.rows, conditions.columns)
        from .ordering import rows_by_columns, undetermined

        _, columns = undetermined(rows_by_columns(stack[0], stack[1], len(conditions.rows)))
        rows = np.unique(np.concatenate([conditions.surplus, *conditions.conflicts]).astype(np.intp))
        return self._told_structure(rows, conditions.columns[columns])

    def _told_structure(self, rows: Integers, columns: Integers) -> Outcome:
        notes, report = self.report.notes, self.report
        if len(columns):
            notes.append(
                "Not determined: " + ", ".join(report.quantity(int(c)) for c in columns[:10]) + (", …" if len(columns) > 10 else "")
            )
        if len(rows):
            notes.append("Too many for the quantities in them:")
            notes.extend(f"  {report.equation(int(r))}" for r in rows[:10])
        return Outcome.STRUCTURE

    # ----------------------------------------------------------------------------------------------------------- surplus conditions

    def _checked(self, outcome: Outcome) -> Outcome:
        """More conditions than needed are welcome as long as they agree with the rest."""
        surplus = self.owner.conditions.surplus
        if not len(surplus):
            return outcome
        residual = np.abs(self.stack.residual(self.x)[surplus])
        size = residual / self._weights(surplus)
        wrong = np.flatnonzero(~(size <= max(self.options.consistency, self.options.tolerance)))
        for k in wrong[:10]:
            self._told_conflict(int(surplus[k]), float(residual[k]), int(k))
        return Outcome.INCONSISTENT if len(wrong) else outcome

    def _weights(self, rows: Integers) -> Floats:
        """What each row would change by if all quantities in it changed by all they are (see `newton`)."""
        incidence = self.stack.incidence
        nominal = np.tile(np.where(self.owner.problem.nominal > 0, self.owner.problem.nominal, 1.0), 2)
        scale = np.repeat(np.maximum(nominal, np.abs(self.x)), np.diff(incidence.indptr))
        terms = np.abs(self.stack.derivatives(self.x)[incidence.source]) * scale
        weight = np.bincount(incidence.rows, np.where(np.isfinite(terms), terms, 0.0), self.stack.rows)[rows]
        return np.where(weight > 0, weight, 1.0)

    def _told_conflict(self, row: int, residual: float, number: int) -> None:
        report, conditions = self.report, self.owner.conditions
        rows = conditions.conflicts[number] if number < len(conditions.conflicts) else np.array([row])
        report.notes.append(f"Violated by {residual:.3g}: {report.equation(row)}")
        others = [report.equation(int(r)) for r in rows if r != row]
        if others:
            report.notes.append("  together with " + "; ".join(others[:5]) + ("; …" if len(others) > 5 else ""))
        held = np.intersect1d(self.stack.incidence.columns_of(rows), np.concatenate([conditions.fixed, conditions.taken]))
        starts = [f"{report.quantity(int(c))} = {self.x[c]:.6g}" for c in held[:10]]
        if starts:
            report.notes.append("  and the starts " + ", ".join(starts))

    def _finish(self) -> None:
        n, report = self.stack.size, self.report
        report.y, report.yp = self.x[:n].copy(), self.x[n:].copy()
        if not report.outcome.solved:
            report.residual = self.stack.residual(self.x)
