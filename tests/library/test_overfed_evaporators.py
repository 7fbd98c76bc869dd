"""An evaporator that liquid below boiling comes to: its zone of liquid, against closed forms, cells and conservation."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.errors import UsageError
from acausal.library import fluid, refrigeration, thermal
from benchmarks.cold_stores import REST, RIGS, Rig, rig, stepped

AMMONIA, LOW = ac.media.fluid("Ammonia"), {"feed.m_flow": 0.02, "feed.h": 1.9e5, "outlet.opening": 0.7}


class Metered(Rig):
    """With what came in."""

    came = ac.Variable(start=0.0, fixed=True, unit="kg", nominal=0.1)
    brought = ac.Variable(start=0.0, fixed=True, unit="J", nominal=1e5)

    def equations(self) -> Iterator[Any]:
        a, b = self.exchanger.a, self.exchanger.b
        yield ac.der(self.came) == a.m_flow + b.m_flow
        yield ac.der(self.brought) == a.m_flow * a.h.actual + b.m_flow * b.h.actual + self.exchanger.air.Q_flow


def metered(zones: int) -> Any:
    exchanger = refrigeration.Evaporator(zones=zones, **RIGS["overfed"]["exchanger"])
    return ac.compile(Metered(exchanger, **RIGS["overfed"]["rig"]))


def test_liquid_is_heated_along_its_zone_exponentially() -> None:
    """At rest: its length by transfer units, ``m·cp·ln((T_air - T_in)/(T_air - T''))/UA``, and the heat that the feed takes up."""
    given = RIGS["overfed"]["exchanger"]
    result = rig("overfed").simulate(until=REST, inputs=LOW)
    p, T_air = float(result["exchanger.p"][-1]), 265.0
    boiling, comes = AMMONIA.saturation(p=p), AMMONIA.state(p=p, h=LOW["feed.h"])
    inside, outside = 500.0 * given["area"], given["UA"]
    share = 0.02 * (boiling.liquid.h - LOW["feed.h"]) / (boiling.T - comes.T) * (1 / inside + 1 / outside)
    share *= np.log((T_air - comes.T) / (T_air - boiling.T))
    assert result["exchanger.L"][-1][0] == pytest.approx(share, rel=3e-3)
    heat = 0.02 * (result["exchanger.h_out"][-1] - LOW["feed.h"])
    assert result["exchanger.air.Q_flow"][-1] == pytest.approx(heat, rel=1e-6)


@pytest.mark.parametrize("what", ["flow", "enthalpy", "load"])
def test_three_zones_answer_steps_as_cells_do(what: str) -> None:
    """Also from liquid 18 K below boiling to two phases and back, which pushes most of the liquid out and lets it in again."""
    zones, cells = (stepped(rig("overfed", n), "overfed", what) for n in (0, 50))
    grid = np.arange(REST - 20.0, float(zones.time[-1]), 1.0)
    for name, most in (("exchanger.h_out", 0.05), ("exchanger.air.Q_flow", 0.05), ("exchanger.charge", 0.1)):
        ours, theirs = (np.interp(grid, r.time, np.asarray(r[name])) for r in (zones, cells))
        assert ours[0] == pytest.approx(theirs[0], rel=0.04)
        ours = ours - (ours[0] - theirs[0])
        assert np.sqrt(np.mean((ours - theirs) ** 2)) < most * np.ptp(theirs), name


@pytest.mark.filterwarnings("ignore::acausal.RunWarning")  # which two zones give
@pytest.mark.parametrize("zones", [2, 3])
def test_dry_flooded_all_gas_all_liquid_standing_still(zones: int) -> None:
    """Drawn at random, each draw through eight of these after each other: nothing is lost, and no zone vanishes."""
    model, rng, seen = metered(zones), np.random.default_rng(5), set()
    for _ in range(6):
        values = {
            "exchanger.charge_start": 1.8 * rng.choice([0.004, 0.05, 0.3, 0.6]),
            "exchanger.T_start": rng.uniform(258.0, 285.0),
        }
        drawn = {
            "feed.m_flow": 0.02 * rng.choice([0.0, 0.3, 1.0, 1.5], 8),
            "feed.h": rng.choice([1.4e5, 1.9e5, 3.5e5, 16e5], 8, p=[0.3, 0.3, 0.3, 0.1]),
            "outlet.opening": rng.choice([0.02, 0.3, 0.7, 1.0], 8),
            "air.T": rng.uniform(263.0, 285.0, 8),
            "low.p": rng.choice([2e5, 3.4e5], 8, p=[0.75, 0.25]),
            "exchanger.UA": 600.0 * rng.choice([0.02, 0.5, 1.5], 8),
        }
        drawn["feed.m_flow"][drawn["outlet.opening"] < 0.1] = 0.0
        time = np.ravel([[150.0 * k + 1.0, 150.0 * (k + 1)] for k in range(8)])
        inputs = {name: ac.data(time, np.repeat(heights, 2), ends="hold") for name, heights in drawn.items()}
        result = model.simulate(until=1200.0, set=values, inputs=inputs)
        charge, energy = np.asarray(result["exchanger.charge"]), np.asarray(result["exchanger.energy"])
        np.testing.assert_allclose(charge - charge[0], result["came"], atol=1e-12 * charge.max())
        np.testing.assert_allclose(energy - energy[0], result["brought"], atol=1e-11 * np.abs(energy).max())
        lengths, x = np.asarray(result["exchanger.L"]), np.asarray(result["exchanger.x"])
        assert lengths.min() > 2e-3
        seen |= {name for name, found in {
            "dry": lengths[:, -2] < 0.02, "flooded": x[:, -1] < 1.0, "gas": x.min(axis=1) >= 1.0, "liquid": x.max(axis=1) <= 0.02,
        }.items() if found.any()}  # fmt: skip
    assert seen == {"dry", "flooded", "gas", "liquid"}


@pytest.mark.filterwarnings("ignore::acausal.RunWarning")
def test_cold_liquid_through_an_evaporator_full_of_it_leaves_with_its_heat() -> None:
    """What left was saturated, whatever the zone held, and the zone became colder than anything that came."""
    inputs = {"feed.m_flow": 0.05, "feed.h": 1e5, "outlet.opening": 1.0, "exchanger.UA": 10.0, "low.p": 3e5}
    for zones in (2, 3):
        result = metered(zones).simulate(until=2000.0, set={"outlet.A": 2e-6, "exchanger.charge_start": 1.5}, inputs=inputs)
        taken = float(result["exchanger.air.Q_flow"][-1])
        assert result["exchanger.x"][-1].max() < 0.0
        assert np.asarray(result["exchanger.h"])[-1].min() > 1e5
        assert result["exchanger.h_out"][-1] == pytest.approx(1e5 + taken / 0.05, rel=1e-4)


class Swept(ac.Component):
    """An exchanger that much more passes than it was made for, into a wide pipe."""

    came = ac.Variable(start=0.0, fixed=True, unit="kg", nominal=0.1)

    def __init__(self, exchanger: Any, low: dict[str, float]) -> None:
        self.feed, self.low = fluid.FlowSource(h=1.0, medium=AMMONIA), fluid.PressureBoundary(**low)
        self.exchanger, self.pipe = exchanger, fluid.Pipe(diameter=0.03, length=1.0)
        self.air = thermal.FixedTemperature(T=290.0)

    def connections(self) -> Iterator[Any]:
        yield self.feed.port, self.exchanger.a
        yield self.exchanger.b, self.pipe.a
        yield self.pipe.b, self.low.port
        yield self.air.port, self.exchanger.air

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.came) == self.exchanger.a.m_flow + self.exchanger.b.m_flow


@pytest.mark.parametrize("make", [refrigeration.Evaporator, lambda: refrigeration.Evaporator(zones=3), refrigeration.Condenser])
def test_zones_stay_when_hundreds_of_times_the_nominal_flow_sweeps_through(make: Any) -> None:
    """The two limits of a boundary contradicted each other there, the mass of a zone became negative, and the run ended."""
    model = ac.compile(Swept(make(), {"p": 2e5, "x": 1.0}))
    liquid = AMMONIA.saturation(p=2e5).liquid.h
    for times in (3, 60, 300):
        for charge in (0.05, 0.6):
            values = {"feed.m_flow": 0.01 * times, "feed.h": liquid, "exchanger.charge_start": charge}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ac.RunWarning)  # liquid below boiling, for which two zones are too few
                result = model.simulate(until=300.0, points=3001, set=values)
            assert result.outcome.name == "FINISHED", (times, charge)
            assert np.asarray(result["exchanger.L"]).min() > 0
            held = result["exchanger.charge"]
            np.testing.assert_allclose(held - held[0], result["came"], atol=1e-7)  # meter and balance, each integrated
            if times == 300:  # all of it is what comes in, warmed by the wall
                full = AMMONIA.state(p=float(result["exchanger.p"][-1]), h=float(result["exchanger.h_out"][-1])).rho * 1.5e-3
                assert held[-1] == pytest.approx(full, rel=0.01)


def test_two_zones_say_that_liquid_below_boiling_comes() -> None:
    with pytest.warns(ac.RunWarning, match="below boiling"):
        (told,) = metered(2).simulate(until=100.0, inputs=LOW).diagnostics
    assert "Give it one, Evaporator(zones=3)" in told.what
    assert not metered(2).simulate(until=100.0, inputs=LOW | {"feed.h": 3.5e5}).diagnostics
    assert not metered(3).simulate(until=100.0, inputs=LOW).diagnostics


def test_another_number_of_zones() -> None:
    with pytest.raises(UsageError, match="three zones, or two without the one of subcooled liquid, not 4"):
        refrigeration.Evaporator(zones=4)
