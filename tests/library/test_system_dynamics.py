"""Stocks and flows against closed forms and conservation."""

from __future__ import annotations

import numpy as np
import pytest

import acausal as ac
from acausal.library import signal
from acausal.library import system_dynamics as sd

YEARS = np.linspace(0.0, 50.0, 11)


def over_years(model, years=50.0, **options):
    return model.simulate(until=f"{years} year", at=[f"{t} year" for t in YEARS[YEARS <= years]], rtol=1e-9, **options)


class Town(ac.Component):
    def __init__(self):
        self.people = sd.Stock(initial=1000.0)
        self.births, self.deaths = sd.FractionalInflow(fraction=0.03), sd.FractionalOutflow(fraction=0.01)

    def connections(self):
        yield self.births.port, self.people.port, self.deaths.port


def test_growth_is_exponential():
    result = over_years(ac.compile(Town()))
    np.testing.assert_allclose(result["people.level"], 1000.0 * np.exp(0.02 * YEARS), rtol=1e-6)


class Logistic(ac.Component):
    """The effect of crowding on births is a straight line from 1 to 0."""

    def __init__(self):
        self.people, self.seen = sd.Stock(initial=10.0), sd.Level()
        self.births = sd.FractionalInflow(fraction=0.2)
        self.crowding = sd.Graph([0.0, 1000.0], [1.0, 0.0])

    def connections(self):
        yield self.births.port, self.people.port, self.seen.port
        yield self.seen.y, self.crowding.u
        yield self.crowding.y, self.births.effect


def test_a_graphical_function_limits_growth():
    result = over_years(ac.compile(Logistic()))
    exact = 1000.0 / (1.0 + 99.0 * np.exp(-0.2 * YEARS))
    np.testing.assert_allclose(result["people.level"], exact, rtol=1e-5)


class Epidemic(ac.Component):
    """Kermack and McKendrick's SIR: transfers move people, nobody is lost."""

    def __init__(self):
        self.susceptible, self.infected, self.recovered = (sd.Stock(initial=n, period="1 day") for n in (990.0, 10.0, 0.0))
        self.infection, self.recovery = sd.Transfer(), sd.FractionalTransfer(fraction=0.1)
        self.S, self.I = sd.Level(), sd.Level()
        self.contacts, self.product = signal.Gain(k=0.3 / 1000.0), signal.Product()

    def connections(self):
        yield self.susceptible.port, self.infection.source, self.S.port
        yield self.infection.sink, self.infected.port, self.recovery.source, self.I.port
        yield self.recovery.sink, self.recovered.port
        yield self.S.y, self.product.u1
        yield self.I.y, self.product.u2
        yield self.product.y, self.contacts.u
        yield self.contacts.y, self.infection.u


def test_an_epidemic_keeps_its_people_and_its_final_size():
    result = ac.compile(Epidemic(), units=False).simulate(until="400 day", rtol=1e-8)
    total = result["susceptible.level"] + result["infected.level"] + result["recovered.level"]
    np.testing.assert_allclose(total, 1000.0, rtol=1e-9)
    left = result["susceptible.level"][-1]  # ln(S0/S) = R0·(N - S)/N
    assert np.log(990.0 / left) == pytest.approx(3.0 * (1000.0 - left) / 1000.0, rel=1e-4)


class Delays(ac.Component):
    def __init__(self):
        self.step, self.smooth, self.pipeline = signal.Constant(k=6.0), sd.Smooth(delay=4.0), sd.MaterialDelay(delay=6.0)
        self.store, self.into = sd.Stock(), sd.Inflow()
        self.drain, self.out = sd.Stock(initial=100.0), sd.Outflow(u=1.0)

    def connections(self):
        yield self.step.y, self.smooth.u, self.pipeline.u
        yield self.pipeline.y, self.into.u
        yield self.into.port, self.store.port
        yield self.out.port, self.drain.port


def test_delays_of_information_and_material():
    result = over_years(ac.compile(Delays(), units=False))
    np.testing.assert_allclose(result["smooth.y"], 6.0 * (1.0 - np.exp(-YEARS / 4.0)), rtol=1e-6, atol=1e-8)
    x = YEARS / 2.0  # three lags of two years: 1 - e^-x (1 + x + x²/2)
    np.testing.assert_allclose(result["pipeline.y"], 6.0 * (1 - np.exp(-x) * (1 + x + 0.5 * x * x)), rtol=1e-6, atol=1e-8)
    within = np.sum(result["pipeline.within"], axis=1)
    np.testing.assert_allclose(result["store.level"] + within, 6.0 * YEARS, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(result["drain.level"], 100.0 - YEARS, rtol=1e-9)
