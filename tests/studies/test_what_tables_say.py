"""Tables of cases and of studies say what each case had."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.errors import UsageError
from tests.analysis.test_sizes_and_starts import Bound, Decay

pd = pytest.importorskip("pandas")


def test_a_correlation_has_ones_on_its_diagonal() -> None:
    """Covariances were taken for correlations, and the draws no longer had their distributions."""
    with pytest.raises(UsageError, match="ones on its diagonal"):
        ac.draws({"k": ac.uniform(0, 1), "b": ac.normal(0, 1)}, 100, correlation=[[4, 1], [1, 4]])


def test_the_table_of_a_study_says_what_the_runs_had() -> None:
    """What a case leaves as it is was shown as the model has it, although the options of the study set it, or it follows others."""
    model = ac.compile(Decay())
    study = model.study(ac.one_at_a_time({"k": [0.1, 1.0], "b": [2.0]}), "x", until=1.0, rtol=1e-8, set={"k": 0.3})
    np.testing.assert_allclose(study["k"], [0.3, 0.1, 1.0, 0.3])
    np.testing.assert_allclose(study["x"], np.exp(-study["k"] * study["b"]), rtol=1e-5)
    bound = ac.compile(Bound()).study(ac.one_at_a_time({"p": [1.0], "b": [3.0]}), "x", until=1.0)
    np.testing.assert_allclose(bound["b"], [6.0, 3.0, 3.0])
    np.testing.assert_allclose(bound["x"], bound["p"] + bound["b"])


def test_rank_correlations_with_a_start_value_of_some_cases() -> None:
    """Cases that say nothing of a start value made its correlation not a number."""
    study = ac.compile(Decay()).study(ac.one_at_a_time({"x": [0.1, 1.0, 3.0], "k": [0.1]}), "x", until=1.0)
    assert study.correlations("x")["x (start)"] == pytest.approx(1.0)


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([np.int64(20), None, np.int64(30)], dtype=object),
        pd.Series([np.float64(20), None, np.float64(30)], dtype=object),
        pd.Series(["20", None, "303.15 K"], dtype=object),
    ],
    ids=["integers", "floats", "texts"],
)
def test_numbers_of_a_column_with_a_unit_are_in_it(column: Any) -> None:
    """Whole numbers of numpy and numbers written as texts lost the unit of their column's heading: 20 °C became 20 K."""

    class Warm(ac.Component):
        T0, tau = ac.Parameter(273.15, unit="K"), ac.Parameter(1.0, unit="s")
        T = ac.Variable(start=293.15, fixed=True, unit="K")

        def equations(self) -> Any:
            yield self.tau * ac.der(self.T) == self.T0 - self.T

    study = ac.compile(Warm()).study(pd.DataFrame({"T0 [degC]": column}), "T", until=1.0)
    np.testing.assert_allclose(study["T0"], [293.15, 273.15, 303.15])
