"""Random circuits whose sources jump: impulses through loops of capacitors and cutsets of inductors.

The circuits are those of `circuits`; some sources jump at a known time, because time passes it, because a clock ticks, or because
a state passes a level. What follows is the jump that the equations have as distributions: x after is the projection of x before,
with the sources as they are then, onto the consistent values along the directions of the pencil's infinite eigenvalues. Voltages
and currents must be those of the pencil before and after, in all forms.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import acausal as ac
from acausal.library import electrical as el

from . import circuits
from .pencils import Pencil

FORMS = circuits.FORMS
WAYS = ("time", "clock", "state", "integer")
JUMP = 0.73


class Step(el.TwoPin):
    """A voltage (or a current) that jumps from `a` to `b`."""

    a, b, voltage, way = ac.Parameter(1.0), ac.Parameter(1.0), True, "time"
    s = ac.Variable(start=0.0, fixed=True)
    on = ac.Discrete(0.0)

    def equations(self) -> Any:
        yield from super().equations()
        yield ac.der(self.s) == 1.0
        over = {"time": ac.time >= JUMP, "state": self.s > JUMP, "clock": self.on > 0.5, "integer": self.on > 0.5}[self.way]
        level = ac.where(over, self.b, self.a)
        yield (self.v if self.voltage else self.i) == level

    def events(self) -> Any:
        condition = ac.sample(JUMP, 10.0) if self.way == "clock" else self.s > JUMP
        if self.way in ("clock", "integer"):
            yield ac.when(condition, ac.assign(self.on, 1.0))


_KINDS = {
    (voltage, way): type(f"Step{way}{voltage}", (Step,), {"voltage": voltage, "way": way})
    for voltage in (True, False)
    for way in WAYS
}
_LETTERS = dict(zip("12345678", _KINDS, strict=True))  # what an element is called: voltage or current, and why it jumps


class StepEdge(circuits.Edge):
    """A source of the circuit that jumps to `after`; otherwise an edge."""

    def __init__(self, edge: circuits.Edge, letter: str, after: float) -> None:
        super().__init__(letter, edge.nodes, edge.value, 0.0)
        self.after = after

    @property
    def kind(self) -> type:
        return _KINDS[_LETTERS[self.letter]]

    @property
    def numbers(self) -> dict[str, float]:
        return {"a": self.value, "b": self.after}

    def __repr__(self) -> str:
        voltage, way = _LETTERS[self.letter]
        return f"{'V' if voltage else 'I'}{self.nodes}={self.value:g} to {self.after:g} by {way}"


def projector(E: np.ndarray, A: np.ndarray) -> np.ndarray:
    """Onto the consistent values of E x' + A x = 0 along the infinite eigenvectors: where x goes within no time."""
    once = np.linalg.solve(E + 0.37 * A, E)
    power = np.linalg.matrix_power(once / np.linalg.norm(once, 2), 4)
    left, sizes, right = np.linalg.svd(power)
    rank = int((sizes > 1e-9 * sizes[0]).sum())
    if (rank < len(sizes) and sizes[rank] > 1e-12 * sizes[0]) or sizes[rank - 1] < 1e-6 * sizes[0]:
        raise ValueError("eigenvalues neither clearly finite nor clearly infinite")
    onto, rows = left[:, :rank], right[:rank]
    return np.asarray(onto @ np.linalg.solve(rows @ onto, rows))


class Case(circuits.Case):
    """One random circuit in which sources jump."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        rng = np.random.default_rng([seed, 1])
        self.before = list(self.edges)  # the same circuit with constant sources
        for k, e in enumerate(self.edges):
            if e.letter in "VI" or (e.letter in "vi" and rng.random() < 0.8):
                letter = "12345678"[(0 if e.letter in "Vv" else 4) + int(rng.integers(4))]
                self.edges[k] = StepEdge(e, letter, float(np.round(rng.uniform(-2.0, 2.0), 2)))
                self.before[k] = circuits.Edge("V" if e.letter in "Vv" else "I", e.nodes, e.value, e.w)
        self.tableau = circuits.Tableau(self.before, self.nodes)
        self.steps = {k: e.after for k, e in enumerate(self.edges) if isinstance(e, StepEdge)}
        if not self.steps:
            raise ValueError("nothing jumps")

    def __repr__(self) -> str:
        return f"{self.edges} in {self.groups}"

    def options(self) -> dict[str, Any]:
        return {"until": circuits.UNTIL, "rtol": 1e-8, "at": self.times()}

    def times(self) -> np.ndarray:
        return np.append(np.linspace(0.0, JUMP, 11)[:-1], np.linspace(JUMP, circuits.UNTIL, 21)[1:])

    def exact(self, x0: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """x at the first ten times, and at the last twenty."""
        table = self.tableau
        pencil, project = Pencil(table.E, table.A), projector(table.E, table.A)
        early = pencil.solution(x0, np.linspace(0.0, JUMP, 11))
        x = early[:, -1].copy()
        sources = [k for k, e in enumerate(self.before) if e.letter in "VIvi"]
        for k, value in self.steps.items():
            x[table.nodes - 1 + 2 * table.b + 2 * sources.index(k)] = value
        late = pencil.solution(project @ x, np.linspace(JUMP, circuits.UNTIL, 21))
        return early[:, :-1], late[:, 1:]

    def check(self, results: dict[str, Any]) -> None:
        table, first = self.tableau, None
        for form, result in results.items():
            assert result.outcome.ok, f"{form}: {result.outcome.name} {result.diagnostics}"
            values = self.values(form, result)[:, np.searchsorted(result.time, self.times() + 1e-13) - 1]
            x0 = table.start.copy()
            x0[table.v : table.v + 2 * table.b] = values[:, 0]
            incidence = table.A[table.nodes - 1 :: 2][: table.b, : table.nodes - 1]
            x0[: table.nodes - 1] = np.linalg.lstsq(incidence, -values[: table.b, 0], rcond=None)[0]
            exact = np.hstack(self.exact(x0))[table.v : table.v + 2 * table.b]
            apart = np.abs(exact - values).max(axis=0) / max(1.0, float(np.abs(exact).max()))
            assert apart.max() < 2e-5, f"{form}: wrong by {apart.max():.1e} at {self.times()[apart.argmax()]:g}"
            if first is not None:
                assert np.abs(first - values).max() < 2e-5 * max(1.0, np.abs(exact).max()), f"{form} differs from objects"
            else:
                first = values


def generate(seed: int) -> Case:
    return Case(seed)
