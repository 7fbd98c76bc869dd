"""High orders are left where they are unstable: waves that hardly decay cost no steps in a plant that is nearly at rest."""

from __future__ import annotations

import numpy as np

import acausal as ac
from benchmarks.stepping.steam_pipe import SteamPipe


def test_waves_in_a_pipe_do_not_rule_its_steps() -> None:
    """The finer the pipe, the faster its waves; what happens at its inlet is the same. Without a limit: 3 to 8 times the steps."""
    runs = [
        ac.compile(SteamPipe(n), units=False).simulate(until=20.0, rtol=1e-8, points=21, initial="steady") for n in (40, 160, 320)
    ]
    assert all(r.outcome is ac.Outcome.FINISHED for r in runs)
    assert max(r.statistics.steps for r in runs) < 1200
    assert any(r.statistics.order_limits for r in runs)


def test_the_limit_loses_no_digits() -> None:
    model = ac.compile(SteamPipe(120), units=False)
    rough, fine = (model.simulate(until=20.0, rtol=rtol, points=21, initial="steady") for rtol in (1e-8, 1e-11))
    assert rough.statistics.order_limits
    for name in ("volume[40].p", "volume[40].h", "segment[40].m", "volume[40].Tw"):
        np.testing.assert_allclose(rough[name], fine[name], rtol=2e-7, err_msg=name)
    assert "the order was limited to 2" in " ".join(str(rough.diagnose()).split())


class Oscillator(ac.Component):
    """Undamped, and what the run is about: its own high order is stable and stays."""

    x, v = ac.Variable(start=1.0, fixed=True), ac.Variable(start=0.0, fixed=True)

    def equations(self):
        yield ac.der(self.x) == self.v
        yield ac.der(self.v) == -self.x


def test_an_oscillation_that_is_the_solution_keeps_its_order() -> None:
    result = ac.compile(Oscillator(), units=False).simulate(until=100.0, rtol=1e-8)
    assert result.statistics.order_limits == 0
    np.testing.assert_allclose(result["x"], np.cos(result.time), atol=2e-5)
