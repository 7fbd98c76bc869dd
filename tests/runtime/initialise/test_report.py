"""The text that a user reads when it fails."""

from __future__ import annotations

import numpy as np
import pytest

from acausal.errors import ModelError
from acausal.runtime.initialise import InitialisationError, Outcome, initialise

from .doubles import DenseProblem


def failing() -> InitialisationError:
    def f(t, y, yp, h):
        p, m, q = y
        return [p - 2.0, m**2 + q**2 + p, m - 3.0 * q]

    problem = DenseProblem(
        f,
        3,
        start=[1.0, 0.5, 0.25],
        minimum=[0, -5, 0],
        maximum=[10, 5, 5],
        nominal=[2, 1, 1],
        names=["pump.p", "pipe.m", "pipe.q"],
    )
    with pytest.raises(InitialisationError) as error:
        initialise(problem, 0.0)
    return error.value


def test_a_failed_block_shows_every_unknown_with_start_bounds_nominal_and_final_value() -> None:
    error = failing()
    assert isinstance(error, ModelError)
    assert error.outcome is Outcome.NOT_FOUND
    lines = str(error).splitlines()
    header = next(i for i, line in enumerate(lines) if line.split()[:2] == ["unknown", "start"])
    assert lines[header].split() == ["unknown", "start", "min", "max", "nominal", "final"]
    rows = {line.split()[0]: line.split()[1:5] for line in lines[header + 1 : header + 3]}
    assert rows == {"pipe.m": ["0.5", "-5", "5", "1"], "pipe.q": ["0.25", "0", "5", "1"]}


def test_worst_residuals_name_component_equation_and_line() -> None:
    error = failing()
    text = str(error)
    assert "worst residuals:" in text
    assert "part1: equation text 1  (plant.py:11)" in text
    assert error.diagnostics[0].component == "part1"
    assert str(error.diagnostics[0].location) == "plant.py:11"


def test_what_was_tried_is_told_and_what_was_computed_is_kept() -> None:
    error = failing()
    assert "a trust region" in str(error) and "Tried:" in str(error)
    assert error.y[0] == pytest.approx(2.0)  # solved before the block that failed
    assert error.report.residual.shape == (3,)


def test_an_unknown_at_its_bound_is_pointed_out() -> None:
    with pytest.raises(InitialisationError, match="at its maximum"):
        initialise(DenseProblem(lambda t, y, yp, h: [y[0] - 5.0], 1, start=1.0, maximum=3.0), 0.0)


def test_equations_without_a_value_at_the_start_are_listed() -> None:
    def f(t, y, yp, h):
        return [y[0] - 1.0, np.log(-1.0 - y[1] ** 2)]

    with pytest.raises(InitialisationError) as error:
        initialise(DenseProblem(f, 2), 0.0)
    assert error.value.outcome is Outcome.OUTSIDE_DOMAIN
    assert error.value.report.non_finite.tolist() == [1]
    assert "Without a value at the start:\n    part1: equation text 1  (plant.py:11)" in str(error.value)


def test_derivatives_are_named_as_such() -> None:
    def f(t, y, yp, h):
        return [yp[0] ** 2 + 1.0 + 0.0 * y[0]]

    with pytest.raises(InitialisationError, match=r"der\(x\)"):
        initialise(DenseProblem(f, 1, differential=[0], names=["x"], start=1.0), 0.0)


def test_long_lists_are_cut() -> None:
    with pytest.raises(InitialisationError) as error:
        initialise(DenseProblem(lambda t, y, yp, h: y**2 + 1.0, 30, start=1.0), 0.0)
    assert "… and 20 more blocks that failed." in str(error.value)
    assert len(str(error.value).splitlines()) < 90


def test_every_outcome_is_a_sentence() -> None:
    for outcome in Outcome:
        assert outcome.value.endswith(".") and outcome.value[0].isupper()
