"""Machine code lives as long as a model that uses it: nothing global keeps it for ever."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.kernels.compile import _store


def model(k: float) -> ac.Model:
    class Decay(ac.Component):
        x = ac.Variable(start=1.0, fixed=True)

        def equations(self) -> Any:
            yield ac.der(self.x) == -ac.sin(k * self.x) * (1.5 + k)

    return ac.compile(Decay())


def alive() -> tuple[int, int]:
    gc.collect()
    store = _store()
    return len(store.by_key), len(store.by_template)


def test_kernels_of_models_that_are_gone_are_gone() -> None:
    model(0.001)
    before = alive()
    for k in range(40):
        model(1.0 + k / 100)
    kernels, templates = alive()
    assert kernels <= before[0] + 3 and templates <= before[1] + 3


def test_a_result_and_a_model_keep_what_they_need() -> None:
    kept = model(0.123)
    first = kept.simulate(until=1.0, points=11)
    for k in range(10):
        model(2.0 + k / 100)
    gc.collect()
    again = kept.simulate(until=1.0, points=11)
    np.testing.assert_array_equal(first["x"], again["x"])
    del kept
    gc.collect()
    np.testing.assert_array_equal(first["der(x)"], again["der(x)"])


def _resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


@pytest.mark.slow
def test_thousand_compilations_and_ten_thousand_runs_do_not_grow() -> None:
    used = model(0.5)
    for k in range(200):
        model(3.0 + k / 1000)
    for _ in range(500):
        used.simulate(until=0.1, points=2)
    gc.collect()
    before = _resident()
    for k in range(800):
        model(4.0 + k / 1000)
    for _ in range(9_500):
        used.simulate(until=0.1, points=2)
    gc.collect()
    assert _resident() - before < 30 * 2**20
