"""Partial derivatives of templates, symbolically, with shared work kept shared (reverse accumulation over the DAG)."""

from __future__ import annotations

from collections.abc import Iterable

from ..language.expression import Call, Constant, Expression, Operation, apply, as_expression, walk


def gradient(root: Expression, leaves: Iterable[Expression]) -> dict[Expression, Expression]:
    """`{leaf: d(root)/d(leaf)}` for scalar expressions; leaves that do not matter are left out."""
    wanted = set(leaves)
    order = list(walk(root))
    reaching = _nodes_above(order, wanted)
    adjoint: dict[Expression, Expression] = {root: Constant(1.0)}
    found: dict[Expression, Expression] = {}
    for node in reversed(order):
        seed = adjoint.pop(node, None)
        if seed is None or node not in reaching:
            continue
        if isinstance(seed, Constant) and seed.value == 0:  # terms have cancelled
            continue
        if node in wanted:
            found[node] = found[node] + seed if node in found else seed
            continue
        if is_fallback(node):
            for leaf, slope in _of_fallback(node, wanted).items():
                found[leaf] = found[leaf] + seed * slope if leaf in found else seed * slope
            continue
        for arg, partial in zip(node.args, partials(node), strict=True):
            if arg in reaching:
                term = seed * partial
                if not (isinstance(term, Constant) and term.value == 0):
                    adjoint[arg] = adjoint[arg] + term if arg in adjoint else term
    return found


def is_fallback(node: Expression) -> bool:
    """`ac.fallback(a, b)`: where a has no value, its derivatives have none either, and zero times these is not zero."""
    first = node.args[0] if isinstance(node, Operation) and node.operator.name == "where" else None
    return isinstance(first, Operation) and first.operator.name == "finite" and first.args[0] is node.args[1]


def _of_fallback(node: Expression, wanted: set[Expression]) -> dict[Expression, Expression]:
    sides = [gradient(side, wanted) for side in node.args[1:]]
    leaves = dict.fromkeys(leaf for side in sides for leaf in side)
    return {leaf: apply("where", node.args[0], *(side.get(leaf, Constant(0.0)) for side in sides)) for leaf in leaves}


def _nodes_above(order: list[Expression], wanted: set[Expression]) -> set[Expression]:
    reaching: set[Expression] = set()
    for node in order:
        if node in wanted or any(a in reaching for a in node.args):
            reaching.add(node)
    return reaching


def partials(node: Expression) -> tuple[Expression, ...]:
    """The derivative of a node by each of its arguments."""
    if isinstance(node, Operation):
        return tuple(as_expression(p) for p in node.operator.partials(node, *node.args))
    if isinstance(node, Call):
        return tuple(node.function.partial(k, node.args) for k in range(len(node.args)))
    raise AssertionError(f"{type(node).__name__} does not stand in templates")
