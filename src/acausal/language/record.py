"""Records: named groups of parameters that travel as one value, from a plant to its parts or from a catalogue.

A record is a component of parameters alone. The first component that takes one has it as a part; whoever takes it afterwards has
one of its own whose parameters are those of the first, unless something else is said of them there.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Self

from ..errors import UsageError, an, near_matches
from .alternatives import takes_place
from .component import Component, View
from .copying import copy_of
from .declarations import Parameter


class Record(Component):
    """A group of parameters: the geometry of a pipe, the data sheet of a pump.

    `self.geometry = geometry` in several components shares it: they follow the first that took it, and
    `set={"geometry.d": "30 mm"}` moves them all.

    >>> import acausal as ac
    >>> class Geometry(ac.Record):
    ...     d = ac.Parameter(0.02, unit="m")
    ...     L = ac.Parameter(1.0, unit="m")
    >>> class Pipe(ac.Component):
    ...     V = ac.Variable(unit="m^3")
    ...     def __init__(self, geometry=None):
    ...         self.geometry = geometry or Geometry()
    ...     def equations(self):
    ...         yield self.V == 0.25 * ac.pi * self.geometry.d**2 * self.geometry.L
    >>> class Plant(ac.Component):
    ...     def __init__(self):
    ...         self.geometry = Geometry(d="50 mm")
    ...         self.a, self.b = Pipe(self.geometry), Pipe(self.geometry)
    >>> model = ac.compile(Plant())
    >>> result = model.steady_state(set={"geometry.L": 2.0, "b.geometry.L": 4.0})
    >>> [round(float(1e3 * result[name][0]), 3) for name in ("a.V", "b.V")]
    [3.927, 7.854]
    """

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for name, found in cls._class_declared.items():
            if not isinstance(found, Parameter):
                raise UsageError(
                    f"`{name}` of {cls.__name__} is {an(type(found).__name__)}: a record has parameters only.",
                    remedy="Derive from `ac.Component` what has variables, connectors or equations.",
                )

    @classmethod
    def of(cls, catalogue: str | os.PathLike[str], name: str) -> Self:
        """The record of a name in a file: JSON, `{"DN50": {"d": "53 mm", "L": 2.0}, …}`; what it leaves out is as in the class."""
        entries = _entries(Path(catalogue))
        if name not in entries:
            near = near_matches(name, entries)
            raise UsageError(
                f"There is no `{name}` in {os.fspath(catalogue)}. {near}".rstrip(),
                remedy=f"It has: {', '.join(entries) or 'nothing'}.",
            )
        entry = entries[name]
        if not isinstance(entry, dict):
            raise UsageError(f"`{name}` in {os.fspath(catalogue)} is {entry!r}, not a group of parameters with their values.")
        return cls(**entry)

    def _ac_for(self, parent: Component, name: str) -> Component:
        if self._ac_parent is None or (self._ac_parent is parent and self._ac_name == name):
            return self
        follower = copy_of(self)
        _follow(follower, self)
        return follower

    def _ac_following(self, leaders: View) -> Component:
        follower = copy_of(self)
        object.__setattr__(follower, "_ac_array_shape", ())
        _follow(follower, leaders)
        return follower

    def _ac_becomes(self, other: Component) -> bool:
        if type(other) is not type(self):
            return False
        takes_place(self, other._ac_modifications)
        self._ac_modifications.update(other._ac_modifications)
        return True


def _follow(follower: Component, leader: Component | View) -> None:
    """Let each parameter of a record be that of another one, or of elements of an array, and so in the records within."""
    for name in follower._all_declared():
        follower._modify(name, getattr(leader, name))
    for name, part in follower.__dict__.items():
        if isinstance(part, Record):
            _follow(part, getattr(leader, name))


def _entries(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"The catalogue {path} cannot be read: {error.strerror}.") from None
    except ValueError as error:
        raise UsageError(f"The catalogue {path} is not JSON: {error}.") from None
    if not isinstance(found, dict):
        raise UsageError(f"The catalogue {path} has no names: it should be an object of named records.")
    return found
