"""Diagrams of thermodynamics: states stand where the fluid says, and what cannot be drawn is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.errors import UsageError
from acausal.library import fluid, refrigeration
from acausal.results import diagrams

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


@pytest.mark.parametrize("draw", [ac.ph_diagram, ac.ts_diagram])
def test_a_run_alone_says_its_fluid_and_its_parts(result: Any, draw: Any) -> None:
    (path,) = [line for line in draw(result).axes[0].lines if np.isnan(line.get_xdata()).any()]
    x = path.get_xdata().reshape(-1, diagrams.BETWEEN + 1)  # points and a gap for each part
    points = {p.name: p for p in ac.state_points(result)}
    assert {"compressor.a", "cold.b", "low.port"} <= points.keys()
    compressor = sorted(p.h / 1e3 if draw is ac.ph_diagram else p.s / 1e3 for p in (points["compressor.a"], points["compressor.b"]))
    assert any(sorted(row[[0, -2]]) == pytest.approx(compressor, rel=1e-9) for row in x)


def test_the_fluid_of_a_run_with_two_or_none_is_to_be_said() -> None:
    class Two(ac.Component):
        def __init__(self) -> None:
            self.cold, self.warm = Line(), fluid.PressureBoundary(p=2e5, T=300.0, medium="water")
            self.hole, self.end = fluid.Orifice(), fluid.PressureBoundary(p=1e5, T=290.0)

        def connections(self) -> Any:
            yield self.warm.port, self.hole.a
            yield self.hole.b, self.end.port

    class Still(ac.Component):
        x = ac.Variable(start=0.0)

        def equations(self) -> Any:
            yield ac.der(self.x) == 1.0

    run = ac.compile(Two()).simulate(until=1.0)
    with pytest.raises(UsageError, match=r'A diagram is of one fluid: in Two R134a and Water flow(.|\n)*"R134a", result'):
        ac.ph_diagram(run)
    assert [p.name for p in ac.state_points(run, medium="water")] == ["warm.port", "hole.a", "hole.b", "end.port"]
    with pytest.raises(UsageError, match="in Still no fluid with liquid and vapour flows"):
        ac.ph_diagram(ac.compile(Still()).simulate(until=1.0))


def test_ports_are_those_of_the_medium(result: Any, tmp_path: Path) -> None:
    """The cycle of another medium was drawn without a word: pressures and enthalpies, but on the wrong chart."""
    with pytest.raises(UsageError, match=r'At `compressor.a` flows R134a, not CarbonDioxide.\n.*Say medium="R134a"'):
        ac.ph_diagram("R744", result, CYCLE)
    for wrong in ("compressor.c", "compressor", "low.h", "nothing.a", 1):
        with pytest.raises(UsageError, match=rf"`{wrong}` is not one port(.|\n)*R134a passes .*compressor.a, compressor.b"):
            ac.state_points(result, [wrong])  # type: ignore[list-item]
    with pytest.raises(UsageError, match=r"`compressor\.c` is not one port"):
        ac.report(result, ["compressor.c"], file=tmp_path / "r.html")
    assert [p.name for p in ac.state_points(result, "compressor.b")] == ["compressor.b"]


def test_names_of_points_do_not_hide_each_other() -> None:
    """Side by side and a little apart; each has a side of its own."""
    from acausal.results import canvas

    axes = canvas.new_figure((6.0, 4.0), False).subplots()
    canvas.labels(axes, [("accumulator.b", 0.5, 0.5), ("compressor.a", 0.55, 0.5), ("valve.a", 0.52, 0.51)])
    boxes = [note.get_window_extent() for note in axes.texts]
    assert len(boxes) == 3
    assert not any(one.overlaps(other) for k, one in enumerate(boxes) for other in boxes[:k])


def test_the_dome_is_saturation() -> None:
    dome = ac.ph_diagram("R134a").axes[0].lines[-1]
    h, p = dome.get_data()
    k = int(np.argmin(np.abs(np.asarray(p)[:400] - 8.0)))
    assert h[k] == pytest.approx(R134A.saturation(p=float(p[k]) * 1e5).liquid.h / 1e3, rel=1e-9)


def test_an_animation_is_written(result: Any, tmp_path: Path) -> None:
    file = ac.animate_cycle("R134a", result, CYCLE, tmp_path / "cycle.gif", frames=2)
    assert file.read_bytes()[:3] == b"GIF"


@pytest.mark.parametrize("chart", ["ph", "Ts"])
def test_a_run_alone_is_animated_with_a_mark_at_each_state_only(
    result: Any, chart: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Marks along the whole line made it a band as wide as they are."""
    from matplotlib.animation import FuncAnimation

    seen: list[Any] = []

    def save(moving: FuncAnimation, file: str, **_: Any) -> None:
        Path(file).touch()
        seen.append(moving._func(1)[0].axes.lines)
        moving._draw_was_started = True  # it warns of one that nobody drew

    monkeypatch.setattr(FuncAnimation, "save", save)
    ac.animate_cycle(result, file=tmp_path / "cycle.gif", chart=chart, frames=2, until="20 s")
    marked, points = [line for line in seen[0] if line.get_marker() == "o"], ac.state_points(result, at=20.0)
    assert len(marked) == 1
    np.testing.assert_allclose(marked[0].get_xdata(), [(p.h if chart == "ph" else p.s) / 1e3 for p in points], rtol=1e-6)


@pytest.mark.parametrize("ending", ["gif", "html"])
@pytest.mark.parametrize("chart", ["ph", "Ts"])
def test_the_isolines_of_an_animation_are_drawn_as_often_for_many_pictures_as_for_one(
    result: Any, chart: str, ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are the same in every picture, and drawing them was nearly all that an animation cost."""
    from matplotlib.contour import ContourSet

    drawn: list[Any] = []
    draw = ContourSet.draw
    monkeypatch.setattr(ContourSet, "draw", lambda self, renderer: (drawn.append(self), draw(self, renderer))[1])
    counts = []
    for frames in (1, 6):
        drawn.clear()
        ac.animate_cycle(result, file=tmp_path / f"cycle.{ending}", chart=chart, frames=frames)
        counts.append(len(drawn))
    assert counts[0] == counts[1] == 2 * len(set(drawn))  # once for the layout, once for the picture


def test_all_pictures_of_an_animation_show_isolines_heading_and_their_own_states(result: Any, tmp_path: Path) -> None:
    from PIL import Image

    with Image.open(ac.animate_cycle("R134a", result, CYCLE, tmp_path / "cycle.gif", frames=3, until=1.0)) as film:
        pictures = []
        for number in range(film.n_frames):
            film.seek(number)
            pictures.append(np.asarray(film.convert("RGB")).astype(int))
    dark = [(p.sum(axis=2) < 200) for p in pictures]  # headings, axes, saturation
    blue = [(p[..., 2] - p[..., 0] > 60) for p in pictures]  # lines of equal temperature
    top = 24
    assert all(d[:top].sum() > 100 for d in dark), "a heading"
    assert not np.array_equal(dark[0][:top], dark[-1][:top]), "each its own"
    assert all(d[top:].sum() > 1000 and b.sum() > 1000 for d, b in zip(dark, blue, strict=True))
    orange = [(p[..., 0] - p[..., 2] > 100) & (p[..., 1] > 60) for p in pictures]
    still = ~(orange[0] | orange[-1])
    assert np.abs(pictures[0] - pictures[-1])[top:][still[top:]].mean() < 1.0, "the rest is one picture"


def test_a_film_needs_its_program(result: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from matplotlib.animation import writers

    monkeypatch.setattr(writers, "is_available", lambda name: False)
    with pytest.raises(UsageError, match="needs the program ffmpeg"):
        ac.animate_cycle("R134a", result, CYCLE, tmp_path / "cycle.mp4", frames=2)
    page = ac.animate_cycle("R134a", result, CYCLE, tmp_path / "cycle.html", frames=2).read_text(encoding="utf-8")
    assert page.count("data:image/png;base64") >= 2
    assert "://" not in page and "fa-" not in page and "▶" in page  # it needs nothing else


def test_what_cannot_be_drawn_is_said(result: Any, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="from 0 to 20 s: there is nothing to draw at 30 s"):
        ac.ph_diagram("R134a", result, CYCLE, at=30.0)
    with pytest.raises(UsageError, match="No Water flows in Line: there flow R134a"):
        ac.ph_diagram("water", result)
    with pytest.raises(UsageError, match="No Water flows in Line: there flow R134a"):
        ac.animate_cycle("water", result, (), tmp_path / "cycle.gif")
    with pytest.raises(UsageError, match="There is no chart 'pv'"):
        ac.animate_cycle(result, chart="pv", file=tmp_path / "cycle.gif")
    with pytest.raises(UsageError, match="one picture or more, not 0"):
        ac.animate_cycle(result, frames=0, file=tmp_path / "cycle.gif")
    with pytest.raises(UsageError, match="result"):
        ac.animate_cycle("R134a", file=tmp_path / "cycle.gif")
    with pytest.raises(UsageError, match="no kind of animation"):
        ac.animate_cycle("R134a", result, CYCLE, tmp_path / "cycle.avi")
    with pytest.raises(UsageError, match="from a time to a later one, not from 10 to 5 s"):
        ac.animate_cycle(result, start=10.0, until=5.0, file=tmp_path / "cycle.gif")
    for ending in ("gif", "html"):  # which ended in an error of Python's, after all pictures were drawn
        with pytest.raises(ac.AcausalError, match=r"cannot be written: its folder does not exist"):
            ac.animate_cycle(result, frames=1, file=tmp_path / "nowhere" / f"cycle.{ending}")
    with pytest.raises(UsageError, match="with liquid and vapour"):
        ac.ph_diagram(ac.media.ConstantMedium("oil", rho=850.0, cp=2000.0))


def test_values_alone_do_not_say_where_the_fluid_flows(result: Any, tmp_path: Path) -> None:
    result.save(tmp_path / "run.acr")
    loaded = ac.load(tmp_path / "run.acr")
    for ask in (
        lambda: ac.ph_diagram(loaded),
        lambda: ac.ph_diagram("R134a", loaded),
        lambda: ac.state_points(loaded, medium="R134a"),
        lambda: ac.ts_diagram(result[["cold.m_flow"]]),
    ):
        with pytest.raises(UsageError, match="not the parts that a fluid passes"):
            ask()
    assert len(ac.state_points(loaded, CYCLE, "R134a")) == len(CYCLE)
    with pytest.raises(UsageError, match="`cycle=…`"):
        ac.ph_diagram(result, list(CYCLE))


def test_a_temperature_entropy_diagram_ends_where_its_lowest_pressure_boils() -> None:
    """Below it all liquid lies on one line; half of the picture was empty."""
    chart = diagrams.TemperatureEntropy(R134A)
    lines = chart.isolines(np.array([2e5, 8e5]), np.array([2.4e5, 4.4e5]))
    _, _, bottom, top = lines.window
    boils = float(R134A.saturation(p=0.02 * R134A.p_critical).T) - 273.15
    assert boils - 0.05 * (top - boils) < bottom < boils


def test_a_line_through_saturation_has_its_corner_there() -> None:
    ends = R134A.saturation(p=8e5)
    s, T = diagrams.TemperatureEntropy(R134A).along(np.array([8e5, 8e5]), np.array([2.3e5, 4.6e5]), [(0, 1)])
    dew = float(ends.vapour.s) / 1e3
    k = int(np.nanargmin(np.abs(s - dew)))
    assert abs(s[k] - dew) < 2e-3 and abs(T[k] - (float(ends.T) - 273.15)) < 0.5
