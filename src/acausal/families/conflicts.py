"""Statements that say of one discrete variable, at the same instant, what it becomes."""

from __future__ import annotations

import numpy as np

from ..errors import Diagnostic
from .hybrid import Part, RuleBlock
from .plant import Plant


def assigned_twice(plant: Plant, parts: dict[str, Part]) -> list[Diagnostic]:
    """Discrete variables that two statements assign: neither can be preferred."""
    given = [(parts[role], parts[role].targets) for role in ("update", "step") if role in parts]
    targets = np.concatenate([np.zeros(0, dtype=np.int64), *(t for _, t in given)])
    blocks = [part.block for part, _ in given]
    order = np.argsort(targets, kind="stable")
    same = np.flatnonzero(targets[order][1:] == targets[order][:-1])
    border = len(given[0][1]) if given else 0
    pairs: dict[tuple[int, int], tuple[RuleBlock, RuleBlock, list[int]]] = {}
    for k in same:
        one, other = (blocks[0](int(r)) if r < border else blocks[1](int(r) - border) for r in order[k : k + 2])
        pairs.setdefault((id(one), id(other)), (one, other, []))[2].append(int(targets[order[k]]))
    return [_assigned_twice(plant, *pair) for pair in list(pairs.values())[:6]]


def _assigned_twice(plant: Plant, first: RuleBlock, second: RuleBlock, cells: list[int], most: int = 4) -> Diagnostic:
    names = ", ".join(f"`{plant.name_of(cell, 'known')}`" for cell in cells[:most])
    names += f" and {len(cells) - most} more" if len(cells) > most else ""
    also = f"  ({first.rule.location})" if first.rule.location else ""
    many, verb = ("their values are", "are") if len(cells) > 1 else ("its value is", "is")
    remedy = "Join them: `ac.when(…, …).elsewhen(…, …)` takes the first branch that applies."
    if "step" in (first.rule.role, second.rule.role):
        remedy = "Let one variable count steps and another one keep what happens at events."
    elif "==" in first.rule.text and "ac.when" not in first.rule.text:
        remedy = "An equation assigns at every event, whatever a `when` says: keep one of the two. " + remedy
    return Diagnostic(
        f"{names} {verb} assigned by two statements, so that {many} not determined when both apply.",
        component=second.kind.name,
        equation=second.rule.text,
        location=second.rule.location,
        details=(f"also:      {first.rule.text}{also}",),
        remedy=remedy,
    )
