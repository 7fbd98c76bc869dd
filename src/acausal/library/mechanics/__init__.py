"""One-dimensional mechanics: along a line (`translational`) and about an axis (`rotational`).

    from acausal.library.mechanics import rotational, translational

The two mirror each other: position and angle, force and torque, mass and inertia.
"""

from __future__ import annotations

from . import rotational, translational

__all__ = ["rotational", "translational"]
