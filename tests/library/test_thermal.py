"""Thermal components against closed forms, and against a published trajectory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.library import signal
from acausal.library import thermal as th

REFERENCE = Path(__file__).parents[3] / "shared" / "reference" / "msl-4.1.0" / "TwoMasses.csv"

# time, mass1.T, mass2.T of Modelica.Thermal.HeatTransfer.Examples.TwoMasses as published (MAP-LIB_ReferenceResults 4.1.0)
SAMPLED = np.array([
    [0.0, 373.15, 273.15],
    [0.0005, 373.11667777500588, 273.18332222499419],
    [0.001, 373.08337775425298, 273.21662224574703],
    [0.25, 358.97609116366522, 287.32390883633479],
    [0.5, 348.82036480638197, 297.47963519361798],
    [0.75, 341.54358073321077, 304.75641926678929],
    [1.0, 336.3296450288147, 309.97035497118537],
])  # fmt: skip


class TwoMasses(ac.Component):
    def __init__(self) -> None:
        self.mass1, self.mass2 = th.HeatCapacitor(C=15.0, T=ac.start(373.15)), th.HeatCapacitor(C=15.0, T=ac.start(273.15))
        self.conduction = th.ThermalConductor(G=10.0)
        self.sensor1, self.sensor2 = th.TemperatureSensor(), th.TemperatureSensor()

    def connections(self) -> Any:
        yield self.mass1.port, self.conduction.a, self.sensor1.port
        yield self.mass2.port, self.conduction.b, self.sensor2.port


def test_two_masses_as_published(run: Any) -> None:
    published = np.loadtxt(REFERENCE, delimiter=",", skiprows=1) if REFERENCE.exists() else SAMPLED
    times, first = np.unique(published[:, 0], return_index=True)
    result = run(TwoMasses(), float(times[-1]), at=times, rtol=1e-9)
    for column, name in ((1, "mass1.T"), (2, "mass2.T")):
        wanted = published[first, column]
        # of the 100 K between the two; the agreed bar is 2e-3, and the published values are 7e-6 off the exact ones
        assert np.abs(result[name] - wanted).max() <= 1e-5 * 100.0


def test_two_masses_exactly_and_to_the_end(run: Any, agrees: Any) -> None:
    result = run(TwoMasses(), 20.0, rtol=1e-9)
    half = 50.0 * np.exp(-2 * 10.0 / 15.0 * result.time)
    agrees(result["sensor1.T"], 323.15 + half)
    agrees(result["sensor2.T"], 323.15 - half)
    assert result["mass1.T"][-1] == pytest.approx(323.15, abs=1e-5)


def test_a_body_cools_by_conductor_resistor_or_convection_alike(wired: Any, run: Any, agrees: Any) -> None:
    for law in (th.ThermalConductor(G=4.0), th.ThermalResistor(R=0.25), th.Convection(Gc=4.0)):
        plant = wired(
            "body.port law.a", "law.b meter.a", "meter.b ambient.port",
            body=th.HeatCapacitor(C=200.0, T=ac.start(350.0)), law=law, meter=th.HeatFlowSensor(),
            ambient=th.FixedTemperature(T=300.0),
        )  # fmt: skip
        result = run(plant, 200.0)
        agrees(result["body.T"], 300.0 + 50.0 * np.exp(-result.time / 50.0))
        agrees(result["meter.Q_flow"], 200.0 * np.exp(-result.time / 50.0), reached=1e-5)  # 4 W/K times 1e-6 of 350 K


def test_a_body_radiates_into_the_cold(wired: Any, run: Any, agrees: Any) -> None:
    """Towards 0 K: T⁻³ grows evenly with 3·σ·Gr/C."""
    plant = wired(
        "body.port law.a", "law.b space.port",
        body=th.HeatCapacitor(C=100.0, T=ac.start(600.0)), law=th.BodyRadiation(Gr=0.5), space=th.FixedTemperature(T=0.0),
    )  # fmt: skip
    result = run(plant, 60.0)
    agrees(result["body.T"], (600.0**-3 + 3 * th.STEFAN_BOLTZMANN * 0.5 / 100.0 * result.time) ** (-1 / 3))


def test_heat_sources_feed_what_is_connected(wired: Any, run: Any, agrees: Any) -> None:
    plant = wired(
        "fixed.port body.port given.port", "ramp.y given.Q_flow",
        fixed=th.FixedHeatFlow(Q_flow=20.0), given=th.PrescribedHeatFlow(), ramp=signal.Ramp(height=10.0, duration=10.0),
        body=th.HeatCapacitor(C=50.0, T=ac.start(300.0)),
    )  # fmt: skip
    result = run(plant, 10.0)
    agrees(result["body.T"], 300.0 + (20.0 * result.time + 0.5 * result.time**2) / 50.0)


def test_a_source_weakens_with_temperature(wired: Any, run: Any, agrees: Any) -> None:
    plant = wired(
        "source.port body.port", source=th.FixedHeatFlow(Q_flow=100.0, alpha=-0.01, T_ref=300.0),
        body=th.HeatCapacitor(C=10.0, T=ac.start(300.0)),
    )  # fmt: skip
    result = run(plant, 20.0)
    agrees(result["body.T"], 400.0 - 100.0 * np.exp(-0.1 * result.time))


def test_a_body_follows_a_prescribed_temperature(wired: Any, run: Any, agrees: Any) -> None:
    """A first-order lag behind a ramp: T = T0 + r·(t - τ·(1 - exp(-t/τ)))."""
    plant = wired(
        "source.port law.a probe.a", "law.b body.port probe.b", source=th.PrescribedTemperature(), law=th.ThermalConductor(G=5.0),
        body=th.HeatCapacitor(C=10.0, T=ac.start(300.0)), probe=th.RelativeTemperatureSensor(),
    )  # fmt: skip
    result = run(plant, 10.0, inputs={"source.T": ([0.0, 10.0], [300.0, 320.0])})
    t, lag = result.time, 2.0 * 2.0 * (1 - np.exp(-result.time / 2.0))
    agrees(result["body.T"], 300.0 + 2.0 * t - lag)
    agrees(result["probe.T_rel"], lag, size=300.0)


def test_a_collector_joins_many_ports_to_one(run: Any, agrees: Any) -> None:
    class Fan(ac.Component):
        def __init__(self) -> None:
            self.source = ac.array(th.FixedHeatFlow, 3, Q_flow=[1.0, 2.0, 4.0])
            self.collector, self.body = th.ThermalCollector(3), th.HeatCapacitor(C=7.0, T=ac.start(300.0))

        def connections(self) -> Any:
            yield self.source.port, self.collector.a
            yield self.collector.b, self.body.port

    result = run(Fan(), 10.0)
    agrees(result["body.T"], 300.0 + result.time)


def test_a_slab_quenched_on_both_sides_follows_the_series(wired: Any, run: Any) -> None:
    """Carslaw and Jaeger's series for a slab whose surfaces drop to 300 K at once; cells converge with the square of dx."""
    errors = []
    for cells in (10, 20):
        plant = wired(
            "left.port wall.a", "wall.b right.port", left=th.FixedTemperature(T=300.0), right=th.FixedTemperature(T=300.0),
            wall=th.Wall(cells, thickness=0.1, conductivity=2.0, density=1000.0, specific_heat=500.0, T=ac.start(400.0)),
        )  # fmt: skip
        result = run(plant, 1500.0, at=[0.0, 300.0, 600.0, 1500.0])
        x = (np.arange(cells) + 0.5) / cells
        odd = np.arange(1, 60, 2)[:, None, None]
        time = result.time[None, 1:, None]
        rate = 2.0 / (1000.0 * 500.0) * (odd * np.pi / 0.1) ** 2
        exact = 300.0 + 400.0 / np.pi * (np.sin(odd * np.pi * x) / odd * np.exp(-rate * time)).sum(axis=0)
        errors.append(np.abs(result["wall.T"][1:] - exact).max())
    assert errors[0] < 0.6
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1)


def test_a_wall_of_one_cell_is_a_body_between_two_resistances(wired: Any, run: Any, agrees: Any) -> None:
    plant = wired(
        "left.port wall.a", "wall.b right.port", left=th.FixedTemperature(T=320.0), right=th.FixedTemperature(T=280.0),
        wall=th.Wall(1, area=2.0, thickness=0.1, conductivity=0.5, density=100.0, specific_heat=1000.0, T=ac.start(250.0)),
    )  # fmt: skip
    result = run(plant, 2000.0)
    agrees(result["wall.T[0]"], 300.0 - 50.0 * np.exp(-result.time * 40.0 / 20000.0))


def test_layers_in_a_row_add_their_resistances(wired: Any) -> None:
    plant = wired(
        "left.port wall.a", "wall.b right.port", left=th.FixedTemperature(T="30 degC"), right=th.FixedTemperature(T="0 degC"),
        wall=th.LayeredWall(3, 4, area=2.0, thickness=[0.1, 0.2, 0.05], conductivity=[0.5, 0.04, 1.0]),
    )  # fmt: skip
    steady = ac.compile(plant).steady_state()
    flow = 2.0 * 30.0 / (0.1 / 0.5 + 0.2 / 0.04 + 0.05 / 1.0)
    assert steady["wall.a.Q_flow"][0] == pytest.approx(flow, rel=1e-9)
    assert steady["wall.b.Q_flow"][0] == pytest.approx(-flow, rel=1e-9)
    middle = 303.15 - flow / 2.0 * (0.1 / 0.5 + 0.2 / 0.04 / 2)
    assert steady["wall.layer[1].T[1:3]"].mean() == pytest.approx(middle, rel=1e-12)


def test_a_layer_of_no_thickness_is_told_of_the_whole_wall(wired: Any) -> None:
    wall = th.LayeredWall(2, 2)
    model = ac.compile(
        wired("left.port wall.a", "wall.b right.port", left=th.FixedTemperature(), right=th.FixedTemperature(), wall=wall)
    )
    with pytest.raises(ac.ModelError, match=r"`wall.thickness\[1\]` = 0 m is out of its range(.|\n)*wall \(LayeredWall\)"):
        model.simulate(until=1.0, set={"wall.thickness": [0.1, 0.0]})


def test_a_room_settles_where_gains_meet_ventilation(wired: Any, run: Any, agrees: Any) -> None:
    air = 100.0 * 1.2 * 1006.0
    room = th.Room(V=100.0, furniture=3.0, air_change=1e-3, T_supply=280.0, gain=500.0, T=ac.start(290.0))
    result = run(wired(room=room), 20000.0)
    settled = 280.0 + 500.0 / (air * 1e-3)
    agrees(result["room.T"], settled + (290.0 - settled) * np.exp(-result.time * 1e-3 / 3.0))
    agrees(result["room.Q_ventilation"], air * 1e-3 * (280.0 - result["room.T"]))


@pytest.mark.parametrize(("power", "outside"), [(40.0, 283.15), (-40.0, 303.15)], ids=["heating", "cooling"])
def test_a_thermostat_keeps_a_body_within_its_band(wired: Any, run: Any, power: float, outside: float) -> None:
    """Exponentials between T_set - band/2 and T_set + band/2: switching times by their inverse."""
    C, G, low, high = 100.0, 2.0, 292.15, 294.15
    plant = wired(
        "body.port loss.a control.port", "loss.b ambient.port", control=th.Thermostat(T_set=293.15, band=2.0, Q_on=power),
        body=th.HeatCapacitor(C=C, T=ac.start(outside)), loss=th.ThermalConductor(G=G), ambient=th.FixedTemperature(T=outside),
    )  # fmt: skip
    result = run(plant, 400.0, rtol=1e-11)
    near, far = (low, high) if power > 0 else (high, low)  # where it goes on, where it goes off

    def takes(begin: float, end: float, limit: float) -> float:
        return float(C / G * np.log((limit - begin) / (limit - end)))

    warming, falling = takes(near, far, outside + power / G), takes(far, near, outside)
    first = takes(outside, far, outside + power / G)
    count = len(result.events.times)
    assert count > 10
    np.testing.assert_allclose(
        result.events.times, first + np.append(0.0, np.cumsum([falling, warming] * count))[:count], rtol=1e-7
    )
    T = result["body.T"][result.time >= first]
    assert low - 1e-6 < T.min() and T.max() < high + 1e-6
