"""A plain model with events."""

from __future__ import annotations

from typing import Any

import pytest

import acausal as ac


def ball(dy: Any, y: Any, p: Any) -> Any:
    yield dy.h - y.v
    yield dy.v + p.g
    yield ac.when(y.h <= 0.0, ac.reinit(y.v, -0.8 * ac.pre(y.v)), ac.assign(p.bounces, ac.pre(p.bounces) + 1))
    yield ac.assert_(y.h < 100.0, "it left the earth")


def test_a_ball_without_a_component() -> None:
    model = ac.compile(ac.plain(ball, y={"h": 1.0, "v": 0.0}, p={"g": 9.81, "bounces": ac.Integer(0)}))
    result = model.simulate(1.2, rtol=1e-8)
    first = (2 / 9.81) ** 0.5
    assert [e.time for e in result.events] == pytest.approx([first, first * 2.6])
    assert result["bounces"][-1] == 2
