"""Events that come ever faster: chattering (two sides that drive back to one surface) and Zeno behaviour (a ball coming to rest).

A run whose events follow each other at intervals that are nothing compared to its length cannot come to its end. It is stopped
after a bounded number of such events, and what switches is named.
"""

from __future__ import annotations

from collections import Counter, deque
from typing import TYPE_CHECKING

import numpy as np

from ...errors import Diagnostic
from ...families.hybrid import RuleBlock
from ...language.expression import walk
from ..outcome import Outcome

if TYPE_CHECKING:
    from .handler import Handler

WINDOW = 60  # events looked at
SHORT = 1e-7  # of the run's length: events that make up the window within this are too fast …
REPEATED = 10  # … if one and the same cause is behind so many of them
SHRINKING, SHRUNK, NEAR = (
    0.98,
    10,
    1e-5,
)  # so many intervals of one cause, each at most this part of the one before, and the end is near


class Rhythm:
    """The last events of a run."""

    def __init__(self, t0: float, t_end: float) -> None:
        self.span = t_end - t0
        self.times: deque[float] = deque(maxlen=WINDOW)
        self.causes: deque[list[tuple[str, int]]] = deque(maxlen=WINDOW)
        self.own: dict[tuple[str, int], deque[float]] = {}
        self.outcome = Outcome.CHATTERING

    def event(self, t: float, causes: list[tuple[str, int]]) -> Outcome | None:
        self.times.append(t)
        self.causes.append(causes)
        for cause in causes[:100]:
            own = self.own.setdefault(cause, deque(maxlen=SHRUNK + 2))
            if not own or t > own[-1]:
                own.append(t)
            if len(own) == SHRUNK + 2 and self._piling_up(np.diff(np.array(own))):
                self.outcome = Outcome.ZENO
                return self.outcome
        fast = len(self.times) == WINDOW and t - self.times[0] < SHORT * self.span
        if fast and any(times >= REPEATED for _, times in self.culprits()):
            self.outcome = Outcome.CHATTERING
            return self.outcome
        return None

    def _piling_up(self, gaps: np.ndarray) -> bool:
        limit = self._limit(gaps)
        return limit is not None and limit < NEAR * self.span

    def _limit(self, gaps: np.ndarray) -> float | None:
        """How long it is to the time at which shrinking intervals pile up; None if they do not shrink."""
        if (gaps <= 0).any():
            return None
        ratio = gaps[1:] / gaps[:-1]
        if (ratio > SHRINKING).any():
            return None
        last = float(ratio.mean())
        return float(gaps[-1] * last / (1 - last))

    def culprits(self) -> list[tuple[tuple[str, int], int]]:
        """What changed most often among the last events."""
        return Counter(cause for causes in self.causes for cause in causes).most_common(4)

    def surfaces(self, handler: Handler) -> frozenset[tuple[int, str]]:
        """The relations behind it that stand in equations, by the number of their kind and their text."""
        part, read = handler.hybrid.parts["relation"], handler.hybrid.cells[handler.read]
        found = set()
        for (role, row), _ in self.culprits():
            block = part.block(row) if role == "relation" else None
            if block is not None and (part.targets[row] in read or _has_a_name(handler, block)):
                found.add((block.kind.index, block.rule.text))
        return frozenset(found)

    def explained(self, handler: Handler) -> Diagnostic:
        system = handler.problem.lowered.system
        named = [(system.describe_rule(role, row), times) for (role, row), times in self.culprits()]
        t, first = self.times[-1], named[0][0] if named else Diagnostic("")
        span = t - self.times[0]
        details = tuple(
            f"switched:  {d.component}: {d.equation}, {times} times" + (f"  ({d.location})" if d.location else "")
            for d, times in named
        )
        if self.outcome is Outcome.ZENO:
            what = f"Events pile up at time {t:.6g}: each interval between them is shorter than the one before."
            remedy = (
                "What bounces or switches comes to rest there: let it rest. Add a state for it (`ac.States`), entered when the "
                "speed is small, or end the run with `ac.terminate`."
            )
        else:
            what = f"Chattering at time {t:.6g}: {WINDOW} events within {span:.3g} s."
            remedy = (
                "On either side of the switching point the equations drive back to it. Switch at two values (hysteresis), "
                "or smooth the transition (`ac.smooth_step`, `ac.no_event`)."
            )
            if self.surfaces(handler):
                remedy = f'{remedy} To let the solution slide along the surface: simulate(…, sliding="filippov").'
        return Diagnostic(
            what, component=first.component, equation=first.equation, location=first.location, details=details, remedy=remedy
        )


def _has_a_name(handler: Handler, block: RuleBlock) -> bool:
    """Whether a discrete variable is another name for a relation: `self.on == (self.T < 20)`."""
    names = (b.rule for b in handler.hybrid.parts["update"].blocks if b.rule.plain and b.kind is block.kind)
    return any(block.rule.target in set(walk(rule.residual)) for rule in names)
