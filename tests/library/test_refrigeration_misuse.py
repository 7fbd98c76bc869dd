"""What is wrong with a circuit is said in a sentence that names the component."""

from __future__ import annotations

from typing import Any

import pytest

import acausal as ac
from acausal.errors import ModelError, UsageError
from acausal.library import fluid, refrigeration
from acausal.library.mechanics import drives
from acausal.library.thermal import FixedTemperature

R134A = ac.media.fluid("R134a")
FITS = "a mass has to fit into its volume"
CHARGES = ("condenser.charge_start", "receiver.charge_start", "evaporator.charge_start")


def told(plant: Any, until: float = 60.0) -> list[str]:
    """What the run says, each thing once."""
    result = ac.compile(plant).simulate(until=until)
    assert result.outcome is ac.Outcome.FINISHED
    return [f"{d.component}: {d.what}" for d in result.diagnostics]


def between(wired: Any, part: Any, p_a: float, p_b: float, h: float = 4.1e5) -> Any:
    """A part from one pressure to another."""
    ends = {"first": fluid.PressureBoundary(p=p_a, h=h), "second": fluid.PressureBoundary(p=p_b, h=h)}
    return wired("first.port part.a", "part.b second.port", part=part, **ends)


def test_a_circuit_without_a_volume(wired: Any) -> None:
    plant = wired("c.b v.a", "v.b c.a", c=refrigeration.Compressor(medium=R134A), v=fluid.Orifice(A=1e-6))
    with pytest.raises(ModelError, match=r"Nothing holds the level of `c\.a\.p`") as caught:
        ac.compile(plant)
    assert "Nothing in this circuit holds fluid" in str(caught.value) and "ground" not in str(caught.value)
    assert "a boundary or a store to `c.a`: a volume, a tank" in str(caught.value)


@pytest.fixture(scope="module")
def store() -> Any:
    return ac.compile(refrigeration.ColdStore())


@pytest.mark.parametrize(
    ("values", "part", "why"),
    [
        (dict.fromkeys(CHARGES, 0.0), "condenser (Condenser)", FITS),
        ({"receiver.charge_start": 2.4}, "receiver (Receiver)", FITS),
        ({"condenser.T_start": 600.0}, "condenser (Condenser)", "T = 600 K is above the highest temperature"),
        ({"condenser.T_start": 20.0}, "condenser (Condenser)", 'temperatures are in K, 20 °C is written "20 degC"'),
    ],
    ids=["without charge", "twice what fits", "too hot", "in °C"],
)
def test_a_charge_that_cannot_be(store: Any, values: dict[str, float], part: str, why: str) -> None:
    with pytest.raises(ModelError, match="Parameters ask for a state that does not exist") as caught:
        store.simulate(until=10.0, set=values)
    assert part in str(caught.value) and why in str(caught.value)
    assert (FITS in str(caught.value)) == (why == FITS)  # a start that is too hot has nothing to do with its mass


@pytest.mark.parametrize("name", ["valve.A", "condenser.area", "evaporator.V", "receiver.V"])
def test_sizes_are_positive(store: Any, name: str) -> None:
    with pytest.raises((ModelError, UsageError), match=f"`{name}` = -1.* is out of its range") as caught:
        store.simulate(until=10.0, set={name: -1.0})
    assert f"{name.split('.')[0]} (" in str(caught.value)


def test_a_volume_of_nothing(store: Any) -> None:
    with pytest.raises((ModelError, UsageError), match=r"`condenser\.V` = 0 .*is out of its range"):
        store.simulate(until=10.0, set={"condenser.V": 0.0})


@pytest.mark.parametrize("valve", [refrigeration.ThermostaticValve, refrigeration.ElectronicValve, refrigeration.Capillary])
def test_a_valve_that_is_drawn_backwards(wired: Any, valve: Any) -> None:
    wrong = told(between(wired, valve(medium=R134A), 2e5, 8e5, h=2.4e5))
    assert [line for line in wrong if "wrong way round" in line and "part (" in line]
    assert not [line for line in told(between(wired, valve(medium=R134A), 8e5, 2e5, h=2.4e5)) if "wrong way round" in line]


def test_a_valve_of_no_area_is_not_drawn_backwards(wired: Any) -> None:
    """Nothing flows, and no flow is none backwards."""
    for p_a, p_b in ((2e5, 8e5), (8e5, 2e5)):
        assert not told(between(wired, refrigeration.ElectronicValve(A=0.0, medium=R134A), p_a, p_b, h=2.4e5))


def test_a_valve_through_which_a_plant_at_rest_comes_even_is_not_drawn_backwards(wired: Any) -> None:
    """Some tenths of a bar are left of a day's run, or of what is given at the start; they go either way."""
    assert not told(between(wired, refrigeration.ElectronicValve(medium=R134A), 5.5e5, 6e5, h=2.4e5))


def test_a_compressor_that_is_drawn_backwards(wired: Any) -> None:
    wrong = told(between(wired, refrigeration.Compressor(medium=R134A), 8e5, 3e5, h=4.3e5))
    assert sum("wrong way round" in line and "part (" in line for line in wrong) == 1


def test_a_compressor_that_pumps_liquid(wired: Any) -> None:
    wrong = told(between(wired, refrigeration.Compressor(medium=R134A), 3e5, 8e5, h=2e5))
    assert sum("takes in wet vapour" in line and "part (" in line for line in wrong) == 1


def test_a_compressor_on_a_shaft_that_pumps_liquid(wired: Any) -> None:
    """It stalls its drive, and never comes to nine tenths of its speed."""
    ends = {"low": fluid.PressureBoundary(p=3e5, x=0.0, medium=R134A), "high": fluid.PressureBoundary(p=9e5, x=1.0)}
    joints = ("low.port part.a", "part.b high.port", "motor.flange part.flange")
    wrong = told(wired(*joints, part=refrigeration.ShaftCompressor(), motor=drives.InductionMotor(), **ends), 10.0)
    assert sum("takes in wet vapour" in line and "part (" in line for line in wrong) == 1


def test_a_turbo_compressor_that_is_given_liquid(wired: Any) -> None:
    def plant(x: float) -> Any:
        ends = {"low": fluid.PressureBoundary(p=3e5, x=x, medium=R134A), "high": fluid.PressureBoundary(p=3.1e5, x=1.0)}
        joints = ("low.port part.a", "part.b high.port", "motor.flange part.flange")
        return wired(*joints, part=fluid.TurboCompressor(), motor=drives.InductionMotor(), **ends)

    assert sum("more liquid than vapour" in line and "part (" in line for line in told(plant(0.0), 10.0)) == 1
    assert not told(plant(1.0), 10.0)


def test_a_circuit_with_next_to_no_charge_is_told(wired: Any) -> None:
    wrong = told(between(wired, refrigeration.Compressor(medium=R134A), 300.0, 8e3, h=4.1e5))
    assert sum("Is there any charge in the circuit" in line and "part (" in line for line in wrong) == 1
    assert not [line for line in told(between(wired, refrigeration.Compressor(medium=R134A), 2e4, 8e4)) if "charge" in line]


def test_a_compressor_starts_into_an_evacuated_side(wired: Any) -> None:
    """At 160 Pa the medium has no state with the entropy of suction gas, and none is asked for where there is no work."""
    ends = {"cold": FixedTemperature(T=275.0), "warm": FixedTemperature(T=300.0)}
    plant = wired(
        "comp.b cond.a", "cond.b valve.a", "valve.b evap.a", "evap.b comp.a", "cond.air warm.port", "evap.air cold.port",
        comp=refrigeration.Compressor(medium=R134A), cond=refrigeration.DistributedExchanger(4, charge_start=1e-5),
        valve=refrigeration.ElectronicValve(), evap=refrigeration.DistributedExchanger(4, charge_start=0.4), **ends,
    )  # fmt: skip
    result = ac.compile(plant).simulate(until=60.0)
    assert result.outcome is ac.Outcome.FINISHED and result["cond.p[0]"][-1] > result["evap.p[0]"][-1]


@pytest.mark.parametrize("kind", [fluid.Turbine, fluid.LinneckenTurbine])
def test_a_turbine_that_is_given_liquid(wired: Any, kind: Any) -> None:
    wrong = told(between(wired, kind(medium=R134A, K=1e-6), 8e5, 3e5, h=2.2e5))
    assert sum("takes in more liquid than vapour" in line and "part (" in line for line in wrong) == 1
    assert not told(between(wired, kind(medium=R134A, K=1e-6), 8e5, 3e5, h=4.3e5))


def test_a_map_outside_of_what_was_measured_is_told_once_with_its_range(wired: Any) -> None:
    flow, power = [8e-3, *[0.0] * 9], [500.0, *[0.0] * 9]
    machine = refrigeration.MapCompressor(flow, power, S_range=(-25.0, 10.0), medium=R134A)
    wrong = told(between(wired, machine, 0.7e5, 8e5))
    assert sum("-25 … 10 °C" in line and "part (" in line for line in wrong) == 1


@pytest.mark.parametrize("kind", [refrigeration.Evaporator, refrigeration.Condenser])
def test_an_exchanger_that_is_filled_until_it_is_full(wired: Any, kind: Any) -> None:
    """It was a division by zero."""
    plant = wired(
        "feed.port part.a", "part.air air.port", feed=fluid.FlowSource(m_flow=0.02, h=2.5e5, medium=R134A),
        part=kind(charge_start=0.5), air=FixedTemperature(T=300.0),
    )  # fmt: skip
    with pytest.warns(ac.RunWarning, match="The pressure comes to the critical one") as caught:
        result = ac.compile(plant).simulate(until=1000.0)
    assert not result.outcome and 0.5 + 0.02 * result.time_reached == pytest.approx(result["part.charge"][-1], rel=1e-2)
    assert "part (" in str(caught[0].message) and "Does more come in than can leave" in str(caught[0].message)


def test_a_component_of_the_library_that_cannot_use_its_medium_is_named(wired: Any) -> None:
    gas = fluid.FlowSource(T=300.0, medium=ac.media.ideal_gas("N2"))
    with pytest.raises(UsageError, match=r"N2 has no two phases(.|\n)*component: part \(Evaporator\)"):
        ac.compile(wired("feed.port part.a", feed=gas, part=refrigeration.Evaporator()))


def test_a_boundary_that_is_given_the_quality_of_a_gas_is_named(wired: Any) -> None:
    gas = fluid.PressureBoundary(x=0.5, medium=ac.media.ideal_gas("N2"))
    with pytest.raises(UsageError, match=r"cannot be found from \(p, x\)(.|\n)*component: feed \(PressureBoundary\)"):
        ac.compile(wired("feed.port end.port", feed=gas, end=fluid.Closed()))


def test_a_compressor_by_its_map_that_pumps_liquid(wired: Any) -> None:
    machine = refrigeration.MapCompressor([8e-3, *[0.0] * 9], [500.0, *[0.0] * 9], medium=R134A)
    assert sum("takes in wet vapour" in line for line in told(between(wired, machine, 2.5e5, 8e5, h=2e5))) == 1


@pytest.mark.parametrize(("flow", "power", "what"), [(-8e-3, 500.0, "mass flow"), (8e-3, -500.0, "power")])
def test_a_polynomial_in_other_units_is_told(wired: Any, flow: float, power: float, what: str) -> None:
    machine = refrigeration.MapCompressor([flow, *[0.0] * 9], [power, *[0.0] * 9], medium=R134A)
    wrong = told(between(wired, machine, 2.5e5, 8e5))
    assert sum(f"{what} is not above zero here" in line and "part (" in line for line in wrong) == 1


@pytest.mark.parametrize(("share", "lines"), [(0.97, 1), (1.03, 0)])
def test_a_map_with_less_power_than_an_ideal_compressor_is_told(wired: Any, share: float, lines: int) -> None:
    """With coefficients for kg/h or kW nothing is below zero, and the gas left colder than it can."""
    suction = R134A.state(p=2.5e5, h=4.1e5)
    ideal = 8e-3 * float(suction.rho / R134A.state(p=2.5e5, T=R134A.saturation(p=2.5e5).T + 10.0).rho)
    ideal *= float(R134A.state(p=8e5, s=suction.s).h - suction.h)
    machine = refrigeration.MapCompressor([8e-3, *[0.0] * 9], [share * ideal, *[0.0] * 9], medium=R134A)
    wrong = told(between(wired, machine, 2.5e5, 8e5, h=4.1e5))
    assert sum("less power than one without any losses" in line and "part (" in line for line in wrong) == lines


def test_a_map_has_no_saturated_discharge_above_the_critical_pressure(wired: Any) -> None:
    machine = refrigeration.MapCompressor([8e-3, *[0.0] * 9], [500.0, *[0.0] * 9], medium="CO2")
    assert sum("saturated discharge" in line for line in told(between(wired, machine, 30e5, 90e5, h=4.5e5))) == 1


@pytest.mark.parametrize("make", [fluid.HeatExchanger, fluid.PlateExchanger])
def test_an_exchanger_for_one_phase_that_is_given_two(wired: Any, make: Any) -> None:
    plant = wired(
        "wet.port part.a1", "part.b1 out.port", "feed.port part.a2", "part.b2 end.port",
        wet=fluid.FlowSource(m_flow=0.1, h=3e5, medium=R134A), out=fluid.PressureBoundary(p=5e5, T=300.0), part=make(),
        feed=fluid.FlowSource(m_flow=0.1, T=320.0, medium="water"), end=fluid.PressureBoundary(T=320.0),
    )  # fmt: skip
    wrong = [line for line in told(plant) if "comes as liquid and vapour" in line]
    assert len(wrong) == 1 and "The first fluid" in wrong[0] and "LogMeanExchanger" in wrong[0]


def test_a_separator_above_the_critical_pressure(wired: Any) -> None:
    plant = wired("vessel.inlet end.port", vessel=fluid.Separator(p_start=60e5, medium=R134A), end=fluid.Closed())
    with pytest.warns(ac.RunWarning, match=r"none above the critical 40.6 bar of R134a"):
        assert not ac.compile(plant).simulate(until=10.0).outcome


def test_a_volume_of_nothing_at_all(wired: Any) -> None:
    plant = wired("vessel.ports[0] end.port", vessel=fluid.Volume(1, p_start=0.0, medium=R134A), end=fluid.Closed())
    with pytest.raises((ModelError, UsageError), match=r"`vessel\.p_start` = 0 Pa is out of its range"):
        ac.compile(plant).simulate(until=1.0)


def test_two_vessels_joined_directly_that_both_begin_with_a_pressure(wired: Any) -> None:
    plant = wired(
        "low.liquid coil.a", "coil.b end.port", "feed.port low.inlet", "low.vapour top.port",
        low=fluid.Separator(p_start=4e5, medium=R134A), coil=refrigeration.Evaporator(charge_start=0.2),
        feed=fluid.FlowSource(m_flow=0.0, h=3e5), end=fluid.Closed(), top=fluid.Closed(),
    )  # fmt: skip
    with pytest.raises(ModelError, match="more is said of the start than can be chosen") as caught:
        ac.compile(plant).simulate(until=1.0)
    said = str(caught.value)
    assert "It competes with:\n    low (Separator): self.p == self.p_start" in said
    assert "component: coil (Evaporator)" in said and "put a valve or a pipe between them" in said
