"""Fusing: equations of one component that share costly work become one kernel with several residuals."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..language.expression import Call, Expression, Operation, walk

if TYPE_CHECKING:
    from .rows import Rows

_CHEAP = {"add", "sub", "mul", "neg", "lt", "le", "gt", "ge", "and", "or", "not", "where", "abs", "sign", "min", "max"}


def fused(group: list[Rows]) -> list[Rows]:
    """Join those of a kind's equations that hold in the same rows and share a costly sub-expression."""
    if len(group) < 2:
        return group
    leader = list(range(len(group)))

    def find(k: int) -> int:
        while leader[k] != k:
            k = leader[k]
        return k

    owner: dict[tuple[object, tuple[int, ...]], int] = {}
    for k, rows in enumerate(group):
        if rows.picked is not None:
            continue
        for node in walk(*rows.residuals):
            if is_costly(node):
                first = owner.setdefault((work_of(node), rows.shape), k)
                leader[find(k)] = find(first)
    together: dict[int, list[Rows]] = {}
    for k, rows in enumerate(group):
        together.setdefault(find(k), []).append(rows)
    return [joined(rows) for rows in together.values()]


def is_costly(node: Expression) -> bool:
    """Whether a node costs more than a sum or a product."""
    return isinstance(node, Call) or (isinstance(node, Operation) and node.operator.name not in _CHEAP)


def work_of(node: Expression) -> object:
    """What is computed: a node, or the evaluation of a function with several results of which the node is one."""
    return (id(node.function.evaluation), node.args) if isinstance(node, Call) else node


def joined(rows: list[Rows]) -> Rows:
    """Several equations that hold in the same rows, as one."""
    if len(rows) == 1:
        return rows[0]
    residuals = tuple(r for one in rows for r in one.residuals)
    summands = any(one.summands for one in rows)
    return replace(
        rows[0],
        residuals=residuals,
        rows=np.concatenate([one.rows for one in rows]),
        picked=None,
        summands=summands,
    )
