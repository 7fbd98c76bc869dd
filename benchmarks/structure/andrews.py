"""Andrews' squeezing mechanism, index 3: seven bodies in a plane, six loop constraints, one degree of freedom.

Statement: Test Set for IVP Solvers, problem "andrews" (Hairer and Wanner II, VII.7). Angles q, velocities v, accelerations w and
multipliers lam are unknowns as published: 27 of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import acausal as ac

from .raw import RawProblem

BODIES, LOOPS = range(1, 8), range(1, 7)

PARAMETERS = {
    "m1": 0.04325, "m2": 0.00365, "m3": 0.02373, "m4": 0.00706, "m5": 0.07050, "m6": 0.00706, "m7": 0.05498,
    "i1": 2.194e-6, "i2": 4.410e-7, "i3": 5.255e-6, "i4": 5.667e-7, "i5": 1.169e-5, "i6": 5.667e-7, "i7": 1.912e-5,
    "xa": -0.06934, "ya": -0.00227, "xb": -0.03635, "yb": 0.03273, "xc": 0.014, "yc": 0.072, "c0": 4530.0, "l0": 0.07785,
    "d": 0.028, "da": 0.0115, "e": 0.02, "ea": 0.01421, "rr": 0.007, "ra": 0.00092, "ss": 0.035, "sa": 0.01874, "sb": 0.01043,
    "sc": 0.018, "sd": 0.02, "ta": 0.02308, "tb": 0.00916, "u": 0.04, "ua": 0.01228, "ub": 0.00449, "zf": 0.02, "zt": 0.04,
    "fa": 0.01421, "mom": 0.033,
}  # fmt: skip


def residuals(dy: Any, y: Any, p: Any) -> Iterator[Any]:
    """Bodies 1 … 7 turn by beta, Theta, gamma, Phi, delta, Omega and epsilon."""
    for k in BODIES:
        yield dy[f"q{k}"] == y[f"v{k}"]
        yield dy[f"v{k}"] == y[f"w{k}"]
    mass, slopes = _masses(y, p), _constraint_slopes(y, p)
    for k, force in zip(BODIES, _forces(y, p), strict=True):
        inertia = ac.sum([mass[min(j, k), max(j, k)] * y[f"w{j}"] for j in BODIES if (min(j, k), max(j, k)) in mass])
        reaction = ac.sum([slopes[i, k] * y[f"lam{i}"] for i in LOOPS if (i, k) in slopes])
        yield inertia + reaction == force
    for constraint in _constraints(y, p):
        yield constraint == 0


def _masses(y: Any, p: Any) -> dict[tuple[int, int], Any]:
    """Upper half of the mass matrix."""
    cos2, sin4, sin6 = ac.cos(y.q2), ac.sin(y.q4), ac.sin(y.q6)
    ee, ff = p.e - p.ea, p.zf - p.fa
    return {
        (1, 1): p.m1 * p.ra**2 + p.m2 * (p.rr**2 - 2 * p.da * p.rr * cos2 + p.da**2) + p.i1 + p.i2,
        (1, 2): p.m2 * (p.da**2 - p.da * p.rr * cos2) + p.i2,
        (2, 2): p.m2 * p.da**2 + p.i2,
        (3, 3): p.m3 * (p.sa**2 + p.sb**2) + p.i3,
        (4, 4): p.m4 * ee**2 + p.i4,
        (4, 5): p.m4 * (ee**2 + p.zt * ee * sin4) + p.i4,
        (5, 5): p.m4 * (p.zt**2 + 2 * p.zt * ee * sin4 + ee**2) + p.m5 * (p.ta**2 + p.tb**2) + p.i4 + p.i5,
        (6, 6): p.m6 * ff**2 + p.i6,
        (6, 7): p.m6 * (ff**2 - p.u * ff * sin6) + p.i6,
        (7, 7): p.m6 * (ff**2 - 2 * p.u * ff * sin6 + p.u**2) + p.m7 * (p.ua**2 + p.ub**2) + p.i6 + p.i7,
    }


def _forces(y: Any, p: Any) -> list[Any]:
    """Motor torque, centrifugal terms, and the spring on body 3."""
    cos3, sin3 = ac.cos(y.q3), ac.sin(y.q3)
    x = p.sd * cos3 + p.sc * sin3 + p.xb - p.xc
    z = p.sd * sin3 - p.sc * cos3 + p.yb - p.yc
    length = ac.sqrt(x**2 + z**2)
    pull = -p.c0 * (length - p.l0) / length
    ee, ff = p.e - p.ea, p.zf - p.fa
    return [
        p.mom - p.m2 * p.da * p.rr * y.v2 * (y.v2 + 2 * y.v1) * ac.sin(y.q2),
        p.m2 * p.da * p.rr * y.v1**2 * ac.sin(y.q2),
        pull * x * (p.sc * cos3 - p.sd * sin3) + pull * z * (p.sd * cos3 + p.sc * sin3),
        p.m4 * p.zt * ee * y.v5**2 * ac.cos(y.q4),
        -p.m4 * p.zt * ee * y.v4 * (y.v4 + 2 * y.v5) * ac.cos(y.q4),
        -p.m6 * p.u * ff * y.v7**2 * ac.cos(y.q6),
        p.m6 * p.u * ff * y.v6 * (y.v6 + 2 * y.v7) * ac.cos(y.q6),
    ]


def _constraints(y: Any, p: Any) -> list[Any]:
    """Three closed loops, two coordinates each."""
    x = p.rr * ac.cos(y.q1) - p.d * ac.cos(y.q1 + y.q2)
    z = p.rr * ac.sin(y.q1) - p.d * ac.sin(y.q1 + y.q2)
    return [
        x - p.ss * ac.sin(y.q3) - p.xb,
        z + p.ss * ac.cos(y.q3) - p.yb,
        x - p.e * ac.sin(y.q4 + y.q5) - p.zt * ac.cos(y.q5) - p.xa,
        z + p.e * ac.cos(y.q4 + y.q5) - p.zt * ac.sin(y.q5) - p.ya,
        x - p.zf * ac.cos(y.q6 + y.q7) - p.u * ac.sin(y.q7) - p.xa,
        z - p.zf * ac.sin(y.q6 + y.q7) + p.u * ac.cos(y.q7) - p.ya,
    ]


def _constraint_slopes(y: Any, p: Any) -> dict[tuple[int, int], Any]:
    """d(constraint i)/d(angle k), which the multipliers act through."""
    x1 = -p.rr * ac.sin(y.q1) + p.d * ac.sin(y.q1 + y.q2)
    z1 = p.rr * ac.cos(y.q1) - p.d * ac.cos(y.q1 + y.q2)
    x2, z2 = p.d * ac.sin(y.q1 + y.q2), -p.d * ac.cos(y.q1 + y.q2)
    slopes = {(i, k): v for i in LOOPS for k, v in ((1, x1 if i % 2 else z1), (2, x2 if i % 2 else z2))}
    along4, across4 = -p.e * ac.cos(y.q4 + y.q5), -p.e * ac.sin(y.q4 + y.q5)
    along6, across6 = p.zf * ac.sin(y.q6 + y.q7), -p.zf * ac.cos(y.q6 + y.q7)
    return slopes | {
        (1, 3): -p.ss * ac.cos(y.q3),
        (2, 3): -p.ss * ac.sin(y.q3),
        (3, 4): along4,
        (3, 5): along4 + p.zt * ac.sin(y.q5),
        (4, 4): across4,
        (4, 5): across4 - p.zt * ac.cos(y.q5),
        (5, 6): along6,
        (5, 7): along6 - p.u * ac.cos(y.q7),
        (6, 6): across6,
        (6, 7): across6 - p.u * ac.sin(y.q7),
    }


def _numbered(name: str, values: list[float]) -> dict[str, float]:
    return {f"{name}{k}": value for k, value in enumerate(values, start=1)}


andrews = RawProblem(
    name="Andrews",
    residuals=residuals,
    index=3,
    degrees_of_freedom=2,
    states=_numbered(
        "q",
        [
            -0.0617138900142764496358948458001, 0.0, 0.455279819163070380255912382449, 0.222668390165885884674473185609,
            0.487364979543842550225598953530, -0.222668390165885884674473185609, 1.23054744454982119249735015568,
        ],
    )
    | _numbered("v", [0.0] * 7),
    others=_numbered("w", [14222.4439199541138705911625887, -10666.8329399655854029433719415, 0.0, 0.0, 0.0, 0.0, 0.0])
    | _numbered("lam", [98.5668703962410896057654982170, -6.12268834425566265503114393122, 0.0, 0.0, 0.0, 0.0]),
    parameters=PARAMETERS,
    end=0.03,
    reference=_numbered(
        "q",
        [
            0.1581077119629904e2, -0.1575637105984298e2, 0.4082224013073101e-1, -0.5347301163226948, 0.5244099658805304,
            0.5347301163226948, 0.1048080741042263e1,
        ],
    ),
)  # fmt: skip
