"""Diagrams of thermodynamics: states stand where the fluid says, and what cannot be drawn is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.errors import UsageError
from acausal.library import fluid, refrigeration

R134A = ac.media.fluid("R134a")
CYCLE = ("compressor.a", "compressor.b", "cold.b")


class Line(ac.Component):
    """A compressor between two pressures, and an orifice between two others like them."""

    def __init__(self) -> None:
        self.low, self.high = fluid.PressureBoundary(p=2e5, h=4e5), fluid.PressureBoundary(p=8e5, h=4.5e5)
        self.liquid, self.wet = fluid.PressureBoundary(p=8e5, h=2.4e5), fluid.PressureBoundary(p=2e5, h=2.4e5)
        self.compressor, self.cold = refrigeration.Compressor(medium=R134A), fluid.Orifice(medium=R134A)

    def connections(self) -> Any:
        yield self.low.port, self.compressor.a
        yield self.compressor.b, self.high.port
        yield self.liquid.port, self.cold.a
        yield self.cold.b, self.wet.port


@pytest.fixture(scope="module")
def result() -> Any:
    return ac.compile(Line()).simulate(until=20.0)


def test_state_points_are_those_of_the_fluid(result: Any) -> None:
    points = ac.state_points(result, CYCLE, R134A)
    assert [point.name for point in points] == list(CYCLE)
    for point in points:
        state = R134A.state(p=point.p, h=point.h)
        assert (point.T, point.rho, point.s) == (state.T, state.rho, state.s)
    assert points[0].p == pytest.approx(2e5) and points[1].p == pytest.approx(8e5)
    text = str(points).splitlines()
    assert len(text) == 4 and "2.000" in text[1]
    assert list(points.to_pandas().index) == list(CYCLE)


@pytest.mark.parametrize("draw", [ac.ph_diagram, ac.ts_diagram])
def test_a_diagram_has_the_cycle_at_its_states(result: Any, draw: Any, tmp_path: Path) -> None:
    file = tmp_path / "diagram.png"
    figure = draw("R134a", result, CYCLE, at=[5.0, 20.0], file=file)
    assert file.stat().st_size > 20_000
    marks = [line for line in figure.axes[0].lines if line.get_marker() == "o"]
    points = ac.state_points(result, CYCLE, R134A, at=20.0)
    x = [p.h / 1e3 if draw is ac.ph_diagram else p.s / 1e3 for p in points]
    np.testing.assert_allclose(marks[-1].get_xdata(), x, rtol=1e-6)
    assert len(marks) == 2


def test_the_dome_is_saturation() -> None:
    dome = ac.ph_diagram("R134a").axes[0].lines[-1]
    h, p = dome.get_data()
    k = int(np.argmin(np.abs(np.asarray(p)[:400] - 8.0)))
    assert h[k] == pytest.approx(R134A.saturation(p=float(p[k]) * 1e5).liquid.h / 1e3, rel=1e-9)


def test_an_animation_is_written(result: Any, tmp_path: Path) -> None:
    file = ac.animate_cycle("R134a", result, CYCLE, tmp_path / "cycle.gif", frames=2)
    assert file.read_bytes()[:3] == b"GIF"


def test_a_film_needs_its_program(result: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from matplotlib.animation import writers

    monkeypatch.setattr(writers, "is_available", lambda name: False)
    with pytest.raises(UsageError, match="needs the program ffmpeg"):
        ac.animate_cycle("R134a", result, CYCLE, tmp_path / "cycle.mp4", frames=2)
    page = ac.animate_cycle("R134a", result, CYCLE, tmp_path / "cycle.html", frames=2).read_text(encoding="utf-8")
    assert page.count("data:image/png;base64") >= 2


def test_what_cannot_be_drawn_is_said(result: Any, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="from 0 to 20 s: there is nothing to draw at 30 s"):
        ac.ph_diagram("R134a", result, CYCLE, at=30.0)
    with pytest.raises(UsageError, match="No ports are given"):
        ac.ph_diagram("R134a", result)
    with pytest.raises(UsageError, match="no kind of animation"):
        ac.animate_cycle("R134a", result, CYCLE, tmp_path / "cycle.avi")
    with pytest.raises(UsageError, match="with liquid and vapour"):
        ac.ph_diagram(ac.media.ConstantMedium("oil", rho=850.0, cp=2000.0))
