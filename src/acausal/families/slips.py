"""Slips of Python that explain why a component states too few equations: an equation without `yield`, a forgotten base class.

Only looked for when something is wrong already; what cannot be read (no source at hand) is no slip.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterable
from typing import Any

from ..errors import Location
from ..language.component import Component


def equation_without_yield(component: Component, method: str = "equations") -> Location | None:
    """The first line of a method that compares two sides with `==` and does nothing with it."""
    for function in _methods(type(component), method):
        try:
            lines, first = inspect.getsourcelines(function)
            tree = ast.parse(textwrap.dedent("".join(lines)))
        except (OSError, TypeError, SyntaxError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Compare) and isinstance(node.value.ops[0], ast.Eq):
                return Location(function.__code__.co_filename, first + node.lineno - 1)
    return None


def forgotten_base(component: Component, stated: Iterable[Location | None]) -> str:
    """The name of a base class that has equations of which none was stated; empty if there is none."""
    places = {(place.file, place.line) for place in stated if place is not None}
    _, *inherited = _methods(type(component), "equations") or [None]
    for function in inherited:
        code = function.__code__
        if not any((code.co_filename, line) in places for _, _, line in code.co_lines() if line):
            return str(function.__qualname__.rpartition(".")[0])
    return ""


def _methods(cls: type, name: str) -> list[Any]:
    """The methods of that name along the classes of the user's and the library's, the one that runs first."""
    found = [vars(base)[name] for base in cls.__mro__ if base is not Component and name in vars(base)]
    return [function for function in found if hasattr(function, "__code__")]
