"""System dynamics: stocks, the flows that fill and drain them, graphical functions, delays.

    from acausal.library import system_dynamics as sd

    class Town(ac.Component):
        def __init__(self):
            self.people = sd.Stock(initial=1000.0)
            self.births, self.deaths = sd.FractionalInflow(fraction=0.03), sd.FractionalOutflow(fraction=0.01)

        def connections(self):
            yield self.births.port, self.people.port, self.deaths.port

A stock and its flows meet in a port: the flows add up there, so that nothing gets lost between stocks. Rates are per `period`, a
year
unless another is given (`period="1 day"`), and runs go over real time: `simulate(until="50 year")`. See Forrester, Industrial
Dynamics (1961), and Sterman, Business Dynamics (2000), for the vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import acausal as ac

YEAR = 365.25 * 86400.0  # s, as units have it


class Port(ac.Connector):
    """Where flows meet a stock."""

    level = ac.Potential(doc="what is in the stock")
    rate = ac.Flow(doc="what enters the component, per period")


class Stock(ac.Component):
    """Accumulates what flows: ``period·d(level)/dt = rate``."""

    port = Port()
    initial = ac.Parameter(0.0, doc="what it holds at the start")
    period = ac.Parameter(YEAR, unit="s", min=1e-9, doc="what rates are counted per")
    level = ac.Variable(doc="what it holds")

    def equations(self) -> Iterator[Any]:
        yield self.level == self.port.level
        yield self.period * ac.der(self.level) == self.port.rate

    def initial_equations(self) -> Iterator[Any]:
        yield self.level == self.initial


class OneEnded(ac.Component):
    """Base of flows from or to the world outside of the model."""

    port = Port()
    rate = ac.Variable(doc="what flows, per period")


class Inflow(OneEnded):
    """From outside into a stock, as much as the input `u` says."""

    u = ac.Input(0.0, doc="what flows, per period")

    def equations(self) -> Iterator[Any]:
        yield self.rate == self.u
        yield self.port.rate == -self.rate


class Outflow(OneEnded):
    """Out of a stock, as much as the input `u` says."""

    u = ac.Input(0.0, doc="what flows, per period")

    def equations(self) -> Iterator[Any]:
        yield self.rate == self.u
        yield self.port.rate == self.rate


class FractionalInflow(OneEnded):
    """Growth: ``rate = fraction·level·effect``."""

    fraction = ac.Parameter(0.1, doc="part of the level, per period")
    effect = ac.Input(1.0, doc="multiplier, as that of a graphical function")

    def equations(self) -> Iterator[Any]:
        yield self.rate == self.fraction * self.port.level * self.effect
        yield self.port.rate == -self.rate


class FractionalOutflow(OneEnded):
    """Decay: ``rate = fraction·level·effect``."""

    fraction = ac.Parameter(0.1, doc="part of the level, per period")
    effect = ac.Input(1.0, doc="multiplier, as that of a graphical function")

    def equations(self) -> Iterator[Any]:
        yield self.rate == self.fraction * self.port.level * self.effect
        yield self.port.rate == self.rate


class Transfer(ac.Component):
    """From one stock to another, as much as the input `u` says; what one loses the other gets."""

    source, sink = Port(), Port()
    u = ac.Input(0.0, doc="what flows, per period")
    rate = ac.Variable(doc="what flows, per period")

    def equations(self) -> Iterator[Any]:
        yield self.rate == self.u
        yield self.source.rate == self.rate
        yield self.sink.rate == -self.rate


class FractionalTransfer(ac.Component):
    """From one stock to another: ``rate = fraction·(level of the source)·effect``."""

    source, sink = Port(), Port()
    fraction = ac.Parameter(0.1, doc="part of the source, per period")
    effect = ac.Input(1.0, doc="multiplier")
    rate = ac.Variable(doc="what flows, per period")

    def equations(self) -> Iterator[Any]:
        yield self.rate == self.fraction * self.source.level * self.effect
        yield self.source.rate == self.rate
        yield self.sink.rate == -self.rate


class Level(ac.Component):
    """What a stock holds, as a signal."""

    port = Port()
    y = ac.Output(doc="level of the stock")

    def equations(self) -> Iterator[Any]:
        yield self.y == self.port.level
        yield self.port.rate == 0


class Graph(ac.Component):
    """A graphical function: straight lines through given points, held beyond them."""

    u = ac.Input(0.0, doc="argument")
    y = ac.Output(doc="value")

    def __init__(self, x: Any, values: Any) -> None:
        self.table = ac.Table(x, values, method="linear", name="graph")

    def equations(self) -> Iterator[Any]:
        yield self.y == self.table(self.u)


class Smooth(ac.Component):
    """A delay of information: ``delay·dy/dt = u - y``."""

    u = ac.Input(0.0, doc="input")
    y = ac.Output(doc="what is perceived")
    delay = ac.Parameter(1.0, min=1e-9, doc="mean delay, in periods")
    period = ac.Parameter(YEAR, unit="s", min=1e-9, doc="what delays are counted in")
    initial = ac.Parameter(0.0, doc="what is perceived at the start")

    def equations(self) -> Iterator[Any]:
        yield self.delay * self.period * ac.der(self.y) == self.u - self.y

    def initial_equations(self) -> Iterator[Any]:
        yield self.y == self.initial


class MaterialDelay(ac.Component):
    """A delay of material of third order: what enters comes out later, `delay` periods on average, and nothing gets lost."""

    u = ac.Input(0.0, doc="what enters, per period")
    y = ac.Output(doc="what comes out, per period")
    delay = ac.Parameter(1.0, min=1e-9, doc="mean delay, in periods")
    period = ac.Parameter(YEAR, unit="s", min=1e-9, doc="what delays are counted in")
    within = ac.Variable(shape=3, start=0.0, doc="what is on its way, in three parts")

    def equations(self) -> Iterator[Any]:
        out = 3.0 * self.within / self.delay
        yield self.period * ac.der(self.within[0]) == self.u - out[0]
        yield self.period * ac.der(self.within[1:]) == out[:-1] - out[1:]
        yield self.y == out[2]
