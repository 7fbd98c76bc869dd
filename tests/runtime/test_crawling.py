"""Runs that get nowhere end, and say why."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

import acausal as ac


class Afloat(ac.Component):
    """Capacitors and conductors between nodes, none to ground: the balances sum to nothing but rounding, the sources do not."""

    v = ac.Variable(shape=6, start=0.0)

    def equations(self) -> Any:
        capacitors = [(2, 5, 0.54), (5, 2, 0.52), (1, 3, 0.64), (1, 4, 0.74), (3, 0, 0.88), (2, 1, 0.9), (2, 5, 1.61)]
        conductors = [(0, 2, 1.49), (3, 4, 0.53), (1, 4, 1.71), (0, 1, 1.03), (5, 4, 1.83), (0, 1, 0.52)]
        sums: list[Any] = [i * ac.sin(2.0 * ac.time) for i in (-0.34, 0.65, 0.5, 0.46, -0.48, -0.78)]
        for edges, of in ((capacitors, ac.der), (conductors, lambda x: x)):
            for a, b, value in edges:
                through = value * (of(self.v[a]) - of(self.v[b]))
                sums[a], sums[b] = sums[a] + through, sums[b] - through
        for balance in sums:
            yield balance == 0.0


def test_equations_that_depend_on_each_other_but_for_rounding_end_a_run() -> None:
    try:
        result = ac.compile(Afloat()).simulate(until=2.0, rtol=1e-8, on_failure="keep")
    except ac.ModelError as error:
        assert "depend on each other" in str(error)
        return
    assert not result.outcome.ok and result.statistics["steps"] < 50_000
    assert "Equations depend on each other" in str(result.diagnostics[0])


SCRIPT = """
import math, acausal as ac
class Lag(ac.Component):
    u, x = ac.Input(0.0), ac.Variable(start=1.0, fixed=True)
    def equations(self):
        yield ac.der(self.x) == self.u - self.x
session = ac.compile(Lag()).start(inputs={"u": lambda t: math.sin(3 * t)})
session.advance(1.0)
def now():
    return session["x"]
print(now())
"""


@pytest.mark.slow
def test_a_session_that_lives_to_the_end_says_nothing() -> None:
    run = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert run.stderr == ""
