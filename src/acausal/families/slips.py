"""Slips of Python that explain why a component states too few equations: an equation without `yield`, a forgotten base class.

Only looked for when something is wrong already; what cannot be read (no source at hand) is no slip.
"""

from __future__ import annotations

import ast
import linecache
import textwrap
from collections.abc import Iterable

from ..errors import Location
from ..language.component import Component
from .plant import Method


def methods_of(cls: type, name: str) -> tuple[Method, ...]:
    """The methods of that name along the classes of the user's and the library's, the one that runs first."""
    found = []
    for base in cls.__mro__:
        code = getattr(vars(base).get(name), "__code__", None)
        if base is not Component and code is not None:
            last = max([line for _, _, line in code.co_lines() if line] or [code.co_firstlineno])
            found.append(Method(base.__qualname__, code.co_filename, code.co_firstlineno, last))
    return tuple(found)


def equation_without_yield(methods: Iterable[Method]) -> Location | None:
    """The first line of a method that compares two sides with `==` and does nothing with it."""
    for method in methods:
        for node in ast.walk(_tree(method)):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Compare) and isinstance(node.value.ops[0], ast.Eq):
                return Location(method.file, method.first + node.lineno - 1)
    return None


def _tree(method: Method) -> ast.Module:
    """The text of a method; its last statement may go on for a few more lines than its code says."""
    lines = linecache.getlines(method.file)
    for last in range(method.last, min(method.last + 20, len(lines)) + 1):
        try:
            return ast.parse(textwrap.dedent("".join(lines[method.first - 1 : last])))
        except SyntaxError:
            continue
    return ast.Module(body=[], type_ignores=[])


def forgotten_base(methods: Iterable[Method], stated: Iterable[Location | None]) -> str:
    """The name of a base class that has equations of which none was stated; empty if there is none."""
    places = [(place.file, place.line) for place in stated if place is not None]
    for method in list(methods)[1:]:
        if not any(file == method.file and method.first <= line <= method.last for file, line in places):
            return method.class_name
    return ""
