"""Functions of fluids that find first derivatives alone, against those that find second ones too."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

import acausal as ac
from acausal.media.functions import KINDS

core = pytest.importorskip("acausal._core")
CALL = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


@pytest.mark.parametrize("kind", ["saturation", "saturation_more", "borders"])
def test_first_derivatives_alone_are_the_same(kind: str) -> None:
    """From below the lowest saturation pressure to beyond the critical one, across every way of computing."""
    fluid, said = ac.media.fluid("R134a"), KINDS[kind]
    pressures = np.geomspace(100.0, 1.2 * fluid.p_critical, 500)
    count = 2 * len(said.results)
    whole = fluid.function(kind).evaluate(pressures)[:, :count]
    function, found = CALL(core.fluid_function_address(said.number, 1)), np.empty((len(pressures), 64))
    for k, p in enumerate(pressures):
        argument = np.array([p])
        function(fluid.native.address, argument.ctypes.data, found[k].ctypes.data)
    assert found[:, :count] == pytest.approx(whole, rel=1e-10, nan_ok=True)
