"""Templates and families: the one idea of the program (see docs/architecture.md).

A `Template` is one or more scalar residuals over slots. A `Family` is a template and its index table: one row for each place
where the equation holds. Rows are numpy data; nothing is created per row.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from ..language.expression import Call, Constant, Expression, Operation, Slot, leaves, walk
from ..records import dataclass
from . import calls, facts
from .differentiate import gradient, partials
from .facts import Entry, Facts

PLUS, MINUS, MIXED = 0, 1, 2  # the sign a slot carries in a family: always +, always -, or row by row
SIGNS = 3  # the bits of a sign; beside them, how a slot goes on from row to row, where that is the same for all rows:
REPEATED, CONSECUTIVE = 4, 8
_MANY_ROWS = 64  # for which code of their own pays
HEARD = frozenset(("add", "sub", "mul", "div", "neg", "exp", "sin", "cos", "tanh", "sqrt", "log"))  # by all arguments, always


_templates: WeakValueDictionary[tuple[Expression, ...], Template] = WeakValueDictionary()


@dataclass(frozen=True, slots=False, eq=False)
class Template:
    """`outputs[k]` is the k-th scalar residual, over slots numbered 0 … n-1 in order of first appearance.

    Templates are interned through their expressions: equal `outputs` means equal templates.
    """

    outputs: tuple[Expression, ...]

    @staticmethod
    def of(outputs: tuple[Expression, ...]) -> Template:
        """The one template with these outputs; its derivatives are formed once in a process."""
        found = _templates.get(outputs)
        if found is None:
            found = _templates.setdefault(outputs, Template(outputs))
        return found

    @staticmethod
    def known(outputs: tuple[Expression, ...], name: str, found: Facts, slots: tuple[Slot, ...]) -> Template:
        """The same where its name and what is known about it were found before."""
        template = Template.of(outputs)
        for attribute, held in (("name", name), ("facts", found), ("slots", slots)):
            template.__dict__.setdefault(attribute, held)
        return template

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        found = {n for n in leaves(*self.outputs) if isinstance(n, Slot)}
        return tuple(sorted(found, key=lambda s: s.number))

    @cached_property
    def functions(self) -> tuple[Any, ...]:
        """Functions known by address that the residuals or their derivatives call, each once, in a fixed order."""
        if not self.calls:
            return ()
        known = self.facts.functions
        return self._evaluations() if known is None else tuple(calls.found(said, self.calls) for said in known)

    def _evaluations(self) -> tuple[Any, ...]:
        everything = calls.called((*self.outputs, *(g for _, _, g in self.jacobian)))
        return tuple({id(f.evaluation): f.evaluation for f in everything}.values())

    @cached_property
    def calls(self) -> tuple[Any, ...]:
        """Functions that the residuals call, in the order of a walk."""
        return calls.called(self.outputs)

    @property
    def addresses(self) -> list[int]:
        """Of each of these functions, its code and its data. The code need not find derivatives that nobody here reads."""
        if not self.functions:
            return []
        from ..language.several import Part

        orders = dict.fromkeys((id(f) for f in self.functions), 1)  # a Jacobian's
        for node in walk(*self.outputs):
            if isinstance(node, Call) and isinstance(node.function, Part):
                key = id(node.function.evaluation)
                orders[key] = max(orders[key], 1 + len(node.function.by))
        return [a for f in self.functions for a in (_code(f, orders[id(f)]), f.data_address)]

    @cached_property
    def name(self) -> str:
        """The same in every process; empty where functions are called that cannot describe themselves."""
        return facts.name_of(self.outputs)

    @cached_property
    def name_of_code(self) -> str:
        """The same for its code, which gets functions at run time: others of their form may stand in their place."""
        return facts.name_of(self.outputs, forms=True) if self.calls else self.name

    @cached_property
    def facts(self) -> Facts:
        """What is known without the derivatives themselves; most often, somebody has found it before."""
        found = facts.find(self.name)
        if found is None:
            found = self._found()
            facts.keep(self.name, found)
        return found

    def facts_of_kind(self) -> Facts:
        """The same for who keeps them with what a kind contributes, and nowhere else."""
        found: Facts = self.__dict__.get("facts") or self.__dict__.setdefault("facts", self._found())
        return found

    def _found(self) -> Facts:
        told = [calls.told(f, self.calls) for f in self._evaluations()] if self.calls else []
        functions = None if None in told else tuple(one for one in told if one is not None)
        return Facts(tuple(facts.entry_of(*entry) for entry in self.jacobian), self._silent_slots(), functions)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Which derivatives there are, in the order of `jacobian`."""
        return self.facts.entries

    @cached_property
    def entry_places(self) -> tuple[np.ndarray, np.ndarray]:
        """Outputs and slots of the derivatives, in the order of `entries`."""
        return np.array([e.output for e in self.entries], dtype=np.intp), np.array([e.slot for e in self.entries], dtype=np.intp)

    @cached_property
    def changing_places(self) -> tuple[tuple[int, int], ...]:
        """(output, slot) of the derivatives that read a variable: they are nobody's constants."""
        known = {s.number for s in self.slots if s.kind == "known"}
        return tuple((e.output, e.slot) for e in self.entries if e.value is None and not known.issuperset(e.reads))

    @property
    def silent_slots(self) -> tuple[tuple[int, int], ...]:
        """(output, slot) where a residual reads a slot without a derivative: within `sign`, or in the condition of `where`."""
        return self.facts.silent

    @cached_property
    def unseen_slots(self) -> tuple[tuple[int, int], ...]:
        """Those of them that no derivative of that output shows either: `m` of `m·sign(m)` stands in the pattern anyway."""
        shown = {(entry.output, entry.slot) for entry in self.entries}
        return tuple(place for place in self.silent_slots if place not in shown)

    def _silent_slots(self) -> tuple[tuple[int, int], ...]:
        found: set[tuple[int, int]] = set()
        for k, output in enumerate(self.outputs):
            for node in walk(output):
                if not node.args or (isinstance(node, Operation) and node.operator.name in HEARD):
                    continue
                for argument, partial in zip(node.args, partials(node), strict=True):
                    if isinstance(partial, Constant) and partial.value == 0:
                        found |= {(k, n.number) for n in walk(argument) if isinstance(n, Slot) and n.kind != "known"}
        return tuple(sorted(found))

    @cached_property
    def jacobian(self) -> tuple[tuple[int, int, Expression], ...]:
        """Non-zero derivatives as (output, slot number, expression), for slots that may hold an unknown or its derivative."""
        entries = []
        for k, output in enumerate(self.outputs):
            found = gradient(output, [s for s in self.slots if s.kind != "known"])
            entries += [(k, s.number, found[s]) for s in self.slots if s in found]
        return tuple(entries)


@dataclass(slots=True, eq=False)
class Family:
    """A template, where its slots point for each row, and which residual rows it adds to.

    `slots` has shape (slot, row) and holds indices into the workspace `w = [y | y' | known]`; where `signs[slot]` is MIXED,
    index i with a minus sign is stored as ~i. `rows` has shape (output, row) and holds residual numbers.
    """

    template: Template
    slots: np.ndarray  # int32
    signs: tuple[int, ...]
    rows: np.ndarray  # int32

    @property
    def count(self) -> int:
        return int(self.rows.shape[1])

    @property
    def access(self) -> tuple[int, ...]:
        """Signs, and of many rows that follow each other in the tables as well, how: code for these uses vector instructions.

        Each slot then is the same cell for all rows (REPEATED) or the next cell for the next row (CONSECUTIVE); a last number says
        that the residuals follow each other too.
        """
        if self.count < _MANY_ROWS or MIXED in self.signs or not all(_is_consecutive(line) for line in self.rows):
            return self.signs
        steps = [CONSECUTIVE if _is_consecutive(line) else REPEATED if (line == line[0]).all() else 0 for line in self.slots]
        return (*(sign | step for sign, step in zip(self.signs, steps, strict=True)), CONSECUTIVE) if all(steps) else self.signs


def _is_consecutive(line: np.ndarray) -> bool:
    return int(line[-1]) - int(line[0]) == len(line) - 1 and bool((line[1:] > line[:-1]).all())


def merged_families(merged: dict[tuple[Expression, ...], list[tuple[np.ndarray, np.ndarray]]]) -> list[Family]:
    """One family for each template, from tables of signed workspace indices and of residual rows."""
    return [_family(outputs, tables) for outputs, tables in merged.items()]


def _family(outputs: tuple[Expression, ...], tables: list[tuple[np.ndarray, np.ndarray]]) -> Family:
    template = Template.of(outputs)
    slots = np.concatenate([s for s, _ in tables], axis=1) if len(tables) > 1 else tables[0][0]
    rows = np.concatenate([r for _, r in tables], axis=1) if len(tables) > 1 else tables[0][1]
    if slots.min(initial=0) >= 0:
        signs = [PLUS] * len(slots)
    else:
        minus = slots < 0
        some, every = (np.asarray(found) for found in (minus.any(axis=1), minus.all(axis=1)))
        slots[some & every] = ~slots[some & every]
        signs = [(MINUS if every[k] else MIXED) if some[k] else PLUS for k in range(len(slots))]
    return Family(template, np.ascontiguousarray(slots), tuple(signs), np.ascontiguousarray(rows, dtype=np.int32))


def _code(function: Any, order: int) -> int:
    from ..language.several import Several

    return function.address_to(order) if isinstance(function, Several) else function.address
