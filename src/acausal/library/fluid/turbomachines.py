"""Machines on a shaft: pumps, a radial compressor by similarity, and turbines after Stodola and Linnecken.

A machine's `flange` is one of `mechanics.rotational`: join compressor, turbine, inertia and generator there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import acausal as ac

from ..mechanics.rotational import Flange
from .correlations import LASTING
from .machines import Pump, Turbine
from .passages import Passage, entering, one_substance, upwind

W_LEAST = 1e-2  # rad/s: below it the torque of a power, which vanishes faster than the speed, is that of this speed
W_BACK = 1.0  # rad/s: from which on a machine that turns backwards is told
X_SLOW = 0.2  # of the best ratio of blade speed to spouting velocity: below it a turbine's power goes to nothing with its speed
DROP_LEAST = 10.0  # J/kg: a smaller drop of enthalpy has the spouting velocity of this one
V_SMALL = 0.1  # m/s: below it what resists a flow is in proportion to it, so that it comes to rest


def torque(power: Any, w: Any) -> Any:
    """``power/w``, going to zero with the speed."""
    return power * w / (w * w + W_LEAST**2)


def turned_backwards(what: str, w: Any) -> Any:
    """A warning, given once, where a machine is driven backwards for a while; to be yielded by `events`."""
    text = f"The {what} is driven backwards, for which its law does not hold. Turn the drive round, so that its speed is positive."
    return ac.assert_(w > -W_BACK, text, level="warning", lasting=LASTING)


class LinneckenTurbine(Turbine):
    """A turbine whose flow chokes, after Linnecken: ``m·sqrt(T)/p = C·sqrt((1 - r)² - (Pi - r)²)`` above the critical ratio r of
    its stages, constant below (Tummescheit 4.38).

    Written for any medium: ``m_flow = K·sqrt(rho·p)·sqrt(1 - ((Pi - r)/(1 - r))²)``. With many stages r goes to 0 and the law to
    that of Stodola; one stage has 0.3 (a reaction of one half) to 0.55 (Tummescheit 4.39).
    """

    ratio_critical = ac.Parameter(0.4, min=0, max=0.9, doc="r: ratio of outlet to inlet pressure below which the flow is choked")

    def share(self, ratio: Any) -> Any:
        r = self.ratio_critical
        beyond = ac.no_event(ac.max((ratio - r) / (1 - r), 0.0))
        return 1 - beyond**2


class ShaftTurbine(LinneckenTurbine):
    """`LinneckenTurbine` on a shaft: its power is ``-flange.tau·w``. The efficiency falls with the square of the distance from the
    best ratio of blade speed to spouting velocity, ``eta·(1 - drop·(nu/nu_best - 1)²)``, ``nu = w·diameter/2/sqrt(2·(h - h_s))``,
    and is at least a fifth of the best; below ``x = nu/nu_best = 0.2`` it goes to nothing at rest, by ``5·x·(2 - 5·x)``.

    So a wheel at rest takes nothing from the gas and has the torque to start, with ``drop = 1`` twice that of the best speed. The
    same torque brakes a wheel that is turned backwards, which heats the gas.
    """

    flange = Flange(doc="shaft")
    diameter = ac.Parameter(0.15, unit="m", min=1e-3, doc="of the wheel")
    nu_best = ac.Parameter(0.7, min=0.05, doc="blade speed over spouting velocity where it is best")
    drop = ac.Parameter(1.0, min=0, doc="how steeply the efficiency falls; it stays above a fifth of the best")

    def efficiency(self, drop: Any) -> Any:
        return self._lever(drop) * ac.der(self.flange.phi)

    def _lever(self, drop: Any) -> Any:
        """The efficiency over the speed, in s: it has a value where both are none."""
        x_of_speed = self.diameter / 2 / (self.nu_best * ac.sqrt(2 * ac.no_event(ac.max(drop, DROP_LEAST))))
        x = ac.der(self.flange.phi) * x_of_speed
        above = ac.no_event(ac.max(x, X_SLOW))
        slow = ac.no_event(ac.max(x, 0.0)) / above
        return self.eta * ac.smooth_max(1 - self.drop * (x - 1) ** 2, 0.2, 0.01) * (2 - slow) / above * x_of_speed

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        ideal = self.ideal_drop()
        yield self.flange.tau == -ac.no_event(ac.max(self.m_flow, 0.0)) * self._lever(ideal) * ideal


class TurboCompressor(Passage):
    """A radial compressor or fan by similarity: ``h(p_b, s) - h = psi·(u² - bend·v·|v|)``, u the speed of the wheel's rim and
    ``v = m/(rho·diameter²·phi)``, which is u at the design point.

    So the isentropic work over u² falls with the flow, from psi at none to ``psi·(1 - bend)``, at any speed and at standstill; flow
    that comes back is resisted. The efficiency is best at the design point, ``eta·(1 - drop·(v/u - 1)²)``, at least a fifth of it.
    Its power is ``flange.tau·w`` and goes into the gas; gas that comes back, or is driven through it to a lower pressure, takes and
    gives none.

    Where both sides of that equation differ, the gas in the passages gains speed (Greitzer 1976): so the flow has one value while
    it surges, stalls and turns round. ``length/diameter²·dm/dt = rho_a·(psi·u² - (h(p_b, s) - h)) - rho·psi·bend·v·|v|``: pressures
    and wheel act on what stands before it, of the density rho_a, whichever way it flows; rho is that of what comes. With one
    density that changes as the flow turns, what goes to and fro between dense and thin would gain from each turn. At first it is
    even.
    """

    flange = Flange(doc="shaft")
    diameter = ac.Parameter(0.1, unit="m", min=1e-3, doc="of the wheel")
    phi = ac.Parameter(0.05, min=1e-4, doc="flow coefficient of the design point: volume flow over diameter² times rim speed")
    psi = ac.Parameter(0.9, min=0.01, doc="isentropic work over u² at no flow")
    bend = ac.Parameter(0.3, min=0.01, max=0.99, doc="share of it that is lost at the design point")
    eta = ac.Parameter(0.8, min=0.01, max=1, doc="isentropic efficiency of the design point")
    drop = ac.Parameter(0.5, min=0, doc="how steeply the efficiency falls")
    length = ac.Parameter(1.0, unit="m", min=1e-3, doc="of the passages, in whose gas there is inertia")
    m_flow = ac.Variable(unit="kg/s", nominal=0.01, start=0.0, state="always", doc="mass flow from a to b")
    P = ac.Variable(unit="W", nominal=1e3, doc="power")

    def equations(self) -> Iterator[Any]:
        a, b = self.a, self.b
        one_substance(self)
        inlet = entering(self.medium, a)
        ideal = self.medium.state(p=b.p, s=inlet.s)
        rho = upwind(self.m_flow, inlet.rho, entering(self.medium, b).rho)
        w = ac.der(self.flange.phi)
        u, v = w * self.diameter / 2, self.m_flow / (rho * self.diameter**2 * self.phi)
        head, lost = self.psi * u * u, self.psi * self.bend * v * ac.sqrt(v * v + V_SMALL**2)
        gains = inlet.rho * (head - (ideal.h - inlet.h)) - rho * lost
        yield self.length / self.diameter**2 * ac.der(self.m_flow) == gains
        off = u * v / (u * u + 1.0) - 1
        # what the wheel gives, not what pressures ask for: gas that its own speed drives against them takes nothing from the wheel
        least = ac.no_event(ac.max(head - ac.no_event(ac.max(lost, 0.0)), 0.0))
        work = least / (self.eta * ac.smooth_max(1 - self.drop * off**2, 0.2, 0.01))
        yield self.P == upwind(self.m_flow, self.m_flow * work, 0.0)
        yield self.flange.tau == torque(self.P, w)
        yield a.m_flow == self.m_flow
        yield b.m_flow == -self.m_flow
        yield b.h.outflow == inlet.h + work
        yield a.h.outflow == b.h.inflow

    def initial_equations(self) -> Iterator[Any]:
        yield ac.der(self.m_flow) == 0

    def events(self) -> Iterator[Any]:
        yield turned_backwards("compressor", ac.der(self.flange.phi))
        if self.medium.evaporates:
            ends = self.medium.saturation(p=self.a.p)
            wet = (self.a.h.inflow < ends.liquid.h + 0.5 * ends.h_evaporation) & (self.a.p < self.medium.p_critical)
            text = (
                "The compressor takes in more liquid than vapour, for which its law does not hold. Heat what comes, or put an "
                "accumulator before it."
            )
            yield ac.assert_(~wet | (self.m_flow <= 0), text, level="warning")


class ShaftPump(Pump):
    """A `Pump` on a shaft: ``speed = w/w_nominal`` of the flange; ``flange.tau·w = P + friction``, its power and the friction of
    its wheel, ``friction = disc·dp_nominal·V_nominal/eta·speed²·|speed|``.

    Join a drive with inertia to `flange`, such as `mechanics.drives.InductionMotor`; then it runs up and coasts as it does.
    """

    flange = Flange(doc="shaft")
    w_nominal = ac.Parameter(150.0, unit="rad/s", min=1.0, doc="speed of the design point")
    disc = ac.Parameter(
        0.05, min=0, doc="friction of the wheel, as a share of the work of the design point; its heat leaves the casing"
    )
    speed = ac.Variable(start=0.0, doc="speed over that of the design point")

    def equations(self) -> Iterator[Any]:
        yield self.speed == ac.der(self.flange.phi) / self.w_nominal
        work = self.dp_nominal * self.V_nominal / (self.eta * self.w_nominal)
        friction = self.disc * work * self.speed * ac.smooth_abs(self.speed, 1e-3)
        yield self.flange.tau == torque(self.P, ac.der(self.flange.phi)) + friction
        yield from super().equations()

    def events(self) -> Iterator[Any]:
        yield from super().events()
        yield turned_backwards("pump", ac.der(self.flange.phi))
