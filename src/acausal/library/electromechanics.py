"""Where electricity becomes motion: ideal converters without loss. Motors are made of these, a resistor and an inductor."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import acausal as ac

from .electrical import TwoPin
from .mechanics.rotational import Flange as RotationalFlange
from .mechanics.translational import Flange as TranslationalFlange


class RotationalEMF(TwoPin):
    """The armature of a machine: ``v = k·w``, ``flange.tau = -k·i``; the power v·i leaves at the flange as tau·w."""

    flange = RotationalFlange()
    k = ac.Parameter(1.0, unit="N*m/A", doc="torque over current, voltage over speed")

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        yield self.v == self.k * ac.der(self.flange.phi)
        yield self.flange.tau == -self.k * self.i


class TranslationalEMF(TwoPin):
    """A moving coil: ``v = k·ds/dt``, ``flange.f = -k·i``."""

    flange = TranslationalFlange()
    k = ac.Parameter(1.0, unit="N/A", doc="force over current, voltage over velocity")

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        yield self.v == self.k * ac.der(self.flange.s)
        yield self.flange.f == -self.k * self.i
