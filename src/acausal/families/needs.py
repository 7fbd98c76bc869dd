"""When the value of a node matters: `where(cell, a, b)` looks at one of the two."""

from __future__ import annotations

from ..language.expression import Call, Expression, Operation, Slot
from .fuse import work_of

Need = tuple[Slot, bool] | None  # the cell that must be true, or false; None: always


def needs(nodes: list[Expression], roots: tuple[Expression, ...]) -> dict[Expression, Need]:
    """The need for each of `nodes`, which are all below `roots`, arguments before what uses them.

    Of conditions within each other the outer one counts. So a function that only a relation calls is not called while the
    relation is frozen. Results of one evaluation are needed together.
    """
    found: dict[Expression, Need] = dict.fromkeys(roots)

    def used(node: Expression, need: Need) -> None:
        found[node] = need if _same(found.get(node, need), need) else None

    for node in reversed(nodes):
        need = found[node]
        chooses = isinstance(node, Operation) and node.operator.name == "where" and isinstance(node.args[0], Slot)
        for k, argument in enumerate(node.args):
            used(argument, (node.args[0], k == 1) if chooses and k and need is None else need)  # type: ignore[arg-type]
    return found | _of_evaluations(found)


def _same(a: Need, b: Need) -> bool:
    """Cells are known by identity: `==` between two of them states an equation."""
    return a is b or (a is not None and b is not None and a[0] is b[0] and a[1] == b[1])


def _of_evaluations(found: dict[Expression, Need]) -> dict[Expression, Need]:
    together: dict[object, Need] = {}
    calls = [node for node in found if isinstance(node, Call)]
    for node in calls:
        work, need = work_of(node), found[node]
        together[work] = need if _same(together.get(work, need), need) else None
    return {node: together[work_of(node)] for node in calls}
