"""An application is one file without source that a colleague opens; what its author closed stays closed."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

import acausal as ac
from acausal.studio import application

from .conftest import opened, ready
from .plant import PLANT


def packed(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "house.py").write_text(PLANT.replace(" + mishap(self.trouble)", ""))  # a model file holds no Python
    (folder / "house.cases.toml").write_text('[[case]]\nname = "windy"\n[case.set]\n"G" = 40.0\n')
    command = [sys.executable, "-m", "acausal.cli", "studio", "--pack", "house.py", *options]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def test_a_colleague_runs_it_without_the_source_and_changes_what_is_open(tmp_path: Path, new_studio: Any) -> None:
    pytest.importorskip("starlette", reason="the studio's server is an extra: pip install acausal[studio]")
    done = packed(tmp_path, "--free", "G,thermostat.power")
    assert done.returncode == 0, done.stderr
    file = tmp_path / "house.acapp"
    with zipfile.ZipFile(file) as archive:
        assert sorted(archive.namelist()) == ["about.json", "cases.toml", "model.acm"]
        assert b"class House" not in b"".join(archive.read(n) for n in archive.namelist())
    (tmp_path / "house.py").unlink()
    (tmp_path / "house.cases.toml").unlink()
    server = new_studio(None, name="house.acapp")
    with opened(server) as page:
        model = ready(page)
        assert model["free"] == ["G", "thermostat.power"] and model["until"] == 21600.0 and not model["written"]
        assert [c["name"] for c in page.hello["cases"]] == ["windy"]
        assert page.run(set={"G": 30.0})["state"] == "finished"
        refused = page.ask("run", case={"name": "", "set": {"room.C": 1.0}}, names=[], instead="")["refused"]
        assert "cannot be changed in this application" in refused[0]["what"] and "thermostat.power" in refused[0]["remedy"]
        assert "running only" in page.ask("edit", kind="House", edits=[])["refused"][0]["what"]


def test_what_cannot_be_opened_is_told(tmp_path: Path) -> None:
    assert "no.such" in packed(tmp_path, "--free", "no.such").stderr
    wrong = tmp_path / "wrong.acapp"
    wrong.write_bytes(b"PK\x03\x04 nothing")
    with pytest.raises(ac.ModelError, match="not an application"):
        application.about(wrong)
    with zipfile.ZipFile(wrong, "w") as archive:
        archive.writestr("about.json", '{"format": "something else"}')
    with pytest.raises(ac.ModelError, match="it is none"):
        application.about(wrong)


ABOUT = '{"format": "acausal application", "format number": 1, "title": "", "wishes": {}, "layout": {}, "free": null}'


def application_of(file: Path, about: str | bytes, cases: str = "") -> Path:
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("about.json", about)
        archive.writestr("cases.toml", cases)
    return file


@pytest.mark.parametrize(
    "about",
    [
        "{",
        "[]",
        "[" * 100_000,
        b"\xff\xfe",
        '{"format": "acausal application"}',
        ABOUT.replace(": 1", ': "x"'),
        ABOUT.replace('"layout": {}', '"layout": {"": 3}'),
        ABOUT.replace("null", '"room.T"'),
        ABOUT.replace('"wishes": {}', '"wishes": []'),
    ],
)
def test_what_a_stranger_s_application_says_of_itself_is_looked_at(tmp_path: Path, about: str | bytes) -> None:
    assert application.about(application_of(tmp_path / "right.acapp", ABOUT))["free"] is None
    with pytest.raises(ac.ModelError, match=r"`wrong\.acapp` is not an application that can be opened"):
        application.about(application_of(tmp_path / "wrong.acapp", about))


@pytest.mark.parametrize(("place", "value"), [(8, 99), (6, 1)])  # a way of packing that nobody knows; a password
def test_an_archive_that_cannot_be_unpacked_is_told(tmp_path: Path, place: int, value: int) -> None:
    file = application_of(tmp_path / "wrong.acapp", ABOUT)
    content = bytearray(file.read_bytes())
    content[place] = content[content.index(b"PK\x01\x02") + 2 + place] = value
    file.write_bytes(content)
    with pytest.raises(ac.ModelError, match="not an application that can be opened"):
        application.about(file)


@pytest.mark.parametrize("text", ["case = [1]", '[[case]]\nname = "a"\nset = 3\n', '[[case]]\nname = "a"\ninputs = "x"\n'])
def test_cases_that_are_none_are_told(tmp_path: Path, text: str) -> None:
    with pytest.raises(ac.ModelError, match="is no table"):
        application.cases(application_of(tmp_path / "wrong.acapp", ABOUT, text))


def test_the_terminal_hears_what_is_wrong_with_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    from acausal.cli.studio import _tell
    from acausal.studio.protocol import Problem

    _tell(
        "plant.py cannot be loaded.", [Problem("Line 3 is no Python: invalid syntax.", file="plant.py", line=3, remedy="mend it")]
    )
    said = capsys.readouterr().err
    assert "plant.py cannot be loaded." in said and "plant.py:3" in said and "mend it" in said
