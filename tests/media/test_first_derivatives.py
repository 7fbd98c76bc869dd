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


@pytest.mark.parametrize("name", ["R134a", "CO2", "water"])
@pytest.mark.parametrize("portable", [False, True])
def test_borders_are_those_of_saturation_to_the_last_bit(name: str, portable: bool) -> None:
    """Kernels are given the one for the other, by what was asked for before: it must not show."""
    fluid = ac.media.fluid(name)
    p = np.geomspace(100.0, 1.2 * fluid.p_critical, 20000)[:, None]
    saturated, borders = np.empty((len(p), 30)), np.empty((len(p), 6))
    fluid.native.evaluate(KINDS["saturated"].number, p, saturated, portable)
    fluid.native.evaluate(KINDS["borders"].number, p, borders, portable)
    assert np.array_equal(saturated.reshape(-1, 3, 10)[:, :, :2], borders.reshape(-1, 3, 2), equal_nan=True)
    functions = [CALL(core.fluid_function_address(KINDS[kind].number, 1)) for kind in ("borders", "saturated", "borders")]
    for argument in np.ascontiguousarray(p[::40]):
        alone, every, again = np.empty((3, 64))
        for function, found in zip(functions, (alone, every, again), strict=True):
            function(fluid.native.address, argument.ctypes.data, found.ctypes.data)
        assert np.array_equal(alone[:4], again[:4], equal_nan=True)
        assert np.array_equal(alone[:4], every[[0, 1, 10, 11]], equal_nan=True)


def points(fluid: ac.media.Fluid) -> tuple[np.ndarray, np.ndarray]:
    """Pressures and enthalpies on both sides of every border, from below the lowest saturation pressure to above the critical."""
    p = np.geomspace(2e3, 1.2 * fluid.p_critical, 60)
    low, high = fluid.function("borders").evaluate(p)[:, :2].T
    h = np.concatenate([border + away for border in (low, high) for away in (-4e4, -1e3, -1e-3, 1e-3, 1e3, 2e4)])
    return np.tile(p, 12), h


@pytest.mark.parametrize("name", ["R134a", "CO2", "water"])
@pytest.mark.parametrize("phase", [2.0, 3.0])
def test_a_state_with_its_borders_is_what_both_are_alone(name: str, phase: float) -> None:
    fluid = ac.media.fluid(name)
    p, h = points(fluid)
    said = np.full(len(p), phase)
    both = fluid.function("bordered").evaluate(p, h, said).reshape(len(p), 6, 6)  # by derivative and result
    state = fluid.function("state").evaluate(p, h, said).reshape(len(p), 6, 4)
    borders = fluid.function("borders").evaluate(p).reshape(len(p), 3, 2)
    assert both[:, :, :4] == pytest.approx(state, rel=1e-9, nan_ok=True)
    assert both[:, [0, 1, 3], 4:] == pytest.approx(borders, rel=1e-9, nan_ok=True)
    assert np.isin(both[:, [2, 4, 5], 4:], [0.0]).all() or np.isnan(both).any()
    first = CALL(core.fluid_function_address(KINDS["bordered"].number, 1))
    alone = np.empty((len(p), 36))
    for k, argument in enumerate(np.stack([p, h, said], axis=1)):
        first(fluid.native.address, argument.ctypes.data, alone[k].ctypes.data)
    assert alone[:, :18] == pytest.approx(both.reshape(len(p), 36)[:, :18], rel=1e-9, nan_ok=True)


@pytest.mark.parametrize("name", ["R134a", "CO2", "water"])
def test_liquid_is_where_it_would_boil_at_a_lower_pressure(name: str) -> None:
    """The sign of p - p_boiling(p, h) is that of hl(p) - h, in any pressure; derivatives are those of differences."""
    fluid = ac.media.fluid(name)
    p, h = points(fluid)
    low = fluid.function("borders").evaluate(p)[:, 0]
    boiling = fluid.function("boiling").evaluate(p, h)
    inside = np.isfinite(boiling[:, 0])
    assert inside.mean() > 0.9
    assert (np.sign(p - boiling[:, 0]) == np.sign(low - h))[inside].all()
    small = 1e-5 * p
    for direction, (dp, dh) in enumerate([(small, 0.0), (0.0, 1.0)]):
        more, less = (fluid.function("boiling").evaluate(p + s * dp, h + s * dh) for s in (1, -1))
        smooth = inside & np.isfinite(more[:, 0]) & np.isfinite(less[:, 0])
        smooth &= np.abs(p / fluid.p_critical - 1) > 0.02  # the root of hl there has no end of curvature
        slope = (more - less)[:, 0] / (2 * (dp if direction == 0 else dh))
        wrong = np.abs(slope - boiling[:, 1 + direction]) > 1e-4 * np.abs(slope) + 1e-6
        assert wrong[smooth].mean() < 0.02  # where a difference reaches across the border of a region
