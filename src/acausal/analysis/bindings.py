"""Known cells that parameters determine (bound parameters, derived values): how much each moves with those it is computed from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array, eye_array

from ..families.forward import Differentiated, differentiated
from ..families.plant import Kind, Plant
from ..language.expression import Expression, Reference

if TYPE_CHECKING:
    from ..model.model import Model


def bound_cells(model: Model, known: np.ndarray, held: np.ndarray | None = None) -> csr_array:
    """Derivatives of bound cells by the cells in their expressions, with these values; a cell that was set otherwise is free, and
    so are those that are `held`: set for one run, be it to what they are anyway."""
    plant, size = model.system.plant, len(known)
    total, free = csr_array((size, size)), model._parameters.overridden.copy()
    if held is not None:
        free[held] = True
    for binding in model._parameters.values.bindings:
        found = _differentiated(plant, binding.kind, binding.instances, binding.expression, known)
        rows = _elements(found.value, binding.cells)
        follows = (known[binding.cells] == found.value.ravel()[rows]) & ~free[binding.cells]
        total = csr_array(total + _placed(binding.cells[follows], rows[follows], found))
    for derived in model.system.derived:
        found = _differentiated(plant, derived.kind, np.arange(derived.kind.count), derived.expression, known)
        total = csr_array(total + _placed(derived.cells.ravel(), _elements(found.value, derived.cells).ravel(), found))
    return total


def through_bindings(model: Model, known: np.ndarray, held: np.ndarray | None = None) -> csr_array:
    """Derivatives of all known cells by all known cells that are free."""
    links = bound_cells(model, known, held)
    total, whole = eye_array(len(known), format="csr"), eye_array(len(known), format="csr")
    while links.nnz:
        following = csr_array(whole + links @ total)
        if abs(following - total).nnz == 0:
            break
        total = following
    return csr_array(total)


def _elements(value: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """For each cell of (instances, elements) the number of the value it has; one value may be that of all elements."""
    each = value.size // max(len(cells), 1)
    return np.arange(len(cells))[:, None] * each + (np.arange(cells.shape[1]) if each > 1 else np.zeros(cells.shape[1], np.int64))


def _placed(cells: np.ndarray, rows: np.ndarray, found: Differentiated) -> csr_array:
    columns = found.slope.shape[1]
    placed = csr_array((np.ones(len(cells)), (cells, np.arange(len(cells)))), shape=(columns, len(cells)))
    return csr_array(placed @ found.slope[rows])


def _differentiated(plant: Plant, kind: Kind, instances: np.ndarray, expression: Expression, known: np.ndarray) -> Differentiated:
    def leaf(node: Expression) -> Differentiated:
        assert isinstance(node, Reference)
        cells = plant.numbers(kind, node)[instances]
        flat = cells.ravel()
        return Differentiated(known[cells], csr_array((np.ones(flat.size), (np.arange(flat.size), flat)), (flat.size, len(known))))

    return differentiated(expression, leaf, len(instances), len(known))
