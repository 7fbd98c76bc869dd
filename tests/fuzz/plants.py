"""Random hybrid plants in which events change few of many unknowns, against runs that restart at every event.

Rooms with heaters and controls of several kinds stand in a row, with walls of no, little or much conductance between them. Beside
them stands what makes events of another sort: balls that bounce, clocks, tables, inputs, delays, slabs that share a temperature,
twins that switch at one instant, limits that move, pulses. The same model runs with events within steps and with restarts, both at
the same tolerance, and once more at a tight one; the first may not be much worse than the second. A few tens of tolerances are
what they are with any solver: an error before a switch is multiplied by the ratio of the slopes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import acausal as ac
from acausal.runtime.events import native

from .second_look import FINER, SHRINKS

Statements = Iterator[Any]
UNTIL, POINTS = 0.8, 9
CONTROLS = ("when", "equation", "states", "kink", "nested", "jump", "integral")
HEATERS = ("explicit", "loop", "implicit", "pair")
EXTRAS = ("masts", "ramps", "twins", "contacts", "resets", "assertions", "knees", "after", "loops", "wobble", "counters", "pulses")
WATCHED = (
    "mast.seconds", "mast.x", "ramp.y", "twin.x", "contact.x", "contact.v", "reset.x", "reset.y", "after.x", "loop.x", "wobble.x",
    "counter.x", "pulse.x",
)  # fmt: skip
BESIDE = ("balls", "clock", "table", "hold", "function", "delay", "rigid", "chain", "sum", "meters", "counts", *EXTRAS)
RESTARTS = ("balls", "delay", "rigid", "counts")  # with these, all events are for everybody


@dataclass(frozen=True)
class Plan:
    """What a plant is made of."""

    seed: int
    rooms: int
    control: str
    heater: str
    wall: float
    beside: frozenset[str]
    rtol: float

    @classmethod
    def draw(cls, seed: int) -> Plan:
        rng = np.random.default_rng(seed)
        beside = frozenset(str(b) for b in BESIDE if rng.random() < (0.05 if b in RESTARTS else 0.2))
        wall = float(rng.choice([0.0, 0.03, 0.3, 3.0, 300.0]))
        rtol = float(rng.choice([1e-5, 1e-6, 1e-7]))
        return cls(seed, int(rng.integers(64, 90)), str(rng.choice(CONTROLS)), str(rng.choice(HEATERS)), wall, beside, rtol)


class Room(ac.Component):
    """The temperature of a room, with a control of some kind and a heater of some kind."""

    C, P, low, high, loss = (ac.Parameter(v) for v in (1.0, 3.0, 1.0, 1.2, 0.7))
    T, h, e = ac.Variable(start=1.1, fixed=True), ac.Variable(), ac.Variable()
    q, outside, before, shift = ac.Input(0.0), ac.Input(0.0), ac.Input(0.0), ac.Input(0.0)

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.on = ac.Boolean(False)
        if plan.control == "states":
            self.s = ac.States("off", "low", "high", initial="off")
        if plan.heater == "pair":
            self.g = ac.Variable()
        if "meters" in plan.beside:
            self.energy, self.seconds = (ac.Variable(start=0.0, fixed=True) for _ in range(2))
        if "counts" in plan.beside:
            self.count, self.last = ac.Integer(0), ac.Discrete(0.0)
        if plan.control == "integral":
            self.i = ac.Variable(start=0.0, fixed=True)

    def power(self) -> Any:
        """What the heater is told to give."""
        T, P, low, high, control = self.T, self.P, self.low + self.shift, self.high + self.shift, self.plan.control
        if control == "states":
            return ac.match(self.s, off=0.0, low=0.5 * P, high=P)
        if control == "kink":
            return P * ac.max(high - T, 0.0) * 4 + ac.min(T - low, 0.0)
        if control == "nested":
            rest = ac.where(self.e > 0.6 * P, 0.2 * P, 0.9 * P * (high - T) / (high - low))
            return ac.where(T < high, ac.where(T < low, P, rest), 0.0)
        if control == "integral":
            return ac.min(ac.max(4 * (low - T) + 2 * self.i, 0.0), P)
        return ac.where(self.on, P, 0.0) * (1 + 0.1 * T)

    def equations(self) -> Statements:
        plan, T, h = self.plan, self.T, self.h
        if plan.heater == "explicit":
            yield h == self.power()
        elif plan.heater == "loop":
            yield h + 0.01 * h**3 == self.power()
        elif plan.heater == "implicit":
            yield h + 0.2 * ac.tanh(h - T) == self.power()
        else:
            yield h + 0.3 * self.g == self.power()
            yield self.g + 0.1 * self.g**3 == 0.2 * h + 0.1 * T
        yield self.C * ac.der(T) == self.q + h - self.loss * (T - self.outside)
        yield self.e == 0.5 * T + ac.where(self.on, 0.3, 0.0) * ac.sin(ac.time)
        low, high = self.low + self.shift, self.high + self.shift
        if plan.control == "equation":
            yield self.on == (T < low) | (ac.pre(self.on) & (T < high))
        elif plan.control == "jump":
            yield self.on == (T + 0.02 * h < low) | (ac.pre(self.on) & (T - 0.02 * h < high))
        elif plan.control in ("states", "kink", "nested", "integral"):
            yield self.on == (T < 0.5 * (low + high)) & (self.before < 5.0)
        if "meters" in plan.beside:
            yield ac.der(self.energy) == h
            yield ac.der(self.seconds) == ac.where(self.on, 1.0, 0.0)
        if plan.control == "integral":
            yield ac.der(self.i) == ac.where((h >= self.P) | (h <= 0.0), 0.0, low - T)

    def events(self) -> Statements:
        low, high = self.low + self.shift, self.high + self.shift
        if self.plan.control == "when":
            yield ac.when(self.T < low, ac.assign(self.on, True)).elsewhen(self.T > high, ac.assign(self.on, False))
        if "counts" in self.plan.beside:
            yield ac.when(self.on, ac.assign(self.count, ac.pre(self.count) + 1), ac.assign(self.last, self.T + 0.1 * self.h))

    def transitions(self) -> Statements:
        if self.plan.control == "states":
            low, high = self.low + self.shift, self.high + self.shift
            yield ac.transition(self.s, "off", "low", when=self.T < 0.7 * low + 0.3 * high)
            yield ac.transition(self.s, "low", "high", when=self.T < low)
            yield ac.transition(self.s, ("low", "high"), "off", when=self.T > high)


class Ball(ac.Component):
    h, v = ac.Variable(start=1.0, fixed=True), ac.Variable(start=0.0, fixed=True)

    def equations(self) -> Statements:
        yield ac.der(self.h) == self.v
        yield ac.der(self.v) == -9.81

    def events(self) -> Statements:
        yield ac.when(self.h < 0, ac.reinit(self.v, -0.9 * ac.pre(self.v)))


class Alarm(ac.Component):
    """Is on where its room is cold, or where the one before it is on and it is not warm: they go on in a row at once."""

    T, before, out, x = ac.Input(), ac.Input(0.0), ac.Output(), ac.Variable(start=0.0, fixed=True)
    limit = ac.Parameter(1.0)
    on = ac.Boolean(False)

    def equations(self) -> Statements:
        yield self.on == (self.T < self.limit) | ((self.before > 0.5) & (self.T < 1.15 * self.limit))
        yield self.out == ac.where(self.on, 1.0, 0.0)
        yield ac.der(self.x) == self.out - self.x


class Mast(ac.Component):
    limit, w = ac.Parameter(0.999), ac.Parameter(3.0)
    x, v, seconds = ac.Variable(start=0.0, fixed=True), ac.Variable(start=1.0, fixed=True), ac.Variable(start=0.0, fixed=True)

    def equations(self) -> Statements:
        yield ac.der(self.x) == self.w * self.v
        yield ac.der(self.v) == -self.w * self.x
        yield ac.der(self.seconds) == ac.where(self.x > self.limit, 1.0, 0.0)


class Ramp(ac.Component):
    """Switches at times that are among the output times."""

    at, x, y, full = ac.Parameter(1.0), ac.Variable(start=0.0, fixed=True), ac.Variable(start=0.0, fixed=True), ac.Boolean(False)

    def equations(self) -> Statements:
        yield ac.der(self.x) == 1.0
        yield self.full == (self.x > self.at)
        yield ac.der(self.y) == ac.where(self.full, -self.y, 2.0)


class Twin(ac.Component):
    """Several of these do the same at the same time."""

    x, on = ac.Variable(start=1.0, fixed=True), ac.Boolean(False)

    def equations(self) -> Statements:
        yield ac.der(self.x) == ac.where(self.on, 2.0, -self.x)
        yield self.on == (self.x < 0.8) | (ac.pre(self.on) & (self.x < 1.1))


class Contact(ac.Component):
    """A ball on a stiff spring, with friction that has a sign."""

    k, x, v, f = ac.Parameter(400.0), ac.Variable(start=0.3, fixed=True), ac.Variable(start=0.0, fixed=True), ac.Variable()

    def equations(self) -> Statements:
        yield ac.der(self.x) == self.v
        yield self.f + 0.001 * self.f**3 == ac.where(self.x < 0, -self.k * self.x - 2.0 * self.v, 0.0)
        yield ac.der(self.v) == self.f - 9.81 - 0.3 * ac.abs(self.v) * self.v


class Reset(ac.Component):
    """Starts again from where it is told."""

    rate, x, n, y = ac.Parameter(3.0), ac.Variable(start=0.0, fixed=True), ac.Integer(0), ac.Variable(start=0.0, fixed=True)

    def equations(self) -> Statements:
        yield ac.der(self.x) == self.rate
        yield ac.der(self.y) == ac.where(self.n > 2, -self.y, 1.0)

    def events(self) -> Statements:
        yield ac.when(self.x > 1, ac.reinit(self.x, 0.0), ac.assign(self.n, ac.pre(self.n) + 1))


class After(ac.Component):
    """Waits for some time in a state that it enters at a level."""

    T, s, x = ac.Input(), ac.States("idle", "busy", initial="idle"), ac.Variable(start=0.0, fixed=True)

    def equations(self) -> Statements:
        yield ac.der(self.x) == ac.match(self.s, idle=0.0, busy=1.0)

    def transitions(self) -> Statements:
        yield ac.transition(self.s, "idle", "busy", when=self.T < 1.05)
        yield ac.transition(self.s, "busy", "idle", after=0.07)


class Loop(ac.Component):
    """Two unknowns that depend on each other, with a switch that reads one of them, and a state that follows."""

    T, a, b, x, on = ac.Input(), ac.Variable(), ac.Variable(), ac.Variable(start=0.0, fixed=True), ac.Boolean(False)

    def equations(self) -> Statements:
        yield self.a + 0.3 * ac.tanh(self.b) == self.T + ac.where(self.on, 0.3, 0.0)
        yield self.b + 0.2 * self.a == ac.where(self.a > 1.0, 0.1 * (self.a - 1.0), 0.0)
        yield self.on == (self.b < -0.22) | (ac.pre(self.on) & (self.x < 0.9))
        yield ac.der(self.x) == 20 * (self.a - self.x)


class Wobble(ac.Component):
    """A limit that moves with time."""

    T, rate, x, on = ac.Input(), ac.Parameter(7.0), ac.Variable(start=0.0, fixed=True), ac.Boolean(False)

    def equations(self) -> Statements:
        yield self.on == (self.T < 1.05 + 0.1 * ac.sin(self.rate * ac.time))
        yield ac.der(self.x) == ac.where(self.on, 1.0, -self.x)


class Counter(ac.Component):
    """Counts what a neighbour does, and goes faster every time."""

    T, n, m, x = ac.Input(), ac.Integer(0), ac.Integer(0), ac.Variable(start=0.0, fixed=True)
    hot = ac.Boolean(False)

    def equations(self) -> Statements:
        yield self.hot == (self.T > 1.12) | (ac.pre(self.hot) & (self.T > 1.06))
        yield ac.der(self.x) == self.n + 0.1 * self.m - self.x

    def events(self) -> Statements:
        yield ac.when(ac.change(self.hot), ac.assign(self.n, ac.pre(self.n) + 1))
        yield ac.when(self.n > 2, ac.assign(self.m, ac.pre(self.m) + self.n))


class Pulse(ac.Component):
    """Two limits close to each other."""

    T, x, e = ac.Input(), ac.Variable(start=0.0, fixed=True), ac.Variable()

    def equations(self) -> Statements:
        yield self.e == ac.where(self.T > 1.1, ac.where(self.T < 1.101, 50.0, 1.0), 0.0)
        yield ac.der(self.x) == self.e - self.x


class Plant(ac.Component):
    outer = ac.Input(0.0)

    def __init__(self, plan: Plan) -> None:
        rng, n, beside = np.random.default_rng(plan.seed + 1), plan.rooms, plan.beside
        self.plan = plan
        low, high = rng.uniform(0.95, 1.05, n), rng.uniform(1.1, 1.3, n)
        start = ac.start(rng.uniform(1.06, 1.09, n))
        self.room = ac.array(Room, n, plan, C=rng.uniform(0.3, 3, n), P=rng.uniform(2, 4, n), T=start, low=low, high=high)
        if "balls" in beside:
            self.ball = ac.array(Ball, 2, h=ac.start(np.array([1.0, 0.7])))
        if "clock" in beside:
            self.held, self.ticks = ac.Discrete(0.0), ac.Integer(0)
        if "delay" in beside:
            self.late = ac.Variable()
        if "rigid" in beside:
            self.flow, self.slab = ac.Variable(), ac.Variable()
        if "chain" in beside:
            self.alarm = ac.array(Alarm, 8, limit=rng.uniform(0.95, 1.1, 8))
        if "sum" in beside:
            self.all, self.total = ac.Variable(), ac.Variable(start=0.0, fixed=True)
        if "masts" in beside:
            self.mast = ac.array(Mast, 5, limit=1.0 - np.logspace(-3, -1, 5), w=rng.uniform(2.0, 9.0, 5))
        if "ramps" in beside:
            self.ramp = ac.array(Ramp, 8, at=np.arange(1, 9) / 8)
        if "twins" in beside:
            self.twin = ac.array(Twin, 6)
        if "contacts" in beside:
            self.contact = ac.array(Contact, 3, k=rng.uniform(100.0, 1000.0, 3), x=ac.start(rng.uniform(0.0, 0.3, 3)))
        if "resets" in beside:
            self.reset = ac.array(Reset, 3, rate=rng.uniform(2.0, 6.0, 3))
        if "after" in beside:
            self.after = ac.array(After, 3)
        if "loops" in beside:
            self.loop = ac.array(Loop, 6)
        if "wobble" in beside:
            self.wobble = ac.array(Wobble, 6, rate=rng.uniform(1.0, 40.0, 6))
        if "counters" in beside:
            self.counter = ac.array(Counter, 6)
        if "pulses" in beside:
            self.pulse = ac.array(Pulse, 6)
        self.table = ac.Table(np.array([0.0, 0.4, 0.9, 1.7, 2.2, 4.0]), np.array([0.3, -0.2, 0.1, 0.4, -0.3, 0.2]), method="linear")

    def equations(self) -> Statements:
        rooms, wall, last, beside = self.room, self.plan.wall, self.plan.rooms - 1, self.plan.beside
        rigid = self.flow if "rigid" in beside else 0.0
        yield rooms[0].q == wall * (rooms[1].T - rooms[0].T) + rigid
        yield rooms[1:-1].q == wall * (rooms[:-2].T - 2 * rooms[1:-1].T + rooms[2:].T)
        yield rooms[last].q == wall * (rooms[last - 1].T - rooms[last].T)
        if "rigid" in beside:
            yield 0.5 * ac.der(self.slab) == 0.1 - self.slab - rigid
            yield self.slab == rooms[0].T + 0.01 * ac.sin(3 * ac.time)
        air = self.table(ac.time) if "table" in beside else 0.3 * ac.sin(2 * np.pi * ac.time / 5)
        if "hold" in beside or "function" in beside:
            air = air + self.outer
        if "delay" in beside:
            yield self.late == ac.delay(rooms[1].T, 0.3)
            air = air + 0.1 * (self.late - 1.0)
        yield rooms.outside == air
        yield rooms[0].before == 0.0
        yield rooms[1:].before == rooms[:-1].h
        for name in ("after", "loops", "wobble", "counters", "pulses"):
            if name in beside:
                part = getattr(self, name.rstrip("s"))
                yield part.T == rooms[3 : 3 + (3 if name == "after" else 6)].T
        yield rooms.shift == (self.held if "clock" in beside else 0.0)
        if "chain" in beside:
            yield self.alarm.T == rooms[:8].T
            yield self.alarm[0].before == 0.0
            yield self.alarm[1:].before == self.alarm[:-1].out
        if "sum" in beside:
            yield self.all == ac.sum(rooms.h)
            yield ac.der(self.total) == self.all

    def events(self) -> Statements:
        if "assertions" in self.plan.beside:
            yield ac.assert_(self.room[4].T < 5.0, "It is hot.")
            yield ac.when(self.room[5].T > 9.0, ac.terminate("over"))
        if "knees" in self.plan.beside:
            yield ac.crossing(self.room[6].T - 1.07)
        if "clock" in self.plan.beside:
            tick = ac.sample(0.35, 0.5)
            held = ac.assign(self.held, 0.03 * ac.sin(5 * self.room[2].T))
            yield ac.when(tick, ac.assign(self.ticks, ac.pre(self.ticks) + 1), held)


def states_of(plan: Plan) -> list[str]:
    names = ["room.T"]
    names += ["room.energy", "room.seconds"] if "meters" in plan.beside else []
    names += ["alarm.x"] if "chain" in plan.beside else []
    for name in WATCHED:
        part = name.split(".")[0]
        names += [name] if {part, part + "s"} & plan.beside else []
    names += ["total"] if "sum" in plan.beside else []
    return names + (["room.i"] if plan.control == "integral" else [])


def others_of(plan: Plan) -> list[str]:
    names = ["room.h", "room.e", "room.on"]
    names += ["room.count"] if "counts" in plan.beside else []
    return names + (["all"] if "sum" in plan.beside else [])


def inputs_of(plan: Plan) -> dict[str, Any]:
    if "hold" in plan.beside:
        return {"inputs": {"outer": ac.hold([0.0, 0.5, 1.1, 1.8], [0.0, 0.2, -0.2, 0.1])}}
    return {"inputs": {"outer": lambda t: 0.1 * np.cos(3 * t)}} if "function" in plan.beside else {}


def run(model: ac.Model, plan: Plan, rtol: float, local: bool, times: np.ndarray) -> ac.Result:
    kept, native.LOCAL = native.LOCAL, 64 if local else 10**9
    try:
        return model.simulate(until=UNTIL, at=times, rtol=rtol, on_failure="keep", **inputs_of(plan))
    finally:
        native.LOCAL = kept


def values(result: ac.Result, times: np.ndarray, name: str) -> np.ndarray:
    """At some of the output times, after events at them; one column for each."""
    rows = np.searchsorted(result.time, times + 1e-13) - 1
    found = np.asarray(result[name], dtype=float)[rows]
    return found.reshape(len(times), -1)


def _is_condition(error: float, wrong: Callable[[float, bool], float], plan: Plan) -> bool:
    """Whether an error is the plant's condition: a state that hardly passes its threshold is late by the root of its error.
    Restarts then make such errors as well, at ten times the tolerance, and those of local events shrink with theirs."""
    return error <= 10 * wrong(10 * plan.rtol, False) and wrong(FINER * plan.rtol, True) < SHRINKS * error


def check(seed: int) -> str:
    """ "run", or what is wrong with it."""
    plan = Plan.draw(seed)
    model, near = ac.compile(Plant(plan)), 300 * plan.rtol
    grid = np.linspace(0.0, UNTIL, POINTS)
    times = np.unique(np.clip(np.concatenate([grid - near, grid, grid + near]), 0.0, UNTIL))
    told = [run(model, plan, *how, times) for how in ((1e-3 * plan.rtol, False), (plan.rtol, False), (plan.rtol, True))]
    if not all(result.outcome.ok for result in told):
        return f"{[result.outcome.name for result in told]}: {plan}"
    if max(_apart(told[0], told[2]), _apart(told[2], told[0])) > max(1e3 * plan.rtol, 10 * _apart(told[0], told[1])):
        return f"{[len(result.events) for result in told]} events: {plan}"
    for name, steady in [(n, False) for n in states_of(plan)] + [(n, True) for n in others_of(plan)]:
        exact, restarted, local = (values(result, times, name) for result in told)
        clear = _clear(told[0], times, grid, near, exact) if steady else np.ones_like(exact, dtype=bool)

        def wrong(found: np.ndarray, exact: np.ndarray = exact, clear: np.ndarray = clear) -> float:
            return float(np.abs(np.where(clear, found - exact, 0.0)).max())

        def again(rtol: float, local: bool, name: str = name, wrong: Callable[[np.ndarray], float] = wrong) -> float:
            return wrong(values(run(model, plan, rtol, local, times), times, name))

        error, usual = wrong(local), wrong(restarted)
        if error > max(10 * usual, 100 * plan.rtol * max(1.0, np.abs(exact).max())) and not _is_condition(error, again, plan):
            k = np.unravel_index(np.argmax(np.abs(np.where(clear, local - exact, 0.0))), exact.shape)
            return f"{name}, column {k[1]}, is wrong by {error:.3g} at {times[k[0]]:g}, with restarts {usual:.3g}: {plan}"
    return "run"


def _apart(one: ac.Result, other: ac.Result) -> float:
    """How far from each event of one run another one's are; a restart may see an event twice at one instant."""
    here, there = np.append(_switching(one), UNTIL), np.concatenate([[0.0, UNTIL], _switching(other)])
    return float(np.abs(here[:, None] - there[None, :]).min(axis=1).max())


def _switching(result: ac.Result) -> np.ndarray:
    """Times of events other than breaks of delays alone: which of these matter depends on the tolerance (`native/delays.cpp`), and
    nothing that is discrete changes there."""
    breaks = [all(cause.text.startswith("a break of delay") for cause in event.causes) for event in result.events]
    return np.asarray(result.events.times)[~np.array(breaks, dtype=bool)]


def _clear(result: ac.Result, times: np.ndarray, grid: np.ndarray, near: float, exact: np.ndarray) -> np.ndarray:
    """Where nothing switches near an output time: what jumps may do so a little earlier or later."""
    clear, on = np.zeros_like(exact, dtype=bool), values(result, times, "room.on")
    for t in grid:
        here = np.abs(times - t) < 1.1 * near
        same = np.ptp(on[here], axis=0) == 0
        if exact.shape[1] != on.shape[1]:
            same = np.full(exact.shape[1], same.all())
        clear[here] = same & (np.ptp(exact[here], axis=0) < 0.01)
    return clear
