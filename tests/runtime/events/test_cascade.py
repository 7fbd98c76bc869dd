"""Breakers that open in a cascade: each by a current that is solved for, and its opening overloads others at the same instant."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.library import electrical
from acausal.runtime.events.handler import Handler


class Breaker(electrical.TwoPin):
    G = ac.Parameter(1.0, unit="S")
    limit = ac.Parameter(1.0, unit="A")
    opened = ac.Boolean(False)

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        yield self.p.i == ac.where(self.opened, 1e-9 * self.G, self.G) * self.v

    def events(self) -> Iterator[Any]:
        yield ac.when(ac.abs(self.p.i) > self.limit, ac.assign(self.opened, True))


class Conductor(electrical.TwoPin):
    G = ac.Parameter(1.0, unit="S")

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        yield self.p.i == self.G * self.v


class Ramp(ac.Component):
    p = electrical.Pin()
    rate = ac.Parameter(1.0, unit="V/s")

    def equations(self) -> Iterator[Any]:
        yield self.p.v == self.rate * ac.time


class Fuses(ac.Component):
    """A grid of breakers between two rails."""

    def __init__(self, n: int, limits: np.ndarray) -> None:
        self.n = n
        self.along, self.across = (ac.array(Breaker, n * (n - 1), limit=limit) for limit in limits)
        self.leak, self.ground, self.source = ac.array(Conductor, n * n, G=1e-6), electrical.Ground(), Ramp()
        self.feed, self.drain = ac.array(Conductor, n, G=10.0), ac.array(Conductor, n, G=10.0)

    def connections(self) -> Iterator[Any]:
        node = np.arange(self.n**2).reshape(self.n, self.n)
        yield self.leak[node[:, :-1].ravel()].p, self.along.p
        yield self.leak[node[:, 1:].ravel()].p, self.along.n
        yield self.leak[node[:-1].ravel()].p, self.across.p
        yield self.leak[node[1:].ravel()].p, self.across.n
        yield self.leak.n, self.ground.p
        yield self.feed.p, self.source.p
        yield self.feed.n, self.leak[node[:, 0]].p
        yield self.drain.p, self.leak[node[:, -1]].p
        yield self.drain.n, self.ground.p


class Parallel(ac.Component):
    """Breakers side by side behind one conductor: they share the current."""

    def __init__(self, limits: np.ndarray) -> None:
        self.breaker, self.feed = ac.array(Breaker, len(limits), limit=limits, G=100.0), Conductor(G=1.0)
        self.ground, self.source = electrical.Ground(), Ramp()

    def connections(self) -> Iterator[Any]:
        yield self.source.p, self.feed.p
        yield self.feed.n, self.breaker.p
        yield self.breaker.n, self.ground.p


def test_a_grid_of_breakers_ends_with_none_overloaded_and_few_solutions(monkeypatch: pytest.MonkeyPatch) -> None:
    n, rng, solved = 12, np.random.default_rng(5), list[int]()
    solution = Handler._solved
    monkeypatch.setattr(Handler, "_solved", lambda self, found, *rest: solved.append(found.rounds) or solution(self, found, *rest))
    limits = rng.uniform(1.0, 1.1, (2, n * (n - 1)))
    result = ac.compile(Fuses(n, limits)).simulate(until=2.0 * n, points=11)
    after = np.searchsorted(result.time, result.events[0].time, side="right")
    for name, limit in zip(("along", "across"), limits, strict=True):
        opened = np.asarray(result[f"{name}.opened"])[after] > 0.5
        assert (np.abs(np.asarray(result[f"{name}.p.i"])[after])[~opened] <= limit[~opened]).all()
        assert opened.any()
    assert len(solved) <= 12 * max(solved)  # of each round; a round that waits until everything comes back takes hundreds


def test_parallel_breakers_open_generation_by_generation() -> None:
    limits = np.array([1.0, 1.1, 1.12, 1.5, 1.55, 2.5, 6.0, 9.0])
    result = ac.compile(Parallel(limits)).simulate(until=9.0, points=10)
    closed, generations = np.ones(len(limits), dtype=bool), list[int]()
    voltage = len(limits) * limits.min() * (1.0 + 0.01 / len(limits))  # at which the first one opens
    while (over := closed & (voltage / (1.0 + 0.01 / closed.sum()) / closed.sum() > limits * (1 - 1e-9))).any():
        closed &= ~over
        generations.append(int(over.sum()))
    assert generations == [1, 2, 2, 1]
    assert result.events[0].time == pytest.approx(voltage, rel=1e-6)
    at = np.searchsorted(result.time, result.events[0].time, side="right")
    assert np.array_equal(np.asarray(result["breaker.opened"])[at] > 0.5, ~closed)
