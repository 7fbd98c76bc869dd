"""What the classes of a plant say, once it is traced: equations, connections, statements of each kind, as data."""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from ..language.expression import Reference
from ..records import dataclass

if TYPE_CHECKING:
    from ..errors import Location
    from ..language.connector import ConnectorView
    from ..language.expression import Expression, Shape
    from ..language.states import Transition
    from .hybrid import Rule
    from .plant import Kind
    from .tree import Node


@dataclass(slots=True, eq=False)
class TracedEquation:
    """`residual == 0`, element by element over `shape`, plus the sums of `terms` over their trailing axes."""

    residual: Expression
    shape: Shape
    text: str
    location: Location | None
    terms: list[Expression] = field(default_factory=list)
    branches: list[Expression] = field(default_factory=list)  # the residuals of each state, if it differs from state to state
    name: str = ""  # where the user gave it one

    def own(self) -> TracedEquation:
        """A copy that may be changed."""
        return TracedEquation(self.residual, self.shape, self.text, self.location, list(self.terms), list(self.branches), self.name)


@dataclass(slots=True, eq=False)
class TracedConnection:
    """Endpoints that are joined, element by element."""

    component: Node
    ends: tuple[ConnectorView | Reference, ...]
    location: Location | None

    def __str__(self) -> str:
        return ", ".join(self.name_of(e) for e in self.ends)

    @property
    def of_states(self) -> bool:
        """Whether it joins state variables."""
        return isinstance(self.ends[0], Reference) and bool(getattr(self.ends[0].declaration, "states", ()))

    def name_of(self, end: ConnectorView | Reference) -> str:
        """An end as it is seen from the component that connects it."""
        if isinstance(end, Reference):
            return end.owner._path_from(self.component, end.name)
        return end._owner._path_from(self.component, end._connector.name)


@dataclass(slots=True, eq=False)
class TracedGuess:
    """Where the iteration for an algebraic variable starts when a condition has become true."""

    target: Reference
    condition: Expression
    value: Expression
    location: Location | None


@dataclass(slots=True, eq=False)
class Traced:
    """What one kind says."""

    kind: Kind
    equations: list[TracedEquation]
    initial: list[TracedEquation]
    connections: list[TracedConnection]
    assigned: list[tuple[Reference, Expression, str, Location | None]] = field(default_factory=list)  # discrete == expression
    statements: list[Any] = field(default_factory=list)  # of `events`
    transitions: list[Transition] = field(default_factory=list)
    guesses: list[TracedGuess] = field(default_factory=list)  # of `on_state_change`
    state_connections: list[TracedConnection] = field(default_factory=list)  # whose ends are state variables
    rules: list[Rule] = field(default_factory=list)  # what assignments and statements became

    def own(self) -> Traced:
        """A copy whose equations may be changed."""
        equations, initial = ([e.own() for e in some] for some in (self.equations, self.initial))
        return replace(self, equations=equations, initial=initial, statements=list(self.statements), rules=list(self.rules))

    @property
    def reducible(self) -> list[TracedEquation | Rule]:
        """Everything in which a variable may be replaced."""
        return [*self.equations, *self.initial, *self.rules]
