"""Which expressions are affine: `c0 + c1·x1 + c2·x2 + …` with literal coefficients, or affine in the unknowns with known ones."""

from __future__ import annotations

from dataclasses import field

from ..language.expression import Constant, Expression, Literal, Operation, Reference, Time, leaves
from ..records import dataclass
from .differentiate import gradient


@dataclass(slots=True)
class Affine:
    """`constant + Σ coefficient · leaf`, unknowns and knowns apart."""

    constant: float = 0.0
    unknowns: dict[Expression, float] = field(default_factory=dict)
    knowns: dict[Expression, float] = field(default_factory=dict)

    def add(self, leaf: Expression, coefficient: float) -> None:
        where = self.unknowns if is_unknown(leaf) else self.knowns
        total = where.get(leaf, 0.0) + coefficient
        if total:
            where[leaf] = total
        else:
            where.pop(leaf, None)


def is_unknown(node: Expression) -> bool:
    return isinstance(node, Reference) and not node.declaration.is_known


def affine(expression: Expression) -> Affine | None:
    """The affine form with literal coefficients, or None. Derivatives do not count as affine."""
    found = Affine()
    stack: list[tuple[Expression, float]] = [(expression, 1.0)]
    while stack:
        node, factor = stack.pop()
        if isinstance(node, Constant):
            found.constant += factor * node.value
        elif isinstance(node, (Reference, Literal, Time)):
            if isinstance(node, Reference) and node.order:
                return None
            found.add(node, factor)
        elif isinstance(node, Operation):
            parts = _parts(node, factor)
            if parts is None:
                return None
            stack.extend(parts)
        else:
            return None
    return found


def _parts(node: Operation, factor: float) -> list[tuple[Expression, float]] | None:
    name, args = node.operator.name, node.args
    if name == "add":
        return [(args[1], factor), (args[0], factor)]
    if name == "sub":
        return [(args[1], -factor), (args[0], factor)]
    if name == "neg":
        return [(args[0], -factor)]
    if name == "mul" and isinstance(args[0], Constant):
        return [(args[1], factor * args[0].value)]
    if name == "mul" and isinstance(args[1], Constant):
        return [(args[0], factor * args[1].value)]
    if name == "div" and isinstance(args[1], Constant) and args[1].value:
        return [(args[0], factor / args[1].value)]
    return None


def unknowns_of(expression: Expression) -> list[Reference]:
    return [n for n in leaves(expression) if isinstance(n, Reference) and is_unknown(n)]


def is_linear_in_unknowns(expression: Expression) -> bool:
    """Whether every derivative with respect to an unknown is free of unknowns."""
    leaves = unknowns_of(expression)
    partials = gradient(expression, leaves)
    return all(not unknowns_of(p) for p in partials.values())
