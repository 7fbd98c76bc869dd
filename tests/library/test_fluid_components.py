"""Pipes, tanks, valves, machines and exchangers against their laws."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.errors import UsageError
from acausal.library import air, fluid, refrigeration, thermal

WATER = ac.media.ConstantMedium("water", rho=995.586, cp=4184.0, viscosity=1e-3, conductivity=0.6)
R134A = ac.media.fluid("R134a")
COLD, WARM = (WATER.state(p=1e5, T=T).h for T in (293.15, 333.15))


def between(wired: Any, part: Any, p: float, p_end: float = 1e5, h: float = COLD, h_end: float = WARM) -> Any:
    """A part between two pressures."""
    ends = {"left": fluid.PressureBoundary(p=p, h=h), "right": fluid.PressureBoundary(p=p_end, h=h_end)}
    return ac.compile(wired("left.port part.a", "part.b right.port", part=part, **ends)).simulate(until=1.0)


def test_friction_is_laminar_then_turbulent() -> None:
    for Re in (1.0, 100.0, 1500.0):
        assert float(fluid.friction_factor(Re, 0.0)) == pytest.approx(64 / Re, rel=1e-4)
    for Re, rough in ((1e4, 0.0), (1e5, 1e-4), (1e6, 1e-3)):
        f = float(fluid.friction_factor(Re, rough))
        colebrook = -2 * np.log10(rough / 3.7 + 2.51 / (Re * np.sqrt(f)))
        assert 1 / np.sqrt(f) == pytest.approx(colebrook, rel=0.015)


@pytest.mark.parametrize("p", [1e5 + 1.0, 1.2e5, 0.9e5])
def test_a_pipe_loses_what_friction_and_height_take(wired: Any, p: float) -> None:
    result = between(wired, fluid.Pipe(medium=WATER, length=20.0, height=0.0, zeta=1.5), p)
    m = float(result["part.m_flow"][-1])
    area = np.pi / 4 * 0.02**2
    loss = float(fluid.pressure_loss(m, 995.586, 1e-3, 20.0, 0.02, 2.5e-5)) + 1.5 * m * abs(m) / (2 * 995.586 * area**2)
    assert loss == pytest.approx(p - 1e5, rel=1e-5)
    assert np.sign(m) == np.sign(p - 1e5)


class ThreeTanks(ac.Component):
    """Three open tanks over a common junction (Modelica.Fluid.Examples.Tanks.ThreeTanks)."""

    def __init__(self) -> None:
        self.first, self.second, self.third = (fluid.OpenTank(level_start=level) for level in (8.0, 3.0, 3.0))
        self.pipe1, self.pipe2 = (fluid.Pipe(medium=WATER, length=2.0, diameter=0.1, height=2.0) for _ in range(2))
        self.pipe3 = fluid.Pipe(length=2.0, diameter=0.1, height=-1.0)

    def connections(self) -> Any:
        yield self.pipe1.a, self.pipe2.a, self.pipe3.a
        yield self.pipe1.b, self.first.ports[0]
        yield self.pipe2.b, self.second.ports[0]
        yield self.pipe3.b, self.third.ports[0]


PUBLISHED = [
    (20.0, 6.84089, 2.67338, 4.48573),
    (60.0, 5.03726, 3.01001, 5.95273),
    (120.0, 3.73121, 3.63439, 6.63439),
]  # s, m, m, m; sampled from the Modelica Association's reference results


def test_three_tanks_are_those_of_the_modelica_association() -> None:
    result = ac.compile(ThreeTanks()).simulate(until=200.0, points=2001)
    total = sum(result[f"{name}.level"] for name in ("first", "second", "third"))
    np.testing.assert_allclose(total, 14.0, rtol=1e-9)
    for time, *levels in PUBLISHED:
        at = [np.interp(time, result.time, result[f"{name}.level"]) for name in ("first", "second", "third")]
        np.testing.assert_allclose(at, levels, atol=0.009)
    file = Path(__file__).parents[4] / "shared" / "reference" / "msl-4.1.0" / "ThreeTanks.csv"
    if not file.exists():
        return
    data = np.genfromtxt(file, delimiter=",", skip_header=1)
    for name, column in (("first", 1), ("second", 3), ("third", 5)):
        published = np.interp(result.time, data[:, 0], data[:, column])
        assert np.abs(result[f"{name}.level"] - published).max() < 2e-3 * np.ptp(published)


def test_a_tank_that_runs_over_says_so(wired: Any) -> None:
    plant = wired("source.port tank.ports[0]", source=fluid.FlowSource(m_flow=100.0, h=COLD),
                  tank=fluid.OpenTank(medium=WATER, height=1.05))  # fmt: skip
    result = ac.compile(plant).simulate(until=10.0)
    assert result.outcome
    assert any("runs over" in d.what for d in result.diagnostics)


def test_an_expansion_vessel_presses_its_gas_together(wired: Any) -> None:
    """``p·V_gas^n`` stays, and what comes in is what the liquid has and what the gas was given as work."""
    plant = wired("source.port vessel.port", source=fluid.FlowSource(m_flow=0.01, h=COLD),
                  vessel=fluid.ExpansionVessel(medium=WATER, V=0.01, p_gas=1e5, n=1.2, p_start=1.2e5))  # fmt: skip
    result = ac.compile(plant).simulate(until=500.0, rtol=1e-9)
    p, V_gas = result["vessel.p"], 0.01 - result["vessel.V_liquid"]
    np.testing.assert_allclose(p * V_gas**1.2, 1e5 * 0.01**1.2, rtol=1e-9)
    np.testing.assert_allclose(result["vessel.M"] - result["vessel.M"][0], 0.01 * result.time, atol=1e-8)
    work = (p * V_gas - p[0] * V_gas[0]) / 0.2
    np.testing.assert_allclose(result["vessel.U"] - result["vessel.U"][0], 0.01 * result.time * COLD - work, atol=1e-3)


def test_a_closed_circuit_of_water_needs_an_expansion_vessel(wired: Any) -> None:
    """Heated from 20 to 60 °C its pressure rises by little, and by hundreds of bar without the vessel."""

    def pressure(*more: str, **vessel: Any) -> float:
        plant = wired("heat.port boiler.heat", *more, boiler=fluid.Volume(1, medium="water", V=0.1, p_start=2e5, T_start=293.15),
                      heat=thermal.FixedHeatFlow(Q_flow=2e4), **vessel)  # fmt: skip
        return float(ac.compile(plant).simulate(until=830.0)["boiler.p"][-1])

    loss = {"pipe": fluid.Pipe(length=1.0, diameter=0.02), "vessel": fluid.ExpansionVessel(V=0.01, p_gas=1.5e5, p_start=2e5)}
    assert pressure("boiler.ports[0] pipe.a", "pipe.b vessel.port", **loss) < 3e5
    assert pressure() > 2e7


def test_a_pressure_wave_travels_with_the_speed_of_sound(wired: Any) -> None:
    """R134a vapour in a long pipe, closed at one end, suddenly opened at the other."""
    start = R134A.state(p=2e5, T=300.0)
    pipe = fluid.DistributedPipe(100, "dynamic", medium=R134A, length=50.0, diameter=0.1, p_start=2e5, h_start=start.h)
    plant = wired("end.port pipe.a", "pipe.b valve.a", "valve.b low.port", pipe=pipe, end=fluid.Closed(),
                  valve=fluid.Orifice(A=1e-2), low=fluid.PressureBoundary(p=1.9e5, h=start.h))  # fmt: skip
    result = ac.compile(plant).simulate(until=0.6, points=601)
    closed = np.asarray(result["pipe.p"])[:, 0]
    opened = np.asarray(result["pipe.p"])[:, -1]
    half = opened[np.searchsorted(result.time, 0.1)] - 2e5
    arrives = result.time[np.argmax(closed < 2e5 + half)]  # reflected at the closed end it is twice as high
    assert arrives == pytest.approx(50.0 / start.speed_of_sound, rel=0.03)


def test_a_heated_pipe_at_rest_has_an_exponential_profile(wired: Any) -> None:
    water = ac.media.fluid("water")
    cold = water.state(p=2e5, T=293.15).h
    pipe = fluid.DistributedPipe(100, medium=water, length=20.0, h_start=cold, alpha=1000.0)
    plant = wired(
        "source.port pipe.a", "pipe.b outlet.a", "outlet.b end.port", "pipe.heat wall.port",
        source=fluid.FlowSource(m_flow=0.1, h=cold), end=fluid.PressureBoundary(p=2e5, h=cold),
        pipe=pipe, outlet=fluid.Orifice(A=1e-4),
        wall=thermal.FixedTemperature(T=333.15),
    )  # fmt: skip
    result = ac.compile(plant).simulate(until=400.0, points=2)
    units = 1000.0 * np.pi * 0.02 * 20.0 / (0.1 * 4181.0)
    leaves = 333.15 - 40.0 * np.exp(-units)
    assert np.asarray(result["pipe.T"])[-1, -1] == pytest.approx(leaves, abs=0.4)  # cells smear, by 1/n


def test_a_check_valve_opens_one_way(wired: Any) -> None:
    forth, back = (float(between(wired, fluid.CheckValve(medium=WATER), p)["part.m_flow"][-1]) for p in (1.1e5, 0.9e5))
    assert forth == pytest.approx(1e-5 * np.sqrt(2 * 995.586 * 1e4), rel=1e-2)
    assert abs(back) < 1e-5 * forth


def test_a_nozzle_chokes(wired: Any) -> None:
    air = ac.media.ideal_gas(["N2", "O2"], mole=[0.79, 0.21])
    h = air.state(p=5e5, T=300.0).h
    flows = [float(between(wired, fluid.Nozzle(medium=air), 5e5, low, h, h)["part.m_flow"][-1]) for low in (4.9e5, 3e5, 2e5, 1e5)]
    rho = air.state(p=5e5, T=300.0).rho
    choked = 1e-5 * 0.484178 * np.sqrt(2 * 5e5 * rho)  # Psi_max of kappa 1.4
    assert flows[2] == flows[3] == pytest.approx(choked, rel=1e-5)
    assert 0 < flows[0] < flows[1] < flows[2]


def test_what_a_pump_delivers_does_not_jump_where_its_flow_turns(wired: Any) -> None:
    """Cold water comes, warm water comes back: the work on a kg is that on what is pumped, on both sides of no flow."""
    water = ac.media.fluid("water")
    ends = {"cold": fluid.PressureBoundary(p=2e5, T=290.0, medium=water), "warm": fluid.PressureBoundary(T=360.0)}
    model = ac.compile(wired("cold.port pump.a", "pump.b pipe.a", "pipe.b warm.port", pump=fluid.Pump(), pipe=fluid.Pipe(), **ends))
    result = model.simulate(until=10.0, points=1001, inputs={"warm.p": ac.data([0.0, 10.0], [3.2e5, 3.4e5])}, rtol=1e-8)
    m, h, dp = (np.asarray(result[path]) for path in ("pump.m_flow", "pump.b.h.outflow", "warm.p"))
    assert m[0] > 0.01 and m[-1] < -0.01
    rho = water.state(p=2e5, T=290.0).rho
    np.testing.assert_allclose(h - h[0], (result["pump.b.p"] - result["pump.b.p"][0]) / (0.6 * rho), atol=1e-2)
    assert np.abs(np.diff(h)).max() < 3 * np.diff(dp).max() / (0.6 * rho)


def test_a_pump_follows_the_laws_of_similarity(wired: Any) -> None:
    def flow(speed: float) -> float:
        return float(between(wired, fluid.Pump(medium=WATER, speed=speed), 1e5, 1e5 + 1e5 * speed**2)["part.m_flow"][-1])

    assert flow(1.0) == pytest.approx(995.586e-3, rel=1e-4)  # the design point
    assert flow(0.5) == pytest.approx(0.5 * 995.586e-3, rel=1e-3)
    back = between(wired, fluid.Pump(medium=WATER, speed=0.0), 1e5, 2e5)
    assert back["part.m_flow"][-1] < 0


@pytest.mark.parametrize(
    ("speed", "p", "p_end"), [(0.8, 1e5, 1.5e5), (0.5, 3e5, 1e5), (0.0, 3e5, 1e5), (0.0, 1e5, 2e5), (0.5, 1e5, 2e5)]
)
def test_the_power_of_a_pump_is_what_the_water_gets(wired: Any, speed: float, p: float, p_end: float) -> None:
    result = between(wired, fluid.Pump(medium=WATER, speed=speed), p, p_end)
    m, P = float(result["part.m_flow"][-1]), float(result["part.P"][-1])
    out, came = ("b", COLD) if m > 0 else ("a", WARM)
    assert P == pytest.approx(abs(m) * (result[f"part.{out}.h.outflow"][-1] - came), abs=1e-9)
    assert (P > 1) if m > 0 and p_end > p else (P == 0)  # one that stands, or is driven, takes nothing


def test_a_turbine_after_stodola(wired: Any) -> None:
    water = ac.media.fluid("water")
    steam = water.state(p=4e6, T=673.15)
    result = between(wired, fluid.Turbine(medium=water), 4e6, 1e6, steam.h, steam.h)
    assert result["part.m_flow"][-1] == pytest.approx(1e-4 * np.sqrt(steam.rho * 4e6 * (1 - 1 / 16)), rel=1e-3)
    drop = steam.h - water.state(p=1e6, s=steam.s).h
    assert result["part.P"][-1] == pytest.approx(0.85 * drop * result["part.m_flow"][-1], rel=1e-9)


@pytest.mark.parametrize(("arrangement", "expected"), [("counter", 2 / 3), ("co", (1 - np.exp(-4.0)) / 2), ("cross", 0.6154)])
def test_an_exchanger_by_its_effectiveness(arrangement: str, expected: float, wired: Any) -> None:
    """Equal flows of water, two transfer units."""
    plant = wired(
        "hot.port hx.a1", "hx.b1 end1.port", "cold.port hx.a2", "hx.b2 end2.port",
        hot=fluid.FlowSource(m_flow=0.1, h=WARM), cold=fluid.FlowSource(m_flow=0.1, h=COLD),
        end1=fluid.PressureBoundary(p=1e5, h=COLD), end2=fluid.PressureBoundary(p=1e5, h=COLD),
        hx=fluid.HeatExchanger(arrangement, one=WATER, two=WATER, UA=2 * 0.1 * 4184.0),
    )  # fmt: skip
    result = ac.compile(plant).simulate(until=1.0)
    assert result["hx.eps"][-1] == pytest.approx(expected, abs=1e-3)
    assert result["hx.Q_flow"][-1] == pytest.approx(result["hx.eps"][-1] * 0.1 * 4184.0 * 40.0, rel=1e-3)
    gained = result["hx.b2.h.outflow"][-1] - COLD
    assert 0.1 * gained == pytest.approx(result["hx.Q_flow"][-1], rel=1e-6)


def test_a_three_way_valve_divides(wired: Any) -> None:
    plant = wired(
        "source.port valve.common", "valve.a left.port", "valve.b right.port",
        source=fluid.FlowSource(m_flow=0.3, h=WARM), left=fluid.PressureBoundary(p=1e5, h=COLD),
        right=fluid.PressureBoundary(p=1e5, h=COLD),
        valve=fluid.ThreeWayValve(medium=WATER, opening=0.25),
    )  # fmt: skip
    result = ac.compile(plant).simulate(until=1.0)
    assert -result["valve.a.m_flow"][-1] == pytest.approx(0.075, rel=1e-3)
    assert -result["valve.b.m_flow"][-1] == pytest.approx(0.225, rel=1e-3)


class Turned(ac.Component):
    """A four-way valve between four pressures; after 10 s it turns."""

    mode = ac.OutputStates("heat", "cool", initial="heat")

    def __init__(self) -> None:
        self.valve = fluid.FourWayValve(medium=R134A)
        self.discharge, self.suction = fluid.PressureBoundary(p=8e5, h=4.4e5), fluid.PressureBoundary(p=2e5, h=4e5)
        self.indoor, self.outdoor = fluid.PressureBoundary(p=7.5e5, h=2.5e5), fluid.PressureBoundary(p=2.2e5, h=4.05e5)

    def connections(self) -> Any:
        for name in ("discharge", "suction", "indoor", "outdoor"):
            yield getattr(self, name).port, getattr(self.valve, name)
        yield self.mode, self.valve.mode

    def transitions(self) -> Any:
        yield self.mode.heat.to("cool", after=10.0)


def test_a_four_way_valve_turns() -> None:
    result = ac.compile(Turned()).simulate(until=40.0)
    before, after = np.searchsorted(result.time, 9.0), -1
    indoor, outdoor = (np.asarray(result[f"valve.{name}.m_flow"]) for name in ("indoor", "outdoor"))
    assert indoor[before] < 0 < outdoor[before]  # hot gas goes to the coil indoors
    assert outdoor[after] < 0 < indoor[after]
    total = sum(np.asarray(result[f"valve.{n}.m_flow"]) for n in ("discharge", "suction", "indoor", "outdoor"))
    np.testing.assert_allclose(total, 0.0, atol=1e-9)


@pytest.mark.parametrize("medium", ["water", "R134a", "N2", "moist air"])
def test_the_pressures_on_a_four_way_valve_change_places(wired: Any, medium: str) -> None:
    """All four ways turn at one moment, where fluid of another temperature comes from the other side."""
    p, dp = 2e5, 1e4
    of = {"N2": ac.media.ideal_gas("N2"), "moist air": ac.media.moist_air()}.get(medium, medium)
    ends = {name: fluid.PressureBoundary(T=T, medium=of) for name, T in (("high", 300.0), ("low", 340.0))}
    parts = {"valve": fluid.FourWayValve(), "coil": fluid.Orifice(A=1e-4), **ends}
    model = ac.compile(
        wired("high.port valve.discharge", "valve.suction low.port", "valve.indoor coil.a", "coil.b valve.outdoor", **parts)
    )
    swap = {
        name: ac.data([0, 10, 30, 60], [p + s * dp, p + s * dp, p - s * dp, p - s * dp])
        for name, s in (("high.p", 1), ("low.p", -1))
    }
    result = model.simulate(until=60.0, inputs=swap)
    assert result.outcome is ac.Outcome.FINISHED
    flow = np.asarray(result["coil.m_flow"])
    assert flow[0] > 0.01 and flow[-1] < -0.01
    for k, comes, goes in ((0, "high", "low"), (-1, "low", "high")):
        taken, given = result[f"{comes}.port.h.outflow"][k], result[f"{goes}.port.h.inflow"][k]
        assert given == pytest.approx(taken, abs=1e-6 * abs(result["high.port.h.outflow"][0]))


@pytest.mark.parametrize("line", [fluid.Orifice(A=1e-5), fluid.Pipe(diameter=0.004, length=5.0)], ids=["orifice", "pipe"])
def test_liquid_meets_vapour_in_a_four_way_valve(wired: Any, line: Any) -> None:
    """Hot vapour comes through a valve halfway, and from a pressure on liquid with it. It makes the mixture denser by more than its
    own mass, so that more is drawn: without chambers no flow fitted from the first drop on. What they hold is accounted for."""
    ends = {name: fluid.PressureBoundary(p=5e5, h=3.1e6) for name in ("discharge", "outdoor")}
    ends |= {"suction": fluid.PressureBoundary(h=6e5), "indoor": fluid.PressureBoundary(p=4e5, h=2.9e6)}
    joints = [f"{name}.port valve.{name}" for name in ("discharge", "outdoor", "suction")]
    valve = fluid.FourWayValve(medium="water", tau=1e6, A=1e-5)
    model = ac.compile(wired(*joints, "valve.indoor line.a", "line.b indoor.port", valve=valve, line=line, **ends))
    pressed = {"suction.p": ac.data([0.0, 100.0], [4.5e5, 5.1e5])}
    result = model.simulate(until=100.0, points=10001, inputs=pressed, set={"valve.slide": 0.5}, rtol=1e-8)
    assert result.outcome is ac.Outcome.FINISHED
    flow = np.asarray(result["valve.suction.m_flow"])
    assert flow[0] < -1e-4 and flow[-1] > 1e-3
    m, comes, goes = (np.stack([result[f"valve.{name}.{q}"] for name in ends]) for q in ("m_flow", "h.inflow", "h.outflow"))
    carried = (m * np.where(m > 0, comes, goes)).sum(axis=0)
    gained = np.sum((carried[1:] + carried[:-1]) / 2 * np.diff(result.time))
    held = np.asarray(result["valve.U"])
    assert gained == pytest.approx(held[-1] - held[0], rel=1e-2)
    assert np.all(np.diff(result["valve.h"][:, 1]) < 1e-6 * 3e6)  # ever more liquid


@pytest.mark.parametrize("joint", ["ThreeWayValve", "Chamber"])
def test_liquid_meets_vapour_where_three_ways_meet(wired: Any, joint: str) -> None:
    """As in a four-way valve: vapour comes through a hole, and from a pressure on liquid at the joint, and both go on together."""
    ends = {"dry": fluid.PressureBoundary(p=5e5, h=3.1e6, medium="water"), "end": fluid.PressureBoundary(p=4e5, h=2.9e6)}
    ends |= {"wet": fluid.PressureBoundary(h=6e5), "line": fluid.Pipe(diameter=0.004, length=5.0)}
    if joint == "ThreeWayValve":
        parts = {"joint": fluid.ThreeWayValve(A=1e-5), **ends}
        joints = ("dry.port joint.a", "joint.b line.a", "wet.port joint.common")
    else:
        parts = {"joint": fluid.Chamber(), "hole": fluid.Orifice(A=5e-6), **ends}
        joints = ("dry.port hole.a", "hole.b joint.one", "joint.two line.a", "wet.port joint.common")
    model = ac.compile(wired(*joints, "line.b end.port", **parts))
    result = model.simulate(until=200.0, inputs={"wet.p": ac.data([0.0, 100.0, 200.0], [4.0e5, 4.95e5, 4.95e5])})
    assert result.outcome is ac.Outcome.FINISHED
    flow = -np.asarray(result["wet.port.m_flow"])
    assert flow[0] < -1e-4 and flow[-1] > 1e-4
    comes, passes = flow[-1] * 6e5 - result["dry.port.m_flow"][-1] * 3.1e6, flow[-1] - result["dry.port.m_flow"][-1]
    assert result["end.port.h.inflow"][-1] == pytest.approx(comes / passes, rel=1e-4)


def test_a_stratified_tank_keeps_heat_on_top(wired: Any) -> None:
    water = ac.media.fluid("water")
    plant = wired(
        "source.port tank.a", "tank.b end.port", "tank.ambient room.port",
        source=fluid.FlowSource(m_flow=0.05, h=water.state(p=2e5, T=333.15).h), end=fluid.PressureBoundary(p=2e5, h=COLD),
        tank=fluid.StratifiedTank(medium=water), room=thermal.FixedTemperature(T=293.15),
    )  # fmt: skip
    result = ac.compile(plant).simulate(until=3600.0)
    T = np.asarray(result["tank.T"])[-1]
    assert np.all(np.diff(T) <= 1e-6)
    assert T[0] == pytest.approx(333.15, abs=1.0) and T[-1] < 320.0


def test_words_that_are_not_known() -> None:
    with pytest.raises(UsageError, match="'static' or 'dynamic', not 'quick'"):
        fluid.DistributedPipe(10, "quick")
    with pytest.raises(UsageError, match="two of them or more, not 1"):
        fluid.DistributedPipe(1)
    with pytest.raises(UsageError, match="one of counter, co, cross, not 'parallel'"):
        fluid.HeatExchanger("parallel")


def test_a_volume_starts_from_any_two_of_its_quantities():
    class Bottle(ac.Component):
        def __init__(self):
            self.volume, self.end = fluid.Volume(1, V=5e-3, medium="R134a", p_start=1e5, h_start=4.2e5), fluid.Closed()

        def connections(self):
            yield self.volume.ports[0], self.end.port

    model = ac.compile(Bottle())
    run = model.simulate(until=1.0, given={"volume.p": "5 bar", "volume.T": "50 degC"})
    state = ac.media.fluid("R134a").state(p=5e5, T=323.15)
    assert run["volume.M"][0] == pytest.approx(5e-3 * state.rho, rel=1e-8)
    assert run["volume.h"][0] == pytest.approx(state.h, rel=1e-8)
    assert model.simulate(until=1.0)["volume.p"][0] == pytest.approx(1e5, rel=1e-9)
    assert model.simulate(until=1.0, set={"volume.p_start": 2e5})["volume.p"][0] == pytest.approx(2e5, rel=1e-9)


def test_what_is_given_counts_more_than_what_a_component_states_at_its_start():
    class Tank(ac.Component):
        def __init__(self):
            self.tank = fluid.OpenTank(medium="water", level_start=1.0)

    model = ac.compile(Tank())
    both = model.simulate(until=1.0, given={"tank.level": 2.0, "tank.T": "27 degC"})
    assert both["tank.level"][0] == pytest.approx(2.0)
    assert both["tank.T"][0] == pytest.approx(300.15)
    one = model.simulate(until=1.0, given={"tank.level": 2.0})
    assert one["tank.level"][0] == pytest.approx(2.0)
    assert one["tank.T"][0] == pytest.approx(293.15)
    with pytest.raises(ac.ModelError, match="more initial conditions than needed"):
        model.simulate(until=1.0, given={"tank.level": 2.0, "tank.M": 10.0, "tank.T": 300.0})


def test_an_input_is_not_given_but_put_in():
    class Tank(ac.Component):
        def __init__(self):
            self.tank = fluid.OpenTank(medium="water")

    with pytest.raises(ac.ModelError, match=r"(?s)`tank.p_surface` is an input .*inputs=.'tank.p_surface': 200000.0."):
        ac.compile(Tank()).simulate(until=1.0, given={"tank.p_surface": 2e5})


class _FedPipe(ac.Component):
    def __init__(self) -> None:
        self.source = fluid.FlowSource(medium="R134a", m_flow=0.02, h=2.2e5)
        self.pipe = fluid.DistributedPipe(5, length=5.0, p_start=6e5, h_start=2.2e5)
        self.outlet, self.end = fluid.Orifice(A=2e-4), fluid.PressureBoundary(p=5e5, h=4.2e5)

    def connections(self):
        yield self.source.port, self.pipe.a
        yield self.pipe.b, self.outlet.a
        yield self.outlet.b, self.end.port


def test_cells_start_at_temperatures_on_the_other_side_of_the_dome():
    model, T = ac.compile(_FedPipe()), np.linspace(290.0, 330.0, 5)  # the first is liquid as it was, the others are vapour
    run = model.simulate(until=0.1, given={"pipe.p": "6 bar", "pipe.T": T})
    np.testing.assert_allclose(run["pipe.T"][0], T, rtol=1e-9)
    np.testing.assert_allclose(run["pipe.h"][0], R134A.state(p=6e5, T=T).h, rtol=1e-8)
    assert not run.diagnostics


def test_it_is_told_which_start_gave_way_where_several_could():
    model = ac.compile(_FedPipe())
    with pytest.warns(ac.ModelWarning, match="5 initial conditions of the model gave way to what is given; others could have"):
        run = model.simulate(until=0.1, given={"pipe.T": "50 degC"})
    np.testing.assert_allclose(run["pipe.T"][0], 323.15, rtol=1e-9)
    np.testing.assert_allclose(run["pipe.p"][0], 6e5, rtol=1e-9)  # what is stated first counts longest
    assert "self.h == h_start" in str(run.diagnostics[0]) and "self.p ==" not in str(run.diagnostics[0])
    assert not model.simulate(until=0.1, given={"pipe.h": 4.3e5}).diagnostics


@pytest.mark.parametrize("part", [fluid.Volume(2), fluid.LiquidVolume(2), fluid.DistributedPipe(3), fluid.MeanDensityPipe(3)])
def test_what_stores_mass_refuses_what_cannot_be_compressed(wired: Any, part: Any) -> None:
    joint = "left.port part.ports" if hasattr(part, "ports") else "left.port part.a"
    with pytest.raises(UsageError, match="incompressible"):
        ac.compile(wired(joint, left=fluid.PressureBoundary(medium=WATER), part=part))


PURE = (
    fluid.DistributedPipe(3), fluid.MeanDensityPipe(3), fluid.StratifiedTank(3, medium=ac.media.moist_air()), fluid.Turbine(),
    refrigeration.Compressor(), refrigeration.Evaporator(), refrigeration.DistributedExchanger(3), refrigeration.Receiver(),
)  # fmt: skip


@pytest.mark.parametrize("part", PURE, ids=lambda part: type(part).__name__)
def test_what_carries_no_composition_refuses_moist_air(wired: Any, part: Any) -> None:
    with pytest.raises(UsageError, match=f"{type(part).__name__} is for media of one composition"):
        ac.compile(wired("left.port part.a", left=air.Surroundings(), part=part))


def test_a_three_way_valve_mixes_moist_air(wired: Any) -> None:
    plant = wired(
        "dry.port valve.a", "damp.port valve.b", "valve.common fan.a", "fan.b room.port", valve=fluid.ThreeWayValve(A=0.1),
        dry=air.Surroundings(T=293.15, phi=0.1), damp=air.Surroundings(T=303.15, phi=0.8), fan=air.Fan(), room=air.Surroundings(),
    )  # fmt: skip
    result = ac.compile(plant).simulate(until=1.0)
    shares = np.array([result[f"valve.{way}.m_flow"][-1] for way in "ab"])
    assert shares.min() > 0.1 * shares.max() > 0
    for name in ("h", "X"):
        came = [np.squeeze(result[f"{source}.port.{name}.outflow"][-1]) for source in ("dry", "damp")]
        assert np.squeeze(result[f"valve.common.{name}.outflow"][-1]) == pytest.approx(shares @ came / shares.sum(), rel=1e-6)


def test_a_stratified_tank_of_constant_properties(wired: Any) -> None:
    plant = wired(
        "hot.port tank.a", "tank.b end.port", "tank.ambient room.port",
        room=thermal.FixedTemperature(T=293.15), hot=fluid.FlowSource(medium=WATER, m_flow=0.1, h=WARM),
        tank=fluid.StratifiedTank(3, medium=WATER, UA=0.0), end=fluid.PressureBoundary(p=2e5, h=COLD),
    )  # fmt: skip
    result = ac.compile(plant).simulate(until=600.0, rtol=1e-8)
    T = result["tank.T"]
    gained = 0.5 * 995.586 * 4184.0 * (T[-1] - T[0]).mean()
    brought = np.trapezoid(0.1 * (WARM - result["tank.b.h.outflow"]), result.time)
    assert gained == pytest.approx(brought, rel=1e-3)


@pytest.mark.parametrize("volume", [fluid.Volume, fluid.LiquidVolume])
@pytest.mark.parametrize("medium", [ac.media.ideal_gas(["N2", "O2"]), ac.media.moist_air()], ids=["gas", "air"])
def test_volumes_of_mixtures_rest(volume: Any, medium: Any) -> None:
    """Slopes have no end at the first guess, where substances are none: states are chosen all the same."""
    result = ac.compile(volume(1, medium=medium)).simulate(until=1.0)
    np.testing.assert_allclose(result["T"], 300.0, rtol=1e-7)
    np.testing.assert_allclose(result["p"], result["p_start"], rtol=1e-7)


def test_a_volume_without_ports_is_a_vessel() -> None:
    vessel = fluid.Volume(0, medium=ac.media.fluid("R134a"), p_start=5e5, x_start=0.3)
    result = ac.compile(vessel).simulate(until=1.0)
    assert result["x"][-1] == pytest.approx(0.3, rel=1e-9)


def test_two_phases_are_not_asked_for_above_the_critical_pressure() -> None:
    vessel = fluid.Volume(1, medium=ac.media.fluid("R134a"), p_start=50e5, x_start=0.5)
    with pytest.raises(ac.AcausalError, match=r"R134a has no two phases at p = 5e\+06 Pa: liquid and vapour exist from"):
        ac.compile(vessel).simulate(until=1.0)


def test_a_stratified_tank_without_losses_may_stand_alone(wired: Any) -> None:
    """With nothing at its ambient, nothing but its own temperature says how warm that is."""
    plant = wired(
        "hot.port tank.a", "tank.b end.port", hot=fluid.FlowSource(medium=WATER, m_flow=0.1, h=WARM),
        tank=fluid.StratifiedTank(3, medium=WATER, UA=0.0), end=fluid.PressureBoundary(p=2e5, h=COLD),
    )  # fmt: skip
    result = ac.compile(plant).simulate(until=60.0)
    assert result["tank.ambient.T"][-1] == pytest.approx(result["tank.T"][-1].mean(), rel=1e-6)


def test_a_tank_that_runs_empty_ends_the_run_there(wired: Any) -> None:
    """Its level went below zero, and the run to its end."""
    plant = wired(
        "tank.ports[0] hole.a", "hole.b end.port", tank=fluid.OpenTank(1, level_start=0.2, area=0.01, medium=WATER),
        hole=fluid.Orifice(A=1e-3), end=fluid.PressureBoundary(p=0.9e5, T=300.0),
    )  # fmt: skip
    with pytest.warns(ac.RunWarning, match="The tank is empty, and more is drawn from it"):
        result = ac.compile(plant).simulate(until=60.0)
    assert not result.outcome and result["tank.level"][-1] == pytest.approx(0.0, abs=1e-6)


def test_a_store_that_boils_says_so(wired: Any) -> None:
    """It switched between liquid and vapour without end."""
    plant = wired(
        "feed.port tank.a", "tank.b end.port", tank=fluid.StratifiedTank(4, T_start=390.0, p_nominal=2e5),
        feed=fluid.FlowSource(m_flow=0.5, T=430.0), end=fluid.PressureBoundary(p=8e5, T=300.0),
    )  # fmt: skip
    with pytest.warns(ac.RunWarning, match="The store boils") as caught:
        result = ac.compile(plant).simulate(until=3600.0)
    assert not result.outcome and 0 < result.time_reached < 3600.0 and "tank (StratifiedTank)" in str(caught[0].message)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: fluid.StratifiedTank(1), "two layers or more, not 1"),
        (lambda: thermal.Wall(0), "one cell or more, not 0"),
        (lambda: thermal.LayeredWall(0), "one layer or more, not 0"),
    ],
)
def test_counts_that_leave_nothing(make: Any, text: str) -> None:
    with pytest.raises(UsageError, match=text):
        make()
