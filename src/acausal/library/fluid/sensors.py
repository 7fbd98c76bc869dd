"""Sensors in the line: fluid passes them unchanged."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import acausal as ac

from .passages import Passage, entering_either


class Sensor(Passage):
    """Base: no pressure is lost, ``a.p = b.p``. What is felt is the state of what comes, and within `m_small` of rest that
    between both sides: ``h = h_b + s·(h_a - h_b)``, s going smoothly from 0 to 1.
    """

    m_small = ac.Parameter(1e-6, unit="kg/s", min=1e-12, doc="flow below which what is felt lies between both sides")

    def passing(self) -> Any:
        """The state of what passes, at the side it comes from."""
        return entering_either(self.medium, self.a, self.b, self.m_small)

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        yield self.a.p == self.b.p


class PressureSensor(Sensor):
    """``y = p``."""

    y = ac.Output(unit="Pa", nominal=1e5, start=1e5, doc="pressure")

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        yield self.y == self.a.p


class TemperatureSensor(Sensor):
    """``y = T`` of what passes."""

    y = ac.Output(unit="K", nominal=100.0, start=300.0, doc="temperature")

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        yield self.y == self.passing().T


class FlowSensor(Sensor):
    """``y = m_flow`` from a to b."""

    y = ac.Output(unit="kg/s", nominal=0.01, start=0.0, doc="mass flow")

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        yield self.y == self.m_flow


class SuperheatSensor(Sensor):
    """``y = T - T_sat(p)``: how much warmer than its dew point the vapour is that passes."""

    y = ac.Output(unit="K", nominal=10.0, start=5.0, doc="superheat")

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        yield self.y == self.passing().T - self.medium.saturation(p=self.a.p).vapour.T


class SubcoolingSensor(Sensor):
    """``y = T_sat(p) - T``: how much colder than its boiling point the liquid is that passes."""

    y = ac.Output(unit="K", nominal=10.0, start=2.0, doc="subcooling")

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        yield self.y == self.medium.saturation(p=self.a.p).T - self.passing().T
