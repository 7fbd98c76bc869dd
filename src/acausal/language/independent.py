"""The independent variable with a name and a unit of its own: a height in m, a time in years."""

from __future__ import annotations

from typing import Any

from ..errors import UsageError
from .expression import Time


class Independent:
    """What a model is integrated over, where that is not time in seconds: `z = ac.Independent(unit="m", doc="height")`.

    It stands in the class body of a component and is used as `self.z`; `ac.time` is the same. `ac.der(x)` is then the derivative
    by it (in K/m, say), `simulate(until=2.0)` ends at 2 m, and results are drawn over it. One model has one of them: components
    of a library whose equations count seconds do not go with it, and the check of units says so.

    >>> import acausal as ac
    >>> class Atmosphere(ac.Component):
    ...     z = ac.Independent(unit="m", doc="height")
    ...     p = ac.Variable(start=1e5, fixed=True, unit="Pa")
    ...     scale = ac.Parameter(8000.0, unit="m")
    ...     def equations(self):
    ...         yield ac.der(self.p) == -self.p / self.scale
    >>> result = ac.compile(Atmosphere()).simulate(until="8 km")
    >>> round(result["p"][-1]), result.unit("z")
    (36788, 'm')
    """

    def __init__(self, unit: str = "s", doc: str = "") -> None:
        from .units import dimension

        if not isinstance(unit, str) or not unit:
            raise UsageError(f"A unit is a string such as 'm' or 'year', got {unit!r} of type {type(unit).__name__}.")
        dimension(unit)  # a unit that cannot be read is told here
        self.unit, self.doc, self.name = unit, doc, ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, component: Any, owner: type) -> Any:
        return self if component is None else Time()


_WITHOUT = ("builtins", "acausal.language.component")  # of which nobody is asked


def independents(cls: type) -> list[Independent]:
    """What a class and those it is derived from say the independent variable is."""
    own = [base for base in cls.__mro__ if base.__module__ not in _WITHOUT]
    return [v for base in reversed(own) for v in vars(base).values() if isinstance(v, Independent)]
