from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import zipfile

import numpy as np
import pytest

from acausal import container
from acausal.container import FileError
from acausal.errors import NameNotFound, UsageError
from acausal.results.store import load, save


@pytest.fixture
def saved(result, tmp_path):
    save(result, tmp_path / "run.result")
    return tmp_path / "run.result"


def test_everything_comes_back(result, saved):
    again = load(saved)
    assert again.names() == result.names()
    assert again.names("C[*].v") == ["C[0].v", "C[1].v", "C[2].v"]
    np.testing.assert_array_equal(again.time, result.time)
    np.testing.assert_array_equal(again.data, result.data)
    for name in result.names():
        np.testing.assert_array_equal(again[name], result[name])
        assert (again.unit(name), again.description(name)) == (result.unit(name), result.description(name))
        assert again.source(name)[0] == result.source(name)[0]
    assert again.title == result.title
    assert again.statistics == {"steps": 123, "seconds": {"integration": 0.25}}
    assert again.metadata == result.metadata


def test_the_outcome_equals_that_of_the_run(result, saved):
    again = load(saved)
    assert again.outcome == result.outcome
    assert result.outcome == again.outcome
    assert again.outcome != type(result.outcome).STOPPED
    assert again.outcome.value == "The end of the interval was reached."


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("wall.T", lambda r: r["wall.T"]),
        ("C.v", lambda r: r["C.v"]),
        ("grid.T", lambda r: r["grid.T"]),
        ("grid.T[1]", lambda r: r["grid.T"][:, 1]),
        ("grid.T[:,2]", lambda r: r["grid.T"][:, :, 2]),
        ("grid.T[1,2]", lambda r: r["grid.T[1, 2]"]),
        ("grid.T[1, -1]", lambda r: r["grid.T"][:, 1, 2]),
        ("wall.T[1:4:2]", lambda r: r["wall.T"][:, 1:4:2]),
        ("C[-1].v", lambda r: r["C[2].v"]),
        ("C[1:].p.i", lambda r: -r["C.v"][:, 1:]),
        ("time", lambda r: r.time),
    ],
)
def test_arrays_and_parts_of_them(result, saved, name, expected):
    np.testing.assert_array_equal(load(saved)[name], expected(result))


def test_units(saved):
    again = load(saved)
    assert again.in_unit("ambient.T", "degC") == pytest.approx(20.0)
    assert again.unit("wall.T") == "K"
    with pytest.raises(UsageError, match="`K` cannot be converted to `bar`"):
        again.in_unit("ambient.T", "bar")


def test_names_that_do_not_exist(saved):
    again = load(saved)
    with pytest.raises(NameNotFound, match=r"`pump.mflow` is not in(.|\n)*Did you mean `pump.m_flow`"):
        again["pump.mflow"]
    with pytest.raises(NameNotFound, match=r"out of range; the array's shape is \(5,\)"):
        again["wall.T[5]"]
    with pytest.raises(NameNotFound, match="more indices"):
        again["wall.T[1,2]"]
    with pytest.raises(UsageError, match="the index `x` is neither"):
        again["wall.T[x]"]
    assert "wall.T[4]" in again
    assert "wall.T[5]" not in again


def test_a_selection_keeps_only_its_columns(result, tmp_path):
    save(result, tmp_path / "few.result", ["sink.m_flow", "C.v", "heater.Q_flow", "R.R"])
    again = load(tmp_path / "few.result")
    assert again.data.shape == (len(result.time), 1)
    np.testing.assert_array_equal(again["sink.m_flow"], result["sink.m_flow"])
    np.testing.assert_array_equal(again["C.v"], result["C.v"])
    np.testing.assert_array_equal(again["heater.Q_flow"], result["heater.Q_flow"])
    np.testing.assert_array_equal(again["R.R"], 47.0)


def test_too_many_expressions_are_stored_only_when_asked_for(result, tmp_path):
    save(result, tmp_path / "none.result", expression_limit=1)
    with pytest.raises(NameNotFound, match=r"named expression whose values are not in(.|\n)*expressions=\[\"heater.level\"\]"):
        load(tmp_path / "none.result")["heater.level"]
    save(result, tmp_path / "one.result", expression_limit=1, expressions=["heater.level"])
    again = load(tmp_path / "one.result")
    np.testing.assert_array_equal(again["heater.level"], result["heater.level"])
    with pytest.raises(NameNotFound):
        again["heater.Q_flow"]
    again.export(tmp_path / "again.csv")  # everything that is there
    assert "heater.level" in (tmp_path / "again.csv").read_text()


def test_saving_what_was_loaded_onto_itself(result, saved):
    again = load(saved)
    again.save(saved)
    np.testing.assert_array_equal(again["wall.T"], result["wall.T"])
    np.testing.assert_array_equal(load(saved)["heater.level"], result["heater.level"])


def test_numpy_alone_reads_the_file(result, saved):
    with np.load(saved, allow_pickle=False) as contents:
        np.testing.assert_array_equal(contents["time"], result.time)
        np.testing.assert_array_equal(contents["data"], result.data)


def test_values_are_mapped_and_aligned(result, saved):
    data = load(saved).data
    assert not data.flags.owndata
    assert data.flags.aligned
    assert not data.flags.writeable


def test_a_buffer_larger_than_a_piece(result, tmp_path, monkeypatch):
    monkeypatch.setattr(container, "CHUNK_BYTES", 1000)
    result.data = np.asfortranarray(result.data)
    save(result, tmp_path / "pieces.result")
    np.testing.assert_array_equal(load(tmp_path / "pieces.result").data, result.data)


def test_a_run_without_a_single_point(result, tmp_path):
    result.time, result.data = result.time[:0], result.data[:0]
    save(result, tmp_path / "empty.result", "wall.T[0]")
    assert load(tmp_path / "empty.result")["wall.T[0]"].shape == (0,)


# ---------------------------------------------------------------- what goes wrong


def test_a_full_device(result, full_device):
    with pytest.raises(FileError, match=r"full` cannot be written: the disk is full(.|\n)*in memory(.|\n)*another disk"):
        save(result, full_device)
    assert full_device.is_char_device()


def test_a_disk_that_fills_up_leaves_no_half_file_and_the_old_one(result, saved):
    """A limit on the size of files makes the writes of a real disk fail in the middle."""
    pytest.importorskip("resource")
    program = """
import resource, sys, acausal.results.store as store
from acausal.errors import AcausalError
result = store.load(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
try:
    result.save(sys.argv[1])
except AcausalError as error:
    print(error)
    print(len(result["wall.T"]))
"""
    run = [sys.executable, "-B", "-c", program, str(saved)]  # -B: Python would keep the code of modules cut off at the limit
    output = subprocess.run(run, check=True, capture_output=True, text=True, env={"PYTHONPATH": ":".join(sys.path)}).stdout
    assert "cannot be written: the file would be larger than allowed" in output
    assert output.endswith("\n40\n")
    assert [file.name for file in saved.parent.iterdir()] == [saved.name]
    np.testing.assert_array_equal(load(saved)["wall.T"], result["wall.T"])


@pytest.mark.parametrize(
    ("place", "reason"),
    [("saved/x.result", "a part of the path is a file"), ("none/x.result", "its folder does not exist"), (".", "it is a folder")],
)
def test_an_impossible_path(result, tmp_path, place, reason):
    (tmp_path / "saved").write_text("a file")
    with pytest.raises(FileError, match=rf"cannot be written: {reason}(.|\n)*nothing is lost(.|\n)*try:"):
        save(result, tmp_path / place)
    assert [file.name for file in tmp_path.iterdir()] == ["saved"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the administrator may write anywhere")
def test_a_folder_without_permission(result, tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(FileError, match="you may not write there"):
        save(result, tmp_path / "x.result")


def test_an_interruption_leaves_nothing(result, tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(container, "_settle", interrupted)
    with pytest.raises(KeyboardInterrupt):
        save(result, tmp_path / "x.result")
    assert not list(tmp_path.iterdir())


def test_a_link_is_followed_and_permissions_stay(result, tmp_path):
    (tmp_path / "real.result").touch(mode=0o640)
    (tmp_path / "real.result").chmod(0o640)
    (tmp_path / "link.result").symlink_to("real.result")
    save(result, tmp_path / "link.result")
    assert (tmp_path / "link.result").is_symlink()
    assert (tmp_path / "real.result").stat().st_mode & 0o777 == 0o640


def test_truncated_at_every_length(saved):
    contents = saved.read_bytes()
    for length in [*range(0, len(contents), 997), len(contents) - 1]:
        saved.write_bytes(contents[:length])
        with pytest.raises(FileError, match=r"damaged|not saved by this program|is empty"):
            load(saved)


@pytest.mark.parametrize("seed", range(4))
def test_a_flipped_bit_anywhere_is_noticed_or_changes_nothing(result, saved, seed):
    contents = bytearray(saved.read_bytes())
    rng = np.random.default_rng(seed)
    noticed = 0
    for position in rng.integers(len(contents), size=150):
        damaged = contents.copy()
        damaged[position] ^= 1 << int(rng.integers(8))
        saved.write_bytes(damaged)
        try:
            loaded = load(saved)
        except FileError as error:
            noticed += 1
            assert "damaged" in str(error) or "not saved by this program" in str(error) or "newer version" in str(error)
            continue
        np.testing.assert_array_equal(loaded.data, result.data)
        np.testing.assert_array_equal(loaded["wall.T"], result["wall.T"])
        assert loaded.names() == result.names()
    assert noticed > 50


def test_a_flipped_value_is_told_with_its_table(result, saved):
    contents = bytearray(saved.read_bytes())
    contents[bytes(contents).rindex(result.data[2].tobytes()) + 6] ^= 0xFF
    saved.write_bytes(contents)
    with pytest.raises(FileError, match=r"is damaged: the numbers in `data` are not those that were written(.|\n)*copy it again"):
        load(saved)


def test_a_bomb_is_not_unpacked(saved, monkeypatch):
    monkeypatch.setattr(container, "UNPACKED_BYTES", 1 << 20)
    rewrite(saved, lambda members: members.update({"data.npy": members["data.npy"] + bytes(1 << 21)}))
    with pytest.raises(FileError, match=r"is packed, and unpacking it would take 2 MB of memory; at most 1 MB"):
        load(saved)


def npy(array, shape=None):
    stream = io.BytesIO()
    header = {"descr": np.lib.format.dtype_to_descr(array.dtype), "fortran_order": False, "shape": shape or array.shape}
    np.lib.format.write_array_header_1_0(stream, header)
    return stream.getvalue() + array.tobytes()


@pytest.mark.parametrize(
    "crafted",
    [
        {"data.npy": npy(np.zeros(1), (1 << 40, 1 << 10))},  # a shape that nothing stands behind
        {"order.npy": npy(np.full(3, 7))},
        {"name_ends.npy": npy(np.zeros(1))},
        {"kind.npy": b""},
        {"about.json": b"[" * 100_000},
        {"about.json": b'{"format": "acausal result", "format number": "one"}'},
        {"about.json": b'{"format": "acausal result", "format number": 1}'},
        {"names.npy": npy(np.full(3, 0xFF, dtype=np.uint8))},
    ],
)
def test_a_crafted_file_is_answered_with_one_sentence(saved, crafted):
    rewrite(saved, lambda members: members.update(crafted))
    with pytest.raises(FileError, match="is damaged"):
        load(saved)


def test_numbers_that_point_nowhere_are_refused_when_the_file_is_loaded(result, saved):
    fields = ("order", "index", "unit", "description", "sign", "kind", "name_ends")
    good = {name: np.load(saved)[name] for name in fields}
    original = saved.read_bytes()
    for name in fields:
        wrong = good[name].copy()
        wrong[-1] = 100
        saved.write_bytes(original)
        rewrite(saved, lambda members, name=name, wrong=wrong: members.update({f"{name}.npy": npy(wrong)}))
        with pytest.raises(FileError, match="its tables do not fit together"):
            load(saved)


def test_wrong_files(tmp_path):
    with pytest.raises(FileError, match=r"There is no file `.*none\.result`"):
        load(tmp_path / "none.result")
    with pytest.raises(FileError, match="cannot be read: Is a directory"):
        load(tmp_path)
    (tmp_path / "text").write_text("time,x\n0,1\n")
    with pytest.raises(FileError, match=r"was not saved by this program \(it begins with b'time,x"):
        load(tmp_path / "text")
    np.savez(tmp_path / "other.npz", x=np.arange(3))
    with pytest.raises(FileError, match="was not saved by this program"):
        load(tmp_path / "other.npz")
    (tmp_path / "dymola.mat").write_bytes(bytes(20) + b"Aclass\0" + bytes(50))
    with pytest.raises(FileError, match="read_mat"):
        load(tmp_path / "dymola.mat")


def rewrite(path, change):
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, contents in members.items():
            archive.writestr(name, contents)


def test_a_newer_format_says_update(saved):
    def newer(members):
        members["about.json"] = json.dumps({**json.loads(members["about.json"]), "format number": 99})

    rewrite(saved, newer)
    with pytest.raises(FileError, match=r"newer version(.|\n)*pip install --upgrade"):
        load(saved)


def test_an_archive_packed_again_still_loads(result, saved):
    rewrite(saved, lambda members: None)
    np.testing.assert_array_equal(load(saved)["wall.T"], result["wall.T"])


def test_tables_that_do_not_fit(saved):
    rewrite(saved, lambda members: members.update({"time.npy": members["constants.npy"]}))
    with pytest.raises(FileError, match="tables do not fit together"):
        load(saved)
    rewrite(saved, lambda members: members.pop("kind.npy"))
    with pytest.raises(FileError, match="damaged"):
        load(saved)


def test_pickles_are_refused(saved, tmp_path):
    np.save(tmp_path / "evil.npy", np.array([{"a": 1}], dtype=object))
    rewrite(saved, lambda members: members.update({"time.npy": (tmp_path / "evil.npy").read_bytes()}))
    with pytest.raises(FileError, match="damaged"):
        load(saved)
