"""What a newcomer may give to a component of fluids by mistake: a sentence names the component and says what to do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.errors import ModelError, UsageError
from acausal.library import air, control, fluid, refrigeration, thermal
from tests.library.test_operation_of_each import PACES, cases, rig


def refused(name: str, **values: float) -> str:
    """What is said of a component whose parameters have these values."""
    drawn = rig(cases()[name], PACES["gently"])
    model = ac.compile(drawn.circuit)
    with pytest.raises((ModelError, UsageError)) as caught:
        model.simulate(until=1.0, inputs=drawn.inputs, set={f"part.{key}": value for key, value in values.items()})
    return str(caught.value)


@pytest.mark.parametrize(
    "name",
    ["OpenTank", "StratifiedTank", "ExpansionVessel", "CrossFlowExchanger", "Receiver", "Evaporator", "DistributedExchanger"],
)
def test_a_start_in_degrees_celsius(name: str) -> None:
    """Where a pressure decides, too, an initial equation had no value, and nobody said why."""
    said = refused(name, **{"T1_start" if name == "CrossFlowExchanger" else "T_start": 20.0})
    assert "T = 20 K is below the lowest temperature of the table" in said and f"part ({name})" in said
    assert 'temperatures are in K, 20 °C is written "20 degC"' in said and said.count("T = 20 K") == 1


def test_a_pressure_in_bar(wired: Any) -> None:
    ends = {"one": fluid.PressureBoundary(p=8.0, medium="R134a"), "two": fluid.PressureBoundary(p=3.0)}
    model = ac.compile(wired("one.port part.a", "part.b two.port", part=fluid.Orifice(), **ends))
    with pytest.warns(ac.RunWarning, match='pressures are in Pa, 8 bar is written "8 bar"'):
        assert not model.simulate(until=1.0).outcome


@pytest.mark.parametrize(
    ("name", "state", "guess"),
    [
        ("R134a", {"p": 5e5, "T": 20.0}, '20 °C is written "20 degC"'),
        ("R134a", {"p": 5e5, "T": -20.0}, '-20 °C is written "-20 degC"'),
        ("R134a", {"p": 5e5, "T": 149.0}, ""),  # little below 170 K: meant in K
        ("water", {"p": 5e5, "T": 149.0}, '149 °C is written "149 degC"'),
        ("water", {"p": 5e5, "T": -20.0}, ""),  # ice
        ("R134a", {"p": 8.0, "h": 1e5}, '8 bar is written "8 bar"'),
        ("R134a", {"p": 120.0, "h": 1e5}, ""),  # 120 bar is more than its table has
        ("water", {"p": 300.0, "h": 1e5}, ""),
    ],
)
def test_what_may_be_meant_is_guessed_where_the_medium_has_it(name: str, state: dict[str, float], guess: str) -> None:
    with pytest.raises(UsageError) as caught:
        ac.media.fluid(name).state(**state)
    assert guess in str(caught.value) and ("is written" in str(caught.value)) == bool(guess)


def test_what_shows_only_after_other_values_are_found() -> None:
    said = refused("Separator", p_start=1e-3)
    assert "at p = 0.001 Pa is colder than gas in the table of R134a" in said and "part (Separator)" in said


@pytest.mark.parametrize(
    ("name", "quantity"),
    [
        ("DistributedExchanger", "m_nominal"), ("Evaporator", "m_nominal"), ("Condenser", "m_small"), ("Evaporator", "C"),
        ("DistributedExchanger", "C"), ("CellularExchanger", "C"), ("DistributedPipe", "length"),
        ("OpenTank", "area"), ("StratifiedTank", "height"), ("StratifiedTank", "p_nominal"),
    ],
)  # fmt: skip
def test_sizes_of_nothing_by_which_a_component_divides(name: str, quantity: str) -> None:
    """They were within their ranges, and ended in a division by zero or in equations that depend on each other."""
    said = refused(name, **{quantity: 0.0})
    assert f"`part.{quantity}` = 0" in said and "is out of its range" in said and f"part ({name})" in said


@pytest.mark.parametrize("kind", ["DistributedPipe", "MeanDensityPipe"])
def test_a_pipe_that_is_insulated(kind: str) -> None:
    """Without any heat transfer nothing said how warm its wall is, to which nobody connects."""
    drawn = rig(cases()[kind], PACES["gently"])
    result = ac.compile(drawn.circuit).simulate(until=100.0, inputs=drawn.inputs, set={"part.alpha": 0.0})
    assert result.outcome is ac.Outcome.FINISHED and np.abs(result["part.heat.Q_flow"]).max() < 1e-9


@pytest.mark.parametrize("count", [0, -3, 2.5, "ten", None, True])
@pytest.mark.parametrize(
    "make",
    [
        fluid.DistributedPipe, fluid.MeanDensityPipe, fluid.CrossFlowExchanger, fluid.CellularExchanger, fluid.StratifiedTank,
        fluid.OpenTank, refrigeration.DistributedExchanger, thermal.ThermalCollector, thermal.Wall, thermal.LayeredWall,
        control.Sequencer,
    ],
)  # fmt: skip
def test_how_many_there_are_is_a_whole_number(make: Any, count: Any) -> None:
    with pytest.raises(UsageError, match=r" or more\b.*, not ") as caught:
        make(count)
    assert repr(count) in str(caught.value) and "try:" in str(caught.value)


def test_numbers_of_numpy_count_as_well() -> None:
    assert fluid.DistributedPipe(np.int64(4)).cells == 4 and len(fluid.Volume(np.int32(3)).ports) == 3


def test_a_vessel_without_liquid_says_what_to_do() -> None:
    drawn = rig(cases()["ExpansionVessel"], PACES["gently"])
    with pytest.warns(ac.RunWarning, match="Give a larger `p_start` or a smaller `p_gas`"):
        ac.compile(drawn.circuit).simulate(until=1.0, inputs=drawn.inputs, set={"part.p_start": 0.9e5})


def line(wired: Any, part: Any, medium: Any, **state: float) -> Any:
    ends = {name: fluid.PressureBoundary(p=2e5, medium=medium, **state) for name in ("one", "two")}
    return ac.compile(wired("one.port part.a", "part.b two.port", part=part, **ends))


def test_a_volume_of_a_liquid_that_does_not_give_way(wired: Any) -> None:
    """Its density changes with temperature alone: the pressure went to 120 000 bar."""
    brine = ac.media.liquid("ethylene glycol", 0.3)
    for store in (fluid.Volume(1, medium=brine), fluid.LiquidVolume(1, medium=brine)):
        with pytest.raises(UsageError, match=r"ethylene glycol 30 % is incompressible(.|\n)*component: part \("):
            ac.compile(wired("part.ports[0] end.port", part=store, end=fluid.Closed()))
    with pytest.raises(UsageError, match=r"incompressible, so that DistributedPipe"):
        line(wired, fluid.DistributedPipe(3), brine, T=300.0)


def test_fractions_of_what_is_no_mixture(wired: Any) -> None:
    with pytest.raises(UsageError, match=r"`X_start` is given, \[0.5\], and R134a has one composition(.|\n)*part \(Volume\)"):
        ac.compile(wired("part.ports[0] end.port", part=fluid.Volume(1, [0.5], medium="R134a"), end=fluid.Closed()))
    with pytest.raises(UsageError, match=r"`X` is given, \[0.5\], and R134a has one composition(.|\n)*end \(PressureBoundary\)"):
        ac.compile(wired("end.port part.port", end=fluid.PressureBoundary([0.5], medium="R134a"), part=fluid.Closed()))


@pytest.mark.parametrize("given", [0.01, "air", [0.2, "much"]])
def test_fractions_that_are_none(given: Any) -> None:
    with pytest.raises(UsageError, match=r"`X_start` are mass fractions.* not "):
        fluid.Volume(2, given)


@pytest.mark.parametrize("part", [air.Coil, air.FinAndTube])
def test_a_coil_for_air_in_a_circuit_of_water(wired: Any, part: Any) -> None:
    with pytest.raises(UsageError, match=rf"{part.__name__} is for moist air, and in its circuit flows Water(.|\n)*part \("):
        line(wired, part(), "water", T=300.0)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (([1.0] * 9, [1.0] * 10), "flow has 10 coefficients .* not 9"),
        (([1.0] * 10, ["a"] * 10), "power has 10 numbers"),
        ((5.0, [1.0] * 10), "flow has 10 numbers .* not 5.0"),
        (("1234567890", [1.0] * 10), "flow has 10 numbers .* not '1234567890'"),
        (([1.0] * 10, [1.0] * 10, (15.0, -30.0)), "`S_range` .* not from 15.0 to -30.0"),
        (([1.0] * 10, [1.0] * 10, None), "`S_range` of a compressor is two temperatures .* not None"),
        (([1.0] * 10, [1.0] * 10, (5.0, 6.0, 7.0)), r"`S_range` .* is two temperatures .* not \(5.0, 6.0, 7.0\)"),
        (([1.0] * 10, [1.0] * 10, (-30.0, 15.0), ("a", "b")), r"`D_range` .* is two temperatures .* not \('a', 'b'\)"),
        (([1.0] * 10, [1.0] * 10, "12"), "`S_range` .* is two temperatures .* not '12'"),
    ],
)
def test_a_map_that_is_none(given: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        refrigeration.MapCompressor(*given)


def test_a_misspelt_alternative_is_suggested() -> None:
    with pytest.raises(UsageError, match=r"Volume has no `T_strat`.* Did you mean `T_start`"):
        fluid.Volume(2, T_strat=300.0)  # type: ignore[call-arg]


def test_a_law_that_is_no_name() -> None:
    with pytest.raises(UsageError, match="The friction of a pipe is one of churchill"):
        fluid.Pipe(["blasius"])  # type: ignore[arg-type]


@pytest.mark.parametrize("name, ports", [("OpenTank", ["ports[0]"]), ("ExpansionVessel", ["port"]), ("StratifiedTank", ["a", "b"])])
def test_a_gas_has_no_surface(wired: Any, name: str, ports: list[str]) -> None:
    """A level was computed of it all the same."""
    sources = {f"source{k}": fluid.FlowSource(m_flow=0.01) for k in range(len(ports))}
    pipes = [f"source{k}.port part.{port}" for k, port in enumerate(ports)]
    with pytest.raises(UsageError) as caught:
        ac.compile(wired(*pipes, part=getattr(fluid, name)(medium=ac.media.ideal_gas("N2")), **sources))
    said = str(caught.value)
    assert f"{name} holds a liquid, and N2 is a gas" in said and f"part ({name})" in said and "fluid.Volume" in said


def test_nor_has_a_real_fluid_that_is_too_warm(wired: Any) -> None:
    tank, source = fluid.OpenTank(medium=ac.media.fluid("R134a")), fluid.FlowSource(m_flow=0.01)
    model = ac.compile(wired("source.port tank.ports[0]", tank=tank, source=source))
    with pytest.warns(ac.RunWarning, match="what is in it is vapour(.|\n)*tank \\(OpenTank\\)"):
        assert not model.simulate(until=1.0).outcome
    cold = {"tank.T_start": 240.0, "source.h": 1.5e5}
    assert model.simulate(until=1.0, set=cold).outcome


@pytest.mark.parametrize("kind", [fluid.Pump, fluid.Fan])
def test_a_pump_that_takes_in_liquid_and_vapour_says_so(wired: Any, kind: Any) -> None:
    water = ac.media.fluid("water")
    plant = wired("well.port pump.a", "pump.b high.port", well=fluid.PressureBoundary(p=1e5, h=3e5, medium=water), pump=kind(),
                  high=fluid.PressureBoundary(p=1e5, h=3e5))  # fmt: skip
    model, ends = ac.compile(plant), water.saturation(p=1e5)
    for h, tells in ((3e5, False), (ends.liquid.h, False), (ends.liquid.h + 1e5, True), (ends.vapour.h + 1e4, False)):
        told = [f"{d.component}: {d.what}" for d in model.simulate(until="1 min", inputs={"well.h": float(h)}).diagnostics]
        assert len(told) == tells
        assert not tells or ("it cavitates" in told[0] and "pump" in told[0] and "colder liquid" in told[0])


@pytest.mark.parametrize("way", [1.0, -1.0])
def test_a_nozzle_that_takes_in_liquid_says_so(wired: Any, way: float) -> None:
    """Water passed by the law of a gas, in silence: of 10 bar and 25 °C towards 1 bar half of what does."""
    water = ac.media.fluid("water")
    one, two = (fluid.PressureBoundary(p=(5.5 + side * way) * 1e5, T=298.15, medium=water) for side in (4.5, -4.5))
    plant = wired("one.port nozzle.a", "nozzle.b two.port", one=one, nozzle=fluid.Nozzle(), two=two)
    model, ends = ac.compile(plant), water.saturation(p=1e6)
    for T, tells in ((298.15, True), (float(ends.T) + 20.0, False)):
        found = model.simulate(until="1 min", inputs={"one.T": T, "two.T": T})
        told = [f"{d.component}: {d.what}" for d in found.diagnostics]
        assert len(told) == tells and found.outcome
        assert not tells or ("nozzle" in told[0] and "more liquid than vapour" in told[0] and "Take an `Orifice`" in told[0])
