"""Implicit functions (`ac.implicit`) become unknowns of the component that calls them, one for each distinct set of arguments."""

from __future__ import annotations

from ..language.expression import Call, Expression, Reference, Slot, rebuild, transform, walk
from ..language.implicit import Implicit, ImplicitPart
from .census import Census
from .plant import Kind, Quantity


class Roots:
    """Moves what a kind states from components to its nodes, with unknowns in the place of implicit functions."""

    def __init__(self, census: Census, kind: Kind) -> None:
        self.census, self.kind = census, kind
        self.moved_end = census.moved_end
        self.equations: list[tuple[Expression, str]] = []  # residuals that define the unknowns, and what they say
        self._made: dict[tuple[int, tuple[Expression, ...]], tuple[Reference, ...]] = {}

    def moved(self, expression: Expression) -> Expression:
        """An expression over nodes, without implicit functions."""
        found = self.census.moved(expression)
        if not any(isinstance(n, Call) and isinstance(n.function, ImplicitPart) for n in walk(found)):
            return found
        done: dict[Expression, Expression] = {}
        for node in walk(found):
            args = tuple(done[a] for a in node.args)
            if isinstance(node, Call) and isinstance(node.function, ImplicitPart):
                done[node] = self._unknowns(node.function.implicit, args, node.shape)[node.function.number]
            else:
                done[node] = rebuild(node, args)
        return done[found]

    def _unknowns(self, implicit: Implicit, args: tuple[Expression, ...], shape: tuple[int, ...]) -> tuple[Reference, ...]:
        key = (id(implicit), args)
        if key not in self._made:
            node, made = self.kind.representative, []
            for k, name in enumerate(implicit.unknowns):
                declaration = implicit.variable(k, shape)
                declaration.name = self.kind.free_name(f"{name}_state")
                self.census.plant.add_quantity(self.kind, Quantity(declaration.name, declaration, shape))
                made.append(Reference(node, node, declaration.name, shape))
            self._made[key] = tuple(made)
            values = (*made, *args)

            def put(n: Expression) -> Expression | None:
                return values[n.number] if isinstance(n, Slot) else None

            for residual in implicit.residuals:
                self.equations.append((transform(residual, put), f"{implicit.name} of {', '.join(map(str, args))}"))
        return self._made[key]
