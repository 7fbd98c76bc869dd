"""What becomes of an output of a template when variables are made explicit: it stays, it is solved for a slot, or it is scaled.

The symbolic part of lowering, template by template. What comes out of one that was lowered before, in any process, is looked up
with what its kind contributes.
"""

from __future__ import annotations

from typing import Any

from ..language.expression import Constant, Expression, Slot, leaves, transform
from .contribution import Contribution, coded, expressions, of_template, slot
from .facts import Facts
from .template import Template

Form = tuple[str, int, float]  # "itself"; "solved" for the slot of an entry, which carries a sign; "scaled" by a factor
Outputs = tuple[Expression, ...]


def formed(template: Template, output: int, form: Form) -> Expression:
    """The expression that an output becomes."""
    what, entry, number = form
    expression = template.outputs[output]
    if what == "itself":
        return expression
    if what == "scaled":
        return expression * number
    _, place, value, _ = template.entries[entry]
    partial = template.jacobian[entry][2] if value is None else Constant(value)
    target = next(s for s in template.slots if s.number == place)
    rest = transform(expression, lambda n: Constant(0.0) if n is target else None)
    return -number * rest / partial


def kept(values: dict[int, Expression], residual: bool) -> list[int]:
    """Outputs that contribute anything; a residual is one, even if it is zero."""
    return [k for k, v in values.items() if residual or not (isinstance(v, Constant) and v.value == 0)]


def over_used_slots(values: Outputs, count: int) -> tuple[Outputs, list[int] | None]:
    """Expressions over as many slots as they use, and which of `count` these are; None: all."""
    used = sorted({n.number for n in leaves(*values) if isinstance(n, Slot)})
    if used == list(range(count)):
        return values, None
    new = {number: k for k, number in enumerate(used)}
    found = tuple(transform(v, lambda n: Slot(new[n.number], n.kind) if isinstance(n, Slot) else None) for v in values)
    # What was an array may have become simpler as a number (`x**0`, a choice between equals), and need fewer slots still.
    again, left = over_used_slots(found, len(used))
    return again, used if left is None else [used[k] for k in left]


class Forms:
    """Forms of the templates of one translation."""

    def __init__(self) -> None:
        self._templates: list[Template] = []  # as long as this lives, what is known about them is

    def of(self, template: Template, forms: dict[int, Form], residual: bool) -> tuple[list[int], Outputs, list[int] | None]:
        """Which outputs contribute, as what, and which of the slots these use."""
        contribution = of_template(template.name)
        key = f"{template.name} {residual} {list(forms.items())}"
        held = contribution.find(key) if contribution is not None else None
        if held is not None:
            return self._as_before(held, template)
        values = {k: formed(template, k, form) for k, form in forms.items()}
        which = kept(values, residual)
        outputs, used = over_used_slots(tuple(values[k] for k in which), len(template.slots))
        if contribution is not None:
            self._keep(contribution, key, template, which, outputs, used)
        return which, outputs, used

    def partial(self, template: Template, entry: int) -> Expression:
        """A derivative of a template."""
        contribution = of_template(template.name)
        if contribution is None:
            return template.jacobian[entry][2]
        key = f"{template.name} by {entry}"
        held = contribution.find(key)
        if held is not None:
            return expressions(held, [*template.slots, *template.calls])[0]
        found = template.jacobian[entry][2]
        code = coded((found,), [*template.slots, *template.calls])
        if code is not None:
            contribution.keep(key, code)
        return found

    def _keep(
        self, contribution: Contribution, key: str, template: Template, which: list[int], outputs: Outputs, used: list[int] | None
    ) -> None:
        made = Template.of(outputs) if which else None
        self._templates += [made] if made is not None else []
        code = coded(outputs, [*_slots(template, used), *template.calls])
        if code is not None:
            about = [made.name, made.facts_of_kind()] if made is not None else ["", None]
            contribution.keep(key, [which, used, code, *about])

    def _as_before(self, held: Any, template: Template) -> tuple[list[int], Outputs, list[int] | None]:
        which, used, code, name, facts = held
        if not which:
            return [], (), used
        slots = _slots(template, used)
        outputs = expressions(code, [*slots, *template.calls])
        self._templates.append(Template.known(outputs, name, Facts.of(facts), tuple(slots)))
        return which, outputs, used


def _slots(template: Template, used: list[int] | None) -> list[Slot]:
    """The slots that are left, with new numbers."""
    if used is None:
        return list(template.slots)
    kinds = {s.number: s.kind for s in template.slots}
    return [slot(k, kinds[n]) for k, n in enumerate(used)]
