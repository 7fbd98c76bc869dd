"""Connectors: the places where components meet (WinDali's pins, section 6)."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..errors import Location, UsageError, near_matches
from .declarations import _OWN_FILES, Declaration, Input, Parameter, as_shape
from .expression import Reference, Shape


class Connector:
    """Base of connector classes: a set of `Potential` and `Flow` declarations.

    `Pin()` in a component's body makes a connector whose flows are positive into the component; `Pin(positive="out")` one whose
    flows are positive out of it (WinDali 6.1: In and Out). `Pin(shape=3)` makes an array of three.
    Example:

        class Pin(ac.Connector):
            v = ac.Potential(unit="V")
            i = ac.Flow(unit="A")
    """

    members: ClassVar[dict[str, Declaration]] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        members: dict[str, Declaration] = {}
        for base in reversed(cls.__mro__):
            found = {k: v for k, v in vars(base).items() if isinstance(v, Declaration)}
            members.update(found)
        for name, member in members.items():
            if isinstance(member, (Parameter, Input)):
                raise UsageError(f"`{cls.__name__}.{name}`: a connector holds `Potential` and `Flow` variables only.")
        cls.members = members

    def __init__(self, *, positive: str = "in", shape: int | Shape = (), doc: str = "") -> None:
        if positive not in ("in", "out"):
            raise UsageError(f"`positive` is 'in' (flows counted into the component) or 'out'; got {positive!r}.")
        self.sign = 1 if positive == "in" else -1
        self.shape, self.doc, self.name = as_shape(shape), doc, ""
        self.location = Location.of_caller(_OWN_FILES)
        self.place = ""  # the class in whose body it stands, and its name there

    def __set_name__(self, owner: type, name: str) -> None:
        if not self.place:
            self.name, self.place = name, f"{owner.__module__}.{owner.__qualname__}.{name}"

    def __get__(self, component: Any, owner: type) -> Any:
        return self if component is None else ConnectorView(component, component, self, self.shape, None)


class ConnectorView:
    """A connector of `owner` (or of several elements of an array) seen from `root`; what `self.p` gives."""

    __slots__ = ("_connector", "_owner", "_picked", "_root", "_shape")

    _root: Any
    _owner: Any
    _connector: Connector
    _shape: Shape
    _picked: np.ndarray | None

    def __init__(self, root: Any, owner: Any, connector: Connector, shape: Shape, picked: np.ndarray | None) -> None:
        put = object.__setattr__
        put(self, "_root", root)
        put(self, "_owner", owner)
        put(self, "_connector", connector)
        put(self, "_shape", shape)
        put(self, "_picked", picked)

    def __setattr__(self, name: str, value: Any) -> None:
        """`self.tank.port.p = ac.start(2e5)`; a number is refused, for it is an unknown."""
        getattr(self, name)  # which says what there is
        self._owner._modify(f"{self._connector.name}.{name}", value)

    def __getattr__(self, name: str) -> Reference:
        connector = self._connector
        member = connector.members.get(name)
        if member is None:
            kind = type(connector).__name__
            raise UsageError(f"A {kind} has no `{name}`. {near_matches(name, connector.members)}".strip())
        picked, shape = self._picked, self._shape
        if member.shape and picked is not None:
            size = int(np.prod(member.shape))
            inner = np.arange(size).reshape(member.shape)
            picked = picked.reshape(picked.shape + (1,) * inner.ndim) * size + inner
        return Reference(self._root, self._owner, f"{connector.name}.{name}", shape + member.shape, picked)

    def __getitem__(self, key: Any) -> ConnectorView:
        if not self._shape:
            raise UsageError(f"`{self}` is a single connector and cannot be indexed.")
        numbers = self._picked
        if numbers is None:
            numbers = np.arange(int(np.prod(self._shape))).reshape(self._shape)
        try:
            picked = np.asarray(numbers[key])
        except IndexError as error:
            raise UsageError(f"`{self}` has shape {self._shape}: {error}.") from None
        return ConnectorView(self._root, self._owner, self._connector, picked.shape, picked)

    def __len__(self) -> int:
        return self._shape[0] if self._shape else 1

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, ConnectorView):
            raise UsageError(
                f"`{self}` is a connector and cannot be equated with {other!r}.", remedy="Equate one of its variables."
            )
        a, b = self._seen_beside(other), other._seen_beside(self)
        raise UsageError(
            f"Connectors are joined in `connections`, not equated: `{a}` and `{b}`.",
            remedy=f"There, write a comma: `yield self.{a}, self.{b}`. In `equations`, equate single variables of theirs.",
        )

    def _seen_beside(self, other: ConnectorView) -> str:
        """The path from the innermost component that sees both."""
        root = self._owner
        while root._ac_parent is not None and other._owner._steps_from(root) is None:
            root = root._ac_parent
        return str(self._owner._path_from(root, self._connector.name))

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return self._owner._path_from(self._root, self._connector.name)
