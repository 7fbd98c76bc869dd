"""Weather files, the position of the sun and light on tilted surfaces, against published values and closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import acausal as ac
from acausal.climate import sun
from acausal.climate.sun import Position
from acausal.errors import UsageError

HOURS = np.arange(1, 8761)


def clear_days(latitude: float = 53.5) -> tuple[np.ndarray, np.ndarray]:
    """Direct and diffuse light of a year without clouds, by the sun in the middle of each hour."""
    middle = sun.position(3600.0 * (HOURS - 0.5), latitude, 10.0, 1.0, 2001)
    up = np.maximum(np.sin(middle.altitude), 0.0)
    return 900.0 * up**0.3 * (up > 0), 120.0 * up


def write_epw(path, latitude=53.5, cut=0):
    direct, diffuse = clear_days(latitude)
    head = [f"LOCATION,Hamburg,-,DEU,made up,101470,{latitude},10.0,1.0,14.0"] + ["DESIGN CONDITIONS,0"] * 7
    rows = []
    for k, hour in enumerate(HOURS[: len(HOURS) - cut]):
        T = 9.0 - 10.0 * np.cos(2 * np.pi * hour / 8760)
        row = [2001, 1, 1, (hour - 1) % 24 + 1, 60, "?", f"{T:.3f}", "4.0", "80", "101325", 0, 0, 300, 0, direct[k], diffuse[k]]
        rows.append(",".join(map(str, [*row, 0, 0, 0, 0, 180, 3.0, 5, 5, 10])))
    path.write_text("\n".join(head + rows) + "\n")
    return path


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    return ac.weather(write_epw(tmp_path_factory.mktemp("weather") / "hamburg.epw"))


def test_the_example_of_the_reference_algorithm():
    """Reda and Andreas, NREL/TP-560-34302: zenith 50.11162° with refraction (0.016°), azimuth 194.34024°."""
    found = sun.position(np.array([(289 * 24 + 12.5) * 3600.0 + 30.0]), 39.742476, -105.1786, -7.0, 2003)
    assert np.degrees(found.altitude[0]) == pytest.approx(90 - 50.11162 - 0.016, abs=0.01)
    assert np.degrees(found.azimuth[0]) == pytest.approx(194.34024, abs=0.01)


@pytest.mark.parametrize(
    ("latitude", "longitude", "zone", "time", "altitude", "azimuth"),
    [
        (53.5, 10.0, 1, 14818680.0, 59.929, 178.28),
        (-33.9, 151.2, 10, 896400.0, 48.167, 85.473),
        (64.1, -21.9, 0, 6879600.0, 24.421, 203.539),
    ],
)
def test_positions_that_another_program_gives(latitude, longitude, zone, time, altitude, azimuth):
    """pvlib 0.16, which uses NREL's algorithm."""
    found = sun.position(np.array([time]), latitude, longitude, zone, 2001)
    assert np.degrees(found.altitude[0]) == pytest.approx(altitude, abs=0.01)
    assert np.degrees(found.azimuth[0]) == pytest.approx(azimuth, abs=0.02)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ((800, 90, 40, 160, 30, 180, 100), (83.9711, 101.3617, 107.5028)),
        ((100, 300, 60, 250, 90, 270, 200), (150.0, 175.6851, 239.6266)),
        ((0, 150, 75, 120, 45, 90, 350), (128.033, 128.033, 169.8271)),
        ((900, 60, 20, 180, 90, 0, 172), (30.0, 9.4915, 23.3653)),
    ],
)
def test_light_of_the_sky_that_another_program_gives(given, expected):
    """pvlib 0.16."""
    direct, diffuse, zenith, azimuth, tilt, facing, day = given
    at = Position(np.radians([90.0 - zenith]), np.radians([float(azimuth)]))
    lean = np.radians(tilt)
    cosine = sun.incidence(at, lean, np.radians(facing))
    for sky, wanted in zip(("isotropic", "hay-davies", "perez"), expected, strict=True):
        found = sun.sky_light(
            np.array([float(diffuse)]), np.array([float(direct)]), at, cosine, lean, np.array([day * 86400.0]), sky
        )
        assert found[0] == pytest.approx(wanted, rel=2e-5)


@pytest.mark.parametrize("sky", ["perez", "hay-davies", "isotropic"])
def test_what_falls_on_a_flat_surface_is_what_was_measured_there(site, sky):
    flat = site.light(0.0, sky=sky)
    direct, diffuse = clear_days()
    _, up, _ = site._within_hours(0.0, 0.0)
    low = up < 0.09  # where Perez' model limits how low the sun is
    np.testing.assert_allclose(flat[~low], (direct * up + diffuse)[~low], rtol=1e-9)


def test_walls_see_half_of_the_sky_and_half_of_the_ground(site):
    direct, diffuse = clear_days()
    north = site.light("90 deg", "0 deg", albedo=0.4, sky="isotropic")
    winter = slice(24 * 350, 24 * 352)  # no sun from the north
    _, up, _ = site._within_hours(np.pi / 2, 0.0)
    expected = 0.5 * diffuse + 0.4 * 0.5 * (direct * up + diffuse)
    np.testing.assert_allclose(north[winter], expected[winter], rtol=1e-9, atol=1e-9)
    south, east = site.light("90 deg", "180 deg"), site.light("90 deg", "90 deg")
    assert south.sum() > 1.2 * east.sum() and (south >= 0).all() and (east >= 0).all()


def test_columns_are_inputs_that_repeat_and_have_units(site):
    class House(ac.Component):
        T_out = ac.Input(unit="K")
        sun = ac.Input(unit="W/m^2")
        T = ac.Variable(start=293.0, unit="K")
        heat = ac.Variable(start=0.0, unit="J/m^2")

        def equations(self):
            yield 1e5 * ac.der(self.T) == self.T_out - self.T
            yield ac.der(self.heat) == self.sun

    result = ac.compile(House(), units=False).simulate(
        until="10 day", start="-1 day", every="1 h", inputs={"T_out": site["temperature"], "sun": site.tilted("30 deg", "180 deg")}
    )
    assert result.at("1 h")["T_out"] == pytest.approx(site.values("temperature")[0])
    hourly = site.light("30 deg", "180 deg")
    fell = result.at("9 day")["heat"] - result.at("0 h")["heat"]
    assert fell == pytest.approx(3600.0 * hourly[: 9 * 24].sum(), rel=2e-3)
    assert "Hamburg" in repr(site) and "temperature" in site and "snow" not in site


def test_tmy3(tmp_path):
    head = '722780,"PHOENIX",AZ,-7.0,33.450,-111.983,337'
    titles = "Date (MM/DD/YYYY),Time (HH:MM),GHI (W/m^2),DNI (W/m^2),DHI (W/m^2),Dry-bulb (C),Pressure (mbar),Wspd (m/s)"
    rows = [f"01/01/1990,{(h - 1) % 24 + 1:02}:00,100,200,50,20.5,970,2.5" for h in HOURS]
    path = tmp_path / "phoenix.csv"
    path.write_text("\n".join([head, titles, *rows]))
    site = ac.weather(path)
    assert (site.site.latitude, site.site.zone, site.site.elevation) == (33.45, -7.0, 337.0)
    assert site.values("temperature")[5] == pytest.approx(293.65) and site.values("pressure")[5] == pytest.approx(97000.0)


def test_degrees_that_are_given_as_numbers_are_told_from_radians(site):
    for given in ({"tilt": 30, "azimuth": "180 deg"}, {"tilt": "30 deg", "azimuth": 180}):
        with pytest.raises(UsageError, match=r"Numbers are radians; degrees are a text: (tilt|azimuth)=\"\d+ deg\""):
            site.tilted(**given)
    np.testing.assert_allclose(site.light("30 deg", np.pi), site.light("30 deg", "-180 deg"), rtol=1e-9, atol=1e-9)


def test_what_is_wrong_is_told(site, tmp_path):
    with pytest.raises(UsageError, match="has 8750 hours of weather; a year has 8760"):
        ac.weather(write_epw(tmp_path / "cut.epw", cut=10))
    other = tmp_path / "other.csv"
    other.write_text("time,T\n0,1\n")
    with pytest.raises(UsageError, match="is no weather file: it begins with `time,T`"):
        ac.weather(other)
    with pytest.raises(UsageError, match="cannot be read"):
        ac.weather(tmp_path / "nowhere.epw")
    with pytest.raises(UsageError, match=r"The weather has no `temp`(.|\n)*Did you mean"):
        site["temp"]
    with pytest.raises(UsageError, match="`sky` is one of"):
        site.light(0.0, sky="blue")
    with pytest.raises(UsageError, match="`tilt` is 0 … 180 deg"):
        site.light("200 deg")
    gone = ac.weather(write_epw(tmp_path / "gone.epw"))
    gone.columns["temperature"][7] = np.nan
    with pytest.raises(UsageError, match="lacks `temperature` in 1 hours, first in hour 8"):
        gone["temperature"]


def test_weather_is_read_from_a_file():
    with pytest.raises(UsageError, match="read from a file, got None"):
        ac.weather(None)
