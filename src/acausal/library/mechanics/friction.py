"""Dry friction about an axis (clutch, brake, bearing) and along a line (guide, jaw). They stick and slide.

While two surfaces stick, the friction torque is whatever keeps them together; when it would have to exceed `tau0_max` they begin
to slide, and when the speed comes to zero they stick again. The method is that of Otter, Elmqvist and Mattsson (Hybrid modeling in
Modelica based on the synchronous data flow principle, 1999): speeds are always states, and what sticking holds at zero is the
acceleration, so that nothing of the structure changes. Both acceleration and torque are given by a curve with the parameter sa,

    stuck:    a = 0,             tau = sa      until |sa| exceeds tau0_max, the torque that stiction can hold;
    forward:  a = sa - tau0_max, tau = the sliding torque, from the moment sa > tau0_max until the speed is zero again;
    backward: the mirror image;
    free:     a = sa,            tau = 0       (nothing presses the surfaces together).

`tau0_max` is `peak` times the torque at the beginning of sliding. Elements that share a shaft may switch together. What they hold
together must not be held twice: of two bearings on one rigid shaft, or of a clutch between two shafts that both stick in their
bearings, nobody can tell which one carries the torque, and the run says so.

    import acausal as ac
    from acausal.library.mechanics import friction, rotational

    class Starting(ac.Component):
        def __init__(self):
            self.engine, self.car = rotational.Inertia(J=0.2, w=ac.start(100.0)), rotational.Inertia(J=2.0)
            self.clutch = friction.Clutch(fn_max=50.0, pressed=1.0)

        def connections(self):
            yield self.engine.b, self.clutch.a
            yield self.clutch.b, self.car.a
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import acausal as ac

from .rotational import Flange
from .translational import Flange as LineFlange

BACKWARD, STUCK, FORWARD, FREE = -1, 0, 1, 2
Pair = tuple[Any, Any]  # forward and backward
OPEN = 1e-10  # what is pressed less than this is not pressed: zero itself may be missed by the last digit


class StickSlip(ac.Component):
    """The curve of stiction and sliding; subclasses say what slides and how hard.

    `mode` is -1 (sliding backward), 0 (stuck), 1 (sliding forward) or 2 (free); between stuck and sliding, `starts_forward` or
    `starts_backward` holds until the speed is not zero any more.
    """

    peak = ac.Parameter(1.0, min=1.0, doc="what stiction holds over what there is at the beginning of sliding")
    sa = ac.Variable(start=0.0, doc="place on the curve: a torque or force while stuck, beyond it an acceleration")
    mode = ac.Integer(start=STUCK, doc="-1 backward, 0 stuck, 1 forward, 2 free")
    starts_forward = ac.Boolean(start=False, doc="whether it begins to slide forward")
    starts_backward = ac.Boolean(start=False, doc="whether it begins to slide backward")
    locked = ac.Boolean(start=True, doc="whether it sticks")
    a_rel: Any
    acceleration_size: Any

    def curve(self, w: Any, a: Any, load: Any, free: Any, forward0: Any, backward0: Any, slides: Any, slides_back: Any) -> Any:
        """The equations of the curve, for speed `w`, acceleration `a` and `load`, each over its own unit.

        `slides(w)` is the load at a speed w >= 0 forward, `slides_back(-w)` backward; `forward0` and `backward0` are those at the
        beginning of sliding.
        """
        before = ac.pre(self.mode)
        was_backward, was_stuck, was_forward, was_free = (_is(before, mode) for mode in (BACKWARD, STUCK, FORWARD, FREE))
        sa, begin, begin_back = self.sa, self.peak * forward0, self.peak * backward0
        locked = ac.pre(self.locked)  # only then is sa the load that it takes to stick
        yield self.starts_forward == was_stuck & ((locked & (sa > begin)) | (ac.pre(self.starts_forward) & (sa > forward0)))
        yield self.starts_backward == was_stuck & (
            (locked & (sa < -begin_back)) | (ac.pre(self.starts_backward) & (sa < -backward0))
        )
        forward, backward = was_forward | self.starts_forward, was_backward | self.starts_backward
        yield self.locked == ~(forward | backward | free)
        anew = was_free | ac.initial()  # nothing before that the direction of sliding could be known from, but the speed
        goes_forward, goes_backward = (forward | anew) & (w > 0), (backward | anew) & (w < 0)
        yield self.mode == ac.where(free, FREE, ac.where(goes_forward, FORWARD, ac.where(goes_backward, BACKWARD, STUCK)))
        moving = ac.where(forward, sa - begin, sa + begin_back)
        yield a == ac.where(self.locked, 0.0, ac.where(free, sa, moving))
        sliding = ac.where(forward, slides, -slides_back)
        yield load == ac.where(self.locked, sa, ac.where(free, 0.0, sliding))

    def motion(self, x: Any, w: Any, load: Any, size: Any, free: Any, begins: Pair, slides: Pair) -> Iterator[Any]:
        """Distance `x`, speed `w` and acceleration on the curve, with the loads forward and backward; `size` is that of a load."""
        yield w == ac.der(x)
        yield self.a_rel == ac.der(w)
        loads = (each / size for each in (*begins, *slides))
        yield from self.curve(w, self.a_rel / self.acceleration_size, load / size, free, *loads)
        self.loss = ac.named(load * w, unit="W", doc="heat that the friction makes")


class Sliding(StickSlip):
    """Base of what sticks and slides about an axis; a subclass joins its flanges and gives `friction` the laws."""

    phi_rel = ac.Variable(unit="rad", state="prefer", doc="angle between the surfaces")
    w_rel = ac.Variable(unit="rad/s", state="prefer", doc="speed of the surfaces against each other")
    a_rel = ac.Variable(unit="rad/s^2", start=0.0, doc="acceleration of the surfaces against each other")
    tau = ac.Variable(unit="N*m", start=0.0, doc="friction torque")
    torque_size = ac.Constant(1.0, unit="N*m", doc="what sa = 1 is while stuck")
    acceleration_size = ac.Constant(1.0, unit="rad/s^2", doc="what sa = 1 is while sliding")

    def friction(self, free: Any, tau0: Any, slides: Any) -> Iterator[Any]:
        """The equations of the curve. `slides(w)` is the torque at a speed w >= 0, `tau0` the one at the beginning of sliding."""
        yield from self.friction_both_ways(free, (tau0, tau0), (slides(self.w_rel), slides(-self.w_rel)))

    def friction_both_ways(self, free: Any, tau0: tuple[Any, Any], slides: tuple[Any, Any]) -> Iterator[Any]:
        """The same with other torques forward and backward."""
        yield from self.motion(self.phi_rel, self.w_rel, self.tau, self.torque_size, free, tau0, slides)


class LineSliding(StickSlip):
    """Base of what sticks and slides along a line."""

    s_rel = ac.Variable(unit="m", state="prefer", doc="distance between the surfaces")
    v_rel = ac.Variable(unit="m/s", state="prefer", doc="speed of the surfaces against each other")
    a_rel = ac.Variable(unit="m/s^2", start=0.0, doc="acceleration of the surfaces against each other")
    f = ac.Variable(unit="N", start=0.0, doc="friction force")
    force_size = ac.Constant(1.0, unit="N", doc="what sa = 1 is while stuck")
    acceleration_size = ac.Constant(1.0, unit="m/s^2", doc="what sa = 1 is while sliding")

    def friction(self, free: Any, f0: Any, slides: Any) -> Iterator[Any]:
        """The equations of the curve. `slides(v)` is the force at a speed v >= 0, `f0` the one at the beginning of sliding."""
        v = self.v_rel
        yield from self.motion(self.s_rel, v, self.f, self.force_size, free, (f0, f0), (slides(v), slides(-v)))


def _is(mode: Any, value: int) -> Any:
    return (mode > value - 0.5) & (mode < value + 0.5)


class Pressed(Sliding):
    """Base of parts whose surfaces are pressed together with the force ``fn = fn_max·pressed``."""

    a, b = Flange(), Flange()
    pressed = ac.Input(0.0, doc="normal force over fn_max")
    fn_max = ac.Parameter(1.0, unit="N", min=0, doc="largest normal force")
    mue = ac.Parameter(0.5, min=0, doc="friction coefficient")
    cgeo = ac.Parameter(1.0, unit="m", min=0, doc="mean radius times number of friction surfaces")

    def __init__(self, mue_of_speed: Any = None) -> None:
        self.mue_of_speed = mue_of_speed

    def equations(self) -> Iterator[Any]:
        leverage = self.cgeo * self.fn_max * self.pressed
        law = self.mue_of_speed or (lambda w: self.mue)
        yield from self.friction(self.pressed < OPEN, law(0.0) * leverage, lambda w: law(w) * leverage)


class Clutch(Pressed):
    """Two flanges pressed together with the force ``fn = fn_max·pressed``: ``tau = mue·cgeo·fn`` while it slips.

    `pressed` is an input, 1 for fully closed; at 0 or below the clutch is open. The friction coefficient is the parameter `mue`, or
    an `ac.Table` of the speed (from zero on) given as `mue_of_speed`.
    """

    def equations(self) -> Iterator[Any]:
        yield self.phi_rel == self.b.phi - self.a.phi
        yield self.b.tau == self.tau
        yield self.a.tau == -self.tau
        yield from super().equations()


class Brake(Pressed):
    """A shaft from a to b, pressed against the housing with the force ``fn = fn_max·pressed``; otherwise as a `Clutch`."""

    def equations(self) -> Iterator[Any]:
        yield from _on_one_shaft(self)
        yield from super().equations()


class BearingFriction(Sliding):
    """A shaft from a to b in a bearing: ``tau = tau_coulomb + d·|w|`` against the motion; it sticks at rest and is never free."""

    a, b = Flange(), Flange()
    tau_coulomb = ac.Parameter(1.0, unit="N*m", min=0, doc="torque at the beginning of sliding")
    d = ac.Parameter(0.0, unit="N*m*s/rad", min=0, doc="what the torque grows by with the speed")

    def equations(self) -> Iterator[Any]:
        yield from _on_one_shaft(self)
        yield from self.friction(False, self.tau_coulomb, lambda w: self.tau_coulomb + self.d * w)


class LineFriction(LineSliding):
    """A rod from a to b in a guide: ``f = f_coulomb + d·|v|`` against the motion; it sticks at rest and is never free."""

    a, b = LineFlange(), LineFlange()
    f_coulomb = ac.Parameter(1.0, unit="N", min=0, doc="force at the beginning of sliding")
    d = ac.Parameter(0.0, unit="N*s/m", min=0, doc="what the force grows by with the speed")

    def equations(self) -> Iterator[Any]:
        yield from _on_one_rod(self)
        yield from self.friction(False, self.f_coulomb, lambda v: self.f_coulomb + self.d * v)


class LineBrake(LineSliding):
    """A rod from a to b that jaws press with the force ``fn_max·pressed``: ``f = mue·fn``; at 0 or below they are open."""

    a, b = LineFlange(), LineFlange()
    pressed = ac.Input(0.0, doc="normal force over fn_max")
    fn_max = ac.Parameter(1.0, unit="N", min=0, doc="largest normal force")
    mue = ac.Parameter(0.5, min=0, doc="friction coefficient, of all jaws together")

    def equations(self) -> Iterator[Any]:
        yield from _on_one_rod(self)
        force = self.mue * self.fn_max * self.pressed
        yield from self.friction(self.pressed < OPEN, force, lambda v: force)


def _on_one_rod(part: Any) -> Iterator[Any]:
    yield part.a.s == part.b.s
    yield part.s_rel == part.a.s
    yield part.a.f + part.b.f == part.f


def _on_one_shaft(part: Any) -> Iterator[Any]:
    yield part.a.phi == part.b.phi
    yield part.phi_rel == part.a.phi
    yield part.a.tau + part.b.tau == part.tau
