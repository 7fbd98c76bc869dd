"""What is given at the start, and what is computed.

Problem. n equations F and m initial equations G hold between the 2n quantities y and y'. The y' of algebraic unknowns mean nothing
and are zero. To be found: which of the remaining columns are *known*, such that the rest can be computed from the rows.

- "start": fixed starts are known, but for those that values asked for determine (see `inverse`). Columns are computed in this
  order: derivatives and algebraic unknowns; differential unknowns whose start nobody gave; differential unknowns with a start,
  those of the lowest standing first. Those that the rows do not reach are taken at their start. When states are selected
  (`problem.candidates`: unknowns that might be one), whatever might be a state counts as differential, and those that are selected
  come last.
- "steady": all derivatives are known to be zero. Fixed starts serve where the structure leaves an unknown open (the level of a tank
  that nothing depends on), and are guesses elsewhere. So do initial equations. Where rows are too many for the unknowns,
  integrators that nothing reads (see `meters`) stay at their start, and their derivatives are computed.
- "hold": the differential unknowns keep the values they have, and nothing else counts: the restart after a jump.

Rows that find no column are surplus: they must hold all the same, and whether they do is seen when the rest has been computed.

The ordinary case (no initial equations; only differential unknowns fixed) needs no graph: every row computes an algebraic unknown
or a derivative. Should that be structurally singular, the Newton iteration notices, and the graph is asked after all.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Literal

import numpy as np

from ...records import dataclass
from .equations import Stack
from .types import Floats, InitialProblem, Integers, Mask

if TYPE_CHECKING:
    from ...structure import Incidence, Matching

Mode = Literal["start", "steady", "hold"]
_NONE: Integers = np.empty(0, np.intp)
_FIXED = 9  # the rank of what the model fixes, where somebody asks for something else, or for rest


@dataclass(frozen=True, slots=True)
class Conditions:
    """Rows and columns of the initial system, by their numbers in the stack (see `equations`); as many of one as of the other,
    unless the problem is structurally singular."""

    mode: Mode
    rows: Integers
    columns: Integers
    fixed: Integers = field(default_factory=lambda: _NONE)  # unknowns held at their start because the model says so
    taken: Integers = field(default_factory=lambda: _NONE)  # unknowns held at their start because nothing else determines them
    unused: Integers = field(default_factory=lambda: _NONE)  # unknowns whose fixed start does not count (steady state)
    surplus: Integers = field(default_factory=lambda: _NONE)  # rows that must hold by themselves
    ignored: Integers = field(default_factory=lambda: _NONE)  # rows that do not count (steady state; given values in their place)
    conflicts: tuple[Integers, ...] = ()  # for the first surplus rows: the rows they compete with
    by_structure: bool = False
    a_choice: bool = False  # whether other starts could have given way to what is given as well

    @property
    def square(self) -> bool:
        return len(self.rows) == len(self.columns)


def ordinary(problem: InitialProblem, mode: Mode) -> Conditions | None:
    """The conditions when they can be told without looking at the structure."""
    n, differential = problem.size, problem.differential
    fixed = problem.fixed
    everywhere = np.arange(n)
    if mode == "hold" and not hasattr(problem, "required_initial"):
        return Conditions(mode, everywhere, np.where(differential, everywhere + n, everywhere), taken=np.flatnonzero(differential))
    if getattr(problem, "initial_size", 0):
        return None
    if mode == "steady":
        return Conditions(mode, everywhere, everywhere, unused=np.flatnonzero(fixed))
    if (fixed & ~differential).any() or getattr(problem, "candidates", None) is not None:
        return None
    columns = np.where(differential, everywhere + n, everywhere)
    return Conditions(mode, everywhere, columns, np.flatnonzero(fixed), np.flatnonzero(differential & ~fixed))


def by_structure(stack: Stack, mode: Mode, x: Floats | None = None) -> Conditions:
    """The conditions by matching with priorities. With x, what is zero there does not count: a constraint x·u + y·v = 0 says
    nothing about u where x is zero, so that u and not v is to be taken at its start."""
    from .meters import meters  # an ordinary start does without
    from .ordering import choose, conflicting_rows, rivals, rows_by_columns

    problem, n = stack.problem, stack.size
    stack.incidence.prepare()
    incidence = rows_by_columns(stack.incidence.indptr, stack.incidence.rows, stack.rows)
    if x is not None:
        incidence = rows_by_columns(*stack.incidence.without_zeros(x), stack.rows)
    rank = ranks(problem, mode)
    required = _required(stack)
    matching = choose(incidence, rank, required, in_turn=mode == "start")
    if mode == "steady" and (matching.unknown_of_equation[required] < 0).any():
        counting = meters(stack, incidence)
        rank[:n][counting], rank[n:][counting] = -1, 0
        matching = choose(incidence, rank, required)
    computed = np.asarray(matching.equation_of_unknown >= 0)
    unmatched = np.flatnonzero(matching.unknown_of_equation < 0)
    binding, a_choice = required[unmatched], False
    if mode == "start":  # what the model states there gives way to what somebody asks for, and to nothing else
        asked = required & (np.arange(len(required)) >= stack.equations)
        binding |= ~rivals(incidence, rank, matching, asked)[unmatched]
        a_choice = _others_could(incidence, rank, matching, required, unmatched[~binding])
    surplus, ignored = unmatched[binding], unmatched[~binding]
    # Algebraic unknowns and, at a start, derivatives ought to be computed; if no row does, the system is not square.
    open_columns = (rank == 0) & ~computed
    held = ~computed[:n] & ~open_columns[:n]
    return Conditions(
        mode,
        np.flatnonzero(matching.unknown_of_equation >= 0),
        np.flatnonzero(computed | open_columns),
        fixed=np.flatnonzero(held & problem.fixed),
        taken=np.flatnonzero(held & ~problem.fixed),
        unused=np.flatnonzero(computed[:n] & problem.fixed),
        surplus=surplus,
        ignored=ignored,
        conflicts=tuple(conflicting_rows(incidence, rank, matching, int(r)) for r in surplus[:5]),
        by_structure=True,
        a_choice=a_choice,
    )


def _others_could(incidence: Incidence, rank: Integers, matching: Matching, required: Mask, ignored: Integers) -> bool:
    """Whether other initial equations or fixed starts could have given way in the place of those that did."""
    from .ordering import reached_columns

    computed, fixed = np.asarray(matching.equation_of_unknown >= 0), rank == _FIXED
    gave_way = np.zeros(len(required), dtype=bool)
    gave_way[ignored] = gave_way[matching.equation_of_unknown[computed & fixed]] = True
    reached = reached_columns(incidence, rank, matching, gave_way)
    users = matching.equation_of_unknown[reached & computed]
    return bool((~required[users]).any() or (reached & ~computed & fixed).any())


def _required(stack: Stack) -> Mask:
    """Rows that count in every mode: the equations, and among the initial ones those of values asked for (see `inverse`)."""
    initial = getattr(stack.problem, "required_initial", np.zeros(stack.initial_size, bool))
    return np.concatenate([np.ones(stack.equations, bool), initial])


def ranks(problem: InitialProblem, mode: Mode) -> Integers:
    """Per column when it is computed: 0 first, high numbers only if they must; -1: known."""
    n, differential, fixed = problem.size, problem.differential, problem.fixed
    given = np.asarray(getattr(problem, "start_given", np.ones(n, bool)))
    rank = np.full(2 * n, -1)
    candidates = getattr(problem, "candidates", None)  # unknowns that might be states, when states are selected
    free = differential if candidates is None else differential | candidates
    # Of two starts that are tied by a constraint the one of higher standing is kept; of equal ones the selected state's: there the
    # constraint determines the other one well.
    level = getattr(problem, "start_level", None)
    rank[:n] = np.where(free, np.where(given, 2 * (1 if level is None else level) + differential, 1), 0)
    if mode == "steady":
        rank[:n][fixed] = _FIXED
        return rank
    asked = hasattr(problem, "required_initial")  # values that somebody asks for count more than what the model fixes
    rank[:n][differential if mode == "hold" else fixed] = -1 if mode == "hold" or not asked else _FIXED
    rank[n:][differential] = 0
    return rank
