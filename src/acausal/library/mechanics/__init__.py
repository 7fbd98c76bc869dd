"""One-dimensional mechanics: along a line (`translational`) and about an axis (`rotational`); dry `friction`, `stops` and play.

    from acausal.library.mechanics import friction, rotational, stops, translational

The first two mirror each other: position and angle, force and torque, mass and inertia.
"""

from __future__ import annotations

from . import friction, rotational, stops, translational

__all__ = ["friction", "rotational", "stops", "translational"]
