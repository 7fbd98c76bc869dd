"""What the command line names: a file, a class in it, a module. Only read here; `load.py` imports it."""

from __future__ import annotations

import ast
import re
from dataclasses import field
from pathlib import Path
from typing import Any

from ..errors import Diagnostic, near_matches
from ..records import dataclass
from .exits import Exit
from .guard import Stop

_FILE = re.compile(r"^(?P<file>.*?\.py)(?::(?P<name>.*))?$", re.DOTALL)
_MODULE = re.compile(r"^(?P<module>[^\W\d][\w.]*)(?::(?P<name>.*))?$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Target:
    """What was typed, taken apart."""

    text: str
    file: str = ""
    module: str = ""
    name: str = ""
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)
    called: bool = False

    @property
    def source(self) -> str:
        return self.file or self.module


def parse(text: str) -> Target:
    """Take `file.py:Class(n=100)` apart.

    >>> parse("plant.py:House(3, heated=True)").args, parse("plant.py:House(3, heated=True)").kwargs
    ((3,), {'heated': True})
    """
    found = _FILE.match(text) or _MODULE.match(text)
    if found is None:
        remedy = "give a file (`plant.py`), a class in it (`plant.py:House`) or a module (`package.module:House`)"
        raise Stop(Exit.USAGE, Diagnostic(f"`{text}` names no model.", remedy=remedy))
    parts = found.groupdict()
    name, args, kwargs, called = _parse_call(parts["name"] or "", text)
    return Target(text, parts.get("file") or "", parts.get("module") or "", name, args, kwargs, called)


def _parse_call(text: str, whole: str) -> tuple[str, tuple[Any, ...], dict[str, Any], bool]:
    if not text or text.isidentifier():
        return text, (), {}, False
    try:
        node = ast.parse(text, mode="eval").body
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or any(k.arg is None for k in node.keywords):
            raise ValueError("not a call of a class")
        args = tuple(ast.literal_eval(a) for a in node.args)
        return node.func.id, args, {str(k.arg): ast.literal_eval(k.value) for k in node.keywords}, True
    except (SyntaxError, ValueError) as error:
        what = f"`{text}` in `{whole}` is not a class with plain arguments."
        remedy = 'arguments are numbers, strings, True, False, None, or lists of them: "plant.py:House(rooms=3)", in quotes'
        raise Stop(Exit.USAGE, Diagnostic(what, remedy=remedy)) from error


def no_such_file(path: Path) -> Diagnostic:
    if path.is_dir():
        return Diagnostic(f"`{path}` is a folder, not a model file.")
    folder = path.parent
    if not folder.is_dir():
        return Diagnostic(f"There is no file `{path}`, and no folder `{folder}` either.")
    near = re.sub(r"(\w)`", r"\1.py`", near_matches(path.stem, [p.stem for p in folder.glob("*.py")]))
    return Diagnostic(f"There is no file `{path}`. {near}".rstrip())
