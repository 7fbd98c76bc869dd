"""States that move at an event although nothing sets them.

Where an event sets an unknown that is not among the selected states, it is a state for a moment, and one of its kind follows it
(`runtime/events/held.py`): then the equations tell how that one moves. What an impulse, a tie or a repair moves, it moves by what
is in none of the equations on either side of the event.
"""

from __future__ import annotations

import numpy as np

from ..errors import ModelError
from ..runtime.recording import Passage, Round

_STILL = 1e-9  # of a value, or of the nominal one: a state that moves by less was not moved


def given_after(passage: Passage, each: Round) -> np.ndarray:
    """The unknowns that determine all others after a round, as many as there are states: those that it set are among them."""
    given, lost = passage.problem.differential.copy(), _lost(passage, each)
    released = _released(passage, each)
    if len(released):
        given[lost], given[released] = True, False
    return given


def refuse_moved(passage: Passage) -> None:
    """An error where states moved, and no equation says how far."""
    problem = passage.problem
    told = np.zeros(problem.size, dtype=bool)
    for each in passage.rounds:
        told[each.set_states] = told[_released(passage, each)] = True
    moved = np.flatnonzero(_moved(passage, passage.before, passage.after) & ~told)
    silent = [_lost(passage, each) for each in passage.rounds if _is_unseen(passage, each)]
    if len(moved):
        what = f"{_names(passage, moved)} jumped, and no `reinit` says where to (an impulse, or what ties states to each other)"
        remedy = "Put a spring or a resistance where the impulse passes, end the run before it, or compare runs."
    elif silent:
        what = f"{_names(passage, silent[0])} was set to what it was already, and which state goes with it is not to be seen"
        remedy = 'Say that it is a state (`state="always"`), or compare runs with other parameters.'
    else:
        return
    when = problem.lowered.system.plant.moment(float(passage.before[2 * problem.size]))
    raise ModelError(f"At {when} {what}: sensitivities and gradients cannot be followed across that.", remedy=remedy)


def _names(passage: Passage, unknowns: np.ndarray) -> str:
    names = [f"`{passage.problem.name_of_unknown(int(k))}`" for k in unknowns[:4]]
    return ", ".join([*names, "…"] if len(unknowns) > 4 else names)


def _is_unseen(passage: Passage, each: Round) -> bool:
    """Whether a state follows what a round set, and did not move."""
    lost, held = _lost(passage, each), passage.problem.differential[each.set_states].sum()
    return len(lost) > held and not len(_released(passage, each))


def _lost(passage: Passage, each: Round) -> np.ndarray:
    """Unknowns that a round set and that are no states."""
    return np.asarray(each.set_states[~passage.problem.differential[each.set_states]])


def _released(passage: Passage, each: Round) -> np.ndarray:
    """States that followed them, one for each; none where that cannot be seen."""
    lost = _lost(passage, each)
    if not len(lost) or each.solved is None:
        return lost[:0]
    moved = _moved(passage, each.begun, each.solved)
    moved[each.set_states] = False
    released = np.flatnonzero(moved)
    return released if len(released) == len(lost) else lost[:0]


def _moved(passage: Passage, before: np.ndarray, after: np.ndarray) -> np.ndarray:
    problem, n = passage.problem, passage.problem.size
    size = np.maximum(problem.nominal, np.maximum(np.abs(before[:n]), np.abs(after[:n])))
    return np.asarray(problem.differential & (np.abs(after[:n] - before[:n]) > _STILL * size))
