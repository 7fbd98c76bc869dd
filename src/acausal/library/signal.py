"""Signal blocks: sources with an output `y`, and blocks from an input `u` to an output `y`.

Outputs connect to inputs: `yield self.step.y, self.gain.u`.

Signals have no unit of their own; what they are connected to gives them one. An input that nothing is connected to keeps its
`value`, or takes what `simulate(inputs=…)` gives.

Corners and jumps are events. Those at times that can be computed (`Step`, `Pulse`, `Ramp`, clocks) are hit to the last digit; those
of `Limiter` and the like are located. A truth value on a line is 1 or 0, and is read as "above 0.5". Blocks that hold a value
between the ticks of a clock are in `sampled`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import pi
from typing import Any

import numpy as np

import acausal as ac
from acausal.errors import UsageError

NEVER = -1e30  # s


class Source(ac.Component):
    """Base of blocks with an output only."""

    y = ac.Output(doc="output")


class Block(ac.Component):
    """Base of blocks with one input and one output."""

    u = ac.Input(0.0, doc="input")
    y = ac.Output(doc="output")


# --- sources ----------------------------------------------------------------------------------------------------------


class Constant(Source):
    """``y = k``."""

    k = ac.Parameter(1.0, doc="value")

    def equations(self) -> Iterator[Any]:
        yield self.y == self.k


class Step(Source):
    """`offset` before `start_time`, `offset + height` from then on."""

    height = ac.Parameter(1.0, doc="height of the step")
    offset = ac.Parameter(0.0, doc="value before")
    start_time = ac.Parameter(0.0, unit="s", doc="when it jumps")

    def equations(self) -> Iterator[Any]:
        yield self.y == self.offset + ac.where(ac.time >= self.start_time, self.height, 0.0)


class Ramp(Source):
    """From `offset` to `offset + height`, evenly within `duration` from `start_time` on."""

    height = ac.Parameter(1.0, doc="height of the ramp")
    duration = ac.Parameter(1.0, unit="s", min=1e-12, doc="length of the ramp")
    offset = ac.Parameter(0.0, doc="value before")
    start_time = ac.Parameter(0.0, unit="s", doc="when the ramp begins")

    def equations(self) -> Iterator[Any]:
        t, end = ac.time, self.start_time + self.duration
        rising = ac.where(t >= end, self.height, self.height * (t - self.start_time) / self.duration)
        yield self.y == self.offset + ac.where(t >= self.start_time, rising, 0.0)


class Periodic(Source):
    """Base of sources that begin anew at `start_time`, `start_time + period`, …"""

    period = ac.Parameter(1.0, unit="s", min=1e-12, doc="from one beginning to the next")
    start_time = ac.Parameter(0.0, unit="s", doc="when the first period begins")
    began = ac.Discrete(NEVER, unit="s", doc="when the present period began")

    def pulsed(self, width: Any) -> Any:
        """Whether it is in the first part of a period. A whole one goes over into the next: what rounding leaves between them would
        be off."""
        return (ac.time < self.began + width * self.period) | ((width >= 1) & (ac.time >= self.start_time))

    def events(self) -> Iterator[Any]:
        t, first, period = ac.time, self.start_time, self.period
        under_way = ac.no_event(ac.where(t >= first, first + period * ac.floor((t - first) / period), NEVER))
        yield ac.when(ac.sample(first, period), ac.assign(self.began, t)).elsewhen(ac.initial(), ac.assign(self.began, under_way))


class Pulse(Periodic):
    """`offset + amplitude` in the first part of each period (the fraction `width` of it), `offset` in the rest and before."""

    amplitude = ac.Parameter(1.0, doc="height of the pulses")
    width = ac.Parameter(0.5, min=0, max=1, doc="length of a pulse over the period")
    offset = ac.Parameter(0.0, doc="value between the pulses")

    def equations(self) -> Iterator[Any]:
        yield self.y == self.offset + ac.where(self.pulsed(self.width), self.amplitude, 0.0)


class BooleanPulse(Periodic):
    """1 in the first part of each period (the fraction `width` of it), 0 in the rest and before: a truth value that switches."""

    width = ac.Parameter(0.5, min=0, max=1, doc="length of a pulse over the period")

    def equations(self) -> Iterator[Any]:
        yield self.y == ac.where(self.pulsed(self.width), 1.0, 0.0)


class SawTooth(Periodic):
    """From `offset` to `offset + amplitude` in each period, evenly, and back at once; `offset` before the first."""

    amplitude = ac.Parameter(1.0, doc="height of the teeth")
    offset = ac.Parameter(0.0, doc="value at the beginning of a tooth")

    def equations(self) -> Iterator[Any]:
        elapsed = ac.where(ac.time >= self.start_time, ac.time - self.began, 0.0)
        yield self.y == self.offset + self.amplitude * elapsed / self.period


class Sine(Source):
    """``y = offset + amplitude·sin(2π·f·(t - start_time) + phase)``, held at its first value before `start_time`."""

    amplitude = ac.Parameter(1.0, doc="amplitude")
    f = ac.Parameter(1.0, unit="Hz", min=0, doc="frequency")
    phase = ac.Parameter(0.0, unit="rad", doc="phase at start_time")
    offset = ac.Parameter(0.0, doc="mean value")
    start_time = ac.Parameter(0.0, unit="s", doc="when the oscillation begins")

    def equations(self) -> Iterator[Any]:
        elapsed = ac.max(ac.time - self.start_time, 0.0)
        yield self.y == self.offset + self.amplitude * ac.sin(2 * pi * self.f * elapsed + self.phase)


class TimeTable(Source):
    """A signal through given points in time, ends held; `method` as in `ac.Table`.

    The points are part of the model. Data that change from run to run are given to an input: `simulate(inputs={"u": (times,
    values)})`.
    """

    def __init__(self, times: Any, values: Any, method: str = "monotone") -> None:
        self.table = ac.Table(times, values, method=method, name="time_table")

    def equations(self) -> Iterator[Any]:
        yield self.y == self.table(ac.time)


# --- arithmetic -------------------------------------------------------------------------------------------------------


class Gain(Block):
    """``y = k·u``."""

    k = ac.Parameter(1.0, doc="gain")

    def equations(self) -> Iterator[Any]:
        yield self.y == self.k * self.u


class Add(Source):
    """``y = k1·u1 + k2·u2``; with k2 = -1 the difference, as in a control loop."""

    u1, u2 = ac.Input(0.0, doc="first input"), ac.Input(0.0, doc="second input")
    k1, k2 = ac.Parameter(1.0, doc="weight of u1"), ac.Parameter(1.0, doc="weight of u2")

    def equations(self) -> Iterator[Any]:
        yield self.y == self.k1 * self.u1 + self.k2 * self.u2


class Sum(Source):
    """``y = sum(k[j]·u[j])`` over `count` inputs."""

    u: Any
    k: Any

    def __init__(self, count: int = 2) -> None:
        self.u = ac.Input(0.0, shape=count, doc="inputs")
        self.k = ac.Parameter(1.0, shape=count, doc="weights")

    def equations(self) -> Iterator[Any]:
        yield self.y == ac.dot(self.k, self.u)


class Product(Source):
    """``y = u1·u2``."""

    u1, u2 = ac.Input(1.0, doc="first input"), ac.Input(1.0, doc="second input")

    def equations(self) -> Iterator[Any]:
        yield self.y == self.u1 * self.u2


class Limiter(Block):
    """``y = u`` held between `y_min` and `y_max`."""

    y_max = ac.Parameter(1.0, doc="highest value")
    y_min = ac.Parameter(-y_max, doc="lowest value")

    def equations(self) -> Iterator[Any]:
        yield self.y == ac.min(ac.max(self.u, self.y_min), self.y_max)


class Hysteresis(Block):
    """1 from the moment u exceeds `high` until it falls below `low`, 0 otherwise. `on` is the same as a truth value."""

    low, high = ac.Parameter(0.0, doc="where it goes off"), ac.Parameter(1.0, doc="where it goes on")
    on = ac.Boolean(start=False, doc="whether the output is 1; its start is what holds between low and high at first")

    def equations(self) -> Iterator[Any]:
        yield self.on == (self.u > self.high) | (ac.pre(self.on) & (self.u >= self.low))
        yield self.y == ac.where(self.on, 1.0, 0.0)


class OnOffController(Block):
    """1 from the moment u falls below ``reference - bandwidth/2`` until it exceeds ``reference + bandwidth/2``, as a heater."""

    reference = ac.Input(0.0, doc="what u should be")
    bandwidth = ac.Parameter(0.1, min=0, doc="between switching on and off")
    on = ac.Boolean(start=False, doc="whether the output is 1; its start is what holds within the band at first")

    def equations(self) -> Iterator[Any]:
        below = self.u < self.reference - self.bandwidth / 2
        yield self.on == below | (ac.pre(self.on) & (self.u < self.reference + self.bandwidth / 2))
        yield self.y == ac.where(self.on, 1.0, 0.0)


class Not(Block):
    """1 where u is not above 0.5, 0 where it is."""

    def equations(self) -> Iterator[Any]:
        yield self.y == ac.where(self.u > 0.5, 0.0, 1.0)


class TableBlock(Block):
    """``y = table(u)`` with an `ac.Table`, or anything else that takes one expression."""

    def __init__(self, table: Any) -> None:
        self.table = table

    def equations(self) -> Iterator[Any]:
        yield self.y == self.table(self.u)


class TableBlock2D(Source):
    """``y = table(u1, u2)`` with an `ac.Table2D`, or anything else that takes two expressions."""

    u1, u2 = ac.Input(0.0, doc="first argument"), ac.Input(0.0, doc="second argument")

    def __init__(self, table: Any) -> None:
        self.table = table

    def equations(self) -> Iterator[Any]:
        yield self.y == self.table(self.u1, self.u2)


# --- dynamics ---------------------------------------------------------------------------------------------------------


class Integrator(Block):
    """``dy/dt = k·u``. State: y."""

    k = ac.Parameter(1.0, unit="1/s", doc="gain")
    y = ac.Output(start=0.0, doc="output")

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.y) == self.k * self.u


class FirstOrder(Block):
    """``T·dy/dt + y = k·u``. State: y."""

    k = ac.Parameter(1.0, doc="gain")
    T = ac.Parameter(1.0, unit="s", min=0, doc="time constant")
    y = ac.Output(start=0.0, doc="output")

    def equations(self) -> Iterator[Any]:
        yield self.T * ac.der(self.y) + self.y == self.k * self.u


class Delay(Block):
    """``y(t) = u(t - T)``: a dead time."""

    T = ac.Parameter(1.0, unit="s", min=0, doc="dead time")

    def equations(self) -> Iterator[Any]:
        yield self.y == ac.delay(self.u, self.T)


class SecondOrder(Block):
    """``y''/w² + 2·D·y'/w + y = k·u``. States: y, yd."""

    k = ac.Parameter(1.0, doc="gain")
    w = ac.Parameter(1.0, unit="rad/s", min=0, doc="angular frequency without damping")
    D = ac.Parameter(1.0, min=0, doc="damping ratio")
    y = ac.Output(start=0.0, doc="output")
    yd = ac.Variable(start=0.0, doc="rate of the output")

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.y) == self.yd
        yield ac.der(self.yd) == self.w * (self.w * (self.k * self.u - self.y) - 2 * self.D * self.yd)


class Derivative(Block):
    """The derivative of u, smoothed: ``y = k·(u - x)/T``, ``T·dx/dt = u - x``. State: x."""

    k = ac.Parameter(1.0, unit="s", doc="gain")
    T = ac.Parameter(0.01, unit="s", min=1e-9, doc="time constant of the filter")
    x = ac.Variable(start=0.0, doc="filtered input")

    def equations(self) -> Iterator[Any]:
        yield self.T * ac.der(self.x) == self.u - self.x
        yield self.y == self.k * (self.u - self.x) / self.T


class PI(Block):
    """``y = k·(u + x)``, ``T·dx/dt = u``; u is the control error. State: x."""

    k = ac.Parameter(1.0, doc="gain")
    T = ac.Parameter(1.0, unit="s", min=0, doc="integral time")
    x = ac.Variable(start=0.0, doc="integral of the error over T")

    def equations(self) -> Iterator[Any]:
        yield self.T * ac.der(self.x) == self.u
        yield self.y == self.k * (self.u + self.x)


class LimitedPI(Block):
    """A PI controller whose output stays between `y_min` and `y_max` and whose integral does not run away meanwhile.

    ``w = k·(u + x)``, ``y = limited(w)``, ``T·dx/dt = u + (y - w)/(k·anti_windup)``. State: x.
    """

    k = ac.Parameter(1.0, doc="gain")
    T = ac.Parameter(1.0, unit="s", min=0, doc="integral time")
    y_max = ac.Parameter(1.0, doc="highest output")
    y_min = ac.Parameter(0.0, doc="lowest output")
    anti_windup = ac.Parameter(0.9, min=1e-6, doc="how slowly the integral gives way at a limit, over T")
    x = ac.Variable(start=0.0, doc="integral of the error over T")

    def equations(self) -> Iterator[Any]:
        wanted = self.k * (self.u + self.x)
        yield self.y == ac.min(ac.max(wanted, self.y_min), self.y_max)
        yield self.T * ac.der(self.x) == self.u + (self.y - wanted) / (self.k * self.anti_windup)


class PID(Block):
    """``y = k·(u + x + d)``, ``Ti·dx/dt = u``, ``d = Td·(u - f)/(Td/Nd)``, ``(Td/Nd)·df/dt = u - f``. States: x, f.

    The derivative is filtered with the time constant Td/Nd; u is the control error.
    """

    k = ac.Parameter(1.0, doc="gain")
    Ti = ac.Parameter(0.5, unit="s", min=0, doc="integral time")
    Td = ac.Parameter(0.1, unit="s", min=0, doc="derivative time")
    Nd = ac.Parameter(10.0, min=1e-9, doc="the higher, the less the derivative is filtered")
    x = ac.Variable(start=0.0, doc="integral of the error over Ti")
    f = ac.Variable(start=0.0, doc="filtered error")

    def equations(self) -> Iterator[Any]:
        yield self.Ti * ac.der(self.x) == self.u
        yield self.Td / self.Nd * ac.der(self.f) == self.u - self.f
        yield self.y == self.k * (self.u + self.x + self.Nd * (self.u - self.f))


class StateSpace(ac.Component):
    """``dx/dt = A·x + B·u``, ``y = C·x + D·u`` with vectors u, y and states x. The matrices are parameters of fixed size."""

    u: Any
    y: Any
    x: Any
    A: Any
    B: Any
    C: Any
    D: Any

    def __init__(self, A: Any, B: Any, C: Any, D: Any = None) -> None:
        a, b, c = (np.atleast_2d(np.asarray(m, dtype=float)) for m in (A, B, C))
        states, inputs, outputs = a.shape[0], b.shape[1], c.shape[0]
        d = np.zeros((outputs, inputs)) if D is None else np.atleast_2d(np.asarray(D, dtype=float))
        _check_sizes(a, b, c, d)
        self.A, self.B = ac.Parameter(a, shape=a.shape, doc="system matrix"), ac.Parameter(b, shape=b.shape, doc="input matrix")
        self.C, self.D = ac.Parameter(c, shape=c.shape, doc="output matrix"), ac.Parameter(d, shape=d.shape, doc="feedthrough")
        self.u = ac.Input(0.0, shape=inputs, doc="inputs")
        self.y = ac.Output(shape=outputs, doc="outputs")
        self.x = ac.Variable(shape=states, start=0.0, doc="states")

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.x) == ac.dot(self.A, self.x) + ac.dot(self.B, self.u)
        yield self.y == ac.dot(self.C, self.x) + ac.dot(self.D, self.u)


def _check_sizes(a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray) -> None:
    n, m, p = a.shape[0], b.shape[1], c.shape[0]
    wanted = {"A": (a, (n, n)), "B": (b, (n, m)), "C": (c, (p, n)), "D": (d, (p, m))}
    for name, (matrix, shape) in wanted.items():
        if matrix.shape != shape:
            raise UsageError(
                f"StateSpace: {name} has the shape {matrix.shape}; with {n} states, {m} inputs and {p} outputs it is {shape}.",
                remedy="A is states × states, B states × inputs, C outputs × states, D outputs × inputs.",
            )


class TransferFunction(Block):
    """``y = (b[0]·s^m + … + b[m]) / (a[0]·s^n + … + a[n])·u``, highest power first, n ≥ 1, n ≥ m. States: x.

    ``a[0]·dx[0]/dt = u - sum(a[1:]·x)``, ``dx[k]/dt = x[k-1]``, ``y = sum(c·x) + d·u`` (controller canonical form).
    """

    b: Any
    a: Any
    x: Any

    def __init__(self, b: Sequence[float] = (1.0,), a: Sequence[float] = (1.0, 1.0)) -> None:
        if len(a) < 2 or len(b) > len(a) or a[0] == 0:
            raise UsageError(
                f"TransferFunction with b = {list(b)} and a = {list(a)} is not a proper one.",
                remedy="The denominator a needs at least two coefficients, a first one that is not zero, and as many as b or more.",
            )
        padded = [0.0] * (len(a) - len(b)) + list(b)
        self.b = ac.Parameter(padded, shape=len(a), doc="numerator, highest power first")
        self.a = ac.Parameter(list(a), shape=len(a), doc="denominator, highest power first")
        self.x = ac.Variable(shape=len(a) - 1, start=0.0, doc="states")

    def equations(self) -> Iterator[Any]:
        a, b, x = self.a, self.b, self.x
        d = b[0] / a[0]
        yield a[0] * ac.der(x[0]) == self.u - ac.dot(a[1:], x)
        if x.size > 1:
            yield ac.der(x[1:]) == x[:-1]
        yield self.y == ac.dot(b[1:] - d * a[1:], x) + d * self.u
