"""Linear systems: a model around a point, E dx/dt = A x + B u and z = C x + D u, with names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import block_array, csc_array, csr_array, eye_array
from scipy.sparse.linalg import splu

from ..errors import ModelError, UsageError
from .matrix import Matrix, Names
from .partials import Partials, partials

if TYPE_CHECKING:
    from scipy.signal import StateSpace

    from ..runtime.model import Model


def linearise(
    model: Model,
    at: Any = None,
    *,
    time: Any = None,
    inputs: Iterable[str] | str | None = None,
    outputs: Iterable[str] | str = (),
) -> Linearisation:
    """See `Model.linearise`."""
    found = partials(model, at, time=time, inputs=inputs, parameters=(), outputs=outputs)
    for matrix in (found.F_y, found.F_yp, found.F_u, found.G_y, found.G_yp, found.G_u):
        wrong = ~np.isfinite(matrix.values.data)
        if wrong.any():
            entries = matrix.values.tocoo()
            row, column = (int(k[wrong][0]) for k in (entries.row, entries.col))
            raise ModelError(
                f"The model has no linear approximation at {found.time:g} s: "
                f"a derivative by `{matrix.columns[column]}` is not finite.",
                equation=matrix.rows[row],
                remedy="Linearise beside this point, or use a smooth form such as `ac.regularised_sqrt`.",
            )
    return Linearisation.of(found)


@dataclass(frozen=True, eq=False)
class Linearisation:
    """A model around a point, in deviations from it: E dx/dt = A x + B u, z = C x + D u.

    x are the unknowns of the model; rows of E that are zero are algebraic equations. `states` are the names of those that are
    differentiated, `reduced()` is the system in these alone, `poles()` are its eigenvalues, `to_scipy()` its `StateSpace`.
    With `scipy.linalg.eig(A, E)` algebraic equations give infinite eigenvalues.
    """

    time: float
    E: Matrix
    A: Matrix
    B: Matrix
    C: Matrix
    D: Matrix
    is_state: np.ndarray

    @staticmethod
    def of(p: Partials) -> Linearisation:
        """An output with derivatives in it becomes an unknown of its own, with an algebraic equation: 0 = G - z."""
        differentiated = np.diff(csr_array(p.G_yp.values).indptr) > 0
        extra, n = np.flatnonzero(differentiated), len(p.unknowns)
        rows = Names(n + len(extra), lambda k: p.equations[k] if k < n else f"output {p.outputs[int(extra[k - n])]}")
        names = Names(n + len(extra), lambda k: p.unknowns[k] if k < n else p.outputs[int(extra[k - n])])
        G_y, G_yp, G_u = (csr_array(m.values) for m in (p.G_y, p.G_yp, p.G_u))
        none, one = csr_array((n, len(extra))), eye_array(len(extra))
        E = block_array([[p.F_yp.values, none], [-G_yp[extra], None]])
        A = block_array([[-p.F_y.values, none], [G_y[extra], -one]])
        B = block_array([[-p.F_u.values], [G_u[extra]]])
        plain = csr_array((~differentiated).astype(float)[:, None])
        chosen = csr_array((np.ones(len(extra)), (extra, np.arange(len(extra)))), shape=(len(p.outputs), len(extra)))
        C, D = block_array([[G_y.multiply(plain), chosen]]), G_u.multiply(plain)
        slope = np.diff(csc_array(p.F_yp.values).indptr) > 0
        is_state = np.append(p.differential & slope, np.zeros(len(extra), dtype=bool))
        return Linearisation(
            p.time,
            Matrix(_without_zeros(E), rows, names),
            Matrix(_without_zeros(A), rows, names),
            Matrix(_without_zeros(B), rows, p.inputs),
            Matrix(_without_zeros(C), p.outputs, names),
            Matrix(_without_zeros(D), p.outputs, p.inputs),
            is_state,
        )

    def __repr__(self) -> str:
        return (
            f"<Linearisation at {self.time:g} s: {len(self.states)} states, {len(self.inputs)} inputs, {len(self.outputs)} outputs>"
        )

    @property
    def unknowns(self) -> list[str]:
        return list(self.A.columns)

    @cached_property
    def states(self) -> list[str]:
        return [self.A.columns[int(k)] for k in np.flatnonzero(self.is_state)]

    @property
    def inputs(self) -> list[str]:
        return list(self.B.columns)

    @property
    def outputs(self) -> list[str]:
        return list(self.C.rows)

    def reduced(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """(A, B, C, D) in the states alone, dense: dx/dt = A x + B u, z = C x + D u."""
        return self._reduced

    @cached_property
    def _reduced(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """With states x and the other unknowns v: [E_x | -A_v] [dx/dt; v] = A_x x + B u."""
        states, others = np.flatnonzero(self.is_state), np.flatnonzero(~self.is_state)
        E, A, B, C = (csc_array(m.values) for m in (self.E, self.A, self.B, self.C))
        right = np.hstack([A[:, states].toarray(), B.toarray()])
        solved = np.zeros_like(right)
        if len(right):
            try:
                solved = splu(csc_array(block_array([[E[:, states], -A[:, others]]]))).solve(right)
            except RuntimeError:
                raise ModelError(
                    f"At {self.time:g} s the equations do not determine the derivatives of the states: there is no system in them.",
                    remedy="`model.diagnose()` says which equations; the matrices E and A themselves are there.",
                ) from None
        k, m = len(states), len(states)
        C_v = C[:, others]
        by_state = C[:, states].toarray() + C_v @ solved[k:, :m]
        return solved[:k, :m], solved[:k, m:], by_state, self.D.values.toarray() + C_v @ solved[k:, m:]

    def poles(self) -> np.ndarray:
        """The eigenvalues of the system, as many as there are states, the slowest first."""
        found = np.linalg.eigvals(self._reduced[0]).astype(complex)
        return found[np.lexsort((found.imag, -found.real))]

    def to_scipy(self) -> StateSpace:
        """As `scipy.signal.StateSpace`, for `bode`, `step` and whatever else is there; its states are `states`."""
        from scipy.signal import StateSpace

        if not len(self.inputs) or not len(self.outputs):
            missing = "input" if not len(self.inputs) else "output"
            raise UsageError(
                f"A `StateSpace` has at least one {missing}, and this linearisation has none.",
                remedy=f"model.linearise(…, {missing}s=[…]): inputs are external inputs or parameters, outputs any variable.",
            )
        return StateSpace(*self._reduced)


def _without_zeros(matrix: Any) -> csc_array:
    found = csc_array(matrix)
    found.eliminate_zeros()
    return found
