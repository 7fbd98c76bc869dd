"""The tables that equations ask, as they are solved."""

from __future__ import annotations

from functools import lru_cache

from ...families.template import Family
from ...language.expression import Call, Expression, walk
from ..problem import Problem


def may_bend(problem: Problem) -> bool:
    """Whether there are tables, and time in an equation that could lead to them."""
    families = families_of(problem)
    return any((f.slots == problem.time_index).any() for f in families) and any(tables_of(f) for f in families)


def families_of(problem: Problem) -> list[Family]:
    lowered = problem.lowered
    hybrid = lowered.system.hybrid
    relations = [] if hybrid is None else lowered.moved(hybrid.parts["relation"].families)
    return [*lowered.families, *lowered.assignments, *relations]


def tables_of(family: Family) -> tuple[tuple[int, Call], ...]:
    return _called(family.template.outputs)


@lru_cache(maxsize=4096)
def _called(outputs: tuple[Expression, ...]) -> tuple[tuple[int, Call], ...]:
    """Tables that a template asks, each with the output that it stands in."""
    from ...language.tables import Table  # models without time need none

    found = ((k, node) for k, whole in enumerate(outputs) for node in walk(whole))
    return tuple((k, node) for k, node in found if isinstance(node, Call) and isinstance(node.function, Table))
