"""Robertson, Chemical Akzo Nobel and the transistor amplifier: residuals, start values, reference end values.

Each residual function has the form ``residuals(t, dy, y, p) -> list``, in plain arithmetic; `p` gives parameters by name.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks.ivp.arithmetic import exp, sin, sqrt

Residuals = Callable[[Any, Sequence[Any], Sequence[Any], Any], list[Any]]


@dataclass(frozen=True)
class Problem:
    """`nominal` times the relative tolerance is the absolute tolerance; `differential` says whose derivative appears."""

    name: str
    residuals: Residuals
    parameters: Mapping[str, float]
    start: tuple[float, ...]
    start_derivative: tuple[float, ...]
    differential: tuple[bool, ...]
    nominal: tuple[float, ...]
    end: float
    reference: tuple[float, ...]  # of the first unknowns; those beyond follow from them

    def evaluate(self, t: float, dy: Sequence[float], y: Sequence[float]) -> list[float]:
        """The residuals as numbers."""
        return [float(value) for value in self.residuals(t, dy, y, SimpleNamespace(**self.parameters))]

    def digits(self, y_end: Sequence[float] | np.ndarray) -> float:
        """mescd, the test set's mixed-error significant digits: -log10 max |error| / (atol/rtol + |reference|)."""
        reference, compared = np.array(self.reference), slice(len(self.reference))
        error = np.abs(np.array(y_end)[compared] - reference) / (np.array(self.nominal)[compared] + np.abs(reference))
        return float(-np.log10(max(error.max(), 1e-16)))


def _robertson_residuals(t: Any, dy: Sequence[Any], y: Sequence[Any], p: Any) -> list[Any]:
    slow, back, fast = p.k1 * y[0], p.k2 * y[1] * y[2], p.k3 * y[1] * y[1]
    return [
        dy[0] + slow - back,
        dy[1] - slow + back + fast,
        y[0] + y[1] + y[2] - 1.0,
    ]


# The middle species never exceeds 4e-5 and ends at 8e-14 after ten decades of decay: the nominal values are what keeps it,
# and with it the first species, resolved to the end.
robertson = Problem(
    name="Robertson",
    residuals=_robertson_residuals,
    parameters={"k1": 0.04, "k2": 1e4, "k3": 3e7},
    start=(1.0, 0.0, 0.0),
    start_derivative=(-0.04, 0.04, 0.0),
    differential=(True, True, False),
    nominal=(1e-6, 1e-12, 1.0),
    end=1e11,
    reference=(0.2083340149701255e-7, 0.8333360770334713e-13, 0.9999999791665050),
)


def _akzo_residuals(t: Any, dy: Sequence[Any], y: Sequence[Any], p: Any) -> list[Any]:
    root = sqrt(y[1])
    r1 = p.k1 * y[0] * y[0] * y[0] * y[0] * root
    r2 = p.k2 * y[2] * y[3]
    r3 = p.k2 / p.K * y[0] * y[4]
    r4 = p.k3 * y[0] * y[3] * y[3]
    r5 = p.k4 * y[5] * y[5] * root
    inflow = p.klA * (p.p_CO2 / p.H - y[1])
    return [
        dy[0] + 2.0 * r1 - r2 + r3 + r4,
        dy[1] + 0.5 * r1 + r4 + 0.5 * r5 - inflow,
        dy[2] - r1 + r2 - r3,
        dy[3] + r2 - r3 + 2.0 * r4,
        dy[4] - r2 + r3 - r5,
        p.Ks * y[0] * y[3] - y[5],
    ]


_AKZO_START = (0.444, 0.00123, 0.0, 0.007, 0.0, 115.83 * 0.444 * 0.007)
_AKZO_PARAMETERS = {"k1": 18.7, "k2": 0.58, "k3": 0.09, "k4": 0.42, "K": 34.4, "klA": 3.3, "Ks": 115.83, "p_CO2": 0.9, "H": 737.0}


def _explicit_derivative(residuals: Residuals, y: tuple[float, ...], p: Mapping[str, float], n: int) -> tuple[float, ...]:
    """Where the first n rows read `dy_i - f_i`: the consistent derivatives, zeros for algebraic unknowns."""
    rows = residuals(0.0, (0.0,) * len(y), y, SimpleNamespace(**p))
    return tuple(-float(row) for row in rows[:n]) + (0.0,) * (len(y) - n)


chemical_akzo = Problem(
    name="Chemical Akzo Nobel",
    residuals=_akzo_residuals,
    parameters=_AKZO_PARAMETERS,
    start=_AKZO_START,
    start_derivative=_explicit_derivative(_akzo_residuals, _AKZO_START, _AKZO_PARAMETERS, 5),
    differential=(True, True, True, True, True, False),
    nominal=(1.0, 1.0, 1.0, 1.0, 1.0, 1.0),
    end=180.0,
    reference=(
        0.1150794920661702,
        0.1203831471567715e-2,
        0.1611562887407974,
        0.3656156421249283e-3,
        0.1708010885264404e-1,
        0.4873531310307455e-2,
    ),
)


def _amplifier_nodes(t: Any, rate: Sequence[Any], y: Sequence[Any], p: Any) -> list[Any]:
    """Kirchhoff's current law at the eight nodes; `rate` are the derivatives of the five capacitors' voltages."""

    def diode(v: Any) -> Any:
        return p.beta * (exp(v / p.U_F) - 1.0)

    signal = 0.1 * sin(200.0 * math.pi * t)
    first, second = diode(y[1] - y[2]), diode(y[4] - y[5])
    return [
        p.C1 * rate[0] + (y[0] - signal) / p.R0,
        -p.C1 * rate[0] + y[1] / p.R + (y[1] - p.U_b) / p.R + (1.0 - p.alpha) * first,
        p.C2 * rate[1] + y[2] / p.R - first,
        p.C3 * rate[2] + (y[3] - p.U_b) / p.R + p.alpha * first,
        -p.C3 * rate[2] + y[4] / p.R + (y[4] - p.U_b) / p.R + (1.0 - p.alpha) * second,
        p.C4 * rate[3] + y[5] / p.R - second,
        p.C5 * rate[4] + (y[6] - p.U_b) / p.R + p.alpha * second,
        -p.C5 * rate[4] + y[7] / p.R,
    ]


def _amplifier_residuals(t: Any, dy: Sequence[Any], y: Sequence[Any], p: Any) -> list[Any]:
    """As published: the node voltages are the unknowns."""
    return _amplifier_nodes(t, [dy[0] - dy[1], dy[2], dy[3] - dy[4], dy[5], dy[6] - dy[7]], y, p)


def _amplifier_capacitor_residuals(t: Any, dy: Sequence[Any], y: Sequence[Any], p: Any) -> list[Any]:
    """With the voltages of the three capacitors between nodes as further unknowns, as components would state it."""
    nodes = _amplifier_nodes(t, [dy[8], dy[2], dy[9], dy[5], dy[10]], y, p)
    return [*nodes, y[8] - (y[0] - y[1]), y[9] - (y[3] - y[4]), y[10] - (y[6] - y[7])]


# The capacitors between nodes make the matrix of the derivatives singular (rank 5 of 8), so the start derivatives do not
# follow from the residuals alone: those of y1, y2, y4, y5, y7 and y8 also obey the differentiated sums of rows 1 + 2,
# 4 + 5 and 7 + 8.
transistor_amplifier = Problem(
    name="Transistor amplifier",
    residuals=_amplifier_residuals,
    parameters={"U_b": 6.0, "U_F": 0.026, "alpha": 0.99, "beta": 1e-6, "R0": 1000.0, "R": 9000.0}
    | {f"C{k}": k * 1e-6 for k in range(1, 6)},
    start=(0.0, 3.0, 3.0, 6.0, 3.0, 3.0, 6.0, 0.0),
    start_derivative=(
        51.3392765172,
        51.3392765172,
        -166.666666667,
        -24.9703285154,
        -24.9703285154,
        -83.3333333333,
        -10.0002764025,
        -10.0002764025,
    ),
    differential=(True,) * 8,
    nominal=(1.0,) * 8,
    end=0.2,
    reference=(
        -0.5562145012262709e-2,
        0.3006522471903042e1,
        0.2849958788608128e1,
        0.2926422536206241e1,
        0.2704617865010554e1,
        0.2761837778393145e1,
        0.4770927631616772e1,
        0.1236995868091548e1,
    ),
)

# The same circuit in semi-explicit form: which unknowns are states can be seen from the equations.
transistor_amplifier_capacitors = replace(
    transistor_amplifier,
    name="Transistor amplifier, capacitor voltages",
    residuals=_amplifier_capacitor_residuals,
    start=(*transistor_amplifier.start, -3.0, 3.0, 6.0),
    start_derivative=(*transistor_amplifier.start_derivative, 0.0, 0.0, 0.0),
    differential=(False, False, True, False, False, True, False, False, True, True, True),
    nominal=(1.0,) * 11,
)

PROBLEMS = (robertson, chemical_akzo, transistor_amplifier, transistor_amplifier_capacitors)
