"""Ideal electrical switches: diodes, a thyristor, switches that a signal opens and closes. They switch at events.

A diode comes in two formulations. `IdealDiode` runs along its curve with a parameter s, v = s while it blocks and i = s while it
conducts; with a small `Ron` and `Goff` everything stays determined whatever the rest of the circuit is. `SwitchedDiode` says
"either no current or no voltage" by a conditional equation, exactly; what decides is the value before the event. In a bridge two
diodes have to switch at one instant, which no change of a single one leads to: the run looks for a configuration of all of them
that agrees with itself.

Exact elements (`SwitchedDiode`, or `Ron` and `Goff` of zero) may leave something undetermined while all of them block (the voltage
of a part of the circuit that hangs in the air) or contradict a source while they conduct. A circuit that is meant to work with
them has a resistance where it needs one.

    import acausal as ac
    from acausal.library import electrical, switching

    class Rectifier(ac.Component):
        def __init__(self):
            self.source, self.ground = electrical.SineVoltage(V=10.0), electrical.Ground()
            self.diode, self.load = switching.IdealDiode(), electrical.Resistor(R=100.0)

        def connections(self):
            yield self.source.p, self.diode.p
            yield self.diode.n, self.load.p
            yield self.load.n, self.source.n, self.ground.p
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import acausal as ac

from .electrical import TwoPin


class OnCurve(TwoPin):
    """Base of switches along a curve with the parameter s; a subclass says when it blocks.

    Blocking: ``v = s``, ``i = Goff·s``. Conducting: ``v = Ron·s``, ``i = s``. Both begin at the knee, ``v = V_knee``.
    """

    Ron = ac.Parameter(1e-5, unit="ohm", min=0, doc="resistance while it conducts")
    Goff = ac.Parameter(1e-5, unit="S", min=0, doc="conductance while it blocks")
    V_knee = ac.Parameter(0.0, unit="V", min=0, doc="voltage from which on it conducts")
    volt = ac.Constant(1.0, unit="V", doc="what s = 1 is while it blocks")
    ampere = ac.Constant(1.0, unit="A", doc="what s = 1 is while it conducts")
    s = ac.Variable(start=-1.0, doc="place on the curve: volts before the knee, amperes beyond")
    off = ac.Boolean(start=True, doc="whether it blocks")

    @abstractmethod
    def blocks(self) -> Any:
        """When it blocks: a condition."""

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        yield self.off == self.blocks()
        yield self.v == ac.where(self.off, self.volt, self.Ron * self.ampere) * self.s + self.V_knee
        yield self.i == ac.where(self.off, self.Goff * self.volt, self.ampere) * self.s + self.Goff * self.V_knee


class IdealDiode(OnCurve):
    """A diode along its curve: it blocks while ``s <= 0``. With Ron = Goff = 0 it is exact."""

    def blocks(self) -> Any:
        return self.s <= 0


class IdealThyristor(OnCurve):
    """A diode that begins to conduct when the input `fire` is above 0.5, and goes on until its current ends.

    While it is not fired it blocks in both directions: s may be positive then, and is a voltage.
    """

    fire = ac.Input(0.0, doc="above 0.5: it may begin to conduct")

    def blocks(self) -> Any:
        return (self.s <= 0) | (ac.pre(self.off) & ~(self.fire > 0.5))


class SwitchedDiode(TwoPin):
    """A diode by a conditional equation: ``i = 0`` while it blocks, ``v = 0`` while it conducts, and no resistance.

    It ceases to block when its voltage becomes positive, and to conduct when its current becomes negative.
    """

    ohm = ac.Constant(1.0, unit="ohm", doc="makes a voltage of the current, so that the two can be compared")
    blocking = ac.Boolean(start=True, doc="whether it blocks")

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        # One relation, not one for v and one for i: each of the two would be stuck at zero while it is not the one that decides.
        yield self.blocking == (ac.where(ac.pre(self.blocking), self.v, self.ohm * self.i) <= 0)
        yield ac.where(self.blocking, self.ohm * self.i, self.v) == 0


class Switch(TwoPin):
    """Base of switches: ``v = Ron·i`` while closed, ``i = Goff·v`` while open; a subclass says when it is closed."""

    Ron = ac.Parameter(1e-5, unit="ohm", min=0, doc="resistance while closed")
    Goff = ac.Parameter(1e-5, unit="S", min=0, doc="conductance while open")
    ohm = ac.Constant(1.0, unit="ohm", doc="makes a voltage of the current, so that the two can be compared")
    control = ac.Input(0.0, doc="a signal that is high above 0.5")

    @abstractmethod
    def closed(self) -> Any:
        """When it is closed: a condition."""

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        yield ac.where(self.closed(), self.v - self.Ron * self.i, self.ohm * (self.i - self.Goff * self.v)) == 0


class IdealClosingSwitch(Switch):
    """Closed while the input `control` is above 0.5, open otherwise. With Ron = Goff = 0 it is exact."""

    def closed(self) -> Any:
        return self.control > 0.5


class IdealOpeningSwitch(Switch):
    """Open while the input `control` is above 0.5, closed otherwise. With Ron = Goff = 0 it is exact."""

    def closed(self) -> Any:
        return self.control <= 0.5
