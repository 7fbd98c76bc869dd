"""Switches that must turn together: complementarity problems at random, alone and in plants."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.runtime.events.pivoting import agreeing
from acausal.runtime.events.progress import Wandering
from acausal.runtime.events.repair import Repair


def problem(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """M of `w == M z + q`, w and z not negative and one of each pair zero: a P matrix, so that there is one solution."""
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(n, n))
    return 3 * (B - B.T) + np.diag(rng.uniform(0.1, 1.0, n)), 2 * rng.normal(size=n)


@pytest.mark.parametrize("n", [5, 12, 20, 40])
def test_what_disagrees_is_turned_until_nothing_does(n: int) -> None:
    for seed in range(20):
        M, q = problem(n, seed)

        def solved(chosen: frozenset[int], M: np.ndarray = M, q: np.ndarray = q) -> np.ndarray:
            on = sorted(chosen)
            s = np.zeros(len(q))
            s[on] = np.linalg.solve(M[np.ix_(on, on)], -q[on])
            return s - np.where(np.isin(np.arange(len(q)), on), 0.0, M @ s + q)

        def disagreeing(chosen: frozenset[int]) -> Set[int]:
            return set(np.flatnonzero(solved(chosen) > 0).tolist()) ^ chosen

        found = agreeing(disagreeing)
        assert found is not None
        s = solved(found)
        assert np.allclose(np.maximum(-s, 0), M @ np.maximum(s, 0) + q)


def test_what_cannot_be_solved_is_gone_round_and_what_comes_back_ends_the_search() -> None:
    assert agreeing(lambda chosen: None if len(chosen) == 2 else {1, 2} - chosen) is None
    assert agreeing(lambda chosen: None if chosen == {1, 2, 3} else {1, 2, 3} - chosen or {4}) is None
    assert agreeing(lambda chosen: None if chosen == {1, 2} else {1, 2, 3} ^ chosen) == {1, 2, 3}
    assert agreeing(lambda chosen: {1} if 1 not in chosen else {1, 2}) is None


class Diodes(ac.Component):
    """Ideal diodes on a network that is switched at 1 s: about half of them turn, of all configurations in one alone."""

    def __init__(self, M: np.ndarray, q: np.ndarray) -> None:
        self.M, self.q = M, q
        self.s, self.x = ac.Variable(shape=len(q), start=-1.0), ac.Variable(start=0.0, fixed=True)

    def equations(self) -> Any:
        z, w = ac.where(self.s > 0, self.s, 0.0), ac.where(self.s > 0, 0.0, -self.s)
        yield w == self.M @ z + (1.0 + ac.where(ac.time >= 1.0, 1.0, 0.0) * (self.q - 1.0))
        yield ac.der(self.x) == ac.sum(z)


@pytest.mark.parametrize("n, seed", [(16, 12), (16, 17), (16, 19), (16, 24), (16, 29), (20, 0)])
def test_diodes_that_turn_together(n: int, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Newton's method through the relations as they are written, which would find it in these, too; one after the other,
    nearest first, the right configuration is behind thousands of others."""
    monkeypatch.setattr(Repair, "_live", lambda *_: False)
    M, q = problem(n, seed)
    run = ac.compile(Diodes(M, q)).simulate(until=2.0)
    assert run.outcome is ac.Outcome.FINISHED
    s = np.asarray(run["s"][-1])
    assert np.allclose(np.maximum(-s, 0), M @ np.maximum(s, 0) + q) and (s > 0).sum() > 5


@pytest.mark.parametrize("seed", [5, 7])
def test_it_is_asked_as_soon_as_solutions_lead_nowhere(seed: int) -> None:
    """In rounds alone the first of them took 161 rounds of a hundred solutions each, the second 231, to come to the same."""
    M, q = problem(20, seed)
    run = ac.compile(Diodes(M, q)).simulate(until=2.0)
    s = np.asarray(run["s"][-1])
    assert np.allclose(np.maximum(-s, 0), M @ np.maximum(s, 0) + q)
    assert run.statistics.event_rounds < 10


def test_what_is_not_found_by_turning_is_left_to_patient_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Repair, "pivoted", lambda *_: False)
    M, q = problem(16, 12)
    s = np.asarray(ac.compile(Diodes(M, q)).simulate(until=2.0)["s"][-1])
    assert np.allclose(np.maximum(-s, 0), M @ np.maximum(s, 0) + q)


def test_a_cascade_gets_somewhere_and_a_set_that_turns_to_and_fro_does_not() -> None:
    cascade = Wandering(np.zeros(1000))
    assert not any(cascade.seen((np.arange(1000) <= k).astype(float)) for k in range(1000))
    to_and_fro = Wandering(np.zeros(6))
    looks = [to_and_fro.seen(np.array([k % 2, 1 - k % 2, k // 2 % 2, 0, 0, 0], dtype=float)) for k in range(40)]
    assert looks[-1] and not any(looks[:8])
