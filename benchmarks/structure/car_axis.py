"""Car axis, index 3: a chassis on two springs over a bumpy road, held by two distance constraints.

Statement: Test Set for IVP Solvers, problem "caraxis". Positions, velocities and multipliers are as published; the end values
are those of the shared references (21 digits).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import acausal as ac

from .raw import RawProblem


def residuals(t: Any, dy: Any, y: Any, p: Any) -> Iterator[Any]:
    yb = p.r * ac.sin(p.w * t)
    xb = ac.sqrt(p.L**2 - yb**2)
    mass = p.M * p.eps**2 / 2
    left = ac.sqrt(y.xl**2 + y.yl**2)
    right = ac.sqrt((y.xr - xb) ** 2 + (y.yr - yb) ** 2)
    for name in ("xl", "yl", "xr", "yr"):
        yield dy[name] == y[f"v_{name}"]
    yield mass * dy.v_xl == (p.L0 - left) * y.xl / left + y.lam1 * xb + 2 * y.lam2 * (y.xl - y.xr)
    yield mass * dy.v_yl == (p.L0 - left) * y.yl / left + y.lam1 * yb + 2 * y.lam2 * (y.yl - y.yr) - mass * p.g
    yield mass * dy.v_xr == (p.L0 - right) * (y.xr - xb) / right - 2 * y.lam2 * (y.xl - y.xr)
    yield mass * dy.v_yr == (p.L0 - right) * (y.yr - yb) / right - 2 * y.lam2 * (y.yl - y.yr) - mass * p.g
    yield xb * y.xl + yb * y.yl == 0
    yield (y.xl - y.xr) ** 2 + (y.yl - y.yr) ** 2 == p.L**2


car_axis = RawProblem(
    name="car axis",
    residuals=residuals,
    index=3,
    degrees_of_freedom=4,
    states={"xl": 0.0, "yl": 0.5, "xr": 1.0, "yr": 0.5, "v_xl": -0.5, "v_yl": 0.0, "v_xr": -0.5, "v_yr": 0.0},
    others={"lam1": 0.0, "lam2": 0.0},
    parameters={"eps": 1e-2, "M": 10.0, "L": 1.0, "L0": 0.5, "r": 0.1, "w": 10.0, "g": 1.0},
    end=3.0,
    reference={
        "xl": 0.493455784275402809122e-1, "yl": 0.496989460230171153861, "xr": 0.104174252488542151681e1,
        "yr": 0.373911027265361256927, "v_xl": -0.770583684040972357970e-1, "v_yl": 0.744686658723778553466e-2,
        "v_xr": 0.175568157537232222276e-1, "v_yr": 0.770341043779251976443, "lam1": -0.473688659084893324729e-2,
        "lam2": -0.110468033125734368808e-2,
    },
)  # fmt: skip
