"""A model file that is not what it should be: one sentence, and nothing in it is run."""

from __future__ import annotations

import contextlib
import json
import shutil
import zipfile

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import acausal as ac
from acausal.container import FileError
from acausal.program.file import FORMAT_NUMBER


class Decay(ac.Component):
    x, k = ac.Variable(start=1.0), ac.Parameter(1.0)

    def equations(self):
        yield ac.der(self.x) == -self.k * self.x


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "decay.acm"
    ac.compile(Decay()).save(path)
    return path


def changed(good, path, **members):
    """The file with some members changed by functions of their bytes; checksums are right."""
    with zipfile.ZipFile(good) as old, zipfile.ZipFile(path, "w") as new:
        for info in old.infolist():
            data = old.read(info)
            change = members.get(info.filename.partition(".")[0])
            new.writestr(info.filename, data if change is None else change(data))
    return path


def edited(**entries):
    return lambda data: json.dumps({**json.loads(data), **entries}).encode()


def refused(path):
    with pytest.raises(FileError) as found:
        ac.load(path)
    return str(found.value)


def test_a_truncated_file(good, tmp_path):
    for length in (0, 10, 200, good.stat().st_size // 2, good.stat().st_size - 30):
        (tmp_path / "short.acm").write_bytes(good.read_bytes()[:length])
        assert ("ends too early" in refused(tmp_path / "short.acm")) or length == 0


def test_a_foreign_file(good, tmp_path):
    (tmp_path / "a.acm").write_text("not a model at all")
    assert "was not saved by this program" in refused(tmp_path / "a.acm")
    np.savez(tmp_path / "b.npz", x=np.zeros(3))
    assert "was not saved by this program" in refused(tmp_path / "b.npz")
    assert "There is no file" in refused(tmp_path / "c.acm")


def test_a_newer_file(good, tmp_path):
    path = changed(good, tmp_path / "new.acm", about=edited(**{"format number": FORMAT_NUMBER + 1, "version": "9.9"}))
    assert "was saved by a newer version of this program (9.9)" in refused(path)


def test_a_file_of_another_version(good, tmp_path):
    path = changed(good, tmp_path / "old.acm", about=edited(layout="0", version="0.0.1"))
    text = refused(path)
    assert (
        "was made by version 0.0.1 of this program, which lays models out differently" in text and "compile the model again" in text
    )


def test_a_file_without_a_hash_of_its_content_is_of_an_older_version(good, tmp_path):
    def without(data):
        about = json.loads(data)
        del about["content"]
        return json.dumps(about).encode()

    assert "lays models out differently" in refused(changed(good, tmp_path / "older.acm", about=without))


def test_every_bit_counts(good, tmp_path):
    """One bit changed anywhere: the file is refused, or the bit was nobody's (padding, dates)."""
    data, expected = good.read_bytes(), ac.load(good).simulate(until=1.0)["x"]
    path = tmp_path / "flipped.acm"
    for place in range(0, len(data), max(1, len(data) // 60)):
        path.write_bytes(data[:place] + bytes([data[place] ^ 4]) + data[place + 1 :])
        try:
            model = ac.load(path)
        except FileError as error:
            assert "flipped.acm" in str(error)
        else:
            np.testing.assert_array_equal(model.simulate(until=1.0)["x"], expected)


def test_tables_that_point_outside_are_not_run(good, tmp_path):
    def far(data):
        array = np.load(__import__("io").BytesIO(data))
        array[array == array.max()] = 10**8
        buffer = __import__("io").BytesIO()
        np.save(buffer, array)
        return buffer.getvalue()

    assert "point outside of the model" in refused(changed(good, tmp_path / "far.acm", int32=far))


def test_an_index_with_a_sign_that_nobody_takes_away_is_not_run(good, tmp_path):
    """Code takes the sign off an index only where the slot is one of mixed signs; elsewhere it would read before the numbers."""

    def before(data):
        array = np.load(__import__("io").BytesIO(data))
        buffer = __import__("io").BytesIO()
        np.save(buffer, np.where(array > 0, ~array, array))
        return buffer.getvalue()

    assert "point outside of the model" in refused(changed(good, tmp_path / "before.acm", int32=before))


@pytest.mark.parametrize("of", ["float64", "int64"])
def test_a_member_that_somebody_exchanged_is_refused(good, tmp_path, of):
    """Checksums of the members are right, and every number is one that might stand there."""

    def other(data):
        buffer = __import__("io").BytesIO()
        np.save(buffer, np.load(__import__("io").BytesIO(data))[::-1] + 1)
        return buffer.getvalue()

    assert "is damaged" in refused(changed(good, tmp_path / "other.acm", **{of: other}))


@pytest.mark.parametrize(
    "root",
    [
        [10**6], [-1], {"f": "x"}, "os.system", None, 3,
    ],
)  # fmt: skip
def test_another_root(good, tmp_path, root):
    assert "is damaged" in refused(changed(good, tmp_path / "root.acm", records=edited(root=root)))


def crafted(good, tmp_path, change):
    def apply(data):
        found = json.loads(data)
        change(found["records"])
        return json.dumps(found).encode()

    return changed(good, tmp_path / "crafted.acm", records=apply)


TAGS = ["families.numpy:ndarray", "language.reading:State", "families.census:Census"]
TAGS += ["Popen", "type", "eval", "__import__", "Component", "outside"]


@pytest.mark.parametrize("tag", [*TAGS, ""])
def test_no_class_but_those_listed_is_made(good, tmp_path, tag):
    path = crafted(good, tmp_path, lambda records: records.__setitem__(-1, [tag, "touch /tmp/x"]))
    assert "is damaged" in refused(path) or "lays models out differently" in refused(path)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_whatever_the_records_say_there_is_a_sentence_or_a_model(good, tmp_path, data):
    """Records changed at random: a FileError or a model, never anything else (values may differ, since checksums are right)."""
    pairs = st.lists(st.integers(0, 300), max_size=2)
    value = st.one_of(st.none(), st.integers(-5, 10**6), st.text(max_size=3), pairs, st.booleans())

    def change(records):
        record = records[data.draw(st.integers(0, len(records) - 1))]
        record[data.draw(st.integers(0, len(record) - 1))] = data.draw(value)

    path = crafted(good, tmp_path, change)
    with contextlib.suppress(FileError):
        ac.load(path)


def test_nothing_is_left_where_a_model_could_not_be_written(good, tmp_path):
    model = ac.load(good)
    with pytest.raises(FileError, match="its folder does not exist"):
        model.save(tmp_path / "nowhere" / "a.acm")
    shutil.copy(good, tmp_path / "copy.acm")
    assert ac.load(tmp_path / "copy.acm").get("k") == 1.0
