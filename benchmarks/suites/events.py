"""Events: switching times against closed forms, the cost of an event against C restarting the same problem, clocks.

Each record has what was reached and, as `bar`, what is asked for; `ratio` is the one over the other, or our seconds over those of C
(`ratio_tuned`: over those of C with its own vector operations, as in `limit`). The rooms are those of ``c/rooms.c``.
"""

from __future__ import annotations

import json
import math
import subprocess
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

import acausal as ac
from benchmarks import compiled, ours

SIZES = [10, 100, 1_000]  # rooms
ROUNDS = 3
DAY = 86400.0
LONG_RUN = 1_000  # days of a single room: 14 000 events, and nothing but events
CROSSINGS = 10_000
FIRST_STEPS = (0.3, 1.0)  # of a restart, in steps before the event
TIGHT = 1e-12  # rtol where times of events are compared with closed forms
Record = dict[str, Any]
Statements = Iterator[Any]


def run(sizes: list[int] | None = None) -> Iterator[Record]:
    """`sizes`: numbers of rooms; with it only the rooms are run. `n` is the number of rooms, clocks, relations or events."""
    reason = ours.why_not()
    if reason is not None:
        yield _record("events", 0) | {"message": reason}
        return
    if sizes is None:
        for part in (
            _clock_patterns, _clocked_counters, _argesim_c5, _bouncing_ball, _thermostat, _modelica_examples, _graetz, _together,
            _chattering, _one_room, _reacting_cells, _bouncing_balls, _firing_cells,
        ):  # fmt: skip
            yield from _guarded(part)
    for n in sizes or SIZES:
        yield from _guarded(lambda n=n: _rooms(n, days=1), "rooms", n)
    if sizes is None:
        yield from _guarded(_larger_first_steps)


def _record(case: str, n: int, seconds: float | None = None, ratio: float | None = None) -> Record:
    return {"suite": "events", "case": case, "n": n, "seconds": seconds, "ratio": ratio}


def _guarded(part: Callable[[], Iterator[Record]], case: str = "", n: int = 0) -> Iterator[Record]:
    """The first line of the message where a part cannot be done: the others are still of interest."""
    try:
        yield from part()
    except (ac.AcausalError, compiled.NoReference) as failure:
        yield _record(case or part.__name__.strip("_").replace("_", " "), n) | {"message": str(failure).splitlines()[0]}


def _switching(case: str, result: Any, exact: np.ndarray, bar: float, relative: bool = True) -> Record:
    """The largest error of the times of events, which are to be as many as there are exact ones."""
    record = _record(case, len(exact), result.statistics.seconds["integration"])
    record |= {"rtol": TIGHT, "steps": result.statistics.steps}
    found = np.asarray(result.events.times)
    if result.outcome.name != "FINISHED":
        return record | {"message": result.outcome.value}
    if len(found) != len(exact):
        return record | {"message": f"{len(found)} events, there are {len(exact)}"}
    error = float(np.abs((found - exact) / (exact if relative else 1.0)).max())
    return record | {"reached": error, "bar": bar, "ratio": error / bar}


# --- clocks ---------------------------------------------------------------------------------------------------------------

CLOCKS = {"2 and 3": ((2.0, 3.0), 1.0, 6.0), "0.1, 0.5 and 0.35": ((0.1, 0.5, 0.35), 0.05, 3.5)}


def _ticks(periods: tuple[float, ...], base: float) -> list[tuple[int, tuple[int, ...]]]:
    """The pattern by counting base ticks, with a modulo for each clock (Nikoukhah and Furic)."""
    steps = [round(period / base) for period in periods]
    ticking = [(m, tuple(i for i, step in enumerate(steps) if m % step == 0)) for m in range(math.lcm(*steps))]
    return [(m, clocks) for m, clocks in ticking if clocks]


def _clock_patterns() -> Iterator[Record]:
    from acausal.runtime.clocks import Clocks

    for name, (periods, base, period) in CLOCKS.items():
        begin = time.perf_counter()
        clocks = Clocks(np.zeros(len(periods)), periods)
        exact = (clocks.base, clocks.period) == (base, period) and clocks.pattern() == _ticks(periods, base)
        record = _record(f"clocks {name}", len(periods), time.perf_counter() - begin)
        yield record | {"base": clocks.base, "period": clocks.period, "active": len(clocks.pattern()), "exact": exact}


class Counter(ac.Component):
    """Counts the ticks of its clock."""

    period = ac.Parameter(1.0, unit="s")
    n = ac.Integer(start=0)
    x = ac.Variable(start=0.0, fixed=True)

    def equations(self) -> Statements:
        yield ac.der(self.x) == 0

    def events(self) -> Statements:
        yield ac.when(ac.sample(0.0, self.period), ac.assign(self.n, ac.pre(self.n) + 1))


def _clocked_counters() -> Iterator[Record]:
    """The same patterns in a run: times of events to the last bit, and who counted how often. A tick at 0 is part of the start."""
    turns = 100
    for name, (periods, base, period) in CLOCKS.items():
        result = ac.compile(Counters(periods)).simulate(until=turns * period - 0.5 * base, points=2)
        pattern, exact_base = _ticks(periods, base), Fraction(repr(base))
        ticks = [turn * round(period / base) + m for turn in range(turns) for m, _ in pattern]
        counts = [turns * sum(i in clocks for _, clocks in pattern) for i in range(len(periods))]
        exact = result.events.times.tolist() == [float(m * exact_base) for m in ticks if m > 0]
        exact = exact and np.asarray(result["counter.n"])[-1].tolist() == counts
        record = _record(f"clocks {name}, run", len(periods), result.statistics.seconds["integration"])
        yield record | {"events": len(result.events), "exact": exact}


class Counters(ac.Component):
    def __init__(self, periods: tuple[float, ...]) -> None:
        self.counter = ac.array(Counter, len(periods), period=np.array(periods))


# --- switching times with a closed form ---------------------------------------------------------------------------------------


class TwoStateModel(ac.Component):
    """ARGESIM C5: a stiff linear system whose constants change at 5.8 and 2.5."""

    c1, c3 = ac.Parameter(2.7e6), ac.Parameter(3.5651205)
    y1 = ac.Variable(start=4.2, fixed=True)
    y2 = ac.Variable(start=0.3, fixed=True)
    rising = ac.Boolean(start=True)

    def equations(self) -> Statements:
        c2, c4 = ac.where(self.rising, 0.4, -0.3), ac.where(self.rising, 5.5, 2.73)
        yield ac.der(self.y1) == self.c1 * (self.y2 + c2 - self.y1)
        yield ac.der(self.y2) == self.c3 * (c4 - self.y2)

    def events(self) -> Statements:
        yield ac.when(self.y1 >= 5.8, ac.assign(self.rising, False)).elsewhen(self.y1 <= 2.5, ac.assign(self.rising, True))


def two_state_times(count: int) -> np.ndarray:
    """Switching times: y1 = c2 + c4 + B exp(-c3 t) + D exp(-c1 t) in each phase, where the last term is soon gone."""
    c1, c3, y1, y2, t, times = 2.7e6, 3.5651205, 4.2, 0.3, 0.0, []
    for k in range(count):
        c2, c4, limit = (0.4, 5.5, 5.8) if k % 2 == 0 else (-0.3, 2.73, 2.5)
        slow = (y2 - c4) * c1 / (c1 - c3)
        fast = y1 - c2 - c4 - slow
        lasts = math.log(slow / (limit - c2 - c4)) / c3
        assert abs(fast) * math.exp(-min(c1 * lasts, 700.0)) < 1e-200
        y1, y2, t = limit, c4 + (y2 - c4) * math.exp(-c3 * lasts), t + lasts
        times.append(t)
    return np.array(times)


def _argesim_c5() -> Iterator[Record]:
    result = ac.compile(TwoStateModel()).simulate(until=5.0, rtol=TIGHT, points=2)
    exact = two_state_times(5)
    yield _switching("ARGESIM C5", result, exact, 2e-9, relative=False)
    if len(result.events):
        last = float(result.events.times[-1])
        yield _record("ARGESIM C5, published", 1) | {"reached": abs(last - 4.999999646), "bar": 2e-9, "last": last}


class Ball(ac.Component):
    e = ac.Parameter(0.7)
    g = ac.Parameter(9.81, unit="m/s2")
    h = ac.Variable(unit="m", start=1.0, fixed=True)
    v = ac.Variable(unit="m/s", start=0.0, fixed=True)

    def equations(self) -> Statements:
        yield ac.der(self.h) == self.v
        yield ac.der(self.v) == -self.g

    def events(self) -> Statements:
        yield ac.when(self.h <= 0, ac.reinit(self.v, -self.e * ac.pre(self.v)))


def _bouncing_ball() -> Iterator[Record]:
    """Bounce k is at t_1 (1 + 2 (e + … + e^k)), k = 0, 1, …; the run ends between two bounces."""
    falls = 1.0 + 2.0 * np.cumsum(np.append(0.0, 0.7 ** np.arange(1, 16)))
    times = math.sqrt(2.0 / 9.81) * falls
    result = ac.compile(Ball()).simulate(until=0.5 * (times[-2] + times[-1]), rtol=TIGHT, points=2)
    yield _switching("bouncing ball", result, times[:-1], 1e-8)


class Thermostat(ac.Component):
    """A room that loses heat in proportion to its excess temperature."""

    tau = ac.Parameter(3600.0, unit="s")
    T_out, T_hot = ac.Parameter(273.15, unit="K"), ac.Parameter(313.15, unit="K")
    low, high = ac.Parameter(293.15, unit="K"), ac.Parameter(295.15, unit="K")
    T = ac.Variable(unit="K", start=294.15, fixed=True)
    on = ac.Boolean(start=False)

    def equations(self) -> Statements:
        yield self.tau * ac.der(self.T) == ac.where(self.on, self.T_hot, self.T_out) - self.T

    def events(self) -> Statements:
        yield ac.when(self.T < self.low, ac.assign(self.on, True)).elsewhen(self.T > self.high, ac.assign(self.on, False))


def _thermostat() -> Iterator[Record]:
    """Cooling from high to low takes tau ln((high - T_out) / (low - T_out)), heating the same with T_hot."""
    first, cooling = 3600.0 * math.log(21.0 / 20.0), 3600.0 * math.log(22.0 / 20.0)
    heating = 3600.0 * math.log(20.0 / 18.0)
    times = np.cumsum([first, *[heating, cooling] * 50])
    result = ac.compile(Thermostat()).simulate(until=0.5 * (times[-2] + times[-1]), rtol=TIGHT, points=2)
    yield _switching("thermostat", result, times[:-1], 1e-8)


# --- many at once -----------------------------------------------------------------------------------------------------------


class Ramp(ac.Component):
    x = ac.Variable(start=0.0, fixed=True)
    high = ac.Boolean(start=False)

    def equations(self) -> Statements:
        yield ac.der(self.x) == ac.where(self.high, -1.0, 1.0)

    def events(self) -> Statements:
        yield ac.when(self.x > 1.0, ac.assign(self.high, True))


class Ramps(ac.Component):
    def __init__(self, n: int) -> None:
        self.ramp = ac.array(Ramp, n)


def _together() -> Iterator[Record]:
    """Relations that all change at t = 1."""
    model = ac.compile(Ramps(CROSSINGS))
    result = model.simulate(until=1.5, points=2)
    after = int((np.asarray(result["ramp.high"])[-1] > 0.5).sum())
    record = _record("crossing together", CROSSINGS, result.statistics.seconds["integration"])
    yield record | {"events": len(result.events), "bar": 1, "switched": after, "end": float(result["ramp[0].x"][-1])}


REACTING = (250, 1_000, 4_000, 8_000)  # cells, each with one event at a time of its own
SLOPE = 1.2


class Cell(ac.Component):
    """Grows until it has reached 1, and decays from then on."""

    rate = ac.Parameter(1.0)
    x = ac.Variable(start=0.0, fixed=True)
    full = ac.Boolean(False)

    def equations(self) -> Statements:
        yield ac.der(self.x) == ac.where(self.full, -self.x, self.rate)

    def events(self) -> Statements:
        yield ac.when(self.x > 1.0, ac.assign(self.full, True))


class Cells(ac.Component):
    def __init__(self, n: int) -> None:
        self.cell = ac.array(Cell, n, rate=np.linspace(1.0, 10.0, n))


def _reacting_cells() -> Iterator[Record]:
    """n events that each change the equation of one of n cells: what they cost in all, and how that grows with n."""

    def exact(n: int, times: np.ndarray) -> np.ndarray:
        rates = np.linspace(1.0, 10.0, n)
        return np.where(times[:, None] * rates < 1.0, rates * times[:, None], np.exp(1 / rates - times[:, None]))

    yield from _growing("reacting cells", Cells, "cell.x", exact)


class Balls(ac.Component):
    def __init__(self, n: int) -> None:
        self.ball = ac.array(Ball, n, h=ac.start(np.linspace(1.0, 10.0, n)))


def _bouncing_balls() -> Iterator[Record]:
    """The same with events that set a state: one to five bounces of each ball."""

    def exact(n: int, times: np.ndarray) -> np.ndarray:
        g, e = 9.81, 0.7
        first = np.sqrt(2 * np.linspace(1.0, 10.0, n) / g)
        speed, begin, heights = g * first, first, np.linspace(1.0, 10.0, n) - 0.5 * g * times[:, None] ** 2
        for _ in range(10):
            speed, since = e * speed, times[:, None] - begin
            heights = np.where(since >= 0, speed * since - 0.5 * g * since**2, heights)
            begin = begin + 2 * speed / g
        return heights

    yield from _growing("bouncing balls", Balls, "ball.h", exact)


class Firing(ac.Component):
    """Integrates, leaks, and begins anew at 1."""

    rate = ac.Parameter(2.0)
    v = ac.Variable(start=0.0, fixed=True)

    def equations(self) -> Statements:
        yield ac.der(self.v) == self.rate - self.v

    def events(self) -> Statements:
        yield ac.when(self.v > 1.0, ac.reinit(self.v, 0.0))


class FiringCells(ac.Component):
    def __init__(self, n: int) -> None:
        self.cell = ac.array(Firing, n, rate=np.linspace(2.0, 4.0, n))


def _firing_cells() -> Iterator[Record]:
    """The same with leaky cells; what is next to a time of firing is not compared."""

    def exact(n: int, times: np.ndarray) -> np.ndarray:
        rates = np.linspace(2.0, 4.0, n)
        period = np.log(rates / (rates - 1))
        phase = times[:, None] % period
        clear = np.minimum(phase, period - phase) > 1e-4
        return np.where(clear, rates * (1 - np.exp(-phase)), np.nan)

    yield from _growing("firing cells", FiringCells, "cell.v", exact)


def _growing(
    case: str, plant: Callable[[int], ac.Component], path: str, exact: Callable[[int, np.ndarray], np.ndarray]
) -> Iterator[Record]:
    """Runs of 2 s with n components, the largest error, and the slope of what they cost the processor, at the least."""
    seconds = {}
    for n in REACTING:
        model, costs = ac.compile(plant(n)), []
        for _ in range(ROUNDS):
            begin = time.process_time()
            result = model.simulate(until=2.0, points=11)
            costs.append(time.process_time() - begin)
        seconds[n] = min(costs)
        record = _record(case, n, seconds[n]) | {"events": len(result.events), "steps": result.statistics.steps}
        record["restarts"] = result.statistics["restarts"]
        yield record | {"error": float(np.nanmax(np.abs(np.asarray(result[path]) - exact(n, result.time))[_ends(result)]))}
    low, high = min(seconds), max(seconds)
    slope = math.log(seconds[high] / seconds[low]) / math.log(high / low)
    yield _record(f"{case}, slope", high) | {"slope": slope, "bar": SLOPE, "ratio": slope / SLOPE, "ok": slope <= SLOPE}


def _ends(result: ac.Result) -> np.ndarray:
    """Rows that are no event's: at an event it is known to a rounding only on which side of it a row is."""
    return np.flatnonzero(~np.isin(result.time, result.events.times))


# --- published trajectories, ideal switches, chattering ----------------------------------------------------------------------


def _modelica_examples() -> Iterator[Record]:
    """Trajectories over the whole published file, in parts of each signal's range, and switching times."""
    from benchmarks.structure.msl import FOLDER, trajectories
    from benchmarks.switching import ControlledTemperature, CoupledClutches, exact_switching

    clutches = ("J1.w", *(f"clutch{k}.w_rel" for k in (1, 2, 3)))
    cases: tuple[tuple[str, ac.Component, float, tuple[str, ...], tuple[tuple[str, str], ...]], ...] = (
        ("CoupledClutches", CoupledClutches(), 1.5, clutches, tuple((f"clutch{k}.mode", f"clutch{k}.mode") for k in (1, 2, 3))),
        (
            "ControlledTemperature",
            ControlledTemperature(),
            10.0,
            ("heatCapacitor.T",),
            (("onOffController.y", "onOffController.y"),),
        ),
    )
    for name, component, until, signals, switches in cases:
        if not FOLDER.is_dir():
            yield _record(name, 0) | {"message": "the published trajectories are not beside the project"}
            continue
        published = trajectories(name)
        step = np.diff(published["time"]) > 0
        between = np.append(True, step) & np.append(step, True)
        times = published["time"][between]
        result = ac.compile(component).simulate(until=until, at=times, rtol=1e-8)
        stored = np.searchsorted(result.time, times, side="right") - 1
        worst = max(np.abs(result[s][stored] - published[s][between]).max() / np.ptp(published[s]) for s in signals)
        yield _record(name, len(result.events), ratio=worst / 2e-3) | {"reached": float(worst), "bar": 2e-3}
        theirs = np.unique(
            np.concatenate([_switched(published["time"], published[column]) for _, column in switches if column in published])
        )
        ours_at = np.array(sorted({t for path, _ in switches for t in _switched(result.time, result[path])}))
        if len(theirs) and len(theirs) == len(ours_at):
            exact = exact_switching() if name == "ControlledTemperature" else theirs  # that file's own times are off by 1.2e-3 s
            apart, published_apart = (float(np.abs(times - exact).max()) for times in (ours_at, theirs))
            found = {"reached": apart, "published": published_apart, "bar": 1e-4}
            yield _record(f"{name}, switching", len(theirs), ratio=apart / 1e-4) | found


def _switched(times: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Times at which a discrete signal changes; of two rows at one time the later."""
    return times[1:][np.abs(np.diff(values)) > 0.5]


def _graetz() -> Iterator[Record]:
    """The rectifier with both formulations of an exact diode: largest difference of any current."""
    from acausal.library import switching
    from benchmarks.switching import Graetz

    at = np.linspace(0.0, 0.06, 301)[1:] - 1.7e-6
    results = [
        ac.compile(Graetz(diode)).simulate(until=0.06, rtol=1e-9, at=at)
        for diode in (lambda: switching.IdealDiode(Ron=0.0, Goff=0.0), switching.SwitchedDiode)
    ]
    rows = [np.searchsorted(r.time, at) for r in results]
    names = ("d1.i", "d2.i", "d3.i", "d4.i", "source.i", "load.i", "C.i")
    apart = max(float(np.abs(results[0][n][rows[0]] - results[1][n][rows[1]]).max()) for n in names)
    yield _record("Graetz, two formulations", len(results[1].events), ratio=apart / 1e-6) | {"reached": apart, "bar": 1e-6}


class _Relay(ac.Component):
    """Both sides drive back to x = 0: it chatters from t = 0.5; sliding, a third of the first branch holds it there until t = 3."""

    x, z = ac.Variable(start=1.0, fixed=True), ac.Variable(start=0.0, fixed=True)

    def equations(self) -> Statements:
        yield ac.der(self.x) == ac.where(self.x > 0, -2.0, 1.0) + ac.where(ac.time > 3.0, 3.0, 0.0)
        yield ac.der(self.z) == ac.where(self.x > 0, 1.0, 0.0)


def _chattering() -> Iterator[Record]:
    """Seconds until chattering is explained; and the error of the solution that slides, and leaves when it should."""
    model = ac.compile(_Relay())
    begin = time.perf_counter()
    result = model.simulate(until=5.0)
    seconds = time.perf_counter() - begin
    explained = result.outcome is ac.Outcome.CHATTERING and "x > 0" in str(result.diagnostics[0])
    yield _record("chattering, explained", int(result.statistics.events), seconds, seconds / 2.0) | {
        "reached": explained,
        "bar": 2.0,
    }
    slid = model.simulate(until=5.0, sliding="filippov", rtol=1e-8)
    exact = np.array([2.0, 0.5 + 2.5 / 3.0 + 2.0])
    error = float(np.abs(np.array([slid["x"][-1], slid["z"][-1]]) - exact).max())
    yield _record("chattering, slides", len(slid.events), ratio=error / 1e-6) | {"reached": error, "bar": 1e-6}


# --- rooms, against C -------------------------------------------------------------------------------------------------------


class Room(ac.Component):
    C = ac.Parameter(9e6, unit="J/K")
    G = ac.Parameter(100.0, unit="W/K")
    P = ac.Parameter(4400.0, unit="W")
    low, high = ac.Parameter(293.15, unit="K"), ac.Parameter(295.15, unit="K")
    T_out = ac.Input(unit="K")
    T = ac.Variable(unit="K", start=294.15, fixed=True, nominal=1.0)  # so that the absolute tolerance is that of the C program
    on = ac.Boolean(start=False)

    def equations(self) -> Statements:
        yield self.C * ac.der(self.T) == self.G * (self.T_out - self.T) + ac.where(self.on, self.P, 0.0)

    def events(self) -> Statements:
        yield ac.when(self.T < self.low, ac.assign(self.on, True)).elsewhen(self.T > self.high, ac.assign(self.on, False))


class Weather(ac.Component):
    T = ac.Output(unit="K")

    def equations(self) -> Statements:
        yield self.T == 273.15 + 5.0 * ac.sin(2 * math.pi / DAY * ac.time)


class Rooms(ac.Component):
    """n rooms with the parameters of ``c/rooms.c``."""

    def __init__(self, n: int) -> None:
        i = np.arange(n)
        a, b, c = (factor * i % modulus / modulus for factor, modulus in ((7919, 10007), (4801, 10009), (3571, 9973)))
        low = 293.15 + c
        high = low + 1.5 + a
        start = low + (high - low) * (0.05 + 0.9 * b)
        values = {"C": 8e6 + 2e6 * a, "G": 90.0 + 20.0 * b, "P": 4000.0 + 800.0 * c, "low": low, "high": high}
        self.weather = Weather()
        self.room = ac.array(Room, n, T=ac.start(start), on=ac.modify(value=i % 2 == 1), **values)

    def connections(self) -> Statements:
        yield self.weather.T, self.room.T_out


def c_rooms(n: int, days: int, repeats: int = 1, **options: Any) -> Record:
    """The record of the C program: seconds (best of the repeats), events, steps and check values."""
    command = [str(compiled.build("rooms")), str(n), str(repeats), "--days", str(days)]
    for name, value in options.items():
        command += [f"--{name.replace('_', '-')}", str(value)]
    record: Record = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return record


def _rooms(n: int, days: int, case: str = "rooms") -> Iterator[Record]:
    """Seconds of an event, integration between events included. The sides take turns; best of each."""
    model = ac.compile(Rooms(n))
    plain, tuned, results = [], [], []
    repeats = max(1, min(10, 1_000 // (n * days)))
    for _ in range(ROUNDS):
        plain.append(c_rooms(n, days, repeats))
        tuned.append(c_rooms(n, days, repeats, vectors="tuned"))
        results += [model.simulate(until=days * DAY, points=ours.OUTPUT_POINTS, rtol=1e-6) for _ in range(repeats)]
    result = results[0]
    if result.outcome.name != "FINISHED":
        yield _record(case, n) | {"message": result.outcome.value}
        return
    seconds = min(entry.statistics.seconds["integration"] for entry in results)
    per_event = seconds / max(1, len(result.events))
    of_c, of_tuned = (min(entry["seconds"] / entry["events"] for entry in entries) for entries in (plain, tuned))
    record = _record(case, n, seconds, per_event / of_c)
    record |= {"bar": 3.0, "ratio_tuned": per_event / of_tuned, "events": len(result.events), "c_events": plain[0]["events"]}
    record |= {"event_us": 1e6 * per_event, "c_event_us": 1e6 * of_c, "c_tuned_event_us": 1e6 * of_tuned}
    record |= {"steps": result.statistics.steps, "c_steps": plain[0]["steps"], "rows": len(result.time)}
    ends = np.asarray(result["room.T"])[-1]
    yield record | {"sum": float(ends.sum()), "c_sum": plain[0]["sum"], "last": float(ends[-1]), "c_last": plain[0]["last"]}


def _one_room() -> Iterator[Record]:
    yield from _rooms(1, LONG_RUN, "cost of an event")


def _larger_first_steps() -> Iterator[Record]:
    """How far a cheaper restart could get: C that starts at order 1 with the step it had before the event, or a part of it."""
    n = SIZES[-1]
    exact = c_rooms(n, 1, vectors="tuned", tolerance=1e-9)
    for first_step in (0.0, *FIRST_STEPS):
        runs = [c_rooms(n, 1, vectors="tuned", first_step=first_step) for _ in range(ROUNDS)]
        seconds = min(entry["seconds"] for entry in runs)
        record = _record("C, first step of a restart", n, seconds) | {"first_step": first_step, "steps": runs[0]["steps"]}
        error = abs(runs[0]["last"] - exact["last"])
        yield record | {"event_us": 1e6 * seconds / runs[0]["events"], "error": error}
