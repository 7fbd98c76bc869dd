"""Random plants of many components whose states are set at events: balls that bounce, cells that fire, relays that are reset.

Each component is alone, so that each has a closed form; all are in one plant, with something slow or fast beside them that rules
the steps. Some are twins, so that their events are one. Plants have 64 unknowns and more: events of few happen within steps of all.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import acausal as ac

FORMS = ("arrays", "halves")
UNTIL = 2.0
CLEAR = 1e-3  # of a jump: as close to it a value is not compared
G = 9.81


class Ball(ac.Component):
    e = ac.Parameter(0.7)
    x, v = ac.Variable(start=1.0, fixed=True), ac.Variable(start=0.0, fixed=True)
    count = ac.Integer(start=0)

    def equations(self) -> Any:
        yield ac.der(self.x) == self.v
        yield ac.der(self.v) == -G

    def events(self) -> Any:
        yield ac.when(self.x <= 0, ac.reinit(self.v, -self.e * ac.pre(self.v)), ac.assign(self.count, ac.pre(self.count) + 1))


class Cell(ac.Component):
    """Leaks, and begins anew from `reset` where it has reached 1."""

    rate, reset = ac.Parameter(2.0), ac.Parameter(0.0)
    x = ac.Variable(start=0.0, fixed=True)
    count = ac.Integer(start=0)

    def equations(self) -> Any:
        yield ac.der(self.x) == self.rate - self.x

    def events(self) -> Any:
        yield ac.when(self.x > 1, ac.reinit(self.x, self.reset), ac.assign(self.count, ac.pre(self.count) + 1))


class Relay(ac.Component):
    """Runs up and down between two levels; z takes over what x had reached, and begins anew where that was above."""

    rate, high = ac.Parameter(1.0), ac.Parameter(1.0)
    x, z = ac.Variable(start=0.0, fixed=True), ac.Variable(start=0.0, fixed=True)
    up, count = ac.Boolean(start=True), ac.Integer(start=0)

    def equations(self) -> Any:
        yield ac.der(self.x) == ac.where(self.up, self.rate, -self.rate)
        yield ac.der(self.z) == 1.0

    def events(self) -> Any:
        counted = ac.assign(self.count, ac.pre(self.count) + 1)
        yield ac.when(self.x > self.high, ac.assign(self.up, False), ac.reinit(self.z, 0.0)).elsewhen(
            self.x < -self.high, ac.assign(self.up, True), ac.reinit(self.z, ac.pre(self.z) + 1.0)
        )
        yield ac.when(self.x > self.high, counted)


class Beside(ac.Component):
    """Has nothing to do with the others."""

    w = ac.Parameter(1.0)
    a, b = ac.Variable(start=1.0, fixed=True), ac.Variable(start=0.0, fixed=True)

    def equations(self) -> Any:
        yield ac.der(self.a) == self.w * self.b
        yield ac.der(self.b) == -self.w * self.a


def ball(p: dict[str, float], t: float) -> tuple[float, float, float]:
    """Its height, the number of its bounces, and how far the next and the last one are."""
    speed, count, since = np.sqrt(2 * G * p["start"]), 0, 0.0
    end = speed / G
    if t < end:
        return p["start"] - 0.5 * G * t * t, 0, end - t
    while t >= end:
        speed, count, since = p["e"] * speed, count + 1, end
        end += 2 * speed / G
    return speed * (t - since) - 0.5 * G * (t - since) ** 2, count, min(t - since, end - t)


def cell(p: dict[str, float], t: float) -> tuple[float, float, float]:
    rate, reset = p["rate"], p["reset"]
    first, period = np.log(rate / (rate - 1)), np.log((rate - reset) / (rate - 1))
    if t < first:
        return rate * (1 - np.exp(-t)), 0, first - t
    phase = (t - first) % period
    return rate - (rate - reset) * np.exp(-phase), 1 + (t - first) // period, min(phase, period - phase)


def relay(p: dict[str, float], t: float) -> tuple[float, float, float]:
    """Of z: 0 at the top, one more than it was at the bottom."""
    half, first = 2 * p["high"] / p["rate"], p["high"] / p["rate"]
    if t < first:
        return t, 0, first - t
    turns, phase = divmod(t - first, half)
    return phase + (turns % 2) * (half + 1.0), turns // 2 + 1, min(phase, half - phase)


EXACT = {"balls": ball, "cells": cell, "relays": relay}


class Plant(ac.Component):
    """`groups`: of each kind the numbers of its members, in one array or two."""

    def __init__(self, groups: list[tuple[str, dict[str, np.ndarray]]], w: float) -> None:
        for k, (kind, p) in enumerate(groups):
            n, own = len(p["start"]), {name: values for name, values in p.items() if name != "start"}
            made = {"balls": Ball, "cells": Cell, "relays": Relay}[kind]
            setattr(self, f"g{k}", ac.array(made, n, x=ac.start(p["start"]), **own))
        self.beside = Beside(w=w)


class Case:
    runs = True

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.rtol = float(rng.choice([1e-4, 1e-6, 1e-8]))
        self.w = float(rng.choice([0.1, 1.0, 10.0, 100.0]))
        kinds = [kind for kind in EXACT if rng.random() < 0.6] or ["balls"]
        self.groups = [(kind, self._members(rng, kind, int(rng.integers(64, 120)))) for kind in kinds]

    def _members(self, rng: np.random.Generator, kind: str, n: int) -> dict[str, np.ndarray]:
        twins = int(rng.choice([1, 1, 2, 3]))
        drawn = {
            "balls": {"start": rng.uniform(1.0, 5.0, n), "e": rng.uniform(0.3, 0.95, n)},
            "cells": {"start": np.zeros(n), "rate": rng.uniform(1.2, 4.0, n), "reset": rng.uniform(-0.5, 0.5, n)},
            "relays": {"start": np.zeros(n), "rate": rng.uniform(0.5, 5.0, n), "high": rng.uniform(0.3, 1.0, n)},
        }[kind]
        if kind == "balls":  # those that would come to rest in the run do not
            drawn["e"] = np.maximum(drawn["e"], 1.2 * (UNTIL - 0.45) / (UNTIL + 0.45))
            drawn["e"] = np.minimum(drawn["e"], 0.95)
        return {name: np.repeat(values[: -(-n // twins)], twins)[:n] for name, values in drawn.items()}

    def __repr__(self) -> str:
        return f"{[(kind, len(p['start'])) for kind, p in self.groups]} beside w = {self.w}, rtol = {self.rtol}"

    def build(self, form: str) -> ac.Component:
        return Plant(self.groups if form == "arrays" else [g for group in self.groups for g in _halves(group)], self.w)

    def options(self) -> dict[str, Any]:
        return {"until": UNTIL, "rtol": self.rtol, "at": np.linspace(0.0, UNTIL, 21)}

    def check(self, results: dict[str, Any]) -> None:
        for form, result in results.items():
            assert result.outcome.ok, f"{form}: {result.outcome.name}"
            groups = self.groups if form == "arrays" else [g for group in self.groups for g in _halves(group)]
            for k, (kind, p) in enumerate(groups):
                self._compare(form, result, k, kind, p)

    def _compare(self, form: str, result: Any, k: int, kind: str, p: dict[str, np.ndarray]) -> None:
        times = np.linspace(0.0, UNTIL, 21)
        rows = np.searchsorted(result.time, times, side="right") - 1
        members = [{name: float(values[j]) for name, values in p.items()} for j in range(len(p["start"]))]
        exact = np.array([[EXACT[kind](member, t) for member in members] for t in times])
        clear = exact[..., 2] > CLEAR
        found = np.asarray(result[f"g{k}.{'z' if kind == 'relays' else 'x'}"])[rows]
        wrong = float(np.abs(found - exact[..., 0])[clear].max())
        assert wrong < 300 * self.rtol, f"{form}, {kind}: wrong by {wrong:.1e}"
        miscounted = int((np.asarray(result[f"g{k}.count"])[rows] != exact[..., 1])[clear].sum())
        assert not miscounted, f"{form}, {kind}: {miscounted} counts are wrong"


def _halves(group: tuple[str, dict[str, np.ndarray]]) -> list[tuple[str, dict[str, np.ndarray]]]:
    kind, p = group
    middle = len(p["start"]) // 2
    return [
        (kind, {name: values[:middle] for name, values in p.items()}),
        (kind, {name: values[middle:] for name, values in p.items()}),
    ]


def generate(seed: int) -> Case:
    return Case(seed)
