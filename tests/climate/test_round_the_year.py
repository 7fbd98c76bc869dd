"""Directions turn through north, and leap years have a sun of their own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.climate import Site, Weather


@pytest.mark.parametrize("interpolation", ["linear", "monotone", "smooth"])
def test_wind_turns_through_north(interpolation: Any) -> None:
    """Between 350° and 10° the wind was interpolated through south."""

    class Vane(ac.Component):
        wind = ac.Input(0.0, unit="rad")
        north = ac.Output()

        def equations(self) -> Iterator[Any]:
            yield self.north == ac.cos(self.wind)

    hours, rng = 8760, np.random.default_rng(1)
    veering = np.where(np.arange(hours) < 1000, np.where(np.arange(hours) % 2, 350.0, 10.0), rng.uniform(0.0, 360.0, hours))
    columns = {"temperature": np.full(hours, 280.0), "wind_direction": np.radians(veering)}
    data = Weather(Site("there", 50.0, 0.0, 0.0, 0.0), columns, interpolation=interpolation)["wind_direction"]
    result = ac.compile(Vane()).simulate(start=3600.0, until=900 * 3600.0, every=450.0, inputs={"wind": data})
    assert np.asarray(result["north"]).min() > np.cos(np.radians(11.0))
    given = np.asarray(data.given[1])
    np.testing.assert_allclose(np.cos(given), np.cos(np.radians(veering)), atol=1e-9)  # the same directions at the hours
    np.testing.assert_allclose(np.sin(given), np.sin(np.radians(veering)), atol=1e-9)
    assert abs(given[-1] - given[0]) < 2 * np.pi  # and no turns to take back where the year begins anew


def test_the_sun_of_a_leap_year(tmp_path: Path) -> None:
    """In a file of 8784 hours the sun was a day ahead from March on: 0.4° too high at noon of the equinox."""
    rows = [",".join(["1"] * 35)] * 8784
    head = ["LOCATION,Hamburg,-,DEU,made up,101470,53.5,10.0,1.0,14.0"] + ["DESIGN CONDITIONS,0"] * 7
    path = tmp_path / "leap.epw"
    path.write_text("\n".join([*head, *rows]))
    noon = ((31 + 29 + 19) * 24 + 12) * 3600.0  # of 20 March
    exact = ac.climate.sun.position(noon, 53.5, 10.0, 1.0, 2000)
    assert ac.weather(path).sun(noon).altitude == pytest.approx(exact.altitude, abs=1e-6)
