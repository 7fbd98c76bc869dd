"""The flattened listing: every equation that is left when connections, aliases and definitions are resolved, with full names, and
what happens at events, as it is written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ..families.plant import FIRST_PARAMETER, TIME
from ..families.template import MINUS, MIXED, Family

if TYPE_CHECKING:
    from ..model.model import Model

_SLOT = re.compile(r"\$(\d+)'?")
_CHANGES = ("relation", "crossing")  # what makes an event …
_ACTIONS = ("update", "reinit", "step", "stop", "assertion")  # … and what one does


class Listing:
    """Names and values that stand in the equations of a model."""

    def __init__(self, model: Model) -> None:
        self.system = model.system
        self.known = model._parameters.known({})
        self._names: dict[int, str] = {}
        self._terms: dict[int, list[tuple[Family, int, int]]] = {}
        for family in self.system.families:
            for output, rows in enumerate(family.rows):
                for k, row in enumerate(rows.tolist()):
                    self._terms.setdefault(row, []).append((family, output, k))

    def lines(self, most: int | None = None) -> Iterator[str]:
        """Equations one by one; `most` of them, then how many more there are."""
        count = self.system.equation_count
        for row in range(count if most is None else min(most, count)):
            place = self.system.describe_equation(row)
            yield f"{self.equation(row)}    # {place.component}"
        if most is not None and count > most:
            yield f"… and {count - most} more"

    def events(self) -> Iterator[str]:
        """What switches, and what is done then, as it is written; a clause that does several things stands once."""
        for what, texts in (("an event where it changes", self._rules(_CHANGES)), ("at an event", self._actions())):
            for text in dict.fromkeys(texts):
                yield f"{what}: {text}"

    def _actions(self) -> Iterator[str]:
        plant = self.system.plant
        for traced in self.system.traced:
            for instance in range(traced.kind.count if traced.transitions else 0):
                path = plant.path_of(traced.kind, instance)
                yield from (_stated(t.text, f"{path or 'the model'} ({traced.kind.name})") for t in traced.transitions)
        yield from self._rules(_ACTIONS)

    def _rules(self, roles: tuple[str, ...]) -> Iterator[str]:
        if self.system.hybrid is None:
            return
        for role in roles:
            for row in range(sum(block.count for block in self.system.hybrid.parts[role].blocks)):
                place = self.system.describe_rule(role, row)
                yield _stated(place.equation, place.component)

    def equation(self, row: int) -> str:
        """One equation, as `0 == …` over the unknowns that are solved for."""
        return "0 == " + " + ".join(self._term(*term) for term in self._terms.get(row, ()))

    def _term(self, family: Family, output: int, k: int) -> str:
        def name(match: re.Match[str]) -> str:
            return self._value(family, int(match[1]), k)

        return _SLOT.sub(name, str(family.template.outputs[output]))

    def _value(self, family: Family, slot: int, k: int) -> str:
        index, sign = int(family.slots[slot, k]), family.signs[slot]
        minus = sign == MINUS or (sign == MIXED and index < 0)
        index = ~index if index < 0 else index
        if index not in self._names:
            self._names[index] = self._name(index)
        return f"(-{self._names[index]})" if minus else self._names[index]

    def _name(self, index: int) -> str:
        n = self.system.size
        if index < n:
            return self.system.name_of_unknown(index)
        if index < 2 * n:
            return f"der({self.system.name_of_unknown(index - n)})"
        cell = index - 2 * n
        if cell == TIME:
            return self.system.plant.independent[0]
        try:
            return self.system.plant.name_of(cell, "known") if cell >= FIRST_PARAMETER else f"{self.known[cell]:g}"
        except IndexError:  # a number in the equations, or what parameters alone determine
            return f"{self.known[cell]:g}" if cell < len(self.known) and np.isfinite(self.known[cell]) else f"known[{cell}]"


def flat(model: Model, most: int | None = None) -> list[str]:
    """The equations of a model as they are solved, one a line, then its events."""
    listing = Listing(model)
    return [*listing.lines(most), *listing.events()]


def _stated(text: str, component: str) -> str:
    return f"{text.replace('self.', '')}    # {component}"
