"""Narrow peaks of tables: found however finely a table is given, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest

from acausal.language.peaks import narrow_peaks


@pytest.mark.parametrize("count", [101, 1001, 20001])
def test_a_bell_is_found_however_finely_it_is_given(count: int) -> None:
    x = np.linspace(0.0, 10.0, count)
    (peak,) = narrow_peaks(x, 3.0 + 0.1 * x + 5.0 * np.exp(-(((x - 6.0) / 0.15) ** 2)))
    assert abs(peak.top - 6.0) < 0.06 and 0.2 < peak.top - peak.left < 0.7 and 0.2 < peak.right - peak.top < 0.7


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_several_and_those_at_the_ends(sign: float) -> None:
    x = np.array([0.0, 0.01, 0.02, 5.0, 5.01, 5.02, 5.03, 9.98, 9.99, 10.0])
    found = narrow_peaks(x, sign * np.array([0.0, 1.0, 0.0, 0.0, 2.0, 1.0, 0.0, 0.0, 1.0, 0.0]))
    assert [p.left for p in found] == [0.0, 5.0, 9.98] and [p.top for p in found] == [0.01, 5.01, 9.99]


@pytest.mark.parametrize(
    "values",
    [
        np.zeros(201), np.arange(201.0), np.arange(201.0) ** 2, np.sin(np.arange(201) / 9), np.exp(-np.arange(201) / 20),
        np.heaviside(np.arange(201) - 90.0, 1.0), np.abs(np.arange(201) - 70.0), np.tanh((np.arange(201) - 90) / 2),
        np.random.default_rng(1).random(201), np.sqrt(np.arange(201)),
    ],
)  # fmt: skip
def test_there_are_none_in_curves_steps_and_noise(values: np.ndarray) -> None:
    assert not narrow_peaks(np.linspace(0.0, 1.0, 201), values)
