"""What editors and `help` know of a component class: a signature with every parameter, and a page of what it declares.

Both are made when somebody asks; a class costs nothing for them.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator
from typing import Any

from .connector import Connector
from .declarations import Declaration

_HEADINGS = {"parameter": "Parameters", "input": "Inputs", "variable": "Variables", "discrete": "Discrete variables"}
_SHOWN_EQUATIONS = 40


class _Default:
    """How a default looks in a signature."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def signature(cls: Any) -> inspect.Signature:
    """Arguments of `__init__`, then by keyword everything that can be modified; a parameter without a value must be given."""
    from .component import Component

    init = type.__getattribute__(cls, "__init__")
    taken = [] if init is Component.__init__ else list(inspect.signature(init).parameters.values())[1:]
    own = [p for p in taken if p.kind is not p.VAR_KEYWORD]
    named = {p.name for p in own}
    declared = [(name, d) for name, d in cls._class_declared.items() if isinstance(d, Declaration) and name not in named]
    declared.sort(key=lambda item: list(_HEADINGS).index(item[1].role) if item[1].role in _HEADINGS else 9)
    rest = [p for p in taken if p.kind is p.VAR_KEYWORD]
    media = [_place(name) for name in cls._class_media if name not in named]
    return inspect.Signature([*own, *(_argument(name, d) for name, d in declared if name.isidentifier()), *media, *rest])


def _place(name: str) -> inspect.Parameter:
    """A medium that may be given: whoever is connected may say it as well."""
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=_Default("…"), annotation=_Default("Medium | str"))


def _argument(name: str, declared: Declaration) -> inspect.Parameter:
    default: Any = inspect.Parameter.empty
    if declared.instead_of:
        default = _Default(f"instead of {declared.instead_of}")
    elif declared.role != "parameter":
        default = _Default("…" if declared.start is None else f"start({_number(declared.start)})")
        default = _Default(_number(declared.value)) if declared.role == "input" else default
    elif declared.value is not None:
        default = _Default(_number(declared.value))
    annotation = f"float [{declared.unit}]" if declared.unit else "float"
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=_Default(annotation))


def _number(value: Any) -> str:
    if isinstance(value, Declaration):
        return str(value.name)
    if isinstance(value, float):
        return f"{value:g}"
    return str(value.tolist() if hasattr(value, "tolist") else value)


def page(cls: Any, doc: str | None) -> str:
    """The class's own words, then what it declares and states."""
    parts = [inspect.cleandoc(doc or "")] if doc else []
    for role, heading in _HEADINGS.items():
        of_role = [(n, d) for n, d in cls._class_declared.items() if isinstance(d, Declaration) and d.role == role]
        lines = [_line(name, declared) for name, declared in of_role]
        parts += [f"{heading}:\n" + "\n".join(lines)] if lines else []
    ports = [f"    {n}: {type(d).__name__}" for n, d in cls._class_declared.items() if isinstance(d, Connector)]
    parts += ["Connectors:\n" + "\n".join(ports)] if ports else []
    stated = list(_equations(cls))
    more = [f"    … and {len(stated) - _SHOWN_EQUATIONS} more"] if len(stated) > _SHOWN_EQUATIONS else []
    parts += ["Equations:\n" + "\n".join([*(f"    {e}" for e in stated[:_SHOWN_EQUATIONS]), *more])] if stated else []
    return "\n\n".join(parts)


def _line(name: str, declared: Declaration) -> str:
    """`    G: 10 W/K, ≥ 0; conductance`."""
    shape = f"[{', '.join(map(str, declared.shape))}]" if declared.shape else ""
    value = declared.value if declared.role in ("parameter", "input") else declared.start
    said = "" if value is None else _number(value)
    if declared.role in ("variable", "discrete") and said:
        said = f"starts at {said}"
    if value is None and declared.role == "parameter":
        said = "to be given"
    facts = said if isinstance(value, Declaration) else f"{said} {declared.unit}".strip()  # it has a unit of its own
    bounds = _bounds(declared)
    if declared.instead_of:
        facts = f"{declared.unit} instead of {declared.instead_of}".strip()
    facts = ", ".join(filter(None, (facts, bounds)))
    return f"    {name}{shape}: " + "; ".join(filter(None, (facts, declared.doc)))


def _bounds(declared: Declaration) -> str:
    low, high = declared.min, declared.max
    if low is not None and high is not None:
        return f"{_number(low)} … {_number(high)}"
    return f"≥ {_number(low)}" if low is not None else f"≤ {_number(high)}" if high is not None else ""


def _equations(cls: Any) -> Iterator[str]:
    """The equations as they are written, those of base classes that count first; nothing where the source is not at hand."""
    if getattr(cls, "_ac_closed", False):
        return
    stated: list[list[str]] = []
    for base in cls.__mro__:
        method = vars(base).get("equations")
        if method is None or base.__module__ == "acausal.language.component":
            continue
        try:
            tree = ast.parse(textwrap.dedent(inspect.getsource(method)))
        except (OSError, TypeError, SyntaxError):
            continue
        yields = (node.value for node in ast.walk(tree) if isinstance(node, ast.Yield) and node.value is not None)
        stated.append([ast.unparse(value).replace("self.", "").replace("ac.der(", "der(") for value in yields])
        if not _goes_on(tree):
            break
    for equations in reversed(stated):
        yield from equations


def _goes_on(tree: ast.AST) -> bool:
    """Whether a method asks that of a base class, too: `yield from super().equations()`."""
    return any(isinstance(node, ast.Attribute) and node.attr == "equations" for node in ast.walk(tree))
