"""The gallery of mistakes: each model of `examples/erroneous` shows its golden file, and the message names what it must.

`pytest tests/test_gallery.py` compares; `python scripts/gallery.py --update` writes golden files and `docs/gallery.md` anew.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

_PATH = Path(__file__).parents[1] / "scripts" / "gallery.py"


def _script() -> Any:
    spec = importlib.util.spec_from_file_location("gallery", _PATH)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["gallery"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


gallery = _script()
EXHIBITS = gallery.exhibits()
SILENT = {"wrong_sign_without_error"}  # the one mistake that no program can see


def _native() -> bool:
    return importlib.util.find_spec("acausal._core") is not None


def test_there_are_enough() -> None:
    assert len(EXHIBITS) >= 40
    assert {e.theme for e in EXHIBITS} == set(gallery.THEMES)
    assert len({e.title for e in EXHIBITS}) == len(EXHIBITS)


@pytest.mark.parametrize("one", EXHIBITS, ids=lambda e: e.name)
def test_what_is_seen(one: Any) -> None:
    text = gallery.seen(one)
    assert "Traceback" not in text and " object at 0x" not in text
    assert "a way it should not" not in text, "a fault of the program, not of the model"
    missing = [word for word in one.expect if word not in text]
    assert not missing, f"{missing} not in:\n{text}"
    if one.simulates and not _native():
        return  # another solver stops elsewhere and says so in its own numbers
    golden = one.golden.read_text(encoding="utf-8")
    assert gallery.alike(golden, text), f"\nnow:\n{text}\ngolden:\n{golden}\n`python scripts/gallery.py --update` accepts it"


@pytest.mark.parametrize("one", EXHIBITS, ids=lambda e: e.name)
def test_every_message_has_a_remedy_and_every_mistake_is_marked(one: Any) -> None:
    golden = one.golden.read_text(encoding="utf-8")
    assert one.name in SILENT or " try" in golden
    assert gallery.MARK in one.path.read_text(encoding="utf-8")


def test_the_page_is_made_of_the_golden_files() -> None:
    texts = {e.name: e.golden.read_text(encoding="utf-8") for e in EXHIBITS}
    assert gallery.PAGE.read_text(encoding="utf-8") == gallery.page(texts), "`python scripts/gallery.py --update` makes it anew"
    assert {p.stem for p in gallery.GOLDEN.glob("*.txt")} == set(texts)


def test_alike_forgives_numbers_of_a_solver_only() -> None:
    assert gallery.alike("stopped at time 0.99998 in math_sin.py:12\n", "stopped at time 0.99997 in math_sin.py:12\n")
    assert gallery.alike("    x: local error 0.7 times\n", "    x: local error 0.4 times\n")
    assert not gallery.alike("stopped at time 0.9\n", "stopped at time 0.5\n")
    assert not gallery.alike("math_sin.py:12\n", "math_sin.py:13\n")
    assert gallery.alike("electrical.py:216\n", "electrical.py:220\n")
    assert not gallery.alike("room.T\n", "wall.T\n")
    assert not gallery.alike("2 unknowns\n", "3 unknowns\n")


@pytest.mark.parametrize("path", ["/a/b-c/d.e/room.py:3", "(/home/x_y/room.py:3)", "`/room.py:3`", "examples/room.py:3"])
def test_places_are_shown_without_folders(path: str) -> None:
    assert "/a" not in gallery.without_folders(path) and "/home" not in gallery.without_folders(path)
    assert "room.py:3" in gallery.without_folders(path)
