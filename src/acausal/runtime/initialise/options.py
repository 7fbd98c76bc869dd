"""What may be chosen about an initialisation. The tolerance is all that most people ever set."""

from __future__ import annotations

from ...records import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    """Settings of the initialisation.

    Every day:
        tolerance: largest error allowed in an unknown, relative to the larger of its magnitude and its nominal value.
        homotopy: whether to try continuation when Newton's method fails block by block.

    The rest:
        iterations: Newton iterations on the whole system, and on parts of it, before giving up.
        block_iterations: the same for the blocks of one level, the last place where Newton's method is tried.
        shortenings: trial lengths of one Newton step.
        consistency: largest scaled residual at which surplus conditions count as consistent.
        smallest_continuation_step: a homotopy gives up below it.
        accept_nearest: whether a solution that is not unique will do (the total mass of a closed circuit at rest, say); then the
            one nearest to the start is taken. Steady states do, initial values do not.
        frozen: relations keep their values while the system is solved. Then a block with the same Jacobian everywhere is linear,
            and if Newton's method does not solve it nothing will.
    """

    tolerance: float = 1e-9
    homotopy: bool = True
    iterations: int = 50
    block_iterations: int = 150
    shortenings: int = 20
    consistency: float = 1e-6
    smallest_continuation_step: float = 1e-4
    accept_nearest: bool = False
    frozen: bool = False
