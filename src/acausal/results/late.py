"""Methods whose module is imported when somebody asks for them: a run that nobody plots needs no pictures."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class Late:
    """A function of a module of this package as a method. Whoever looks at it sees the function itself."""

    def __init__(self, module: str, name: str) -> None:
        self._module, self._name = module, name

    def __get__(self, held: Any, owner: type | None = None) -> Any:
        function = getattr(import_module(f".{self._module}", __package__), self._name)
        return function if held is None else function.__get__(held, owner)
