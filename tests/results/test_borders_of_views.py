"""Windows and means that end at an event, or beyond a run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.errors import UsageError
from tests.analysis.test_sizes_and_starts import Decay


@pytest.mark.parametrize("how", ["mean", "min", "max"])
@pytest.mark.parametrize("times", [[0.0, 5.0, 20.0], [-5.0, 5.0, 10.0], [5.0, 0.0, 10.0]])
def test_means_over_times_without_a_run_are_refused(how: str, times: list[float]) -> None:
    """Means over times beyond the run took its last value for what is there, and times that fall gave numbers, too."""
    run = ac.compile(Decay()).simulate(10.0, points=11)
    with pytest.raises(UsageError, match=r"says nothing about|must grow"):
        run.resample(times, how=how)["x"]


def test_means_of_a_run_that_ends_before_time_zero() -> None:
    """The last time of a run that ends at a negative one was put in twice, and the last mean was not a number."""
    run = ac.compile(Decay()).simulate(-5.0, start=-10.0, points=101, rtol=1e-8)
    found = run.resample(1.0, how="mean")
    np.testing.assert_allclose(found.time, np.arange(-10.0, -5.0))
    np.testing.assert_allclose(found["x"], (np.exp(-0.5 * np.arange(5)) * (1 - np.exp(-0.5))) / 0.5, rtol=1e-5)


class Switch(ac.Component):
    on, q = ac.Boolean(start=True), ac.Variable()
    x = ac.Variable(start=0.0, fixed=True)

    def equations(self) -> Any:
        yield ac.der(self.x) == 1.0
        yield self.q == ac.where(self.on, 5.0, 0.0)
        yield ac.when(self.x > 1.25, ac.assign(self.on, False))


def test_a_window_that_ends_at_an_event_has_what_was_before_it() -> None:
    """A window up to an event ended with the value after it alone, as if the quantity fell from the row before on."""
    run = ac.compile(Switch()).simulate(2.0, points=5)
    table = run.to_pandas("q", window=(0.0, float(run.event_times[0])))
    assert table["q"].tolist() == [5.0, 5.0, 5.0, 5.0, 0.0]
    assert np.trapezoid(table["q"], table.index) == pytest.approx(6.25)
