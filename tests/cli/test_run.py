"""`acausal run`."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import acausal as ac
from acausal.cli.exits import Exit

from .conftest import Call

T_END = (200 * 294.15 + 50 * 273.15) / 250  # the room at rest


def exact(t: np.ndarray, rest: float = T_END, first: float = 283.15, rate: float = 250 / 1e5) -> np.ndarray:
    return rest + (first - rest) * np.exp(-rate * t)


def test_a_summary_says_what_was_done(call: Call) -> None:
    answer = call("run", "room.py", "--until", "2h")
    assert answer.code == Exit.FINE
    assert answer.err == ""
    first, *rest = answer.out.splitlines()
    assert first == "✓ Room  0 … 7200 s, 501 points"
    labels = [line.split()[0] for line in rest if line]
    assert labels == ["outcome", "steps", "evaluations", "failures", "translation", "simulation", "variable", "T"]
    assert "T" in rest[-1] and "283.15" in rest[-1] and "289.95" in rest[-1] and rest[-1].endswith("K")


def test_plain_text_when_piped(call: Call) -> None:
    out = call("run", "room.py", "--until", "2h").out
    assert "\x1b" not in out
    assert all(line == line.rstrip() for line in out.splitlines())


def test_json_holds_numbers_that_are_right(call: Call) -> None:
    told = call(
        "run", "room.py", "--until", "1000", "--set", "T_set=21 degC", "--plot", "T,Q", "--plot-file", "p.svg", "--json"
    ).json
    assert (told["ok"], told["outcome"], told["points"], told["plotted"]) == (True, "FINISHED", 501, ["p.svg"])
    assert told["variables"]["T"]["end"] == pytest.approx(exact(np.array(1000.0)), abs=1e-3)
    assert told["variables"]["Q"]["end"] == pytest.approx(200 * (294.15 - exact(np.array(1000.0))), abs=0.2)
    assert told["statistics"]["steps"] > 10


def test_parameters_inputs_and_start(call: Call) -> None:
    arguments = ("--until", "1e5", "--set", "G=100", "--input", "T_out=-10 degC", "--json")
    told = call("run", "room.py", *arguments).json
    assert told["variables"]["T"]["end"] == pytest.approx((200 * 294.15 + 100 * 263.15) / 300, abs=1e-3)


def test_an_input_from_a_column_of_a_file(call: Call) -> None:
    Path("weather.csv").write_text("time,wind,T\n0,3,263.15\n1e6,4,263.15\n")
    told = call("run", "room.py", "--until", "1e5", "--input", "T_out=weather.csv:T", "--json").json
    assert told["variables"]["T"]["end"] == pytest.approx((200 * 294.15 + 50 * 263.15) / 250, abs=1e-3)


def test_arguments_of_the_class(call: Call) -> None:
    told = call("run", "parts.py:Row(n=4)", "--until", "1", "--json").json
    assert list(told["variables"]) == ["mass[0].T", "mass[1].T", "mass[2].T", "mass[3].T"]


def test_the_state_of_rest_alone(call: Call) -> None:
    answer = call("run", "room.py", "--steady", "--json")
    assert answer.json["variables"]["T"]["end"] == pytest.approx(T_END)
    assert answer.json["points"] == 1


def test_starting_at_rest(call: Call) -> None:
    told = call("run", "room.py", "--until", "100", "--steady", "--json").json
    assert told["variables"]["T"]["low"] == pytest.approx(T_END) == told["variables"]["T"]["high"]


@pytest.mark.parametrize("ending", ["csv", "mat", "h5", "parquet", "acausal"])
def test_results_are_written(call: Call, ending: str) -> None:
    answer = call("run", "room.py", "--until", "100", "--points", "5", "-o", f"out.{ending}")
    assert answer.code == Exit.FINE
    assert f"written  out.{ending}" in answer.out
    assert Path(f"out.{ending}").stat().st_size > 100


def test_a_written_table_is_right(call: Call) -> None:
    call("run", "room.py", "--until", "1000", "--points", "11", "-o", "out.csv", "--rtol", "1e-8")
    with open("out.csv") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    times = np.array([float(row["time"]) for row in rows])
    assert times == pytest.approx(np.linspace(0, 1000, 11))
    column = next(name for name in rows[0] if name.split(" ")[0] == "T")
    assert np.array([float(row[column]) for row in rows]) == pytest.approx(exact(times), abs=1e-5)


def test_only_what_is_stored_is_written_and_what_is_plotted_is_stored_too(call: Call) -> None:
    answer = call(
        "run", "parts.py:Row(n=3)", "-u", "10", "--store", "mass[0].T", "-p", "mass[2].T", "-o", "o.acausal", "--plot-file", "p.png"
    )
    assert answer.code == Exit.FINE
    assert set(ac.load("o.acausal").names()) - {"time"} == {"mass[0].T", "mass[2].T"}


def test_several_pictures(call: Call) -> None:
    answer = call("run", "room.py", "--until", "100", "--plot", "T,T_out", "--plot", "Q", "--plot-file", "p.png")
    assert "plotted  p-1.png" in answer.out and "plotted  p-2.png" in answer.out
    assert Path("p-1.png").is_file() and Path("p-2.png").is_file()


def test_without_a_screen_a_picture_gets_the_models_name(call: Call) -> None:
    assert "plotted  Room.png" in call("run", "room.py", "--until", "100", "--plot", "T").out


def test_quiet(call: Call) -> None:
    answer = call("run", "room.py", "--until", "100", "--quiet")
    assert (answer.code, answer.out, answer.err) == (0, "", "")


# ---------------------------------------------------------------- runs that stop


def test_a_run_that_stops_midway_is_reported_and_kept(call: Call) -> None:
    """x' = x², x(0) = 1 is infinite at t = 1."""
    answer = call("run", "two.py:Explosion", "--until", "2", "-o", "out.acausal", "--plot", "x")
    assert answer.code == Exit.STOPPED
    assert "Time no longer moves" in answer.out
    assert "These unknowns limited the step" in answer.told
    saved = ac.load("out.acausal")
    assert 0.9 < saved.time[-1] < 1.0
    calm = saved.time < 0.9
    assert saved["x"][calm] == pytest.approx(1 / (1 - saved.time[calm]), rel=1e-3)
    assert Path("Explosion.png").is_file()


def test_a_run_that_stops_says_so_even_when_quiet(call: Call) -> None:
    answer = call("run", "two.py:Explosion", "--until", "2", "--quiet")
    assert answer.code == Exit.STOPPED
    assert answer.out == ""
    assert "Time no longer moves" in answer.told


def test_a_run_that_stops_in_json(call: Call) -> None:
    answer = call("run", "two.py:Explosion", "--until", "2", "--json")
    assert answer.code == Exit.STOPPED
    assert (answer.json["ok"], answer.json["outcome"]) == (False, "STEP_TOO_SMALL")
    assert answer.json["diagnostics"]


def test_a_full_disk_loses_nothing(call: Call) -> None:
    Path("full.csv").symlink_to("/dev/full")
    answer = call("run", "room.py", "--until", "100", "-o", "full.csv")
    assert answer.code == Exit.NOT_WRITTEN
    assert "the disk is full" in answer.told
    kept = answer.told.split("kept in `")[1].split("`")[0]
    assert ac.load(kept)["T"][0] == 283.15


# ---------------------------------------------------------------- command lines that cannot be


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "How long shall the run be?"),
        (("--until", "-5"), "A simulation runs forward"),
        (("--until", "5", "--start", "6"), "must be later than"),
        (("--until", "soon"), "is not a time"),
        (("--until", "5", "--points", "1"), "at least 2"),
        (("--until", "5", "--rtol", "0"), "must be positive"),
        (("--until", "5", "--set", "T_sett=3"), "Did you mean `T_set`"),
        (("--until", "5", "--set", "T=3"), "is not a parameter"),
        (("--until", "5", "--set", "C=-1"), "out of its range"),
        (("--until", "5", "--set", "C=3 K"), "cannot be converted"),
        (("--until", "5", "--set", "C=3 K"), "option --set C=3 K"),
        (("--until", "5", "--set", "C=many"), "many"),
        (("--until", "5", "--set", "C"), "lacks its name or its value"),
        (("--until", "5", "--input", "T_oot=3"), "Did you mean `T_out`"),
        (("--until", "5", "--input", "T_out=nothing.csv"), "nothing.csv"),
        (("--until", "5", "--input", "C=3"), "C is not an input"),
        (("--until", "5", "--input", "T_out=warm"), "neither a number nor a file"),
        (("--until", "5", "--plot", "TT"), "Did you mean `T`"),
        (("--until", "5", "--store", "TT"), "Did you mean `T`"),
        (("--until", "5", "--solver", "idaa"), "Did you mean `ida`"),
        (("--until", "5", "--option", "max_stepp=1"), "Did you mean `max_step`"),
        (("--until", "5", "--option", "max_order=9"), "must be an integer"),
        (("--until", "5", "-o", "out.cvs"), "Did you mean `.csv`"),
        (("--until", "5", "-o", "nowhere/out.csv"), "there is no folder `nowhere`"),
        (("--until", "5", "--plot", "T", "--plot-file", "p.doc"), "is no kind of picture"),
    ],
)
def test_wrong_options(call: Call, arguments: tuple[str, ...], said: str) -> None:
    answer = call("run", "room.py", *arguments)
    assert answer.code == Exit.USAGE
    assert said in answer.told
    assert answer.out == ""


def test_errors_in_json(call: Call) -> None:
    answer = call("run", "room.py", "--until", "5", "--set", "T_sett=3", "--json")
    assert answer.code == Exit.USAGE
    assert answer.json["ok"] is False
    assert "T_sett" in answer.json["errors"][0]["what"]


def test_a_model_without_a_start_is_the_models_fault(call: Call) -> None:
    Path("nowhere.py").write_text(
        "import acausal as ac\n\nclass Nowhere(ac.Component):\n    x = ac.Variable(start=1.0)\n\n"
        "    def equations(self):\n        yield self.x**2 == -1.0\n"
    )
    answer = call("run", "nowhere.py", "--until", "1")
    assert answer.code == Exit.MODEL
    assert "initial values could not be found" in answer.told
    assert "nowhere.py:7" in answer.told


def test_traceback_on_request(call: Call) -> None:
    Path("wrong.py").write_text("1 / 0\n")
    assert "Traceback" not in call("run", "wrong.py", "--until", "1").err
    assert "Traceback" in call("run", "wrong.py", "--until", "1", "--traceback").err


def test_json_of_an_interrupted_translation(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    from acausal.cli import common

    def interrupted(component: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(common, "compiled", interrupted)
    answer = call("run", "room.py", "--until", "1", "--json")
    assert answer.code == Exit.INTERRUPTED
    assert json.loads(answer.out)["errors"][0]["what"] == "Interrupted before anything was computed."


def test_a_fault_of_ours_is_called_one(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    from acausal.families import statistics

    monkeypatch.setattr(statistics, "block_form", None)
    answer = call("info", "room.py")
    assert answer.code == Exit.FAULT
    assert "This is a fault of the program, not of your model." in answer.told
