"""Random circuits of resistors, capacitors, inductors, transformers and sources, as objects, arrays and composites.

The second opinion is the circuit's tableau (potentials, voltages, currents; sources as oscillators) as a linear pencil.
A circuit whose pencil is regular has to run and to agree; any other has to be refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import acausal as ac
from acausal.library import electrical as el

from .pencils import Pencil, is_regular
from .second_look import is_condition

FORMS = ("objects", "arrays", "composites")
UNTIL = 2.0
NEAR = 2e-5  # a run that is further from the exact solution is looked at again


class SineVolts(el.TwoPin):
    V = ac.Parameter(1.0, unit="V")
    w = ac.Parameter(1.0, unit="rad/s")

    def equations(self) -> Any:
        yield from super().equations()
        yield self.v == self.V * ac.sin(self.w * ac.time)


class SineAmperes(el.TwoPin):
    I = ac.Parameter(1.0, unit="A")  # noqa: E741
    w = ac.Parameter(1.0, unit="rad/s")

    def equations(self) -> Any:
        yield from super().equations()
        yield self.i == self.I * ac.sin(self.w * ac.time)


TWO_PINS: dict[str, tuple[type, str]] = {
    "R": (el.Resistor, "R"), "C": (el.Capacitor, "C"), "L": (el.Inductor, "L"), "V": (el.ConstantVoltage, "V"),
    "I": (el.ConstantCurrent, "I"), "v": (SineVolts, "V"), "i": (SineAmperes, "I"), "T": (el.IdealTransformer, "ratio"),
}  # fmt: skip


class Edge:
    """An element: its letter, its nodes (two, or four of a transformer), its number, its frequency."""

    def __init__(self, letter: str, nodes: tuple[int, ...], value: float, w: float) -> None:
        self.letter, self.nodes, self.value, self.w = letter, nodes, value, w

    @property
    def kind(self) -> type:
        return TWO_PINS[self.letter][0]

    @property
    def numbers(self) -> dict[str, float]:
        return {TWO_PINS[self.letter][1]: self.value, **({"w": self.w} if self.letter in "vi" else {})}

    def component(self) -> Any:
        return self.kind(**self.numbers)

    @property
    def pins(self) -> tuple[str, ...]:
        return ("p1", "n1", "p2", "n2") if self.letter == "T" else ("p", "n")

    def __repr__(self) -> str:
        return f"{self.letter}{self.nodes}={self.value:g}" + (f" w={self.w:g}" if self.letter in "vi" else "")


def random_edges(rng: np.random.Generator) -> tuple[list[Edge], int]:
    """A connected graph most of the time; node 0 is the ground."""
    nodes = int(rng.integers(2, 7))
    letters = "".join(rng.choice(list("RCLVIviT"), p=[0.25, 0.25, 0.2, 0.06, 0.06, 0.06, 0.06, 0.06], size=12))
    kind = rng.integers(4)
    if kind == 0:
        letters = letters.replace("R", "C")
    elif kind == 1:
        letters = letters.replace("R", "L")
    count = int(rng.integers(nodes, min(12, 2 * nodes + 2) + 1))
    edges = []
    for k in range(count):
        a, b = (k + 1, int(rng.integers(0, k + 1))) if k < nodes - 1 else rng.choice(nodes, 2, replace=False).tolist()
        if rng.random() < 0.5:
            a, b = b, a
        ends = (a, b, *rng.choice(nodes, 2, replace=False).tolist()) if letters[k] == "T" else (a, b)
        value = float(np.round(np.exp(rng.uniform(-0.7, 0.7)), 2)) * (1 if letters[k] in "RCL" else float(rng.choice([-1, 1])))
        edges.append(Edge(letters[k], tuple(ends), value, float(np.round(rng.uniform(0.5, 3.0), 2))))
    return edges, nodes


class Flat(ac.Component):
    def __init__(self, edges: list[Edge], nodes: int) -> None:
        self.nodes = [
            [(k, pin) for k, e in enumerate(edges) for pin, at in zip(e.pins, e.nodes, strict=True) if at == q]
            for q in range(nodes)
        ]
        self.e = [e.component() for e in edges]
        self.g = el.Ground()

    def connections(self) -> Any:
        for q, pins in enumerate(self.nodes):
            joined = [getattr(self.e[k], pin) for k, pin in pins] + ([self.g.p] if q == 0 else [])
            if len(joined) > 1:
                yield tuple(joined)


class Arrays(ac.Component):
    def __init__(self, edges: list[Edge], nodes: int) -> None:
        self.places: list[tuple[str, int]] = []
        for letter in dict.fromkeys(e.letter for e in edges):
            same = [e for e in edges if e.letter == letter]
            values = {name: np.array([e.numbers[name] for e in same]) for name in same[0].numbers}
            setattr(self, f"a{ord(letter)}", ac.array(same[0].kind, len(same), **values))
        seen: dict[str, int] = {}
        for e in edges:
            self.places.append((f"a{ord(e.letter)}", seen.setdefault(e.letter, 0)))
            seen[e.letter] += 1
        self.nodes = [
            [(k, pin) for k, e in enumerate(edges) for pin, at in zip(e.pins, e.nodes, strict=True) if at == q]
            for q in range(nodes)
        ]
        self.g = el.Ground()

    def connections(self) -> Any:
        for q, pins in enumerate(self.nodes):
            joined = []
            for k, pin in pins:
                name, j = self.places[k]
                joined.append(getattr(getattr(self, name)[j], pin))
            joined += [self.g.p] if q == 0 else []
            if len(joined) > 1:
                yield tuple(joined)


class Part(ac.Component):
    def __init__(self, edges: list[Edge], members: list[int]) -> None:
        self.members = [(k, edges[k].pins, edges[k].nodes) for k in members]
        self.at = sorted({q for _, _, nodes in self.members for q in nodes})
        for q in self.at:
            setattr(self, f"n{q}", el.Pin())
        for k in members:
            setattr(self, f"e{k}", edges[k].component())

    def connections(self) -> Any:
        for k, pins, nodes in self.members:
            for pin, q in zip(pins, nodes, strict=True):
                yield getattr(getattr(self, f"e{k}"), pin), getattr(self, f"n{q}")


class Composites(ac.Component):
    def __init__(self, edges: list[Edge], nodes: int, groups: list[list[int]]) -> None:
        self.count, self.parts, self.g = nodes, [Part(edges, members) for members in groups], el.Ground()

    def connections(self) -> Any:
        for q in range(self.count):
            pins = [getattr(p, f"n{q}") for p in self.parts if q in p.at] + ([self.g.p] if q == 0 else [])
            if len(pins) > 1:
                yield tuple(pins)


class Tableau:
    """Potentials, then voltages and currents of all ports, then two oscillators (or a constant) for each source."""

    def __init__(self, edges: list[Edge], nodes: int) -> None:
        ports = [(e.letter, e.nodes[0], e.nodes[1], e) for e in edges]
        self.second = {}
        for k, e in enumerate(edges):
            if e.letter == "T":
                self.second[k] = len(ports)
                ports.append(("", e.nodes[2], e.nodes[3], e))
        b, self.nodes = len(ports), nodes
        self.v, self.i = nodes - 1, nodes - 1 + b
        sources = [k for k, e in enumerate(edges) if e.letter in "VIvi"]
        size = nodes - 1 + 2 * b + 2 * len(sources)
        E, A = np.zeros((size, size)), np.zeros((size, size))
        row = 0
        for q in range(1, nodes):
            for k, (_, p, n, _) in enumerate(ports):
                A[row, self.i + k] += (p == q) - (n == q)
            row += 1
        for k, (letter, p, n, e) in enumerate(ports):
            A[row, self.v + k] = 1.0
            if p:
                A[row, p - 1] -= 1.0
            if n:
                A[row, n - 1] += 1.0
            row += 1
            v, i = self.v + k, self.i + k
            if letter == "R":
                A[row, v], A[row, i] = 1.0, -e.value
            elif letter == "C":
                E[row, v], A[row, i] = e.value, -1.0
            elif letter == "L":
                E[row, i], A[row, v] = e.value, -1.0
            elif letter == "T":
                A[row, v], A[row, self.v + self.second[k]] = 1.0, -e.value
            elif letter == "":
                first = next(j for j, s in self.second.items() if s == k)
                A[row, i], A[row, self.i + first] = 1.0, e.value
            else:
                at = nodes - 1 + 2 * b + 2 * sources.index(k)
                A[row, v if letter in "Vv" else i], A[row, at] = 1.0, -1.0
            row += 1
        self.start = np.zeros(size)
        for j, k in enumerate(sources):
            at, e = nodes - 1 + 2 * b + 2 * j, edges[k]
            w = e.w if e.letter in "vi" else 0.0
            E[row, at], A[row, at + 1] = 1.0, -w
            E[row + 1, at + 1], A[row + 1, at] = 1.0, w
            row += 2
            self.start[at], self.start[at + 1] = (e.value, 0.0) if not w else (0.0, e.value)
        self.E, self.A, self.b = E, A, b

    def regular(self) -> bool:
        return is_regular(self.E, self.A)


class Case:
    """One random circuit: `build(form)` makes the component, `check(results)` compares those of all forms."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.edges, self.nodes = random_edges(rng)
        groups = [g for g in np.array_split(rng.permutation(len(self.edges)), int(rng.integers(1, 4))) if len(g)]
        self.groups = [sorted(int(k) for k in g) for g in groups]
        self.tableau = Tableau(self.edges, self.nodes)
        self.runs = self.tableau.regular()

    def __repr__(self) -> str:
        return f"{self.edges} in {self.groups}"

    def build(self, form: str) -> ac.Component:
        if form == "objects":
            return Flat(self.edges, self.nodes)
        if form == "arrays":
            return Arrays(self.edges, self.nodes)
        return Composites(self.edges, self.nodes, self.groups)

    def options(self) -> dict[str, Any]:
        return {"until": UNTIL, "rtol": 1e-8, "points": 41}

    def paths(self, form: str) -> list[str]:
        if form == "objects":
            return [f"e[{k}]" for k in range(len(self.edges))]
        if form == "arrays":
            return [f"{name}[{j}]" for name, j in Arrays(self.edges, self.nodes).places]
        part = {k: g for g, members in enumerate(self.groups) for k in members}
        return [f"parts[{part[k]}].e{k}" for k in range(len(self.edges))]

    def values(self, form: str, result: Any) -> np.ndarray:
        """Voltages and currents of all ports, in the order of the tableau; one column for each time."""
        second = self.tableau.second
        ports: list[tuple[str, str, str]] = []
        for path, e in zip(self.paths(form), self.edges, strict=True):
            ports.append((path, "v1", "i1") if e.letter == "T" else (path, "v", "i"))
        ports += [(self.paths(form)[k], "v2", "i2") for k in second]
        rows = [result[f"{p}.{v}"] for p, v, _ in ports] + [result[f"{p}.{i}"] for p, _, i in ports]
        return np.array([np.broadcast_to(r, result.time.shape) for r in rows])

    def check(self, results: dict[str, Any]) -> None:
        self.pencil = Pencil(self.tableau.E, self.tableau.A)
        first, allowed = None, NEAR
        for form, result in results.items():
            assert result.outcome.ok, f"{form}: {result.outcome.name}"
            wrong, values = self._wrong(form, result), self.values(form, result)
            if wrong >= NEAR:
                assert is_condition(self, form, result, self._amplified(form, result), lambda r, form=form: self._wrong(form, r)), (
                    f"{form}: wrong by {wrong:.1e}"
                )
                allowed = 2 * max(wrong, allowed)  # two runs, each of them as wrong as that
            if first is not None:
                apart = float(np.abs(first - values).max()) / max(1.0, float(np.abs(values).max()))
                assert apart < allowed, f"{form} differs from objects by {apart:.1e}"
            else:
                first = values

    def _start(self, values: np.ndarray) -> np.ndarray:
        """The tableau's unknowns as a run has them at its start."""
        table = self.tableau
        x0 = table.start.copy()
        x0[table.v : table.v + 2 * table.b] = values[:, 0]
        incidence = table.A[table.nodes - 1 :: 2][: table.b, : table.nodes - 1]
        x0[: table.nodes - 1] = np.linalg.lstsq(incidence, -values[: table.b, 0], rcond=None)[0]
        return x0

    def _wrong(self, form: str, result: Any) -> float:
        """The largest error of a voltage or a current, of the largest or of 1."""
        table, values = self.tableau, self.values(form, result)
        x0, scale = self._start(values), max(1.0, float(np.abs(values).max()))
        assert self.pencil.distance(x0) < 1e-6 * scale, f"{form}: the start is not consistent, by {self.pencil.distance(x0):.1e}"
        exact = self.pencil.solution(x0, result.time)[table.v : table.v + 2 * table.b]
        return float(np.abs(exact - values).max()) / max(1.0, float(np.abs(exact).max()))

    def _amplified(self, form: str, result: Any) -> float:
        """What an error of a step in voltages of capacitors and currents of inductors can become."""
        table = self.tableau
        ports = slice(table.v, table.v + 2 * table.b)
        exact = self.pencil.solution(self._start(self.values(form, result)), result.time)
        states = np.flatnonzero(np.abs(table.E).max(axis=0))
        tested = states < table.v + 2 * table.b  # and the sources' oscillators are exact
        weights = tested * (1.0 + np.abs(exact[states]).max(axis=1))
        return self.pencil.amplified(states, weights, ports, result.time) / max(1.0, float(np.abs(exact[ports]).max()))


def generate(seed: int) -> Case:
    return Case(seed)


Builder = Callable[[str], ac.Component]
