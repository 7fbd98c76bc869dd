"""Starting from an earlier result, by name."""

from __future__ import annotations

import numpy as np
import pytest
from plants import Ladder, LadderOfObjects

import acausal as ac
from acausal.errors import UsageError
from acausal.runtime.initialise.earlier import values_from

from .networks import Network
from .test_high_index import L, Pendulum


def test_a_run_goes_on_where_another_ended() -> None:
    model = ac.compile(Ladder(5))
    whole = model.simulate(until=4.0, at=[0.0, 2.0, 3.0, 4.0], rtol=1e-10)
    first = model.simulate(until=2.0, rtol=1e-10)
    second = model.simulate(start=2.0, until=4.0, at=[2.0, 3.0, 4.0], start_from=first, rtol=1e-10)
    np.testing.assert_allclose(second["C.v"], whole["C.v"][1:], atol=1e-8)


def test_a_moment_is_no_result() -> None:
    model = ac.compile(Ladder(2))
    with pytest.raises(UsageError, match="simulate until that time, and start from that result"):
        model.simulate(until=1.0, start_from=model.simulate(until=1.0).at(0.5))


def test_fixed_starts_give_way() -> None:
    model = ac.compile(Ladder(3))
    again = model.simulate(until=1.0, points=2, start_from={"C.v": [0.3, 0.2, 0.1]})
    np.testing.assert_allclose(again["C.v"][0], [0.3, 0.2, 0.1])


@pytest.mark.parametrize(("plant", "common"), [(Ladder(8), 5), (Ladder(3), 3), (LadderOfObjects(5), 5)])
def test_another_size_takes_what_there_is(plant: ac.Component, common: int) -> None:
    earlier = ac.compile(Ladder(5)).simulate(until=3.0)
    model = ac.compile(plant)
    result = model.simulate(until=0.1, points=2, start_from=earlier)
    for k in range(common):
        assert result[f"C[{k}].v"][0] == pytest.approx(earlier[f"C[{k}].v"][-1], abs=1e-9)
    if isinstance(plant, Ladder) and len(plant.C) > 5:
        np.testing.assert_allclose(result["C[5:].v"][0], 0.0, atol=1e-12)


def test_any_name_of_an_unknown_will_do() -> None:
    """A resistor's end and a capacitor's plate are one voltage."""
    model = ac.compile(Ladder(2))
    values, found = values_from(model.system, {"R[0].n.v": 0.7})
    located = model.system.plant.locate("C[0].p.v")
    unknown = int(model.system.aliases.index[located.kind.quantities["p.v"].base + located.flat])
    assert found.tolist() == [k == unknown for k in range(model.system.size)] and values[unknown] == 0.7


def test_a_pendulum_goes_on_with_its_derivatives() -> None:
    model = ac.compile(Pendulum(x=ac.start(L), y=ac.start(0.0)))
    whole = model.simulate(until=2.0, at=[1.0, 2.0], rtol=1e-10)
    first = model.simulate(until=1.0, rtol=1e-10)
    second = model.simulate(start=1.0, until=2.0, at=[1.0, 2.0], start_from=first, rtol=1e-10)
    for name in "xyuv":
        np.testing.assert_allclose(second[name], whole[name], atol=1e-6)


def test_a_network_is_solved_at_once_from_its_solution() -> None:
    model = ac.compile(Network(12, 1))
    first = model.steady_state()
    again = model.steady_state(start_from=first, set={"nodes[77].drawn": 0.01})
    assert "by Newton's method on the whole system" in again.statistics.initialisation
    assert again["pump.m"][0] == pytest.approx(1.01)


def test_a_result_of_something_else_is_told() -> None:
    model = ac.compile(Ladder(2))
    with pytest.raises(UsageError, match="Nothing in `start_from`"):
        model.simulate(until=1.0, start_from=ac.compile(Pendulum(x=ac.start(L), y=ac.start(0.0))).simulate(until=0.1))
    with pytest.raises(ac.ModelError, match="`pressure` does not exist"):
        model.simulate(until=1.0, start_from={"pressure": 1.0})
    with pytest.raises(UsageError, match="earlier result or values by name, got 3"):
        model.simulate(until=1.0, start_from=3)
