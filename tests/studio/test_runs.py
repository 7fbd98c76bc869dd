"""Runs on disk: two studios on one plant share them."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from acausal.errors import ModelError
from acausal.studio.drawing import Drawings
from acausal.studio.placing import placed
from acausal.studio.protocol import Case, Run
from acausal.studio.runs import KEPT, Runs


def made(runs: Runs, name: str = "") -> Run:
    """A run that is over, with its numbers on disk."""
    run = runs.new(Case(name), 1)
    runs.file(run.id).write_bytes(b"numbers")
    runs.update(run.id, {"state": "finished"})
    runs.write()
    return run


def test_two_studios_in_one_folder_keep_each_other_s_runs(tmp_path: Path) -> None:
    one, other = Runs(tmp_path), Runs(tmp_path)
    a, b, c = made(one, "a"), made(other, "b"), made(one, "c")
    assert [run.case.name for run in Runs(tmp_path).all()] == ["a", "b", "c"]
    assert [a.number, b.number, c.number] == [1, 2, 3]
    assert other.look() and not other.look()
    other.forget(a.id)
    assert [run.case.name for run in Runs(tmp_path).all()] == ["b", "c"]
    assert sorted(f.name for f in tmp_path.iterdir()) == sorted(f"{r.id}.{e}" for r in (b, c) for e in ("json", "acausal"))


def test_the_list_of_an_earlier_version_is_read(tmp_path: Path) -> None:
    run = Run("abc", 7, Case("old"), "finished", 1.0)
    (tmp_path / "runs.json").write_text(json.dumps([asdict(run), {"id": "nonsense"}][:1]))
    (tmp_path / "abc.acausal").write_bytes(b"numbers")
    runs = Runs(tmp_path)
    assert [r.number for r in runs.all()] == [7]
    runs.forget("abc")
    assert Runs(tmp_path).all() == []


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"id": 1, "case": 3, "problems": []}', "null", "\x00"])
def test_what_cannot_be_read_is_no_run(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.json").write_text(text)
    (tmp_path / "runs.json").write_text(text)
    assert Runs(tmp_path).all() == []


def test_the_oldest_go_when_there_are_too_many(tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    for _ in range(KEPT + 3):
        made(runs)
    assert len(runs.all()) == KEPT and len(list(tmp_path.glob("*.acausal"))) == KEPT == len(list(tmp_path.glob("*.json")))


def test_a_file_is_whole_or_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "plant.py"
    placed(file, "one", sure=True)
    file.chmod(0o640)
    with pytest.raises(TypeError):
        placed(file, 3)  # type: ignore[arg-type]
    assert file.read_text() == "one" and [f.name for f in tmp_path.iterdir()] == ["plant.py"]
    placed(file, b"two")
    assert file.read_text() == "two" and file.stat().st_mode & 0o777 == 0o640


def test_drawings_are_kept_by_their_hash_and_not_for_ever(tmp_path: Path) -> None:
    drawings = Drawings(tmp_path / "drawings")
    keys = [f"{k:032x}" for k in range(Drawings.MOST + 5)]
    assert drawings.read(keys[0]) == ""
    for k, key in enumerate(keys):
        drawings.write(key, f"drawing {k}")
    assert drawings.read(keys[-1]) == f"drawing {len(keys) - 1}" and len(list((tmp_path / "drawings").iterdir())) == Drawings.MOST
    drawings.write(keys[0], "x" * (Drawings.LARGEST + 1))
    for key in ("../runs", "", "A" * 32, "0" * 31):
        with pytest.raises(ModelError, match="under a hash"):
            drawings.read(key)
