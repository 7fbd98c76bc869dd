"""Events in files: the log comes back without the model, and every format copes with two rows of one time."""

from __future__ import annotations

import csv
import json
import zipfile

import numpy as np
import pytest

import acausal as ac
from acausal.container import FileError
from acausal.results.mat import read_mat
from acausal.results.store import load

from .switching import house, switching


@pytest.fixture(scope="module")
def run():
    return house()


@pytest.fixture
def saved(run, tmp_path):
    run.save(tmp_path / "run.result")
    return tmp_path / "run.result"


def test_events_and_states_come_back(run, saved):
    again = ac.load(saved)
    assert list(again.events) == list(run.events)
    assert repr(again.events) == repr(run.events)
    np.testing.assert_array_equal(again.event_times, run.event_times)
    for path in run.names():
        np.testing.assert_array_equal(again[path], run[path], err_msg=path)
        assert again.meaning(path) == run.meaning(path)
    for path in ("rooms[0].thermostat.cooling", "rooms[1].thermostat.shown", "master.cooling", "rooms[0].warm"):
        assert again.states(path) == run.states(path)
        assert again.time_in(path) == run.time_in(path)
        assert again.state_at(path, 33.0) == run.state_at(path, 33.0)
    np.testing.assert_array_equal(again["rooms.thermostat.cooling"], run["rooms.thermostat.cooling"])


def test_saved_once_more_it_is_the_same(run, saved, tmp_path):
    load(saved).save(tmp_path / "second.result")
    again = load(tmp_path / "second.result")
    assert list(again.events) == list(run.events)
    assert again.states("rooms[0].thermostat.cooling") == run.states("rooms[0].thermostat.cooling")


def test_a_selection_keeps_the_events(run, tmp_path):
    run.save(tmp_path / "few.result", ["rooms[0].T", "rooms[1].thermostat.shown"])
    again = load(tmp_path / "few.result")
    assert again.names() == ["rooms[0].T", "rooms[1].thermostat.shown"]
    assert list(again.events) == list(run.events)
    assert [one.state for one in again.states("rooms[1].thermostat.shown")] == ["False", "True"]


def test_a_variable_equal_to_something_hidden_is_kept(run, tmp_path):
    """Its cell has no name, so no event tells of it, but its values are there."""
    plant = run._system.plant
    alias = run._system.aliases
    master = plant.root.children["master"]
    number = master.kind.quantities["shown"].base + master.first
    kept, alias.index[number] = alias.index[number], master.kind.quantities["relation"].base + master.first
    try:
        wanted = run["master.shown"]
        run.save(tmp_path / "run.result")
    finally:
        alias.index[number] = kept
    assert set(wanted) == {0.0, 1.0}
    again = load(tmp_path / "run.result")
    np.testing.assert_array_equal(again["master.shown"], wanted)
    assert again.events[2].changes == ()


def test_the_file_grows_with_the_changes_not_with_rows_times_cells(run, tmp_path):
    changes = [(1.0 + k / 100, f"rooms[{k % 3}].thermostat.cooling", (k // 3 + 1) % 3) for k in range(3000)]
    switching(changes, run._system).save(tmp_path / "many.result", ["rooms[?].T", "*.cooling"])
    with zipfile.ZipFile(tmp_path / "many.result") as archive:
        assert archive.getinfo("expressions.npy").file_size < 1000
        assert archive.getinfo("event_values.npy").file_size < 8 * 3000 + 200


def test_the_format_number_says_whether_an_older_program_can_read_it(run, saved, result, tmp_path):
    def number(path):
        with zipfile.ZipFile(path) as archive:
            return json.loads(archive.read("about.json"))["format number"]

    result.save(tmp_path / "plain.result")
    assert (number(saved), number(tmp_path / "plain.result")) == (2, 1)


@pytest.mark.parametrize("member", ["event_rows", "event_cells", "cell_start", "cell_meaning", "event_causes"])
def test_a_log_that_does_not_fit_together(saved, tmp_path, member):
    with zipfile.ZipFile(saved) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    np.save(tmp_path / "wrong.npy", np.full((3, 2) if member == "event_causes" else 2, 10**6))
    members[f"{member}.npy"] = (tmp_path / "wrong.npy").read_bytes()
    with zipfile.ZipFile(saved, "w") as archive:
        for name, contents in members.items():
            archive.writestr(name, contents)
    with pytest.raises(FileError, match=r"event log do not fit together|damaged"):
        load(saved)


PATHS = ["rooms[0].thermostat.cooling", "rooms[0].thermostat.count", "rooms[1].thermostat.shown", "rooms[2].T", "master.alarm"]


def test_pandas_has_both_rows(run):
    table = run.to_pandas(PATHS)
    np.testing.assert_array_equal(table.index, run.time)
    assert table.loc[12.0, "rooms[0].thermostat.cooling"].tolist() == [0.0, 1.0]


@pytest.mark.parametrize("ending", ["csv", "parquet", "h5", "mat"])
def test_exports_have_both_rows(run, tmp_path, ending):
    path = tmp_path / f"run.{ending}"
    run.export(path, PATHS)
    if ending == "csv":
        with open(path, newline="") as stream:
            header, *rows = csv.reader(stream)
        found = dict(zip(header, np.array(rows, dtype=float).T, strict=True))
    elif ending == "parquet":
        table = pytest.importorskip("pyarrow.parquet").read_table(path)
        found = {name: table[name].to_numpy() for name in ["time", *PATHS]}
    elif ending == "h5":
        with pytest.importorskip("h5py").File(path) as file:
            found = {"time": file["time"][:], **dict(zip(file["names"].asstr()[:], file["values"][:], strict=True))}
    else:
        again = read_mat(path)
        found = {name: again[name] for name in ["time", *PATHS]}
    for name in ("time", *PATHS):
        np.testing.assert_array_equal(found[name], run[name], err_msg=name)
