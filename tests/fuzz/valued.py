"""Linear DAEs of index 0 to 4 whose coefficients are parameters: what their values are decides what the structure is.

The systems of `linear.py`. Each coefficient is a number in the equation, or a parameter, one times a number, a quotient of two, or
one with a minus sign; a fifth of them are parameters, or three fifths, or all. Parameters may have other values when the model is
compiled, and get those of the system for the run.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import acausal as ac

from .linear import Case

FORMS = ("values", "set later")
_SHARES = (0.2, 0.6, 1.0)
_WAYS = ("number", "parameter", "twice", "quotient", "negative")


class Valued:
    def __init__(self, seed: int) -> None:
        self.case, self.seed, self.share = Case(seed), seed, _SHARES[seed % len(_SHARES)]
        self.runs, self.values = True, dict[str, float]()

    def __repr__(self) -> str:
        return f"{self.case!r}, a share of {self.share} as parameters"

    def build(self, form: str) -> ac.Component:
        rng = np.random.default_rng(self.seed + 10**6)
        E, A, S, C, w, x0 = self.case.arguments
        self.values, size = {}, range(len(E))
        rows = []
        for i in size:
            terms = [(self._coefficient(rng, m[i, j]), j, m is E) for j in size for m in (E, A) if m[i, j]]
            rows.append([terms[k] for k in rng.permutation(len(terms))])

        def equations(self: Any) -> Any:
            for i in size:
                left = sum(_written(self, *way) * (ac.der(x) if slope else x) for way, x, slope in _named(self, rows[i]))
                yield left == float(S[i]) * ac.sin(w * ac.time) + float(C[i]) * ac.cos(w * ac.time)

        declared: dict[str, Any] = {f"x{j}": ac.Variable(start=float(x0[j])) for j in size}
        early = rng.uniform(0.5, 1.5, len(self.values)) if form == "set later" else self.values.values()
        declared |= {name: ac.Parameter(float(value)) for name, value in zip(self.values, early, strict=True)}
        return type("Valued", (ac.Component,), {**declared, "equations": equations})()

    def _coefficient(self, rng: np.random.Generator, value: float) -> tuple[str, str, float]:
        """How a coefficient is written, the parameter in it, and its number."""
        way, name = str(rng.choice(_WAYS, p=[1 - self.share, *[self.share / 4] * 4])), f"p{len(self.values)}"
        if way != "number":
            factor = {"parameter": 1.0, "twice": 0.5, "quotient": 2.0, "negative": -1.0}[way]
            self.values[name] = factor * float(value)
        if way == "quotient":
            self.values[name + "d"] = 2.0
        return way, name, float(value)

    def options(self) -> dict[str, Any]:
        return {**self.case.options(), "set": self.values}

    def check(self, results: dict[str, Any]) -> None:
        for form, result in results.items():
            assert result.outcome.ok, f"{form}: {result.outcome.name}"
            found, exact = np.array([result[f"x{j}"] for j in range(len(self.case.Q))]), self.case.exact(result.time)
            wrong = float(np.abs(found - exact).max()) / max(1.0, float(np.abs(exact).max()))
            assert wrong < 1e-4, f"{form}: wrong by {wrong:.1e}"


def _named(model: Any, row: list[Any]) -> Any:
    return ((way, getattr(model, f"x{j}"), slope) for way, j, slope in row)


def _written(model: Any, way: str, name: str, value: float) -> Any:
    if way == "number":
        return value
    parameter = getattr(model, name)
    if way == "quotient":
        return parameter / getattr(model, name + "d")
    return {"parameter": parameter, "twice": 2.0 * parameter, "negative": -parameter}[way]


def generate(seed: int) -> Valued:
    return Valued(seed)
