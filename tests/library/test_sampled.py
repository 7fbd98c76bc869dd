"""Blocks with a clock against difference equations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from acausal.library import sampled as sa
from acausal.library import signal as sg


def test_a_hold_has_the_value_of_the_last_tick(wired: Any, run: Any, agrees: Any) -> None:
    plant = wired(
        "sine.y hold.u delay.u",
        sine=sg.Sine(f=1.0),
        hold=sa.ZeroOrderHold(period=0.1),
        delay=sa.UnitDelay(period=0.1),
        run=sg.FirstOrder(),
    )
    result = run(plant, 1.05, at=np.arange(0.05, 1.05, 0.1))
    k = np.arange(0, 1.0, 0.1)
    picked = np.searchsorted(result.time, np.arange(0.05, 1.05, 0.1) - 1e-9)
    agrees(result["hold.y"][picked], np.sin(2 * np.pi * k))
    agrees(result["delay.y"][picked], np.append(0.0, np.sin(2 * np.pi * k[:-1])))
    assert result.events.times.tolist() == pytest.approx([*k[1:].tolist(), 1.0], rel=1e-15)


def test_a_clock_may_begin_later(wired: Any, run: Any) -> None:
    plant = wired(
        "one.y hold.u", one=sg.Constant(k=3.0), hold=sa.ZeroOrderHold(period=0.25, start_time=0.1, held=7.0), lag=sg.FirstOrder()
    )
    result = run(plant, 1.0)
    assert result.events.times[0] == 0.1
    assert result["hold.y"][0] == 7.0 and result["hold.y"][-1] == 3.0


def test_a_sampled_loop_follows_its_difference_equation(wired: Any, run: Any, agrees: Any) -> None:
    """The plant between two ticks is an exponential: y(k+1) = a·y(k) + (1 - a)·u(k), a = exp(-period/T)."""
    loop = wired(
        "wish.y error.u1", "plant.y error.u2", "error.y control.u", "control.y plant.u",
        wish=sg.Constant(), error=sg.Add(k2=-1.0), control=sa.DiscretePI(k=2.0, T=0.5, period=0.05), plant=sg.FirstOrder(T=0.5),
    )  # fmt: skip
    result = run(loop, 2.0)
    a, y, x, wanted = np.exp(-0.1), 0.0, 0.0, []
    for _ in range(40):
        x += 0.1 * (1 - y)
        u = 2.0 * (1 - y + x)
        y = a * y + (1 - a) * u
        wanted.append(y)
    ticks = result.events.times
    agrees(ticks, np.arange(1, 41) * 0.05, reached=1e-15)
    agrees(result["plant.y"][np.searchsorted(result.time, ticks)], np.array(wanted))
