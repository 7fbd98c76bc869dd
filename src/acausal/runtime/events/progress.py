"""Whether an event still gets anywhere.

An event has no fixed number of rounds: a thousand dominoes may fall at one instant. It is a cycle when a configuration comes back;
and it is given up when for thousands of rounds only numbers change (a counter that nothing stops), while everything that has
finitely many values has been seen before.
"""

from __future__ import annotations

import numpy as np

from ..problem import Floats, Mask

MOST_IDLE = 5_000  # rounds in which only numbers change
MOST_ROUNDS = 1_000_000
_BACK_AND_FORTH = 3  # changes of a trigger in one round: what it brings about turns it back
_IN_VAIN = 4  # solutions for each relation that takes part: after so many that led nowhere there are better ways
_REMEMBERED = 100  # changes that a cycle is told from, if no configuration comes back


class Progress:
    """The configurations that an event has gone through."""

    def __init__(self) -> None:
        self.repeated = False
        self._seen: dict[int, int] = {}  # with the round that made them
        self._finite: set[int] = set()
        self._changes: list[np.ndarray] = []  # numbers of cells, round by round
        self._size = self._idle = self._first = 0

    def made(self, cells: Floats, finite: Floats, states: Floats, changed: np.ndarray) -> bool:
        """Whether this round led somewhere. `finite` are those of the cells that have a few values only."""
        self._size = len(changed)
        self._changes.append(np.flatnonzero(changed))
        key = hash(cells.tobytes() + states.tobytes())
        if key in self._seen:
            self.repeated, self._first = True, self._seen[key]
            return False
        self._seen[key] = len(self._changes)
        key = hash(finite.tobytes())
        self._idle = self._idle + 1 if key in self._finite else 0
        self._finite.add(key)
        return self._idle < MOST_IDLE and len(self._changes) < MOST_ROUNDS

    def moving(self) -> np.ndarray:
        """Mask of the cells that change in turn."""
        moving = np.zeros(self._size, dtype=bool)
        last = self._changes[self._first :] if self.repeated else self._changes[-_REMEMBERED:]
        moving[np.concatenate(last)] = True
        return moving


class Swings:
    """How often relations change in a round, looked at whenever the equations are to be solved."""

    def __init__(self, values: Floats) -> None:
        self._last, self._changes = values, np.zeros(len(values), dtype=np.int64)

    def count(self, values: Floats) -> Mask:
        """Which of them go back and forth, now that they have these values."""
        self._changes += values != self._last
        self._last = values
        return np.asarray(self._changes >= _BACK_AND_FORTH)


class Wandering:
    """Whether solutions of the equations still lead relations anywhere, at one event.

    A cascade turns another relation each time, however long it is, and what settles turns fewer and fewer. Ideal switches that
    have to turn together do neither: which of them disagree is another set of the same ones each time, and there are 2^n.
    """

    def __init__(self, values: Floats) -> None:
        self._last, self._ever = values, np.zeros(len(values), dtype=bool)
        self._fewest, self._idle = len(values) + 1, 0

    def seen(self, values: Floats) -> bool:
        """Relations have these values, with which the equations are to be solved; whether that leads nowhere."""
        changed, self._last = values != self._last, values
        many = int(changed.sum())
        if not many:
            return False
        led_on = many < self._fewest or bool((changed & ~self._ever).any())
        self._ever |= changed
        self._fewest, self._idle = min(many, self._fewest), 0 if led_on else self._idle + 1
        return self._idle > _IN_VAIN * int(self._ever.sum())
