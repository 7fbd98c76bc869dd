"""Correlations of heat transfer and friction, each with its source and its range; functions of numbers and of expressions.

A component that uses one states its range with `within`: outside of it for a while, or all along, a run warns once, with the range,
and goes on.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import acausal as ac
from acausal.errors import UsageError
from acausal.language.functions import is_symbolic

LASTING = 10.0  # s, outside of a range before it is told: a start from rest passes through what is too small
LAMINAR, TURBULENT = 2300.0, 4000.0  # Reynolds numbers between which flow changes


def quiet(value: Any) -> Any:
    """Without an event, where it is an expression."""
    return ac.no_event(value) if is_symbolic(value) else value


def within(value: Any, low: float, high: float, what: str, source: str) -> Any:
    """A warning, given once, when a correlation is used outside of its range for `LASTING`, in all of a run or at rest; to be
    yielded by `events`."""
    text = (
        f"{what} is outside the range of {source}, {low:g} … {high:g}: heat transfer or friction is extrapolated. Choose sizes and "
        "flows with which it is inside, or another law."
    )
    return ac.assert_((value >= low) & (value <= high), text, level="warning", lasting=LASTING)


def nusselt(reynolds: Any, prandtl: Any) -> Any:
    """Nusselt number in a pipe: 3.66 where flow is laminar, Gnielinski's where it is turbulent, changing smoothly between Re of
    2 300 and 4 000.

    ``(f/8)·(Re - 1000)·Pr/(1 + 12.7·sqrt(f/8)·(Pr^(2/3) - 1))``, ``f = (0.79·ln Re - 1.64)^-2`` (Gnielinski 1976; 3 000 < Re < 5e6,
    0.5 < Pr < 2 000; Incropera 8.62).

    >>> round(float(nusselt(1000.0, 5.0)), 2), round(float(nusselt(1e5, 5.0)))
    (3.66, 516)
    """
    fast = quiet(ac.max(reynolds, LAMINAR))
    f = (0.79 * ac.log(fast) - 1.64) ** -2 / 8
    turbulent = f * (fast - 1000) * prandtl / (1 + 12.7 * f**0.5 * (prandtl ** (2 / 3) - 1))
    share = ac.smooth_step(reynolds, (LAMINAR + TURBULENT) / 2, TURBULENT - LAMINAR)
    return 3.66 + share * (turbulent - 3.66)


THONON = {15.0: (0.1, 0.687), 30.0: (0.2267, 0.631), 45.0: (0.2998, 0.645), 60.0: (0.2946, 0.7)}  # angle: factor, exponent of Re


def plate_nusselt(reynolds: Any, prandtl: Any, angle: float = 60.0) -> Any:
    """Nusselt number between chevron plates: ``c·Re^m·Pr^(1/3)``, with ``c, m`` of 0.1, 0.687 where the corrugations stand 15° off
    the direction of flow, 0.2267, 0.631 at 30°, 0.2998, 0.645 at 45° and 0.2946, 0.7 at 60° (Thonon 1995, as Ayub 2003 gives it in
    his survey, Heat Transfer Engineering 24(5); 50 < Re < 15 000). Between these angles ``ln Nu`` is a straight line.

    >>> [round(float(plate_nusselt(1000.0, 5.0, angle))) for angle in (15, 30, 45, 60)]
    [20, 30, 44, 63]
    """
    angles = list(THONON)
    try:
        known = angles[0] <= angle <= angles[-1]
    except TypeError:  # no number
        known = False
    if not known:
        raise UsageError(
            f"Chevron plates were measured with corrugations of {angles[0]:g}° to {angles[-1]:g}° to the flow, not {angle!r}."
        )
    factor = float(np.exp(np.interp(angle, angles, [np.log(c) for c, _ in THONON.values()])))
    exponent = float(np.interp(angle, angles, [m for _, m in THONON.values()]))
    return factor * reynolds**exponent * prandtl ** (1 / 3)


def plain_fin_colburn(reynolds: Any, rows: Any, diameter: Any, across: Any, along: Any, gap: Any) -> Any:
    """Colburn's j of air through plain fins on staggered tubes: ``0.14·Re^-0.328·(across/along)^-0.502·(gap/diameter)^0.0312`` for
    four rows and more, times ``0.991·(2.24·Re^-0.092·(rows/4)^-0.031)^(0.607·(4 - rows))`` for fewer (Gray and Webb 1986; Re of the
    tubes' diameter and the largest velocity, 500 < Re < 24 700). Heat transfer is ``j·G·cp·Pr^(-2/3)``.

    >>> round(float(plain_fin_colburn(2000.0, 4, 0.0127, 0.0318, 0.0275, 4e-3)), 5)
    0.01038
    """
    four = 0.14 * reynolds**-0.328 * (across / along) ** -0.502 * (gap / diameter) ** 0.0312
    missing = quiet(ac.max(4 - rows, 0))
    share = 0.991 * (2.24 * reynolds**-0.092 * (rows / 4) ** -0.031) ** (0.607 * missing)
    return four * quiet(ac.where(missing > 0, share, 1.0))


def fin_efficiency(alpha: Any, conductivity: Any, thickness: Any, diameter: Any, across: Any, along: Any) -> Any:
    """Efficiency of plain fins on staggered tubes as of round ones of equal effect: ``tanh(m·r·phi)/(m·r·phi)``, ``m =
    sqrt(2·alpha/(conductivity·thickness))``, ``phi = (R/r - 1)·(1 + 0.35·ln(R/r))``, ``R/r = 1.27·(M/r)·sqrt(L/M - 0.3)``, r the
    radius of the tubes, M and L half the distances of a tube to its neighbours, L the larger (Schmidt 1949).

    >>> round(float(fin_efficiency(60.0, 220.0, 0.15e-3, 0.0127, 0.0318, 0.0275)), 3)
    0.812
    """
    r = diameter / 2
    one, other = across / 2, 0.5 * ac.sqrt((across / 2) ** 2 + along**2)
    small, large = quiet(ac.min(one, other)), quiet(ac.max(one, other))
    ratio = 1.27 * small / r * ac.sqrt(large / small - 0.3)
    x = r * (ratio - 1) * (1 + 0.35 * ac.log(ratio)) * ac.sqrt(2 * alpha / (conductivity * thickness))
    return ac.tanh(x) / x


def shah_condensation(alpha_liquid: Any, x: Any, p_reduced: Any) -> Any:
    """Heat transfer of condensation in pipes over that of all of it flowing as liquid: ``(1 - x)^0.8 + 3.8·x^0.76·(1 - x)^0.04/
    p_r^0.38`` (Shah 1979; 0.002 < p_r < 0.44).

    >>> round(float(shah_condensation(1000.0, 0.5, 0.2)))
    4598
    """
    q = quiet(ac.min(ac.max(x, 1e-6), 1 - 1e-6))
    return alpha_liquid * ((1 - q) ** 0.8 + 3.8 * q**0.76 * (1 - q) ** 0.04 / p_reduced**0.38)


def gungor_winterton(alpha_liquid: Any, x: Any, boiling: Any, density_ratio: Any) -> Any:
    """Heat transfer of boiling in pipes over that of its liquid part alone: ``1 + 3000·Bo^0.86 + 1.12·(x/(1 - x))^0.75·(rho_l/
    rho_v)^0.41`` (Gungor and Winterton 1987); Bo is the heat flux over mass flux and heat of evaporation; up to dry-out, x = 0.9.

    >>> round(float(gungor_winterton(1000.0, 0.5, 1e-4, 100.0)))
    9489
    """
    q = quiet(ac.min(ac.max(x, 1e-9), 0.95))  # at none its slope would be infinite
    return alpha_liquid * (1 + 3000 * boiling**0.86 + 1.12 * (q / (1 - q)) ** 0.75 * density_ratio**0.41)


# Of quality: so near to vapour the last liquid, with laws of infinite slope, counts in proportion. Else more flow, which comes at a
# lower pressure and so a little drier, would lose less than less flow, and two flows would fit one difference of pressures.
X_LAST = 0.02


def mueller_steinhagen_heck(all_liquid: Any, all_vapour: Any, x: Any) -> Any:
    """Pressure lost by a two-phase flow, between what it would lose as liquid, A, and as vapour, B: ``(A + 2·(B - A)·x)·(1 - x)^
    (1/3) + B·x³`` (Müller-Steinhagen and Heck 1986, for all pipes and qualities). Within `X_LAST` of vapour the root is linear.

    >>> [round(float(mueller_steinhagen_heck(1.0, 20.0, x)), 2) for x in (0.0, 0.5, 1.0)]
    [1.0, 18.37, 20.0]
    """
    wet = quiet(ac.max(1 - x, 0.0))
    root = wet / (wet**4 + X_LAST**4) ** (1 / 6)
    return (all_liquid + 2 * (all_vapour - all_liquid) * x) * root + all_vapour * x**3


def lockhart_martinelli(x: Any, density_ratio: Any, viscosity_ratio: Any, C: float = 20.0) -> Any:
    """What multiplies the loss of the liquid part alone: ``1 + C/X + 1/X²`` with ``X = ((1 - x)/x)^0.9·(rho_v/rho_l)^0.5·(mu_l/
    mu_v)^0.1`` (Lockhart and Martinelli 1949, Chisholm 1967; C = 20 where both are turbulent). Ratios are vapour to liquid of
    density and liquid to vapour of viscosity.

    >>> round(float(lockhart_martinelli(0.1, 0.01, 10.0)), 1)
    24.2
    """
    q = quiet(ac.min(ac.max(x, 1e-6), 1 - 1e-6))
    X = ((1 - q) / q) ** 0.9 * density_ratio**0.5 * viscosity_ratio**0.1
    return 1 + C / X + 1 / X**2


def log_mean(one: Any, other: Any) -> Any:
    """The logarithmic mean of two temperature differences, within 0.1 % up to ratios of ten and without a hole at one: ``((a^n +
    b^n)/2)^(1/n)``, n = 0.3275 (Chen 1987). Where the two differ in sign nothing passes: it is zero.

    >>> round(float(log_mean(10.0, 10.0)), 3), round(float(log_mean(20.0, 5.0)), 2)
    (10.0, 10.81)
    """
    n = 0.3275
    a, b = (quiet(ac.max(d, 1e-9)) for d in (one, other))
    apart = quiet(ac.max(-one * other, 0.0))
    mean = ((a**n + b**n) / 2) ** (1 / n)
    return quiet(ac.where(apart > 0, 0.0, mean))
