"""Random stores that ideal contacts join and part at known times, some of them from the start: states that are tied to each other.

Stores have capacities, losses, sources and conductors between them; contacts form a tree, of which one end may be held. So what is
joined is a group with one potential, whose capacity is the sum, and begins with what its members held. Between two switching times
all follows from a matrix exponential. Contacts are written as a choice, with states, and with Booleans whose defaults say the
opposite of what the start decides; some close a moment after another. A run is made at once, or goes on from where an earlier one
ended, or in a session that comes back to an earlier instant.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.linalg import expm

import acausal as ac

UNTIL = 3.0
WAYS = ("choice", "states", "closed", "open")
TIMES = np.arange(30) / 10 + 0.063
_PARTED = 13  # rows before the run is parted
_CLOSE = 2e-5
_MOMENT = (1e-9, 1e-7, 1e-5)


@dataclass(frozen=True)
class Plant:
    """Contacts are pairs of stores, or of a store and -1, which is held at `held`; `joined` are times from and until which."""

    way: str
    capacity: np.ndarray
    start: np.ndarray
    loss: np.ndarray  # -loss @ v is what flows in, but for
    source: np.ndarray
    held: float
    contacts: list[tuple[int, int]]
    joined: np.ndarray

    @property
    def size(self) -> int:
        return len(self.capacity)

    def closed(self, k: int, t: Any) -> Any:
        begin, end = map(float, self.joined[k])
        return t < end if begin < 0 else (t >= begin) & (t < end)


def drawn(seed: int) -> Plant:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 6))
    loss = np.diag(np.where(rng.random(n) < 0.5, rng.uniform(0.1, 2.0, n), 0.0))
    for _ in range(int(rng.integers(0, n + 1))):
        a, b = rng.choice(n, 2, replace=False)
        between = rng.uniform(0.1, 1.0) * np.array([[1, -1], [-1, 1]])
        loss[np.ix_([a, b], [a, b])] += between
    contacts = [(int(rng.integers(k)), k) for k in range(1, n) if rng.random() < 0.75]
    if rng.random() < 0.3 or not contacts:
        contacts.append((int(rng.integers(n)), -1))
    joined = np.sort([rng.choice(np.arange(1, 29), 2, replace=False) for _ in contacts], axis=1) / 10
    joined[rng.random(len(contacts)) < 0.5, 0] = -1.0
    if rng.random() < 0.3:
        joined[:] = joined[0]
    if rng.random() < 0.3:  # one after the other
        begins = joined[:, 0] if rng.random() < 0.5 else np.zeros(len(contacts))
        joined[:, 0] = np.where(begins < 0, -1.0, begins + np.arange(len(contacts)) * rng.choice(_MOMENT))
    return Plant(
        str(rng.choice(WAYS)),
        rng.uniform(0.3, 3.0, n),
        rng.uniform(-2.0, 2.0, n),
        loss,
        np.where(rng.random(n) < 0.4, rng.uniform(-1.0, 1.0, n), 0.0),
        float(rng.uniform(-1.0, 1.0)),
        contacts,
        joined,
    )


def built(p: Plant) -> ac.Component:
    n, m = p.size, len(p.contacts)

    class Stores(ac.Component):
        v, i = ac.Variable(shape=n, start=p.start.tolist()), ac.Variable(shape=m)
        told = ac.Boolean(shape=m)

        def equations(self) -> Any:
            flow = [float(p.source[k]) - sum(float(p.loss[k, j]) * self.v[j] for j in range(n)) for k in range(n)]
            for k, (a, b) in enumerate(p.contacts):
                flow[a] = flow[a] - self.i[k]
                if b >= 0:
                    flow[b] = flow[b] + self.i[k]
                apart = self.v[a] - (self.v[b] if b >= 0 else p.held)
                yield self.told[k] == (~p.closed(k, ac.time) if p.way == "open" else p.closed(k, ac.time))
                if p.way == "states":
                    mode = getattr(self, f"m{k}")
                    yield ac.during(mode.open, self.i[k] == 0)
                    yield ac.during(mode.closed, apart == 0)
                else:
                    closed = {"choice": p.closed(k, ac.time), "closed": self.told[k], "open": ~self.told[k]}[p.way]
                    yield ac.where(closed, apart, self.i[k]) == 0
            for k in range(n):
                yield float(p.capacity[k]) * ac.der(self.v[k]) == flow[k]

        def transitions(self) -> Any:
            for k in range(m if p.way == "states" else 0):
                mode, (begin, end) = getattr(self, f"m{k}"), map(float, p.joined[k])
                if begin >= 0:
                    yield mode.open.to("closed", when=(ac.time >= begin) & (ac.time < end))
                yield mode.closed.to("open", when=ac.time >= end)

    modes = {f"m{k}": ac.States("open", "closed", initial="closed" if p.joined[k, 0] < 0 else "open") for k in range(m)}
    return type("Switched", (Stores,), modes)() if p.way == "states" else Stores()


def groups(p: Plant, t: float) -> tuple[np.ndarray, np.ndarray]:
    """Which stores belong to which group (one column for each that is free), and potentials of those that are held."""
    n = p.size
    group = np.arange(n + 1)  # the last one is what is held
    for k, (a, b) in enumerate(p.contacts):
        if p.closed(k, t):
            group[group == group[a]] = group[b]
    free = sorted({*group.tolist()} - {int(group[n])})
    return np.array([[float(g == f) for f in free] for g in group[:n]]).reshape(n, len(free)), p.held * (group[:n] == group[n])


def exact(p: Plant, times: np.ndarray) -> np.ndarray:
    cuts = np.unique([0.0, UNTIL, *p.joined[(p.joined > 0) & (p.joined < UNTIL)]])
    v, found = p.start, np.zeros((len(times), p.size))
    for begin, end in pairwise(cuts):
        members, held = groups(p, (begin + end) / 2)
        capacity = members.T @ (p.capacity[:, None] * members)
        inflow = np.column_stack([-p.loss @ members, p.source - p.loss @ held])
        whole = np.zeros((len(capacity) + 1,) * 2)
        whole[:-1] = np.linalg.solve(capacity, members.T @ inflow)
        state = np.append(np.linalg.solve(capacity, members.T @ (p.capacity * v)), 1.0)
        for row in np.flatnonzero((times > begin) & (times <= end)):
            found[row] = members @ (expm(whole * (times[row] - begin)) @ state)[:-1] + held
        v = members @ (expm(whole * (end - begin)) @ state)[:-1] + held
    return found


def rows(result: ac.Result, times: np.ndarray) -> np.ndarray:
    if not result.outcome.ok:
        raise ac.ModelError(f"{result.outcome.name}: {result.diagnostics}")
    return np.asarray(result["v"])[np.searchsorted(result.time, times - 1e-12)]


def at_once(model: ac.Model) -> np.ndarray:
    return rows(model.simulate(until=UNTIL, at=TIMES, rtol=1e-8, on_failure="keep"), TIMES)


def resumed(model: ac.Model) -> np.ndarray:
    early, late = TIMES[:_PARTED], TIMES[_PARTED:]
    first = model.simulate(until=early[-1], at=early, rtol=1e-8, on_failure="keep")
    second = model.simulate(start=early[-1], until=UNTIL, at=late, rtol=1e-8, start_from=first, on_failure="keep")
    return np.vstack([rows(first, early), rows(second, late)])


def in_a_session(model: ac.Model) -> np.ndarray:
    """The second part is what it is the second time."""
    session, found, mark = model.start(until=UNTIL, rtol=1e-8), [], None
    for turn in range(2):
        if mark is not None:
            session.restore(mark)
        for t in TIMES[_PARTED * turn :]:
            session.advance(float(t))
            found.append(np.asarray(session["v"]).ravel())
            if len(found) == _PARTED:
                mark = session.save()
    return np.array([*found[:_PARTED], *found[len(TIMES) :]])


def check(seed: int) -> str:
    plant = drawn(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ac.ModelWarning)  # of what is brought together at the start
        warnings.simplefilter("ignore", ac.RunWarning)  # of what jumps
        found = (at_once, resumed, in_a_session)[seed % 3](ac.compile(built(plant)))
    wrong = np.abs(found - exact(plant, TIMES)).max(axis=1)
    return "run" if wrong.max() < _CLOSE else f"wrong by {wrong.max():.1e} at {TIMES[wrong.argmax()]:g}: {plant}"
