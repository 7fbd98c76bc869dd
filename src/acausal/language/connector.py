"""Connectors: the places where components meet (WinDali's pins, section 6)."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from ..arguments import is_one_of
from ..errors import Location, UsageError, an, near_matches
from .declarations import _OWN_FILES, Declaration, Input, Parameter, Stream, as_shape
from .expression import Arithmetic, Expression, Reference, Shape, take

_Itself = TypeVar("_Itself", bound="Connector")  # Jedi does not know `Self`


class Connector:
    """Base of connector classes: a set of `Potential`, `Flow` and `Stream` declarations, and of connectors within it.

    `Pin()` in a component's body makes a connector whose flows are positive into the component; `Pin(positive="out")` one whose
    flows are positive out of it (WinDali 6.1: In and Out). `Pin(shape=3)` makes an array of three.
    Example:

        class Pin(ac.Connector):
            v = ac.Potential(unit="V")
            i = ac.Flow(unit="A")
    """

    members: ClassVar[dict[str, Declaration]] = {}  # of connectors within this one and of streams, too: `air.p`, `h.outflow`
    parts: ClassVar[dict[str, Connector]] = {}  # connectors within this one
    streams: ClassVar[dict[str, Stream]] = {}
    fluid: ClassVar[bool] = False  # whether a medium flows through it, or through one within it: `medium.py`

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        stated: dict[str, Any] = {}
        for base in reversed(cls.__mro__):
            stated.update({k: v for k, v in vars(base).items() if isinstance(v, (Declaration, Connector))})
        cls.members, cls.parts, cls.streams = {}, {}, {}
        for name, found in stated.items():
            if isinstance(found, (Parameter, Input)):
                raise UsageError(f"`{cls.__name__}.{name}`: a connector holds `Potential`, `Flow` and `Stream` variables only.")
            if isinstance(found, Connector):
                cls._add_part(name, found)
            elif isinstance(found, Stream):
                cls.streams[name] = found
                cls.members |= {f"{name}.{which}": found.part(which) for which in ("outflow", "inflow")}
            else:
                cls.members[name] = found
        for name, stream in cls.streams.items():
            cls._check_stream(name, stream)
        cls.fluid = cls.fluid or any(part.fluid for part in cls.parts.values())

    @classmethod
    def _add_part(cls, name: str, part: Connector) -> None:
        """The members of a connector within this one are its own, under longer names."""
        if part.sign < 0:
            raise UsageError(
                f"`{cls.__name__}.{name}`: a connector within another counts its flows as that one does.",
                remedy="Leave `positive` out there, and give it where the outer connector is used.",
            )
        cls.parts[name] = part
        for member, declaration in part.members.items():
            own = copy.copy(declaration)
            own.shape = part.shape + declaration.shape
            own.with_ = f"{name}.{declaration.with_}" if declaration.with_ else ""
            cls.members[f"{name}.{member}"] = own

    @classmethod
    def _check_stream(cls, name: str, stream: Stream) -> None:
        flow = cls.members.get(stream.with_)
        if flow is None or not flow.flow or flow.shape:
            flows = [n for n, m in cls.members.items() if m.flow and not m.shape]
            raise UsageError(
                f"`{cls.__name__}.{name}` is a stream with `{stream.with_}`, which is not a flow of this connector. "
                f"{near_matches(stream.with_, flows)}".strip(),
                remedy=f"Its flows are: {', '.join(flows) or 'none'}.",
            )

    @classmethod
    def lineage(cls) -> tuple[str, ...]:
        """The connector classes it is derived from, itself first: what it connects to."""
        return tuple(f"{c.__module__}.{c.__qualname__}" for c in cls.__mro__ if issubclass(c, Connector) and c is not Connector)

    def part_of(self, name: str) -> Connector:
        """A connector within this one, as one of the same component."""
        found = copy.copy(self.parts[name])
        found.name, found.sign, found.shape = f"{self.name}.{name}", self.sign, self.shape + found.shape
        return found

    def __init__(self, *, positive: str = "in", shape: int | Shape = (), doc: str = "") -> None:
        if not is_one_of(positive, ("in", "out")):
            raise UsageError(f"`positive` is 'in' (flows counted into the component) or 'out'; got {positive!r}.")
        self.sign = 1 if positive == "in" else -1
        self.shape, self.doc, self.name = as_shape(shape), doc, ""
        self.location = Location.of_caller(_OWN_FILES)
        self.place = ""  # the class in whose body it stands, and its name there

    def __set_name__(self, owner: type, name: str) -> None:
        if not self.place:
            self.name, self.place = name, f"{owner.__module__}.{owner.__qualname__}.{name}"

    if TYPE_CHECKING:  # editors see the connector itself in a component: `self.port.` completes to its quantities

        def __get__(self: _Itself, component: Any, owner: Any) -> _Itself: ...

        def __getitem__(self: _Itself, which: Any) -> _Itself: ...

        def __getattr__(self, name: str) -> Any: ...

    else:

        def __get__(self, component: Any, owner: type) -> Any:
            if component is None:
                return self
            own = component._find(self.name) if self.fluid else self
            return ConnectorView(component, component, own, self.shape, None)


class StreamView(Arithmetic):
    """A stream of a connector: `outflow` (what would leave the component), `inflow` (what would enter), `actual` (what passes)."""

    __slots__ = ("_name", "_port", "_with")

    def __init__(self, port: ConnectorView, name: str, with_: str) -> None:
        self._port, self._name, self._with = port, name, with_

    @property
    def outflow(self) -> Reference:
        found: Reference = getattr(self._port, f"{self._name}.outflow")
        return found

    @property
    def inflow(self) -> Reference:
        found: Reference = getattr(self._port, f"{self._name}.inflow")
        return found

    @property
    def actual(self) -> Expression:
        """What enters while the flow goes in, else what leaves; it makes no event, and `m_flow * h.actual` is continuous."""
        from .events import no_event
        from .functions import where

        flow: Expression = getattr(self._port, self._with) * self._port._connector.sign
        inner = self.inflow.ndim - flow.ndim
        if inner and flow.ndim:
            flow = take(flow, np.arange(flow.size).reshape(flow.shape + (1,) * inner))
        return no_event(where(flow > 0, self.inflow, self.outflow))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise UsageError(
            f"`{self._port}.{self._name}` is a stream and has no `{name}`. {near_matches(name, STREAM_PARTS)}".strip(),
            remedy=f"State what would leave, `{self._name}.outflow == …`; read `{self._name}.inflow` or `{self._name}.actual`.",
        )

    def __acausal_expression__(self) -> Expression:
        raise UsageError(
            f"`{self._port}.{self._name}` is a stream: it is one value when it leaves and another when it enters.",
            remedy=f"Use `{self._name}.outflow`, `{self._name}.inflow` or `{self._name}.actual`.",
        )

    def __eq__(self, other: object) -> Any:
        return self.__acausal_expression__()

    __hash__ = object.__hash__


STREAM_PARTS = ("outflow", "inflow", "actual")


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
        if name not in self._connector.members:
            getattr(self, name)  # which says what there is
            raise UsageError(f"`{self}.{name}` has parts: give one of those a start value.")
        self._owner._modify(f"{self._connector.name}.{name}", value)

    def __getattr__(self, name: str) -> Any:
        connector = self._connector
        member = connector.members.get(name)
        if member is not None:
            shape, picked = self._shape + member.shape, self._spread(member.shape)
            return Reference(self._root, self._owner, f"{connector.name}.{name}", shape, picked)
        if name in getattr(connector, "streams", ()):
            return StreamView(self, name, connector.streams[name].with_)
        if name in getattr(connector, "parts", ()):
            part = connector.parts[name]
            return ConnectorView(
                self._root, self._owner, connector.part_of(name), self._shape + part.shape, self._spread(part.shape)
            )
        if name.startswith("__"):
            raise AttributeError(name)
        if name == "medium" and getattr(connector, "fluid", False):
            return self._medium()
        known = dict.fromkeys(m.partition(".")[0] for m in connector.members)
        raise UsageError(
            f"{an(type(connector).__name__, first=True)} has no `{name}`. {near_matches(name, known)}".strip(),
            remedy=f"It has: {', '.join(known)}",
        )

    def _medium(self) -> Any:
        """What flows through a port, once the circuit is known; until then a promise of it."""
        from .medium import UnknownMedium

        known = getattr(self._connector, "medium", None)
        return UnknownMedium(self._owner, self._connector.name) if known is None else known

    def _spread(self, inner: Shape) -> np.ndarray | None:
        """Flat numbers of the picked connectors' own elements (None: all in order)."""
        picked = self._picked
        if not inner or picked is None:
            return picked
        size = int(np.prod(inner))
        return picked.reshape(picked.shape + (1,) * len(inner)) * size + np.arange(size).reshape(inner)

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
