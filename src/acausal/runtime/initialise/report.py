"""The story of an initialisation: what was given, what was tried, what came of it, where it hurts.

Everything is kept as numbers and turned into names and sentences only when somebody reads it: a good start costs nothing here.
"""

from __future__ import annotations

from dataclasses import field
from enum import Enum
from typing import Any

import numpy as np

from ...errors import Diagnostic, ModelError
from ...records import dataclass
from .conditions import Conditions
from .types import Floats, InitialProblem, Integers


class Outcome(Enum):
    """How an initialisation ended; the value is the sentence the user reads."""

    NEWTON = "The initial values were found by Newton's method on the whole system."
    BLOCKS = "The initial values were found block by block."
    HOMOTOPY = "The initial values were found block by block, some of them by continuation."
    REST = "The steady state was found by letting the model come to rest from its start values."
    TIED = (
        "States are tied to each other from the start: what ties them brought those together that are not fixed, and what balances "
        "conserve was kept."
    )
    NOT_FOUND = (
        "The initial values could not be found; the equation named is violated most. Can it be met with these parameters at all? "
        "If so, better start values, nominal values or bounds of the unknowns that are listed may help."
    )
    CROWDED = (
        "The initial values could not be found, and more is said of the start than can be chosen. Leave out one of the conditions "
        "that are named. Parts that are joined directly are one at the joint: where two vessels each begin with a pressure, put a "
        "valve or a pipe between them."
    )
    OUTSIDE_DOMAIN = (
        "The initial values could not be found: equations below have no value at the start (a division by zero, the logarithm or "
        "root of a negative number). Give the unknowns in them start values for which they have one."
    )
    SINGULAR = (
        "The initial values could not be found: equations below contradict each other or do not determine their unknowns, although "
        "there are as many of one as of the other. This is a numerical singularity, not one of the structure: look for "
        "coefficients that vanish or equations that say the same twice."
    )
    STRUCTURE = (
        "The initial values are not determined: there are too many conditions for some quantities and too few for others. This is "
        "caused by the structure of the problem, not by its numbers. Fix other start values, or add or remove initial equations."
    )
    INCONSISTENT = (
        "There are more initial conditions than needed, and they contradict each other. Free one of the starts, or drop one of the "
        "values, that are named."
    )

    @property
    def ok(self) -> bool:
        """As the outcome of a run has it."""
        return self.solved

    @property
    def solved(self) -> bool:
        return self in (Outcome.NEWTON, Outcome.BLOCKS, Outcome.HOMOTOPY, Outcome.REST, Outcome.TIED)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One thing that was tried."""

    method: str
    unknowns: int
    solved: bool
    iterations: int = 0
    residual: float = np.nan  # largest scaled residual at the end


@dataclass(frozen=True, slots=True)
class FailedBlock:
    """Equations and unknowns (numbers in the stack) that could not be solved together, why, and what was tried on them.

    `given` are the other quantities in these equations, which were known by then.
    """

    rows: Integers
    columns: Integers
    reason: str
    tried: tuple[str, ...]
    given: Integers = field(default_factory=lambda: np.empty(0, np.intp))


@dataclass(slots=True)
class Statistics:
    residuals: int = 0
    jacobians: int = 0
    factorisations: int = 0
    iterations: int = 0
    seconds: float = 0.0


@dataclass(slots=True)
class Report:
    """What an initialisation did. `str(report)` is the text; the fields are for programs.

    `non_finite` are the equations (stacked numbers: from `problem.size` on, initial equations) without a value at the start.
    `start`, `y`, `yp` are the guesses and the final values; `residual` are the residuals there.
    """

    problem: InitialProblem
    time: float
    conditions: Conditions
    start: Floats
    outcome: Outcome = Outcome.NOT_FOUND
    y: Floats = field(default_factory=lambda: np.empty(0))
    yp: Floats = field(default_factory=lambda: np.empty(0))
    residual: Floats = field(default_factory=lambda: np.empty(0))
    attempts: list[Attempt] = field(default_factory=list)
    failed: list[FailedBlock] = field(default_factory=list)
    not_reached: int = 0
    blocks: int = 0
    non_finite: Integers = field(default_factory=lambda: np.empty(0, np.intp))
    notes: list[str] = field(default_factory=list)
    statistics: Statistics = field(default_factory=Statistics)

    def __str__(self) -> str:
        return "\n".join([self.outcome.value, *self.lines()])

    @property
    def tied(self) -> bool:
        """Whether states are tied to each other at the start by what a switch says."""
        return self.outcome is Outcome.TIED

    def lines(self, most: int = 10) -> list[str]:
        """The text below the headline; at most `most` of anything is listed."""
        told = [*self._given(most), *self._tried()]
        told += [line for block in self.failed[:most] for line in self._block(block, most)]
        if len(self.failed) > most:
            told.append(f"… and {len(self.failed) - most} more blocks that failed.")
        if self.not_reached:
            told.append(
                f"{_count(self.not_reached, 'block')} further on could not be attempted, because they need the values above."
            )
        if len(self.non_finite) and not self.outcome.solved:
            told += ["Without a value at the start:", *(f"  {self.equation(i)}" for i in self.non_finite[:most])]
        return told + self.notes

    def gave_way(self, most: int = 3) -> list[Diagnostic]:
        """Which starts of the model gave way to what is given, where others could have done so as well."""
        c = self.conditions
        if not c.a_choice:
            return []
        rows = [self.equation(int(i)) for i in c.ignored]
        starts = [f"the start of {self.problem.name_of_unknown(int(i))}" for i in c.unused]
        named = [*starts, *rows]
        listed = tuple(named[:most]) + ((f"… and {len(named) - most} more",) if len(named) > most else ())
        return [
            Diagnostic(
                f"{_count(len(named), 'initial condition')} of the model gave way to what is given; others could have as well.",
                details=listed,
                remedy="To decide it, give that of the others which shall count, too.",
            )
        ]

    # ----------------------------------------------------------------------------------------------------------------- the parts

    def _given(self, most: int) -> list[str]:
        c = self.conditions
        quantities, equations = _count(len(c.columns), "quantity", "quantities"), _count(len(c.rows), "equation")
        told = [f"{quantities} computed from {equations} at t = {self.time:g}."]
        if c.mode == "steady":
            told.append("Steady state: all derivatives are zero.")
        if c.mode != "hold":
            told += self._named(c.fixed, "unknown", "fixed at the start value", most)
            told += self._named(c.taken, "unknown", "taken as initial condition at the start value", most)
        told += self._named(c.unused, "fixed start", "used as a guess only", most)
        surplus = "holds as well, as it must with these starts" if self.outcome.solved else "is one condition too many"
        ignored = "does not count for a steady state" if c.mode == "steady" else "gives way to what is given"
        for kind, rows in ((surplus, c.surplus), (ignored, c.ignored)):
            told += [f"{self.equation(int(i))}: {kind}" for i in rows[:most]]
        return told + ([] if self.outcome.solved else self._rivals(most))

    def _rivals(self, most: int) -> list[str]:
        """Initial equations that compete with those that are too many."""
        c = self.conditions
        rows = np.concatenate([np.empty(0, np.intp), *c.conflicts]).astype(np.intp)
        said = {self.equation(int(r)) for r in c.surplus}
        others = [text for text in dict.fromkeys(self.equation(int(r)) for r in rows if r >= self._equations) if text not in said]
        return ["It competes with:", *(f"  {text}" for text in others[:most])] if others else []

    def _named(self, unknowns: Integers, one: str, what: str, most: int) -> list[str]:
        names = [self.problem.name_of_unknown(int(i)) for i in unknowns[:most]]
        return [f"{_count(len(unknowns), one)} {what}: {_some(names, len(unknowns))}"] if names else []

    def _tried(self) -> list[str]:
        if self.outcome in (Outcome.NEWTON, Outcome.OUTSIDE_DOMAIN) or not self.attempts:
            return []  # where an equation has no value, no method can help
        told = ["Tried:"]
        known = [a for a in self.attempts if a.solved or a.iterations or np.isfinite(a.residual)]
        for a in known[:12]:
            end = (
                "solved"
                if a.solved
                else f"not solved (largest scaled residual {a.residual:.1e})"
                if np.isfinite(a.residual)
                else "not solved"
            )
            steps = f", {_count(a.iterations, 'iteration')}" if a.iterations else ""
            told.append(f"  {a.method} for {_count(a.unknowns, 'unknown')}{steps}: {end}")
        if len(known) > 12:
            told.append(f"  … and {len(known) - 12} more.")
        failed = list(dict.fromkeys(a.method for a in self.attempts if not (a.solved or a.iterations or np.isfinite(a.residual))))
        return told + ([f"  not solved{' either' if known else ''}: {', '.join(failed)}"] if failed else [])

    def _block(self, block: FailedBlock, most: int) -> list[str]:
        told = [f"Block of {_count(len(block.rows), 'equation')}: {block.reason}"]
        told += _table(
            [("unknown", "start", "min", "max", "nominal", "final", ""), *(self._unknown(int(c)) for c in block.columns[:most])]
        )
        if len(block.columns) > most:
            told.append(f"    … and {len(block.columns) - most} more unknowns.")
        size = np.abs(self.residual[block.rows]) if len(self.residual) else np.zeros(len(block.rows))
        worst = np.argsort(-np.where(np.isfinite(size), size, np.inf), kind="stable")[:5]
        told.append("  worst residuals:")
        told += [f"    {size[k]:10.3g}  {self.equation(int(block.rows[k]))}" for k in worst]
        others = [f"{self.quantity(int(c))} = {self.value(int(c)):.6g}{self._origin(int(c))}" for c in block.given[:most]]
        return told + (["  where " + ", ".join(others) + (", …" if len(block.given) > most else "")] if others else [])

    def _origin(self, column: int) -> str:
        for unknowns, word in ((self.conditions.fixed, "fixed"), (self.conditions.taken, "its start")):
            if (unknowns == column).any():
                return f" ({word})"
        return ""

    def _unknown(self, column: int) -> tuple[str, ...]:
        problem, n = self.problem, self.problem.size
        i = column % n
        if column >= n:
            return (
                self.quantity(column),
                _number(self.start[column]),
                "",
                "",
                _number(problem.nominal[i]),
                _number(self.yp[i]),
                "",
            )
        low, high, final = float(problem.minimum[i]), float(problem.maximum[i]), float(self.y[i])
        at_bound = "at its minimum" if final <= low else "at its maximum" if final >= high else ""
        numbers = (float(self.start[column]), low, high, float(problem.nominal[i]), final)
        return (self.quantity(column), *(_number(v) for v in numbers), at_bound)

    # ----------------------------------------------------------------------------------------------------------------- the names

    def quantity(self, column: int) -> str:
        name = self.problem.name_of_unknown(column % self.problem.size)
        return f"der({name})" if column >= self.problem.size else name

    def value(self, column: int) -> float:
        n = self.problem.size
        return float(self.y[column] if column < n else self.yp[column - n])

    def describe(self, row: int) -> Any:
        """The `Diagnostic` of an equation or initial equation, or None if the problem has no words for it."""
        if row < self._equations:
            return self.problem.describe_equation(row)
        words = getattr(self.problem, "describe_initial_equation", None)
        return words(row - self._equations) if words else None

    @property
    def _equations(self) -> int:
        return int(getattr(self.problem, "equation_count", self.problem.size))

    def equation(self, row: int) -> str:
        """Component, equation and place in one line."""
        d = self.describe(row)
        plain = f"equation {row}" if row < self._equations else f"initial equation {row - self._equations}"
        if d is None:
            return plain
        component, equation, place = (getattr(d, a, None) for a in ("component", "equation", "location"))
        text = f"{component}: {equation}" if component else f"{equation or plain}"
        return f"{text}  ({place})" if place else text


class InitialisationError(ModelError):
    """No consistent start. `report` tells everything; `y` and `yp` are the values reached, so that they can be looked at.

    `result` is the same with names, a result with a single point, when it was a model that could not be initialised.
    """

    def __init__(self, report: Report) -> None:
        self.report = report
        self.result: Any = None
        self.reached: Any = None  # the problem with its numbers where the search ended
        self.y, self.yp = report.y, report.yp
        rows = [
            *(int(r) for b in report.failed[:1] for r in _worst_first(report, b)),
            *(int(r) for r in report.conditions.surplus[:1]),
        ]
        rows = rows[::-1] if report.outcome is Outcome.CROWDED else rows
        where = (report.describe(rows[0]) if rows else None) or Diagnostic("")
        sentence, remedy = _headline(report)
        what = f"{sentence}.".replace("..", ".")
        super().__init__(Diagnostic(what, where.component, where.equation, where.location, tuple(report.lines()), remedy))

    @property
    def outcome(self) -> Outcome:
        return self.report.outcome


def _headline(report: Report) -> tuple[str, str]:
    """The first sentence and the remedy, in the words of what was asked for, with the names of the unknowns at fault."""
    sentence, _, remedy = report.outcome.value.partition(". ")
    names = [report.quantity(int(c)) for block in report.failed[:1] for c in block.columns]
    if report.outcome is Outcome.SINGULAR and names:
        cause = f"with these numbers the equations do not determine {_some(names[:4], len(names))}, or contradict each other"
        sentence = f"The initial values could not be found: {cause}"
    if report.conditions.mode == "steady":
        sentence = sentence.replace("The initial values could not be found", "The steady state could not be found")
        if report.outcome is Outcome.SINGULAR:
            endless = "Something may go on for ever: a store that is filled and never emptied, an integrator."
            remedy = f"Is there one? {endless} {remedy}"
    return sentence, remedy


def _worst_first(report: Report, block: FailedBlock) -> Integers:
    size = np.abs(report.residual[block.rows])
    return block.rows[np.argsort(-np.where(np.isfinite(size), size, np.inf), kind="stable")]


def _count(number: int, one: str, many: str = "") -> str:
    return f"1 {one}" if number == 1 else f"{number} {many or one + 's'}"


def _some(names: list[str], total: int) -> str:
    return ", ".join(names) + (f", … ({total - len(names)} more)" if total > len(names) else "")


def _number(value: float) -> str:
    return "" if np.isinf(value) else f"{value:.6g}"


def _table(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(len(r[k]) for r in rows) for k in range(len(rows[0]))]
    return [
        "    " + "  ".join(c.ljust(w) if k == 0 else c.rjust(w) for k, (c, w) in enumerate(zip(r, widths, strict=True))).rstrip()
        for r in rows
    ]
