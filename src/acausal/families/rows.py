"""Rows: residuals of a kind that hold in the same places, and the templates that they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..language.expression import Derived, Expression
from ..records import dataclass
from .calls import is_function
from .canonical import canonical, slot_kind
from .contribution import Contribution, coded, expressions, slot
from .facts import Facts
from .fuse import fused, joined
from .hoist import hoisted
from .plant import Kind
from .template import Template


@dataclass(slots=True, eq=False)
class Rows:
    """Residuals of one kind that share rows: their expressions, and which residual rows they add to."""

    kind: Kind
    shape: tuple[int, ...]
    residuals: tuple[Expression, ...]
    rows: np.ndarray  # (output, row)
    picked: np.ndarray | None
    summands: bool = False  # others add to the same rows, so that signs matter
    template: Template | None = None  # if it is known already


Made = tuple[Rows, tuple[Expression, ...], list[Expression]]  # rows, their template's outputs, the leaf in each slot


def template_of(rows: Rows) -> Made:
    outputs, leaves = canonical(rows.residuals, rows.summands)
    return rows, outputs, leaves


def templates_of(group: list[Rows], contribution: Contribution) -> list[Made]:
    """What the equations of a kind are, those that share costly work together; as before, where they were seen before."""
    if not group:
        return []
    described = contribution.described([rows.residuals[0] for rows in group])
    if described is None:
        return [template_of(rows) for rows in fused([_hoisted(rows) for rows in group])]
    key = contribution.key("templates", described, [(rows.shape, rows.picked is None, rows.summands) for rows in group])
    held = contribution.find(key)
    if held is not None:
        return [_as_before(group, one, described.objects, contribution) for one in held]
    made = [template_of(rows) for rows in fused([_hoisted(rows) for rows in group])]
    for rows, outputs, _ in made:
        rows.template = Template.of(outputs)  # held from here on, with what is found about it
    kept = [_kept(group, one, described.objects) for one in made]
    if all(one is not None for one in kept):
        contribution.keep(key, kept)
        for rows, _, _ in made:
            assert rows.template is not None
            contribution.has(rows.template.name)
    return made


def _hoisted(rows: Rows) -> Rows:
    return Rows(rows.kind, rows.shape, (hoisted(rows.residuals[0]),), rows.rows, rows.picked, rows.summands)


def _kept(group: list[Rows], made: Made, objects: list[Expression]) -> list[Any] | None:
    """Which equations, the outputs over slots, the leaf in each slot, and what is known about the template."""
    rows, outputs, leaves = made
    first = {int(one.rows[0, 0]): k for k, one in enumerate(group)}
    which = [first[int(line[0])] for line in rows.rows]
    slots: list[Expression] = [slot(k, slot_kind(leaf)) for k, leaf in enumerate(leaves)]
    code = coded(outputs, [*slots, *filter(is_function, objects)])
    places = {leaf: k for k, leaf in enumerate(objects)}
    held = [coded((leaf.expression,), objects) if isinstance(leaf, Derived) else places.get(leaf) for leaf in leaves]
    template = Template.of(outputs)
    if code is None or None in held or not template.name:
        return None
    return [which, code, [slot_kind(leaf) for leaf in leaves], held, template.name, template.facts_of_kind()]


def _as_before(group: list[Rows], held: Any, objects: list[Expression], contribution: Contribution) -> Made:
    which, code, kinds, leaves, name, facts = held
    rows = joined([group[k] for k in which])
    slots = [slot(k, kind) for k, kind in enumerate(kinds)]
    outputs = expressions(code, [*slots, *filter(is_function, objects)])
    leaves = [objects[one] if type(one) is int else Derived(expressions(one, objects)[0]) for one in leaves]
    rows.template = Template.known(outputs, name, Facts.of(facts), tuple(slots))
    contribution.has(name)
    return rows, outputs, leaves
