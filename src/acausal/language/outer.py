"""What surrounds a component and is known to everything inside: the ambient, gravity, a common supply.

`ambient = ac.outer(Ambient)` in a component's body gives it `self.ambient.T` and all that an `Ambient` declares, of the nearest one
around it: one that a component around it has as a part. There may be many (each of a hundred houses has its own); which one an
instance sees is an index, and what it sees costs no unknown and no equation.
"""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar

from ..arguments import checked
from ..errors import UsageError
from .component import Component
from .connector import Connector
from .declarations import Declaration, Potential


class Outer(Connector):
    """A view of a component around this one. Made by `ac.outer`."""

    world: ClassVar[type[Component]]


@checked
def outer(what: type[Any], *, doc: str = "") -> Any:
    """The nearest component of a class around this one: `ambient = ac.outer(Ambient)`, then `self.ambient.T` in equations.

    >>> import acausal as ac
    >>> class Ambient(ac.Component):
    ...     T = ac.Parameter(293.15, unit="K")
    >>> class Body(ac.Component):
    ...     ambient = ac.outer(Ambient)
    ...     T = ac.Variable(start=350.0, unit="K")
    ...     tau = ac.Parameter(100.0, unit="s")
    ...     def equations(self):
    ...         yield self.tau * ac.der(self.T) == self.ambient.T - self.T
    >>> class Room(ac.Component):
    ...     def __init__(self):
    ...         self.ambient, self.body = Ambient(T=280.0), Body()
    >>> round(float(ac.compile(Room()).steady_state()["body.T"][0]), 6)
    280.0
    """
    if not (isinstance(what, type) and issubclass(what, Component)):
        raise UsageError(f"`ac.outer` takes a class of components, got {what!r}.")
    return _view_class(what)(doc=doc)


@cache
def _view_class(what: type[Component]) -> type[Outer]:
    seen: dict[str, Any] = {"world": what}
    for name, found in what._class_declared.items():
        if isinstance(found, Declaration):
            seen[name] = Potential(unit=found.unit, doc=found.doc, shape=found.shape)
            seen[name].stream = "outer"
    if len(seen) == 1:
        raise UsageError(f"{what.__name__} declares nothing in its class body that could be seen from inside.")
    return type(what.__name__, (Outer,), seen)
