"""One-dimensional fields by finite volumes: `axis = ac.Axis(length, 50)`; gradients, upwind and limited fluxes, their divergence.

A field u has a value in each of n cells. Gradients and fluxes live at the n + 1 faces between and at the ends of them. What a
divergence takes from one cell it gives to the next, so that whatever the scheme, what is transported is conserved.

- Gradients are differences of neighbouring centres; at an end the given value stands in the face, half a cell away. They are of
  second order on equal cells.
- `upwind` takes the value of the cell the flow comes from: of first order, never oscillating.
- `limited` adds half of van Leer's limited slope (the harmonic mean of the slopes on both sides, zero at extrema): of second order
  where the field is smooth, without new extrema (total variation diminishing). See van Leer, J. Comput. Phys. 14 (1974) 361.

All are plain expressions of array variables: one equation, one family, whatever n is.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ShapeError, UsageError
from .events import no_event
from .expression import Expression, as_expression, take, total
from .functions import abs as absolute
from .functions import where

_TINY = 1e-30  # two slopes of zero have the mean zero


class Axis:
    """A line of `length` cut into `n` cells.

    length: a number, a parameter or any expression that is constant during a run.
    n: how many cells; or their edges as parts of the length, from 0 to 1, where they are not equal.

    class Rod(ac.Component):
        L = ac.Parameter(1.0, unit="m")
        a = ac.Parameter(1e-4, unit="m^2/s")
        T = ac.Variable(shape=50, start=300.0, unit="K")
        def equations(self):
            x = ac.Axis(self.L, 50)
            yield ac.der(self.T) == x.divergence(self.a * x.gradient(self.T, left=350.0, right=300.0))
    """

    def __init__(self, length: Any, n: int | Any) -> None:
        if isinstance(length, str) or (isinstance(length, int | float | np.number) and not 0.0 < length < np.inf):
            raise UsageError(
                f"The length of an axis is a positive number, a parameter or an expression, got {length!r}.",
                remedy='Declare it: `L = ac.Parameter("80 cm", unit="m")`, and `ac.Axis(self.L, 50)`.',
            )
        self.length = length
        try:
            edges = np.linspace(0.0, 1.0, n + 1) if isinstance(n, int | np.integer) and n > 0 else np.asarray(n, dtype=float)
        except (TypeError, ValueError):
            edges = np.empty(0)
        if edges.ndim != 1 or len(edges) < 2 or edges[0] != 0.0 or edges[-1] != 1.0 or (np.diff(edges) <= 0).any():
            raise UsageError(f"An axis has a number of cells, or edges that increase from 0 to 1; got {n!r}.")
        self.n = len(edges) - 1
        self._edges = edges

    def __repr__(self) -> str:
        return f"Axis({self.length}, {self.n})"

    @property
    def edges(self) -> Any:
        """Where the n + 1 faces are."""
        return self.length * self._edges

    @property
    def centres(self) -> Any:
        """Where the n cells have their middle."""
        return self.length * (0.5 * (self._edges[1:] + self._edges[:-1]))

    @property
    def widths(self) -> Any:
        """How wide the n cells are."""
        return self.length * np.diff(self._edges)

    def gradient(self, u: Any, left: Any = None, right: Any = None) -> Expression:
        """The slope at all faces. `left` and `right` are values at the ends; without one, the slope there is zero."""
        before, after = self._sides(u, left, right)
        middles = 0.5 * (self._edges[1:] + self._edges[:-1])
        apart = np.diff(np.concatenate([[0.0], middles, [1.0]]))
        return (after - before) / (self.length * apart)

    def divergence(self, flux: Any) -> Expression:
        """What flows out of each cell, for its width: the balance of a cell is `der(u) == -x.divergence(flux)`."""
        node = as_expression(flux)
        if node.shape != (self.n + 1,):
            raise ShapeError(
                f"A flux has a value at each of the {self.n + 1} faces of the axis, this one has shape {node.shape}.",
                remedy="`x.gradient(u)`, `x.upwind(v, u)` and `x.limited(v, u)` are at the faces.",
            )
        return (node[1:] - node[:-1]) / self.widths

    def upwind(self, velocity: Any, u: Any, left: Any = None, right: Any = None) -> Expression:
        """The flux `velocity · u` at all faces, with u from where the flow comes. `left` and `right` are what enters at the ends.

        velocity: one for all, or one for each face.
        """
        before, after = self._sides(u, left, right)
        speed = as_expression(velocity)
        return speed * where(speed >= 0.0, before, after)

    def limited(self, velocity: Any, u: Any, left: Any = None, right: Any = None) -> Expression:
        """As `upwind`, of second order where u is smooth, and without new extrema: van Leer's limiter."""
        before, after = self._sides(u, left, right)
        speed, step = as_expression(velocity), after - before
        forward, backward = self._neighbour(u, left, -1), self._neighbour(u, right, 1)
        return speed * where(
            speed >= 0.0,
            before + 0.5 * self._inside(_harmonic(before - forward, step)),
            after - 0.5 * self._inside(_harmonic(backward - after, step)),
        )

    def integral(self, u: Any) -> Expression:
        """The integral of a field over the axis."""
        return total(self._field(u) * self.widths)

    def mean(self, u: Any) -> Expression:
        """The mean of a field over the axis."""
        return total(self._field(u) * np.diff(self._edges))

    # --- faces ----------------------------------------------------------------------------------------------------------------
    def _field(self, u: Any) -> Expression:
        node = as_expression(u)
        if node.shape == (self.n + 1,):
            raise ShapeError(
                f"A field has a value in each of the {self.n} cells of the axis; this has one at each of the {self.n + 1} faces.",
                remedy="What stands at the faces (a gradient, a flux) comes back to the cells by `x.divergence(…)`.",
            )
        if node.shape != (self.n,):
            raise ShapeError(
                f"A field has a value in each of the {self.n} cells of the axis, `{node}` has shape {node.shape}.",
                remedy=f"Declare it with `shape={self.n}`.",
            )
        return node

    def _sides(self, u: Any, left: Any, right: Any) -> tuple[Expression, Expression]:
        """The values on both sides of each face; at an end without a value, that of the last cell."""
        return self._cells(u, -1, left, 0), self._cells(u, 0, right, self.n)

    def _neighbour(self, u: Any, end: Any, side: int) -> Expression:
        """The cell behind the one that the flow comes from."""
        return self._cells(u, -2 if side < 0 else 1, end, 1 if side < 0 else self.n - 1)

    def _cells(self, u: Any, shift: int, end: Any, face: int) -> Expression:
        """At each face the value of the cell `shift` further on, with the value of an end in one face."""
        node = self._field(u)
        found = take(node, np.clip(np.arange(self.n + 1) + shift, 0, self.n - 1))
        if end is None:
            return found
        given = np.zeros(self.n + 1)
        given[face] = 1.0
        return as_expression(end) * given + found * (1.0 - given)

    def _inside(self, slopes: Expression) -> Expression:
        """Slopes count at inner faces only: what enters at an end is given as it is."""
        inner = np.ones(self.n + 1)
        inner[[0, -1]] = 0.0
        return slopes * inner


def _harmonic(a: Expression, b: Expression) -> Expression:
    """2ab/(a + b) for slopes of one sign, else 0; without a corner that would be an event."""
    size_a, size_b = no_event(absolute(a)), no_event(absolute(b))
    return (a * size_b + size_a * b) / (size_a + size_b + _TINY)
