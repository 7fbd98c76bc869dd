"""Events that come ever faster: chattering (two sides that drive back to one surface) and Zeno behaviour (a ball coming to rest).

A run whose events follow each other at intervals that are nothing compared to its length cannot come to its end. It is stopped
after a bounded number of such events, and what switches is named.

So is a run whose events come regularly, but so close to each other that hardly anything moves from one to the next and that it
would take more of them than anybody waits for: `ac.when(x > level, ac.assign(level, x + 1e-9))`. Many events are no fault by
themselves. A converter that switches half a million times in a run makes steps in between, and comes to its end.
"""

from __future__ import annotations

from collections import Counter, deque
from typing import TYPE_CHECKING

import numpy as np

from ...errors import Diagnostic
from ...families.hybrid import RuleBlock
from ...language.expression import walk
from ..outcome import Outcome, equations_of

if TYPE_CHECKING:
    from .handler import Handler
    from .log import Record

WINDOW, SHORT = 60, 1e-9  # so many events within this part of the run's length are too fast …
REPEATED = 10  # … if one and the same cause is behind so many of them …
FEW = 20.0  # … and the solver makes no more steps than these between two of them
LONG_WINDOW, LONG_SHORT, LONG_FEW = 2000, 1e-6, 8.0  # the same for causes that take turns
SHRINKING, SHRUNK = 0.98, 10  # so many intervals of one cause, each at most this part of the one before …
NEAR = 1e-5  # … and the time at which they pile up is as near as this, of the time since they began
PATIENCE = 3e7  # so many events that a run would take, at the pace of the last ones, are without end: …
CALM = ((20_000, 3.0), (200_000, LONG_FEW))  # … of so many, with no more steps than these between two of them
STATE = ("relation", "crossing")  # causes that can chatter: what happens at given times cannot


class Rhythm:
    """The last events of a run."""

    def __init__(self, t0: float, t_end: float) -> None:
        self.span = t_end - t0
        self.times: deque[float] = deque(maxlen=LONG_WINDOW)
        self.steps: deque[int | None] = deque(maxlen=LONG_WINDOW)
        self.causes: deque[list[tuple[str, int]]] = deque(maxlen=WINDOW)
        self.own: dict[tuple[str, int], deque[float]] = {}
        self.first: dict[tuple[str, int], float] = {}
        self.marks: deque[tuple[int, float, int]] = deque()  # events, time and steps, now and then
        self.crawling = False
        self.resting: list[tuple[str, int]] = []  # causes of the last event, if what it turned back comes to rest there
        self.outcome = Outcome.CHATTERING

    def event(self, t: float, causes: list[tuple[str, int]], steps: int | None) -> Outcome | None:
        """One more event with a restart; `steps` made so far, if that is known. An outcome if the run must stop."""
        causes = [c for c in causes if c[0] in STATE]
        if not causes:
            return None
        self._note(t, causes, steps)
        if any(self._piles_up(t, cause) for cause in causes[:100]):
            self.outcome = Outcome.ZENO
            return self.outcome
        repeated = self._fast(WINDOW, SHORT, FEW) and any(times >= REPEATED for _, times in self.culprits())
        if repeated or self._fast(LONG_WINDOW, LONG_SHORT, LONG_FEW):
            self.outcome = Outcome.CHATTERING
            return self.outcome
        return None

    def jump(self, t: float, causes: list[tuple[str, int]]) -> Outcome | None:
        """One more event at which states were set within a step: many of them cost little, unless they pile up."""
        causes = [c for c in causes if c[0] in STATE]
        if not any(self._piles_up(t, cause) for cause in causes[:100]):
            return None
        self._note(t, causes, None)
        self.outcome = Outcome.ZENO
        return self.outcome

    def rest(self, t: float, causes: list[tuple[str, int]]) -> Outcome:
        """An event that turned something back so little that nobody would see it come again (`turned`)."""
        self._note(t, causes, None)
        self.resting, self.outcome = causes, Outcome.ZENO
        return self.outcome

    def _note(self, t: float, causes: list[tuple[str, int]], steps: int | None) -> None:
        self.times.append(t)
        self.steps.append(steps)
        self.causes.append(causes)

    def without_end(self, events: int, t: float, steps: int, record: Record) -> Outcome | None:
        """Whether at the pace of the last events the run would not end; `events`, `steps` so far. Clocks are asked beforehand."""
        if not self.marks or events - self.marks[-1][0] >= CALM[0][0] // 50:
            self.marks.append((events, t, steps))
        while len(self.marks) > 1 and events - self.marks[1][0] >= CALM[-1][0]:
            self.marks.popleft()
        crawls = any(self._crawls(events, t, steps, count, few) for count, few in CALM)
        recent = record.latest(WINDOW) if crawls else []
        if not any(role in (*STATE, "timed") for _, causes in recent for role, _ in causes):
            return None
        self.crawling, self.outcome = True, Outcome.CHATTERING
        self.times, self.causes = deque(time for time, _ in recent), deque(causes for _, causes in recent)
        return self.outcome

    def _crawls(self, events: int, t: float, steps: int, count: int, few: float) -> bool:
        """Whether the last `count` events took hardly any of the run, and no more steps than `few` each."""
        first, since, steps_then = next((m for m in reversed(self.marks) if events - m[0] >= count), (events, t, steps))
        made = events - first
        return made > 0 and (t - since) * PATIENCE < made * self.span and steps - steps_then <= few * made

    def _fast(self, window: int, short: float, few: float) -> bool:
        """Whether the last `window` events took hardly any time and hardly any steps."""
        if len(self.times) < window or self.times[-1] - self.times[-window] >= short * self.span:
            return False
        known = [(k, s) for k, s in enumerate(list(self.steps)[-window:]) if s is not None]
        if len(known) < 2 or known[-1][0] - known[0][0] < window // 2:
            return False
        return known[-1][1] - known[0][1] <= few * (known[-1][0] - known[0][0])

    def _piles_up(self, t: float, cause: tuple[str, int]) -> bool:
        """Whether the events of one cause come at intervals that shrink towards a time that is near."""
        own = self.own.setdefault(cause, deque(maxlen=SHRUNK + 2))
        first = self.first.setdefault(cause, t)
        if not own or t > own[-1]:
            own.append(t)
        if len(own) < SHRUNK + 2 or own[-1] - own[-2] > SHRINKING * (own[-2] - own[-3]):  # as nearly always, where events are many
            return False
        limit = self._limit(np.diff(np.array(own)))
        return limit is not None and limit < NEAR * (t - first)

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
        """What changed most often among the last events, or comes to rest."""
        if self.resting:
            return [(cause, sum(cause in causes for causes in self.causes)) for cause in self.resting[:4]]
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
        count = min(WINDOW, len(self.times))
        span = t - self.times[-count]
        details = tuple(
            f"switched:  {d.component}: {d.equation}, {times} times" + (f"  ({d.location})" if d.location else "")
            for d, times in named
        )
        details += _what_moves(handler, [row for (role, row), _ in self.culprits() if role == "relation"])
        if self.outcome is Outcome.ZENO:
            what = f"Events pile up at time {t:.6g}: each interval between them is shorter than the one before."
            remedy = (
                "What bounces or switches comes to rest there: let it rest. Add a state for it (`ac.States`), entered when the "
                "speed is small, or end the run with `ac.terminate`."
            )
            if self.resting:
                what = f"What the event at time {t:.6g} turns back or stops is back at once: its condition would stay true."
                remedy += " Where it is meant to stop and go on the same way, leave it a little speed: `ac.reinit(self.v, 1e-6)`."
        else:
            what = f"Chattering at time {t:.6g}: {count} events within {span:.3g} {system.plant.independent[1]}."
            remedy = (
                "On either side of the switching point the equations drive back to it. Switch at two different values "
                "(hysteresis), or smooth the transition (`ac.smooth_step`, `ac.no_event`)."
            )
            if self.crawling:
                what = (
                    f"Events follow each other at time {t:.6g} at intervals of {span / max(1, count - 1):.2g} "
                    f"{system.plant.independent[1]}: the run would take more than {PATIENCE:.0e} of them."
                )
                remedy = (
                    "What happens there makes the next event follow at once. Let it move the switching point, or the time of the "
                    "next event, by more; a clock (`ac.sample(0, period)`) does what is to happen again and again."
                )
            elif self.surfaces(handler):
                remedy = f'{remedy} To let the solution slide along the surface: simulate(…, sliding="filippov").'
        return Diagnostic(
            what, component=first.component, equation=first.equation, location=first.location, details=details, remedy=remedy
        )


def _what_moves(handler: Handler, relations: list[int], most: int = 3) -> tuple[str, ...]:
    """The unknowns that relations compare, and the equations in which the first of them stand."""
    problem, rules = handler.problem, handler.problem.rules
    assert rules is not None
    found: list[int] = []
    for kernel in rules.kernels["relation"]:
        cells = kernel.slots[:, np.isin(kernel.targets, relations).reshape(-1, kernel.slots.shape[1]).any(axis=0)].ravel()
        found += [int(c) % problem.size for c in np.where(cells < 0, ~cells, cells) if c < 2 * problem.size]
    unknowns = list(dict.fromkeys(found))[:most]
    told = tuple(f"unknown:   {problem.name_of_unknown(k)}" for k in unknowns)
    return told + tuple(dict.fromkeys(line for k in unknowns[:2] for line in equations_of(problem, k)))


def _has_a_name(handler: Handler, block: RuleBlock) -> bool:
    """Whether a discrete variable is another name for a relation: `self.on == (self.T < 20)`."""
    names = (b.rule for b in handler.hybrid.parts["update"].blocks if b.rule.plain and b.kind is block.kind)
    return any(block.rule.target in set(walk(rule.residual)) for rule in names)
