"""Controllers of plants: PID with limits, rate limits, superheat control, staging of compressors.

Simpler ones (`PI`, `LimitedPI`, `Hysteresis`, `OnOffController`) are in `signal`, those with clocks in `sampled`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import acausal as ac
from acausal.errors import UsageError

from .counts import counted
from .signal import Block

LEAST_LAG = 0.01  # s: the derivative is filtered at least so much, also where there is none


class LimitedPID(ac.Component):
    """A PID controller with limits, an integral that does not run away, and a filtered derivative of what is measured.

    ``w = k·(b·setpoint - measured + x - d)``, ``y = limited(w)``, ``Ti·dx/dt = setpoint - measured + (y - w)/(k·anti_windup)``,
    ``d = Td·(measured - f)/(Td/Nd)``, ``(Td/Nd)·df/dt = measured - f`` (with at least 0.01 s). Corners at the limits are no
    events. States: x and f.
    """

    setpoint = ac.Input(0.0, doc="what is wanted")
    measured = ac.Input(0.0, doc="what is")
    y = ac.Output(doc="output")
    k = ac.Parameter(1.0, doc="gain; negative where more output makes the measured value smaller")
    Ti = ac.Parameter(100.0, unit="s", min=1e-9, doc="integral time")
    Td = ac.Parameter(0.0, unit="s", min=0, doc="derivative time")
    Nd = ac.Parameter(10.0, min=1, doc="the derivative is filtered with Td/Nd")
    b = ac.Parameter(1.0, min=0, doc="weight of the setpoint in the proportional part")
    y_min, y_max = ac.Parameter(0.0, doc="lowest output"), ac.Parameter(1.0, doc="highest output")
    anti_windup = ac.Parameter(0.9, min=1e-6, doc="how slowly the integral gives way at a limit, over Ti")
    x = ac.Variable(start=0.0, fixed=True, doc="integral of the error over Ti")
    f = ac.Variable(start=0.0, doc="measured value, filtered")

    def equations(self) -> Iterator[Any]:
        lag = self.Td / self.Nd + LEAST_LAG
        wanted = self.k * (self.b * self.setpoint - self.measured + self.x - self.Td * (self.measured - self.f) / lag)
        yield self.y == ac.no_event(ac.min(ac.max(wanted, self.y_min), self.y_max))
        yield self.Ti * ac.der(self.x) == self.setpoint - self.measured + (self.y - wanted) / (self.k * self.anti_windup)
        yield lag * ac.der(self.f) == self.measured - self.f

    def initial_equations(self) -> Iterator[Any]:
        yield self.f == self.measured


class SuperheatController(ac.Component):
    """A PI controller for the expansion valve of an evaporator that asks for no less superheat than the evaporator can keep.

    Below its minimum stable superheat, which grows with the load, an evaporator hunts (Huelle 1972). So the set value follows the
    opening within `tau`: ``set = lowest + (highest - lowest)·load``, ``tau·d(load)/dt = y - load``. The error e is
    ``measured - set``; each kelvin of it below `danger`, where liquid is about to leave, counts `urgent` times. ``w = k·(e + x)``,
    ``y = limited(w)``, ``Ti·dx/dt = e + (y - w)/(k·anti_windup)``. While `run` is off the valve is closed, and the integral waits.
    States: x and load.
    """

    measured = ac.Input(8.0, unit="K", doc="superheat after the evaporator")
    run = ac.InputStates(on="all", off="any", default="on", doc="whether it works: if everything connected says so")
    y = ac.Output(start=0.3, doc="opening of the valve")
    k = ac.Parameter(0.03, unit="1/K", min=1e-9, doc="gain")
    Ti = ac.Parameter(120.0, unit="s", min=1e-3, doc="integral time")
    lowest = ac.Parameter(5.0, unit="K", min=0, doc="superheat that is stable with the valve closed")
    highest = ac.Parameter(9.0, unit="K", min=0, doc="superheat that is stable with the valve open")
    danger = ac.Parameter(3.0, unit="K", min=0, doc="superheat below which it closes in a hurry")
    urgent = ac.Parameter(3.0, min=1, doc="how much more the error counts below `danger`")
    y_min = ac.Parameter(0.0, min=0, max=1, doc="lowest opening while it works")
    y_max = ac.Parameter(1.0, min=0, max=1, doc="highest opening")
    y_start = ac.Parameter(
        0.3, min=0, max=1, doc="opening at first if the superheat is the one that is wanted; an error adds k times itself"
    )
    tau = ac.Parameter(60.0, unit="s", min=1e-3, doc="time within which the set value follows the load")
    anti_windup = ac.Parameter(0.9, min=1e-6, doc="how slowly the integral gives way at a limit, over Ti")
    x = ac.Variable(unit="K", nominal=10.0, start=10.0, doc="integral of the error over Ti")
    load = ac.Variable(start=0.3, doc="opening, slowly")
    setpoint = ac.Variable(unit="K", nominal=10.0, start=6.0, doc="superheat that is wanted")

    def equations(self) -> Iterator[Any]:
        yield self.setpoint == self.lowest + (self.highest - self.lowest) * self.load
        short = ac.no_event(ac.max(self.danger - self.measured, 0.0))
        error = self.measured - self.setpoint - (self.urgent - 1) * short
        wanted = self.k * (error + self.x)
        limited = ac.no_event(ac.min(ac.max(wanted, self.y_min), self.y_max))
        yield self.y == ac.match(self.run, on=limited, off=0.0)
        rate = error + (limited - wanted) / (self.k * self.anti_windup)
        yield self.Ti * ac.der(self.x) == ac.match(self.run, on=rate, off=0.0)
        yield self.tau * ac.der(self.load) == ac.match(self.run, on=limited - self.load, off=0.0)

    def initial_equations(self) -> Iterator[Any]:
        yield self.load == self.y_start
        yield self.k * self.x == self.y_start

    def events(self) -> Iterator[Any]:
        text = "A superheat controller has `lowest` above `highest`, or `y_min` above `y_max`: exchange them."
        yield ac.assert_((self.lowest <= self.highest) & (self.y_min <= self.y_max), text)


class RateLimiter(Block):
    """Follows u, but no faster than `rising` and `falling` a second: ``dy/dt = limited((u - y)/tau)``. State: y."""

    rising = ac.Parameter(0.1, unit="1/s", min=0, doc="fastest rise a second")
    falling = ac.Parameter(0.1, unit="1/s", min=0, doc="fastest fall a second")
    tau = ac.Parameter(0.1, unit="s", min=1e-6, doc="time within which a small difference is made good")
    slow = ac.Variable(doc="what follows")

    def equations(self) -> Iterator[Any]:
        speed = (self.u - self.slow) / self.tau
        yield ac.der(self.slow) == ac.no_event(ac.min(ac.max(speed, -self.falling), self.rising))
        yield self.y == self.slow

    def initial_equations(self) -> Iterator[Any]:
        yield self.slow == self.u


class Staging(ac.Component):
    """Steps of capacity by a pressure or a temperature: one more while it is above the band, one less while below, one at a
    time.

    A stage is added when `measured` has been above ``setpoint + band/2`` for `delay`, and taken away when it has been below
    ``setpoint - band/2`` as long. `running` says how many run, ``y = running/stages``.
    """

    setpoint = ac.Input(0.0, doc="what is wanted")
    measured = ac.Input(0.0, doc="what is")
    band = ac.Parameter(1.0, min=0, doc="within which nothing is changed")
    delay = ac.Parameter(30.0, unit="s", min=0, doc="how long it has to be outside the band for each step")
    stages = ac.Parameter(3, min=1, doc="how many there are")
    running = ac.Integer(0, doc="how many run")
    y = ac.Output(doc="the same, as a share of all")
    where = ac.States("inside", "above", "below", initial="inside", doc="where the measured value is")

    def equations(self) -> Iterator[Any]:
        yield self.y == self.running / self.stages

    def transitions(self) -> Iterator[Any]:
        high, low = self.measured > self.setpoint + self.band / 2, self.measured < self.setpoint - self.band / 2
        yield self.where.inside.to("above", when=high)
        yield self.where.inside.to("below", when=low)
        yield self.where.above.to("inside", when=~high)
        yield self.where.below.to("inside", when=~low)
        more, less = ac.min(ac.pre(self.running) + 1, self.stages), ac.max(ac.pre(self.running) - 1, 0)
        yield self.where.above.to("inside", after=self.delay, do=ac.assign(self.running, more))
        yield self.where.below.to("inside", after=self.delay, do=ac.assign(self.running, less))


class Sequencer(ac.Component):
    """Switches stages on and off one after the other, by states: compressors of a rack, boilers, pumps, fans.

    It is at one of the levels `level0` … `levelN`. After `delay` at a level it goes up if ``measured > setpoint + band/2``, and
    down if ``measured < setpoint - band/2``. Stage k (`stage1` … `stageN`) is on at level k and above: connect it to the `run` of
    a compressor. With `direction="down"` a small measured value asks for more (a boiler by its temperature).
    """

    setpoint = ac.Input(0.0, doc="what is wanted")
    measured = ac.Input(0.0, doc="what is")
    band = ac.Parameter(1.0, min=0, doc="within which nothing is changed")
    delay = ac.Parameter(30.0, unit="s", min=0, doc="shortest time at a level")
    level: Any

    def __init__(self, stages: int = 3, direction: str = "up") -> None:
        counted(stages, 1, "A sequencer has one stage or more", "`Sequencer(3)` has stage1, stage2 and stage3.")
        if direction not in ("up", "down"):
            raise UsageError(
                f"A sequencer has a direction 'up' or 'down', not {direction!r}.",
                remedy='`Sequencer(3, "down")` adds stages where what is measured is too small.',
            )
        self.stages, self.direction = stages, direction
        names = [f"level{k}" for k in range(stages + 1)]
        self.level = ac.States(*names, initial="level0", doc="how many stages are on")
        for k in range(1, stages + 1):
            setattr(self, f"stage{k}", ac.OutputStates(on=tuple(names[k:]), off=tuple(names[:k]), of="level", doc=f"stage {k}"))

    def transitions(self) -> Iterator[Any]:
        above, below = self.measured > self.setpoint + self.band / 2, self.measured < self.setpoint - self.band / 2
        more, less = (above, below) if self.direction == "up" else (below, above)
        for k in range(self.stages):
            yield getattr(self.level, f"level{k}").to(f"level{k + 1}", when=more, after=self.delay)
            yield getattr(self.level, f"level{k + 1}").to(f"level{k}", when=less, after=self.delay)
