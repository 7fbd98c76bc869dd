"""Units at random: a plant that is declared in other units is the same plant, or it is refused, and rightly.

A body with a temperature, one that moves and a meter, with clocks, states and events, each quantity in a unit of its own and with
the number that goes with it. The same in SI is the second opinion. What the check of units lets pass has to agree with it, and what
it refuses must not: the model is then run unchecked, and has to be wrong.
"""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np

import acausal as ac
from acausal.language.units import convert

UNTIL = 40.0
DRAWS = 60  # numbers that are tried before a refused plant counts as right: of two in a `min` one may be the smaller nearly always
MOST_STEPS = 100_000  # the plants take some hundreds; in mixed units one may have an event each microsecond, and is not alike then
UNITS = {
    "K": ("K", "degC"), "J/K": ("J/K", "kJ/K"), "W/K": ("W/K", "kW/K"), "W": ("W", "kW"), "s": ("s", "min", "ms"),
    "m": ("m", "mm", "km"), "m/s": ("m/s", "km/h", "mm/s"), "J": ("J", "kJ", "Wh"), "1/s": ("1/s", "1/min", "1/h"),
}  # fmt: skip
QUANTITIES = {
    "T": "K", "Ta": "K", "C": "J/K", "G": "W/K", "P": "W", "tau": "s", "period": "s", "wait": "s", "x": "m", "L": "m", "v": "m/s",
    "E": "J", "kept": "m", "rate": "1/s",
}  # fmt: skip
STATES = ("T", "x", "E")

WARMING = (
    lambda s: s.C * ac.der(s.T) == s.P - s.G * (s.T - s.Ta),
    lambda s: ac.der(s.T) == (s.P + s.G * (s.Ta - s.T)) / s.C,
    lambda s: s.tau * ac.der(s.T) == s.Ta - s.T,
    lambda s: ac.der(s.T) == s.rate * (s.Ta - s.T),
    lambda s: s.C * ac.der(s.T) == s.P - s.G * ac.max(s.T - s.Ta, 0.0),
    lambda s: s.C * ac.der(s.T) == -s.G * ac.abs(s.T - s.Ta),
    lambda s: s.C * ac.der(s.T) == ac.where(ac.time > s.wait, -s.G * (s.T - s.Ta), s.P),
    lambda s: ac.der(s.T) == -((s.T - s.Ta) ** 2) / (s.tau * (s.P / s.G)),
)
MOVING = (
    lambda s: ac.der(s.x) == s.v,
    lambda s: s.tau * ac.der(s.x) == s.L - s.x,
    lambda s: ac.der(s.x) == ac.min(s.v, s.L / s.tau),
    lambda s: ac.der(s.x) == s.v * ac.exp(-s.x / s.L),
    lambda s: ac.der(s.x) == ac.where(ac.time > s.wait, s.v, -s.v),
    lambda s: ac.der(s.x) == s.v * ac.sin(s.rate * ac.time),
    lambda s: ac.der(s.x) == s.rate * (s.L - ac.delay(s.x, s.wait)),
)
METERING = (
    lambda s: ac.der(s.E) == s.P,
    lambda s: ac.der(s.E) == s.G * (s.T - s.Ta),
    lambda s: ac.der(s.E) == s.P * (s.x / s.L),
)
EVENTS = (
    lambda s: ac.when(ac.sample(0.0, s.period), ac.assign(s.kept, s.x)),
    lambda s: ac.when(ac.sample(s.wait, s.period), ac.assign(s.kept, ac.pre(s.kept) + s.L)),
    lambda s: ac.when(ac.time >= s.wait, ac.assign(s.kept, s.L - s.x), ac.reinit(s.x, s.L)),
    lambda s: ac.when(s.x > 0.5 * s.L, ac.assign(s.kept, s.v * ac.time), ac.reinit(s.x, 0.0)),
    lambda s: ac.when(ac.abs(s.x) > 0.5 * (s.v * s.wait), ac.assign(s.kept, s.x + s.L)),  # x alone: the threshold
)


def check(seed: int) -> str:
    """ "run", or what is wrong with it."""
    rng = np.random.default_rng(seed)
    said = [str(rng.choice(np.array(UNITS[unit][1:]))) if rng.random() < 0.08 else unit for unit in QUANTITIES.values()]
    units = dict(zip(QUANTITIES, said, strict=True))
    chosen = [int(rng.integers(len(part))) for part in (WARMING, MOVING, METERING, EVENTS)]
    waits = bool(rng.random() < 0.5)
    first = _numbers(rng)
    right = _ends(ac.compile(_plant(first, QUANTITIES, chosen, waits)))
    where = f"{chosen}, {waits}, { {n: u for n, u in units.items() if u != QUANTITIES[n]} }"
    try:
        found = _ends(ac.compile(_plant(first, units, chosen, waits)))
    except ac.ModelError as error:
        numbers = chain([first], (_numbers(rng) for _ in range(DRAWS - 1)))
        models = ([ac.compile(_plant(one, u, chosen, waits), units=False) for u in (units, QUANTITIES)] for one in numbers)
        right_always = all(_alike(_ends(mixed), _ends(plain)) for mixed, plain in models)
        return f"refused, though right, {where}: {error}" if right_always else "run"
    return "run" if _alike(found, right) else f"ends at {found}, wanted {right}, {where}"


def _numbers(rng: np.random.Generator) -> dict[str, float]:
    return {
        "T": rng.uniform(300.0, 330.0), "Ta": rng.uniform(270.0, 290.0), "C": rng.uniform(50.0, 200.0), "G": rng.uniform(2.0, 9.0),
        "P": rng.uniform(50.0, 90.0), "tau": rng.uniform(5.0, 40.0), "period": rng.uniform(3.0, 9.0), "wait": rng.uniform(2.0, 9.0),
        "x": 0.0, "L": rng.uniform(2.0, 9.0), "v": rng.uniform(0.3, 0.9), "E": 0.0, "kept": 0.0, "rate": rng.uniform(0.05, 0.2),
    }  # fmt: skip


def _plant(values: dict[str, float], units: dict[str, str], chosen: list[int], waits: bool) -> ac.Component:
    number = {name: float(convert(value, QUANTITIES[name], units[name])) for name, value in values.items()}
    size = {n: float(convert(1.0, QUANTITIES[n], units[n]) - convert(0.0, QUANTITIES[n], units[n])) for n in STATES}
    # a state in kilometres is as exact as one in metres: tolerances follow nominal values
    space: dict[str, Any] = {n: ac.Variable(start=number[n], fixed=True, unit=units[n], nominal=size[n]) for n in STATES}
    space |= {n: ac.Parameter(number[n], unit=units[n]) for n in QUANTITIES if n not in (*STATES, "kept")}
    space |= {"kept": ac.Discrete(0.0, unit=units["kept"]), "mode": ac.States("early", "late", initial="early")}

    def equations(self: Any) -> Any:
        yield WARMING[chosen[0]](self)
        yield MOVING[chosen[1]](self)
        yield METERING[chosen[2]](self)

    def events(self: Any) -> Any:
        yield EVENTS[chosen[3]](self)

    def transitions(self: Any) -> Any:
        if waits:
            yield self.mode.early.to("late", after=self.wait, do=[ac.reinit(self.E, 0.0)])

    return type("Plant", (ac.Component,), space | {"equations": equations, "events": events, "transitions": transitions})()


def _ends(model: ac.Model) -> list[float]:
    result = model.simulate(until=UNTIL, rtol=1e-8, points=3, max_steps=MOST_STEPS, on_failure="keep")
    if not result.outcome.ok:
        return [np.nan]
    return [float(result.in_unit(n, QUANTITIES[n])[-1]) for n in (*STATES, "kept")]


def _alike(found: list[float], right: list[float]) -> bool:
    return len(found) == len(right) and bool(np.allclose(found, right, rtol=1e-5, atol=1e-5))
