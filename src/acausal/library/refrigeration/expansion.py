"""Expansion valves."""

from __future__ import annotations

from collections.abc import Iterator
from math import pi
from typing import Any

import acausal as ac

from ..fluid.passages import Throttle
from ..fluid.valves import seated

LIFTED = 1.3  # ratio of pressures that a compressor makes, and no plant that comes to rest or starts


class ExpansionValve(Throttle):
    """Base of what refrigerant expands in, from a to b: says so when it is drawn the wrong way round, ``m_flow < -v_back·A`` and
    ``p_b > 1.3·p_a``. Less is what a plant does that was at rest.
    """

    A: Any
    v_back = ac.Parameter(1e3, unit="kg/(m^2*s)", min=0, group="method", doc="flow backwards, of the open area, that is told")

    def events(self) -> Iterator[Any]:
        text = (
            "Refrigerant flows backwards through an expansion valve: `b` has the higher pressure. Is it drawn the wrong way round, "
            "or the compressor? Liquid comes at `a`, the evaporator is at `b`."
        )
        backwards = (self.m_flow < -self.v_back * self.largest_area()) & (self.b.p > LIFTED * self.a.p)
        yield ac.assert_(~backwards, text, level="warning")

    def largest_area(self) -> Any:
        """The effective area of the valve when it is open."""
        return self.A


class ThermostaticValve(ExpansionValve):
    """Opens with the superheat that its bulb feels, and closes when `run` is off (a solenoid before it).

    ``opening = (bulb - static)/range`` between `leak` and 1, with rounded corners; the bulb follows the superheat within
    `tau_bulb`, the solenoid opens and closes within `tau` (as `fluid.SolenoidValve`), but for the share `shut`. ``m_flow =
    A·opening·sqrt(2·rho·dp)``.
    """

    superheat = ac.Input(5.0, unit="K", doc="superheat after the evaporator")
    run = ac.InputStates(on="all", off="any", default="on", doc="whether the solenoid is open: if everything connected says so")
    A = ac.Parameter(4e-7, unit="m^2", min=0, doc="effective area when open (discharge coefficient times area)")
    static = ac.Parameter(3.0, unit="K", min=0, doc="superheat at which it begins to open")
    range = ac.Parameter(12.0, unit="K", min=0.1, doc="superheat from there until it is open")
    leak = ac.Parameter(0.1, min=0, max=1, doc="opening below that")
    shut = ac.Parameter(1e-6, min=0, max=1, doc="share that stays open when the solenoid is closed")
    tau_bulb = ac.Parameter(10.0, unit="s", min=0.1, doc="time constant of the bulb")
    tau = ac.Parameter(1.0, unit="s", min=1e-3, doc="time constant of the solenoid")
    bulb = ac.Variable(unit="K", nominal=10.0, start=5.0, fixed=True, doc="superheat that the bulb feels")
    open = ac.Variable(start=0.0, fixed=True, doc="opening of the solenoid")
    opening = ac.Variable(start=0.0, doc="opening of the valve")

    def effective_area(self) -> Any:
        return self.A * self.opening

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        yield self.tau_bulb * ac.der(self.bulb) == self.superheat - self.bulb
        yield self.tau * ac.der(self.open) == ac.match(self.run, on=1.0, off=0.0) - self.open
        asked = (self.bulb - self.static) / self.range
        within = ac.smooth_min(ac.smooth_max(asked, self.leak, 0.02), 1.0, 0.02)
        yield self.opening == (self.shut + (1 - self.shut) * seated(self.open)) * within


class ElectronicValve(ExpansionValve):
    """A valve that a controller opens, no faster than a motor: ``tau·d(position)/dt = opening - position``.

    ``m_flow = A·max(position, leak)·sqrt(2·rho·dp)`` (see `fluid.Throttle`), with a rounded corner. State: position.
    """

    opening = ac.Input(0.5, min=0, max=1, doc="what the controller asks for")
    A = ac.Parameter(4e-7, unit="m^2", min=0, doc="effective area when open (discharge coefficient times area)")
    leak = ac.Parameter(1e-3, min=0, max=1, doc="opening that stays when it is closed")
    tau = ac.Parameter(3.0, unit="s", min=1e-3, doc="time constant of the motor")
    position = ac.Variable(start=0.5, fixed=True, doc="opening of the valve")

    def effective_area(self) -> Any:
        return self.A * ac.smooth_max(self.position, self.leak, 1e-3)

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        yield self.tau * ac.der(self.position) == self.opening - self.position


class Capillary(ExpansionValve):
    """A capillary tube as an orifice of equal flow: friction of liquid along the tube, by Blasius' law at `Re_nominal`.

    ``A = pi/4·d²/sqrt(1 + f·length/d)``, ``f = 0.3164/Re^0.25`` (smooth, 4 000 < Re < 100 000). What boils within the tube is
    not described: it makes the flow smaller by some ten per cent with subcooled liquid, by more with wet vapour.
    """

    length = ac.Parameter(2.0, unit="m", min=0, doc="length")
    diameter = ac.Parameter(0.8e-3, unit="m", min=1e-5, doc="inner diameter")
    Re_nominal = ac.Parameter(2e4, min=4e3, max=1e5, doc="Reynolds number for which friction is computed")

    def effective_area(self) -> Any:
        friction = 0.3164 / self.Re_nominal**0.25 * self.length / self.diameter
        return pi / 4 * self.diameter**2 / ac.sqrt(1 + friction)

    def largest_area(self) -> Any:
        return self.effective_area()
