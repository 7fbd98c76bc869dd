"""Cases are a text file that people may edit."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

import acausal as ac
from acausal.studio import cases
from acausal.studio.protocol import Case

texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
numbers = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**53), 2**53)
values = numbers | texts | st.booleans() | st.lists(numbers, max_size=4)
some = st.builds(
    Case,
    name=texts,
    until=texts,
    note=texts,
    set=st.dictionaries(texts, values, max_size=4),
    inputs=st.dictionaries(texts, values, max_size=3),
)


@given(st.lists(some, max_size=4))
def test_what_is_written_is_read_back(given: list[Case]) -> None:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "plant.cases.toml"
        cases.write(file, "plant.py", given)
        assert cases.read(file) == given


def test_the_file_reads_like_a_text(tmp_path: Path) -> None:
    file = tmp_path / "plant.cases.toml"
    cases.write(file, "plant.py", [Case("colder winter", until="3 day", set={"wall.G": 3.0})])
    assert file.read_text().endswith('[[case]]\nname = "colder winter"\nuntil = "3 day"\n\n[case.set]\n"wall.G" = 3.0\n')


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("[[case]\n", "cannot be read"),
        ('[[case]]\nname = "a"\nsett = 1\n', "does not know `sett`"),
        ("[[case]]\nuntil = '1'\n", "without a name"),
    ],
)
def test_a_broken_file_is_told_with_its_name(tmp_path: Path, text: str, what: str) -> None:
    file = tmp_path / "plant.cases.toml"
    file.write_text(text)
    with pytest.raises(ac.ModelError, match=what):
        cases.read(file)


def test_cases_stand_beside_the_model() -> None:
    assert cases.file_of("a/plant.py:House(n=3)") == Path("a/plant.cases.toml")
    assert cases.file_of("package.module:House") is None
