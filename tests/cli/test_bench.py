"""`acausal bench`, on a checkout made up for the test."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from acausal.cli import bench
from acausal.cli.exits import Exit

from .conftest import Call

SUITE = '''
"""Counts.

More text.
"""

def run(sizes=None):
    for n in sizes or [1, 2]:
        yield {"suite": "count", "case": "one", "n": n, "seconds": 0.5 * n, "ratio": None, "extra": 3}
    yield {"suite": "count", "case": "two", "n": 1, "seconds": None, "ratio": None, "extra": None, "message": "not installed"}
'''


@pytest.fixture
def checkout(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    suites = folder / "benchmarks" / "suites"
    suites.mkdir(parents=True)
    (folder / "benchmarks" / "__init__.py").touch()
    (suites / "__init__.py").touch()
    (suites / "count.py").write_text(SUITE)
    (suites / "fixed.py").write_text(
        '"""One size."""\n\ndef run():\n    yield {"case": "a", "n": 1, "seconds": 1.0, "ratio": 2.0}\n'
    )
    kept = {name: sys.modules.pop(name) for name in list(sys.modules) if name.split(".")[0] == "benchmarks"}
    monkeypatch.setattr(bench, "find_checkout", lambda: folder)
    yield folder
    for name in [name for name in sys.modules if name.split(".")[0] == "benchmarks"]:
        del sys.modules[name]
    sys.modules.update(kept)


def test_suites_are_listed(checkout: Path, call: Call) -> None:
    out = call("bench").out
    assert [line.split()[0] for line in out.splitlines()[1:]] == ["count", "fixed"]
    assert "Counts." in out and "More text" not in out


def test_one_json_object_per_line(checkout: Path, call: Call) -> None:
    records = [json.loads(line) for line in call("bench", "count", "--json", "--sizes", "3,4").out.splitlines()]
    assert [record["n"] for record in records] == [3, 4, 1]


def test_rows_are_aligned_and_messages_shown(checkout: Path, call: Call) -> None:
    head, first, _, last = call("bench", "count").out.splitlines()
    assert head.split() == ["case", "n", "seconds", "ratio", "extra"]
    assert first.split() == ["one", "1", "0.5", "–", "3"]
    assert len(head) == len(first)
    assert last.endswith("not installed")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("coumt",), "There is no suite `coumt`. Did you mean `count`?"),
        (("count", "--sizes", "ten"), "is not a whole number"),
        (("fixed", "--sizes", "3"), "takes no `--sizes`"),
    ],
)
def test_wrong_options(checkout: Path, call: Call, arguments: tuple[str, ...], said: str) -> None:
    answer = call("bench", *arguments)
    assert answer.code == Exit.USAGE
    assert said in answer.told


def test_outside_a_checkout(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "__file__", "/usr/lib/python3/dist-packages/acausal/cli/bench.py")
    answer = call("bench")
    assert answer.code == Exit.USAGE
    assert "Benchmarks are run from a checkout of the sources" in answer.told
