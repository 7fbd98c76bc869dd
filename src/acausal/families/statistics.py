"""What translation made of a model, in numbers: those that other programs write to their translation logs.

Every declared variable ends in exactly one of five places, and index reduction adds derivatives as variables of their own, so that

    variables + inputs + derivatives = aliases + known + eliminated + computed + unknowns    and    unknowns = states + algebraic

hold for every model: the counts can be checked against each other, and a surprising one points at the stage to look at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Protocol

import numpy as np

from ..language.declarations import Constant
from ..records import dataclass
from ..structure.blocks import BlockForm, block_form
from ..structure.incidence import Incidence
from .plant import Plant, Quantity
from .system import System, eliminated_mask

MOST_BLOCKS = 10


class Solvable(Protocol):
    """The problem that solvers see, as far as it is counted here."""

    size: int
    differential: Any
    pattern: Any
    pattern_parts: Any
    initial_size: int
    residual_kernels: Sequence[Any]
    jacobian_kernels: Sequence[Any]
    computed: Any
    lowered: Any
    initial_residual_kernels: Sequence[Any]
    initial_jacobian_kernels: Sequence[Any]


class Translated(Protocol):
    """What is asked of a compiled model here."""

    @property
    def title(self) -> str: ...
    @property
    def system(self) -> System: ...
    @property
    def problem(self) -> Any: ...  # Solvable
    @property
    def seconds(self) -> Mapping[str, float]: ...


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
    discretes: int
    relations: int  # and what else the translation made to be constant between events
    aliases: int  # another variable with a sign
    known: int  # a parameter, an input, a constant or zero under another name
    eliminated: int  # computed from others when somebody looks at it
    computed: int  # assigned before the residuals are evaluated, instead of being solved for
    unknowns: int  # that a solver sees
    states: int
    algebraic: int
    derivatives: int  # variables that index reduction added
    differentiated: int  # equations that it added
    dummies: int  # derivatives that could have a state below them, and have none
    equations: int  # that a solver sees; there is one more for each computed variable
    initial_equations: int
    families: int  # of equations
    assignments: int  # families that assign computed variables
    kernels: int  # pieces of machine code for all of these: does not grow with the plant
    nonzeros: int
    blocks: int
    largest_block: int
    simultaneous_blocks: tuple[int, ...]  # sizes of the largest blocks that are solved together, `MOST_BLOCKS` at most
    seconds: Mapping[str, float]

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def statistics(model: Translated) -> Statistics:
    """Counts of a compiled model, as `model.info()` gives them."""
    system, problem = model.system, model.problem
    plant, aliases = system.plant, system.aliases
    eliminated = int((eliminated_mask(plant, system.definitions) & ~aliases.known).sum())
    known, states = int(aliases.known.sum()), int(problem.differential.sum())
    form = solution_order(problem)
    return Statistics(
        title=model.title,
        components=sum(kind.count for kind in plant.kinds) - 1,
        classes=len({kind.class_number for kind in plant.kinds if kind.representative is not plant.root}),
        **_declared(plant),
        aliases=plant.variable_count - known - eliminated - aliases.unknown_count,
        known=known,
        eliminated=eliminated,
        computed=len(problem.lowered.explicit.unknown),
        unknowns=problem.size,
        states=states,
        algebraic=problem.size - states,
        **_reduction(problem.lowered.system),
        equations=problem.size,
        initial_equations=problem.initial_size,
        families=len(problem.residual_kernels),
        assignments=len(problem.computed.kernels),
        kernels=_kernels(problem),
        nonzeros=len(problem.pattern[1]),
        blocks=form.count,
        largest_block=int(form.sizes.max(initial=0)),
        simultaneous_blocks=tuple(int(size) for size in form.simultaneous[:MOST_BLOCKS]),
        seconds=dict(model.seconds),
    )


def solution_order(problem: Solvable) -> BlockForm:
    """Blocks in which y' of the states and y of the others follow from the states: what a simulation solves at each instant."""
    indptr, rows = problem.pattern
    by_value, by_slope = problem.pattern_parts
    column = np.repeat(np.arange(problem.size), np.diff(indptr))
    keep = np.where(problem.differential[column], by_slope, by_value)
    return block_form(Incidence.from_pairs(rows[keep], column[keep], problem.size, problem.size))


def _reduction(system: System) -> dict[str, int]:
    """What index reduction added; nothing when the index was 1 from the start."""
    added = system.derivatives
    if added is None:
        return {"derivatives": 0, "differentiated": 0, "dummies": 0}
    selected = 0 if system.selected is None else len(system.selected)
    return {
        "derivatives": len(added.of_unknown),
        "differentiated": int(added.differentiations.sum()),
        "dummies": len(added.candidates()) - selected,
    }


def _declared(plant: Plant) -> dict[str, int]:
    counts = {"variables": 0, "inputs": 0, "parameters": 0, "constants": 0, "discretes": 0, "relations": 0}
    for kind in plant.kinds:
        for quantity in kind.quantities.values():
            if quantity.role != "parameter" or not quantity.declaration.auxiliary:
                counts[_sort(quantity)] += kind.count * quantity.size
    return counts


def _sort(quantity: Quantity) -> str:
    if isinstance(quantity.declaration, Constant):
        return "constants"
    if quantity.role == "discrete" and quantity.declaration.auxiliary:
        return "relations"
    return f"{quantity.role}s"


def _kernels(problem: Solvable) -> int:
    """Distinct pieces of machine code: families that differ only in where their slots point share them."""
    residuals = [*problem.residual_kernels, *problem.computed.kernels, *problem.initial_residual_kernels]
    jacobians = [*problem.jacobian_kernels, *problem.initial_jacobian_kernels]
    return len({kernel.address for kernel in [*residuals, *jacobians]})
