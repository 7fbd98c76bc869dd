"""Display cabinets: what comes in through the front, by day and at night."""

from __future__ import annotations

from typing import Any

import pytest

import acausal as ac
from acausal.library import refrigeration, thermal


class Night(ac.Component):
    """Says that it is night, or not."""

    def __init__(self, dark: bool) -> None:
        self.hour = ac.States("night", "day", initial="night" if dark else "day", doc="time of day")
        self.covered = ac.OutputStates(yes="night", no="day", of="hour", doc="whether the blind is down")
        self.lit = ac.OutputStates(yes="day", no="night", of="hour", doc="whether lights are on")


@pytest.mark.parametrize("dark", [False, True])
def test_a_cabinet_takes_in_what_its_curtain_and_lights_bring(wired: Any, dark: bool) -> None:
    plant = wired(
        "cabinet.air coil.a", "coil.b cold.port", "night.covered cabinet.covered", "night.lit cabinet.lit",
        cabinet=refrigeration.DisplayCabinet(), coil=thermal.ThermalConductor(G=200.0), cold=thermal.FixedTemperature(T=270.0),
        night=Night(dark),
    )  # fmt: skip
    result = ac.compile(plant).simulate(until=4 * 86400.0, points=2)
    air, heat, lights = (0.35, 0.3, 0.0) if dark else (1.0, 1.0, 80.0)
    conductance = 6.0 + heat * 8.0 + air * 0.15 * 0.25 * 1006.0
    T = (conductance * 298.15 + lights + 60.0 + 40.0 + 200.0 * 270.0) / (conductance + 200.0)
    assert result["cabinet.T"][-1] == pytest.approx(T, abs=1e-3) and result["cabinet.T_goods"][-1] == pytest.approx(T, abs=1e-2)
    assert result["coil.Q_flow"][-1] == pytest.approx(200.0 * (T - 270.0), rel=1e-4)
    assert result["cabinet.exchange"][-1] == pytest.approx(air * 0.0375)
    assert result["cabinet.w"][-1] == pytest.approx(0.010, rel=1e-5)  # nothing takes the moisture
    assert result["cabinet.P"][-1] == pytest.approx(lights + 100.0)
