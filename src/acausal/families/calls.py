"""Functions that equations call, as what is kept about an equation tells them from each other.

A function comes with the equations, in each process. What is found about these is kept in files, in which it is one of those that
the equations call (by number) or a relative of one: the derivative of a table, another result of the same evaluation.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..language.expression import Call, Expression, leaves

Told = list[Any]  # the number of a function with the same root, and which member of it is meant


def called(roots: Iterable[Expression]) -> tuple[Any, ...]:
    """The functions in some expressions, each once, in the order of a walk."""
    return tuple({id(n.function): n.function for n in leaves(*roots) if isinstance(n, Call)}.values())


def is_function(thing: Any) -> bool:
    """Whether one of the objects in an expression is a function."""
    return not isinstance(thing, Expression)


def _root(function: Any) -> Any:
    return getattr(function, "root", function)  # whatever is called by address, and is no function of the language, is alone


def told(function: Any, among: Sequence[Any]) -> Told | None:
    """A function by one of its relatives; None where there is none."""
    root = _root(function)
    for k, other in enumerate(among):
        if is_function(other) and _root(other) is root:
            return [k, getattr(function, "member", None)]
    return None


def found(said: Told, among: Sequence[Any]) -> Any:
    """What `told` told, among the functions of this process."""
    place, member = said
    root = _root(among[place])
    return root.relative(member) if hasattr(root, "relative") else root


def texts(functions: Sequence[Any], forms: bool = False) -> list[str] | None:
    """All that a result may depend on, of each: what its root is, whether another one has the same, and which member of it it is.
    `forms`: all that derivatives and their code depend on. None where that cannot be said."""
    roots = [_root(function) for function in functions]  # held, so that no two have one identity
    places: dict[int, int] = {}
    lines = []
    for function, root in zip(functions, roots, strict=True):
        said = "" if not hasattr(root, "form") else root.form() if forms else root.description()
        if not said:
            return None
        which = (places.setdefault(id(root), len(places)), function.member, function.arity, bool(function.data_address))
        named = () if forms else (function.name, getattr(function, "units", None))
        lines.append(f"f {which} {named} {said}")
    return lines
