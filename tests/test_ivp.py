"""Problems of the Test Set for IVP Solvers, with published end values, and the first cell of a large ladder."""

from __future__ import annotations

import pytest

import acausal as ac
from benchmarks import models, ours
from benchmarks.ivp.problems import PROBLEMS, Problem


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda p: p.name)
def test_six_digits_at_a_tolerance_of_1e_8(problem: Problem) -> None:
    end, _ = ours.solve_plain(problem, 1e-8)
    assert problem.digits(end) >= 6.0


@pytest.mark.parametrize("n", [100, 1000, 9000])
def test_accuracy_does_not_dilute_with_size(n: int) -> None:
    """The first capacitor of the RC ladder; farther cells have no influence within 10 s: the exact value is that of any length."""
    result = ac.compile(models.ladder(n)).simulate(until=10.0, points=2, rtol=1e-6)
    assert abs(result["C[0].v"][-1] - 0.27766133) <= 3e-6
