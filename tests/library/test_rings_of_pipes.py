"""Rings of pipes without storage: streams go round in them, and at rest nothing says which way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.library import fluid

N = 3


class Ring(ac.Component):
    """A boiler feeds a ring at one corner; at the others branches lead through houses to a return, which a pump empties."""

    medium = ac.AnyMedium("water")
    speed = ac.Input(0.0, min=0)

    def __init__(self) -> None:
        self.pipe = ac.array(fluid.Pipe, N, length=100.0, diameter=0.05)
        self.valve = ac.array(fluid.Orifice, N - 1, A=1e-4, dp_small=50.0)
        self.house = ac.array(fluid.LiquidVolume, N - 1, 2, V=0.2, p_start=3e5, h_start=2.1e5)
        self.outlet = ac.array(fluid.Orifice, N - 1, A=6e-4, dp_small=50.0)
        self.back = fluid.PressureBoundary(p=3e5, h=2.1e5)
        self.boiler = fluid.LiquidVolume(2, medium=self.medium, V=0.5, p_start=3e5, h_start=3.0e5)
        self.pump, self.hose = fluid.Pump(dp_nominal=1.2e5, V_nominal=4e-3), fluid.Orifice(A=1e-3, dp_small=50.0)

    def connections(self) -> Any:
        yield self.pipe[:-1].b, self.pipe[1:].a
        yield self.pipe[-1].b, self.pipe[0].a
        yield self.pipe[1:].a, self.valve.a
        yield self.valve.b, self.house.ports[:, 0]
        yield self.house.ports[:, 1], self.outlet.a
        yield self.outlet.b, self.back.port
        yield self.back.port, self.pump.a
        yield self.pump.b, self.boiler.ports[0]
        yield self.boiler.ports[1], self.hose.a
        yield self.hose.b, self.pipe[0].a
        yield self.speed, self.pump.speed


@pytest.fixture(scope="module")
def model() -> Any:
    return ac.compile(Ring())


@pytest.mark.parametrize("speed", [0.0, ac.data([0.0, 30.0, 600.0, 630.0], [0.0, 1.0, 1.0, 0.0], ends="hold")])
def test_a_ring_starts_at_rest_and_mixtures_stay_between_what_comes_in(model: Any, speed: Any) -> None:
    result = model.simulate(until=1200.0, inputs={"speed": speed})
    assert result.outcome
    assert np.abs(result["pipe.a.m_flow"][0]).max() < 1e-9
    for name in ("pipe.a.h.outflow", "pipe.b.h.outflow", "pipe.a.h.inflow", "pipe.b.h.inflow"):
        assert np.min(result[name]) >= 2.1e5 - 1e-3 and np.max(result[name]) <= 3.0e5 + 1e-3
    around = result["pipe.a.p"] - result["pipe.b.p"]
    assert np.abs(around.sum(axis=1)).max() < 1e-3  # a ring closes
