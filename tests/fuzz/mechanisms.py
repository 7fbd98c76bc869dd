"""Random mechanisms in a plane, in absolute coordinates: bodies on rigid rods and springs, in trees and in loops, under gravity.

Rods leave 2 n - r of the 2 n coordinates of n bodies free, which ones changes on the way (a pendulum that turns over), and loops of
rods are seen only in numbers. Some bodies are bars with an angle of their own. The second opinion knows accelerations: with G the
derivatives of all constraints, ``M a = F - G^T s`` and ``G a = -G' v`` are solved for a and s at every instant, and integrated with
explicit Runge-Kutta formulas of order 8. Mechanisms that come near a dead point, where the rods do not determine the forces in
them, are not judged; of the others, what a small push at the start does to the end says how exact a run can be: a faster start at
first, and where a run is further away, a push of each coordinate at all times, which the solution carries on (`second_look.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

import acausal as ac

from .networks import FORMS, Element
from .networks import Case as Networked
from .second_look import added_up, is_condition

__all__ = ["FORMS", "Case", "generate"]

GRAVITY = 9.81
DEAD = 0.03  # the smallest singular value of G, over the largest, of a mechanism that is judged
UNTIL, PUSH = 2.0, 1e-6
RTOL = 1e-8


class Joint(ac.Connector):
    x, y = ac.Potential(unit="m"), ac.Potential(unit="m")
    f, g = ac.Flow(unit="N"), ac.Flow(unit="N")


class Anchor(ac.Component):
    joint = Joint()
    x, y = ac.Parameter(0.0, unit="m"), ac.Parameter(0.0, unit="m")

    def equations(self) -> Any:
        yield self.joint.x == self.x
        yield self.joint.y == self.y


class Body(ac.Component):
    joint = Joint()
    m = ac.Parameter(1.0, unit="kg")
    x, y = ac.Variable(unit="m"), ac.Variable(unit="m")
    u, v = ac.Variable(unit="m/s"), ac.Variable(unit="m/s")

    def equations(self) -> Any:
        yield self.joint.x == self.x
        yield self.joint.y == self.y
        yield ac.der(self.x) == self.u
        yield ac.der(self.y) == self.v
        yield self.m * ac.der(self.u) == self.joint.f
        yield self.m * ac.der(self.v) == self.joint.g - self.m * GRAVITY


class Rod(ac.Component):
    a, b = Joint(), Joint()
    L = ac.Parameter(1.0, unit="m")
    s = ac.Variable(unit="N/m", doc="force over length")

    def equations(self) -> Any:
        x, y = self.b.x - self.a.x, self.b.y - self.a.y
        yield x * x + y * y == self.L**2
        yield self.a.f == self.s * x
        yield self.a.g == self.s * y
        yield self.a.f + self.b.f == 0
        yield self.a.g + self.b.g == 0


class Bar(ac.Component):
    """A rigid rod by its angle."""

    a, b = Joint(), Joint()
    L = ac.Parameter(1.0, unit="m")
    angle = ac.Variable()

    def equations(self) -> Any:
        x, y = self.L * ac.cos(self.angle), self.L * ac.sin(self.angle)
        yield self.b.x - self.a.x == x
        yield self.b.y - self.a.y == y
        yield self.a.f * y == self.a.g * x  # no moment
        yield self.a.f + self.b.f == 0
        yield self.a.g + self.b.g == 0


class Spring(ac.Component):
    a, b = Joint(), Joint()
    c = ac.Parameter(1.0, unit="N/m")

    def equations(self) -> Any:
        yield self.b.f == self.c * (self.b.x - self.a.x)
        yield self.b.g == self.c * (self.b.y - self.a.y)
        yield self.a.f + self.b.f == 0
        yield self.a.g + self.b.g == 0


@dataclass
class Mechanism:
    """Points, of which the first are held; rods and springs between them."""

    held: int
    mass: np.ndarray  # of those that move
    place: np.ndarray  # of all, (point, 2)
    speed: np.ndarray
    rods: list[tuple[int, int]]
    springs: list[tuple[int, int, float]]

    def constraints(self, q: np.ndarray) -> np.ndarray:
        """Of half the square of each length, the derivatives by the coordinates of the points that move."""
        G = np.zeros((len(self.rods), 2 * len(self.mass)))
        points = self.points(q)
        for k, (a, b) in enumerate(self.rods):
            apart = points[b] - points[a]
            for end, sign in ((a, -1.0), (b, 1.0)):
                if end >= self.held:
                    G[k, 2 * (end - self.held) : 2 * (end - self.held) + 2] = sign * apart
        return G

    def points(self, q: np.ndarray, still: float = 1.0) -> np.ndarray:
        return np.concatenate([still * self.place[: self.held], q.reshape(-1, 2)])

    def acceleration(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        force = np.zeros((len(self.mass), 2))
        force[:, 1] -= GRAVITY * self.mass
        points = self.points(q)
        for a, b, c in self.springs:
            for end, other in ((a, b), (b, a)):
                if end >= self.held:
                    force[end - self.held] += c * (points[other] - points[end])
        each, G = np.repeat(self.mass, 2), self.constraints(q)
        free = force.ravel() / each
        if not self.rods:
            return free
        fast = self.points(v, 0.0)
        turning = np.array([((fast[b] - fast[a]) ** 2).sum() for a, b in self.rods])
        pull = np.linalg.solve((G / each) @ G.T, G @ free + turning)
        return free - (G.T @ pull) / each

    def sound(self, q: np.ndarray) -> bool:
        """Whether the rods say everything about the forces in them, and not by a hair."""
        values = np.linalg.svd(self.constraints(q), compute_uv=False) if self.rods else np.ones(1)
        return len(self.rods) < 2 * len(self.mass) and values[-1] > DEAD * values[0]

    def course(self, times: np.ndarray, push: float = 0.0) -> np.ndarray:
        """Places of the points that move, (time, coordinate)."""
        return self.motion(times, self.start * np.repeat([1.0, 1 + push], 2 * len(self.mass)))[:, : 2 * len(self.mass)]

    @property
    def start(self) -> np.ndarray:
        return np.concatenate([self.place[self.held :].ravel(), self.speed.ravel()])

    def motion(self, times: np.ndarray, start: np.ndarray) -> np.ndarray:
        """Places and speeds of the points that move, (time, coordinate)."""
        n = 2 * len(self.mass)

        def slope(t: float, z: np.ndarray) -> np.ndarray:
            return np.concatenate([z[n:], self.acceleration(z[:n], z[n:])])

        return solve_ivp(slope, (0.0, float(times[-1])), start, "DOP853", times, rtol=1e-12, atol=1e-12).y.T

    def near(self, z: np.ndarray) -> np.ndarray:
        """The places and speeds next to these that the rods permit."""
        n, q = 2 * len(self.mass), z[: 2 * len(self.mass)].copy()
        lengths = self.squares(self.place[self.held :].ravel())
        for _ in range(5):  # from a push of 1e-6, two would do
            q -= np.linalg.pinv(self.constraints(q)) @ (self.squares(q) - lengths) if self.rods else 0.0
        G = self.constraints(q)
        return np.concatenate([q, z[n:] - np.linalg.pinv(G) @ (G @ z[n:]) if self.rods else z[n:]])

    def squares(self, q: np.ndarray) -> np.ndarray:
        """Half the square of each rod's length."""
        points = self.points(q)
        return np.array([0.5 * ((points[b] - points[a]) ** 2).sum() for a, b in self.rods])

    def amplified(self, times: np.ndarray) -> float:
        """What a step's error in places and speeds, as large as its test allows, can become."""
        exact = self.motion(times, self.start)
        pieces = []
        for before, after, span in zip(exact, exact[1:], np.diff(times), strict=False):
            ends = (self.motion(np.array([0.0, span]), self.near(before + PUSH * unit))[-1] for unit in np.eye(len(before)))
            pieces.append(np.column_stack([(end - after) / PUSH for end in ends]))
        return added_up(pieces, 1.0 + np.abs(exact[:-1]), 2 * len(self.mass))


def draw(rng: np.random.Generator) -> Mechanism:
    """A tree of bodies, each on a rod or a spring, and rods and springs across."""
    held, n = int(rng.integers(1, 3)), int(rng.integers(1, 5))
    place = np.concatenate([rng.uniform(-1, 1, (held, 2)), rng.uniform(-2, 2, (n, 2))]).round(2)
    found = Mechanism(held, rng.uniform(0.5, 2.0, n).round(2), place, np.zeros((n, 2)), [], [])
    for k in range(held, held + n):
        _join(rng, found, int(rng.integers(k)), k, 0.8)
    for _ in range(int(rng.integers(0, 3)) if n > 1 else 0):
        a, b = sorted(rng.choice(held + n, 2, replace=False).tolist())
        if b >= held and (a, b) not in found.rods:
            _join(rng, found, a, b, 0.6)
    wanted, G = rng.uniform(-2, 2, 2 * n), found.constraints(found.place[held:].ravel())
    kept = wanted - np.linalg.pinv(G) @ (G @ wanted) if found.rods else wanted
    found.speed = kept.reshape(-1, 2)
    return found


def _join(rng: np.random.Generator, mechanism: Mechanism, a: int, b: int, rigid: float) -> None:
    """By a rod, if that leaves a mechanism whose forces are determined; else by a spring."""
    if rng.random() < rigid and np.linalg.norm(mechanism.place[b] - mechanism.place[a]) > 0.3:
        mechanism.rods.append((a, b))
        if mechanism.sound(mechanism.place[mechanism.held :].ravel()):
            return
        mechanism.rods.pop()
    mechanism.springs.append((a, b, round(float(rng.uniform(5.0, 40.0)), 1)))


class Case(Networked):
    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.mechanism, self.connector = draw(rng), Joint
        self.elements, self.watched = self._elements(rng)
        self.group(rng)

    def _elements(self, rng: np.random.Generator) -> tuple[list[Element], list[int]]:
        m = self.mechanism
        elements = [Element(Anchor, {"joint": k}, x=float(x), y=float(y)) for k, (x, y) in enumerate(m.place[: m.held])]
        watched = []
        for k, mass in enumerate(m.mass):
            (x, y), (u, v) = m.place[m.held + k], m.speed[k]
            watched.append(len(elements))
            starts = {"x": float(x), "y": float(y), "u": float(u), "v": float(v)}
            elements.append(Element(Body, {"joint": m.held + k}, starts, m=float(mass)))
        for a, b in m.rods:
            apart = m.place[b] - m.place[a]
            L = float(np.hypot(*apart))
            if rng.random() < 0.3:
                elements.append(Element(Bar, {"a": a, "b": b}, {"angle": float(np.arctan2(apart[1], apart[0]))}, L=L))
            else:
                elements.append(Element(Rod, {"a": a, "b": b}, L=L))
        return elements + [Element(Spring, {"a": a, "b": b}, c=c) for a, b, c in m.springs], watched

    def options(self) -> dict[str, Any]:
        return {"until": UNTIL, "rtol": RTOL, "points": 21}

    def check(self, results: dict[str, Any]) -> None:
        times = np.linspace(0.0, UNTIL, 21)
        exact, pushed = self.mechanism.course(times), self.mechanism.course(times, PUSH)
        allowed = 1e-6 + 300 * RTOL * float(np.abs(pushed - exact).max()) / PUSH
        for form, result in results.items():
            assert result.outcome.ok, f"{form}: {result.outcome.name} at {result.time_reached:g}"

            def wrong(result: Any, form: str = form) -> float:
                found = np.array([np.ravel(result[f"{self.path(form, k)}.{q}"]) for k in self.watched for q in "xy"]).T
                return float(np.abs(found - exact).max())

            assert wrong(result) < allowed or is_condition(self, form, result, self.mechanism.amplified(times), wrong), (
                f"{form}: wrong by {wrong(result):.1e}, {allowed:.1e} allowed"
            )


def generate(seed: int) -> Case:
    case = Case(seed)
    times = np.linspace(0.0, UNTIL, 401)
    if not all(case.mechanism.sound(q) for q in case.mechanism.course(times)):
        raise ValueError("it comes near a dead point")
    return case
