"""Blocks that work at the ticks of a clock, as a digital controller does, and hold their output in between.

All clocks of a model share a base clock: ticks that ought to coincide do. A block reads its input as it is just before the tick.

    import acausal as ac
    from acausal.library import sampled, signal

    class Loop(ac.Component):
        def __init__(self):
            self.wish, self.error = signal.Constant(k=1.0), signal.Add(k2=-1.0)
            self.control, self.plant = sampled.DiscretePI(k=2.0, T=0.5, period=0.05), signal.FirstOrder(T=0.5)

        def connections(self):
            yield self.wish.y, self.error.u1
            yield self.plant.y, self.error.u2
            yield self.error.y, self.control.u
            yield self.control.y, self.plant.u
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import acausal as ac

from .signal import Block


class Clocked(Block):
    """Base of blocks with a clock, which ticks at `start_time`, `start_time + period`, …, and a held output."""

    period = ac.Parameter(0.1, unit="s", min=1e-12, doc="from tick to tick")
    start_time = ac.Parameter(0.0, unit="s", doc="first tick")
    held = ac.Discrete(0.0, doc="the output since the last tick; its start is the output before the first")

    def equations(self) -> Iterator[Any]:
        yield self.y == self.held

    def ticks(self) -> Any:
        return ac.sample(self.start_time, self.period)


class ZeroOrderHold(Clocked):
    """What u was at the last tick: a sampler and a hold."""

    def events(self) -> Iterator[Any]:
        yield ac.when(self.ticks(), ac.assign(self.held, self.u))


class UnitDelay(Clocked):
    """What u was at the tick before the last one: ``y(k) = u(k - 1)``."""

    waiting = ac.Discrete(0.0, doc="the input at the last tick")

    def events(self) -> Iterator[Any]:
        yield ac.when(self.ticks(), ac.assign(self.held, ac.pre(self.waiting)), ac.assign(self.waiting, self.u))


class DiscretePI(Clocked):
    """``y = k·(u + x)``, ``x(k) = x(k - 1) + period/T·u``, at the ticks; u is the control error."""

    k = ac.Parameter(1.0, doc="gain")
    T = ac.Parameter(1.0, unit="s", min=0, doc="integral time")
    x = ac.Discrete(0.0, doc="integral of the error over T")

    def events(self) -> Iterator[Any]:
        integral = ac.pre(self.x) + self.period / self.T * self.u
        yield ac.when(self.ticks(), ac.assign(self.x, integral), ac.assign(self.held, self.k * (self.u + integral)))
