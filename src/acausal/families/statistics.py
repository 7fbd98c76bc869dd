"""What translation made of a model, in numbers: those that other programs write to their translation logs.

Every declared variable ends in exactly one of four places, so that

    variables + inputs = aliases + known + eliminated + unknowns        and        unknowns = states + algebraic

hold for every model: the counts can be checked against each other, and a surprising one points at the stage to look at.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from ..language.declarations import Constant
from ..structure.blocks import block_form
from .assemble import eliminated_mask
from .balance import _highest as highest_derivatives
from .pattern import Pattern
from .plant import Plant, Quantity
from .system import System


class Translated(Protocol):
    """What is asked of a compiled model here."""

    title: str
    system: System
    pattern: Pattern
    seconds: dict[str, float]


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counts are of scalars: an array of 100 resistors is 100 components, and a variable of shape 10 in each is 1 000 variables."""

    title: str
    components: int  # without the model itself
    classes: int
    variables: int
    inputs: int
    parameters: int
    constants: int
    aliases: int  # another variable with a sign
    known: int  # a parameter, an input, a constant or zero under another name
    eliminated: int  # computed from others when somebody looks at it
    unknowns: int
    states: int
    algebraic: int
    equations: int
    initial_equations: int
    families: int
    kernels: int  # pieces of machine code: does not grow with the plant
    nonzeros: int
    blocks: int
    largest_block: int
    simultaneous_blocks: tuple[int, ...]  # sizes of the largest blocks that are solved together, ten at most
    seconds: Mapping[str, float]

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


MOST_BLOCKS = 10


def statistics(model: Translated) -> Statistics:
    """Counts of a compiled model: `statistics(ac.compile(Ladder(100))).unknowns`."""
    system, pattern = model.system, model.pattern
    plant, aliases = system.plant, system.aliases
    declared = _declared(plant)
    eliminated = int((eliminated_mask(plant, system.definitions) & ~aliases.known).sum())
    known, states = int(aliases.known.sum()), int(system.differential.sum())
    form = block_form(highest_derivatives(system, pattern))
    return Statistics(
        title=model.title,
        components=sum(kind.count for kind in plant.kinds) - 1,
        classes=len({type(kind.representative) for kind in plant.kinds if kind.representative is not plant.root}),
        **declared,
        aliases=plant.variable_count - known - eliminated - system.size,
        known=known,
        eliminated=eliminated,
        unknowns=system.size,
        states=states,
        algebraic=system.size - states,
        equations=system.equation_count,
        initial_equations=system.initial_count,
        families=len(system.families),
        kernels=_kernels(system),
        nonzeros=pattern.size,
        blocks=form.count,
        largest_block=int(form.sizes.max(initial=0)),
        simultaneous_blocks=tuple(int(size) for size in form.simultaneous[:MOST_BLOCKS]),
        seconds=dict(model.seconds),
    )


def _declared(plant: Plant) -> dict[str, int]:
    counts = {"variables": 0, "inputs": 0, "parameters": 0, "constants": 0}
    for kind in plant.kinds:
        for quantity in kind.quantities.values():
            counts[_sort(quantity)] += kind.count * quantity.size
    return counts


def _sort(quantity: Quantity) -> str:
    if isinstance(quantity.declaration, Constant):
        return "constants"
    return f"{quantity.role}s"


def _kernels(system: System) -> int:
    """Distinct residual and Jacobian kernels: families that differ only in where their slots point share them."""
    distinct = {(id(f.template), f.signs): f for f in [*system.families, *system.initial_families]}
    return sum(2 if family.template.jacobian else 1 for family in distinct.values())
