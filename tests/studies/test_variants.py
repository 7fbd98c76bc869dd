"""Structural parameters in studies, distributions that parameters declare, and studies as a method of the model."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import acausal as ac
from acausal.errors import ModelError, UsageError
from acausal.model import model as runtime_model
from acausal.studies.variants import arguments_of

from .plants import Decay


class Chain(ac.Component):
    """n equal stages in a row, the first fed with 1: a step answered with 1 - exp(-t) Σ t^k / k!."""

    k = ac.Parameter(1.0, unit="1/s", distribution=ac.uniform(0.5, 2.0))

    def __init__(self, n: int = 2):
        if n < 1:
            raise ValueError(f"a chain of {n} stages")
        self.n = n
        self.x = ac.Variable(shape=n, start=0.0, fixed=True)

    def equations(self):
        yield ac.der(self.x[0]) == self.k * (1.0 - self.x[0])
        for j in range(1, self.n):
            yield ac.der(self.x[j]) == self.k * (self.x[j - 1] - self.x[j])


def last_of(result):
    return result["x"][-1, -1]


def erlang(n, t):
    terms = np.cumprod(np.append(1.0, t / np.arange(1, n)))
    return 1 - np.exp(-t) * terms.sum()


def test_a_structural_argument_is_detected_and_compiled_once(monkeypatch):
    made = []
    plain = runtime_model.compile
    monkeypatch.setattr(runtime_model, "compile", lambda c: made.append(c.n) or plain(c))
    study = ac.study(Chain, ac.grid({"n": [1, 3.0], "k": [0.5, 1.0, 2.0]}), {"x": last_of}, until=2.0, rtol=1e-8)
    expected = [erlang(n, 2 * k) for n in (1, 3) for k in (0.5, 1.0, 2.0)]
    np.testing.assert_allclose(study["x"], expected, rtol=1e-6)
    assert made == [1, 3]
    assert study["n"].tolist() == [1, 1, 1, 3, 3, 3]
    assert study.unit("n") == ""
    assert study.result(5).outcome.ok


def test_a_structural_choice_that_cannot_be_is_a_failed_row():
    study = ac.study(Chain, {"n": [2, -1]}, {"x": last_of}, until=1.0)
    assert study.ok.tolist() == [True, False]
    assert "`Chain` cannot be made with n = -1: ValueError: a chain of -1 stages" in study.failed[0].message


def test_a_function_may_make_the_plant():
    def plant(stages):
        return Chain(stages, k=2.0)

    study = ac.study(plant, [{"stages": 1}], {"x": last_of}, until=1.0, rtol=1e-8)
    assert study["x"][0] == pytest.approx(1 - np.exp(-2.0), rel=1e-6)


def test_parameters_of_a_class_with_some_arguments_are_none_of_its_arguments():
    assert arguments_of(partial(Chain, 4)) == []  # given by place, `n` cannot be given once more
    assert arguments_of(partial(Chain, n=4)) == ["n"]


def test_a_study_is_a_method_of_the_model():
    study = ac.compile(Decay()).study({"k": [1.0, 2.0]}, "x", until=1.0, rtol=1e-8)
    np.testing.assert_allclose(study["x"], np.exp([-1.0, -2.0]), rtol=1e-6)


class Two(ac.Component):
    one = Chain(1)
    other = Chain(1, k=ac.modify(distribution=ac.normal("60 1/min", "3 1/min")))
    third = ac.Parameter(1.0)


def test_distributions_are_declared_on_parameters(tmp_path):
    model = ac.compile(Two())
    model.save(tmp_path / "two.acm")
    for each in (model, ac.load(tmp_path / "two.acm")):
        study = each.study(ac.draws(64, method="sobol", seed=3), "one.x[0]", until=1.0)
        assert study.changed == ["one.k", "other.k"]
        assert 0.5 <= study["one.k"].min() and study["one.k"].max() <= 2.0
        assert study["other.k"].mean() == pytest.approx(1.0, abs=0.01)
        assert study["other.k"].std() == pytest.approx(0.05, rel=0.1)
        assert study.ok.all()


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: ac.Parameter(1.0, distribution=3.0), "A distribution is made by `ac.uniform`"),
        (lambda: Chain(k=ac.modify(distribution=(1, 2))), "A distribution is made by `ac.uniform`"),
        (lambda: ac.compile(Decay()).study(ac.draws(10), "x", until=1.0), "declares a distribution, so there is nothing to draw"),
        (lambda: ac.draws(0), "a whole number of at least 1"),
        (lambda: ac.study(Chain(), [{}], "x", until=1.0), "compiled model, or of a class"),
        (lambda: ac.study(Chain, [{"m": 3}], "x", until=1.0), "`m`"),
        (lambda: ac.study(lambda n: n, [{"n": 3}], "x", until=1.0), "a component was expected"),
    ],
)
def test_bad_input(make, said):
    with pytest.raises((UsageError, ModelError), match=said):
        make()
