"""Sobol indices against functions of which they are known."""

from __future__ import annotations

import numpy as np
import pytest

import acausal as ac
from acausal.errors import UsageError


class Static(ac.Component):
    """A sum, of which the parts are 1 : 4, and a product, to which neither factor brings anything alone."""

    a = ac.Parameter(0.1, distribution=ac.uniform(-1.0, 1.0))
    b = ac.Parameter(0.1, distribution=ac.uniform(-1.0, 1.0))
    total, product = ac.Variable(), ac.Variable()

    def equations(self):
        yield self.total == self.a + 2 * self.b
        yield self.product == self.a * self.b


def test_a_sum_and_a_product():
    found = ac.sobol_indices(ac.compile(Static()), None, ["total", "product"], count=256, steady=True)
    for kind in (found.first, found.total):
        np.testing.assert_allclose(list(kind["total"].values()), [0.2, 0.8], atol=0.03)
    np.testing.assert_allclose(list(found.first["product"].values()), [0.0, 0.0], atol=0.03)
    np.testing.assert_allclose(list(found.total["product"].values()), [1.0, 1.0], atol=0.03)
    assert len(found.study) == 4 * 256
    assert "with others" in str(found)


def test_bad_input():
    model = ac.compile(Static())
    with pytest.raises(UsageError, match="at least 2"):
        ac.sobol_indices(model, None, "total", count=1, steady=True)
