from __future__ import annotations

import sys
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from acausal.container import FileError
from acausal.errors import NameNotFound, UsageError
from acausal.results.plot import plot, pretty_unit

matplotlib = pytest.importorskip("matplotlib")


def curves(axes):
    return {line.get_label(): line for line in axes.get_lines() if len(line.get_xdata())}


def test_one_panel_for_each_unit_with_the_values_asked_for(result):
    figure = plot(result, "pump.m_flow", "ambient.T", "sink.m_flow", "wall.T[1]", unit={"K": "degC"}, show=False)
    flows, temperatures = figure.axes
    assert list(curves(flows)) == ["pump.m_flow", "sink.m_flow"]
    np.testing.assert_array_equal(curves(flows)["sink.m_flow"].get_ydata(), result["sink.m_flow"])
    np.testing.assert_allclose(curves(temperatures)["wall.T[1]"].get_ydata(), result["wall.T[1]"] - 273.15, rtol=1e-13)
    assert flows.get_ylabel() == "Mass flow (kg/s)"
    assert temperatures.get_ylabel() == "Temperature (°C)"
    assert (flows.get_xlabel(), temperatures.get_xlabel()) == ("", "Time (s)")
    assert flows.get_title(loc="left") == result.title
    assert flows.get_shared_x_axes().joined(flows, temperatures)


TIME_AXES = [(5e-5, "µs", 1e-6), (0.02, "ms", 1e-3), (10, "s", 1), (3600, "min", 60), (86400, "h", 3600), (1e6, "d", 86400)]


@pytest.mark.parametrize(("until", "symbol", "scale"), TIME_AXES)
def test_the_time_axis_has_a_sensible_unit(result, until, symbol, scale):
    result.time = np.linspace(0.0, until, len(result.time))
    axes = plot(result, "C[0].v", show=False).axes[0]
    assert axes.get_xlabel() == f"Time ({symbol})"
    np.testing.assert_allclose(axes.get_lines()[0].get_xdata(), result.time / scale)
    assert axes.get_xlim() == pytest.approx((0.0, until / scale))


def test_one_unit_is_applied_where_it_can_be(result):
    figure = plot(result, "ambient.T", "R.R", unit="degC", show=False)
    assert [axes.get_ylabel() for axes in figure.axes] == ["Temperature (°C)", "Resistance (Ω)"]
    with pytest.raises(UsageError, match="None of the variables can be given in `bar`; their units are K, ohm"):
        plot(result, "ambient.T", "R.R", unit="bar", show=False)


def test_a_small_array_is_a_family_of_curves(result):
    axes = plot(result, "wall.T", show=False).axes[0]
    assert list(curves(axes)) == [f"wall.T[{i}]" for i in range(5)]
    brightness = [sum(matplotlib.colors.to_rgb(line.get_color())) for line in axes.get_lines()]
    assert brightness == sorted(brightness)


def test_elements_of_a_slice_have_their_own_names(result):
    assert list(curves(plot(result, "C[1:].v", show=False).axes[0])) == ["C[1].v", "C[2].v"]


def wide(result, count):
    original = type(result).__getitem__
    rows = np.sin(result.time[:, None] + np.arange(count))
    return type("Wide", (type(result),), {"__getitem__": lambda self, name: rows if name == "tube.T" else original(self, name)})()


def test_a_large_array_is_a_map(result):
    figure = plot(wide(result, 30), "tube.T", "pump.m_flow", show=False)
    mesh = figure.axes[0].collections[0]
    assert mesh.get_array().shape == (30, len(result.time))
    np.testing.assert_array_equal(mesh.get_array()[7], np.sin(result.time + 7))
    assert mesh.get_clim()[0] == -mesh.get_clim()[1]  # the values change sign: white is zero
    assert figure.axes[0].get_ylabel() == "tube.T, element"
    assert "Temperature (K)" in [axes.get_ylabel() for axes in figure.axes]


def test_lines_and_maps_on_request(result):
    lines = plot(wide(result, 30), "tube.T", kind="lines", show=False)
    assert len(lines.axes[0].get_lines()) == 30
    assert lines.axes[1].get_ylabel() == "tube.T, element"  # a colour bar, not thirty entries of a legend
    assert lines.axes[0].get_legend() is None
    assert plot(result, "grid.T", kind="map", show=False).axes[0].collections[0].get_array().shape == (6, len(result.time))
    with pytest.raises(UsageError, match="not 'pie'"):
        plot(result, "wall.T", kind="pie", show=False)


def test_equal_curves_both_show(result):
    first, second = plot(result, "pump.m_flow", "pump.inlet.m_flow", show=False).axes[0].get_lines()
    assert (first.is_dashed(), second.is_dashed()) == (False, True)


def test_a_constant_is_drawn_flat(result):
    axes = plot(result, "R.R", show=False).axes[0]
    assert axes.get_ylim() == pytest.approx((42.3, 51.7))


def test_many_curves_have_a_legend_of_bounded_length_outside(result):
    names = {f"x{i}": ("column", i % 15, 1) for i in range(60)}
    result._source = names
    legend = plot(result, "x*", show=False).axes[0].get_legend()
    texts = [text.get_text() for text in legend.get_texts()]
    assert len(texts) == 24
    assert texts[-1] == "… and 37 more"


def test_events_are_marked_in_every_panel(result):
    result.time = np.linspace(0.0, 7200.0, len(result.time))
    figure = plot(result, "pump.m_flow", "ambient.T", events=[600.0, 1200.0], show=False)
    for axes in figure.axes:
        assert [segment[0, 0] for segment in axes.collections[0].get_segments()] == [10.0, 20.0]


@pytest.mark.parametrize(("ending", "start"), [("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<?xml")])
def test_saved_by_its_ending(result, tmp_path, ending, start):
    figure = plot(result, "wall.T", file=tmp_path / f"x.{ending}")
    assert (tmp_path / f"x.{ending}").read_bytes().startswith(start)
    assert isinstance(figure, matplotlib.figure.Figure)
    if ending == "svg":
        texts = {element.text for element in ElementTree.parse(tmp_path / "x.svg").iter("{http://www.w3.org/2000/svg}text")}
        assert {"Temperature (K)", "Time (s)", "wall.T[3]"} <= texts


def test_what_cannot_be_drawn(result, tmp_path):
    with pytest.raises(UsageError, match="Nothing was named"):
        plot(result)
    with pytest.raises(NameNotFound):
        plot(result, "wall.U", show=False)
    with pytest.raises(UsageError, match=r"`\.txt` is no kind of picture"):
        plot(result, "wall.T", file=tmp_path / "x.txt")
    with pytest.raises(FileError, match="its folder does not exist"):
        plot(result, "wall.T", file=tmp_path / "none" / "x.png")
    result.time = result.time[:0]
    with pytest.raises(UsageError, match="no point of time"):
        plot(result, "wall.T", show=False)


def test_values_that_are_not_finite_and_a_single_point(result, tmp_path):
    result.data[3:7, 0] = np.nan
    result.data[9, 1] = np.inf
    plot(result, "wall.T", "wall.T[0]", kind="map", file=tmp_path / "x.png")
    result.time, result.data = result.time[:1], result.data[:1]
    plot(result, "wall.T", "pump.m_flow", file=tmp_path / "y.png")
    plot(result, "wall.T", kind="map", file=tmp_path / "z.png")


def test_settings_and_open_figures_are_left_alone(result, monkeypatch):
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    before = dict(matplotlib.rcParams)
    plot(result, "wall.T", show=False)
    assert dict(matplotlib.rcParams) == before
    pyplot = sys.modules.get("matplotlib.pyplot")
    assert pyplot is None or not pyplot.get_fignums()


def test_a_window_is_opened_only_on_request(result, monkeypatch):
    from acausal.results import plot as module

    shown = []
    monkeypatch.setattr(module, "_show", lambda: shown.append(True))
    matplotlib.use("agg")
    plot(result, "wall.T")
    assert not shown
    plot(result, "wall.T", show=True)
    assert shown == [True]
    sys.modules["matplotlib.pyplot"].close("all")


def test_without_matplotlib(result, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(UsageError, match=r"needs `matplotlib`(.|\n)*pip install matplotlib"):
        plot(result, "wall.T")


@pytest.mark.parametrize(
    ("unit", "expected"), [("degC", "°C"), ("kg/m**3", "kg/m³"), ("W/(m^2*K)", "W/(m²·K)"), ("s^-1", "s⁻¹"), ("1", ""), ("", "")]
)
def test_pretty_units(unit, expected):
    assert pretty_unit(unit) == expected


def test_a_notebook_shows_a_plot_as_a_picture(result):
    picture = result.plot("wall.T[0]")._repr_png_()
    assert picture.startswith(b"\x89PNG")


def test_every_option_is_in_the_signature():
    import inspect

    from acausal.results.result import Result

    found = set(inspect.signature(Result.plot).parameters)
    assert found >= {
        "unit",
        "window",
        "overlay",
        "x",
        "right",
        "panels",
        "log",
        "time_unit",
        "duty",
        "theme",
        "size",
        "kind",
        "states",
    }
    assert not any(p.kind is p.VAR_KEYWORD for p in inspect.signature(Result.plot).parameters.values())


def test_runs_over_one_another(result):
    other = type(result)(times=30)
    axes = plot(result, "C[0].v", overlay={"before": other}, show=False).axes[0]
    assert list(curves(axes)) == ["C[0].v · this run", "C[0].v · before"]
    first, second = axes.get_lines()
    assert first.get_color() == second.get_color() and first.get_linestyle() != second.get_linestyle()
    assert len(second.get_xdata()) == 30
    with pytest.raises(UsageError, match="`overlay` takes results"):
        plot(result, "C[0].v", overlay=[3], show=False)


def test_over_another_variable(result):
    axes = plot(result, "C[0].v", x="pump.m_flow", show=False).axes[0]
    np.testing.assert_array_equal(axes.get_lines()[0].get_xdata(), result["pump.m_flow"])
    assert axes.get_xlabel() == "Mass flow into the pump (kg/s)"
    with pytest.raises(UsageError, match=r"`x` is one variable, and `wall\.T` stands for 5"):
        plot(result, "C[0].v", x="wall.T", show=False)


def test_a_second_axis(result):
    left, right = plot(result, "ambient.T", "pump.m_flow", right="pump.m_flow", show=False).axes
    assert len(left.lines) == len(right.lines) == 1
    left, right = plot(result, "ambient.T", right="pump.m_flow", show=False).axes
    assert (left.get_ylabel(), right.get_ylabel()) == ("Temperature (K)", "Mass flow into the pump (kg/s)")
    assert [t.get_text() for t in left.get_legend().get_texts()] == ["ambient.T", "pump.m_flow"]
    assert left.get_lines()[0].get_color() != right.get_lines()[0].get_color()
    with pytest.raises(UsageError, match="must have one unit; they have K, ohm"):
        plot(result, "ambient.T", "R.R", right="pump.m_flow", show=False)


def test_panels_as_the_user_wants_them(result):
    figure = plot(result, panels=[["C[0].v", "C[1].v"], "C[2].v"], show=False)
    assert [list(curves(axes)) for axes in figure.axes] == [["C[0].v", "C[1].v"], ["C[2].v"]]
    with pytest.raises(UsageError, match="A panel has two axes"):
        plot(result, panels=[["ambient.T", "R.R", "C[0].v"]], show=False)


def test_logarithmic_axes_window_and_time_unit(result):
    axes = plot(result, "pump.m_flow", log="y", window=(2.0, 5.0), time_unit="min", show=False).axes[0]
    assert axes.get_yscale() == "log" and axes.get_xlabel() == "Time (min)"
    assert axes.get_xlim() == pytest.approx((2.0 / 60, 5.0 / 60))
    with pytest.raises(UsageError, match="`log` is"):
        plot(result, "pump.m_flow", log="z", show=False)


def test_dark_and_for_print(result):
    dark = plot(result, "C[0].v", theme="dark", show=False)
    assert sum(matplotlib.colors.to_rgb(dark.get_facecolor())) < 0.5
    assert plot(result, "C[0].v", size="column", show=False).get_size_inches()[0] == 3.5
    for wrong in ({"theme": "blue"}, {"size": "poster"}):
        with pytest.raises(UsageError, match="is "):
            plot(result, "C[0].v", show=False, **wrong)
    assert matplotlib.rcParams["axes.facecolor"] == "white"
