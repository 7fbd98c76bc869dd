"""Canonical templates: two equations that say the same over different quantities become the same expression over slots.

Leaves become slots, numbered in order of first appearance; the arguments of commutative operators are put in an order that
does not depend on names; a residual and its negative are the same equation. Since expressions are interned, equal templates are
then identical objects.
"""

from __future__ import annotations

from hashlib import blake2b

from ..language.expression import (
    Call,
    Constant,
    Continuation,
    Derived,
    Expression,
    Literal,
    Mark,
    Operation,
    Reference,
    Slot,
    Time,
    rebuild,
    renamed,
    walk,
)

LEAVES = (Reference, Literal, Derived, Time, Continuation, Mark)


def slot_kind(leaf: Expression) -> str:
    if isinstance(leaf, Reference) and not leaf.declaration.is_known:
        return "derivative" if leaf.order else "variable"
    return "known"


def canonical(residuals: tuple[Expression, ...], summands: bool = False) -> tuple[tuple[Expression, ...], list[Expression]]:
    """The residuals over numbered slots, and the leaf in each slot. `summands` of a larger residual keep their sign."""
    keys = _structural_keys(residuals, {})
    if not summands:
        residuals = tuple(_positive(r, keys) for r in residuals)
        keys = _structural_keys(residuals, keys)
    ordered = tuple(_ordered(r, keys) for r in residuals)
    leaves: list[Expression] = [n for n in walk(*ordered) if isinstance(n, LEAVES)]
    slots: dict[Expression, Expression] = {leaf: Slot(k, slot_kind(leaf)) for k, leaf in enumerate(leaves)}
    return tuple(renamed(r, slots.get) for r in ordered), leaves


def _structural_keys(roots: tuple[Expression, ...], keys: dict[Expression, bytes]) -> dict[Expression, bytes]:
    """A digest of each node that ignores which quantities its leaves are; added to those that are there."""
    for node in walk(*roots):
        if node in keys:
            continue
        below = [keys[a] for a in node.args]
        if isinstance(node, Operation):
            below = sorted(below) if node.operator.commutative else below
            head = f"o{node.operator.name}"
        elif isinstance(node, Call):
            head = f"c{node.function.name}"
        elif isinstance(node, Constant):
            head = f"n{node.value.hex()}"
        else:
            head = f"l{slot_kind(node)}"
        keys[node] = blake2b(head.encode() + b"".join(below), digest_size=12).digest()
    return keys


def _positive(residual: Expression, keys: dict[Expression, bytes]) -> Expression:
    """Of a residual and its negative, one and the same."""
    if isinstance(residual, Operation) and residual.operator.name == "neg":
        return residual.args[0]
    if isinstance(residual, Operation) and residual.operator.name == "sub":
        a, b = residual.args
        if isinstance(a, Operation) and a.operator.name == "neg":
            return a.args[0] + b
        if keys[a] > keys[b]:
            return b - a
    return residual


def _ordered(residual: Expression, keys: dict[Expression, bytes]) -> Expression:
    """Arguments of commutative operators sorted by their structure."""
    done: dict[Expression, Expression] = {}
    for node in walk(residual):
        args = tuple(done[a] for a in node.args)
        if isinstance(node, Operation) and node.operator.commutative:
            order = sorted(range(len(args)), key=lambda k: keys[node.args[k]])
            done[node] = Operation(node.operator, tuple(args[k] for k in order))
        else:
            done[node] = rebuild(node, args)
    return done[residual]
