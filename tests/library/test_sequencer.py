"""Stages one after the other, by states."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.errors import UsageError
from acausal.library import control


class Fan(ac.Component):
    run = ac.InputStates(on="all", off="any", default="off")
    y = ac.Variable()

    def equations(self) -> Any:
        yield self.y == ac.match(self.run, on=1.0, off=0.0)


class Rack(ac.Component):
    def __init__(self, direction: str = "up") -> None:
        self.sequencer = control.Sequencer(2, direction, band=2.0, delay=10.0)
        self.fan = ac.array(Fan, 2)

    def connections(self) -> Any:
        yield self.sequencer.stage1, self.fan[0].run
        yield self.sequencer.stage2, self.fan[1].run


@pytest.mark.parametrize(("direction", "sign"), [("up", 1.0), ("down", -1.0)])
def test_stages_come_and_go_one_by_one(direction: str, sign: float) -> None:
    measured = ([0.0, 30.0, 30.001, 60.0, 60.001, 100.0], sign * np.array([5.0, 5.0, 0.0, 0.0, -5.0, -5.0]))
    result = ac.compile(Rack(direction)).simulate(until=100.0, inputs={"sequencer.measured": measured}, points=101)
    stays = [(round(s.start), s.state) for s in result.states("sequencer.level")]
    assert stays == [(0, "level0"), (10, "level1"), (20, "level2"), (60, "level1"), (70, "level0")]
    on = np.asarray(result["fan.y"])
    at = {t: tuple(on[int(np.searchsorted(result.time, t + 0.5))]) for t in (5, 15, 25, 65, 80)}
    assert at == {5: (0, 0), 15: (1, 0), 25: (1, 1), 65: (1, 0), 80: (0, 0)}


def test_what_is_no_sequencer() -> None:
    with pytest.raises(UsageError, match="has one stage or more, not 0"):
        control.Sequencer(0)
    with pytest.raises(UsageError, match="has a direction 'up' or 'down', not 'left'"):
        control.Sequencer(3, "left")
