"""Data flows from left to right: no package imports from one to its right, not even late, inside a function."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1] / "src" / "acausal"

# The pipeline of docs/architecture.md. What stands in one group may not import each other's members' right neighbours; `errors`,
# `container`, `economy` and `vault` are for everybody, `cli` and the faces of the package (`__init__`, `loading`, `solvers`) may
# import everything.
ORDER = [
    "records",
    "errors",
    "arguments",
    "economy",
    "short",
    "stored",
    "container",
    "html",
    "readable",
    "vault",
    "structure",
    "language",
    "media",
    "families",
    "kernels",
    "program",
    "runtime",
    "diagnosis",
    "results",
    "analysis",
    "model",
    "studies",
]
FREE = ("mypy_plugin", "cli", "__init__", "__main__", "loading", "library", "solvers", "climate", "studio")

# Who may import from the right, and whom: nobody. What a class is to offer of a package to its right, `ac.…` does (`short.py`).
DEBTS: dict[str, set[str]] = {}


def imported(file: Path) -> Iterator[tuple[str, int]]:
    """First parts of what a file imports of this program, with the line; what only type checkers see does not count."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for_checkers = {id(n) for node in ast.walk(tree) if _is_type_checking(node) for n in ast.walk(node)}
    package = ["acausal", *file.relative_to(ROOT).with_suffix("").parts[:-1]]
    for node in ast.walk(tree):
        if id(node) in for_checkers:
            continue
        if isinstance(node, ast.Import):
            yield from ((name.name.split(".")[1], node.lineno) for name in node.names if name.name.startswith("acausal."))
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            whole = [*base, *(node.module or "").split(".")] if node.module else base
            if whole[:1] == ["acausal"]:
                yield from ((part, node.lineno) for part in ([whole[1]] if len(whole) > 1 else [n.name for n in node.names]))


def _is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def backward(file: Path) -> dict[str, int]:
    """Packages to the right that a file imports."""
    own = file.relative_to(ROOT).with_suffix("").parts[0]
    if own in FREE:
        return {}
    return {name: line for name, line in imported(file) if name in ORDER and ORDER.index(name) > ORDER.index(own)}


FILES = sorted(ROOT.rglob("*.py"))


@pytest.mark.parametrize("package", sorted({f.relative_to(ROOT).parts[0].removesuffix(".py") for f in FILES} - {"__init__"}))
def test_nothing_imports_from_its_right(package: str) -> None:
    assert package in ORDER or package in FREE, f"where does `{package}` stand in the pipeline?"
    found = {}
    for file in (f for f in FILES if f.relative_to(ROOT).parts[0].removesuffix(".py") == package):
        name = file.relative_to(ROOT).as_posix()
        wrong = {p: line for p, line in backward(file).items() if p not in DEBTS.get(name, ())}
        if wrong:
            found[name] = wrong
    assert not found


def test_debts_are_not_kept_longer_than_needed() -> None:
    for name, packages in DEBTS.items():
        assert packages <= set(backward(ROOT / name)), f"{name} no longer imports all of {packages}: shorten the list"


def test_the_only_method_that_is_short_for_something_to_its_right() -> None:
    """A way around the check that nobody should take without a look at this line."""
    used = [f.relative_to(ROOT).as_posix() for f in FILES if "Short()" in f.read_text(encoding="utf-8")]
    assert used == ["model/model.py"] and (ROOT / "model/model.py").read_text(encoding="utf-8").count("Short()") == 1


def test_the_check_finds_late_imports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.test_imports.ROOT" if __name__.startswith("tests.") else f"{__name__}.ROOT", tmp_path)
    (tmp_path / "families").mkdir()
    file = tmp_path / "families" / "late.py"
    file.write_text("def f():\n    from ..results.result import Result\n    from .. import runtime\n")
    assert backward(file) == {"results": 2, "runtime": 3}


def test_the_pipeline_is_the_one_in_the_documentation() -> None:
    text = (ROOT.parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")
    everywhere = (
        "records", "errors", "arguments", "economy", "short", "stored", "container", "html", "readable", "vault", "structure",
        "studies", "media",
    )  # fmt: skip
    assert "  →  ".join(p for p in ORDER if p not in everywhere) in text
