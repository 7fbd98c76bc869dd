"""Media in components: what flows in a circuit is said once, anywhere in it, and known to everything connected.

A component declares ports (`FluidPort`) and, where it has several circuits, a place for the medium of each (`AnyMedium`). Which
medium that is follows from the connections (`families/circuits.py`), before any equation is stated. So `self.medium` and
`self.port.medium` are media while equations are stated, and one class makes one kind for each medium.
"""

from __future__ import annotations

import copy
import inspect
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, wraps
from typing import Any, ClassVar

from ..errors import UsageError
from .connector import Connector
from .declarations import Declaration, Flow, Potential, Stream, Variable
from .expression import Shape

PLACE = "medium"  # of the ports of a component that name no place


class Medium(ABC):
    """Base of all media: one object with its functions, and with what a port of it carries.

    A medium of your own derives from it and defines `name` and `state`; docs/media.md shows one.
    """

    name: str
    substances: tuple[str, ...] = ()  # whose mass fractions its ports carry; none where the composition is fixed
    evaporates: bool = False  # a state has a quality `x` and a `phase`
    compressible: bool = True  # its density changes with pressure, so that what is stored has one
    said_by_temperature: bool = False  # a component of which neither enthalpy nor temperature is given has its default temperature

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "state" in vars(cls):
            cls.state = _explained(cls.state)  # type: ignore[method-assign]

    @abstractmethod
    def state(self, *args: Any, **given: Any) -> Any:
        """The properties at a state, from numbers or in equations."""

    def saturation(self, *args: Any, **given: Any) -> Any:
        """Liquid and vapour in equilibrium; of a medium with one phase, an error."""
        raise UsageError(
            f"{self.name} has no two phases: saturation is asked of a fluid that can evaporate.",
            remedy='Take such a medium, `ac.media.fluid("R134a")`, or ask for `state` only.',
        )

    def particulars(self) -> str:
        """What tells it from others of its kind and name, in a few words; nothing where the name says all."""
        return ""

    def port_members(self) -> dict[str, Declaration]:
        """What its ports have besides, or in another way than, pressure, mass flow and enthalpy."""
        if not self.substances:
            return {}
        shape = len(self.substances)
        return {"X": Stream(with_="m_flow", unit="1", shape=shape, start=1.0 / shape, nominal=1.0, doc="mass fractions")}

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"


def _explained(state: Callable[..., Any]) -> Callable[..., Any]:
    """A medium's `state` that says what it takes when it is asked for something else."""

    @wraps(state)
    def explained(self: Medium, *args: Any, **given: Any) -> Any:
        try:
            return state(self, *args, **given)
        except TypeError:
            try:
                inspect.signature(state).bind(self, *args, **given)
            except TypeError:
                taken = ", ".join(n for n in inspect.signature(state).parameters if n not in ("self", "phase"))
                two_phases = " It has no two phases." if "x" in given else ""
                raise UsageError(
                    f"A state of {self.name} ({type(self).__name__}) cannot be found from ({', '.join(given)}).{two_phases}",
                    remedy=f"It takes some of: {taken}. A circuit needs a medium that flows and has a state at (p, h).",
                ) from None
            raise

    return explained


class AnyMedium:
    """A place for the medium of a circuit, in the body of a component: whatever the circuit has.

    `Pipe(medium="R134a")` or `Pipe(medium=ac.media.fluid("R134a"))` says it, there or in any component that is connected. Ports
    name the place that they belong to, `FluidPort(medium)`; a component with two circuits has two places. `default` holds in a
    circuit in which nobody says anything else. With `everywhere` the medium holds for all circuits beside and below the component,
    as that of a world would, where nobody in them says anything.

    >>> import acausal as ac
    >>> class Vessel(ac.Component):
    ...     medium = ac.AnyMedium("air")
    ...     port = ac.FluidPort(medium)
    ...     T = ac.Parameter(300.0, unit="K")
    ...     def equations(self):
    ...         yield self.port.p == 1e5
    ...         yield self.port.h.outflow == self.medium.state(p=self.port.p, T=self.T).h
    >>> model = ac.compile(Vessel(medium="water"))
    """

    def __init__(self, default: Medium | str | None = None, *, everywhere: bool = False, doc: str = "") -> None:
        self.name, self.doc, self.everywhere = "", doc, everywhere
        self.default = None if default is None else checked_medium("A default", default)
        self.is_implied = False  # by ports that name no place

    @classmethod
    def implied(cls) -> AnyMedium:
        """The place that a component has without declaring one."""
        new = cls()
        new.is_implied, new.name = True, PLACE
        return new

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, component: Any, owner: type) -> Any:
        return self if component is None else medium_at(component, self.name)

    def __set__(self, component: Any, value: Any) -> None:
        give_medium(component, self.name, value)


class UnknownMedium:
    """The medium of a circuit before it is known; it can be handed on: `self.pipe = Pipe(medium=self.medium)`."""

    def __init__(self, component: Any, name: str) -> None:
        self.component, self.place = component, name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise UsageError(
            f"The medium `{self.place}` of {type(self.component).__name__} is not known yet where `.{name}` is asked of it.",
            remedy="Ask in `equations`, `initial_equations` or `events`: there it is known, whoever in the circuit said it.",
        )

    def __deepcopy__(self, memo: dict[int, Any]) -> UnknownMedium:
        return UnknownMedium(memo.get(id(self.component)) or self.component, self.place)


def checked_medium(what: str, value: Any) -> Any:
    """A medium, the name of a fluid, or one that is not known yet."""
    if isinstance(value, (Medium, UnknownMedium)) or (isinstance(value, str) and value):
        return value
    raise UsageError(
        f"{what} is a medium or the name of a fluid, got {value!r} of type {type(value).__name__}.",
        remedy='Give `ac.media.fluid("R134a")`, another medium of `ac.media`, or a name such as "water".',
    )


def give_medium(component: Any, name: str, value: Any) -> None:
    """Say which medium a component's place has."""
    component.__dict__[name] = checked_medium(f"`{type(component).__name__}.{name}`", value)


# --- ports --------------------------------------------------------------------------------------------------------------------
class FluidPort(Connector):
    """A port through which a medium flows: pressure, mass flow, and the enthalpy it carries; of a mixture the mass fractions `X`.

    Without an argument the port is of the medium that the circuit has. Such ports of one component share it, unless they are
    connected inside: then what is there says it. It is `self.medium` of the component, and can be given: `Pipe(medium="water")`.
    `FluidPort(medium)` names a place (`ac.AnyMedium`) that it belongs to, or a medium.
    """

    p = Potential(unit="Pa", nominal=1e5, start=1e5, doc="pressure")
    m_flow = Flow(unit="kg/s", nominal=0.1, doc="mass flow")
    h = Stream(with_="m_flow", unit="J/kg", nominal=1e5, doc="specific enthalpy")

    fluid: ClassVar[bool] = True
    medium: ClassVar[Medium | None] = None  # once it is known

    def __init__(
        self,
        medium: AnyMedium | Medium | UnknownMedium | str | None = None,
        *,
        positive: str = "in",
        shape: int | Shape = (),
        doc: str = "",
    ) -> None:
        super().__init__(positive=positive, shape=shape, doc=doc)
        known = medium is None or isinstance(medium, AnyMedium)
        self.said = medium if known else checked_medium("The medium of a port", medium)


def belongs_to_default(declared: Any) -> bool:
    """Whether a port within a connector names no place."""
    if not isinstance(declared, Connector) or not declared.fluid:
        return False
    ports = [part_at(declared, path) for path in fluid_paths(declared)]
    return any(isinstance(port, FluidPort) and port.said is None for port in ports)


def fluid_paths(connector: Connector) -> list[str]:
    """Where in a connector fluid ports are: "" for itself, "supply" for one within it."""
    if isinstance(connector, FluidPort):
        return [""]
    return [f"{name}.{path}".rstrip(".") for name, part in connector.parts.items() for path in fluid_paths(part)]


def part_at(connector: Connector, path: str) -> Connector:
    for name in path.split(".") if path else ():
        connector = connector.parts[name]
    return connector


@cache
def _of_media(cls: type[Connector], media: tuple[tuple[str, Medium], ...]) -> type[Connector]:
    """A connector class whose ports know their media."""
    held: dict[str, Any] = {"__module__": cls.__module__, "__qualname__": cls.__qualname__, "__doc__": cls.__doc__}
    if issubclass(cls, FluidPort):
        (_, medium), *_ = media
        held |= {"medium": medium, **medium.port_members()}
    for name, part in cls.parts.items():
        inner = {path.partition(".")[2]: m for path, m in media if path.partition(".")[0] == name}
        if inner:
            held[name] = with_media(part, inner)
    return type(cls.__name__, (cls,), held)


def with_media(connector: Connector, media: Mapping[str, Medium]) -> Connector:
    """A connector of the same place whose ports know their media; `media` by paths within it."""
    new = copy.copy(connector)
    new.__class__ = _of_media(type(connector), tuple(media.items()))  # type: ignore[arg-type]  # its instances are not compared
    return new


class OfMedium(Variable):
    """An unknown that depends on the medium of its component: whether it is there, and with how many elements."""

    of: AnyMedium | None = None  # the place whose medium counts
    lacking = "its medium has none"
    question = "if self.medium.…:"

    def shape_with(self, medium: Medium) -> Shape | None:
        """Its shape; None where it is not there."""
        return self.shape

    def resolved(self, component: Any) -> OfMedium | None:
        """As it is in a component of known medium; nothing where it is not there."""
        medium = media_of(component).get(self.of.name if self.of is not None else PLACE)
        shape = None if medium is None else self.shape_with(medium)
        if shape is None:
            return None
        new = copy.copy(self)
        new.shape = shape
        return new

    def __get__(self, component: Any, owner: type) -> Any:
        if component is not None and self.resolved(component) is None:
            known = media_of(component)
            why = self.lacking if known else "its medium is known only while equations and connections are read"
            remedy = f"Ask first: `{self.question}`." if known else "Use it in `equations`, or by its name in a result."
            raise UsageError(f"`{self.name}` of {owner.__name__} is not there: {why}.", remedy=remedy)
        return super().__get__(component, owner)


class OfPhases(OfMedium):
    """An unknown that is there where the medium can evaporate, in the body of a component: its quality, or its phase.

    Where it cannot, it is not there: equations ask `if self.medium.evaporates:` first.

    >>> import acausal as ac
    >>> class Vessel(ac.Component):
    ...     port = ac.FluidPort()
    ...     x = ac.OfPhases(doc="vapour quality")
    ...     def equations(self):
    ...         yield self.port.p == 5e5
    ...         yield self.port.h.outflow == 3e5
    ...         if self.medium.evaporates:
    ...             yield self.x == self.medium.state(p=self.port.p, h=3e5).x
    >>> result = ac.compile(Vessel(medium="R134a")).steady_state()
    >>> round(float(result["x"][0]), 3)
    0.422
    """

    lacking = "its medium has no two phases"
    question = "if self.medium.evaporates:"

    def shape_with(self, medium: Medium) -> Shape | None:
        """As declared; None where the medium does not evaporate."""
        return self.shape if medium.evaporates else None


class Fractions(OfMedium):
    """An unknown for each substance of a medium, in the body of a component: mass fractions, or masses.

    `X = ac.Fractions()` has as many elements as the medium of the component has `substances`; with `of`, a place, that one's.
    `ac.Fractions(shape=5)` has five rows of so many, one for each of five cells. Where the medium has no substances, it is not
    there: equations ask `if self.medium.substances:` first.
    """

    def __init__(self, of: AnyMedium | None = None, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.of = of

    lacking = "its medium has no substances that vary"
    question = "if self.medium.substances:"

    def shape_with(self, medium: Medium) -> Shape | None:
        """One element for each substance; None where there are none."""
        return (*self.shape, len(medium.substances)) if medium.substances else None


# --- what is known while a translation reads components -----------------------------------------------------------------------
Known = Mapping[int, Mapping[str, Medium]]  # of each component, by its id: the media of its places and ports


class _Knowing(threading.local):
    media: Known | None = None


_knowing = _Knowing()


@contextmanager
def known_media(media: Known) -> Iterator[None]:
    """Within, components know the media of their circuits."""
    before, _knowing.media = _knowing.media, media
    try:
        yield
    finally:
        _knowing.media = before


def media_of(component: Any) -> Mapping[str, Medium]:
    """What is known of a component's media."""
    return {} if _knowing.media is None else _knowing.media.get(id(component), {})


def medium_at(component: Any, place: str) -> Any:
    """The medium of a place: the one of its circuit, or the one it was given; else a promise of it."""
    found = media_of(component).get(place) or component.__dict__.get(place)
    return found if isinstance(found, Medium) else UnknownMedium(component, place)


def known_connector(component: Any, connector: Any) -> Any:
    """A connector of a component, with the media of its ports as far as they are known."""
    known = media_of(component)
    if not known:
        return connector
    media = {}
    for path in fluid_paths(connector):
        name = f"{connector.name}.{path}".rstrip(".")
        if name in known:
            media[path] = known[name]
    return with_media(connector, media) if media else connector
