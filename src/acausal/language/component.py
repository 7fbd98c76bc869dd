"""Components: classes that declare quantities, state equations, and contain and connect other components."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from ..errors import UsageError, an, at_caller, near_matches, shown
from .alternatives import Groups, as_it_is, choose, groups_of, is_left_out, refuse_of_its_own, refuse_several, settle
from .connector import Connector, ConnectorView
from .copying import COPYING, copy_of, speak_of_copies
from .declarations import Constant, Declaration, Modification, Named, check_attributes, in_declared_unit
from .differences import refuse_level
from .expression import Expression, Reference, Shape
from .medium import PLACE, AnyMedium, OfMedium, belongs_to_default, give_medium, known_connector, medium_at
from .misuse import (
    METHODS,
    are_parts,
    checked_number,
    no_attribute,
    own_declarations,
    put,
    refuse_base,
    refuse_hidden,
    refuse_misnamed,
    refuse_repeated,
    refuse_replaced,
    refuse_reserved,
    refuse_ring,
    refuse_unknown,
    shortened,
    take_lists,
    taken,
    typed,
)
from .reading import is_reading, named_elsewhere, note
from .rerooting import of_elements, rerooted


class ComponentType(type):
    """Makes instances: keyword arguments that `__init__` does not take are modifications of what the class declares."""

    def __call__(cls, /, *args: Any, **kwargs: Any) -> Any:
        refuse_base(cls)
        self: Any = object.__new__(cls)  # type: ignore[arg-type]
        _prepare(self)
        init: Any = type.__getattribute__(cls, "__init__")
        if init is Component.__init__:
            if args:
                raise UsageError(f"{cls.__name__} takes keyword arguments only: {shortened(self._class_declared)}")
            modifications = kwargs
        else:
            taken, modifications = _split(cls, init, kwargs)
            init(self, *args, **taken)
            take_lists(self, Component)
        Component.__init__(self, **modifications)
        object.__setattr__(self, "_ac_made", True)
        return self

    @property
    def __signature__(cls) -> inspect.Signature:
        """What editors and `inspect.signature` show: every parameter by its name."""
        from .helptext import signature

        return signature(cls)

    @property
    def __doc__(cls) -> str | None:  # type: ignore[override]
        """The class's documentation, with what it declares: `help(Wall)`. Its own words alone: `vars(Wall)["__doc__"]`."""
        from .helptext import page

        own = vars(cls).get("__doc__")
        return page(cls, own) if cls._class_declared else own  # type: ignore[attr-defined]

    def __setattr__(cls, name: str, value: Any) -> None:
        refuse_replaced(cls, name, value)
        type.__setattr__(cls, name, value)
        if isinstance(value, (Declaration, Connector)):
            for changed in (cls, *_subclasses(cls)):
                changed.__init_subclass__()

    def __delattr__(cls, name: str) -> None:
        refuse_replaced(cls, name, None)
        type.__delattr__(cls, name)


def _subclasses(cls: type) -> Iterator[type]:
    derived: type
    for derived in type.__subclasses__(cls):
        yield derived
        yield from _subclasses(derived)


def _prepare(self: Component) -> None:
    put = object.__setattr__
    put(self, "_ac_parent", None)
    put(self, "_ac_name", "")
    put(self, "_ac_position", None)
    put(self, "_ac_modifications", {})
    put(self, "_ac_declared", None)
    put(self, "_ac_array_shape", ())
    put(self, "_ac_named", None)
    put(self, "_ac_made", False)
    put(self, "_ac_constraint", None)
    if self._class_children:
        copies: dict[Any, Any] = {COPYING: True}
        children = copy.deepcopy(self._class_children, copies)
        speak_of_copies(copies)
        for name, child in children.items():
            setattr(self, name, child)


def _split(cls: type, init: Any, kwargs: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    parameters = inspect.signature(init).parameters
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return kwargs, {}
    taken = {k: v for k, v in kwargs.items() if k in parameters}
    return taken, {k: v for k, v in kwargs.items() if k not in parameters}


class Component(metaclass=ComponentType):
    """Base of all component classes.

    Declare quantities and connectors in the class body, sub-components and structural choices in `__init__`, state equations in
    `equations`, and joints in `connections`. Optional: `initial_equations`, `events` (`ac.when` and the like), `transitions`
    between states, and `on_state_change` (guesses for a new state's variables: `yield self.m_flow, self.cooling.on, 0.05`).
    """

    __slots__ = (
        "__dict__", "__weakref__", "_ac_array_shape", "_ac_constraint", "_ac_declared", "_ac_made", "_ac_modifications",
        "_ac_name", "_ac_named", "_ac_parent", "_ac_position",
    )  # fmt: skip

    _class_declared: ClassVar[dict[str, Declaration | Connector]] = {}
    _class_children: ClassVar[dict[str, Any]] = {}
    _class_abstract: ClassVar[dict[str, type]] = {}  # what a subclass has yet to define
    _class_media: ClassVar[dict[str, AnyMedium]] = {}  # places for the media of its circuits
    _class_alternatives: ClassVar[Groups] = {}  # quantities of which one is given: `alternatives.py`
    _ac_origin: ClassVar[str] = ""  # the file its equations came in, if they did not come as source …
    _ac_closed: ClassVar[bool] = False  # … and whether they are shown by name only
    _ac_media: ClassVar[Mapping[str, str]] = {}  # … and which media they are for, by port
    _ac_parent: Component | None
    _ac_name: str
    _ac_position: int | None
    _ac_modifications: dict[str, Modification]
    _ac_declared: dict[str, Declaration | Connector] | None
    _ac_array_shape: Shape
    _ac_made: bool  # whether its `__init__` is over
    _ac_constraint: Any  # what may stand in its place: `replaceable.py`
    _ac_named: dict[str, tuple[str, str]] | None

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for name in vars(cls):
            if name in _OWN_NAMES and name not in _KEPT_FOR_CLASSES:
                raise taken(cls, name)
        for name in _KEPT_FOR_CLASSES:
            type.__setattr__(cls, name, {})
        own_declarations(cls, (Declaration, Connector))
        settled = settle(cls)
        for base in reversed(cls.__mro__):
            if base is Component or base is object:
                continue  # these declare nothing, and have many names
            for name, value in vars(base).items():
                if getattr(value, "__isabstractmethod__", False):
                    cls._class_abstract[name] = base
                else:
                    cls._class_abstract.pop(name, None)
                if isinstance(value, (Declaration, Connector)):
                    cls._class_declared[name] = value
                elif are_parts(name, value, Component, ComponentArray):
                    cls._class_children[name] = value
                elif isinstance(value, AnyMedium):
                    cls._class_media[name] = value
                elif name in cls._class_declared:
                    del cls._class_declared[name]
        type.__setattr__(cls, "_class_alternatives", groups_of(cls, cls._class_declared, settled))
        if not hasattr(cls, PLACE) and any(belongs_to_default(d) for d in cls._class_declared.values()):
            type.__setattr__(cls, PLACE, AnyMedium.implied())
            cls._class_media[PLACE] = vars(cls)[PLACE]

    def __init__(self, **modifications: Any) -> None:
        """Of everything that is declared; a class's own `__init__` may hand them on."""
        if self._class_alternatives:
            refuse_several(type(self), self._class_alternatives, modifications)
        for name, value in modifications.items():
            self._modify(name, value)

    # --- what a user overrides ----------------------------------------------------------------------------------------
    def equations(self) -> Iterable[Any]:
        """Yields equations: `yield self.C * ac.der(self.T) == self.port.Q_flow`; named: `yield "balance", left == right`."""
        return ()

    def initial_equations(self) -> Iterable[Any]:
        """Yields equations that hold at the start only."""
        return ()

    def connections(self) -> Iterable[Any]:
        """Yields connectors that are joined: `yield self.source.p, self.load.p`."""
        return ()

    def events(self) -> Iterable[Any]:
        """Yields what happens at events: `yield ac.when(self.h < 0, ac.reinit(self.v, -self.v))`."""
        return ()

    def transitions(self) -> Iterable[Any]:
        """Yields how states follow each other: `yield self.mode.off.to("on", when=self.T > self.T_on)`."""
        return ()

    def on_state_change(self) -> Iterable[Any]:
        """Yields guesses for variables of a new state: `yield self.m_flow, self.cooling.on, 0.05`."""
        return ()

    # --- attributes ---------------------------------------------------------------------------------------------------
    def __setattr__(self, name: str, value: Any) -> None:
        note(self)
        if name in METHODS and not callable(value):
            refuse_reserved(type(self).__name__, name)
        if name in _OWN_NAMES:
            raise taken(type(self), name)
        if name.startswith("_") and not isinstance(value, (Declaration, Connector)):
            put(self, name, value)
            return
        if isinstance(value, (Component, View)):
            value = value._ac_for(self, name)
        if isinstance(value, (Declaration, Connector)):
            self._declare(name, value)
        elif isinstance(value, (Component, ComponentArray)) and self._find(name) is not None:
            raise UsageError(
                f"`{name}` of {type(self).__name__} is declared as {self._find(name)!r} and cannot also be a component.",
                remedy="Give one of them another name.",
            )
        elif isinstance(value, (Component, ComponentArray)) and self._is_exchange(name, value):
            self._exchange(name, value)
        elif isinstance(value, Component):
            _adopt(self, name, value, None)
            object.__setattr__(self, name, value)
        elif isinstance(value, ComponentArray):
            value._attach(self, name)
            self.__dict__[name] = value
        elif isinstance(value, (list, tuple)) and value and all(isinstance(v, Component) for v in value):
            refuse_repeated(name, value)
            for position, child in enumerate(value):
                _adopt(self, name, child, position)
            self.__dict__[name] = value if isinstance(value, tuple) else tuple(value)  # a named tuple stays one
        elif isinstance(value, Named):
            self._name_expression(name, value)
        elif name in self._class_media or self._class_may_have(name) or self._find(name) is not None:
            self._modify(name, value)
        else:
            refuse_hidden(name, value, (Component, ComponentArray), (Connector,), (Declaration,))
            if self._ac_made and name not in self.__dict__ and not isinstance(value, Expression) and not is_reading():
                refuse_unknown(self, name, value)
            put(self, name, value)

    def _ac_for(self, parent: Component, name: str) -> Component:
        """What a component that takes this one as a part has: itself; of a record that somebody has already, its follower."""
        return self

    def _ac_following(self, leaders: View) -> Any:
        """What follows some elements of an array of its class, where that can be: a record."""
        return leaders

    def _ac_becomes(self, other: Component) -> bool:
        """Whether it takes over what another one says instead of giving its place to it: a record does, for its followers."""
        return False

    def _is_exchange(self, name: str, value: Any) -> bool:
        """Whether a part is assigned from outside, in the place of another one."""
        old = self.__dict__.get(name)
        return self._ac_made and old is not None and old is not value and isinstance(old, (Component, ComponentArray))

    def __delattr__(self, name: str) -> None:
        note(self)
        object.__delattr__(self, name)

    def __getattr__(self, name: str) -> Any:
        """Only reached for what the ordinary look-up does not find: declarations made in `__init__`, named expressions."""
        if name.startswith(("__", "_ac_")):
            raise AttributeError(name)
        declared = self._ac_declared
        if declared is not None and name in declared:
            found = declared[name]
            if isinstance(found, Declaration):
                return found.view_of(self._reference(name))
            return ConnectorView(self, self, self._find(name), found.shape, None)  # type: ignore[arg-type]
        if name.startswith("_"):
            raise AttributeError(name)
        named = named_elsewhere(self, name)
        if named is not None:
            return rerooted(*named, self)
        raise no_attribute(self, name)

    def _declare(self, name: str, value: Declaration | Connector) -> None:
        refuse_reserved(type(self).__name__, name)
        refuse_of_its_own(self, name, value)
        if value.name and value.name != name:
            value = copy.copy(value)
        value.name = name
        if self._ac_declared is None:
            object.__setattr__(self, "_ac_declared", {})
        self._ac_declared[name] = value  # type: ignore[index]

    def _name_expression(self, name: str, value: Named) -> None:
        refuse_reserved(type(self).__name__, name)
        self.__dict__[name] = value.expression
        if self._ac_named is None:
            object.__setattr__(self, "_ac_named", {})
        self._ac_named[name] = (value.unit, value.doc)  # type: ignore[index]

    def _find(self, name: str) -> Declaration | Connector | None:
        own = self._ac_declared
        found = own[name] if own is not None and name in own else self._class_declared.get(name)
        if isinstance(found, OfMedium):
            return found.resolved(self)
        if self._class_alternatives:
            found = as_it_is(self, found)
        return known_connector(self, found) if isinstance(found, Connector) and found.fluid else found

    def _class_may_have(self, name: str) -> bool:
        """Whether a quantity is there or not as the component is used: what is given instead, and which medium it has."""
        return name in self._class_alternatives or isinstance(self._class_declared.get(name), OfMedium)

    def _all_declared(self) -> dict[str, Declaration | Connector]:
        declared = {**self._class_declared, **self._ac_declared} if self._ac_declared else self._class_declared
        if self._class_alternatives or any(
            isinstance(d, OfMedium) or (isinstance(d, Connector) and d.fluid) for d in declared.values()
        ):
            return {name: found for name in declared if (found := self._find(name)) is not None}
        return declared

    def _declaration(self, name: str) -> Declaration:
        """The declaration of `T` or `port.T`."""
        first, _, member = name.partition(".")
        found = self._find(first)
        return found.members[member] if isinstance(found, Connector) else found  # type: ignore[return-value]

    def _reference(self, name: str) -> Reference:
        declaration = self._declaration(name)
        return Reference(self, self, name, declaration.shape)

    # --- modification -------------------------------------------------------------------------------------------------
    def _modify(self, name: str, value: Any) -> None:
        note(self)
        first, _, rest = name.partition(".")
        found = self._class_declared.get(name) if self._class_may_have(name) else self._find(first)
        if found is not None and name in self._class_alternatives and (not isinstance(value, Modification) or "value" in value):
            choose(self, name)
        if name in self._class_media:
            give_medium(self, name, value)
        elif isinstance(found, Declaration) and not rest:
            self._modify_declared(name, found, value)
        elif isinstance(found, Connector) and rest in found.members:
            self._modify_declared(name, found.members[rest], value)
        elif isinstance(self.__dict__.get(first), (Component, ComponentArray)):
            if rest:
                self.__dict__[first]._modify(rest, value)
            else:
                self._exchange(first, value)
        elif isinstance(found, Connector) and not rest:
            raise UsageError(
                f"`{type(self).__name__}.{name}` is a connector and cannot be given a value.",
                **at_caller(),
                remedy=f"Its quantities have values: {', '.join(f'`{name}.{member}`' for member in found.members)}.",
            )
        else:
            parts = (k for k, v in self.__dict__.items() if isinstance(v, (Component, ComponentArray)))
            known = [*dict.fromkeys((*self._all_declared(), *self._class_alternatives)), *self._class_media, *parts]
            raise UsageError(
                f"{type(self).__name__} has no `{name}` that could be given a value. {near_matches(name, known)}".strip(),
                **at_caller(),
                remedy=f"It declares: {', '.join(known[:12])}",
            )

    def _exchange(self, name: str, given: Any) -> None:
        """Put another component in the place of a part; what was modified there, and its kind, stay."""
        from .replaceable import replacement

        old = self.__dict__.pop(name)
        try:
            new = replacement(f"{type(self).__name__}.{name}", old, given)
        except UsageError:
            self.__dict__[name] = old
            raise
        if isinstance(old, Component) and isinstance(new, Component) and old._ac_becomes(new):
            self.__dict__[name] = old
            object.__setattr__(old, "_ac_parent", self)
        else:
            setattr(self, name, new)

    def _modify_declared(self, name: str, declaration: Declaration, value: Any) -> None:
        if not isinstance(value, Modification):
            if declaration.role == "variable" and isinstance(value, Expression):
                raise UsageError(
                    f"`{type(self).__name__}.{name}` is an unknown; `=` cannot make it equal to `{value}`.",
                    remedy=f"An equation is stated with `yield` and `==`: `yield self.{name} == …`.",
                )
            if declaration.role == "variable":
                raise UsageError(
                    f"`{type(self).__name__}.{name}` is an unknown and cannot be given the value {shown(value)}.",
                    **at_caller(),
                    remedy=f"{name}=ac.start({shown(value)}) sets where it starts; add an equation to prescribe it.",
                )
            value = Modification(value=value)
        check_attributes(f"{type(self).__name__}.{name}", declaration, value)
        value = in_declared_unit(f"{type(self).__name__}.{name}", declaration.unit, value)
        for attribute, given in value.items():
            if type(given) is str:
                refuse_level(f"{type(self).__name__}.{name}", given, declaration.unit)
            checked_number(type(self).__name__, name if attribute == "value" else f"{attribute} of {name}", given)
            wrong = typed(declaration, given) if attribute in ("value", "start") else ""
            if wrong:
                raise UsageError(f"`{type(self).__name__}.{name}` cannot be {shown(given)}: {wrong}.")
        if declaration.role == "discrete" and "start" in value:
            value = Modification({**{k: v for k, v in value.items() if k != "start"}, "value": value["start"]})
        if isinstance(declaration, Constant) and "value" in value:
            raise UsageError(f"`{type(self).__name__}.{name}` is a constant and cannot be changed.")
        self._ac_modifications[name] = Modification({**self._ac_modifications.get(name, {}), **value})

    # --- paths --------------------------------------------------------------------------------------------------------
    def _steps_from(self, root: Component) -> list[tuple[str, int | None]] | None:
        """How to get here from `root`: attribute and position; None when this is not below `root`."""
        steps: list[tuple[str, int | None]] = []
        node: Component | None = self
        while node is not root:
            if node is None:
                return None
            steps.append((node._ac_name, node._ac_position))
            node = node._ac_parent
        return steps[::-1]

    def _path_from(self, root: Component, name: str = "") -> str:
        steps = self._steps_from(root)
        parts = [n if p is None else f"{n}[{p}]" for n, p in steps] if steps is not None else ["?"]
        return ".".join([*parts, name] if name else parts)

    def __copy__(self) -> Component:
        """A copy has numbers and parts of its own, and belongs to nothing yet."""
        return copy_of(self)

    def __deepcopy__(self, memo: dict[Any, Any]) -> Component:
        """The same; parts of what is being copied are copied with it."""
        if not memo.get(COPYING):
            return copy_of(self, memo)
        new = type(self).__new__(type(self))
        memo[id(self)] = new
        held: Any = self.__reduce_ex__(4)[2]  # what is in its dictionary, and in its slots
        for name, value in {**(held[0] or {}), **held[1]}.items():
            object.__setattr__(new, name, copy.deepcopy(value, memo))
        return new

    def __repr__(self) -> str:
        return f"<{type(self).__name__}{f' {self._ac_name}' if self._ac_name else ''}>"


_KEPT_FOR_CLASSES = ("_class_declared", "_class_children", "_class_media", "_class_abstract", "_class_alternatives")
# Names that a component class inherits and needs; all others, also those that begin with an underscore, are the user's.
_OWN_NAMES = frozenset(name for name in vars(Component) if name.startswith("_") and not name.startswith(("__", "_ac_")))


def _adopt(parent: Component, name: str, child: Component, position: int | None) -> None:
    refuse_ring(parent, name, child)
    refuse_misnamed(type(parent).__name__, name)
    if child._ac_parent is not None and (child._ac_parent is not parent or child._ac_name != name):
        raise UsageError(
            f"This {type(child).__name__} is `{child._ac_name}` of {an(type(child._ac_parent).__name__)} "
            f"and cannot also be `{name}`.",
            remedy="Make a second one; to let two components share a quantity, connect them.",
        )
    put = object.__setattr__
    put(child, "_ac_parent", parent)
    put(child, "_ac_name", name)
    put(child, "_ac_position", position)


class View:
    """Some elements of an array of components, seen from `root`: `self.R[1:]`, `self.racks[0].cells`."""

    __slots__ = ("_element", "_picked", "_root", "_shape")

    def __init__(self, root: Component, element: Component, shape: Shape, picked: np.ndarray | None) -> None:
        put = object.__setattr__
        put(self, "_root", root)
        put(self, "_element", element)
        put(self, "_shape", shape)
        put(self, "_picked", picked)

    def __setattr__(self, name: str, value: Any) -> None:
        """`self.layer.T = ac.start(300.0)` is for all elements, `self.layer[0].area = 3.0` for those that are picked."""
        if name.startswith("_"):
            object.__setattr__(self, name, value)
            return
        if self._picked is not None:
            from .elements import modified_elements

            value = modified_elements(self, name, value)
        self._element._modify(name, value)

    def _ac_for(self, parent: Component, name: str) -> Any:
        """What a component that takes these elements as a part has: of records, a follower; of others, the elements themselves."""
        taken = isinstance(self, ComponentArray) and self._element._ac_parent in (None, parent)
        return self if taken else self._element._ac_following(self)

    def __getitem__(self, key: Any) -> View:
        numbers = self._numbers()
        try:
            picked = np.asarray(numbers[key])
        except IndexError as error:
            raise UsageError(f"`{self._element._path_from(self._root)}` has {self._shape} elements: {error}.") from None
        return View(self._root, self._element, picked.shape, picked)

    def __len__(self) -> int:
        return self._shape[0] if self._shape else 1

    def __iter__(self) -> Iterator[View]:
        return (self[i] for i in range(len(self)))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        element = self._element
        declared = element._find(name)
        if isinstance(declared, Declaration):
            shape, picked = self._shape + declared.shape, self._spread(declared.shape)
            return declared.view_of(Reference(self._root, element, name, shape, picked))
        if isinstance(declared, Connector):
            return ConnectorView(self._root, element, declared, self._shape + declared.shape, self._spread(declared.shape))
        if name in element._class_media:
            return medium_at(element, name)
        if is_left_out(element, name):
            return None
        child = element.__dict__.get(name)
        if isinstance(child, Component):
            return View(self._root, child, self._shape, self._picked)
        if isinstance(child, ComponentArray):
            return View(self._root, child._element, self._shape + child._shape, self._spread(child._shape))
        if isinstance(child, tuple) and child and isinstance(child[0], Component):
            return tuple(View(self._root, c, self._shape, self._picked) for c in child)
        if isinstance(child, Expression) or child is None:
            return _named_of_view(self, name)
        return of_elements(child, self)

    def _numbers(self) -> np.ndarray:
        return np.arange(int(np.prod(self._shape))).reshape(self._shape) if self._picked is None else self._picked

    def _spread(self, inner: Shape) -> np.ndarray | None:
        """Flat numbers of the elements' own inner elements (None: all in order)."""
        if self._picked is None or inner == ():
            return self._picked
        size = int(np.prod(inner))
        return self._picked.reshape(self._picked.shape + (1,) * len(inner)) * size + np.arange(size).reshape(inner)

    def __repr__(self) -> str:
        return f"<{type(self._element).__name__} {self._element._path_from(self._root)} × {self._shape}>"


class ComponentArray(View):
    """An array of components: one object, however many elements. Made by `ac.array`."""

    __slots__ = ()

    def _attach(self, parent: Component, name: str) -> None:
        _adopt(parent, name, self._element, None)
        self._root = parent

    def _modify(self, name: str, value: Any) -> None:
        self._element._modify(name, value)

    def __deepcopy__(self, memo: dict[int, Any]) -> ComponentArray:
        element = copy.deepcopy(self._element, memo)
        return ComponentArray(element, element, self._shape, None)


def array(what: type[Any], shape: int | Shape, *args: Any, **kwargs: Any) -> Any:
    """An array of components (or of connectors) of one class: `ac.array(Resistor, 100, R=1.0)`.

    Arguments are those of the class; a value may be an array with one entry for each element.
    """
    from .declarations import as_shape

    if isinstance(what, type) and issubclass(what, Connector):
        return what(*args, shape=shape, **kwargs)
    if not (isinstance(what, type) and issubclass(what, Component)):
        raise UsageError(f"`ac.array` takes a component class and a shape, got {what!r}.")
    element = what(*args, **kwargs)
    size = as_shape(shape)
    object.__setattr__(element, "_ac_array_shape", size)
    return ComponentArray(element, element, size, None)


def _named_of_view(view: View, name: str) -> Any:
    found = named_elsewhere(view._element, name)
    if found is not None:
        return rerooted(*found, view)
    raise no_attribute(view._element, name)
