"""The two rows of an event: both hold all equations, and differ by what happened."""

from __future__ import annotations

import numpy as np

import acausal as ac


class Swing(ac.Component):
    """A pendulum in the plane, whose weight changes where it passes a line: positions and speeds are constrained."""

    x, y = ac.Variable(start=1.0, fixed=True), ac.Variable(start=0.0)
    vx, vy, pull = ac.Variable(), ac.Variable(start=0.0, fixed=True), ac.Variable()

    def equations(self):
        yield ac.der(self.x) == self.vx
        yield ac.der(self.y) == self.vy
        yield ac.der(self.vx) == -self.pull * self.x
        yield ac.der(self.vy) == -self.pull * self.y - ac.where(self.x > 0.3, 9.81, 9.0)
        yield self.x**2 + self.y**2 == 1.0


def test_rows_on_both_sides_of_an_event_hold_the_constraints() -> None:
    result = ac.compile(Swing(), units=False).simulate(until=3.0, rtol=1e-6)
    before = np.flatnonzero(np.diff(result.time) == 0)
    assert len(before) == 3  # at 0.5, 1.9 and 2.9 s, by its period
    x, y, vx, vy = (np.asarray(result[name]) for name in ("x", "y", "vx", "vy"))
    for rows, allowed in ((before, 1e-14), (before + 1, 1e-14), (slice(None), 1e-9)):
        assert np.abs(x**2 + y**2 - 1)[rows].max() < allowed
        assert np.abs(x * vx + y * vy)[rows].max() < allowed
    np.testing.assert_allclose(x[before], x[before + 1], atol=1e-14)  # nothing moved it


def test_algebraic_unknowns_are_solved_for_just_before_an_event() -> None:
    class Root(ac.Component):
        phi, x = ac.Variable(start=0.0, fixed=True), ac.Variable(start=0.0)

        def equations(self):
            yield ac.der(self.phi) == 1 + ac.where(self.x > 0.5, 0.1, 0.0)
            yield self.x**3 + self.x == 2 * ac.sin(self.phi)

    result = ac.compile(Root(), units=False).simulate(until=20.0, rtol=1e-6)
    before = np.flatnonzero(np.diff(result.time) == 0)
    assert len(before) >= 6
    missed = np.abs(result["x"] ** 3 + result["x"] - 2 * np.sin(result["phi"]))
    assert missed[before].max() < 1e-9 and missed[before + 1].max() < 1e-9
