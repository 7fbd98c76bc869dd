"""Methods that are short for a function of the package's face: `model.study(…)` is `ac.study(model, …)`.

The function may stand in any package to the right of the class: only the face knows where, and imports it when it is used.
"""

from __future__ import annotations

import sys
from types import MethodType
from typing import Any, final


@final
class Short:
    """A method that the face of the package has under its name, as a function of the object."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        function = getattr(sys.modules[__package__], self._name)
        return function if instance is None else MethodType(function, instance)
