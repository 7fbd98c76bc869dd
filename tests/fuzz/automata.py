"""Random hybrid automata with known trajectories: two quantities that grow at constant rates, states with limits and delays.

In every state both quantities have a rate; a state is left when one of them passes a level, or after some time; on the way one
may be set, or moved by an amount. The times of all transitions follow by arithmetic. Automata that go round without time passing
are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

import acausal as ac

UNTIL = 10.0
_CLOSE = 1e-6  # decisions that are closer than this are left to rounding: such an automaton is left out


@dataclass(frozen=True)
class Way:
    """A transition: from a state, to a state, when a quantity is above or below a level or after a time; and what it does."""

    source: int
    target: int
    quantity: int
    above: bool
    level: float
    after: float | None
    sets: int  # -1: nothing
    moves: bool
    amount: float

    def holds(self, values: np.ndarray) -> bool:
        here = values[self.quantity]
        if abs(here - self.level) < _CLOSE:
            raise Ambiguous
        return bool(here > self.level) == self.above

    def wait(self, values: np.ndarray, rates: np.ndarray, since: float) -> float:
        """How long until it is taken, while nothing else happens."""
        if self.after is not None:
            return max(0.0, self.after - since)
        if self.holds(values):
            return 0.0
        rate = rates[self.quantity] if self.above else -rates[self.quantity]
        return abs(self.level - values[self.quantity]) / rate if rate > 0 else np.inf

    def act(self, values: np.ndarray) -> None:
        if self.sets >= 0:
            values[self.sets] = values[self.sets] + self.amount if self.moves else self.amount


class Ambiguous(Exception):
    """Rounding decides."""


@dataclass(frozen=True)
class Automaton:
    rates: np.ndarray  # (state, quantity)
    ways: tuple[Way, ...]
    start: np.ndarray

    def trajectory(self) -> tuple[list[tuple[float, int]], np.ndarray]:
        """Times and states of all transitions, and the quantities at the end."""
        state, t, since, values, told, idle = 0, 0.0, 0.0, self.start.copy(), [(0.0, 0)], 0
        while True:
            ways = [w for w in self.ways if w.source == state]
            waits = [w.wait(values, self.rates[state], since) for w in ways]
            wait = min(waits, default=np.inf)
            near = sorted(waits)[:2]
            if len(near) == 2 and near[0] > 0 and near[1] - near[0] < _CLOSE:
                raise Ambiguous
            if abs(t + wait - UNTIL) < _CLOSE:
                raise Ambiguous
            if t + wait > UNTIL:
                return told, values + (UNTIL - t) * self.rates[state]
            t, since, idle = t + wait, since + wait, 0 if wait > 0 else idle + 1
            if 0 < wait < _CLOSE or idle > 50 or len(told) > 300:
                raise Ambiguous
            values = values + wait * self.rates[state]
            taken = ways[waits.index(wait)]
            if wait > 0 and taken.after is None:
                values[taken.quantity] = taken.level
            taken.act(values)
            state, since = taken.target, 0.0
            told.append((t, state))


def draw(seed: int) -> Automaton:
    rng = np.random.default_rng(seed)
    states = int(rng.integers(2, 5))
    ways = []
    for source in range(states):
        for _ in range(int(rng.integers(1, 3))):
            target = int(rng.choice([k for k in range(states) if k != source]))
            after = float(np.round(rng.uniform(0.0, 2.0), 2)) if rng.random() < 0.4 else None
            level, amount = (float(v) for v in np.round(rng.uniform(-2.0, 2.0, 2), 2))
            sets = int(rng.integers(-1, 2))
            way = Way(source, target, int(rng.integers(2)), rng.random() < 0.5, level, after, sets, rng.random() < 0.5, amount)
            ways.append(way)
    return Automaton(np.round(rng.uniform(-2.0, 2.0, (states, 2)), 2), tuple(ways), np.round(rng.uniform(-1.0, 1.0, 2), 2) + 0.001)


def component(automaton: Automaton) -> ac.Component:
    letters = "abcdefgh"[: len(automaton.rates)]

    def equations(self: Any) -> Any:
        for k, here in enumerate((self.x, self.y)):
            yield ac.der(here) == ac.match(self.s, **{name: float(automaton.rates[i, k]) for i, name in enumerate(letters)})

    def transitions(self: Any) -> Any:
        both = (self.x, self.y)
        for way in automaton.ways:
            when = both[way.quantity] > way.level if way.above else both[way.quantity] < way.level
            condition = {"when": when} if way.after is None else {"after": way.after}
            do = []
            if way.sets >= 0:
                there = both[way.sets]
                do = [ac.reinit(there, ac.pre(there) + way.amount if way.moves else way.amount)]
            yield getattr(self.s, letters[way.source]).to(letters[way.target], **condition, do=do)

    space: dict[str, Any] = {
        "x": ac.Variable(start=float(automaton.start[0]), fixed=True),
        "y": ac.Variable(start=float(automaton.start[1]), fixed=True),
        "s": ac.States(*letters, initial="a"), "equations": equations, "transitions": transitions,
    }  # fmt: skip
    return type("Drawn", (ac.Component,), space)()


def check(seed: int) -> str:
    """ "run", or what is wrong with it."""
    while True:
        automaton = draw(seed)
        try:
            told, end = automaton.trajectory()
            break
        except Ambiguous:
            seed += 1_000_000_007
    result = ac.compile(component(automaton)).simulate(until=UNTIL, rtol=1e-8, on_failure="keep")
    if not result.outcome.ok:
        return f"{result.outcome.name} at {result.time_reached:g}, draw({seed})"
    lasting = [(t, s) for (t, s), (after, _) in zip(told, [*told[1:], (UNTIL, 0)], strict=True) if after > t]
    merged = [lasting[0]] + [b for a, b in pairwise(lasting) if a[1] != b[1]]
    ours = [("abcdefgh".index(i.state), i.start) for i in result.states("s")]
    if [s for _, s in merged] != [s for s, _ in ours] or not np.allclose([t for t, _ in merged], [t for _, t in ours], atol=1e-6):
        return f"states {ours[:8]}, wanted {merged[:8]}, draw({seed})"
    here = np.array([result["x"][-1], result["y"][-1]])
    return "run" if np.allclose(here, end, atol=1e-5) else f"ends at {here}, wanted {end}, draw({seed})"
