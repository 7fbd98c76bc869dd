"""What a solver is: the small protocol behind which solvers are plug-ins, found by the entry points `acausal.solvers`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..errors import Diagnostic, NameNotFound, UsageError, near_matches
from ..records import dataclass
from .inputs import Signal, values_at
from .outcome import Outcome
from .problem import Equations, Floats, Problem, Stored, core

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from numpy.typing import NDArray

    from ..program.rows import EventLog
    from .journal import Journal
    from .recording import Recording
    from .states import Exchange, Watch

Progress = Callable[[float], object]  # called with the time reached; returning False stops the run


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a solver, so that it can be checked, documented and shown in a user interface."""

    name: str
    type: type
    default: Any
    doc: str
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()

    def check(self, value: Any, solver: str) -> Any:
        """The value in the option's type, or an error that says what is allowed."""
        right = isinstance(value, self.type) or (
            self.type is float and isinstance(value, int | np.number) and not isinstance(value, bool)
        )
        right = right or (self.type is int and isinstance(value, np.integer))
        if not right or (self.type is not bool and isinstance(value, bool)):
            raise self._error(value, solver)
        value = self.type(value)
        low = self.minimum is not None and not value >= self.minimum
        high = self.maximum is not None and not value <= self.maximum
        if low or high or (self.choices and value not in self.choices):
            raise self._error(value, solver)
        return value

    @property
    def allowed(self) -> str:
        if self.choices:
            return "one of " + ", ".join(repr(c) for c in self.choices)
        limits = [f"≥ {self.minimum:g}"] if self.minimum is not None else []
        limits += [f"≤ {self.maximum:g}"] if self.maximum is not None else []
        return " ".join(
            [{float: "a number", int: "an integer", bool: "True or False", str: "a string"}[self.type], " and ".join(limits)]
        ).strip()

    def _error(self, value: Any, solver: str) -> UsageError:
        return UsageError(
            f"Option `{self.name}` of solver `{solver}` must be {self.allowed}; it got {value!r} ({type(value).__name__})."
        )


@dataclass(slots=True, eq=False)
class Request:
    """One run: from t0 to t_end, with rows of `stored` at the output times. Output times do not influence the steps."""

    t0: float
    t_end: float
    output_times: Floats
    y0: Floats
    yp0: Floats
    stored: Stored
    rtol: float = 1e-6
    atol: Floats | float = 1e-6  # per unknown
    known: Floats | None = None  # of this run; those of the problem otherwise
    inputs: Mapping[int, Signal] = field(default_factory=dict)  # by cell of `known`
    progress: Progress | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    watch: Watch | None = None  # notices when selected states degrade …
    exchange: Exchange | None = None  # … and then gives a problem with better ones, and what to watch there
    tied: bool = False  # states are tied to each other at the start (see `events/tying`)
    resumed: bool = False  # the run goes on where another ended: the event at its start is dealt with
    sound: bool = False  # whoever made it has seen to shapes, types and order
    recording: Recording | None = None  # keeps every step
    lender: Exchange | None = None  # makes a state for a moment of what an event sets and what is none
    reduced: Callable[[], Equations] | None = None  # of a reduced system: makes its equations, without rows that select states

    @property
    def span(self) -> float:
        """The length of the run; a second, where nobody knows."""
        return self.t_end - self.t0 if np.isfinite(self.t_end) else 1.0

    @property
    def interval(self) -> float:
        """Seconds of wall time between two calls of the progress function."""
        return float(self.options.get("progress_interval", 0.1))

    def checked(self, problem: Problem) -> Request:
        """The same with arrays as solvers want them, or an error about what cannot be."""
        if self.sound:
            return replace(self, known=problem.known.copy()) if self.known is None else self
        size = problem.size
        if not np.isfinite(self.t0) or not self.t_end >= self.t0:
            raise UsageError(f"A run cannot go from t = {self.t0:g} to t = {self.t_end:g}.", remedy="choose an end after the start")
        times = np.ascontiguousarray(self.output_times, dtype=np.float64)
        if times.ndim != 1 or np.isnan(times).any() or (np.diff(times) < 0).any():
            raise UsageError("Output times must be a one-dimensional array in increasing order.")
        outside = times[(times < self.t0) | (times > self.t_end)]
        if len(outside):
            raise UsageError(f"The output time {outside[0]:g} lies outside the run, which goes from {self.t0:g} to {self.t_end:g}.")
        atol = np.ascontiguousarray(np.broadcast_to(np.asarray(self.atol, dtype=np.float64), (size,)))
        if not (self.rtol > 0 and (atol >= 0).all()):
            raise UsageError(
                f"Tolerances must be positive; `rtol` is {self.rtol:g}, the smallest `atol` is {atol.min(initial=0.0):g}."
            )
        y0, yp0 = (np.ascontiguousarray(v, dtype=np.float64) for v in (self.y0, self.yp0))
        if y0.shape != (size,) or yp0.shape != (size,):
            raise UsageError(f"`y0` and `yp0` have the shapes {y0.shape} and {yp0.shape}; the problem has {size} unknowns.")
        known = np.array(problem.known if self.known is None else self.known, dtype=np.float64)
        if known.shape != problem.known.shape:
            raise UsageError(f"`known` has the shape {known.shape}; the problem has {len(problem.known)} known values.")
        fields = (float(self.t0), float(self.t_end), times, y0, yp0, self.stored, float(self.rtol), atol, known)
        more = (self.inputs, self.progress, self.options, self.watch, self.exchange, self.resumed)
        return Request(*fields, *more, recording=self.recording, lender=self.lender, reduced=self.reduced)


class Statistics(dict[str, Any]):
    """What a run cost, by name: `result.statistics["steps"]` or `result.statistics.steps`; "seconds" are wall times by phase."""

    late: Mapping[str, Callable[[], Any]] = {}

    def __missing__(self, name: str) -> Any:
        if name not in self.late:
            raise KeyError(name)
        self[name] = self.late[name]()
        return self[name]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or (name not in self and name not in self.late):
            raise AttributeError(name)
        return self[name]

    def __reduce__(self) -> Any:
        return Statistics, ({**self, **{name: self[name] for name in self.late}},)


COUNTERS = (
    "steps",
    "residual_evaluations",
    "jacobian_evaluations",
    "linear_setups",
    "nonlinear_iterations",
    "error_test_failures",
    "convergence_failures",
    "non_finite_evaluations",
)  # in every solver's statistics; one that a solver does not know is 0


@dataclass(slots=True, eq=False)
class RunResult:
    """What a run gave, to its end or to where it stopped."""

    outcome: Outcome
    t: float  # the time reached
    times: Floats
    rows: NDArray[np.float64]  # one row for each of `times`
    y: Floats
    yp: Floats
    statistics: dict[str, Any]
    message: str = ""  # the solver's own words
    diagnostics: tuple[Diagnostic, ...] = ()
    log: EventLog | None = None  # of its events …
    known: Floats | None = None  # … and all known values before the first of them
    chattering: frozenset[tuple[int, str]] = frozenset()  # relations that chatter: number of the kind, text
    journal: Callable[[], Journal] | None = None  # of its steps, where the solver keeps one, when somebody asks
    interrupted: bool = False  # by Ctrl-C

    @property
    def ok(self) -> bool:
        return self.outcome.ok

    @property
    def messages(self) -> tuple[str, ...]:
        """What is to be read besides the outcome: which equations, which unknowns, and the solver's own words."""
        return (*map(str, self.diagnostics), *((self.message,) if self.message and not self.ok else ()))


def with_last_row(result: RunResult, problem: Problem, request: Request) -> RunResult:
    """Of a run that stopped early, one more row at the time it reached: what happened last is what its user must see."""
    if result.ok or (len(result.times) and result.times[-1] >= result.t):
        return result
    known = values_at(request.inputs, result.t, problem.known if request.known is None else request.known)
    row = np.empty(request.stored.width)
    request.stored.row(problem.equations.workspace(result.t, result.y, result.yp, known), row)
    return replace(result, times=np.append(result.times, result.t), rows=np.vstack([result.rows, row]))


class Solver(Protocol):
    """A solver plug-in: a class with these attributes, without arguments to create it, and one of two methods.

    `open(task)` gives an `Integrator` (see `integrator.py`), which is driven from event to event. `run(problem, request)` makes a
    whole run by itself: of models without events, and not in a session.
    """

    @property
    def name(self) -> str: ...
    @property
    def doc(self) -> str: ...
    @property
    def options(self) -> tuple[Option, ...]: ...


def is_solver(given: Any) -> bool:
    """Whether something has what a solver has."""
    has = all(hasattr(given, name) for name in ("name", "doc", "options"))
    return has and any(callable(getattr(given, name, None)) for name in ("open", "run", "stepper"))


def check_options(solver: Solver, given: Mapping[str, Any]) -> dict[str, Any]:
    """All options of the solver, those given checked; a name that does not exist is an error with near matches."""
    if not given:
        return {option.name: option.default for option in solver.options}
    known = {option.name: option for option in solver.options}
    for name in given:
        if name not in known:
            raise NameNotFound(
                f"Solver `{solver.name}` has no option `{name}`. {near_matches(name, known)}".rstrip(),
                remedy=f"It has: {', '.join(known) or 'none'}.",
            )
    return {name: option.check(given[name], solver.name) if name in given else option.default for name, option in known.items()}


def _built_in() -> dict[str, Callable[[], Any]]:
    """Those that are always here, also in a source tree that was never installed."""

    def ida() -> Any:
        from .ida import Ida

        return Ida

    def fixed() -> Any:
        from .fixed import Fixed

        return Fixed

    def sundae() -> Any:
        from .sundae import Sundae

        return Sundae

    return {"fixed": fixed, "ida": ida, "sundae": sundae}


_BUILT_IN = frozenset(_built_in())


def _plug_ins() -> Iterable[EntryPoint]:
    """Solvers that other packages bring."""
    from importlib.metadata import entry_points  # slow to import, and most runs ask for none of these

    return entry_points(group="acausal.solvers")


def solver_names() -> list[str]:
    """Names of all solvers that can be chosen."""
    return sorted({*_built_in(), *(e.name for e in _plug_ins())})


def find_solver(given: str | Solver | type | None = None) -> Solver:
    """The solver of this name (None: the default one), or the solver given; an unknown name is an error with near matches."""
    name = default_solver() if given is None else given
    if not isinstance(name, str):
        return _solver_itself(name)
    if name in _BUILT_IN:
        return _made(name)
    for entry in _plug_ins():
        if entry.name == name:
            return _created(entry.load(), name)
    names = solver_names()
    raise NameNotFound(
        f"There is no solver `{name}`; there are {', '.join(names)}.",
        remedy=near_matches(name, names) or "Leave it out: the default suits all models.",
    )


@cache
def _made(name: str) -> Solver:
    return _created(_built_in()[name](), name)


def _created(factory: Any, name: str) -> Solver:
    solver = factory()
    if not is_solver(solver):
        raise UsageError(f"The solver plug-in `{name}` ({factory!r}) lacks `name`, `doc`, `options`, or `open` and `run`.")
    found: Solver = solver
    return found


def _solver_itself(given: Any) -> Solver:
    solver = given() if isinstance(given, type) and is_solver(given) else given
    if is_solver(solver) and not isinstance(solver, type):
        found: Solver = solver
        return found
    raise UsageError(
        f"`solver` is a name or a solver, got {given!r} of type {type(given).__name__}.",
        remedy=f"There are {', '.join(solver_names())}; one of your own is told of in docs/solvers.md.",
    )


@cache
def default_solver() -> str:
    """`ida` where the native core was built; otherwise `sundae`, with a message that says so once."""
    if core is not None:
        return "ida"
    warnings.warn(
        "acausal runs without its native core, which could not be built when it was installed, and uses the solver `sundae`: "
        "results are the same, runs are 10 to 60 times slower. Install a C++ compiler, libsundials-dev and libsuitesparse-dev, "
        "then install acausal again.",
        stacklevel=2,
    )
    return "sundae"
