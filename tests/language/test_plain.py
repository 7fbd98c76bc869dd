"""Plain models: residuals without components, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq

import acausal as ac
from acausal.errors import UsageError


def test_decay_and_its_parameter():
    def decay(dy, y, p):
        yield dy.n + p.rate * y.n

    model = ac.compile(ac.plain(decay, y={"n": 2.0}, p={"rate": 0.5}))
    result = model.simulate(until=3.0, rtol=1e-8)
    np.testing.assert_allclose(result["n"], 2 * np.exp(-0.5 * result.time), rtol=1e-6)
    assert model.simulate(until=3.0, set={"rate": 2.0}, rtol=1e-8)["n"][-1] == pytest.approx(2 * np.exp(-6.0), rel=1e-5)


def test_algebraic_unknowns_by_number_and_name():
    """x solves x + exp(x) = y + t at every time."""

    def implicit(t, dy, y, x):
        yield dy[0] + y[0]
        yield x["z"] + ac.exp(x.z) == y["y1"] + t

    result = ac.compile(ac.plain(implicit, y=[1.0], x={"z": 0.0})).simulate(until=2.0, points=5, rtol=1e-8)
    for t, z in zip(result.time, result["z"], strict=True):
        assert z == pytest.approx(brentq(lambda x, t=t: x + np.exp(x) - np.exp(-t) - t, -5, 5), abs=1e-6)


def test_robertson():
    """End values of the Test Set for IVP Solvers (Bari)."""

    def robertson(dy, y, x):
        a, b = 0.04 * y.y1, 1e4 * y.y2 * x.y3
        yield dy.y1 == -a + b
        yield dy.y2 == a - b - 3e7 * y.y2**2
        yield y.y1 + y.y2 + x.y3 - 1

    plain = ac.plain(
        robertson,
        y={"y1": ac.Variable(start=1.0, fixed=True, nominal=1e-6), "y2": ac.Variable(start=0.0, fixed=True, nominal=1e-11)},
        x={"y3": 0.0},
    )
    result = ac.compile(plain).simulate(until=1e11, points=2, rtol=1e-8)
    assert result.outcome.ok
    end = [result[n][-1] for n in ("y1", "y2", "y3")]
    np.testing.assert_allclose(end, [0.2083340149701255e-7, 0.8333360770334713e-13, 0.9999999791665050], rtol=1e-4)


def test_declarations_carry_attributes():
    def grow(dy, y):
        yield dy.T - 1.0

    result = ac.compile(ac.plain(grow, y={"T": ac.Variable(start=3.0, fixed=True, unit="K", doc="warm")})).simulate(until=1.0)
    assert (result.unit("T"), result.description("T")) == ("K", "warm")
    assert result["T"][-1] == pytest.approx(4.0)


def test_two_plain_models_in_one_plant_keep_their_own_starts():
    def decay(dy, y):
        yield dy.n + y.n

    class Both(ac.Component):
        def __init__(self):
            self.a, self.b = ac.plain(decay, y={"n": 1.0}), ac.plain(decay, y={"n": 5.0})

    result = ac.compile(Both()).simulate(until=1.0)
    np.testing.assert_allclose(result["b.n"], 5 * result["a.n"], rtol=1e-5)


def test_wrong_names_are_answered_with_near_ones():
    def wrong(dy, y):
        yield dy.temprature + y.temperature

    with pytest.raises(ac.ModelError, match=r"no `temprature` among `dy`.*`temperature`"):
        ac.compile(ac.plain(wrong, y={"temperature": 1.0}))

    def strange(y, z):
        yield y[0] + z

    with pytest.raises(ac.ModelError, match="`strange` takes y, z"):
        ac.compile(ac.plain(strange, y=[1.0]))


def test_a_residual_is_named_by_its_number_and_line():
    def short(dy, y, x):
        yield dy[0] + y[0]

    with pytest.raises(ac.ModelError) as found:
        ac.compile(ac.plain(short, y=[1.0], x=[0.0]))
    assert "x1" in str(found.value)
    assert isinstance(found.value, ac.ModelError) and not isinstance(found.value, UsageError)
