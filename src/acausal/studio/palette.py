"""The palette: component classes of the library, and those of the model's own file."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import sys
from collections.abc import Iterator
from types import ModuleType

from .. import library
from ..language.component import Component
from ..language.connector import Connector
from ..language.icons import drawing
from .diagram import icon_of
from .protocol import Piece

_NOT_PARTS = ("acausal.library.demo",)  # whole plants


def palette() -> list[Piece]:
    """Every class that can be put into a plant as it is: one that needs no arguments."""
    return [piece for module in _modules() for piece in _pieces(module)]


def _modules() -> Iterator[ModuleType]:
    found = pkgutil.walk_packages(library.__path__, f"{library.__name__}.")
    yield from (importlib.import_module(m.name) for m in found if m.name not in _NOT_PARTS and not m.ispkg)
    own = [m for name, m in list(sys.modules.items()) if name not in ("__main__",) and hasattr(m, "__model__")]
    yield from own


def _pieces(module: ModuleType) -> Iterator[Piece]:
    group = module.__name__.removeprefix(f"{library.__name__}.").replace(".", " · ").replace("_", " ")
    for name, found in vars(module).items():
        if not (isinstance(found, type) and issubclass(found, Component) and found.__module__ == module.__name__):
            continue
        if name.startswith("_") or _needs_arguments(found):
            continue
        ports = [type(d).__name__ for d in found._class_declared.values() if isinstance(d, Connector)]
        if not ports and not any(getattr(d, "role", "") in ("input", "output") for d in found._class_declared.values()):
            continue
        doc = (inspect.getdoc(found) or "").split("\n")[0]
        yield Piece(name, module.__name__, group, doc, icon_of(name, drawing(found)), ports)


def _needs_arguments(kind: type) -> bool:
    parameters = list(inspect.signature(kind.__init__).parameters.values())[1:]  # type: ignore[misc]
    return any(p.default is p.empty and p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY) for p in parameters)
