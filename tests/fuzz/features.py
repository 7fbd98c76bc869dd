"""Random combinations of features in one plant, computed in several ways that must agree.

Cells in a ring, each with a random choice of: an algebraic loop, a delay, a table of a state, a corner without event, an integral
that is set back by `reinit`, a sampled copy, a thermostat whose states are connected to a heater, a position that is a function of
time (index 3), two stores that are held together (index 2). What drives them all jumps at random times.

The ways: objects, arrays, composites; the input as a function and held; one run, a session in parts that goes too far and comes
back, a model that was saved and loaded, an end in another unit. A second opinion is a loop with fixed steps in numpy that knows
nothing of the program.
"""

from __future__ import annotations

import bisect
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import acausal as ac

FEATURES = ("loop", "delay", "table", "corner", "reset", "sample", "thermostat", "position", "pair")
UNTIL = 3.0
POINTS = ac.Table([-2.0, -0.5, 0.0, 0.4, 1.0, 2.5], [-1.5, -0.8, 0.0, 0.9, 1.1, 2.0], method="linear", extrapolation="linear")
STATES = {"x": "", "xd": "delay", "xt": "table", "xc": "corner", "r": "reset", "xs": "sample", "T": "thermostat", "a": "pair"}
SHOWN = {**STATES, "y": "loop", "F": "position", "q": "pair", "count": "reset", "s": "sample"}


@dataclass(frozen=True)
class Plant:
    """What was drawn."""

    features: frozenset[str]
    numbers: dict[str, np.ndarray]
    times: list[float]
    values: list[float]

    @property
    def count(self) -> int:
        return len(self.numbers["k"])

    def u(self, t: float) -> float:
        return self.values[max(0, bisect.bisect_right(self.times, t) - 1)]

    @property
    def shown(self) -> list[str]:
        return [name for name, feature in SHOWN.items() if not feature or feature in self.features]


class Thermostat(ac.Component):
    T, low, high = ac.Input(), ac.Parameter(0.3), ac.Parameter(0.6)
    call = ac.OutputStates("on", "off", initial="off")

    def transitions(self) -> Iterator[Any]:
        yield self.call.off.to("on", when=self.T < self.low)
        yield self.call.on.to("off", when=self.T > self.high)


class Heater(ac.Component):
    P, power = ac.Parameter(1.0), ac.Variable()
    run = ac.InputStates(on="all", off="any")

    def equations(self) -> Iterator[Any]:
        yield self.power == ac.match(self.run, on=self.P, off=0.0)


def cell_class(features: frozenset[str]) -> type[ac.Component]:
    """A class of components with these features."""

    class Cell(ac.Component):
        u, before = ac.Input(0.0), ac.Input(0.0)
        k, a0, tau, rate, level, period = (ac.Parameter(v) for v in (1.0, 0.5, 0.2, 0.5, 1.0, 0.25))
        low, high, P, m, w, C = (ac.Parameter(v) for v in (0.3, 0.6, 1.0, 1.0, 2.0, 1.0))
        x = ac.Variable(start=0.1, fixed=True)
        if "loop" in features:
            y = ac.Variable()
        if "delay" in features:
            xd = ac.Variable(start=0.0, fixed=True)
        if "table" in features:
            xt = ac.Variable(start=0.2, fixed=True)
        if "corner" in features:
            xc = ac.Variable(start=0.0, fixed=True)
        if "reset" in features:
            r, count = ac.Variable(start=0.0, fixed=True), ac.Integer(0)
        if "sample" in features:
            xs, s = ac.Variable(start=0.0, fixed=True), ac.Discrete(0.0)
        if "position" in features:
            p, v, F = ac.Variable(), ac.Variable(), ac.Variable()
        if "pair" in features:
            a, b, q = ac.Variable(start=0.0, fixed=True), ac.Variable(), ac.Variable()
        if "thermostat" in features:
            T = ac.Variable(start=0.4, fixed=True)

        def __init__(self) -> None:
            if "thermostat" in features:
                self.thermostat = Thermostat(low=self.low, high=self.high)
                self.heater = Heater(P=self.P)

        def equations(self) -> Iterator[Any]:
            yield ac.der(self.x) == self.k * (self.u + 0.3 * self.before - self.x)
            if "loop" in features:
                yield self.y + self.a0 * ac.tanh(self.y) == self.u + self.x
            if "delay" in features:
                yield ac.der(self.xd) == ac.delay(self.x, self.tau) - self.xd
            if "table" in features:
                yield ac.der(self.xt) == self.u - POINTS(self.xt)
            if "corner" in features:
                yield ac.der(self.xc) == ac.no_event(ac.max(self.x - self.xc, 0.0)) - 0.2 * self.xc
            if "reset" in features:
                yield ac.der(self.r) == self.rate + 0.1 * self.x
            if "sample" in features:
                yield ac.der(self.xs) == self.s - self.xs
            if "position" in features:
                yield self.p == ac.sin(self.w * ac.time)
                yield ac.der(self.p) == self.v
                yield self.m * ac.der(self.v) == self.F
            if "pair" in features:
                yield self.C * ac.der(self.a) == self.x - self.a + self.q
                yield 2 * self.C * ac.der(self.b) == self.u - self.b - self.q
                yield self.a == self.b
            if "thermostat" in features:
                yield ac.der(self.T) == self.heater.power - 0.5 * self.T + 0.05 * self.x

        def connections(self) -> Iterator[Any]:
            if "thermostat" in features:
                yield self.T, self.thermostat.T
                yield self.thermostat.call, self.heater.run

        def events(self) -> Iterator[Any]:
            if "reset" in features:
                yield ac.when(self.r > self.level, ac.reinit(self.r, 0.1), ac.assign(self.count, ac.pre(self.count) + 1))
            if "sample" in features:
                yield ac.when(ac.sample(self.period, self.period), ac.assign(self.s, self.x))

    return Cell


class Objects(ac.Component):
    u = ac.Input(0.0)

    def __init__(self, kind: type[ac.Component], numbers: dict[str, np.ndarray]) -> None:
        self.cell = [kind(**{name: float(v[k]) for name, v in numbers.items()}) for k in range(len(numbers["k"]))]

    def connections(self) -> Iterator[Any]:
        for k, cell in enumerate(self.cell):
            yield self.u, cell.u
            yield self.cell[k - 1].x, cell.before


class Arrays(ac.Component):
    u = ac.Input(0.0)

    def __init__(self, kind: type[ac.Component], numbers: dict[str, np.ndarray]) -> None:
        self.count = len(numbers["k"])
        self.cell = ac.array(kind, self.count, **numbers)

    def connections(self) -> Iterator[Any]:
        yield self.u, self.cell.u
        yield self.cell[:-1].x, self.cell[1:].before
        yield self.cell[self.count - 1].x, self.cell[0].before


class Pair(ac.Component):
    u, before = ac.Input(0.0), ac.Input(0.0)

    def __init__(self, one: ac.Component, other: ac.Component) -> None:
        self.one, self.other = one, other

    def connections(self) -> Iterator[Any]:
        yield self.u, self.one.u
        yield self.u, self.other.u
        yield self.before, self.one.before
        yield self.one.x, self.other.before


class Composites(ac.Component):
    u = ac.Input(0.0)

    def __init__(self, kind: type[ac.Component], numbers: dict[str, np.ndarray]) -> None:
        cells = [kind(**{name: float(v[k]) for name, v in numbers.items()}) for k in range(len(numbers["k"]))]
        self.pair = [Pair(one, other) for one, other in zip(cells[::2], cells[1::2], strict=True)]

    def connections(self) -> Iterator[Any]:
        for k, pair in enumerate(self.pair):
            yield self.u, pair.u
            yield self.pair[k - 1].other.x, pair.before


def draw(seed: int) -> Plant:
    rng = np.random.default_rng(seed)
    n = 2 * int(rng.integers(1, 3))
    chosen = frozenset(f for f in FEATURES if rng.random() < 0.5)
    low = rng.uniform(0.2, 0.4, n)
    numbers = {
        "k": rng.uniform(0.5, 3.0, n), "a0": rng.uniform(0.1, 0.9, n), "tau": np.round(rng.uniform(0.05, 0.7, n), 3),
        "rate": rng.uniform(0.5, 1.5, n), "level": rng.uniform(0.5, 1.2, n), "period": rng.choice([0.1, 0.25, 0.4], n),
        "low": low, "high": low + rng.uniform(0.1, 0.4, n), "P": rng.uniform(0.8, 2.0, n), "m": rng.uniform(0.5, 2.0, n),
        "w": rng.uniform(0.5, 4.0, n), "C": rng.uniform(0.5, 2.0, n),
    }  # fmt: skip
    times = [0.0, *np.sort(np.round(rng.uniform(0.05, UNTIL - 0.05, int(rng.integers(0, 6))), 2)).tolist()]
    times = sorted(set(times))
    return Plant(chosen, numbers, times, np.round(rng.normal(0.4, 0.8, len(times)), 2).tolist())


# --- a second opinion ---------------------------------------------------------------------------------------------------------

STEP = 2e-3


def opinion(plant: Plant) -> dict[str, np.ndarray]:
    """All cells by Heun's method with fixed steps, rows by time; events within steps move what they would have moved since then."""
    n, f, p = plant.count, plant.features, plant.numbers
    steps = round(UNTIL / STEP)
    state = {"x": 0.1, "xd": 0.0, "xt": 0.2, "xc": 0.0, "r": 0.0, "xs": 0.0, "T": 0.4, "a": 0.0}
    z = np.array([np.full(n, state[name]) for name in STATES])
    past, s, on, count = np.empty((steps + 1, n)), np.zeros(n), np.zeros(n, dtype=bool), np.zeros(n)
    order, rows = {name: k for k, name in enumerate(STATES)}, {name: np.empty((steps + 1, n)) for name in plant.shown}
    before, cells = np.arange(n) - 1, np.arange(n)
    lag, ticks = p["tau"] / STEP, np.round(p["period"] / STEP).astype(int)

    def slopes(k: int, fraction: int, z: np.ndarray) -> np.ndarray:
        x, u = z[0], plant.u(k * STEP + 1e-9) if not fraction else plant.u((k + 1) * STEP - 1e-9)
        place = np.maximum(k + fraction - lag, 0.0)
        low = np.minimum(place.astype(int), k)
        late = past[low, cells]
        late = late + (place - low) * (past[np.minimum(low + 1, k), cells] - late)
        d = np.zeros_like(z)
        d[0] = p["k"] * (u + 0.3 * x[before] - x)
        d[order["xd"]] = late - z[order["xd"]]
        d[order["xt"]] = u - _table(z[order["xt"]])
        d[order["xc"]] = np.maximum(x - z[order["xc"]], 0.0) - 0.2 * z[order["xc"]]
        d[order["r"]] = p["rate"] + 0.1 * x
        d[order["xs"]] = s - z[order["xs"]]
        d[order["T"]] = np.where(on, p["P"], 0.0) - 0.5 * z[order["T"]] + 0.05 * x
        d[order["a"]] = (x + u - 2 * z[order["a"]]) / (3 * p["C"])
        return d

    last = z
    for k in range(steps + 1):
        past[k] = z[0]
        r, T = z[order["r"]], z[order["T"]]  # what these passed, they passed a share of a step ago
        over, since = r > p["level"], _share(r - p["level"], r - last[order["r"]])
        z[order["r"]], count = np.where(over, 0.1 + since * (r - last[order["r"]]), r), count + over
        if k:
            s = np.where(k % ticks == 0, z[0], s)
        off, begun = on & (T > p["high"]), ~on & (T < p["low"])
        since = _share(T - np.where(on, p["high"], p["low"]), T - last[order["T"]])
        z[order["T"]] = T + (begun * 1.0 - off) * p["P"] * since * STEP
        on = (on & ~off) | begun
        t, u = k * STEP, plant.u(k * STEP + 1e-9)
        for name in rows:
            if name in order:
                rows[name][k] = z[order[name]]
        if "loop" in f:
            rows["y"][k] = _loop(u + z[0], p["a0"])
        if "position" in f:
            rows["F"][k] = -p["m"] * p["w"] ** 2 * np.sin(p["w"] * t)
        if "pair" in f:
            rows["q"][k] = p["C"] * slopes(k, 0, z)[order["a"]] - z[0] + z[order["a"]]
        if "reset" in f:
            rows["count"][k] = count
        if "sample" in f:
            rows["s"][k] = s
        if k < steps:
            first, last = slopes(k, 0, z), z
            z = z + 0.5 * STEP * (first + slopes(k, 1, z + STEP * first))
    return rows


def _table(x: np.ndarray) -> np.ndarray:
    """`POINTS`, which goes on straight beyond its ends."""
    place = np.clip(np.searchsorted(POINTS.x, x), 1, len(POINTS.x) - 1)
    left, right = np.asarray(POINTS.x)[place - 1], np.asarray(POINTS.x)[place]
    low, high = np.asarray(POINTS.y)[place - 1], np.asarray(POINTS.y)[place]
    return low + (x - left) * (high - low) / (right - left)


def _share(beyond: np.ndarray, step: np.ndarray) -> np.ndarray:
    return np.divide(beyond, step, out=np.zeros_like(step), where=step != 0)


def _loop(right: np.ndarray, a: np.ndarray) -> np.ndarray:
    y = right.copy()
    for _ in range(60):
        y = y - (y + a * np.tanh(y) - right) / (1 + a / np.cosh(y) ** 2)
    return y


# --- ways to compute it ---------------------------------------------------------------------------------------------------------


def _told(result: Any, form: str, plant: Plant) -> dict[str, np.ndarray]:
    """Values at `_times`, by name, one column for each cell."""
    rows = np.searchsorted(result.time, _times() + 1e-12) - 1

    def path(k: int) -> str:
        return f"pair[{k // 2}].{('one', 'other')[k % 2]}" if form == "composites" else f"cell[{k}]"

    return {
        name: np.stack([np.asarray(result[f"{path(k)}.{name}"], dtype=float)[rows] for k in range(plant.count)], axis=1)
        for name in plant.shown
    }


def _times() -> np.ndarray:
    return np.append(np.arange(0.0, UNTIL, 0.0511) + 0.0007, UNTIL)


def _in_parts(model: Any, rng: np.random.Generator, u: Any) -> Any:
    """A session over all times, which goes too far now and then and comes back."""
    session, times = model.start(inputs={"u": u}, rtol=1e-8), _times()
    for k, t in enumerate(times):
        if rng.random() < 0.05:
            saved = session.save()
            session.advance(float(times[min(k + int(rng.integers(1, 9)), len(times) - 1)]))
            session = session.restore(saved)
        session.advance(float(t))
    return session.result()


def _runs(plant: Plant, seed: int) -> Iterator[tuple[str, str, Any]]:
    """Each way: what it is called, its form, its result."""
    rng, kind, options = np.random.default_rng(seed), cell_class(plant.features), {"until": UNTIL, "rtol": 1e-8, "at": _times()}
    held = ac.hold(plant.times, plant.values)
    objects, arrays = ac.compile(Objects(kind, plant.numbers)), ac.compile(Arrays(kind, plant.numbers))
    yield "objects, held", "objects", objects.simulate(inputs={"u": held}, **options)
    yield "objects, function", "objects", objects.simulate(inputs={"u": plant.u}, **options)
    yield "arrays, function", "arrays", arrays.simulate(inputs={"u": plant.u}, **options)
    composites = ac.compile(Composites(kind, plant.numbers))
    yield "composites, held", "composites", composites.simulate(inputs={"u": held}, **options)
    which, form, u = ((objects, "objects", plant.u), (composites, "composites", held), (arrays, "arrays", plant.u))[seed % 3]
    yield "session", form, _in_parts(which, rng, u)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "plant.acm"
        which.save(file)
        loaded = ac.load(file)
    yield "loaded", form, loaded.simulate(inputs={"u": u}, **options)
    yield "loaded, session", form, _in_parts(loaded, rng, u)
    yield "ms", form, which.simulate(inputs={"u": u}, **{**options, "until": f"{UNTIL * 1e3} ms"})


def check(seed: int) -> str:
    """ "run", or what is wrong with it."""
    plant = draw(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ac.ModelWarning)
        return _compared(plant, seed)


def _compared(plant: Plant, seed: int) -> str:
    first: dict[str, np.ndarray] | None = None
    for way, form, result in _runs(plant, seed):
        if not result.outcome.ok:
            return f"{way}: {result.outcome.name} at {result.time[-1]:g}, {sorted(plant.features)}: {result.diagnostics}"
        told = _told(result, form, plant)
        if first is None:
            first, calm = told, _calm(result)
            wrong = _against(told, {n: v[_nearest()] for n, v in opinion(plant).items()}, calm, 0.02)
        else:
            wrong = _against(told, first, calm, 2e-6)
        if wrong:
            return f"{way}: {wrong}, {sorted(plant.features)}"
    return "run"


def _nearest() -> np.ndarray:
    return np.round(_times() / STEP).astype(int)


def _calm(result: Any) -> np.ndarray:
    """Times that are not right at an event."""
    events = np.array([*(event.time for event in result.events), -1.0])
    return np.abs(_times()[:, None] - events).min(axis=1) > 5e-3


def _against(told: dict[str, np.ndarray], wanted: dict[str, np.ndarray], calm: np.ndarray, tolerance: float) -> str:
    for name, values in wanted.items():
        apart = np.abs(told[name] - values)[calm]
        if len(apart) and apart.max() > tolerance * max(1.0, np.abs(values).max()):
            k, cell = np.unravel_index(int(apart.argmax()), apart.shape)
            t = _times()[calm][k]
            return f"{name} of cell {cell} is {told[name][calm][k, cell]:.9g} at {t:g}, not {values[calm][k, cell]:.9g}"
    return ""
