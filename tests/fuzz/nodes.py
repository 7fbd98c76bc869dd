"""Random circuits in node voltages: capacitors between nodes whose derivatives cancel in sums of balances.

Each node has a balance `Σ C (a' - b') + Σ G (a - b) + Σ i = I sin(w t)`; sources of voltage tie nodes to each other. Capacitors
that hang between nodes make the matrix of derivatives singular whatever they are: the sum of the balances of an island holds no
derivative. C and G stand in the equations as literals, as parameters, as parameters times a common factor, or as elements of an
array. The second opinion is the pencil of the same equations.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import acausal as ac

from .pencils import Pencil, is_regular

FORMS = ("literals", "parameters", "products", "arrays")
UNTIL = 2.0

Edge = tuple[int, int, float]


class Case:
    """One random circuit: `build(form)` makes the component, `check(results)` compares those of all forms."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.count = int(rng.integers(2, 8))  # node 0 is the ground
        self.capacitors = self._edges(rng, int(rng.integers(1, self.count + 2)))
        self.conductors = self._edges(rng, int(rng.integers(1, 2 * self.count)))
        self.sources = self._edges(rng, int(rng.choice([0, 0, 1, 2])))
        self.currents = np.round(rng.uniform(-1.0, 1.0, self.count), 2)
        self.w = float(np.round(rng.uniform(0.5, 3.0), 2))
        self.E, self.A = self._pencil()
        self.runs = is_regular(self.E, self.A)

    def _edges(self, rng: np.random.Generator, count: int) -> list[Edge]:
        ends = [rng.choice(self.count, 2, replace=False).tolist() for _ in range(count)]
        return [(a, b, float(np.round(np.exp(rng.uniform(-0.7, 0.7)), 2))) for a, b in ends]

    def __repr__(self) -> str:
        return f"C {self.capacitors}, G {self.conductors}, V {self.sources}, I {self.currents.tolist()}"

    def _pencil(self) -> tuple[np.ndarray, np.ndarray]:
        """Over the potentials of nodes 1…, the currents of sources, sine and cosine."""
        n, m = self.count - 1, len(self.sources)
        E, A = np.zeros((n + m + 2, n + m + 2)), np.zeros((n + m + 2, n + m + 2))
        for matrix, edges in ((E, self.capacitors), (A, self.conductors)):
            for a, b, value in edges:
                for row, sign in ((a, 1.0), (b, -1.0)):
                    for column, other in ((a, 1.0), (b, -1.0)):
                        if row and column:
                            matrix[row - 1, column - 1] += value * sign * other
        A[:n, n + m] = -self.currents[1:]
        for k, (a, b, value) in enumerate(self.sources):
            for node, sign in ((a, 1.0), (b, -1.0)):
                if node:
                    A[node - 1, n + k] += sign
                    A[n + k, node - 1] += sign
            A[n + k, n + m + 1] -= value
        E[n + m, n + m] = E[n + m + 1, n + m + 1] = 1.0
        A[n + m, n + m + 1], A[n + m + 1, n + m] = -self.w, self.w
        return E, A

    def build(self, form: str) -> ac.Component:
        case = self

        def value(self: Any, kind: str, k: int, number: float) -> Any:
            if form == "arrays":
                return getattr(self, kind)[k]
            if form == "literals":
                return number
            return getattr(self, f"{kind}{k}") * (self.scale if form == "products" else 1.0)

        def equations(self: Any) -> Any:
            v = [0.0, *(getattr(self, f"v{k}") for k in range(1, case.count))]
            rate = [0.0, *(ac.der(x) for x in v[1:])]
            sums: list[Any] = [-i * ac.sin(case.w * ac.time) for i in case.currents.tolist()]
            for kind, edges, of in (("C", case.capacitors, rate), ("G", case.conductors, v)):
                for k, (a, b, number) in enumerate(edges):
                    through = value(self, kind, k, number) * (of[a] - of[b])
                    sums[a], sums[b] = sums[a] + through, sums[b] - through
            for k, (a, b, number) in enumerate(case.sources):
                i = getattr(self, f"i{k}")
                sums[a], sums[b] = sums[a] + i, sums[b] - i
                yield v[a] - v[b] == number * ac.cos(case.w * ac.time)
            for node in range(1, case.count):
                yield sums[node] == 0.0

        space: dict[str, Any] = {f"v{k}": ac.Variable() for k in range(1, self.count)}
        space |= {f"i{k}": ac.Variable() for k in range(len(self.sources))}
        divisor = 2.0 if form == "products" else 1.0
        for kind, edges in (("C", self.capacitors), ("G", self.conductors)):
            if form == "arrays":
                space[kind] = ac.Parameter(np.array([e[2] for e in edges]), shape=len(edges))
            elif form != "literals":
                space |= {f"{kind}{k}": ac.Parameter(e[2] / divisor) for k, e in enumerate(edges)}
        if form == "products":
            space["scale"] = ac.Parameter(2.0)
        return type("Drawn", (ac.Component,), {**space, "equations": equations})()

    def options(self) -> dict[str, Any]:
        return {"until": UNTIL, "rtol": 1e-8, "points": 21}

    def check(self, results: dict[str, Any]) -> None:
        pencil, n = Pencil(self.E, self.A), self.count - 1
        for form, result in results.items():
            assert result.outcome.ok, f"{form}: {result.outcome.name}"
            names = [f"v{k}" for k in range(1, self.count)] + [f"i{k}" for k in range(len(self.sources))]
            values = np.array([np.broadcast_to(result[name], result.time.shape) for name in names])
            x0 = np.concatenate([values[:, 0], [0.0, 1.0]])
            scale = max(1.0, float(np.abs(values).max()))
            assert pencil.distance(x0) < 1e-6 * scale, f"{form}: the start is not consistent, by {pencil.distance(x0):.1e}"
            exact = pencil.solution(x0, result.time)[: len(names)]
            wrong = float(np.abs(exact - values).max()) / max(1.0, float(np.abs(exact).max()))
            assert wrong < 2e-5, f"{form}: wrong by {wrong:.1e}"
            steps = result.statistics["steps"]
            first = results["literals"].statistics["steps"]
            assert steps < 3 * first + 200, f"{form}: {steps} steps, where literals take {first}"
        assert n > 0


def generate(seed: int) -> Case:
    return Case(seed)
