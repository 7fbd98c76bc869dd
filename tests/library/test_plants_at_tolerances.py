"""Plants run at any tolerance: none of twelve meets a corner that it cannot pass."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from page import example

import acausal as ac
from acausal.library import refrigeration


def heat_pump() -> tuple[Any, dict[str, Any]]:
    module = example("heat_pump")
    return module.HeatPumpHouse(), {"until": 3000.0, "inputs": {"outdoors.T": (module.WEATHER, "T")}}


PLANTS = {
    "heat pump": heat_pump,
    "cold store": lambda: (refrigeration.ColdStore(), {"until": 4000.0}),
    "supermarket": lambda: (example("supermarket").Supermarket(), {"until": 400.0}),
}


@pytest.mark.parametrize("name", PLANTS)
def test_a_plant_runs_at_any_tolerance(name: str) -> None:
    plant, request = PLANTS[name]()
    model = ac.compile(plant)
    for rtol in np.geomspace(1e-5, 1e-8, 12):
        assert model.simulate(points=3, rtol=float(rtol), **request).outcome is ac.Outcome.FINISHED, f"at {rtol:.1e}"


def test_draws_with_an_open_valve_have_one() -> None:
    """Joints were picked by a name that none has: half of the random plants were the same as the others."""
    from benchmarks.cold_stores import ColdStore, OpenAtStandstill

    assert len(list(OpenAtStandstill().connections())) == len(list(ColdStore().connections())) - 2
    passed = {}
    for plant in (ColdStore, OpenAtStandstill):
        rest = ac.compile(plant()).simulate(until="30 min", points=181)
        stands = rest["compressor.speed"][10:] < 1e-3
        passed[plant] = float(rest["valve.m_flow"][10:][stands].max())
    assert passed[ColdStore] < 1e-5 < 1e-3 < passed[OpenAtStandstill]
