"""Correlations against published forms, and the components that use them against closed forms and balances."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.errors import UsageError
from acausal.library import air, fluid, refrigeration, thermal
from acausal.library.fluid import correlations as c
from acausal.library.fluid import friction
from acausal.library.fluid.two_phase import HEIGHT

WATER = ac.media.ConstantMedium("water", rho=995.586, cp=4184.0, viscosity=1e-3, conductivity=0.6)
R134A = ac.media.fluid("R134a")
COLD, WARM = (WATER.state(p=2e5, T=T).h for T in (293.15, 333.15))


def test_heat_transfer_in_a_pipe_goes_over_from_laminar_to_gnielinski() -> None:
    assert float(c.nusselt(1500.0, 7.0)) == pytest.approx(3.66)
    f = (0.79 * np.log(2e4) - 1.64) ** -2 / 8
    turbulent = f * 19000 * 7.0 / (1 + 12.7 * np.sqrt(f) * (7.0 ** (2 / 3) - 1))
    assert float(c.nusselt(2e4, 7.0)) == pytest.approx(turbulent, rel=1e-12)
    Re = np.linspace(1000.0, 8000.0, 200)
    assert np.all(np.diff([float(c.nusselt(r, 7.0)) for r in Re]) >= -1e-12)


def test_two_phase_friction_has_its_limits() -> None:
    assert float(c.mueller_steinhagen_heck(3.0, 50.0, 0.0)) == pytest.approx(3.0)
    assert float(c.mueller_steinhagen_heck(3.0, 50.0, 1.0)) == pytest.approx(50.0, rel=1e-2)
    assert float(c.lockhart_martinelli(1e-9, 0.01, 10.0)) == pytest.approx(1.0, rel=1e-2)


@pytest.mark.parametrize("multiplier", friction.MULTIPLIERS)
@pytest.mark.parametrize("h", [4.035e5, 4.04e5, 4.05e5])
def test_more_flow_of_nearly_dry_vapour_loses_more(multiplier: str, h: float) -> None:
    """Behind an orifice more flow comes at a lower pressure, and so a little drier: with the slope of a root the last liquid made
    it lose less, and two flows belonged to one difference of pressures."""
    m = np.linspace(0.03, 0.07, 100001)
    p = 4.7e5 - 2.5e3 * (m / 0.01) ** 2
    ends = R134A.saturation(p=p)
    x = (h - ends.liquid.h) / ends.h_evaporation
    sides = friction.both_phases(x, R134A.state(p=p, h=h), ends)
    lost = np.array(friction.two_phase_loss(multiplier, m, x, *sides, 3.0, 0.01, 1.5e-6))
    assert x.min() < 1.0 < x.max() and np.all(np.diff(lost - p) > 0)


@pytest.mark.parametrize(("a", "b"), [(10.0, 10.0), (10.0, 9.9), (20.0, 5.0), (30.0, 3.0)])
def test_a_logarithmic_mean_without_a_hole(a: float, b: float) -> None:
    exact = a if a == b else (a - b) / np.log(a / b)
    assert float(c.log_mean(a, b)) == pytest.approx(exact, rel=2e-3)
    assert float(c.log_mean(a, -b)) == 0.0


def exchange(wired: Any, part: Any, m1: float = 0.3, m2: float = 0.3, until: float = 1.0) -> Any:
    ends = {
        "hot": fluid.FlowSource(m_flow=m1, h=WARM), "hot_end": fluid.PressureBoundary(p=2e5, h=WARM),
        "cold": fluid.FlowSource(m_flow=m2, h=COLD), "cold_end": fluid.PressureBoundary(p=2e5, h=COLD),
    }  # fmt: skip
    joins = ("hot.port part.a1", "part.b1 hot_end.port", "cold.port part.a2", "part.b2 cold_end.port")
    return ac.compile(wired(*joins, part=part, **ends)).simulate(until=until)


def test_a_plate_exchanger_has_the_ua_of_its_plates(wired: Any) -> None:
    result = exchange(wired, fluid.PlateExchanger(one=WATER, two=WATER))
    Re = 2 * 0.3 / (9.5 * 0.1 * 1e-3)
    alpha = float(c.plate_nusselt(Re, 4184.0 * 1e-3 / 0.6)) * 0.6 / 5e-3
    UA = 18 * 0.04 / (2 / alpha + 0.4e-3 / 16.0)
    assert result["part.UA"][-1] == pytest.approx(UA, rel=1e-3)
    units = UA / (0.3 * 4184.0)
    assert result["part.eps"][-1] == pytest.approx(units / (1 + units), rel=1e-3)
    assert not result.diagnostics


def test_the_ua_of_plates_is_not_given() -> None:
    """One that was given was taken, and did nothing: what counted was that of the sizes."""
    with pytest.raises(UsageError, match=r"`PlateExchanger\.UA` is an unknown"):
        fluid.PlateExchanger(UA=5000.0)


def test_a_correlation_outside_of_its_range_warns_once_and_names_it(wired: Any) -> None:
    result = exchange(wired, fluid.PlateExchanger(one=WATER, two=WATER), m1=0.005)
    told = [d for d in result.diagnostics if "outside the range" in d.what]
    assert len(told) == 1
    assert "Reynolds number of the first fluid" in told[0].what and "50 … 15000" in told[0].what


@pytest.mark.parametrize("make", [fluid.HeatExchanger, fluid.LogMeanExchanger])
def test_what_would_leave_where_nothing_leaves_is_no_colder_than_what_does(wired: Any, make: Any) -> None:
    """Warm water flows backwards to where cold water stands: what it loses, taken from the cold water, was that of no water."""
    water = ac.media.fluid("water")
    cold, warm = (float(water.state(p=2e5, T=T).h) for T in (275.0, 340.0))
    plant = wired(
        "end.port part.a1", "part.b1 source.port", "cold.port part.a2", "part.b2 drain.port",
        part=make("co", one=water, two=water, UA=2000.0),
        end=fluid.PressureBoundary(p=2e5, h=cold), source=fluid.FlowSource(m_flow=0.05, h=warm),
        cold=fluid.FlowSource(m_flow=0.1, h=cold), drain=fluid.PressureBoundary(p=2e5, h=cold),
    )  # fmt: skip
    result = ac.compile(plant).simulate(until=1.0)
    leaves, would_leave = (float(result[f"part.{port}.h.outflow"][-1]) for port in ("a1", "b1"))
    assert leaves < warm - 2e5 and would_leave == pytest.approx(leaves, rel=1e-12)
    assert result["part.Q_flow"][-1] == pytest.approx(0.05 * (warm - leaves), rel=1e-6)


SIDES = {"m1_nominal": 0.02, "dp1_nominal": 2e4, "m2_nominal": 0.3, "dp2_nominal": 1e4}


@pytest.mark.parametrize("make", [fluid.HeatExchanger, fluid.LogMeanExchanger, fluid.PlateExchanger])
def test_each_side_of_an_exchanger_has_a_friction_of_its_own(wired: Any, make: Any) -> None:
    """With one size for both, 0.02 kg/s of the one beside 0.3 kg/s of the other met friction 225 times too small or too large."""
    result = exchange(wired, make(one=WATER, two=WATER, **SIDES), m1=0.01, m2=0.15)
    lost = [float(result[f"part.a{k}.p"][-1] - result[f"part.b{k}.p"][-1]) for k in (1, 2)]
    assert lost == pytest.approx([2e4 / 4, 1e4 / 4], rel=2e-3)  # of half the flow; the root is rounded below 1e-3 of dp_nominal


def test_each_side_of_cross_flow_has_a_friction_of_its_own(wired: Any) -> None:
    result = exchange(wired, fluid.CrossFlowExchanger(2, first=WATER, second=WATER, **SIDES), m1=0.01, m2=0.15, until=100.0)
    lost = [float(result[f"part.a{k}.p"][-1] - result[f"part.b{k}.p"][-1]) for k in (1, 2)]
    assert lost == pytest.approx([2e4 / 4, 1e4 / 4], rel=2e-3)


@pytest.mark.parametrize("given", [{}, {"m_nominal": 0.2, "dp_nominal": 3e4}])
def test_one_friction_of_an_exchanger_is_that_of_both_sides(wired: Any, given: dict[str, float]) -> None:
    m, dp = given.get("m_nominal", 0.1), given.get("dp_nominal", 5e3)
    result = exchange(wired, fluid.HeatExchanger(one=WATER, two=WATER, **given), m1=0.3, m2=0.1)
    lost = [float(result[f"part.a{k}.p"][-1] - result[f"part.b{k}.p"][-1]) for k in (1, 2)]
    assert lost == pytest.approx([dp * (0.3 / m) ** 2, dp * (0.1 / m) ** 2], rel=4e-3)


def test_refrigerant_beside_much_water_keeps_its_pressure(wired: Any) -> None:
    """A condenser of propane, 0.02 kg/s beside 0.3 kg/s of water: with its flow as the size of both, water lost 45 bar."""
    propane, water = ac.media.fluid("R290"), ac.media.fluid("water")
    hot, cold = float(propane.state(p=12e5, T=340.0).h), float(water.state(p=3e5, T=293.15).h)
    plant = wired(
        "hot.port part.a1", "part.b1 hot_end.port", "cold.port part.a2", "part.b2 cold_end.port",
        part=fluid.LogMeanExchanger(one=propane, two=water, UA=1500.0, m1_nominal=0.02, m2_nominal=0.3, dp_nominal=2e4),
        hot=fluid.FlowSource(m_flow=0.02, h=hot), hot_end=fluid.PressureBoundary(medium=propane, p=12e5, h=hot),
        cold=fluid.FlowSource(m_flow=0.3, h=cold), cold_end=fluid.PressureBoundary(medium=water, p=3e5, h=cold),
    )  # fmt: skip
    result = ac.compile(plant).simulate(until=1.0)
    lost = [float(result[f"part.a{k}.p"][-1] - result[f"part.b{k}.p"][-1]) for k in (1, 2)]
    assert lost == pytest.approx([2e4, 2e4], rel=2e-3)
    gained = 0.3 * float(result["part.b2.h.outflow"][-1] - cold)
    assert result["part.Q_flow"][-1] == pytest.approx(gained, rel=1e-6) and gained > 0.02 * 3e5  # it condenses


class Facing(ac.Component):
    """A cellular exchanger between two flows, with something that sets the flow behind each side."""

    def __init__(self, arrangement: str) -> None:
        self.part = fluid.CellularExchanger(30, arrangement, first=WATER2, second=WATER2, C=500.0)
        for name, h in (("hot", H_WARM), ("cold", H_COLD)):
            setattr(self, name, fluid.FlowSource(m_flow=0.05, h=h))
            setattr(self, f"{name}_valve", fluid.Orifice(A=1e-4))
            setattr(self, f"{name}_end", fluid.PressureBoundary(p=2e5, h=h))

    def connections(self) -> Any:
        for name, k in (("hot", 1), ("cold", 2)):
            yield getattr(self, name).port, getattr(self.part, f"a{k}")
            yield getattr(self.part, f"b{k}"), getattr(self, f"{name}_valve").a
            yield getattr(self, f"{name}_valve").b, getattr(self, f"{name}_end").port


WATER2 = ac.media.fluid("water")
H_COLD, H_WARM = (WATER2.state(p=2e5, T=T).h for T in (293.15, 333.15))


@pytest.mark.parametrize("arrangement", ["counter", "co"])
def test_cells_come_to_the_effectiveness(arrangement: str) -> None:
    result = ac.compile(Facing(arrangement)).simulate(until=3000.0, points=3)
    left = float(result["part.one.h"][-1][-1])
    Q = 0.05 * (H_WARM - left)
    UA = 500.0 * np.pi * 0.02 * 10.0 / 2
    exact = float(fluid.effectiveness(UA / (0.05 * 4180.0), 1.0, arrangement)) * (H_WARM - H_COLD) * 0.05
    assert Q == pytest.approx(exact, rel=0.025)  # cells mix: within 1/n
    gained = 0.05 * (float(result["part.two.h"][-1][-1]) - H_COLD)
    assert gained == pytest.approx(Q, rel=2e-3)


class Closing(ac.Component):
    at = ac.Parameter(1.0, unit="s")
    phase = ac.OutputStates("on", "off", initial="on")

    def transitions(self) -> Any:
        yield self.phase.on.to("off", after=self.at)


def test_a_solenoid_opens_and_closes(wired: Any) -> None:
    valve = fluid.SolenoidValve(medium=WATER)
    ends = {"left": fluid.PressureBoundary(p=3e5, h=COLD), "right": fluid.PressureBoundary(p=2e5, h=COLD)}
    plant = wired("left.port part.a", "part.b right.port", "clock.phase part.run", part=valve, clock=Closing(), **ends)
    result = ac.compile(plant).simulate(until=5.0, points=51)
    flow = np.asarray(result["part.m_flow"])
    assert flow[0] == pytest.approx(1e-5 * np.sqrt(2 * 995.586 * 1e5), rel=1e-3)
    assert flow[-1] < 1e-4 * flow[0]


@pytest.mark.parametrize("rtol", [1e-5, 1e-6])
def test_the_pressure_between_two_closed_valves_is_that_of_their_leaks(wired: Any, rtol: float) -> None:
    """An error of the slide of 1e-6 is as much as its leak: the pressure was wrong by a bar, and so was whether the other opens."""
    plant = wired(
        "left.port one.a", "one.b two.a", "two.b right.port", "clock.phase one.run", one=fluid.SolenoidValve(medium=WATER),
        two=fluid.CheckValve(leak=1e-6), clock=Closing(), left=fluid.PressureBoundary(p=6e5, h=COLD),
        right=fluid.PressureBoundary(h=COLD),
    )  # fmt: skip
    swings = ac.data([0.0, 20.0, 30.0, 40.0, 50.0], [2e5, 2e5, 9e5, 9e5, 2e5], ends="hold")
    result = ac.compile(plant).simulate(until=60.0, points=601, inputs={"right.p": swings}, rtol=rtol)
    between, right = (np.asarray(result[f"two.{port}.p"]) for port in "ab")
    shut, open_ = right > 6.1e5, (right < 5.9e5) & (result.time > 10.0)
    np.testing.assert_allclose(between[shut], (6e5 + right[shut]) / 2, atol=1.0)
    assert np.all((between - right)[open_] > 0) and np.all((between - right)[open_] < 100.0)


def test_a_separator_parts_liquid_and_vapour(wired: Any) -> None:
    ends = R134A.saturation(p=5e5)
    wet = ends.liquid.h + 0.4 * ends.h_evaporation
    plant = wired(
        "feed.port part.inlet", "part.vapour gas.a", "gas.b suction.port", "part.liquid draw.port",
        part=fluid.Separator(medium=R134A, p_start=5e5), feed=fluid.FlowSource(m_flow=0.01, h=wet),
        gas=fluid.Orifice(A=4e-6), suction=fluid.PressureBoundary(p=3e5, h=4e5), draw=fluid.FlowSource(m_flow=-0.006, h=wet),
    )  # fmt: skip
    result = ac.compile(plant).simulate(until=600.0, points=61)
    p = float(result["part.p"][-1])
    now = R134A.saturation(p=p)
    assert result["part.vapour.h.outflow"][-1] == pytest.approx(now.vapour.h, rel=1e-6)
    assert result["part.liquid.h.outflow"][-1] == pytest.approx(now.liquid.h, rel=1e-6)
    assert 0.1 < result["part.level"][-1] < 0.9
    came = float(
        np.trapezoid(result["part.inlet.m_flow"] + result["part.liquid.m_flow"] + result["part.vapour.m_flow"], result.time)
    )
    assert result["part.M"][-1] - result["part.M"][0] == pytest.approx(came, rel=2e-2)


def test_a_drum_knows_the_height_of_its_water() -> None:
    for height in (0.0, 1e-3, 0.13, 0.5, 0.8, 1.0):
        b = np.arccos(1 - 2 * height)  # of a circle of the diameter 1: from its lowest point to where the chord ends
        assert HEIGHT(float((b - np.sin(b) * np.cos(b)) / np.pi)) == pytest.approx(height, abs=2e-5)


def test_the_volume_of_a_drum_follows_from_its_sizes(wired: Any) -> None:
    """A volume given beside diameter and length contradicted the height of its water."""
    plant = wired(
        "feed.port drum.feed", drum=fluid.Drum(diameter=2.0, length=5.0, medium="water"), feed=fluid.FlowSource(m_flow=0.1)
    )
    result = ac.compile(plant).simulate(until=1.0)
    assert result["drum.V"][-1] == pytest.approx(np.pi / 4 * 2.0**2 * 5.0)
    with pytest.raises(UsageError, match=r"`Drum\.V` is an unknown and cannot be given the value 50"):
        fluid.Drum(V=50.0)


def test_water_goes_round_through_drum_and_heated_risers_by_itself(wired: Any) -> None:
    plant = wired(
        "drum.liquid down.a", "down.b riser.a", "riser.b out.a", "out.b drum.inlet", "feed.port drum.feed", "drum.vapour steam.a",
        "steam.b end.port", "fire.port riser.heat",
        drum=fluid.Drum(diameter=1.0, length=2.5, p_start=60e5, medium="water"),
        down=fluid.Pipe(length=10.0, diameter=0.2, height=-10.0), out=fluid.TwoPhasePipe(length=2.0, diameter=0.2),
        riser=fluid.DistributedPipe(
            8, friction="mueller-steinhagen-heck", length=10.0, diameter=0.2, height=10.0, p_start=60e5, x_start=0.0, alpha=2e4
        ),
        feed=fluid.FlowSource(m_flow=1.3, T=480.0), steam=fluid.Valve(A=2e-4), end=fluid.PressureBoundary(p=50e5, x=1.0),
        fire=ac.array(thermal.FixedHeatFlow, 8, Q_flow=3e5),
    )  # fmt: skip
    result = ac.compile(plant).simulate(until="1 h", every="1 s")
    water, end = ac.media.fluid("water"), {name: float(result[name][-1]) for name in ("drum.p", "down.m_flow", "steam.m_flow")}
    ends, fed = water.saturation(p=end["drum.p"]), water.state(p=end["drum.p"], T=480.0).h
    # Pressure has settled: water that gathers in the drum takes what it lacks of saturation, and the rest of the heat is steam.
    steam = (8 * 3e5 + 1.3 * (fed - ends.liquid.h)) / ends.h_evaporation
    assert end["steam.m_flow"] == pytest.approx(steam, rel=0.01)  # but for the volume that the water takes from the steam
    assert 50 * steam < end["down.m_flow"] < 200 * steam and result["drum.water"][-1] > result["drum.water"][0]
    ledger = ac.accounts(result)
    assert ledger.charge_error < 3e-6 and ledger.energy_error < 3e-6  # as exact as sums over points a second apart


def test_a_two_phase_pipe_loses_what_the_correlation_says(wired: Any) -> None:
    ends = R134A.saturation(p=3e5)
    for x in (-0.1, 0.3, 1.2):
        h = ends.liquid.h + x * ends.h_evaporation
        plant = wired("feed.port part.a", "part.b end.port", part=fluid.TwoPhasePipe(medium=R134A, length=1.0),
                      feed=fluid.FlowSource(m_flow=0.01, h=h), end=fluid.PressureBoundary(p=3e5, h=h))  # fmt: skip
        result = ac.compile(plant).simulate(until=1.0)
        p = float(result["part.a.p"][-1])
        state, sat = R134A.state(p=p, h=h), R134A.saturation(p=p)
        q = min(max(float(state.x), 0.0), 1.0)
        liquid, vapour = (state if x <= 0 else sat.liquid), (state if x >= 1 else sat.vapour)
        losses = [float(fluid.pressure_loss(0.01, s.rho, s.viscosity, 1.0, 0.01, 1.5e-6)) for s in (liquid, vapour)]
        assert p - 3e5 == pytest.approx(float(c.mueller_steinhagen_heck(*losses, q)), rel=1e-4)


def test_an_internal_exchanger_dries_and_heats_the_suction_gas(wired: Any) -> None:
    warm, cold = R134A.state(p=8e5, T=300.0).h, R134A.state(p=2e5, x=0.95).h
    plant = wired(
        "hot.port part.a1", "part.b1 hot_end.port", "wet.port part.a2", "part.b2 wet_end.port",
        part=refrigeration.InternalExchanger(medium=R134A, effectiveness=0.5),
        hot=fluid.FlowSource(m_flow=0.02, h=warm), hot_end=fluid.PressureBoundary(p=8e5, h=warm),
        wet=fluid.FlowSource(m_flow=0.02, h=cold), wet_end=fluid.PressureBoundary(p=2e5, h=cold),
    )  # fmt: skip
    result = ac.compile(plant).simulate(until=1.0)
    Q = float(result["part.Q_flow"][-1])
    p_warm, p_cold = (float(result[f"part.{port}.p"][-1]) for port in ("a1", "a2"))
    T = R134A.state(p=p_warm, h=warm).T
    apart = T - R134A.saturation(p=p_cold).vapour.T
    most = 0.02 * (R134A.state(p=p_cold, T=T).h - cold) * apart**2 / (apart**2 + 1)
    assert Q == pytest.approx(0.5 * most, rel=1e-5)
    assert 0.02 * (result["part.b2.h.outflow"][-1] - cold) == pytest.approx(Q, rel=1e-4)
    assert 0.02 * (warm - result["part.b1.h.outflow"][-1]) == pytest.approx(Q, rel=1e-4)


def test_what_is_no_arrangement() -> None:
    with pytest.raises(UsageError, match="'counter' or 'co' flow, not 'cross'"):
        fluid.CellularExchanger(10, "cross")


def _brought(result: Any, medium: Any, *ports: str) -> tuple[float, float]:
    """Energy and entropy that flows bring into a part at the end."""
    energy = entropy = 0.0
    for port in ports:
        m, p = float(result[f"{port}.m_flow"][-1]), float(result[f"{port}.p"][-1])
        h = float(result[f"{port}.h.{'inflow' if m > 0 else 'outflow'}"][-1])
        energy, entropy = energy + m * h, entropy + m * float(medium.state(p=p, h=h).s)
    return energy, entropy


@pytest.mark.parametrize("second", [2e5, 2e5 + 1e-3, 2e5 + 1.0, 2.5e5, 3.5e5])
@pytest.mark.parametrize("make", [fluid.HeatExchanger, fluid.PlateExchanger])
def test_exchangers_keep_energy_at_any_flow(wired: Any, make: Any, second: float) -> None:
    """Also where one side stands still, hardly moves or flows backwards."""
    h = [float(WATER.state(p=3e5, T=T).h) for T in (350.0, 300.0, 290.0, 310.0)]
    plant = wired(
        "hot.port part.a1", "part.b1 hot_end.port", "cold.port part.a2", "part.b2 cold_end.port", part=make(),
        hot=fluid.PressureBoundary(p=3e5, h=h[0], medium=WATER), hot_end=fluid.PressureBoundary(p=2e5, h=h[1]),
        cold=fluid.PressureBoundary(p=second, h=h[2], medium=WATER), cold_end=fluid.PressureBoundary(p=2e5, h=h[3]),
    )  # fmt: skip
    result = ac.compile(plant).simulate(until=1.0, points=2)
    energy, entropy = _brought(result, WATER, "part.a1", "part.b1", "part.a2", "part.b2")
    assert abs(energy) < 1e-9
    assert entropy < 0


@pytest.mark.parametrize("x", [0.1, 0.5, 0.9, 1.05])
def test_an_internal_exchanger_obeys_the_second_law(wired: Any, x: float) -> None:
    """However wet the suction gas: the warm side does not become colder than it, and entropy is made."""
    ends, warm = R134A.saturation(p=2e5), float(R134A.state(p=8e5, T=300.0).h)
    cold = float(ends.liquid.h + x * ends.h_evaporation)
    plant = wired(
        "hot.port part.a1", "part.b1 hot_end.port", "wet.port part.a2", "part.b2 wet_end.port",
        part=refrigeration.InternalExchanger(medium=R134A, effectiveness=1.0),
        hot=fluid.FlowSource(m_flow=0.02, h=warm), hot_end=fluid.PressureBoundary(p=8e5, h=warm),
        wet=fluid.FlowSource(m_flow=0.03, h=cold), wet_end=fluid.PressureBoundary(p=2e5, h=cold),
    )  # fmt: skip
    result = ac.compile(plant).simulate(until=1.0, points=2)
    energy, entropy = _brought(result, R134A, "part.a1", "part.b1", "part.a2", "part.b2")
    assert abs(energy) < 1e-9
    assert entropy < 0
    left = R134A.state(p=float(result["part.b1.p"][-1]), h=float(result["part.b1.h.outflow"][-1])).T
    assert left > R134A.state(p=float(result["part.a2.p"][-1]), h=cold).T - 0.1


def crossing(wired: Any, cells: int, **more: Any) -> Any:
    """Hot water and cold water cross."""
    return ac.compile(wired(
        "hot.port part.a1", "part.b1 sink1.port", "cold.port part.a2", "part.b2 sink2.port",
        hot=fluid.FlowSource(m_flow=0.1, h=CROSS_HOT), sink1=fluid.PressureBoundary(p=1e5, h=CROSS_HOT),
        cold=fluid.FlowSource(m_flow=0.2, h=CROSS_COLD), sink2=fluid.PressureBoundary(p=1e5, h=CROSS_COLD),
        part=fluid.CrossFlowExchanger(cells, first=LIQUID, second=LIQUID, h1_start=CROSS_COLD, h2_start=CROSS_COLD, **more),
    ))  # fmt: skip


LIQUID = ac.media.ConstantMedium("liquid", rho=1000.0, cp=4184.0, viscosity=1e-3, conductivity=0.6)
CROSS_COLD, CROSS_HOT = (LIQUID.state(p=1e5, T=T).h for T in (293.15, 333.15))


def test_cross_flow_in_cells_comes_to_the_effectiveness(wired: Any) -> None:
    UA = 1.5 * 0.1 * 4184.0  # of both sides in series: 1.5 transfer units, capacities 1 : 2
    found = {}
    for n in (4, 8, 16):
        result = crossing(wired, n, UA1=2 * UA, UA2=2 * UA).simulate(until=600.0, points=2)
        found[n] = float(result["part.Q_flow"][-1]) / (0.1 * 4184.0 * 40.0)
        gain = 0.2 * (result["part.b2.h.outflow"][-1] - CROSS_COLD)
        assert gain == pytest.approx(result["part.Q_flow"][-1], rel=1e-4)
    best = found[16] + (found[16] - found[8])  # of infinitely many cells, by extrapolation
    assert best == pytest.approx(float(fluid.effectiveness(1.5, 0.5, "cross")), rel=0.01)
    assert found[4] < found[8] < found[16]


def test_cross_flow_turns_round_stands_still_and_keeps_its_energy(wired: Any) -> None:
    model = crossing(wired, 5)
    flows = {"hot.m_flow": lambda t: 0.1 * float(np.cos(t / 20.0)), "cold.m_flow": ac.hold([0.0, 50.0], [0.2, 0.0])}
    result = model.simulate(until=200.0, points=20001, inputs=flows, rtol=1e-8)
    assert result.outcome is ac.Outcome.FINISHED
    ports = []
    for name in ("part.a1", "part.b1", "part.a2", "part.b2"):
        m = result[f"{name}.m_flow"]
        ports.append(m * np.where(m > 0, result[f"{name}.h.inflow"], result[f"{name}.h.outflow"]))
    came = np.trapezoid(sum(ports[1:], ports[0]), result.time)
    energy = result["part.energy"]
    assert energy[-1] - energy[0] == pytest.approx(came, abs=1e-4 * np.ptp(energy))


def test_one_cell_of_cross_flow_is_refused() -> None:
    with pytest.raises(UsageError, match="two cells or more along each side, not 1"):
        fluid.CrossFlowExchanger(1)


def test_moist_air_in_cross_flow_turns_round_and_keeps_its_water_and_energy(wired: Any) -> None:
    """Damp and dry air push each other back: temperatures do not jump with the direction, and what is held is what came in."""
    moist = ac.media.moist_air()
    plant = wired(
        "hot.port part.a1", "part.b1 low.port", "damp.port part.a2", "part.b2 dry.port",
        hot=fluid.FlowSource(m_flow=0.1, medium=LIQUID, h=CROSS_HOT), low=fluid.PressureBoundary(p=1e5, h=CROSS_COLD),
        damp=air.Surroundings(T=293.15, phi=0.9), dry=air.Surroundings(T=293.15, phi=0.1),
        part=fluid.CrossFlowExchanger(3, X2_start=[0.008], second=moist, h1_start=CROSS_COLD, dp_nominal=50.0),
    )  # fmt: skip
    swing = {"damp.p": lambda t: 101325.0 + 20.0 * float(np.sin(t / 10.0))}
    result = ac.compile(plant).simulate(until=200.0, points=20001, inputs=swing, rtol=1e-8)
    assert result.outcome is ac.Outcome.FINISHED
    assert np.abs(np.diff(result["part.T2"], axis=0)).max() < 0.5
    came = 0.0
    for port in ("part.a2", "part.b2"):
        m = result[f"{port}.m_flow"]
        came = came + m * np.where(m > 0, result[f"{port}.X.inflow"][:, 0], result[f"{port}.X.outflow"][:, 0])
    held = 0.5 / 3 * result["part.X2"].sum(axis=(1, 2))
    gained = np.concatenate([[0.0], np.cumsum((came[1:] + came[:-1]) / 2 * np.diff(result.time))])
    assert np.abs(held - held[0] - gained).max() < 1e-5 * np.abs(held).max()


@pytest.mark.parametrize("arrangement", ["counter", "co"])
@pytest.mark.parametrize("flows", [(0.1, 0.2), (0.2, 0.1), (0.15, 0.15), (0.1, -0.2), (1e-5, 0.1)])
def test_an_exchanger_by_logarithmic_mean_is_that_by_effectiveness(
    wired: Any, arrangement: str, flows: tuple[float, float]
) -> None:
    """Of constant properties the two are the same, at any flow and in both directions."""
    water = ac.media.ConstantMedium("warm", cp=4000.0, rho=1000.0)
    heats = []
    for part in (fluid.LogMeanExchanger(arrangement), fluid.HeatExchanger(arrangement)):
        plant = wired(
            "hot.port part.a1", "part.b1 low1.port", "cold.port part.a2", "part.b2 low2.port", part=part,
            hot=fluid.FlowSource(m_flow=flows[0], T=350.0, medium=water), low1=fluid.PressureBoundary(T=320.0),
            cold=fluid.FlowSource(m_flow=flows[1], T=290.0, medium=water), low2=fluid.PressureBoundary(T=290.0),
        )  # fmt: skip
        result = ac.compile(plant).simulate(until=1.0, set={"part.UA": 700.0})
        heats.append(float(result["part.Q_flow"][-1]))
    assert heats[0] == pytest.approx(heats[1], rel=1e-6)


@pytest.mark.parametrize("make", [fluid.HeatExchanger, fluid.LogMeanExchanger])
@pytest.mark.parametrize("arrangement", ["counter", "co"])
@pytest.mark.parametrize("flows", [(0.1, -0.15), (-0.1, 0.15), (-0.1, -0.15)])
def test_counterflow_is_co_flow_where_one_side_has_turned(
    wired: Any, make: Any, arrangement: str, flows: tuple[float, float]
) -> None:
    """The arrangement stayed: 31 % too much heat passed, or 24 % too little, and the same exchanger in cells told another heat."""
    water = ac.media.ConstantMedium("warm", cp=4000.0, rho=1000.0)
    plant = wired(
        "hot.port part.a1", "part.b1 low1.port", "cold.port part.a2", "part.b2 low2.port",
        part=make(arrangement, UA=900.0, dp_nominal=1.0),
        hot=fluid.FlowSource(m_flow=flows[0], T=350.0, medium=water), low1=fluid.PressureBoundary(T=350.0),
        cold=fluid.FlowSource(m_flow=flows[1], T=290.0, medium=water), low2=fluid.PressureBoundary(T=290.0),
    )  # fmt: skip
    result = ac.compile(plant).steady_state()
    turned = flows[0] * flows[1] < 0
    units, ratio, counter = 900.0 / 400.0, 0.1 / 0.15, (arrangement == "counter") != turned
    if counter:
        share = (1 - np.exp(-units * (1 - ratio))) / (1 - ratio * np.exp(-units * (1 - ratio)))
    else:
        share = (1 - np.exp(-units * (1 + ratio))) / (1 + ratio)
    assert result["part.Q_flow"][-1] == pytest.approx(share * 400.0 * 60.0, rel=1e-5)


@pytest.mark.parametrize("arrangement", ["counter", "co"])
def test_one_side_turns_in_cells_as_by_effectiveness(wired: Any, arrangement: str) -> None:
    cells = fluid.CellularExchanger(40, arrangement, first=WATER2, second=WATER2, C=500.0)
    heats = []
    for part in (cells, fluid.HeatExchanger(arrangement, UA=500.0 * np.pi * 0.02 * 10.0 / 2)):
        plant = wired(
            "hot.port part.a1", "part.b1 one.a", "one.b low1.port", "cold.port part.b2", "part.a2 two.a", "two.b low2.port",
            part=part, one=fluid.Orifice(A=1e-4), two=fluid.Orifice(A=1e-4),
            hot=fluid.FlowSource(m_flow=0.05, h=H_WARM, medium=WATER2), low1=fluid.PressureBoundary(p=2e5, h=H_WARM),
            cold=fluid.FlowSource(m_flow=0.05, h=H_COLD, medium=WATER2), low2=fluid.PressureBoundary(p=2e5, h=H_COLD),
        )  # fmt: skip
        heats.append(0.05 * (H_WARM - float(ac.compile(plant).simulate(until=3000.0, points=3)["one.a.h.inflow"][-1])))
    assert heats[0] == pytest.approx(heats[1], rel=0.025)  # cells mix: within 1/n


def test_a_logarithmic_mean_of_real_temperatures(wired: Any) -> None:
    """Superheated gas in counterflow: UA times the mean of the differences at both ends."""
    plant = wired(
        "hot.port part.a1", "part.b1 low1.port", "cold.port part.a2", "part.b2 low2.port",
        part=fluid.LogMeanExchanger(dp_nominal=1.0),
        hot=fluid.FlowSource(m_flow=0.02, T=360.0, medium="R134a"), low1=fluid.PressureBoundary(p=8e5, h=4.5e5),
        cold=fluid.FlowSource(m_flow=0.03, T=280.0, medium="R134a"), low2=fluid.PressureBoundary(p=2e5, h=4.1e5),
    )  # fmt: skip
    result = ac.compile(plant).simulate(until=1.0, set={"part.UA": 20.0})
    R134a = ac.media.fluid("R134a")
    T = {port: float(R134a.state(p=p, h=float(result[f"part.{port}.h.outflow"][-1])).T) for port, p in (("b1", 8e5), ("b2", 2e5))}
    ends = 360.0 - T["b2"], T["b1"] - 280.0
    assert float(result["part.Q_flow"][-1]) == pytest.approx(20.0 * (ends[0] - ends[1]) / np.log(ends[0] / ends[1]), rel=1e-3)


def test_a_condenser_by_logarithmic_mean(wired: Any) -> None:
    """R134a that condenses at one temperature warms water: ``Q = C·(T - T_in)·(1 - exp(-UA/C))``."""
    ends = ac.media.fluid("R134a").saturation(p=8e5)
    h = float(ends.liquid.h + 0.9 * ends.h_evaporation)
    plant = wired(
        "hot.port part.a1", "part.b1 low1.port", "cold.port part.a2", "part.b2 low2.port",
        part=fluid.LogMeanExchanger(dp_nominal=10.0),
        hot=fluid.FlowSource(m_flow=0.02, h=h, medium="R134a"), low1=fluid.PressureBoundary(p=8e5, h=2.5e5),
        cold=fluid.FlowSource(m_flow=0.05, T=290.0, medium=ac.media.ConstantMedium("warm", cp=4000.0, rho=1000.0)),
        low2=fluid.PressureBoundary(T=290.0),
    )  # fmt: skip
    result = ac.compile(plant).simulate(until=1.0, set={"part.UA": 300.0})
    exact = 0.05 * 4000.0 * (float(ends.T) - 290.0) * (1 - np.exp(-300.0 / (0.05 * 4000.0)))
    assert float(result["part.Q_flow"][-1]) == pytest.approx(exact, rel=2e-3)


def test_an_exchanger_by_logarithmic_mean_does_not_cross() -> None:
    with pytest.raises(UsageError, match="in 'counter' or 'co' flow, not 'cross'"):
        fluid.LogMeanExchanger("cross")


@pytest.mark.parametrize("make", [fluid.HeatExchanger, fluid.LogMeanExchanger, fluid.PlateExchanger])
def test_what_an_exchanger_feels_does_not_jump_with_the_rounding_of_no_flow(wired: Any, make: Any) -> None:
    """What would leave at rest went from one side to the other with the sign of 1e-17 kg/s, and iterations failed."""
    plant = wired(
        "one.port part.a1", "part.b1 two.port", "air.port part.a2", "part.b2 out.port",
        one=fluid.FlowSource(T=330.0, medium="water"), two=fluid.PressureBoundary(p=3e5, T=290.0),
        air=fluid.FlowSource(m_flow=0.2, T=310.0, medium="water"), out=fluid.PressureBoundary(p=2e5, T=310.0), part=make(),
    )  # fmt: skip
    model = ac.compile(plant)
    left = [model.steady_state(inputs={"one.m_flow": m})["part.b1.h.outflow"][-1] for m in (-1e-15, 0.0, 1e-15)]
    assert np.ptp(left) < 1e-3


@pytest.mark.parametrize("arrangement", ["counter", "co"])
@pytest.mark.parametrize("hot", ["R134a", "CO2"])
def test_an_exchanger_by_logarithmic_mean_destroys_no_entropy_where_fluid_condenses_for_a_part(arrangement: str, hot: str) -> None:
    """Gas, wet vapour and gas above the critical pressure against water, with UA from too little to far too much: the mean of the
    ends let temperatures cross within."""
    fluids = ac.media.fluid(hot), ac.media.fluid("water")
    enthalpies, pressures = {"R134a": ((2.1e5, 4.7e5), (3e5, 2e6)), "CO2": ((2.5e5, 5.2e5), (5e6, 1.1e7))}[hot]

    class Rig(ac.Component):
        def __init__(self) -> None:
            self.part = fluid.LogMeanExchanger(arrangement, dp_nominal=1.0)
            self.hot, self.cold = (fluid.FlowSource(medium=m) for m in fluids)
            self.low, self.back = fluid.PressureBoundary(h=enthalpies[0]), fluid.PressureBoundary(p=2e5, h=1e5)

        def connections(self) -> Any:
            yield self.hot.port, self.part.a1
            yield self.part.b1, self.low.port
            yield self.cold.port, self.part.a2
            yield self.part.b2, self.back.port

    model, rng = ac.compile(Rig()), np.random.default_rng(3)
    for _ in range(60):
        drawn = {
            "hot.m_flow": rng.uniform(0.005, 0.1), "hot.h": rng.uniform(*enthalpies), "low.p": rng.uniform(*pressures),
            "cold.m_flow": 10 ** rng.uniform(-2.3, 0.0), "cold.h": rng.uniform(6e4, 3e5), "part.UA": 10 ** rng.uniform(1.5, 4.5),
        }  # fmt: skip
        result = model.simulate(until=1e-6, points=2, inputs={name: float(value) for name, value in drawn.items()})
        made = 0.0
        for port, medium in zip(("a1", "b1", "a2", "b2"), np.repeat(np.array(fluids, dtype=object), 2), strict=True):
            m, p = (float(result[f"part.{port}.{q}"][0]) for q in ("m_flow", "p"))
            h = float(result[f"part.{port}.h.{'inflow' if m > 0 else 'outflow'}"][0])
            made -= m * float(medium.state(p=p, h=h).s)
        assert made >= -1e-5 * abs(float(result["part.Q_flow"][0])) / 300.0, drawn


def test_plates_pass_the_more_heat_the_steeper_their_corrugations(wired: Any) -> None:
    """Thonon's coefficients in Ayub's survey; between two angles the geometric mean; an angle never measured is refused."""
    for angle, by_hand in ((15, 0.1 * 1e3**0.687), (30, 0.2267 * 1e3**0.631), (45, 0.2998 * 1e3**0.645), (60, 0.2946 * 1e3**0.7)):
        assert float(c.plate_nusselt(1e3, 8.0, angle)) == pytest.approx(2 * by_hand, rel=1e-12)
    between = np.sqrt(c.plate_nusselt(1e3, 8.0, 30) * c.plate_nusselt(1e3, 8.0, 45))
    assert float(c.plate_nusselt(1e3, 8.0, 37.5)) == pytest.approx(float(between), rel=1e-12)
    found = [exchange(wired, fluid.PlateExchanger(angle, one=WATER, two=WATER)) for angle in (30.0, 60.0)]
    flat, steep = (float(r["part.UA"][-1]) for r in found)
    assert steep > 1.2 * flat
    with pytest.raises(UsageError, match=r"corrugations of 15° to 60° to the flow, not 75\.0"):
        fluid.PlateExchanger(75.0)
    with pytest.raises(UsageError, match="to the flow, not '60'"):
        fluid.PlateExchanger("60")  # type: ignore[arg-type]
