"""Random expressions with relations within relations, against numpy.

States follow known curves; variables are computed from them, in explicit equations, in algebraic loops and as discrete variables,
with `where`, `abs`, `min`, `max`, `sign`, `floor` and `ceil` of each other. Between switching points the values must be those that
numpy gives for the same expression at the same time, wherever a run has been before: no branch is kept too long. An integral adds
them up.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import acausal as ac
from acausal.language.expression import as_expression

UNTIL, POINTS = 4.0, 401
LONGEST, HOW = 0.02, {"rtol": 1e-8, "on_failure": "keep"}  # seconds a step; a pulse of a state that is shorter may be missed
_NEAR = 2e-4  # seconds: values that are not smooth within them are at a switching point

Curve = Callable[[Any], Any]
Values = dict[str, Any]
Term = tuple[Callable[[Any], Any], Callable[[Values], Any], str]  # for a component, for numpy, as a text


class Writer:
    """Draws expressions, each as what acausal and what numpy evaluates."""

    def __init__(self, rng: np.random.Generator, names: list[str], truths: list[str]) -> None:
        self.rng, self.names, self.truths = rng, names, truths

    def number(self) -> float:
        return float(np.round(self.rng.uniform(-1.0, 1.0), 6))  # so many digits that no two of them differ by a whole number

    def leaf(self) -> Term:
        if self.rng.random() < 0.2:
            value = self.number()
            return (lambda c: value), (lambda v: value), f"{value:g}"
        if self.rng.random() < 0.15:
            scale = self.number()
            return (lambda c: scale * ac.time), (lambda v: scale * v["time"]), f"{scale:g}*time"
        name = str(self.rng.choice(self.names))
        return (lambda c: getattr(c, name)), (lambda v: v[name]), name

    def term(self, depth: int) -> Term:
        if depth == 0 or self.rng.random() < 0.1:
            return self.leaf()
        kind = str(self.rng.choice(["add", "sub", "abs", "min", "max", "where", "where", "where", "sign", "floor", "ceil", "tanh"]))
        (a, p, s), (b, q, r) = self.term(depth - 1), self.term(depth - 1)
        if kind == "where":
            (c, k, w) = self.relation(depth - 1)
            return (lambda o: ac.where(c(o), a(o), b(o))), (lambda v: np.where(k(v), p(v), q(v))), f"where({w}, {s}, {r})"
        two: dict[str, tuple[Any, Any]] = {
            "add": (lambda x, y: x + y, np.add), "sub": (lambda x, y: x - y, np.subtract), "min": (ac.min, np.minimum),
            "max": (ac.max, np.maximum),
        }  # fmt: skip
        if kind in two:
            ours, theirs = two[kind]
            return (lambda o: ours(a(o), b(o))), (lambda v: theirs(p(v), q(v))), f"{kind}({s}, {r})"
        one: dict[str, tuple[Any, Any]] = {
            "abs": (ac.abs, np.abs), "sign": (ac.sign, np.sign), "tanh": (ac.tanh, np.tanh),
            "floor": (lambda x: ac.floor(2.0 * x), lambda x: np.floor(2.0 * x)),
            "ceil": (lambda x: ac.ceil(2.0 * x), lambda x: np.ceil(2.0 * x)),
        }  # fmt: skip
        ours, theirs = one[kind]
        shift = self.number()
        return (lambda o: ours(a(o) + shift)), (lambda v: theirs(p(v) + shift)), f"{kind}({s} + {shift:g})"

    def relation(self, depth: int) -> Term:
        if self.truths and self.rng.random() < 0.2:
            name = str(self.rng.choice(self.truths))
            return (lambda c: getattr(c, name)), (lambda v: v[name] > 0.5), name
        if depth > 0 and self.rng.random() < 0.2:
            (a, p, s), (b, q, r) = self.relation(depth - 1), self.relation(depth - 1)
            if self.rng.random() < 0.5:
                return (lambda o: a(o) & b(o)), (lambda v: p(v) & q(v)), f"({s} & {r})"
            return (lambda o: a(o) | ~b(o)), (lambda v: p(v) | ~q(v)), f"({s} | ~{r})"
        (a, p, s), level = self.term(depth), self.number()
        # two plain numbers make a plain bool, of which ~ is -2: an expression and an array know better
        if self.rng.random() < 0.5:
            return (lambda o: as_expression(a(o)) > level), (lambda v: np.asarray(p(v)) > level), f"{s} > {level:g}"
        return (lambda o: as_expression(a(o)) < level), (lambda v: np.asarray(p(v)) < level), f"{s} < {level:g}"


def draw(seed: int) -> tuple[ac.Component, Callable[[Any], Values], list[str], str]:
    """A model, its values at given times by numpy, what it says, and which variable it adds up."""
    rng = np.random.default_rng(seed)
    speed, phase = rng.uniform(0.5, 3.0, 2), rng.uniform(0.0, 6.0, 2)
    variables: dict[str, tuple[str, Term]] = {}
    names, truths = ["x", "y"], list[str]()
    for k in range(int(rng.integers(2, 6))):
        writer = Writer(rng, names, truths)
        how = str(rng.choice(["explicit", "explicit", "loop", "truth"]))
        variables[f"v{k}"] = how, writer.relation(2) if how == "truth" else writer.term(3)
        (truths if how == "truth" else names).append(f"v{k}")
    last = [n for n in names if n != "x"][-1]

    def equations(self: Any) -> Any:
        yield ac.der(self.x) == speed[0] * ac.cos(speed[0] * ac.time + phase[0])
        yield ac.der(self.y) == -speed[1] * ac.sin(speed[1] * ac.time + phase[1])
        yield ac.der(self.total) == getattr(self, last)
        for name, (how, term) in variables.items():
            here = getattr(self, name)
            yield (here + 0.2 * ac.tanh(here) if how == "loop" else here) == term[0](self)

    space: dict[str, Any] = {
        "x": ac.Variable(start=float(np.sin(phase[0])), fixed=True), "y": ac.Variable(start=float(np.cos(phase[1])), fixed=True),
        "total": ac.Variable(start=0.0, fixed=True), "equations": equations,
    }  # fmt: skip
    for name, (how, _) in variables.items():
        space[name] = ac.Boolean(False) if how == "truth" else ac.Variable()

    def values(t: Any) -> Values:
        found: Values = {"time": t, "x": np.sin(speed[0] * t + phase[0]), "y": np.cos(speed[1] * t + phase[1])}
        for name, (how, term) in variables.items():
            right = np.broadcast_to(np.asarray(term[1](found), dtype=float), np.shape(t))
            found[name] = _inverse(right) if how == "loop" else right
        return found

    said = [f"{n} ({how}): {term[2]}" for n, (how, term) in variables.items()]
    return type("Drawn", (ac.Component,), space)(), values, said, last


def _inverse(right: Any) -> Any:
    """z with z + tanh(z)/5 = right."""
    z = right / 1.2
    for _ in range(60):
        z = z - (z + 0.2 * np.tanh(z) - right) / (1.2 - 0.2 * np.tanh(z) ** 2)
    return z


def check(seed: int) -> str:
    """ "run", or what is wrong with it. A pulse of a state may lie within a step: with a tenth of it a tenth of that is missing."""
    component, values, texts, last = draw(seed)
    times = np.linspace(0.0, UNTIL, POINTS)
    model = ac.compile(component)
    said = "; ".join(texts)
    for share in (1.0, 0.1):
        result = model.simulate(until=UNTIL, at=times, max_step=share * LONGEST, **HOW)
        if not result.outcome.ok:
            return f"{result.outcome.name} at {result.time_reached:g}: {said}"
        wrong = _at_points(result, times, values) or _added_up(result, values, last, 1e-3 * share)
        if not wrong:
            return "run"
    return f"{wrong}: {said}"


def _at_points(result: Any, times: Any, values: Callable[[Any], Values]) -> str:
    """What is wrong at points beside which nothing jumps."""
    at = np.searchsorted(result.time, times, side="right") - 1
    wanted, before, after = values(times), values(times - _NEAR), values(times + _NEAR)
    smooth = np.all([np.abs(after[n] - before[n]) < 50 * _NEAR for n in wanted if n.startswith("v")], axis=0)
    smooth[0] = False
    for name in wanted:
        if name == "time":
            continue
        error = np.abs(np.asarray(result[name])[at] - wanted[name])[smooth]
        if len(error) and error.max() > 1e-5:
            k = np.flatnonzero(smooth)[int(error.argmax())]
            return f"{name} is {np.asarray(result[name])[at][k]:.6g} at {times[k]:g}, wanted {wanted[name][k]:.6g}"
    return ""


def _added_up(result: Any, values: Callable[[Any], Values], last: str, most: float) -> str:
    fine = np.linspace(0.0, UNTIL, 200_001)
    area = np.trapezoid(values(fine)[last], fine)
    error = abs(float(result["total"][-1]) - area)
    return "" if error < most else f"the integral of {last} is {result['total'][-1]:.6g}, wanted {area:.6g}"
