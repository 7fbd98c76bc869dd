"""Sums, their terms, and what is multiplied in these."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..language.expression import Constant, Expression, Operation


def sums(root: Expression) -> Iterator[list[Expression]]:
    """The terms of every sum in an expression; what stands alone is a sum of one."""
    stack, seen = [root], set()
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        terms, ahead = list[Expression](), [node]
        while ahead:
            term = ahead.pop()
            if isinstance(term, Operation) and term.operator.name in ("add", "sub", "neg"):
                ahead += term.args
            else:
                terms.append(term)
        yield terms
        for term in terms:
            inner = factors(term)
            stack += term.args if term in inner else inner


def factors(term: Expression) -> dict[Expression, float]:
    """What is multiplied in a term, and how often; a power of a small integer is a product."""
    found: dict[Expression, float] = {}
    stack = [(term, 1.0)]
    while stack:
        node, often = stack.pop()
        name = node.operator.name if isinstance(node, Operation) else ""
        if name in ("mul", "neg"):
            stack += [(factor, often) for factor in node.args]
        elif name == "div":
            stack += [(node.args[0], often), (node.args[1], -often)]
        elif name == "pow" and isinstance(node.args[1], Constant):
            stack.append((node.args[0], often * node.args[1].value))
        else:
            found[node] = found.get(node, 0.0) + often
    return found


def lone_powers(terms: Sequence[Expression], least: float = 3.0) -> Iterator[Expression]:
    """What is raised to one high power in the terms of a sum and to no other: in a polynomial there would be others."""
    powers: dict[Expression, set[float]] = {}
    for term in terms:
        for base, often in factors(term).items():
            powers.setdefault(base, set()).add(often)
    yield from (base for base, found in powers.items() if len(found) == 1 and min(found) >= least)
