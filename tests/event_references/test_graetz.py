"""The Graetz rectifier with both formulations of an ideal diode. Two diodes of a bridge have to switch at one instant.

With exact diodes the bridge is a source behind its inner resistance that can only give: C·dv/dt = max(|u| - v, 0)/R_i - v/R, plus
what the stray conductances take while diodes conduct. That is integrated by scipy for comparison.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.library import switching
from benchmarks.switching import Graetz, ThreePhaseBridge

CURRENTS = ("d1.i", "d2.i", "d3.i", "d4.i", "source.i", "load.i", "C.i")
AT = np.linspace(0.0, 0.06, 301)[1:] - 1.7e-6  # not at a zero of the source


def curve() -> ac.Component:
    return switching.IdealDiode(Ron=0.0, Goff=0.0)


def run(diode: Any, **options: float) -> Any:
    result = ac.compile(Graetz(diode, **options)).simulate(until=0.06, rtol=1e-9, at=AT)
    assert result.outcome is ac.Outcome.FINISHED, result.diagnostics
    return result


def at_points(result: Any, name: str) -> np.ndarray:
    return np.asarray(result[name])[np.searchsorted(result.time, AT)]


def independent(phase: float, stray: float) -> np.ndarray:
    from scipy.integrate import solve_ivp

    def rate(t: float, v: Any) -> Any:
        given = max(abs(10.0 * np.sin(100 * np.pi * t + phase)) - v[0], 0.0)
        return [(given - v[0] / 100.0 - (stray * v[0] if given > 0 else 0.0)) / 1e-4]

    return solve_ivp(rate, (0.0, 0.06), [0.0], t_eval=AT, rtol=1e-9, atol=1e-11, max_step=2e-5).y[0]


@pytest.mark.parametrize("phase", [0.0, 0.5, np.pi / 2, 4.0])
@pytest.mark.parametrize("stray", [(1e-6, 1e-6), (1e-6, 0.0), (0.0, 1e-4)], ids=["both", "first", "other"])
def test_both_formulations_agree(phase: float, stray: tuple[float, float]) -> None:
    options = {"phase": phase, "stray": stray[0], "stray_other": stray[1]}
    one, other = run(curve, **options), run(switching.SwitchedDiode, **options)
    for name in CURRENTS:
        np.testing.assert_allclose(at_points(one, name), at_points(other, name), rtol=0, atol=1e-6, err_msg=name)
    np.testing.assert_allclose(at_points(one, "C.v"), at_points(other, "C.v"), rtol=0, atol=1e-6)


@pytest.mark.parametrize("diode", [curve, switching.SwitchedDiode], ids=["curve", "conditional"])
@pytest.mark.parametrize("phase", [0.0, 0.5])
def test_the_capacitor_is_charged_as_an_ideal_rectifier_does(diode: Any, phase: float) -> None:
    result = run(diode, phase=phase)
    np.testing.assert_allclose(at_points(result, "C.v"), independent(phase, 1e-6), rtol=0, atol=2e-6)


@pytest.mark.parametrize("diode", [curve, switching.SwitchedDiode], ids=["curve", "conditional"])
def test_no_diode_conducts_backward_or_blocks_forward(diode: Any) -> None:
    result = run(diode)
    for k in (1, 2, 3, 4):
        v, i = np.asarray(result[f"d{k}.v"]), np.asarray(result[f"d{k}.i"])
        assert v.max() < 1e-9 and i.min() > -1e-9
        assert np.abs(v * i).max() < 1e-9  # either is zero


def test_small_resistances_tend_to_the_exact_bridge() -> None:
    """The diode of the Modelica Standard Library, Ron = Goff = 1e-5: no stray conductance is needed."""
    result = run(switching.IdealDiode, stray=0.0, stray_other=0.0)
    exact = run(curve)
    np.testing.assert_allclose(at_points(result, "C.v"), at_points(exact, "C.v"), rtol=0, atol=5e-3)
    np.testing.assert_allclose(at_points(result, "source.i"), at_points(exact, "source.i"), rtol=0, atol=5e-3)


def test_a_bridge_of_three_phases_hands_the_current_on() -> None:
    """Six diodes, of which one goes off when another goes on; between them all that conduct backward or block forward are none."""
    one, other = (
        ac.compile(ThreePhaseBridge(diode)).simulate(until=0.06, rtol=1e-9, at=AT) for diode in (curve, switching.SwitchedDiode)
    )
    for result in (one, other):
        assert result.outcome is ac.Outcome.FINISHED
        for row in ("upper", "lower"):
            for k in range(3):
                v, i = np.asarray(result[f"{row}[{k}].v"]), np.asarray(result[f"{row}[{k}].i"])
                assert v.max() < 1e-9 and i.min() > -1e-9 and np.abs(v * i).max() < 1e-9
    for name in ("C.v", "load.i", "upper[0].i", "upper[1].i", "lower[2].i"):
        np.testing.assert_allclose(at_points(one, name), at_points(other, name), rtol=0, atol=1e-6, err_msg=name)
