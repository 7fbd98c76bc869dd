"""The stub of the native core names everything that is there, so that calls are checked and editors complete them."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest

import acausal

core = pytest.importorskip("acausal._core")
STUB = ast.parse((Path(acausal.__path__[0]) / "_core.pyi").read_text())


def members(body: list[ast.stmt]) -> set[str]:
    functions = {node.name for node in body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    return functions | {node.target.id for node in body if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)}


def public(thing: object) -> set[str]:
    return {name for name in dir(thing) if not name.startswith("_")}


def test_the_stub_names_what_is_there() -> None:
    assert members(STUB.body) == public(core)


@pytest.mark.parametrize(
    "name", sorted(n for n in public(core) if inspect.isclass(getattr(core, n)) or inspect.ismodule(getattr(core, n)))
)
def test_and_all_its_members(name: str) -> None:
    (stated,) = [node for node in STUB.body if isinstance(node, ast.ClassDef) and node.name == name]
    assert {m for m in members(stated.body) if not m.startswith("_")} == public(getattr(core, name))
