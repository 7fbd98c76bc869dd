"""The array types of this package, and what it asks of a problem."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[Any]
    Mask = NDArray[np.bool_]
else:  # importing `numpy.typing` takes longer than many a model
    Floats = Integers = Mask = np.ndarray


class InitialProblem(Protocol):
    """F(t, y, y') = 0 and what is known about its start (the contract's `Problem`).

    Looked up as well, each with a default when a problem does not have it:

    - `initial_size`, `initial_pattern`, `initial_residual(t, y, yp)`, `initial_partials(t, y, yp)`: initial equations; none;
    - `describe_initial_equation(k)`: as `describe_equation`, for initial equations;
    - `equation_count`: rows of F, when they are not as many as the unknowns; `required_initial`: mask of the initial equations that
      count in every mode (see `inverse`); none;
    - `candidates`: mask of the unknowns that might be states, when states are selected; none;
    - `start_given`: per unknown, whether somebody wrote its start down; everywhere;
    - `start_level`: per unknown, how much that counts where starts contradict each other; alike where given;
    - `start_voices`: per unknown, of how many variables; of one each;
    - `pattern_parts` and `initial_pattern_parts`: two masks over the entries of the pattern, which of them can hold a derivative
      by y and which one by y'; found by trial evaluations;
    - `continuation_index` (into `known`): the homotopy parameter; none;
    - `uses_continuation`: whether any equation contains it; found by trial evaluation.
    """

    size: int
    differential: Mask
    start: Floats
    nominal: Floats
    minimum: Floats
    maximum: Floats
    fixed: Mask
    known: Floats

    @property
    def pattern(self) -> tuple[Integers, Integers]: ...
    def residual(self, t: float, y: Floats, yp: Floats) -> Floats: ...
    def jacobian(self, t: float, y: Floats, yp: Floats, cj: float) -> Floats: ...
    def partials(self, t: float, y: Floats, yp: Floats) -> tuple[Floats, Floats]: ...
    def name_of_unknown(self, i: int) -> str: ...
    def describe_equation(self, i: int) -> Any: ...
