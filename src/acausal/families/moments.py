"""Assignments that act at a moment: what `when` and transitions assign stays until something else happens."""

from __future__ import annotations

from ..language.expression import Expression, Operation, Reference, leaves, walk
from .hybrid import Rule


def is_kept(rule: Rule) -> bool:
    """Whether an assignment leaves its variable what it was unless something happens, as `when` and transitions do."""
    target, value = rule.target, rule.residual
    while isinstance(value, Operation) and value.operator.name == "where":
        value = value.args[2]
    if not isinstance(value, Reference) or target is None:
        return False
    return value.order < 0 and (value.name, value.owner) == (target.name, target.owner)


def acts_once(rule: Rule) -> bool:
    """Whether it acts at the moment at which a condition becomes true, and not while it holds."""
    joined = (n for n in walk(rule.residual) if isinstance(n, Operation) and n.operator.name == "and")
    return is_kept(rule) and any(_is_past_and_false(a) for n in joined for a in n.args)


def _is_past_and_false(node: Expression) -> bool:
    """`not` of something that is made of values before the event alone."""
    if not isinstance(node, Operation) or node.operator.name != "not":
        return False
    found = [n for n in leaves(node) if isinstance(n, Reference) and n.declaration.role == "discrete"]
    return bool(found) and all(n.order < 0 for n in found)
