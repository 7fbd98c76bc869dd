"""Connectors: what they may hold, how they are seen, what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from plants import Pin, Resistor

import acausal as ac
from acausal.errors import UsageError


class Bus(ac.Connector):
    T = ac.Potential(shape=3)
    q = ac.Flow(shape=3)


class Hub(ac.Component):
    one = Bus()
    many = Pin(shape=4)
    buses = Bus(shape=2, positive="out")


def test_members_are_seen_with_the_axes_of_the_connector_first():
    hub = Hub()
    assert hub.one.T.shape == (3,)
    assert hub.many.v.shape == (4,)
    assert hub.buses.T.shape == (2, 3)
    np.testing.assert_array_equal(hub.buses[1].T.picked, [3, 4, 5])
    np.testing.assert_array_equal(hub.many[::-1].v.picked, [3, 2, 1, 0])


def test_signs():
    assert Pin().sign == 1 and Pin(positive="in").sign == 1 and Pin(positive="out").sign == -1
    with pytest.raises(UsageError, match="'in'"):
        Pin(positive="inwards")


def test_only_potentials_and_flows():
    with pytest.raises(UsageError, match=r"`Wrong\.k`"):

        class Wrong(ac.Connector):
            k = ac.Parameter(1.0)


def test_inheritance_adds_members():
    class Wet(Pin):
        h = ac.Potential()

    assert list(Wet.members) == ["v", "i", "h"]


def test_what_cannot_be_said_of_a_connector():
    part = Resistor()
    with pytest.raises(UsageError, match="A Pin has no `V`"):
        part.p.V  # noqa: B018
    with pytest.raises(UsageError, match="single connector"):
        part.p[0]
    with pytest.raises(UsageError, match="joined in `connections`"):
        part.p == part.n  # noqa: B015
    with pytest.raises(UsageError, match="shape"):
        Hub().many[4]


def test_arrays_of_connectors():
    assert ac.array(Pin, 3).shape == (3,)
    assert len(Hub().many) == 4 and len(Hub().one) == 1
