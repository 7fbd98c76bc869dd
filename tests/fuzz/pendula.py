"""Random pendulums in coordinates of the plane, with events: states are exchanged, and events fall before, between and after.

A point on a rod of length L has x, y, u, v and the force s in the rod; which coordinate is the state changes as it swings or turns.
On the way gravity changes when x passes a level or a clock ticks, a wind blows on one side only (a relation of a coordinate), the
point is pushed in proportion to its height (a bend), or it bounces back at each tick. The second opinion is one angle without a
constraint, integrated with explicit Runge-Kutta formulas of order 8 from event to event. What a small push of the start does
to the course says how exact a run can be; courses that amplify much, or that nearly miss a level, are not judged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

import acausal as ac

FORMS = ("coordinates", "arrays")
UNTIL, RTOL, GRAVITY = 4.0, 1e-8, 9.81
KINDS = ("level", "wind", "height", "clock", "bounce")
PUSH, AMPLIFIES, MISSES = 1e-6, 1e3, 0.02
ALLOWED = 100.0  # times rtol, and times what a push becomes
CLEAR = 1e-3  # s around an event in which nothing is compared


@dataclass
class Pendulum:
    kind: str
    L: float
    angle: float
    speed: float
    damping: float
    level: float  # of x, in lengths
    other: float  # gravity takes turns with
    period: float
    rebound: float

    @property
    def ticks(self) -> bool:
        return self.kind in ("clock", "bounce")

    def acceleration(self, z: np.ndarray, gravity: float, beyond: bool) -> np.ndarray:
        """(angle, angular speed, ∫ of the angular momentum) → their rates."""
        x, y = np.sin(z[0]), -np.cos(z[0])
        wind = {"wind": -4.0 * beyond, "height": -3.0 * abs(y) * self.L}.get(self.kind, 0.0)
        rate = ((wind * -y) - gravity * x) / self.L - self.damping * z[1]
        return np.array([z[1], rate, self.L**2 * z[1]])

    def edge(self, z: np.ndarray) -> float:
        return float(np.cos(z[0]) if self.kind == "height" else np.sin(z[0]) - self.level)

    def course(self, times: np.ndarray, push: tuple[float, float] = (0.0, 0.0)) -> Course:
        """From event to event."""
        course = Course(np.zeros((len(times), 3)), np.zeros(len(times), dtype=int), [])
        z, t, count, gravity = np.array([self.angle + push[0], self.speed + push[1], 0.0]), 0.0, 0, GRAVITY
        beyond = bool(self.edge(z) > 0)
        while t < times[-1]:
            end = min(float(times[-1]), (count + 1) * self.period) if self.ticks else float(times[-1])
            piece = self._piece(z, t, end, gravity, beyond)
            inside = (times >= t) & (times <= piece.t[-1])
            if inside.any():
                course.states[inside], course.counts[inside] = piece.sol(times[inside]).T, count
            t, z = float(piece.t[-1]), piece.y[:, -1].copy()
            if t >= times[-1]:
                return course
            course.events.append(t)
            beyond = not beyond
            if self.ticks or (self.kind == "level" and beyond):
                count += 1
                gravity = GRAVITY + self.other - gravity if self.kind in ("clock", "level") else gravity
                z[1] *= -self.rebound if self.kind == "bounce" else 1.0
        return course

    def _piece(self, z: np.ndarray, t: float, end: float, gravity: float, beyond: bool) -> Any:
        side = 1.0 if beyond else -1.0  # an edge just left is left behind before it is looked for again

        def crosses(t: float, z: np.ndarray) -> float:
            return self.edge(z) if t > begin + 1e-6 else side

        begin = t
        crosses.terminal = True  # type: ignore[attr-defined]
        watched = None if self.ticks else crosses
        return solve_ivp(
            lambda _, z: self.acceleration(z, gravity, beyond), (t, end), z, "DOP853", events=watched,
            rtol=1e-12, atol=1e-12, dense_output=True, max_step=0.05,
        )  # fmt: skip


@dataclass
class Course:
    states: np.ndarray
    counts: np.ndarray
    events: list[float]


class Coordinates(ac.Component):
    def __init__(self, p: Pendulum) -> None:
        self.p = p
        self.declare(
            p.L * np.array([np.sin(p.angle), -np.cos(p.angle)]), p.L * p.speed * np.array([np.cos(p.angle), np.sin(p.angle)])
        )
        self.s, self.w = ac.Variable(), ac.Variable(start=0.0, fixed=True)
        self.g, self.n = ac.Discrete(GRAVITY), ac.Integer(0)
        self.L, self.d = ac.Parameter(p.L), ac.Parameter(p.damping)

    def declare(self, place: np.ndarray, speed: np.ndarray) -> None:
        self.x, self.y = (ac.Variable(start=float(start)) for start in place)
        self.u, self.v = (ac.Variable(start=float(start)) for start in speed)

    def unknowns(self) -> tuple[Any, Any, Any, Any]:
        return self.x, self.y, self.u, self.v

    def equations(self) -> Any:
        x, y, u, v = self.unknowns()
        force: Any = {"wind": ac.where(x > self.p.level * self.L, -4.0, 0.0), "height": -3.0 * ac.abs(y)}.get(self.p.kind, 0.0)
        yield ac.der(x) == u
        yield ac.der(y) == v
        yield ac.der(u) == self.s * x - self.d * u + force
        yield ac.der(v) == self.s * y - self.d * v - self.g
        yield x**2 + y**2 == self.L**2
        yield ac.der(self.w) == x * v - y * u

    def events(self) -> Any:
        x, _, u, v = self.unknowns()
        if self.p.kind not in ("level", "clock", "bounce"):
            return
        condition = x > self.p.level * self.L if self.p.kind == "level" else ac.sample(self.p.period, self.p.period)
        changes = [ac.assign(self.n, ac.pre(self.n) + 1)]
        if self.p.kind == "bounce":
            changes += [ac.reinit(speed, -self.p.rebound * ac.pre(speed)) for speed in (u, v)]
        else:
            changes.append(ac.assign(self.g, self.p.other + GRAVITY - ac.pre(self.g)))
        yield ac.when(condition, *changes)


class Arrays(Coordinates):
    """Place and speed as arrays."""

    def declare(self, place: np.ndarray, speed: np.ndarray) -> None:
        self.q, self.f = ac.Variable(shape=2, start=place), ac.Variable(shape=2, start=speed)

    def unknowns(self) -> tuple[Any, Any, Any, Any]:
        return self.q[0], self.q[1], self.f[0], self.f[1]


class Case:
    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.p = Pendulum(
            str(rng.choice(KINDS)), rng.uniform(0.5, 2.0), rng.uniform(-3.0, 3.0), rng.uniform(-6.0, 6.0), rng.uniform(0.0, 0.3),
            rng.uniform(-0.9, 0.9), rng.uniform(2.0, 15.0), rng.uniform(0.2, 0.7), rng.uniform(0.3, 1.1),
        )  # fmt: skip
        self.times = np.linspace(0.0, UNTIL, 401)
        self.course = self.p.course(self.times)
        self.amplified = self._amplified()
        self.runs = True
        if self.amplified > AMPLIFIES:
            raise ValueError("a course that amplifies")
        if self.p.kind in ("level", "wind") and self._misses() < MISSES:
            raise ValueError("a course that nearly misses its level")

    def __repr__(self) -> str:
        return repr(self.p)

    def _amplified(self) -> float:
        """What a push of the start becomes, in lengths."""
        pushed = [self.p.course(self.times, push) for push in ((PUSH, 0.0), (0.0, PUSH))]
        return max(1.0, *(float(np.abs(other.states - self.course.states)[:, :2].max()) / PUSH for other in pushed))

    def _misses(self) -> float:
        """How far from the level the course turns round."""
        x = np.sin(self.course.states[:, 0])
        turns = (x[1:-1] - x[:-2]) * (x[2:] - x[1:-1]) <= 0
        return float(np.abs(np.concatenate([x[1:-1][turns], x[:1]]) - self.p.level).min())

    def build(self, form: str) -> ac.Component:
        return {"coordinates": Coordinates, "arrays": Arrays}[form](self.p)

    def options(self) -> dict[str, Any]:
        return {"until": UNTIL, "rtol": RTOL, "at": self.times[::10]}

    def check(self, results: dict[str, Any]) -> None:
        clear = [k for k in range(0, len(self.times), 10) if all(abs(self.times[k] - t) > CLEAR for t in self.course.events)]
        z, L = self.course.states[clear].T, self.p.L
        exact = np.array([L * np.sin(z[0]), -L * np.cos(z[0]), L * np.cos(z[0]) * z[1], L * np.sin(z[0]) * z[1], z[2]])
        allowed = ALLOWED * RTOL * self.amplified * max(1.0, float(np.abs(exact).max()))
        for form, result in results.items():
            assert result.outcome.ok, f"{form}: {result.outcome.name}"
            at = np.searchsorted(result.time, self.times[clear], side="right") - 1
            counted = np.broadcast_to(result["n"], result.time.shape)[at]
            assert (counted == self.course.counts[clear]).all(), f"{form}: {counted[-1]} events for {self.course.counts[-1]}"
            parts = ("x", "y", "u", "v", "w")
            found = np.array(
                [result[name] for name in parts] if form == "coordinates" else [*result["q"].T, *result["f"].T, result["w"]]
            )
            wrong = float(np.abs(found[:, at] - exact).max())
            assert wrong < allowed, f"{form}: wrong by {wrong:.1e}, of {allowed:.1e}"


def generate(seed: int) -> Case:
    return Case(seed)
