"""Ordinary state events without Python: what the native core needs to know of a model's rules, and what it hands back.

`native/switches.h` does for an ordinary state event what `Handler` does, within the solver's own loop. What is unusual it leaves
to the handler. Rows that are stored at events and at output times go into one buffer, in the order of time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...families.hybrid import between_events
from ...language.expression import Expression, Operation, Reference, Slot, Time, walk
from ..inputs import Steps
from ..outcome import Outcome
from ..problem import Floats, Problem, core
from .chatter import NEAR, SHORT, SHRINKING, SHRUNK, WINDOW, Rhythm
from .handler import Handler
from .log import Record
from .pace import RESTART
from .relations import AWAY, BAND, IDLE, ROUNDING, SOON
from .timed import slopes_by_known

if TYPE_CHECKING:
    from ...families.nets import StateTables

LOCAL = 64  # unknowns: in larger plants an event that changes few of them does so within a step of the others
ROOM = 2_000  # rows for events in a new buffer
MOST_BYTES = 1 << 26  # of a new buffer, unless output times alone need more
HANDLED = ("relation", "update", "reinit", "guess", "snapshot", "stop", "assertion")
WITHOUT = ("size", "timed", "crossing", "clock_start", "clock_period", "corner")  # roles without targets there


CAUSES = ("relation", "crossing", "timed", "clock_start")
LONG = 1e9  # seconds: a run whose end nobody knows is over by then


class Tape:
    """Rows to write on: pieces of a few large arrays, so that little is copied or wasted where events are many and rows wide."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.blank = np.empty((0, width))

    def rows(self, count: int) -> Floats:
        """At least `count` rows, and some more for events."""
        if len(self.blank) < count + 2:
            most = max(2, MOST_BYTES // (8 * max(1, self.width)))
            self.blank = np.empty((count + min(ROOM, most), self.width))
        return self.blank

    def used(self, count: int) -> Floats:
        """The first `count` of those rows, for good."""
        used, self.blank = self.blank[:count], self.blank[count:]
        return used


class Native:
    """The switches of one run, in its session. Discrete values are the session's while it advances; `take` brings them back."""

    def __init__(self, handler: Handler, session: Any, width: int, span: float, end: float) -> None:
        self.handler, self.session, self.span, self.end = handler, session, span, end
        self.tape = Tape(width)
        self.scheduled = False  # times at which something happens are kept natively
        self.unseen: list[dict[str, Any]] = []  # by whoever looks for chattering
        self.renew()

    def renew(self) -> None:
        """With the equations that the handler has now."""
        found = switches(self.handler, self.span)
        self.scheduled = found.handles and add_schedule(found, self.handler, self.session.t, self.end)
        self.session.set_switches(found)

    def take(self, record: Record, counts: dict[str, int]) -> None:
        """Events and rows since the last time, into the record."""
        taken: dict[str, Any] = self.session.take_events()
        rows = self.tape.used(len(taken["row_times"]))
        if taken["handled"]:
            self.session.workspace(self.handler.w)
            self._count(taken, counts)
        if len(taken["times"]):
            self.unseen.append(taken)
            self._note(taken, record)
        record.piece(taken["row_times"], rows)

    def take_bands(self) -> None:
        """Bands of relations, which become narrow while steps are made."""
        bands = self.handler.relations.bands
        if len(bands):
            here = np.empty(len(self.handler.w))
            self.session.workspace(here)
            self.handler.w[bands] = here[bands]

    def _count(self, taken: dict[str, Any], counts: dict[str, int]) -> None:
        for name, key in (
            ("events", "handled"),
            ("state_events", "handled"),
            ("time_events", "timed"),
            ("restarts", "restarted"),
            ("event_rounds", "rounds"),
            ("event_sweeps", "sweeps"),
        ):
            counts[name] += taken[key]
        counts["state_events"] -= taken["timed"]

    def _note(self, taken: dict[str, Any], record: Record) -> None:
        first, cause = len(record.times), taken["cause_rows"]
        source = np.zeros(len(cause), dtype=np.int64)
        for role, begin, end in self._numbers():
            here = (begin <= cause) & (cause < end)
            source[here] = record.source(role, cause[here] - begin)
        record.times.extend(taken["times"].tolist())
        record.rows.extend((record.count + taken["rows"]).tolist())
        record.causes.append(np.column_stack([first + taken["cause_events"], source]))
        record.changes.append((first + taken["change_events"], taken["change_cells"], taken["change_values"]))

    @property
    def alarmed(self) -> bool:
        """Whether events may be too fast."""
        return any(taken["alarm"] for taken in self.unseen)

    def watched(self, rhythm: Rhythm, steps: int) -> Outcome | None:
        """Show the events that are new to it; `steps` have been made until the last of them."""
        unseen, self.unseen, numbers = self.unseen, [], self._numbers()
        for taken in unseen:
            ends = np.searchsorted(taken["cause_events"], np.arange(len(taken["times"]) + 1))
            restarts = np.flatnonzero(taken["restarts"])
            for k in np.flatnonzero(taken["restarts"] | taken["jumps"]):
                rows = taken["cause_rows"][ends[k] : ends[k + 1]].tolist()
                causes = [(role, row - begin) for row in rows for role, begin, end in numbers if begin <= row < end]
                t = float(taken["times"][k])
                if taken["jumps"][k]:
                    outcome = rhythm.jump(t, causes)
                else:
                    known = steps if k == restarts[-1] and taken is unseen[-1] else None
                    outcome = rhythm.event(t, causes, known)
                if outcome is not None:
                    return outcome
        return None

    def _numbers(self) -> list[tuple[str, int, int]]:
        """How causes are numbered: each role from a number on, to another."""
        ends = np.cumsum([0, *(self.handler.hybrid.parts[role].count for role in CAUSES)]).tolist()
        return list(zip(CAUSES, ends, ends[1:], strict=False))


def is_ordinary(problem: Problem, session: Any) -> bool:
    """Whether events of the model can be handled natively at all."""
    assert problem.rules is not None
    counts = problem.rules.counts
    unusual = [role for role, count in counts.items() if count and role not in HANDLED and role not in WITHOUT]
    selected = problem.candidates is not None and bool(counts["reinit"])  # what an event sets may not be among the selected states
    crossings = problem.lowered.system.hybrid.parts["crossing"].blocks if problem.lowered.system.hybrid is not None else []
    hidden = any(block.rule.detail.endswith("jump") for block in crossings)  # unknowns are computed anew there
    return core is not None and isinstance(session, core.Ida) and not (unusual or selected or hidden)


def switches(handler: Handler, span: float) -> Any:
    """`_core.Switches` of a handler whose run has begun: bands have their widths then."""
    problem, relations, first = handler.problem, handler.relations, 2 * handler.n
    found = core.Switches(problem.native)
    for role in HANDLED:
        part = handler.hybrid.parts.get(role)
        if part is None or not part.count:
            continue
        found.set_rules(role, part.count, _indices(_targets(handler, role, first)))
        for kernel in handler.rules.kernels[role]:
            found.add_rules(role, *kernel)
    found.set_rules("size", relations.count, np.zeros(0, dtype=np.int32))
    for kernel in handler.rules.kernels["size"]:
        found.add_rules("size", *kernel)
    _add_nets(found, handler.nets, first)
    timed = _read_by_timed(handler)
    planned = np.isin(handler.cells, handler.planned) | np.isin(handler.partners, handler.planned)
    of_cells = (handler.read, handler.visible, timed, handler.followed, planned)
    masks = (np.ascontiguousarray(mask, dtype=bool) for mask in of_cells)
    found.set_cells(_indices(handler.cells), _indices(handler.partners), *masks, handler.mixed)
    about = relations.sense, relations.strict, relations.exact, relations.narrow, relations.soft
    found.set_relations(_indices(relations.bands), *about, _indices(relations.edges), _directions(handler))
    found.set_bands(BAND, AWAY, IDLE, ROUNDING, handler.soon, SOON)
    found.set_types(np.ascontiguousarray(handler.typed), np.ascontiguousarray(handler.truths))
    signs = (np.ascontiguousarray(handler.hybrid.parts[role].signs, dtype=float) for role in ("reinit", "guess"))
    found.set_unknowns(problem.differential, problem.nominal, *signs, RESTART)
    found.local = problem.size >= LOCAL and not _assigns_at_every_event(handler)
    found.set_haste(WINDOW, SHORT * span, SHRINKING, SHRUNK, NEAR)
    return found


def _assigns_at_every_event(handler: Handler) -> bool:
    """Whether an equation gives a discrete variable what unknowns or time are at the moment: any event is one to that variable."""
    rules = (block.rule for block in handler.hybrid.parts["update"].blocks)
    own = (rule for rule in rules if rule.target is not None and not rule.target.declaration.auxiliary)
    return any(_is_seen_at_once(rule.residual) for rule in own)


def _is_seen_at_once(value: Expression) -> bool:
    """Whether what is assigned depends on what moves between events, but for the moments at which a condition becomes true."""
    value = between_events(value)
    while isinstance(value, Operation) and value.operator.name == "where" and _is_edge(value.args[0]):
        value = value.args[2]
    return any(isinstance(n, Time) or (isinstance(n, Reference) and not n.declaration.is_known) for n in walk(value))


def _is_edge(condition: Expression) -> bool:
    nots = [n for n in walk(condition) if isinstance(n, Operation) and n.operator.name == "not"]
    return any(isinstance(n, Reference) and n.order < 0 for node in nots for n in walk(node))


def add_schedule(found: Any, handler: Handler, t: float, end: float) -> bool:
    """Relations of time and clocks into the switches; False if they are for the handler to follow."""
    timed, ticks = handler.timed, handler.ticks
    if not (timed.count or len(ticks.cells)) or not _slopes_are_constant(handler):
        return False
    if any(isinstance(signal, Steps) for signal in handler.inputs.values()):
        return False  # its jumps and ticks that differ by rounding are one event, and only the handler knows of both
    clocks = None if ticks.clocks is None else ticks.clocks.whole(t, end if np.isfinite(end) else LONG)
    if ticks.clocks is not None and clocks is None:
        return False
    found.set_schedule(_indices(timed.cells), timed.sense, timed.strict, timed.slope)
    for kernel in handler.rules.kernels["timed"]:
        found.add_timed(*kernel)
    if clocks is not None:
        found.set_clocks(_indices(ticks.cells), *clocks)
    return True


def _slopes_are_constant(handler: Handler) -> bool:
    """Whether by how much relations of time change with time depends on nothing that changes."""
    computed = handler.problem.computed.count if handler.problem.computed else 0
    changing = np.zeros(len(handler.w), dtype=bool)
    changing[handler.cells] = changing[handler.partners] = changing[len(changing) - computed :] = True
    changing[2 * handler.n + np.array(list(handler.inputs), dtype=np.intp)] = True
    for family in handler.timed.families:
        index = np.where(family.slots < 0, ~family.slots, family.slots)
        for expression in family.template.outputs:
            for _, partial in slopes_by_known(expression):
                slots = [node.number for node in walk(partial) if isinstance(node, Slot)]
                if changing[index[slots]].any():
                    return False
    return True


def _targets(handler: Handler, role: str, first: int) -> np.ndarray:
    """Where values of a role go: cells of the workspace, unknowns; -1 for a guess of what is computed or held."""
    targets, problem = handler.hybrid.parts[role].targets, handler.problem
    if role in ("stop", "assertion"):
        return np.zeros(0)
    if role == "reinit":
        return problem.lowered.place[targets]
    if role == "guess":
        place = np.where(targets >= 0, problem.lowered.place[targets], handler.n)
        return np.where(np.append(~problem.differential, False)[np.minimum(place, handler.n)], place, -1)
    return np.asarray(first + targets)


def _add_nets(found: Any, tables: StateTables | None, first: int) -> None:
    """States that follow others."""
    if tables is None:
        return
    of = (first + tables.combined, first + tables.combined_of, tables.combined_row, tables.combined_table)
    found.set_combined_states(*map(_indices, of))
    found.set_state_names(_indices(tables.names), tables.name_count)
    for level in tables.levels:
        sources = (first + level.source, level.source_net, level.source_row)
        followers = (first + level.follower, level.key, level.many.ravel(), level.rule)
        found.add_nets(level.nets, *map(_indices, (*sources, *followers)))


def _read_by_timed(handler: Handler) -> np.ndarray:
    """Mask over the discrete cells: those on which times of events to come depend."""
    used = np.zeros(len(handler.w), dtype=bool)
    for kernel in handler.rules.kernels["timed"]:
        used[np.where(kernel.slots < 0, ~kernel.slots, kernel.slots)] = True
    computed = handler.problem.computed.count if handler.problem.computed else 0
    if used[len(used) - computed :].any():
        return np.ones(len(handler.cells), dtype=bool)
    return np.asarray(used[handler.cells] | used[handler.partners])


def _directions(handler: Handler) -> np.ndarray:
    part = handler.hybrid.parts["crossing"]
    directions = np.zeros(part.count, dtype=np.int32)
    for block in part.blocks:
        sense = {"rising": 1, "falling": -1}.get(block.rule.detail.split()[0], 0)
        directions[block.start : block.start + block.count] = sense
    return directions


def _indices(values: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(values, dtype=np.int32)
