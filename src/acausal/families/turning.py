"""Functions that end where a relation turns: `sqrt(abs(x))`, `where(x > 0, sqrt(x), 0)`.

Relations are frozen between events, so that in a step beyond a crossing, and in rounding at its event, such a function has no
value. There it is taken as it is written.
"""

from __future__ import annotations

from ..language.expression import Constant, Expression, Operation, walk
from ..language.operators import RELATIONS


def ends_where_it_turns(node: Operation) -> bool:
    """Whether it is a root of what is never below zero because of a relation, or a choice that guards the root of what it decides
    on: `sqrt(abs(x))`, `where(x > 0, sqrt(x), 0)`. Between the crossing and its event there would be no value."""
    if node.operator.name == "where":
        sides = (n.args for n in walk(node.args[0]) if isinstance(n, Operation) and n.operator.name in RELATIONS)
        decides = {difference for a, b in sides for difference in (a - b, b - a)}
        ended = (n.args[0] for n in walk(*node.args[1:]) if _ends_at_zero(n))
        return bool(decides) and any(part in decides for inner in ended for part in walk(inner))
    if not _ends_at_zero(node):
        return False
    turning = (n for n in walk(node.args[0]) if isinstance(n, Operation) and n.operator.name in ("abs", "min", "max"))
    return any(n.operator.name == "abs" or any(isinstance(a, Constant) and a.value == 0 for a in n.args) for n in turning)


def _ends_at_zero(node: Expression) -> bool:
    """Whether it is a function without a value below zero."""
    if not isinstance(node, Operation) or node.operator.name not in ("sqrt", "log", "log10", "pow"):
        return False
    return not (node.operator.name == "pow" and isinstance(node.args[1], Constant) and node.args[1].value % 1 == 0)
