"""Linear systems: a model around a point, E dx/dt = A x + B u and z = C x + D u, with names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import block_array, csc_array, csr_array, eye_array
from scipy.sparse.linalg import splu

from ..errors import ModelError, NameNotFound, UsageError, near_matches
from ..readable import count
from ..runtime.histories import refuse_delays
from ..runtime.parameters import differentiated_inputs
from .matrix import Matrix, Names
from .partials import Partials, partials

if TYPE_CHECKING:
    import os

    from matplotlib.figure import Figure
    from scipy.signal import StateSpace, TransferFunction

    from ..model.model import Model


def linearise(
    model: Model,
    at: Any = None,
    *,
    time: Any = None,
    inputs: Iterable[str] | str | None = None,
    outputs: Iterable[str] | str = (),
) -> Linearisation:
    """See `Model.linearise`."""
    refuse_delays(model.program.system, "A linear approximation")
    found = partials(model, at, time=time, inputs=inputs, parameters=(), outputs=outputs)
    moved = np.isin(found._inputs, list(differentiated_inputs(model.program.system)))
    differentiated = [found.inputs[int(k)] for k in np.flatnonzero(moved)]
    if differentiated and inputs is not None:
        raise UsageError(
            f"The model needs the derivative of input `{differentiated[0]}`: its answer to it is not of the form E x' = A x + B u.",
            remedy="Let a first-order lag follow the input, and linearise by what goes into that.",
        )
    if differentiated:
        others = [name for name in found.inputs if name not in differentiated]
        found = partials(model, at, time=time, inputs=others, parameters=(), outputs=outputs)
    for matrix in (found.F_y, found.F_yp, found.F_u, found.G_y, found.G_yp, found.G_u):
        wrong = ~np.isfinite(matrix.values.data)
        if wrong.any():
            entries = matrix.values.tocoo()
            row, column = (int(k[wrong][0]) for k in (entries.row, entries.col))
            raise ModelError(
                f"The model has no linear approximation at {found.time:g} {found.time_unit}: "
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
    time_unit: str = "s"

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
            p.time_unit,
        )

    def __repr__(self) -> str:
        return (
            f"<Linearisation at {self.time:g} {self.time_unit}: {count(len(self.states), 'state')}, "
            f"{count(len(self.inputs), 'input')}, {count(len(self.outputs), 'output')}>"
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
                    f"At {self.time:g} {self.time_unit} the equations do not determine the derivatives of the states: "
                    "there is no system in them.",
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

    def modes(self) -> list[Mode]:
        """The eigenvalues with the states that take part in each, the slowest first.

        for mode in linear.modes():
            print(mode)
        """
        A = self._reduced[0]
        values, right = np.linalg.eig(A)
        left = np.linalg.pinv(right)
        part = np.abs(right * left.T)
        order = np.lexsort((values.imag, -values.real))
        shares = part / np.maximum(part.sum(axis=0), 1e-300)
        names = self.states
        return [
            Mode(complex(values[k]), {names[i]: float(shares[i, k]) for i in np.argsort(-shares[:, k])}, self.time_unit)
            for k in order
        ]

    def response(self, frequencies: Any) -> np.ndarray:
        """The answer to sinusoidal inputs at some frequencies in Hz: complex, (frequency, output, input).

        Computed from E, A, B, C and D as they are, sparse.
        """
        E, A, B, C = (csc_array(m.values).astype(complex) for m in (self.E, self.A, self.B, self.C))
        found = []
        for f in np.atleast_1d(np.asarray(frequencies, dtype=float)):
            try:
                moved = splu(csc_array(2j * np.pi * f * E - A)).solve(B.toarray()) if len(self.A.rows) else B.toarray()
            except RuntimeError:
                raise ModelError(f"The model has a pole at {f:g} Hz on the imaginary axis: its answer there is infinite.") from None
            found.append(C @ moved + self.D.values.toarray())
        return np.array(found)

    def frequencies(self, count: int = 200) -> np.ndarray:
        """Frequencies in Hz from a decade below the slowest pole to a decade above the fastest."""
        size = np.abs(self.poles())
        size = size[size > 1e-12 * size.max(initial=0.0)] / (2 * np.pi)
        low, high = (size.min() / 10, size.max() * 10) if len(size) else (1e-2, 1e2)
        return np.geomspace(low, high, count)

    def bode(self, frequencies: Any = None, file: Any = None) -> Figure:
        """Magnitude and phase of every answer over frequency."""
        from .pictures import bode

        return bode(self, frequencies, file)

    def nyquist(self, frequencies: Any = None, file: Any = None) -> Figure:
        """The answer in the complex plane."""
        from .pictures import nyquist

        return nyquist(self, frequencies, file)

    def step(self, until: float | None = None, points: int = 401) -> tuple[np.ndarray, np.ndarray]:
        """Times, and the answers to a unit step of each input: (time, output, input)."""
        from scipy.signal import step

        system = self.to_scipy()
        rates = np.abs(self.poles().real)
        slow = rates[rates > 1e-9 * np.abs(self.poles()).max(initial=0.0)]
        end = float(until) if until is not None else 7.0 / float(slow.min()) if len(slow) else 10.0
        time, found = np.linspace(0.0, end, points), []
        for k in range(len(self.inputs)):
            one = type(system)(system.A, system.B[:, [k]], system.C, system.D[:, [k]])
            found.append(np.asarray(step(one, T=time)[1]).reshape(points, -1))
        return time, np.stack(found, axis=-1)

    def root_locus(
        self, output: str, input: str, gains: Any, file: str | os.PathLike[str] | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Poles with the output fed back to the input, u = -k y, for gains k: (gains, poles), each column followed along the gains.

        `file` is for a picture of them in the complex plane.
        """
        from .pictures import locus_picture

        a, b, c, d = self.reduced()
        column, row = self.inputs.index(_listed(input, self.inputs)), self.outputs.index(_listed(output, self.outputs))
        try:
            k = np.asarray(gains, dtype=float)
        except (TypeError, ValueError):
            k = np.zeros(0)
        if k.ndim != 1 or not len(k) or not np.isfinite(k).all():
            raise UsageError(f"`gains` are finite numbers, got {gains!r}.")
        through = 1 + k * d[row, column]
        if not through.all():
            raise UsageError(f"With a gain of {k[through == 0][0]:g} the loop has no solution.")
        loops = a[None] - (k / through)[:, None, None] * np.outer(b[:, column], c[row])
        poles = followed_roots([np.linalg.eigvals(loop) for loop in loops])
        if file is not None:
            locus_picture(poles, k, "gain", file)
        return k, poles

    def transfer_function(self, output: str, input: str) -> TransferFunction:
        """From one input to one output, as `scipy.signal.TransferFunction`; its poles are finite, whatever the index."""
        from scipy.signal import TransferFunction, ss2tf

        row, column = self.outputs.index(_listed(output, self.outputs)), self.inputs.index(_listed(input, self.inputs))
        system = self.to_scipy()
        top, bottom = ss2tf(system.A, system.B, system.C, system.D, column)
        found = np.where(_is_rounding(top[row], np.abs(self.poles()).max(initial=0.0)), 0.0, top[row])
        return TransferFunction(np.trim_zeros(found, "f") if found.any() else [0.0], bottom)

    def to_control(self) -> Any:
        """As `control.ss` of python-control, with the names of states, inputs and outputs."""
        try:
            control = import_module("control")
        except ImportError:
            raise UsageError("`to_control` needs python-control, which is not installed.", remedy="pip install control") from None
        return control.ss(*self._reduced, states=self.states, inputs=self.inputs, outputs=self.outputs)

    def save_mat(self, file: str | os.PathLike[str]) -> None:
        """Write A, B, C and D of the states, the matrices E, A of all unknowns, and all names, for MATLAB."""
        from scipy.io import savemat

        A, B, C, D = self._reduced
        names = {
            k: np.array(v, dtype=object) for k, v in (("states", self.states), ("inputs", self.inputs), ("outputs", self.outputs))
        }
        whole = {"E_all": self.E.values, "A_all": self.A.values, "unknowns": np.array(self.unknowns, dtype=object)}
        savemat(file, {"A": A, "B": B, "C": C, "D": D, **names, **whole, "time": self.time})

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


@dataclass(frozen=True, slots=True)
class Mode:
    """An eigenvalue, and how much each state takes part in it (participation factors, which add up to one), the most first."""

    eigenvalue: complex
    states: dict[str, float]
    time_unit: str = "s"

    @property
    def frequency(self) -> float:
        """Of the oscillation, in Hz; 0 of a mode that does not oscillate."""
        return abs(self.eigenvalue.imag) / (2 * np.pi)

    @property
    def damping(self) -> float:
        """The damping ratio: 1 and more does not oscillate, less than 0 grows."""
        return -self.eigenvalue.real / abs(self.eigenvalue) if self.eigenvalue else 0.0

    @property
    def time_constant(self) -> float:
        """Seconds in which it dies out to 1/e."""
        return -1.0 / self.eigenvalue.real if self.eigenvalue.real else np.inf

    def __repr__(self) -> str:
        return f"<Mode {self}>"

    def __str__(self) -> str:
        swing = (
            f", {self.frequency:.4g} {'Hz' if self.time_unit == 's' else f'per {self.time_unit}'}, damping {self.damping:.3g}"
            if self.frequency
            else ""
        )
        taking = ", ".join(f"{name} {100 * share:.0f} %" for name, share in list(self.states.items())[:4] if share > 0.01)
        return f"{self.eigenvalue:.6g}: time constant {self.time_constant:.4g} {self.time_unit}{swing}; {taking}"


def followed_roots(sets: list[np.ndarray]) -> np.ndarray:
    """Sets of eigenvalues as rows, in such an order that those of a column are near each other."""
    from scipy.optimize import linear_sum_assignment

    rows = [np.sort_complex(sets[0])]
    for roots in sets[1:]:
        if len(roots) != len(rows[-1]):
            raise ModelError("The number of eigenvalues changes on the way, so that they cannot be followed.")
        _, order = linear_sum_assignment(np.abs(rows[-1][:, None] - roots[None]))
        rows.append(roots[order])
    return np.array(rows)


def _is_rounding(coefficients: np.ndarray, fastest: float) -> np.ndarray:
    """Which coefficients of a polynomial say nothing: each counts as much as its power does at the fastest pole."""
    with np.errstate(divide="ignore"):
        size = np.log(np.abs(coefficients)) + np.log(fastest or 1.0) * np.arange(len(coefficients))[::-1]
    return np.asarray(size < size.max(initial=-np.inf) + np.log(1e-12))


def _listed(name: str, names: list[str]) -> str:
    if name not in names:
        raise NameNotFound(
            f"There is no `{name}` here. {near_matches(name, names)}".rstrip(), remedy=f"There is: {', '.join(names)}"
        )
    return name


def _without_zeros(matrix: Any) -> csc_array:
    found = csc_array(matrix)
    found.eliminate_zeros()
    return found
