"""Laws of friction that a pipe chooses from, multipliers of two phases, and pipes of one pressure with mean densities."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.errors import UsageError
from acausal.library import fluid, signal, thermal
from acausal.library.fluid.mean_density import mean_density
from acausal.library.mechanics import rotational

WATER = ac.media.ConstantMedium("water", rho=995.586, cp=4184.0, viscosity=1e-3, conductivity=0.6)
R134A = ac.media.fluid("R134a")


def through(wired: Any, pipe: Any, m_flow: float, h: float = 1e5, p: float = 5e5) -> Any:
    """A flow is driven through a pipe into a pressure."""
    plant = wired("source.port pipe.a", "pipe.b end.port", source=fluid.FlowSource(m_flow=m_flow, h=h), pipe=pipe,
                  end=fluid.PressureBoundary(p=p, h=h))  # fmt: skip
    return ac.compile(plant).simulate(until=1.0, points=2)


@pytest.mark.parametrize("m_flow", [0.01, 0.5, -0.5])
@pytest.mark.parametrize(("law", "factor"), [("blasius", lambda Re: 0.3164 / Re**0.25), ("laminar", lambda Re: 64 / Re)])
def test_a_pipe_has_the_friction_that_it_was_given(wired: Any, law: str, factor: Any, m_flow: float) -> None:
    result = through(wired, fluid.Pipe(law, medium=WATER, length=10.0, diameter=0.02), m_flow)
    Re = 4 * abs(m_flow) / (np.pi * 0.02 * 1e-3)
    f = factor(Re) if Re > 4000 else 64 / Re
    dynamic = m_flow * abs(m_flow) / (2 * 995.586 * (np.pi / 4 * 0.02**2) ** 2)
    assert result["pipe.a.p"][-1] - result["pipe.b.p"][-1] == pytest.approx(f * 500.0 * dynamic, rel=1e-5)


def test_a_law_beyond_its_range_is_told_once_with_the_range(wired: Any) -> None:
    result = through(wired, fluid.Pipe("blasius", medium=WATER), 3.0)
    told = [d for d in result.diagnostics if "outside the range of the friction law 'blasius', 0 … 100000" in d.what]
    assert len(told) == 1 and "pipe" in str(told[0])
    assert not through(wired, fluid.Pipe("blasius", medium=WATER), 0.5).diagnostics
    assert ac.compile(Boiling(fluid.DistributedPipe(4, friction="blasius", **LINE))).simulate(until=10.0).outcome


@pytest.mark.parametrize("make", [lambda: fluid.Pipe("haaland"), lambda: fluid.DistributedPipe(4, friction="smooth")])
def test_a_law_that_is_not_known(make: Any) -> None:
    with pytest.raises(UsageError, match="The friction of a pipe is one of churchill, blasius, laminar, not"):
        make()


@pytest.mark.parametrize("multiplier", ["mueller-steinhagen-heck", "lockhart-martinelli", "homogeneous"])
def test_two_phase_friction_lies_between_liquid_and_vapour(wired: Any, multiplier: str) -> None:
    ends = R134A.saturation(p=5e5)
    loss = {}
    for x in (-0.2, 0.0, 0.3, 1.0, 1.2):
        result = through(wired, fluid.TwoPhasePipe(multiplier, medium=R134A), 0.02, ends.liquid.h + x * ends.h_evaporation)
        loss[x] = float(result["pipe.a.p"][-1] - result["pipe.b.p"][-1])
    liquid = float(fluid.pressure_loss(0.02, ends.liquid.rho, ends.liquid.viscosity, 1.0, 0.01, 1.5e-6))
    assert loss[0.0] == pytest.approx(liquid, rel=2e-2) and loss[-0.2] < loss[0.0] * 1.2
    assert loss[0.0] < loss[0.3] < 1.3 * loss[1.0] and loss[1.2] > loss[1.0]
    back = through(wired, fluid.TwoPhasePipe(multiplier, medium=R134A), -0.02, ends.liquid.h + 0.3 * ends.h_evaporation)
    assert back["pipe.a.p"][-1] - back["pipe.b.p"][-1] == pytest.approx(-loss[0.3], rel=0.05)


def test_chisholm_is_lockhart_and_martinelli(wired: Any) -> None:
    """The sum of three terms is what the multiplier makes of the liquid part alone."""
    ends = R134A.saturation(p=5e5)
    result = through(wired, fluid.TwoPhasePipe("lockhart-martinelli", medium=R134A), 0.02, ends.liquid.h + 0.2 * ends.h_evaporation)
    p = result["pipe.a.p"][-1]
    ends = R134A.saturation(p=p)
    x = (result["source.h"][-1] - ends.liquid.h) / ends.h_evaporation
    wet, dry = (float(fluid.pressure_loss(m, e.rho, e.viscosity, 1.0, 0.01, 1.5e-6))
                for m, e in ((0.02 * (1 - x), ends.liquid), (0.02 * x, ends.vapour)))  # fmt: skip
    X = np.sqrt(wet / dry)
    assert p - 5e5 == pytest.approx(wet * (1 + 20 / X + 1 / X**2), rel=1e-3)


def test_a_multiplier_that_is_not_known() -> None:
    with pytest.raises(UsageError, match="The multiplier of a two-phase pipe is one of mueller-steinhagen-heck, lockhart"):
        fluid.TwoPhasePipe("friedel")


@pytest.mark.parametrize(
    ("low", "high"), [(1.8e5, 2.2e5), (1.9e5, 3.0e5), (2.5e5, 3.5e5), (3.8e5, 4.6e5), (4.3e5, 4.9e5), (1.8e5, 4.8e5)]
)
def test_a_mean_density_is_that_of_the_integral(low: float, high: float) -> None:
    def exact(low: float, high: float) -> float:
        h = np.linspace(low, high, 20001)
        return float(np.trapezoid(np.asarray(R134A.state(p=4e5, h=h).rho), h) / (high - low))

    assert float(mean_density(R134A, 4e5, low, high)) == pytest.approx(exact(low, high), rel=5e-4)
    assert float(mean_density(R134A, 4e5, high, low)) == pytest.approx(exact(low, high), rel=5e-4)
    around = 0.05 * R134A.p_critical / R134A.rho_critical
    assert float(mean_density(R134A, 4e5, low, low)) == pytest.approx(exact(low - around, low + around), rel=1e-6)


@pytest.mark.parametrize("share", [0.3, 0.9, 0.98, 1.0, 1.02, 1.2])
def test_a_mean_density_near_the_critical_pressure_is_that_of_the_integral_and_has_no_corner(share: float) -> None:
    """Flows between cells follow from slopes: where one jumps, no step comes past it."""
    co2 = ac.media.fluid("CO2")
    p, middle, unit = share * co2.p_critical, co2.h_critical, co2.p_critical / co2.rho_critical
    for low, high in ((-8, 2), (-3, 0), (0, 3), (-1, 1), (-10, 10)):
        h = np.linspace(middle + low * unit, middle + high * unit, 20001)
        exact = np.trapezoid(np.asarray(co2.state(p=np.full_like(h, p), h=h).rho), h) / np.ptp(h)
        assert float(mean_density(co2, p, h[0], h[-1])) == pytest.approx(exact, rel=0.03 if abs(share - 1) < 0.03 else 5e-4)
    if share < 1:
        for border in (co2.saturation(p=p).liquid.h, co2.saturation(p=p).vapour.h):
            density = np.asarray(mean_density(co2, p, border + unit * np.linspace(-0.03, 0.03, 2001), border + 3 * unit))
            assert np.abs(np.diff(density, 2)).max() < 5e-5 * np.abs(np.diff(density)).max()  # a corner is 2e-4


def test_a_pipe_full_of_liquid_is_emptied_from_both_ends_until_it_boils(wired: Any) -> None:
    """All of it is saturated at once. Without inflow p and h of a mass of liquid and vapour are those of the volume it fills."""
    plant = wired(
        "left.port first.b", "first.a pipe.a", "pipe.b last.a", "last.b right.port",
        pipe=fluid.MeanDensityPipe(3, length=5.0, m_nominal=0.01, p_start=8e5, T_start=290.0),
        left=fluid.PressureBoundary(p=3.9e5, h=2.5e5, medium="R134a"), right=fluid.PressureBoundary(p=3.9e5, h=2.5e5),
        first=fluid.Orifice(A=1e-6), last=fluid.Orifice(A=1e-6),
    )  # fmt: skip
    result = ac.compile(plant).simulate(until=60.0, points=6001)
    assert result.outcome is ac.Outcome.FINISHED
    left = np.trapezoid(result["first.m_flow"] + result["last.m_flow"], result.time)
    assert left > 0.1 * result["pipe.charge"][0]
    assert result["pipe.charge"][0] - result["pipe.charge"][-1] == pytest.approx(left, rel=1e-3)
    start = R134A.state(p=8e5, T=290.0)
    boils = float(R134A.saturation(T=float(start.T)).p)
    assert result.at(0.5)["pipe.p"] == pytest.approx(boils, rel=0.03)


class Boiling(ac.Component):
    """A pipe with a warm wall, fed with wet vapour."""

    def __init__(self, pipe: Any) -> None:
        self.feed, self.out = fluid.FlowSource(medium=R134A, m_flow=0.01, h=2.5e5), fluid.Orifice(A=1e-5)
        self.pipe, self.end, self.wall = pipe, fluid.PressureBoundary(p=2e5, h=4e5), thermal.FixedTemperature(T=285.0)

    def connections(self) -> Any:
        yield self.feed.port, self.pipe.a
        yield self.pipe.b, self.out.a
        yield self.out.b, self.end.port
        yield self.wall.port, self.pipe.heat


LINE: dict[str, Any] = {"length": 10.0, "diameter": 0.02, "p_start": 3.5e5, "h_start": 4.05e5, "alpha": 1000.0}


def test_few_cells_of_mean_density_hold_what_many_do() -> None:
    def held(pipe: Any) -> float:
        return float(np.sum(ac.compile(Boiling(pipe)).simulate(until=200.0, points=2)["pipe.M"][-1]))

    few = held(fluid.MeanDensityPipe(10, m_nominal=0.01, dp_nominal=100.0, **LINE))
    assert few == pytest.approx(held(fluid.DistributedPipe(160, **LINE)), rel=0.02)  # ten cells of those hold 10 % less


def test_a_pipe_of_mean_density_stands_still_turns_round_and_keeps_its_account() -> None:
    model = ac.compile(Boiling(fluid.MeanDensityPipe(8, m_nominal=0.01, dp_nominal=1e3, **LINE)))
    steps = ac.hold([0, 100, 200, 300], [0.01, 0.014, 0.0, -0.002])
    result = model.simulate(until=400.0, points=4001, inputs={"feed.m_flow": steps})
    assert result.outcome is ac.Outcome.FINISHED
    came = np.trapezoid(result["pipe.a.m_flow"] + result["pipe.b.m_flow"], result.time)
    assert result["pipe.charge"][-1] - result["pipe.charge"][0] == pytest.approx(came, abs=5e-5)
    k = int(np.searchsorted(result.time, 299.0))
    assert abs(result["pipe.b.m_flow"][k]) < 1e-6 and np.ptp(result["pipe.T"][k]) < 1e-3  # at rest it is as warm as its wall
    assert result["pipe.b.m_flow"][-1] == pytest.approx(0.002, rel=1e-3)


def test_what_goes_to_and_fro_at_the_inlet_of_a_warm_pipe_dies_away(wired: Any) -> None:
    """Its pressure fell as soon as something cold came in, and rose as it went: that drove on what goes to and fro, for ever."""
    water = ac.media.fluid("water")
    plant = wired(
        "feed.port machine.a", "machine.b pipe.a", "drive.flange machine.flange", "wall.port pipe.heat",
        feed=fluid.PressureBoundary(p=4.05e5, x=1.0, medium=water), machine=fluid.TurboCompressor(diameter=0.06),
        drive=rotational.Speed(w=2500.0), wall=thermal.FixedTemperature(T=499.0),
        pipe=fluid.MeanDensityPipe(3, length=5.0, m_nominal=0.05, p_start=3.4e5, T_start=487.0),
    )  # fmt: skip
    result = ac.compile(plant).simulate(until=2.0, points=2001)
    m = np.abs(result["machine.m_flow"])
    assert result.outcome and m[1500:].max() < 1e-3 * m[:500].max()


def test_a_pipe_of_one_cell_is_refused() -> None:
    with pytest.raises(UsageError, match="two of them or more, not 1"):
        fluid.MeanDensityPipe(1)


@pytest.mark.parametrize(("p", "below"), [(1e6, 9e4), (1e6, 8e4), (3.5e6, 8e4)])
def test_the_mean_density_of_cold_liquid_is_its_own(p: float, below: float) -> None:
    """Far from the dome what is integrated from there to both ends of a cell nearly cancels."""
    start = R134A.saturation(p=p).liquid.h - below
    h = np.linspace(start, start + 1e4, 401)
    mean = np.trapezoid(R134A.state(p=p, h=h).rho, h) / 1e4
    assert mean_density(R134A, p, h[0], h[-1]) == pytest.approx(mean, rel=3e-3)


def test_a_pipe_of_mean_densities_above_the_critical_pressure(wired: Any) -> None:
    co2 = ac.media.fluid("CO2")
    plant = wired(
        "source.port pipe.a", "pipe.b end.port", source=fluid.FlowSource(medium=co2, m_flow=0.05, h=3e5),
        pipe=fluid.MeanDensityPipe(5, p_start=9e6, h_start=3e5), end=fluid.PressureBoundary(p=9e6, h=3e5),
    )  # fmt: skip
    result = ac.compile(plant).simulate(until=20.0)
    assert result.outcome is ac.Outcome.FINISHED
    V = np.pi / 4 * 0.02**2 * 10.0
    assert result["pipe.charge"][-1] == pytest.approx(V * co2.state(p=9e6, h=3e5).rho, rel=1e-3)


@pytest.mark.parametrize("apart", [1.0, 50.0, 1e3])
def test_the_mean_density_of_cold_water_changes_as_the_density_does(apart: float) -> None:
    """Its slope was three hundred times too steep: flows within a pipe of cold water grew without limit."""
    water, p, h, step = ac.media.fluid("water"), 3e5, 7e4, 1.0
    mean = [float(mean_density(water, p, h, h + apart + k * step)) for k in (-1, 1)]
    exact = [float(water.state(p=p, h=h + (apart + k * step) / 2).rho) for k in (-1, 1)]
    assert mean[1] - mean[0] == pytest.approx(exact[1] - exact[0], rel=1e-2)


def test_pipes_of_cold_water_are_filled_from_both_ends(wired: Any) -> None:
    plant = wired(
        "left.port first.a", "first.b pipe.a", "pipe.b last.a", "last.b right.port",
        left=fluid.PressureBoundary(p=3.7e5, T=295.0, medium="water"), right=fluid.PressureBoundary(p=3.3e5, T=342.0),
        first=fluid.Pipe(length=5.0), last=fluid.Orifice(A=2e-4),
        pipe=fluid.MeanDensityPipe(3, length=5.0, m_nominal=0.3, p_start=2.4e5, T_start=290.0),
    )  # fmt: skip
    result = ac.compile(plant).simulate(until=60.0)
    assert result.outcome and np.abs(result["pipe.m"]).max() < 2.0


@pytest.mark.parametrize("friction", ["churchill", "mueller-steinhagen-heck"])
def test_cells_that_fill_with_liquid_and_boil_again(wired: Any, friction: str) -> None:
    """With pressures as states, cells went to and fro between liquid and two phases at one instant."""
    how = {"states": "mass"} if friction == "churchill" else {}
    plant = wired(
        "feed.port first.a", "first.b one.a", "one.b pipe.a", "pipe.b two.a", "two.b last.a", "last.b end.port",
        "all.a pipe.heat", "all.b wall.port", "one.y came.u", "two.y went.u",
        feed=fluid.PressureBoundary(p=5e5, h=2.05e5, medium=R134A), end=fluid.PressureBoundary(p=2e5, h=4e5),
        one=fluid.FlowSensor(), two=fluid.FlowSensor(), came=signal.Integrator(), went=signal.Integrator(),
        first=fluid.Valve(A=2e-6), last=fluid.Orifice(A=3e-7), all=thermal.ThermalCollector(4),
        wall=thermal.PrescribedTemperature(),
        pipe=fluid.DistributedPipe(4, friction=friction, diameter=0.01, length=8.0, p_start=3e5, x_start=0.5, **how),
    )  # fmt: skip
    model = ac.compile(plant)
    swing = {"wall.T": ac.data([0.0, 200.0, 210.0, 400.0, 410.0, 600.0], [270.0, 270.0, 300.0, 300.0, 270.0, 270.0], ends="hold")}
    result = model.simulate(until=600.0, inputs=swing)
    assert result.outcome and result.statistics["events"] >= 8
    M = np.asarray(result["pipe.M"]).sum(axis=1)
    np.testing.assert_allclose(M - M[0], result["came.y"] - result["went.y"], atol=1e-9 * M.max())


def test_states_of_a_pipe_that_are_not_known() -> None:
    with pytest.raises(UsageError, match="'pressure' or 'mass', not 'volume'"):
        fluid.DistributedPipe(states="volume")


COLD, HOT, TALL = 293.15, 363.15, {"length": 10.0, "diameter": 0.05, "height": 10.0}


@pytest.mark.parametrize("share", [0.02, 0.5, 0.98])
@pytest.mark.parametrize("kind", [fluid.Pipe, fluid.TwoPhasePipe])
def test_fluids_of_two_densities_rest_on_each_other_in_a_pipe(wired: Any, kind: Any, share: float) -> None:
    """At a pressure between those of both columns the border stands in the pipe; the density jumped there, and no flow fitted."""
    water = ac.media.fluid("water")
    light, heavy = (float(water.state(p=3e5, T=T).rho) for T in (HOT, COLD))
    p = 3e5 + 9.80665 * 10.0 * (light + share * (heavy - light))
    plant = wired("low.port pipe.a", "pipe.b high.port", pipe=kind(medium=water, **TALL), low=fluid.PressureBoundary(p=p, T=COLD),
                  high=fluid.PressureBoundary(p=3e5, T=HOT))  # fmt: skip
    result = ac.compile(plant).simulate(until=1.0)
    creeping = 1000 * np.pi / 4 * 0.05 * (water.state(p=3e5, T=HOT).viscosity + water.state(p=3e5, T=COLD).viscosity) / 2
    assert abs(result["pipe.m_flow"][-1]) < creeping and not result.diagnostics


@pytest.mark.parametrize("kind", [fluid.Pipe, fluid.TwoPhasePipe])
def test_a_vessel_on_top_of_a_pipe_is_filled_and_comes_to_rest(wired: Any, kind: Any) -> None:
    water = ac.media.fluid("water")
    plant = wired("low.port pipe.a", "pipe.b vessel.ports[0]", pipe=kind(medium=water, **TALL),
                  low=fluid.PressureBoundary(p=3e5, T=COLD), vessel=fluid.Volume(1, p_start=1e5, T_start=393.15))  # fmt: skip
    result = ac.compile(plant).simulate(until="1 h")
    assert result.outcome is ac.Outcome.FINISHED
    rho = [float(water.state(p=p, T=T).rho) for p, T in ((3e5, COLD), (result["vessel.p"][-1], result["vessel.T"][-1]))]
    assert sorted(rho)[0] < (3e5 - result["vessel.p"][-1]) / (9.80665 * 10.0) < sorted(rho)[1]


def test_heavier_fluid_that_rests_on_lighter_one_is_told(wired: Any) -> None:
    plant = wired("low.port pipe.a", "pipe.b high.port", pipe=fluid.Pipe(medium="water", **TALL),
                  low=fluid.FlowSource(m_flow=0.0, T=HOT), high=fluid.PressureBoundary(p=3e5, T=COLD))  # fmt: skip
    told = [d.what for d in ac.compile(plant).simulate(until="1 min").diagnostics]
    assert len(told) == 1 and "Heavier fluid rests on lighter one" in told[0] and "`DistributedPipe`" in told[0]


@pytest.mark.parametrize("cells", [2, 5, 40])
@pytest.mark.parametrize("momentum", ["static", "dynamic"])
def test_cells_lose_what_a_pipe_without_storage_loses(wired: Any, cells: int, momentum: str) -> None:
    """From end to end, friction and height: of ten cells a tenth was missing, of two one half."""
    water = ac.media.fluid("water")

    def lost(pipe: Any) -> float:
        plant = wired("source.port pipe.a", "pipe.b valve.a", "valve.b end.port", source=fluid.FlowSource(m_flow=1.0, T=COLD),
                      pipe=pipe, valve=fluid.Orifice(A=1e-3), end=fluid.PressureBoundary(p=3e5, T=COLD))  # fmt: skip
        slowly = ac.data([0.0, 100.0], [0.0, 1.0], ends="hold")  # else the inertia of all the water tears it apart
        result = ac.compile(plant).simulate(until=600.0, inputs={"source.m_flow": slowly})
        return float(result["pipe.a.p"][-1] - result["pipe.b.p"][-1])

    sizes = {"medium": water, "length": 100.0, "diameter": 0.03, "height": 10.0}
    assert lost(fluid.DistributedPipe(cells, momentum, p_start=3e5, T_start=COLD, **sizes)) == pytest.approx(
        lost(fluid.Pipe(**sizes)), rel=1e-4
    )


def test_water_goes_round_by_its_densities(wired: Any) -> None:
    """The columns weigh what friction takes, and what flows carries the heat, whatever the number of cells."""
    water, up = ac.media.fluid("water"), {"length": 5.0, "diameter": 0.03}
    plant = wired(
        "riser.b top.a", "top.b fall.a", "fall.b bottom.a", "bottom.b riser.a", "vessel.port top.b", "fire.port riser.heat[0]",
        "cold.port fall.heat[0]",
        riser=fluid.DistributedPipe(6, medium=water, height=5.0, T_start=COLD, **up), top=fluid.Orifice(A=3e-4, dp_small=0.1),
        fall=fluid.DistributedPipe(9, height=-5.0, T_start=COLD, alpha=2e4, **up), bottom=fluid.Orifice(A=3e-4, dp_small=0.1),
        fire=thermal.FixedHeatFlow(Q_flow=2000.0), cold=thermal.FixedTemperature(T=COLD), vessel=fluid.ExpansionVessel(p_start=2e5),
    )  # fmt: skip
    result = ac.compile(plant).simulate(until="3 h")
    names = ("riser.a.m_flow", "riser.T[2]", "fall.T[4]", "riser.p[2]", "fall.p[4]", "riser.h[2]", "fall.h[4]")
    end = {name: float(result[name][-1]) for name in names}
    m, warm, cool = end["riser.a.m_flow"], (end["riser.p[2]"], end["riser.T[2]"]), (end["fall.p[4]"], end["fall.T[4]"])
    assert m * (end["riser.h[2]"] - end["fall.h[4]"]) == pytest.approx(2000.0, rel=1e-4)
    states = [water.state(p=p, T=T) for p, T in (warm, cool)]
    weigh = 9.80665 * 5.0 * float(states[1].rho - states[0].rho)
    pipes = sum(float(fluid.pressure_loss(m, s.rho, s.viscosity, 5.0, 0.03, 2.5e-5)) for s in states)
    holes = sum(m**2 / (2 * float(s.rho) * (0.65 * 3e-4) ** 2) for s in states)
    assert weigh == pytest.approx(pipes + holes, rel=0.02)  # but for the end cells, whose columns are of their own density
