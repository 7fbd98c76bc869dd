"""The heat chain in CasADi: IDAS with exact sparse Jacobian, semi-explicit form.

Configured for speed: a sparse direct linear solver (`csparse`; the default `qr` and it differ little), algebraic variables
out of the error test as on our side, consistent start values given instead of computed, both expression types tried
(scalar graphs win for small n, matrix graphs for large) and the faster reported. Its norms are root-mean-square ones.
"""

from __future__ import annotations

import time
from importlib.metadata import version
from typing import Any

import casadi as ca
import numpy as np

from benchmarks.peers import END, INLET_FLOW, POINTS, START, answer, timed


def build(n: int, tolerance: float, symbol: Any) -> Any:
    T, q, t = symbol.sym("T", n), symbol.sym("q", n + 1), symbol.sym("t")
    hot = ca.vertcat(300 + 50 * ca.sin(0.1 * t), T[:-1])
    u = T[-1] - START
    laws = ca.vertcat(10 * (1 + 0.001 * hot) * (hot - T), 0.1 * u * ca.sqrt(1 + ca.fabs(u)))
    dae = {"x": T, "z": q, "t": t, "ode": (q[:-1] - q[1:]) / 100, "alg": q - laws}
    options: dict[str, Any] = {
        "reltol": tolerance,
        "abstol": tolerance,
        "suppress_algebraic": True,
        "calc_ic": False,
        "linear_solver": "csparse",
        "max_num_steps": 1_000_000,
    }
    return ca.integrator("chain", "idas", dae, 0.0, [*POINTS[:-1], END], options)


def measure(n: int, repeats: int, tolerance: float, symbol: Any) -> tuple[np.ndarray, dict[str, Any]]:
    begin = time.perf_counter()
    integrator = build(n, tolerance, symbol)
    translation = time.perf_counter() - begin
    flows = np.zeros(n + 1)
    flows[0] = INLET_FLOW
    temperatures, record = timed(lambda: np.array(integrator(x0=np.full(n, START), z0=flows)["xf"]).T, repeats)
    steps = integrator.stats()["nsteps"]
    return temperatures, record | {"translation_seconds": translation, "steps": steps, "expressions": symbol.__name__}


def solve(n: int, repeats: int, tolerance: float) -> tuple[np.ndarray, dict[str, Any]]:
    tried = [measure(n, repeats, tolerance, symbol) for symbol in (ca.SX, ca.MX)]
    temperatures, record = min(tried, key=lambda outcome: outcome[1]["seconds"])
    return temperatures, record | {"version": version("casadi")}


if __name__ == "__main__":
    answer(solve)
