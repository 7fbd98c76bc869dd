"""Conversions agree with pint, which the common units never import."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acausal.errors import UsageError
from acausal.language import units

relaxed = settings(deadline=None, max_examples=50)
COMPOSED = [
    "kg/s",
    "J/(kg*K)",
    "W/m^2/K",
    "W/(m**2*K)",
    "kJ/kg",
    "m**3/h",
    "N*m*s/rad",
    "1/s",
    "kg*m**2",
    "m**0.5",
    "l/min",
    "V/(rad/s)",
]


@pytest.mark.parametrize("unit", [u for u in [*units._known(), *COMPOSED] if u != "Nm"])
def test_units_known_here_agree_with_pint(unit):
    here, pints = units._resolve(unit), units._from_pint(unit)
    assert here.dimension == pints.dimension
    assert here.factor == pytest.approx(pints.factor, rel=1e-12) and here.offset == pytest.approx(pints.offset, rel=1e-12)


def test_a_newton_metre_is_a_torque():
    assert units.dimension("Nm") == units.dimension("N*m")  # pint reads a number of textile metres


@relaxed
@given(st.floats(-1e6, 1e6), st.sampled_from([("degC", "degF"), ("bar", "psi"), ("kWh", "MJ"), ("km/h", "m/s"), ("K", "degC")]))
def test_conversion_there_and_back(value, pair):
    there = units.convert(value, *pair)
    assert units.convert(there, *reversed(pair)) == pytest.approx(value, rel=1e-9, abs=1e-9)


def test_conversion_of_known_values():
    assert units.convert(100.0, "degC", "degF") == pytest.approx(212.0)
    assert units.convert(-40.0, "degF", "degC") == pytest.approx(-40.0)
    assert units.convert(1.0, "psi", "Pa") == pytest.approx(6894.757293168)
    assert units.convert(60.0, "rpm", "rad/s") == pytest.approx(2 * np.pi)
    np.testing.assert_allclose(units.convert([0.0, 10.0], "°C", "K"), [273.15, 283.15])
    same = object()
    assert units.convert(same, "anything", "anything") is same


def test_quantities_in_text():
    assert units.quantity("20 degC", "K") == pytest.approx(293.15)
    assert units.quantity("1.5bar", "Pa") == pytest.approx(1.5e5)
    assert units.quantity("-3e-1 kJ/kg", "J/kg") == pytest.approx(-300.0)
    assert units.quantity("50 %") == pytest.approx(0.5)
    assert units.to_si("20 degC", "K") == pytest.approx(293.15)
    assert units.to_si("20 degC", "degC") == pytest.approx(293.15)
    assert units.to_si(20.0, "degC") == pytest.approx(293.15)
    np.testing.assert_allclose(units.to_si([1.0, 2.0], "mbar"), [100.0, 200.0])


def test_compatible():
    assert units.compatible("J", "kWh") and units.compatible("Hz", "1/s") and units.compatible("", "1")
    assert not units.compatible("V", "A")
    assert units.compatible("no such unit", "no such unit")  # equal texts are never looked up


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: units.dimension("Kelvn"), "`Kelvn` is unknown.*kelvin"),
        (lambda: units.dimension("kg/sec0nd"), "unknown"),
        (lambda: units.dimension("V/"), "unknown"),
        (lambda: units.dimension("2*m"), "unknown"),
        (lambda: units.dimension(3), "got 3 of type int"),
        (lambda: units.dimension("dB"), "not a multiple of SI units"),
        (lambda: units.quantity("2 m"), "`m` cannot be converted to a plain number"),
        (lambda: units.convert(2.0, "", "m"), "A plain number cannot be converted to `m`"),
        (lambda: units.convert(1.0, "V", "A"), "`V` cannot be converted to `A`.*m\\^2 kg s\\^-3 A\\^-1"),
        (lambda: units.to_si("20 degC", "Pa"), "cannot be converted"),
        (lambda: units.quantity("warm", "K"), "number with a unit.*'warm'"),
    ],
)
def test_messages(call, message):
    with pytest.raises(UsageError, match=f"(?s){message}"):
        call()


def test_common_units_do_not_import_pint():
    code = "import sys; from acausal.language import units; units.convert(1, 'kJ/(kg*K)', 'J/kg/K'); units.to_si('20 degC', 'K'); "
    subprocess.run([sys.executable, "-c", code + "assert 'pint' not in sys.modules"], check=True)


@pytest.mark.parametrize(
    ("means", "said"), [(3, "so much of another"), ("-1 m", "positive"), ("0 m", "positive"), ("2 degC", "from zero")]
)
def test_a_unit_of_ones_own_is_so_much_of_another(means, said):
    with pytest.raises(UsageError, match=said):
        units.define_unit("ell", means)
    assert "ell" not in units._own


@pytest.mark.parametrize(
    ("a", "b"),
    [("rpm", "Hz"), ("rad/s", "Hz"), ("deg/s", "kHz"), ("rpm", "1/s"), ("rpm", "1/min"), ("turn/s", "Hz"), ("1/min", "rad/s")],
)
def test_an_angle_a_second_is_not_a_number_of_times_a_second(a: str, b: str) -> None:
    """60 rpm are one turn a second; through radians they were 6.28 Hz, and `SineVoltage(f="3000 rpm")` had 314 Hz."""
    for one, other in ((a, b), (b, a)):
        with pytest.raises(UsageError, match="a turn is 2π of one and 1 of the other"):
            units.convert(60.0, one, other)


def test_turns_convert_among_themselves_and_rates_that_say_nothing_of_turns_do() -> None:
    assert units.convert(60.0, "rpm", "deg/s") == pytest.approx(360.0)
    assert units.convert(2.0, "rad/s", "1/s") == 2.0 and units.convert(2.0, "kHz", "1/s") == 2000.0
    assert units.convert(30.0, "1/min", "Hz") == 0.5


@pytest.mark.parametrize("unit", ["barg", "bar(g)", "bar_g", "psig", "kPa(g)", "barü", "bar gauge"])
def test_gauge_pressures_are_told(unit: str) -> None:
    """`bar(g)` was a bar times a gram."""
    with pytest.raises(UsageError, match=r"counts from the pressure of the surroundings(.|\n)*Give the absolute pressure"):
        units.quantity(f"2 {unit}", "Pa")


def test_absolute_pressures_are_pressures() -> None:
    assert [units.quantity(f"2 {unit}", "Pa") for unit in ("bara", "bar(a)", "bar abs", "kPa_a")] == [2e5, 2e5, 2e5, 2e3]
