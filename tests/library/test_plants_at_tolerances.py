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
