"""The heat chain in rumoca, a Modelica compiler with solvers of its own (BDF; states only, no choice of norm).

`Session.loads` is the translation; the first `simulate` of a model also prepares its machine code, which best-of-k leaves
out when there are repeats.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import rumoca

from benchmarks.peers import END, POINTS, answer, timed

MODEL = """
model Chain
  parameter Integer n = {n};
  Real T[n](each start = 290, each fixed = true);
  Real q[n + 1];
  Real T0;
  Real u;
equation
  T0 = 300 + 50*sin(0.1*time);
  q[1] = 10*(1 + 0.001*T0)*(T0 - T[1]);
  for i in 2:n loop
    q[i] = 10*(1 + 0.001*T[i - 1])*(T[i - 1] - T[i]);
  end for;
  u = T[n] - 290;
  q[n + 1] = 0.1*u*sqrt(1 + abs(u));
  for i in 1:n loop
    100*der(T[i]) = q[i] - q[i + 1];
  end for;
end Chain;
"""


def solve(n: int, repeats: int, tolerance: float) -> tuple[np.ndarray, dict[str, Any]]:
    begin = time.perf_counter()
    model = rumoca.Session().loads(MODEL.format(n=n), model="Chain")
    translation = time.perf_counter() - begin
    config = rumoca.SimConfig(solver="bdf", rtol=tolerance, atol=tolerance, dt=END / (len(POINTS) - 1))
    result, record = timed(lambda: model.simulate((0.0, END), config=config), repeats)
    temperatures = np.array([result[f"T[{i}]"] for i in range(1, n + 1)]).T
    return temperatures, record | {"translation_seconds": translation, "version": rumoca.version()}


if __name__ == "__main__":
    answer(solve)
