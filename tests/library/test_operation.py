"""A plant through all that happens to one: it starts, stops, turns round, floods, runs dry, and loses its charge."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.library import fluid, refrigeration
from acausal.library.refrigeration import ColdStore
from acausal.library.refrigeration.cold_store import accounts
from acausal.library.thermal import FixedTemperature
from benchmarks.cold_stores import InCells, draw

R134A = ac.media.fluid("R134a")


@pytest.fixture(scope="module")
def store() -> Any:
    return ac.compile(ColdStore())


def test_it_starts_and_stops(store: Any) -> None:
    result = store.simulate(until=2500.0, points=501)
    on = [s for s in result.states("compressor.run") if s.state == "on"]
    assert result.outcome is ac.Outcome.FINISHED and len(on) >= 2
    assert max(result["compressor.m_flow"]) > 5e-3 and abs(result.at(on[0].end + 200.0)["compressor.m_flow"]) < 1e-6
    drift, gap = accounts(result)
    assert drift < 1e-12 and gap < 1e-8


@pytest.mark.parametrize(
    ("values", "share"),
    [
        ({"valve.A": 4e-6, "valve.leak": 0.5}, "flooded"),
        ({"valve.A": 2e-8}, "dry"),
    ],
)
def test_it_floods_and_runs_dry(store: Any, values: dict[str, float], share: str) -> None:
    result = store.simulate(until=3600.0, points=361, set=values)
    assert result.outcome is ac.Outcome.FINISHED
    last = "evaporator.L[1]" if share == "flooded" else "evaporator.L[0]"
    assert np.min(result[last][-60:]) < 0.05
    assert accounts(result)[0] < 1e-12


def test_plants_in_cells_drawn_at_random_run() -> None:
    """From rest, across all phases: when changes of phase were no events, the iterations of most such plants failed."""
    model, rng = ac.compile(InCells()), np.random.default_rng(1)
    for k in range(4):
        values, inputs = draw(model, rng)
        if k:  # the first is a plant that takes long
            result = model.simulate(600.0, points=61, set=values, inputs=inputs, on_failure="keep")
            assert result.outcome is ac.Outcome.FINISHED and accounts(result)[0] < 1e-12


class Leaking(ColdStore):
    """The liquid line has a hole, through which everything escapes into next to nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.hole, self.outside = fluid.Orifice(A=3e-7), fluid.PressureBoundary(p=2e3, h=4e5)

    def connections(self) -> Iterator[Any]:
        yield from super().connections()
        yield self.receiver.b, self.hole.a
        yield self.hole.b, self.outside.port


def test_it_loses_its_charge_to_a_vacuum() -> None:
    result = ac.compile(Leaking()).simulate(until=4 * 3600.0, points=241)
    assert result.outcome is ac.Outcome.FINISHED
    assert result["charge"][0] == pytest.approx(1.0) and result["charge"][-1] < 0.01
    assert result["room.T"][-1] > 275.0  # and nothing is cold any more


@pytest.mark.parametrize("kind", [refrigeration.Evaporator, refrigeration.Condenser])
def test_flow_turns_round_in_an_exchanger(wired: Any, kind: Any) -> None:
    """Gas goes in and out at both ends; what is held and what has come in agree, and so does energy."""
    plant = wired(
        "feed.port exchanger.a", "exchanger.b out.a", "out.b other.port", "exchanger.air air.port",
        feed=fluid.FlowSource(m_flow=0.0, h=4.2e5), other=fluid.PressureBoundary(p=4e5, h=3.9e5), air=FixedTemperature(T=285.0),
        out=fluid.Orifice(medium=R134A, A=2e-5), exchanger=kind(charge_start=0.1, T_start=280.0),
    )  # fmt: skip
    swing = {"feed.m_flow": lambda t: 0.006 * float(np.sin(2 * np.pi * t / 200.0))}
    result = ac.compile(plant).simulate(until=800.0, points=8001, inputs=swing)
    assert result.outcome is ac.Outcome.FINISHED
    flow = result["exchanger.b.m_flow"]
    assert flow.min() < -1e-3 and flow.max() > 1e-3
    came = np.trapezoid(result["exchanger.a.m_flow"] + flow, result.time)
    assert result["exchanger.charge"][-1] - result["exchanger.charge"][0] == pytest.approx(came, abs=1e-4)  # by trapezoids
