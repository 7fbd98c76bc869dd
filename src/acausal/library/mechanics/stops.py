"""Stops and play: what moves freely until it touches.

Elastic ones (`ElasticStop`, `ElasticBacklash`) push back with a spring and a damper whose force never exceeds that of the spring,
so that they never pull, and begin and end with zero; touching bends the motion, nothing jumps. A hard one (`StoppedMass`) makes the
velocity jump by a coefficient of restitution, and lets the mass lie still when it would hardly leave any more.

    import acausal as ac
    from acausal.library.mechanics import stops, translational

    class Ball(ac.Component):
        def __init__(self):
            self.ball = stops.StoppedMass(m=0.1, s_min=0.0, restitution=0.7, s=ac.start(1.0))
            self.weight = translational.Force(f=-0.981)

        def connections(self):
            yield self.weight.flange, self.ball.a
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import acausal as ac

from . import rotational, translational


class ElasticStop(translational.Compliant):
    """Two flanges that push each other apart when they are nearer than `s_rel0`, and nothing else.

    Touching: ``f = c·(s_rel - s_rel0) + f_d`` with ``f_d = d·v_rel``, held between minus and plus the force of the spring.
    """

    c = ac.Parameter(1e5, unit="N/m", min=0, doc="stiffness")
    d = ac.Parameter(0.0, unit="N*s/m", min=0, doc="damping")
    s_rel0 = ac.Parameter(0.0, unit="m", doc="distance at which they touch")

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        self.v_rel = ac.named(ac.der(self.b.s - self.a.s), unit="m/s", doc="rate at which the flanges part")
        inside = self.s_rel - self.s_rel0
        self.touching = inside < 0
        yield self.f == ac.where(self.touching, _never_pulling(self.c * inside, self.d * self.v_rel), 0.0)


class ElasticBacklash(rotational.Compliant):
    """An elastic shaft with play: no torque within the backlash b, ``tau = c·(phi_rel ∓ b/2) + tau_d`` beyond on either side.

    ``tau_d = d·w_rel``, held between minus and plus the torque of the spring.
    """

    c = ac.Parameter(1e5, unit="N*m/rad", min=0, doc="stiffness")
    d = ac.Parameter(0.0, unit="N*m*s/rad", min=0, doc="damping")
    backlash = ac.Parameter(0.01, unit="rad", min=0, doc="play from end to end")
    phi_rel0 = ac.Parameter(0.0, unit="rad", doc="angle in the middle of the play")

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        self.w_rel = ac.named(ac.der(self.b.phi - self.a.phi), unit="rad/s", doc="speed of b against a")
        inside = self.phi_rel - self.phi_rel0
        above, below, damping = inside - self.backlash / 2, inside + self.backlash / 2, self.d * self.w_rel
        pushed = ac.where(below < 0, _never_pulling(self.c * below, damping), 0.0)
        yield self.tau == ac.where(above > 0, -_never_pulling(-self.c * above, -damping), pushed)


def _never_pulling(spring: Any, damper: Any) -> Any:
    """Spring and damper together, for a spring that pushes (spring < 0). The bends where a limit takes over need no event."""
    return spring + ac.no_event(ac.min(ac.max(damper, spring), -spring))


class StoppedMass(ac.Component):
    """A mass between hard stops at `s_min` and `s_max`: ``m·dv/dt = a.f + b.f`` between them.

    At a stop the velocity v becomes ``-restitution·v``. If that is slower than `v_rest` it lies still there (`resting` is -1 at
    s_min, 1 at s_max, 0 elsewhere) until the force pulls it away. States: s, v; so it cannot be joined rigidly to another mass.
    """

    a, b = translational.Flange(), translational.Flange()
    m = ac.Parameter(1.0, unit="kg", min=0, doc="mass")
    s_min = ac.Parameter(-1e30, unit="m", doc="lower stop")
    s_max = ac.Parameter(1e30, unit="m", doc="upper stop")
    restitution = ac.Parameter(0.0, min=0, max=1, doc="speed after the impact over that before")
    v_rest = ac.Parameter(1e-3, unit="m/s", min=0, doc="speed after an impact below which it comes to rest")
    s = ac.Variable(unit="m", start=0.0, state="always", doc="absolute position")
    v = ac.Variable(unit="m/s", start=0.0, state="always", doc="absolute velocity")
    f = ac.Variable(unit="N", doc="force on it, without that of the stops")
    resting = ac.Integer(start=0, doc="-1 at rest at s_min, 1 at s_max, 0 elsewhere")

    def equations(self) -> Iterator[Any]:
        yield self.a.s == self.s
        yield self.b.s == self.s
        yield self.f == self.a.f + self.b.f
        yield ac.der(self.s) == self.v
        held = (self.resting > 0.5) | (self.resting < -0.5)
        yield self.m * ac.der(self.v) == ac.where(held, 0.0, self.f)
        self.f_stop = ac.named(ac.where(held, -self.f, 0.0), unit="N", doc="force of the stop it rests at")
        self.energy = ac.named(0.5 * self.m * self.v**2, unit="J", doc="kinetic energy")

    def events(self) -> Iterator[Any]:
        bounced = -self.restitution * ac.pre(self.v)
        slow = (bounced < self.v_rest) & (bounced > -self.v_rest)
        after = ac.where(slow, 0.0, bounced)
        lower, upper = (self.s <= self.s_min) & (self.v <= 0), (self.s >= self.s_max) & (self.v >= 0)
        rests_below, rests_above = ac.pre(self.resting) < -0.5, ac.pre(self.resting) > 0.5
        leaves = (rests_below & (self.f > 0)) | (rests_above & (self.f < 0))
        yield (
            ac.when(lower, ac.reinit(self.v, after), ac.assign(self.resting, ac.where(slow, -1, 0)))
            .elsewhen(upper, ac.reinit(self.v, after), ac.assign(self.resting, ac.where(slow, 1, 0)))
            .elsewhen(leaves, ac.assign(self.resting, 0))
            # a condition that holds from the start on never becomes true: what begins at a stop would fall through it
            .elsewhen(
                ac.initial(),
                ac.reinit(self.v, ac.where(lower | upper, after, self.v)),
                ac.assign(self.resting, ac.where(slow & lower, -1, ac.where(slow & upper, 1, self.resting))),
            )
        )
