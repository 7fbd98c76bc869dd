from __future__ import annotations

import numpy as np
import pytest

from acausal.errors import UsageError
from acausal.results import bands
from acausal.results.store import load

from .switching import HIGH, LOW, OFF, house, switching

matplotlib = pytest.importorskip("matplotlib")

COOLING = "rooms[0].thermostat.cooling"


@pytest.fixture(scope="module")
def run():
    return house()


def fills(axes):
    """Colour → spans (from, to) of what is filled."""
    found = {}
    for collection in axes.collections:
        paths = collection.get_paths()
        spans = [(p.vertices[:, 0].min(), p.vertices[:, 0].max()) for p in paths if len(p.vertices) >= 4]
        if spans:
            found[matplotlib.colors.to_hex(collection.get_facecolor()[0]).upper()] = spans
    return found


def legend(figure):
    return {text.get_text() for one in figure.legends for text in one.get_texts()}


def test_a_strip_has_one_colour_for_each_state_at_the_times_of_its_intervals(run):
    figure = run.plot("rooms[0].T", states=COOLING, show=False)
    curves, strip = figure.axes
    colour = {"off": bands.QUIET, "low": bands.FILLS[0], "high": bands.FILLS[1]}
    expected = {}
    for one in run.states(COOLING):
        expected.setdefault(colour[one.state], []).append((one.start, one.end))
    assert fills(strip) == expected
    assert [label.get_text() for label in strip.get_yticklabels()] == [COOLING]
    assert legend(figure) == {"off", "low", "high"}
    assert fills(curves) == {c: spans for c, spans in expected.items() if c != bands.QUIET}  # bands; nothing where it is off
    assert strip.get_xlabel() == "Time (s)"


def test_several_strips_share_their_colours_and_shade_nothing(run):
    figure = run.plot("rooms[0].T", "rooms[0].thermostat.count", states=["rooms[?].thermostat.cooling", "*[1]*.alarm"], show=False)
    assert [label.get_text() for label in figure.axes[-1].get_yticklabels()] == [
        *(f"rooms[{k}].thermostat.cooling" for k in range(3)),
        "rooms[1].thermostat.alarm",
    ]
    assert legend(figure) == {"off", "low", "high", "False", "True"}
    assert not fills(figure.axes[0])


def test_very_many_changes_are_a_strip_only(run, tmp_path):
    changes = [(k / 10, COOLING, (LOW, HIGH, OFF)[k % 3]) for k in range(1, 501)]
    figure = switching(changes, run._system).plot("rooms[0].T", states=COOLING, events=True, file=tmp_path / "x.png")
    curves, strip = figure.axes
    assert sum(map(len, fills(strip).values())) == 501
    assert not fills(curves)
    segments = curves.collections[0].get_segments()
    assert len(segments) == 500 and max(segment[1, 1] for segment in segments) < 0.1  # short ones, below the curve


def test_events_of_the_run_are_marked(run):
    axes = run.plot("rooms[0].T", events=True, show=False).axes[0]
    assert [segment[0, 0] for segment in axes.collections[0].get_segments()] == run.event_times.tolist()
    assert not run.plot("rooms[0].T", events=False, show=False).axes[0].collections


def test_a_jump_is_a_vertical_line(run):
    line = run.plot("rooms[2].thermostat.setpoint", show=False).axes[0].get_lines()[0]
    (jump,) = np.flatnonzero(np.diff(line.get_ydata()))
    assert line.get_xdata()[jump] == line.get_xdata()[jump + 1] == 60.0


def test_states_and_booleans_are_steps_with_their_names(run):
    figure = run.plot(COOLING, "rooms[1].thermostat.alarm", show=False)
    states, alarm = figure.axes
    assert [label.get_text() for label in states.get_yticklabels()] == ["off", "low", "high"]
    assert [label.get_text() for label in alarm.get_yticklabels()] == ["False", "True"]
    assert (states.get_title(loc="right"), alarm.get_title(loc="right")) == (COOLING, "rooms[1].thermostat.alarm")
    line = states.get_lines()[0]
    assert line.get_drawstyle() == "steps-post"
    np.testing.assert_array_equal(line.get_ydata(), run[COOLING])
    low, high = states.get_ylim()
    assert low < 0 and high > 2


def test_integers_are_steps_over_whole_numbers(run):
    axes = run.plot("rooms[0].thermostat.count", show=False).axes[0]
    assert axes.get_lines()[0].get_drawstyle() == "steps-post"
    assert all(tick == round(tick) for tick in axes.get_yticks())


def test_an_array_of_states_is_a_map_of_them(run):
    figure = run.plot("rooms.thermostat.cooling", show=False)
    mesh = figure.axes[0].collections[0]
    np.testing.assert_array_equal(mesh.get_array(), run["rooms.thermostat.cooling"].T)
    assert legend(figure) == {"off", "low", "high"}
    colours = [matplotlib.colors.to_hex(mesh.cmap(mesh.norm(value))).upper() for value in (OFF, LOW, HIGH)]
    assert colours == [bands.QUIET, *bands.FILLS[:2]]


def test_a_map_of_very_many_rows_shows_as_many_as_can_be_seen():
    time = np.sort(np.concatenate([np.linspace(0.0, 1.0, 5000), [0.3] * 50]))
    shown, values = bands.for_map(time, np.stack([time, time >= 0.3], axis=1))
    assert len(shown) == bands.MAP_COLUMNS and (shown[0], shown[-1]) == (0.0, 1.0)
    np.testing.assert_allclose(values[:, 0], shown, atol=1 / 4000)
    np.testing.assert_array_equal(values[:, 1], values[:, 0] >= 0.3)
    assert bands.for_map(time[:100], time[:100])[0].tolist() == time[:100].tolist()  # few enough: as they are


def test_a_loaded_result_is_drawn_alike(run, tmp_path):
    run.save(tmp_path / "run.result")
    again = load(tmp_path / "run.result").plot("rooms[0].T", COOLING, states=COOLING, events=True, show=False)
    fresh = run.plot("rooms[0].T", COOLING, states=COOLING, events=True, show=False)
    assert [fills(axes) for axes in again.axes] == [fills(axes) for axes in fresh.axes]


def test_what_has_no_states_has_no_strip(run):
    with pytest.raises(UsageError, match="has no states"):
        run.plot("rooms[0].T", states="rooms[1].T", show=False)
    with pytest.raises(UsageError, match=r"Pick one of them"):
        run.plot("rooms[0].T", states="rooms.thermostat.cooling", show=False)


def test_every_state_has_a_colour_or_a_hatching_of_its_own():
    colours = bands.StateColours()
    names = ["off", *(f"s{k}" for k in range(25))]
    assert len({colours(name) for name in names}) == len(names)
    assert colours("s3") == colours("s3")
