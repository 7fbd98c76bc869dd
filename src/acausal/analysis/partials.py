"""Exact partial derivatives of a model's equations and outputs at a point: ∂F/∂y, ∂F/∂y', ∂F/∂u, ∂F/∂p, each by itself, by name.

Kernels give the derivatives of every residual and of every explicit variable by the cells they read. Let z be the explicit
variables, z = Z(x, z) with x everything else, in an order in which each needs earlier ones only. Then dz/dx = (I - Z_z)⁻¹ Z_x,
where Z_z is strictly triangular, so that a finite number of products is exact; and dF/dx = F_x + F_z dz/dx. Parameters bound to
others go the same way: known cells that depend on known cells.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, final

import numpy as np
from scipy.sparse import coo_array, csc_array, csr_array

from ..errors import UsageError
from ..families.explicit import unfolded
from ..families.template import Family, Template
from ..kernels import compile_kernels
from ..language.declarations import Constant
from ..language.expression import Expression, Slot, transform
from ..runtime.build import addresses
from ..runtime.problem import JacobianKernel, derivatives_of_rows
from .bindings import through_bindings
from .matrix import Matrix, Names
from .outputs import Outputs
from .point import Point, point_of

if TYPE_CHECKING:
    from ..model.model import Model


def partials(
    model: Model,
    at: Any = None,
    *,
    time: Any = None,
    inputs: Iterable[str] | str | None = None,
    parameters: Iterable[str] | str | None = None,
    outputs: Iterable[str] | str = (),
) -> Partials:
    """See `Model.partials`."""
    return Partials(point_of(model, at, time), inputs, parameters, outputs)


@final
class Partials:
    """Derivatives of the equations F(t, y, y', u, p) = 0 and of outputs G(t, y, y', u, p) at a point.

    `F_y`, `F_yp`, `F_u`, `F_p` and `G_y`, `G_yp`, `G_u`, `G_p` are matrices with names (`Matrix`), computed when asked for.
    y are the unknowns that the solver sees; variables that are computed from them are followed by the chain rule.
    """

    def __init__(
        self,
        point: Point,
        inputs: Iterable[str] | str | None = None,
        parameters: Iterable[str] | str | None = None,
        outputs: Iterable[str] | str = (),
    ) -> None:
        self.time, self._point = point.time, point
        self.time_unit = point.model.system.plant.independent[1]
        self._inputs = external_inputs(point) if inputs is None else cells_of(point, _listed(inputs), "inputs")
        self._parameters = own_parameters(point) if parameters is None else cells_of(point, _listed(parameters), "parameters")
        self._outputs = Outputs(point, _listed(outputs))
        problem = point.problem
        size, plant = problem.size, point.model.system.plant
        self.equations = Names(size, lambda r: _equation_name(problem.describe_equation(r)))
        self.unknowns = Names(size, problem.name_of_unknown)
        self.inputs = Names(len(self._inputs), lambda k: plant.name_of(int(self._inputs[k]), "known"))
        self.parameters = Names(len(self._parameters), lambda k: plant.name_of(int(self._parameters[k]), "known"))
        self.outputs = self._outputs.names

    def __repr__(self) -> str:
        sizes = f"{len(self.unknowns)} unknowns, {len(self.inputs)} inputs, {len(self.parameters)} parameters"
        return f"<Partials at {self.time:g} {self.time_unit}: {sizes}, {len(self.outputs)} outputs>"

    def __reduce__(self) -> Any:
        raise UsageError(
            "Partial derivatives are computed when they are asked for, and can be neither copied nor pickled before.",
            remedy="Their matrices can: `pickle.dumps(partials.F_y)`.",
        )

    @property
    def differential(self) -> np.ndarray:
        """Which of the unknowns are differentiated."""
        return self._point.problem.differential

    # --- equations --------------------------------------------------------------------------------------------------------
    @cached_property
    def F_y(self) -> Matrix:
        """∂F/∂y."""
        return Matrix(csc_array(self._equations[:, : len(self.unknowns)]), self.equations, self.unknowns)

    @cached_property
    def F_yp(self) -> Matrix:
        """∂F/∂y'."""
        size = len(self.unknowns)
        return Matrix(csc_array(self._equations[:, size : 2 * size]), self.equations, self.unknowns)

    @cached_property
    def F_u(self) -> Matrix:
        """∂F/∂u, by external inputs (or by the parameters that were named as inputs)."""
        return Matrix(self._by_known(self._equations_by_known, self._inputs), self.equations, self.inputs)

    @cached_property
    def F_p(self) -> Matrix:
        """∂F/∂p, through parameters that are bound to p as well."""
        return Matrix(self._by_known(self._equations_by_known, self._parameters), self.equations, self.parameters)

    # --- outputs ----------------------------------------------------------------------------------------------------------
    @property
    def output_values(self) -> np.ndarray:
        """The outputs themselves."""
        return self._outputs.value

    @cached_property
    def G_y(self) -> Matrix:
        """∂G/∂y."""
        return Matrix(csc_array(self._output_slopes[:, : len(self.unknowns)]), self.outputs, self.unknowns)

    @cached_property
    def G_yp(self) -> Matrix:
        """∂G/∂y'."""
        size = len(self.unknowns)
        return Matrix(csc_array(self._output_slopes[:, size : 2 * size]), self.outputs, self.unknowns)

    @cached_property
    def G_u(self) -> Matrix:
        """∂G/∂u."""
        return Matrix(self._by_known(self._outputs_by_known, self._inputs), self.outputs, self.inputs)

    @cached_property
    def G_p(self) -> Matrix:
        """∂G/∂p, through parameters that are bound to p as well."""
        return Matrix(self._by_known(self._outputs_by_known, self._parameters), self.outputs, self.parameters)

    # --- how --------------------------------------------------------------------------------------------------------------
    @cached_property
    def _direct(self) -> tuple[csr_array, csr_array]:
        """Derivatives of residuals and of explicit variables by y, y' and explicit variables."""
        return self._entries(known=False)

    @cached_property
    def _direct_by_known(self) -> tuple[csr_array, csr_array]:
        """The same with derivatives by whatever is known; these kernels are compiled when first asked for.

        A variable that is equal to a parameter or an input stands in a slot for variables: those derivatives are there already.
        """
        (residuals, computed), (more, more_computed) = self._direct, self._entries(known=True)
        return csr_array(residuals + more), csr_array(computed + more_computed)

    def _entries(self, known: bool) -> tuple[csr_array, csr_array]:
        lowered, size = self._point.problem.lowered, len(self._point.w)
        parts = []
        for families, rows in ((lowered.families, lowered.size), (lowered.assignments, lowered.computed)):
            chosen = [by_known(f) for f in families] if known else families
            parts.append(derivative_matrix(chosen, self._point.w, (rows, size)))
        return parts[0], parts[1]

    @cached_property
    def _links(self) -> csr_array:
        """Derivatives of explicit variables by explicit variables."""
        return csr_array(self._direct[1][:, self._first_computed :])

    @property
    def _first_computed(self) -> int:
        return len(self._point.w) - self._point.problem.lowered.computed

    def _followed(self, direct: csr_array, of_computed: csr_array, by_computed: csr_array) -> csr_array:
        """`direct`, and through explicit variables: by_computed · (I - links)⁻¹ · of_computed."""
        total = of_computed
        for _ in range(int(self._point.problem.lowered.explicit.level.max(initial=0))):
            total = csr_array(of_computed + self._links @ total)
        return csr_array(direct + by_computed @ total)

    @cached_property
    def _equations(self) -> csr_array:
        residuals, computed = self._direct
        end = 2 * len(self.unknowns)
        return self._followed(residuals[:, :end], computed[:, :end], residuals[:, self._first_computed :])

    @cached_property
    def _equations_by_known(self) -> csr_array:
        cells = slice(2 * len(self.unknowns), self._first_computed)
        residuals, computed = self._direct_by_known
        return self._followed(residuals[:, cells], computed[:, cells], self._direct[0][:, self._first_computed :])

    @cached_property
    def _output_slopes(self) -> csr_array:
        end = 2 * len(self.unknowns)
        own = self._outputs.slope
        return self._followed(own[:, :end], self._direct[1][:, :end], own[:, self._first_computed :])

    @cached_property
    def _outputs_by_known(self) -> csr_array:
        cells = slice(2 * len(self.unknowns), self._first_computed)
        own = self._outputs.slope
        return self._followed(own[:, cells], self._direct_by_known[1][:, cells], own[:, self._first_computed :])

    @cached_property
    def _bound(self) -> csr_array:
        """Derivatives of all known cells by all known cells that are free."""
        return through_bindings(self._point.model, self._point.w[2 * len(self.unknowns) : self._first_computed])

    def _by_known(self, matrix: csr_array, cells: np.ndarray) -> csc_array:
        return csc_array(matrix @ self._bound[:, cells])


def derivative_matrix(families: list[Family], w: np.ndarray, shape: tuple[int, int]) -> csr_array:
    """What the Jacobian kernels of some families give at a workspace, one column for each cell of it."""
    some = [f for f in families if f.template.jacobian]
    rows, columns, values = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0)]
    for family, kernel in zip(some, compile_kernels([(f.template, f.signs) for f in some]), strict=True):
        by = [slot for _, slot, _ in family.template.jacobian]
        code = JacobianKernel(kernel.jacobian_address, family.slots, family.rows, addresses(family), by)
        for (output, slot, _), value in zip(family.template.jacobian, derivatives_of_rows(code, w), strict=True):
            rows.append(family.rows[output].astype(np.int64))
            columns.append(unfolded(family, slot).astype(np.int64))
            values.append(value)
    entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    return csr_array(coo_array(entries, shape=shape))


def by_known(family: Family) -> Family:
    """The same family, its known slots and its unknown ones exchanged: its Jacobian is that by known cells."""
    return Family(_template_by_known(family.template.outputs), family.slots, family.signs, family.rows)


@lru_cache(maxsize=4096)
def _template_by_known(outputs: tuple[Expression, ...]) -> Template:
    return Template.of(tuple(transform(o, _exchanged) for o in outputs))


def _exchanged(node: Expression) -> Expression | None:
    if not isinstance(node, Slot):
        return None
    return Slot(node.number, "variable" if node.kind == "known" else "known")


# --- names ------------------------------------------------------------------------------------------------------------------
def _listed(names: Iterable[str] | str) -> list[str]:
    found = [names] if isinstance(names, str) else list(names)
    for name in found:
        if not isinstance(name, str):
            raise UsageError(f"A name is a text such as `room.T`, got {name!r} of type {type(name).__name__}.")
    return found


def _equation_name(diagnostic: Any) -> str:
    return f"{diagnostic.component}: {diagnostic.equation}"


def cells_of(point: Point, names: list[str], what: str) -> np.ndarray:
    """Known cells of external inputs and parameters by name."""
    parameters, found = point.model._parameters, [np.zeros(0, np.int64)]
    for name in names:
        located = point.model.system.plant.locate(name)
        quantity = located.kind.quantities.get(located.name) if located.flat is not None else None
        if quantity is None or located.order or not (quantity.declaration.is_known or quantity.role == "input"):
            raise UsageError(
                f"`{name}` is neither an input nor a parameter, so it does not stand in `{what}`.",
                remedy="A variable that equations determine goes with `outputs`.",
            )
        given = quantity.role == "input"
        found.append(np.ravel(parameters.input_cells(name) if given else quantity.base + np.asarray(located.flat)))
    return np.concatenate(found)


def external_inputs(point: Point) -> np.ndarray:
    """Known cells of all inputs that are given from outside."""
    system, found = point.model.system, [np.zeros(0, np.int64)]
    for kind in system.plant.kinds:
        for q in kind.quantities.values():
            if q.role == "input":
                count = kind.count * q.size
                numbers, cells = np.arange(q.base, q.base + count), np.arange(q.known_base, q.known_base + count)
                found.append(cells[system.aliases.known[numbers] & (system.aliases.index[numbers] == cells)])
    return np.concatenate(found)


def own_parameters(point: Point) -> np.ndarray:
    """Known cells of all parameters that can be set."""
    found = [np.zeros(0, np.int64)]
    for kind in point.model.system.plant.kinds:
        for q in kind.quantities.values():
            if q.role == "parameter" and not q.declaration.auxiliary and not isinstance(q.declaration, Constant):
                found.append(np.arange(q.base, q.base + kind.count * q.size))
    return np.concatenate(found)
