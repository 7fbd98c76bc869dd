"""A model file whose hash is right and whose contents are not: one sentence, before anything runs."""

from __future__ import annotations

import io
import json
import random
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.container import FileError, written
from acausal.program import file as model_file
from acausal.program.file import load


class Cap(ac.Component):
    T, Q = ac.Variable(start=300.0, unit="K"), ac.Variable(unit="W")
    C, G = ac.Parameter(2.0, unit="J/K"), ac.Parameter(3.0, unit="W/K")

    def equations(self) -> Iterator[Any]:
        yield self.C * ac.der(self.T) == self.Q
        yield self.Q == -self.G * (self.T - ac.where(self.T > 299.0, 280.0, 290.0))


class Plant(ac.Component):
    x = ac.Variable(shape=3, start=1.0)

    def __init__(self) -> None:
        self.caps, self.row = [Cap(C=1.0 + k) for k in range(3)], ac.array(Cap, 4)

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.x) == -self.x

    def events(self) -> Iterator[Any]:
        yield ac.when(self.x[0] < 0.5, ac.reinit(self.x[1], 1.0))


class Computed(ac.Component):
    """Of which nothing, or nothing before `x`, is solved for."""

    u, k = ac.Input(2.0), ac.Parameter(3.0)
    y = ac.Variable()

    def __init__(self, moving: bool = False) -> None:
        self.moving = moving
        if moving:
            self.x = ac.Variable(start=1.0, fixed=True)

    def equations(self) -> Iterator[Any]:
        yield self.y == self.k * self.u
        if self.moving:
            yield ac.der(self.x) == -self.x + self.y


@pytest.mark.parametrize("moving", [False, True])
def test_variables_that_their_definitions_replace_live_nowhere(moving: bool, tmp_path: Path) -> None:
    made = ac.compile(Computed(moving))
    made.save(tmp_path / "m.acm")
    assert ac.load(tmp_path / "m.acm").simulate(until=1.0)["y"][-1] == 6.0


@pytest.fixture(scope="module")
def model() -> ac.Model:
    return ac.compile(Plant())


def saved(model: ac.Model, path: Path, found: dict[str, Any]) -> Path:
    """A file with these contents, and a hash that says so."""
    numbers = {name: found[name] for name in ("cells", "overridden", "starts", "changes")}
    model_file.save(path, found["program"], numbers)
    return path


def contents(model: ac.Model, path: Path) -> dict[str, Any]:
    """What a file holds, in objects of its own."""
    model.save(path)
    found: dict[str, Any] = load(path, lambda found: found)
    return found


def set_item(of: Callable[[Any], np.ndarray], place: Any, value: Any) -> Callable[[Any], None]:
    def change(found: Any) -> None:
        array = of(found)
        array.flags.writeable = True
        array[place] = value

    return change


def renamed(found: Any) -> None:
    found["program"].system.plant.kinds[0].quantities["T"].name = "U"


def without_documentation(found: Any) -> None:
    del found["program"].system.plant.kinds[0].quantities["T"].declaration.__dict__["doc"]


def a_text_for_a_number(found: Any) -> None:
    found["program"].system.plant.kinds[0].count = "many"


def a_huge_count(found: Any) -> None:
    found["program"].system.plant.kinds[0].count = 10**9


def without_a_role(found: Any) -> None:
    del found["program"].system.hybrid.parts["corner"]


CHANGES = {
    "a place in the Jacobian": set_item(lambda f: f["program"].pattern.positions[0], (0, 0), 1000),
    "a row of the Jacobian": set_item(lambda f: f["program"].pattern.indices, 0, -1),
    "where columns begin": set_item(lambda f: f["program"].pattern.indptr, 1, 7),
    "a discrete value": set_item(lambda f: f["program"].system.hybrid.cells, 0, 1000),
    "the target of a relation": set_item(lambda f: f["program"].system.hybrid.parts["relation"].targets, 0, 7),
    "where a variable lives": set_item(lambda f: f["program"].system.aliases.index, 0, -5),
    "a name of an unknown": set_item(lambda f: f["program"].system.aliases.label, 0, 2**31 - 1),
    "a number of the model itself": set_item(lambda f: f["cells"], 0, np.nan),
    "a slot": set_item(lambda f: f["program"].system.families[0].slots, (0, 0), 2**31 - 1),
    "a name": renamed,
    "an attribute that is missing": without_documentation,
    "a text for a number": a_text_for_a_number,
    "a huge count": a_huge_count,
    "a role that is missing": without_a_role,
}


@pytest.mark.parametrize("what", CHANGES)
def test_one_sentence(model: ac.Model, tmp_path: Path, what: str) -> None:
    found = contents(model, tmp_path / "a.acm")
    CHANGES[what](found)
    changed = saved(model, tmp_path / "b.acm", found)
    for _ in range(2):  # what was refused once is looked at again
        with pytest.raises(FileError, match="is damaged: "):
            ac.load(changed)


def test_what_was_looked_at_once_is_believed_and_nothing_else(
    model: ac.Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is noted in the vault that a content is right; a file that only says that it has this content is looked at."""
    monkeypatch.setenv("ACAUSAL_CACHE", str(tmp_path / "cache"))
    looked: list[Any] = []
    monkeypatch.setattr(model_file, "check_program", lambda program: looked.append(program))
    model.save(tmp_path / "a.acm")
    for _ in range(3):
        load(tmp_path / "a.acm", lambda found: found)
    assert len(looked) == 1
    found = contents(model, tmp_path / "a.acm")
    set_item(lambda f: f["cells"], -1, 17.0)(found)
    other = saved(model, tmp_path / "b.acm", found)
    with (
        zipfile.ZipFile(tmp_path / "a.acm") as right,
        zipfile.ZipFile(other) as wrong,
        zipfile.ZipFile(tmp_path / "c.acm", "w") as new,
    ):
        for name in wrong.namelist():
            new.writestr(name, (right if name == "about.json" else wrong).read(name))
    with pytest.raises(FileError, match="somebody changed one of them"):
        ac.load(tmp_path / "c.acm")
    assert len(looked) == 2
    load(other, lambda found: found)
    assert len(looked) == 3
    monkeypatch.setattr(model_file, "content_of", lambda path: b"another version of " + path.encode())
    load(tmp_path / "a.acm", lambda found: found)  # whoever looks by another rule looks himself
    assert len(looked) == 4


def test_the_same_bytes_as_other_numbers_are_looked_at(model: ac.Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The hash is over bytes: numbers half as long, and twice as many, have that of a file that was looked at."""
    monkeypatch.setenv("ACAUSAL_CACHE", str(tmp_path / "cache"))
    model.save(tmp_path / "a.acm")
    ac.load(tmp_path / "a.acm")
    with zipfile.ZipFile(tmp_path / "a.acm") as archive:
        about, text = archive.read("about.json").decode(), archive.read("records.json").decode()
        arrays = {name: np.load(io.BytesIO(archive.read(f"{name}.npy"))) for name in model_file._TYPES}
    arrays["int64"] = arrays["int64"].view(np.int32)
    assert model_file._digest(text.encode(), list(arrays.values())) == json.loads(about)["content"]
    with written(tmp_path / "b.acm") as new:
        new.text("about.json", about)
        new.text("records.json", text)
        for name, array in arrays.items():
            new.array(name, array)
    with pytest.raises(FileError, match="variables point outside of the model"):
        ac.load(tmp_path / "b.acm")


def test_what_was_not_changed_is_believed(model: ac.Model, tmp_path: Path) -> None:
    found = contents(model, tmp_path / "a.acm")
    again: Any = ac.load(saved(model, tmp_path / "b.acm", found))
    assert again.simulate(until=1.0, points=5).outcome.ok


def mutated(archive: zipfile.ZipFile, rng: random.Random, path: Path) -> None:
    """A file with one number or text of its records, or one number of its tables, changed, and a hash that says so."""
    records = json.loads(archive.read("records.json"))
    arrays = {name: np.load(io.BytesIO(archive.read(f"{name}.npy"))) for name in model_file._TYPES}
    if rng.random() < 0.5:
        name = rng.choice([n for n in ("int64", "int32", "float64") if arrays[n].size])
        arrays[name][rng.randrange(arrays[name].size)] = rng.choice([-1, 0, 1, 7, 1000, 2**31 - 1])
    else:
        record: Any = records["records"][rng.randrange(len(records["records"]))]
        while isinstance(record[place := rng.randrange(len(record))], list) and record[place]:
            record = record[place]
        record[place] = rng.choice([None, True, -1, 10**9, 1.5, "x", "a" * 300, [3]])
    text, each = json.dumps(records), [arrays[name] for name in model_file._TYPES]
    about = {**json.loads(archive.read("about.json")), "content": model_file._digest(text.encode(), each)}
    with written(path) as new:
        new.text("about.json", json.dumps(about))
        new.text("records.json", text)
        for name, array in arrays.items():
            new.array(name, array)


def test_a_sentence_or_a_model(model: ac.Model, tmp_path: Path) -> None:
    model.save(tmp_path / "a.acm")
    rng = random.Random(8)
    with zipfile.ZipFile(tmp_path / "a.acm") as archive:
        for _ in range(40):
            mutated(archive, rng, tmp_path / "b.acm")
            try:
                found: Any = ac.load(tmp_path / "b.acm")
                found.catalogue()
                repr(found)
            except ac.AcausalError as error:
                assert str(error)
