"""How far equations are from linear, against the remainder of Taylor's formula."""

from __future__ import annotations

import numpy as np

import acausal as ac
from acausal.diagnosis.nonlinear import bending

from .models import Kinks


def test_the_remainder_of_a_cube() -> None:
    """y³ + 1e-9·y - 1e-2·sin(3t)·z from y = 1 to 2 at t = 0: 8 - 1 - 3 = 4 over (3 + 1e-9)·2; the other rows are linear."""
    model = ac.compile(Kinks())
    problem, names = model.problem, ["x", "y", "z"]
    first, last = np.zeros(problem.size), np.zeros(problem.size)
    places = {problem.name_of_unknown(k): k for k in range(problem.size)}
    assert set(places) == set(names)
    first[places["y"]], last[places["y"]], last[places["z"]] = 1.0, 2.0, 0.5
    spread = [
        problem.lowered.expand(problem.equations.workspace(0.0, y, np.zeros(problem.size), problem.known)) for y in (first, last)
    ]
    share = bending(problem.lowered.system, *spread)
    rows = {problem.describe_equation(k).equation: k for k in range(3)}
    cube = next(k for text, k in rows.items() if "self.y**3" in text)
    np.testing.assert_allclose(share[cube], 4 / ((3 + 1e-9) * 2), rtol=1e-9)
    assert np.delete(share, cube).max() < 1e-12
