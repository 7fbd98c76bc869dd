"""Mechanics in one dimension: along a line (`translational`), about an axis (`rotational`); `friction`, `gears`, `stops` and play.

    from acausal.library.mechanics import friction, gears, rotational, stops, translational

The first two mirror each other: position and angle, force and torque, mass and inertia.
"""

from __future__ import annotations

from . import friction, gears, rotational, stops, translational

__all__ = ["friction", "gears", "rotational", "stops", "translational"]
