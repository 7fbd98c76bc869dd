"""A run diagnosed: which unknowns limited the step, which equations failed to converge, when, and what to do about it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import Diagnostic
from ..readable import Readable, Section, count, equation_line, listed, warning_lines
from ..runtime.journal import Failure, Journal
from .checks import FAR_FROM_DEFAULT
from .nonlinear import bending

_MOST = 5
_WINDOWS = 50  # of the run's time, to tell when most attempts failed
_ENDLESS = 1e15  # times its nominal value: no plant is that large
_SHARE = 0.5  # of the steps limited by one unknown: worth advice
_OFTEN = 0.1  # failures per step
_MANY = 5000  # steps: nobody minds fewer …
_SHORT = 1e-5  # … unless they are that short a part of the run
_LOW_ORDER = 2.5
_BENT = 1e-6  # how far from linear a row must be to be blamed


@dataclass(frozen=True, slots=True)
class Limit:
    """An unknown and how often it had the largest local error over its tolerance."""

    name: str
    share: float  # of the steps looked at
    failed_tests: int
    nominal: float
    largest: float  # of its trajectory; nan if it was not stored
    equation: Diagnostic | None


@dataclass(frozen=True, slots=True)
class Stubborn:
    """An equation that kept iterations from converging, in how many of the attempts looked at, and an unknown in it."""

    equation: Diagnostic
    attempts: int
    time: float  # of the first of them


@dataclass(frozen=True, slots=True)
class Window:
    """A piece of the run in which many attempts failed."""

    start: float
    end: float
    error_tests: int
    convergence: int


@dataclass(slots=True)
class RunDiagnosis(Readable):
    """What `result.diagnose` gives: fields for programs, `print` for people."""

    name: str
    outcome: str
    counts: dict[str, int]
    span: tuple[float, float]
    smallest: tuple[float, float] = (0.0, 0.0)  # step and when
    median: float = 0.0
    largest: tuple[float, float] = (0.0, 0.0)
    order: float = 0.0  # mean
    looked_at: int = 0  # steps whose limiting unknown is known
    limits: tuple[Limit, ...] = ()
    stubborn: tuple[Stubborn, ...] = ()
    failures: dict[str, int] = field(default_factory=dict)  # of those seen, by what went wrong
    windows: tuple[Window, ...] = ()
    switched: tuple[tuple[str, int, float], ...] = ()  # what brought events about, how often, and the shortest time between
    diagnostics: tuple[Diagnostic, ...] = ()
    advice: tuple[str, ...] = ()
    healed: int = 0  # failures of convergence that cost no step
    unseen: tuple[str, ...] = ()  # what there is to say of states that are small beside their tolerances
    recorded: bool = True
    unit: str = "s"  # of the times

    @property
    def title(self) -> str:  # type: ignore[override]
        return f"Diagnosis of the run of {self.name}, {self.span[0]:g} … {self.span[1]:g} {self.unit}"

    def sections(self) -> Iterator[Section]:
        yield Section("Statistics", list(self._statistics()))
        if self.limits:
            yield Section(f"What limited the step, in {count(self.looked_at, 'step')} looked at", list(self._limits()))
        if self.switched:
            yield Section("What brought events about", list(self._switched()))
        if self.stubborn:
            yield Section("Equations whose iterations did not converge", list(self._stubborn()))
        if self.windows:
            yield Section("When attempts failed", list(self._windows()))
        told = [line for k, d in enumerate(self.diagnostics, 1) for line in warning_lines(k, d)]
        if told:
            yield Section("What the solver said at the end", told)
        yield Section("Suggested next steps", [(f"{k}.", text) for k, text in enumerate(self.advice, 1)])

    def _statistics(self) -> Iterator[tuple[str, str]]:
        c = self.counts
        yield "outcome", self.outcome
        steps = c.get("steps", 0)
        yield (
            "steps",
            f"{count(steps, 'step')}, order {self.order:.1f} on average" if self.recorded and steps else count(steps, "step"),
        )
        if self.recorded and steps:
            u, least, most = self.unit, self.smallest, self.largest
            sizes = f"{least[0]:.2g} {u} (at {least[1]:.6g} {u}) … {most[0]:.2g} {u} (at {most[1]:.6g} {u})"
            yield "step size", f"{sizes}, median {self.median:.2g} {u}"
        yield "evaluations", f"{c.get('residual_evaluations', 0)} residual, {c.get('jacobian_evaluations', 0)} Jacobian"
        tests, convergence = c.get("error_test_failures", 0), c.get("convergence_failures", 0)
        other = [f"{number} {word}" for word, number in self.failures.items() if number]
        healed = [f"{self.healed} of them healed by a new Jacobian"] if self.healed else []
        told = ", ".join([*healed, *other])
        if c.get("events"):
            yield "events", f"{count(c['events'], 'event')}, {c.get('restarts', 1) - 1} of them with a restart of the integration"
        yield "failures", f"{count(tests, 'error test')}, {convergence} of convergence" + (f" ({told})" if told else "")
        if c.get("order_limits"):
            yield "waves", f"{count(c['order_limits'], 'time')} the order was limited to 2: higher ones let waves grow"
        if not self.recorded:
            yield "note", "This solver keeps no journal of its steps; the solver `ida` does."

    def _switched(self) -> Iterator[tuple[str, str]]:
        for text, times, shortest in self.switched:
            apart = f", at least {shortest:.3g} {self.unit} apart" if np.isfinite(shortest) else ""
            yield "", f"  {times:6d} ×  {text}{apart}"

    def _limits(self) -> Iterator[tuple[str, str]]:
        width = max(len(one.name) for one in self.limits)
        for one in self.limits:
            failed = f"  {count(one.failed_tests, 'failed error test')}" if one.failed_tests else ""
            yield "", f"  {one.share:6.1%}  {one.name:<{width}}{failed}"
            if one.equation is not None and one.equation.equation:
                yield "", f"          {equation_line(one.equation)}"

    def _stubborn(self) -> Iterator[tuple[str, str]]:
        for one in self.stubborn:
            yield "", f"  {one.attempts:5d} ×  {equation_line(one.equation)}"
            yield "", f"           first at {one.time:.6g} {self.unit}"

    def _windows(self) -> Iterator[tuple[str, str]]:
        for w in self.windows:
            failed = f"{count(w.error_tests, 'error test')}, {w.convergence} of convergence"
            yield "", f"  {w.start:.6g} … {w.end:.6g} {self.unit}: {failed}"


def diagnose(result: Any) -> RunDiagnosis:
    """`result.diagnose()`."""
    journal: Journal | None = result.journal
    counts = {k: int(v) for k, v in result.statistics.items() if isinstance(v, (int, np.integer)) and not isinstance(v, bool)}
    span = (float(result.time[0]), float(result.time[-1])) if len(result.time) else (0.0, 0.0)
    found = RunDiagnosis(result.title, result.outcome.value, counts, span, diagnostics=tuple(result.diagnostics))
    found.unit = result.unit("time") or "s"
    found.switched = tuple(_switched(result))
    if journal is None:
        found.recorded = False
        found.advice = ("`model.diagnose()` looks at the model itself.",)
        return found
    _step_sizes(found, journal)
    solution = _Rows(result)
    found.looked_at = journal.sampled_steps
    found.limits = tuple(_limits(result, journal, solution))
    found.stubborn = tuple(_stubborn(journal))
    kinds = {Failure.NOT_FINITE: "without a finite value", Failure.SINGULAR: "singular"}
    found.failures = {word: int((journal.failure_kind == kind).sum()) for kind, word in kinds.items()}
    found.healed = max(counts.get("convergence_failures", 0) - int(journal.convergence_failures.sum()), 0)
    found.windows = tuple(_windows(journal, span))
    found.unseen = tuple(_unseen(result, journal))
    found.advice = tuple(_advice(found, journal))
    return found


def _switched(result: Any, most: int = 6) -> Iterator[tuple[str, int, float]]:
    """Causes of events, the most frequent first."""
    log = result._stored.log
    if log is None or not len(log.causes):
        return
    sources, counts = np.unique(log.causes[:, 1], return_counts=True)
    for k in np.argsort(-counts, kind="stable")[:most]:
        cause = log.describe(int(sources[k]))
        times = log.times[log.causes[log.causes[:, 1] == sources[k], 0]]
        place = f"  ({cause.location})" if cause.location else ""
        yield f"{cause.component}: {cause.text}{place}", int(counts[k]), float(np.diff(times).min(initial=np.inf))


# --- what is in the journal -----------------------------------------------------------------------------------------------


def _step_sizes(found: RunDiagnosis, journal: Journal) -> None:
    if not len(journal.step):
        return
    low, high = int(np.argmin(journal.step)), int(np.argmax(journal.step))
    found.span = (found.span[0], max(found.span[1], float(journal.time[-1])))
    found.smallest = (float(journal.step[low]), float(journal.time[low]))
    found.largest = (float(journal.step[high]), float(journal.time[high]))
    order = np.argsort(journal.step)
    middle = int(np.searchsorted(np.cumsum(journal.steps[order]), 0.5 * journal.steps.sum()))
    found.median, found.order = float(journal.step[order[middle]]), float(np.average(journal.order, weights=journal.steps))


class _Rows:
    """The equation that determines an unknown of the problem that was run."""

    def __init__(self, result: Any) -> None:
        from .solution import Solution

        self.problem = result.journal.problem
        self.solution = Solution(_Model(self.problem)) if hasattr(self.problem, "lowered") else None

    def equation(self, unknown: int) -> Diagnostic | None:
        if self.solution is None:
            return None
        row = self.solution.determining_row(int(self.problem.lowered.kept[unknown]))
        return self.solution.system.describe_equation(row) if row >= 0 else None


@dataclass(frozen=True, slots=True)
class _Model:
    """As much of a model as the order of solution needs."""

    problem: Any


def _limits(result: Any, journal: Journal, rows: _Rows) -> Iterator[Limit]:
    """The unknowns that limited or failed most, those first that limited most."""
    problem, total = journal.problem, max(journal.weight, 1)
    weight = journal.limited / total + journal.failed_tests / max(int(journal.failed_tests.sum()), 1)
    most = np.argsort(-weight, kind="stable")[:_MOST]
    for unknown in most[np.argsort(-journal.limited[most], kind="stable")]:
        k = int(unknown)
        if not weight[k]:
            continue
        name = problem.name_of_unknown(k)
        largest = _largest(result, name)
        share, failed = float(journal.limited[k]) / total, int(journal.failed_tests[k])
        yield Limit(name, share, failed, float(problem.nominal[k]), largest, rows.equation(k))


def _largest(result: Any, name: str) -> float:
    from ..errors import ModelError

    try:
        return float(np.abs(result[name]).max())
    except (ModelError, ValueError):
        return float("nan")


def _stubborn(journal: Journal) -> Iterator[Stubborn]:
    """The row that bends most in each attempt that was kept."""
    problem = journal.problem
    if not hasattr(problem, "lowered"):
        return
    system, blamed = problem.lowered.system, dict[int, list[float]]()
    for a in journal.attempts:
        known = journal.known_at(a.t)
        first = problem.lowered.expand(problem.equations.workspace(a.t, a.y, a.yp, known))
        last = problem.lowered.expand(problem.equations.workspace(a.t, a.last_y, a.last_yp, known))
        share = bending(system, first, last)
        if share.max(initial=0.0) > _BENT:
            blamed.setdefault(int(np.argmax(share)), []).append(a.t)
    for row, times in sorted(blamed.items(), key=lambda item: -len(item[1]))[:_MOST]:
        yield Stubborn(system.describe_equation(row), len(times), min(times))


def _windows(journal: Journal, span: tuple[float, float]) -> Iterator[Window]:
    """The pieces of time with most failures."""
    failed = journal.error_failures + journal.convergence_failures
    if not failed.sum() or span[1] <= span[0]:
        return
    edges = np.linspace(span[0], span[1], _WINDOWS + 1)
    place = np.clip(np.searchsorted(edges, journal.time, side="left") - 1, 0, _WINDOWS - 1)
    tests, convergence = (
        np.bincount(place, w, _WINDOWS).astype(int) for w in (journal.error_failures, journal.convergence_failures)
    )
    for k in np.argsort(-(tests + convergence), kind="stable")[:3]:
        if tests[k] + convergence[k]:
            yield Window(float(edges[k]), float(edges[k + 1]), int(tests[k]), int(convergence[k]))


# --- what to do -----------------------------------------------------------------------------------------------------------


def _advice(found: RunDiagnosis, journal: Journal) -> Iterator[str]:
    steps = max(found.counts.get("steps", 0), 1)
    tests, convergence = found.counts.get("error_test_failures", 0), int(journal.convergence_failures.sum())
    advised = [*_about_limits(found, journal, tests / steps), *_about_failures(found, tests / steps, convergence / steps)]
    if not advised:
        advised += _about_pace(found, journal, steps)
    advised += found.unseen
    if found.order < 1.6 and steps > 200:
        advised.append(
            "The order stays low, as with inputs or tables that have kinks or noise: smooth them (a cubic table, a filter), "
            "or loosen `rtol`."
        )
    yield from advised
    if not advised:
        yield "Nothing stands out: the steps follow the solution. A larger `rtol` makes fewer of them."
    if journal.sampled_steps < 0.5 * steps and steps > 20:
        yield "`simulate(…, record_steps=True)` looks at every step, `result.plot_steps()` draws them."


def _about_limits(found: RunDiagnosis, journal: Journal, failing: float) -> Iterator[str]:
    for one in found.limits[:2]:
        if one.share < _SHARE:
            continue
        if np.isfinite(one.largest) and 0 < one.largest < 1e-3 * one.nominal:
            continue  # its tolerance is loose already
        if one.largest > _ENDLESS * one.nominal:
            yield f"`{one.name}` grows without end (to {one.largest:.3g}): look for a wrong sign, or for what comes from nowhere."
        elif np.isfinite(one.largest) and one.largest > 1e3 * one.nominal:
            yield (
                f"`{one.name}` limits {one.share:.0%} of the steps and is far larger ({one.largest:.3g}) than its nominal value "
                f"({one.nominal:.3g}): declare `nominal={_round(one.largest):g}`, so that errors near its zero do not count as "
                "large."
            )
        elif failing < _OFTEN and found.counts.get("steps", 0) < _MANY:
            continue
        elif failing < _OFTEN and found.order > 2.5 and _steady(journal):
            yield (
                f"`{one.name}` limits {one.share:.0%} of the steps, which are even and of high order: it moves that fast. If its "
                "motion does not matter, damp it, or replace what is stiff by something rigid; a larger `rtol` helps a little."
            )
        else:
            yield (
                f"`{one.name}` limits {one.share:.0%} of the steps: look at its equation for a jump or a kink, and at its nominal "
                f"value ({one.nominal:.3g})."
            )


def _unseen(result: Any, journal: Journal) -> Iterator[str]:
    """States that stay so far below their nominal values that errors of their own size pass: a charge of 1 pC with a nominal of 1.

    What is computed from them, such as the voltage, is then as wrong, however tight `rtol` is.
    """
    problem, stored = journal.problem, result._stored
    if not hasattr(problem, "lowered") or not len(stored.data):
        return
    states = np.flatnonzero(problem.differential)
    column = stored.column[problem.lowered.kept[states]]
    states, column = states[column >= 0], column[column >= 0]
    largest = np.maximum(stored.data.max(axis=0), -stored.data.min(axis=0))[column]
    small = np.flatnonzero((largest > 0) & (largest * FAR_FROM_DEFAULT < problem.nominal[states]))
    if not len(small):
        return
    worst = small[np.argmin(largest[small] / problem.nominal[states[small]])]
    name, size, nominal = problem.name_of_unknown(int(states[worst])), largest[worst], problem.nominal[states[worst]]
    others = f", and {count(len(small) - 1, 'other state')} likewise" if len(small) > 1 else ""
    yield (
        f"`{name}` is never larger than {size:.3g}, far below its nominal value ({nominal:.3g}){others}: errors of its own size "
        f"pass, also in what is computed from it. Declare `nominal={_round(size):g}`."
    )


def _about_pace(found: RunDiagnosis, journal: Journal, steps: int) -> Iterator[str]:
    """What rules the steps of a run that takes many or short ones, although no single unknown and no failure stands out."""
    span = found.span[1] - found.span[0]
    if not journal.weight or (steps < _MANY and found.median > _SHORT * span):
        return
    name, share, members, unknown = _most_limiting_kind(journal)
    many = f" ({members} of this kind)" if members > 1 else ""
    problem = journal.problem
    role = "a state" if problem.differential[unknown] else "an algebraic unknown"
    yield (
        f"Steps are short: {found.median:.2g} {found.unit} (median) of {span:.3g} {found.unit}, order {found.order:.1f}. "
        f"`{name}`{many}, {role}, rules "
        f"{share:.0%} of those looked at."
    )
    if found.order < _LOW_ORDER:
        yield (
            f"A low order means that what rules is not smooth: look at the equations of `{name}` for noise, kinks, tables without "
            "slopes and relations near their switching point; or the tolerance asks for more digits than it has: try a larger "
            f"`rtol`, or a larger nominal value (now {problem.nominal[unknown]:.3g})."
        )
    else:
        yield (
            f"The order is high: `{name}` moves that fast. If its motion does not matter, damp it or replace what is stiff by "
            "something rigid; otherwise only a larger `rtol` makes fewer steps."
        )
    if not problem.differential[unknown]:
        yield (
            "Nothing integrates it: `simulate(…, suppress_algebraic=True)` leaves algebraic unknowns out of the error test; they "
            "are solved for at output points."
        )


def _most_limiting_kind(journal: Journal) -> tuple[str, float, int, int]:
    """Unknowns that differ in their indices only are one kind: name, share of the steps, how many of it limited one, the worst."""
    kinds: dict[str, list[int]] = {}
    for k in np.flatnonzero(journal.limited):
        kinds.setdefault(re.sub(r"\[[^\]]*\]", "[…]", journal.problem.name_of_unknown(int(k))), []).append(int(k))
    name, members = max(kinds.items(), key=lambda item: int(journal.limited[item[1]].sum()))
    worst = max(members, key=lambda k: int(journal.limited[k]))
    own = journal.problem.name_of_unknown(worst) if len(members) == 1 else name
    return own, float(journal.limited[members].sum()) / journal.weight, len(members), worst


def _steady(journal: Journal) -> bool:
    """Whether most steps are about as large as the others."""
    low, high = np.quantile(journal.step, (0.1, 0.9))
    return bool(high < 20 * low)


def _about_failures(found: RunDiagnosis, tests: float, convergence: float) -> Iterator[str]:
    if tests > _OFTEN and found.windows:
        blamed = [one.name for one in found.limits if one.failed_tests]
        where = f" in the equation of {listed([f'`{n}`' for n in blamed], 2)}" if blamed else ""
        when = _when(found)
        yield f"One step in {1 / tests:.0f} fails its error test: look for a non-smooth expression{where}, most often at {when}."
    if found.stubborn:
        worst = found.stubborn[0].equation
        place = f" ({worst.location})" if worst.location else ""
        yield (
            f"`{worst.equation}` of {worst.component}{place} is far from linear where iterations fail: smooth it "
            "(`ac.smooth_max`, `ac.regularised_sqrt`, …), or keep its arguments away from where it bends."
        )
    elif convergence > _OFTEN:
        where = _when(found)
        yield f"Iterations often fail to converge, most often at {where}: check nominal values, and look for equations that jump."
    if found.failures.get("without a finite value"):
        yield "Some attempts met equations without a finite value: a regularised function avoids the wasted steps."


def _when(found: RunDiagnosis) -> str:
    return f"{found.windows[0].start:.6g} … {found.windows[0].end:.6g} {found.unit}" if found.windows else "no particular time"


def _round(value: float) -> float:
    """One digit.

    >>> _round(101325.0)
    100000.0
    """
    return float(f"{value:.0e}")
