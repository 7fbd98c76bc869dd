"""Signals of motion: trapezoids that repeat, and the way from one place to another as fast as speed and acceleration allow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import acausal as ac

from .signal import Periodic, Source


class Trapezoid(Periodic):
    """In each period: up during `rising`, `amplitude` during `width`, down during `falling`, then `offset`."""

    amplitude = ac.Parameter(1.0, doc="height")
    rising = ac.Parameter(0.1, unit="s", min=1e-12, doc="time to rise")
    width = ac.Parameter(0.4, unit="s", min=0, doc="time at the top")
    falling = ac.Parameter(0.1, unit="s", min=1e-12, doc="time to fall")
    offset = ac.Parameter(0.0, doc="value between")

    def equations(self) -> Iterator[Any]:
        begun = self.began
        up, top = begun + self.rising, begun + self.rising + self.width
        end = top + self.falling
        t = ac.time
        shape = ac.where(
            t < up, (t - begun) / self.rising, ac.where(t < top, 1.0, ac.where(t < end, (end - t) / self.falling, 0.0))
        )
        yield self.y == self.offset + self.amplitude * ac.where(t >= self.start_time, shape, 0.0)


class PointToPoint(Source):
    """From 0 to `distance`, from rest to rest, with at most `v_max` and `a_max`: speed rises, stays and falls as a trapezoid.

    Where `v_max` is never reached, the trapezoid is a triangle. `y` is the position, `v` the speed, `a` the acceleration.
    """

    distance = ac.Parameter(1.0, min=0, doc="where it goes")
    v_max = ac.Parameter(1.0, min=1e-12, doc="highest speed, per second")
    a_max = ac.Parameter(1.0, min=1e-12, doc="highest acceleration, per second squared")
    start_time = ac.Parameter(0.0, unit="s", doc="when it begins")
    second = ac.Constant(1.0, unit="s", doc="makes a number of a time")
    v = ac.Variable(doc="speed, per second")
    a = ac.Variable(doc="acceleration, per second squared")

    def equations(self) -> Iterator[Any]:
        peak = ac.min(self.v_max, ac.sqrt(self.distance * self.a_max))
        rise, whole = peak / self.a_max, self.distance / peak + peak / self.a_max
        first = self.start_time
        slow, end = first + (whole - rise) * self.second, first + whole * self.second
        t, left = (ac.time - first) / self.second, whole - (ac.time - first) / self.second
        before, rising = ac.time < first, ac.time < first + rise * self.second
        steady, falling = ac.time < slow, ac.time < end

        def phase(up: Any, level: Any, down: Any, over: Any) -> Any:
            return ac.where(before, 0.0, ac.where(rising, up, ac.where(steady, level, ac.where(falling, down, over))))

        braking = self.distance - 0.5 * self.a_max * left * left
        yield self.y == phase(0.5 * self.a_max * t * t, peak * (t - 0.5 * rise), braking, self.distance)
        yield self.v == phase(self.a_max * t, peak, self.a_max * left, 0.0)
        yield self.a == phase(self.a_max, 0.0, -self.a_max, 0.0)
