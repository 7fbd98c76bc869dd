"""Derivatives of models drawn at random: forward, backward and by central differences; through events, measured inputs, algebraic
loops and index reduction; of means and peaks; of states of rest, and of linear systems made of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.language.reductions import Reduction

NAMES = ["a", "b", "level", "gain"]
TIMES = np.array([0.0, 0.5, 0.8, 1.7, 2.5, 4.0])


class Drawn(ac.Component):
    """Some states in a ring, perhaps an algebraic loop, a switch with a gap, a kick, and a tied pair of states (index 2)."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.a, self.b, self.level, self.gain = (ac.Parameter(float(v)) for v in rng.uniform(0.5, 1.5, 4))
        self.n = int(rng.integers(2, 5))
        self.u = ac.Input(0.0)
        self.links = rng.normal(size=(self.n, self.n)) / self.n
        self.x = ac.Variable(shape=self.n, start=rng.uniform(-1.0, 1.0, self.n).tolist(), fixed=True)
        self.z, self.on = ac.Variable(start=0.1), ac.Boolean(start=False)
        self.q, self.r, self.f = ac.Variable(start=0.3, fixed=True), ac.Variable(), ac.Variable()
        self.loop, self.switch, self.kick, self.tied = (bool(v) for v in rng.integers(0, 2, 4))

    def equations(self) -> Any:
        yield self.z + (0.3 * self.z**3 if self.loop else 0.0) == self.x[0] + self.gain * self.u
        pushed = ac.where(self.on, self.b, 0.0) if self.switch else self.b * self.u
        for k in range(self.n):
            others = sum((float(self.links[k, j]) * ac.tanh(self.x[j]) for j in range(self.n)), start=0.0)
            yield ac.der(self.x[k]) == -self.a * self.x[k] + others + (pushed - 0.2 * self.z if k == 0 else 0.5 * self.z)
        yield ac.der(self.q) == self.f - self.a * self.q
        yield (self.gain * self.r if self.tied else self.r) == self.q + (0.5 * ac.sin(self.q) if self.tied else 0.0)
        yield (ac.der(self.r) == self.x[1] - self.b * self.r) if self.tied else (self.f == self.x[1] - 0.1 * self.r)

    def events(self) -> Any:
        yield ac.when(self.x[0] < 0.2 * self.level, ac.assign(self.on, True)).elsewhen(
            self.x[0] > 0.5 * self.level, ac.assign(self.on, False)
        )
        if self.kick:
            yield ac.when(ac.time > 1.3 * self.level, ac.reinit(self.x[1], self.x[1] + self.gain))


OUTPUTS = ["x[0]", "z", "r", ac.mean("z"), ac.integral("x[1]"), ac.max("x[1]")]


@pytest.mark.parametrize("seed", range(8))
def test_forward_backward_and_differences(seed: int) -> None:
    rng = np.random.default_rng(seed + 100)
    model = ac.compile(Drawn(seed))
    asked: dict[str, Any] = {"inputs": {"u": (TIMES, rng.normal(size=len(TIMES)))}, "points": 201}
    found = model.gradient(OUTPUTS, NAMES, until=4.0, rtol=1e-8, **asked)
    run = model.simulate(4.0, sensitivities=NAMES, rtol=1e-8, **asked)
    for k, path in enumerate(("x[0]", "z", "r")):
        np.testing.assert_allclose(found.data[k], run.sensitivities.of(path)[-1], rtol=1e-5, atol=1e-7)

    def values(**changes: float) -> np.ndarray:
        result = model.simulate(4.0, rtol=1e-10, set=changes, **{**asked, "points": 2001})
        return np.array([o.of(result) if isinstance(o, Reduction) else result[o][-1] for o in OUTPUTS])

    for k, name in enumerate(NAMES):
        h = 1e-4 * float(model.get(name))
        difference = (values(**{name: model.get(name) + h}) - values(**{name: model.get(name) - h})) / (2 * h)
        np.testing.assert_allclose(found.data[:, k], difference, rtol=1e-4, atol=3e-5)


@pytest.mark.parametrize("seed", range(8))
def test_states_of_rest_and_linear_systems(seed: int) -> None:
    """dx/du of a state of rest is the gain of its linearisation at zero frequency, and the difference of two states of rest."""
    model, at = ac.compile(Drawn(seed)), {"u": 0.7}
    rest = model.steady_state(inputs=at, sensitivities=["u", "a", "b"])
    linear = model.linearise(at=rest, inputs=["u"], outputs=["x[0]", "z", "r"])
    gain = np.real(np.asarray(linear.response(0.0)).reshape(-1))
    h = 1e-5
    high, low = (model.steady_state(inputs={"u": 0.7 + d}, start_from=rest) for d in (h, -h))
    more, less = (model.steady_state(inputs=at, set={"a": model.get("a") + d}, start_from=rest) for d in (h, -h))
    for k, path in enumerate(("x[0]", "z", "r")):
        assert rest.sensitivity(path, "u")[-1] == pytest.approx(gain[k], rel=1e-6, abs=1e-8)
        assert gain[k] == pytest.approx((high[path][-1] - low[path][-1]) / (2 * h), rel=1e-4, abs=1e-6)
        by_a = (more[path][-1] - less[path][-1]) / (2 * h)
        assert rest.sensitivity(path, "a")[-1] == pytest.approx(by_a, rel=1e-4, abs=1e-6)
