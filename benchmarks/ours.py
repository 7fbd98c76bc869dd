"""acausal's side of every comparison, in one place: what is compiled, how it is run, what is read from a result."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from benchmarks.ivp.problems import Problem

OUTPUT_POINTS = 100


@dataclass(frozen=True)
class Case:
    """A model, how long it is simulated, and the variables whose end values tell that the right problem was solved."""

    model: str
    until: float
    first: str
    last: str


CASES = {
    "chain": Case("chain", 1000.0, "cell[0].T", "cell[-1].T"),
    "ladder": Case("ladder", 10.0, "C[0].v", "C[-1].v"),
    "ladder_objects": Case("ladder_objects", 10.0, "C[0].v", "C[-1].v"),
}


@dataclass(frozen=True)
class Measurement:
    """One simulation: seconds inside the integrator, seconds of the whole call, and what came out."""

    seconds: float
    call_seconds: float
    steps: int
    first: float
    last: float
    result: Any


def why_not() -> str | None:
    """A sentence if acausal cannot take part (not installed, or not yet complete), otherwise None."""
    if importlib.util.find_spec("acausal") is None:
        return "acausal is not installed"
    import acausal

    return None if hasattr(acausal, "compile") else "acausal cannot compile models yet"


def compile_case(case: str, n: int) -> tuple[Any, float]:
    """The compiled model and the seconds from calling the component class to the model being ready."""
    import acausal
    from benchmarks import models

    build: Callable[[int], Any] = getattr(models, CASES[case].model)
    begin = time.perf_counter()
    model = acausal.compile(build(n))
    return model, time.perf_counter() - begin


def simulate(model: Any, case: str, tolerance: float = 1e-6) -> Measurement:
    settings = CASES[case]
    begin = time.perf_counter()
    result = model.simulate(until=settings.until, points=OUTPUT_POINTS, rtol=tolerance)
    call_seconds = time.perf_counter() - begin
    return Measurement(
        seconds=_seconds(result),
        call_seconds=call_seconds,
        steps=result.statistics.steps,
        first=float(result[settings.first][-1]),
        last=float(result[settings.last][-1]),
        result=result,
    )


def chain_temperatures(result: Any) -> np.ndarray:
    """All cell temperatures at the output points, one row per point."""
    return np.asarray(result["cell.T"])


def solve_plain(problem: Problem, rtol: float) -> tuple[np.ndarray, float]:
    """End values and seconds of a problem given as plain residuals, without components."""
    import acausal

    attributes = zip(problem.start, problem.differential, problem.nominal, strict=True)
    unknowns = {
        f"y{i + 1}": acausal.Variable(start=start, fixed=fixed, nominal=nominal)
        for i, (start, fixed, nominal) in enumerate(attributes)
    }
    model = acausal.compile(acausal.plain(problem.residuals, y=unknowns, p=problem.parameters))
    result = model.simulate(until=problem.end, points=2, rtol=rtol)
    end = np.array([float(result[name][-1]) for name in unknowns])
    return end, _seconds(result)


def _seconds(result: Any) -> float:
    """Seconds from the creation of the integrator to the last output point, as in the C programs."""
    return float(result.statistics.seconds["integration"])
