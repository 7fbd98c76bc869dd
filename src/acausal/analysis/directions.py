"""What a run is differentiated by: parameters, constant inputs and start values by name, as movements of known cells and starts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csc_array, diags_array

from ..errors import UsageError
from ..families.plant import element_name
from ..language.declarations import Constant
from ..runtime.problem import Problem
from .bindings import through_bindings
from .initial import moved_starts

if TYPE_CHECKING:
    from ..model.model import Model
    from ..runtime.preparation import Prepared


@dataclass(frozen=True, eq=False)
class Directions:
    """One column for each scalar: how known cells move with it (`moved`, sparse), and how start values do: `own`, those that are
    named themselves, and `starts`, with those whose declarations depend on parameters."""

    names: tuple[str, ...]
    moved: csc_array
    starts: np.ndarray
    own: np.ndarray

    @cached_property
    def known(self) -> np.ndarray:
        return np.asarray(self.moved.toarray())


def named(names: Iterable[str] | str, what: str = "sensitivities") -> list[str]:
    """The names that were given, as far as can be told without a model."""
    if not isinstance(names, Iterable):
        raise UsageError(
            f"`{what}` takes names, got {names!r} of type {type(names).__name__}.", remedy=f'{what}=["wall.G", "room.C"]'
        )
    given = [names] if isinstance(names, str) else list(names)
    if not given:
        raise UsageError(f"`{what}` names nothing.", remedy=f'{what}=["wall.G", "room.C"]')
    for name in given:
        if not isinstance(name, str):
            raise UsageError(f"A name is a text such as `wall.G`, got {name!r} of type {type(name).__name__}.")
    return given


def directions_of(
    model: Model,
    names: Iterable[str] | str,
    problem: Problem,
    what: str = "sensitivities",
    began: Prepared | None = None,
) -> Directions:
    """Parameters, inputs (as a shift at all times) and variables (their start values), of a run that began so."""
    given = named(names, what)
    labels, cells, unknowns = list[str](), list[int](), list[tuple[int, float]]()
    for name in given:
        found, start = _cells(model, name, problem, what)
        labels += [element_name(name, k, found.shape) for k in range(found.size)]
        cells += [-1] * found.size if start else found.ravel().tolist()
        unknowns += start or [(-1, 0.0)] * found.size
    doubled = next((label for label, times in Counter(labels).items() if times > 1), None)
    if doubled is not None:
        raise UsageError(f"`{doubled}` is named twice in `{what}`.")
    known = problem.known[: model.system.known_count]
    bound = through_bindings(model, known, None if began is None else began.held)
    number = np.array(cells, dtype=np.int64)
    moved = csc_array(bound)[:, np.maximum(number, 0)] @ diags_array((number >= 0).astype(float))
    moved = csc_array(moved)
    moved.eliminate_zeros()
    starts = moved_starts(model, problem, known, moved, None if began is None else began.started)
    own = np.zeros_like(starts)
    for k, (unknown, sign) in enumerate(unknowns):
        if unknown >= 0:
            own[unknown, k] += sign
    return Directions(tuple(labels), moved, starts + own, own)


def _cells(model: Model, name: str, problem: Problem, what: str) -> tuple[np.ndarray, list[tuple[int, float]]]:
    """Known cells of a name; of a variable the unknowns whose start values are meant, with signs."""
    system = model.system
    located = system.plant.locate(name)
    quantity = located.kind.quantities.get(located.name) if located.flat is not None else None
    if quantity is None or located.order or isinstance(quantity.declaration, Constant):
        raise UsageError(
            f"`{name}` is no parameter, input or variable with a start value, so it does not stand in `{what}`.",
            remedy="`model.parameters()` lists the parameters.",
        )
    flat = np.asarray(located.flat)
    if quantity.role == "input":
        return np.asarray(model._parameters.input_cells(name)).reshape(flat.shape), []
    if quantity.declaration.is_known:
        if quantity.role == "discrete":
            raise UsageError(
                f"`{name}` is a discrete variable: it does not stand in `{what}`.", remedy="Name the parameter it starts from."
            )
        return quantity.base + flat, []
    numbers = (quantity.base + flat).ravel()
    places = problem.lowered.place[system.aliases.index[numbers]]
    eliminated = (located.kind.index, located.name) in system.definitions
    if (
        eliminated
        or system.aliases.known[numbers].any()
        or (places >= problem.size).any()
        or not problem.differential[places].all()
    ):
        raise UsageError(
            f"`{name}` is a variable that is computed at the start, not given: it does not stand in `{what}`.",
            remedy="Name a state, whose start value is meant, or a parameter.",
        )
    return flat, [(int(p), float(s)) for p, s in zip(places, system.aliases.sign[numbers], strict=True)]
