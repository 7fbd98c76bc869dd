"""The native half of this package: compiled graph algorithms, or none.

Every algorithm exists twice: in C++ (`native/graph.cpp`, part of `acausal._core`) and on numpy and `scipy.sparse.csgraph`. The
second keeps the program whole where the extension could not be built, and checks the first in the tests. Importing csgraph alone
takes longer than analysing 10^6 equations natively, so scipy is imported only where it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

_forbidden: ContextVar[bool] = ContextVar("structure_portable", default=False)


@cache
def _core() -> ModuleType | None:
    try:
        return import_module("acausal._core")
    except ImportError:
        return None


def find(name: str) -> Callable[..., Any] | None:
    """The native function `name`, or None when it is not there or `portable()` is in force.

    >>> find("graph_of_unheard_name") is None
    True
    """
    return None if _forbidden.get() else getattr(_core(), name, None)


@contextmanager
def portable() -> Iterator[None]:
    """Use the numpy and scipy implementations only, in this thread, for as long as the context lasts.

    >>> with portable():
    ...     find("graph_match") is None
    True
    """
    token = _forbidden.set(True)
    try:
        yield
    finally:
        _forbidden.reset(token)
