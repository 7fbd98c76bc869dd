"""The members of archives that are stored as they are: as Python's `zipfile` finds them, or none at all."""

from __future__ import annotations

import io
import zipfile
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import acausal as ac
from acausal.container import FileError, opened, written
from acausal.stored import stored

ABOUT = '{"format": "example"}'


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("stored") / "a.container"
    with written(path) as new:
        new.text("about.json", ABOUT)
        new.array("time", np.linspace(0.0, 1.0, 30))
        new.array("none", np.zeros(0))
    return path


def test_members_are_those_that_zipfile_finds(archive: Path) -> None:
    with open(archive, "rb") as stream, zipfile.ZipFile(archive) as known:
        found = stored(stream)
        assert found is not None
        for name in known.namelist():
            place = found.place(name)
            assert place is not None and name in found
            content = known.read(name)
            assert found.read(name) == content == archive.read_bytes()[place.start : place.start + place.size]
        with pytest.raises(KeyError, match="there is no `else` in it"):
            found.read("else")


@pytest.mark.parametrize("packing", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_an_archive_that_was_packed_again_is_read_by_zipfile(archive: Path, tmp_path: Path, packing: int) -> None:
    again = tmp_path / "again"
    with zipfile.ZipFile(archive) as old, zipfile.ZipFile(again, "w", packing) as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
    with open(again, "rb") as stream:
        assert stored(stream) is None
    with opened(again, "example") as reader:
        assert reader.mapped is not None and np.array_equal(reader.array("time"), np.linspace(0.0, 1.0, 30))


def test_an_archive_with_a_remark_is_read_by_zipfile(archive: Path, tmp_path: Path) -> None:
    remarked = tmp_path / "remarked"
    remarked.write_bytes(archive.read_bytes())
    with zipfile.ZipFile(remarked, "a") as old:
        old.comment = b"looked at by somebody"
    with open(remarked, "rb") as stream:
        assert stored(stream) is None
    with opened(remarked, "example") as reader:
        assert len(reader.array("time")) == 30


def test_a_name_that_stands_twice_is_refused(tmp_path: Path) -> None:
    twice = tmp_path / "twice"
    with zipfile.ZipFile(twice, "w") as new, pytest.warns(UserWarning, match="Duplicate name"):
        new.writestr("about.json", ABOUT)
        new.writestr("about.json", ABOUT)
    with pytest.raises(FileError, match="is damaged: its members overlap"), opened(twice, "example"):
        pass


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_what_is_read_from_a_damaged_archive_is_what_was_written(archive: Path, data: st.DataObject) -> None:
    """A flipped byte anywhere, or a cut: each member is right, or refused."""
    whole = archive.read_bytes()
    content = bytearray(whole)
    at = data.draw(st.integers(0, len(content) - 1))
    if data.draw(st.booleans()):
        content[at] ^= data.draw(st.integers(1, 255))
    else:
        del content[at:]
    damaged = archive.with_name("damaged")
    damaged.write_bytes(content)
    with open(damaged, "rb") as stream, zipfile.ZipFile(io.BytesIO(whole)) as known:
        found = stored(stream)
        for name in known.namelist() if found is not None else []:
            with suppress(KeyError, ValueError):
                assert found.read(name) == known.read(name)  # type: ignore[union-attr]
    try:
        with opened(damaged, "example") as reader:
            assert np.array_equal(reader.array("time"), np.linspace(0.0, 1.0, 30))
    except ac.AcausalError as error:
        assert "damaged" in str(error)
