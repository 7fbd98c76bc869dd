"""Cases of one model advanced together: copies of its equations in one solve, with one step size that suits all of them.

A small plant costs more in the solver's own loop than in its equations. Copies share that loop (`runtime/copies.py`); each keeps
its tolerance. A case that cannot come along (a start that fails, equations of another form, an input that jumps) is run by itself,
and so is one with which the others stop: the group is halved until it is found.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from threading import Event
from typing import Any

import numpy as np

from ..errors import ModelError
from ..language.reductions import Reduction
from ..model.asked import run_order
from ..model.session import Order, absolute
from ..program.rows import Stored
from ..results.result import Result
from ..runtime.copies import copied, spread_out
from ..runtime.histories import history_cells
from ..runtime.ida import Ida
from ..runtime.inputs import Constant, Function, Steps, values_at
from ..runtime.outcome import Outcome
from ..runtime.parameters import later
from ..runtime.preparation import Beginning, Prepared
from ..runtime.problem import Stored as Storage
from ..runtime.run import run_to_end
from ..runtime.solver import Request, Statistics
from ..runtime.states import spread
from .outputs import Column

GROUP = 64  # cases that go together: of so many rows kernels use vector instructions
MOST_UNKNOWNS = 64  # of a plant that gains by it without being asked
_OWN = ("until", "start", "points", "at", "every", "rtol", "atol", "set", "inputs", "store", "initial", "start_from", "derivatives")


def why_not(model: Any, options: Mapping[str, Any], steady: bool, each_from: str) -> str:
    """Why cases of a study cannot be advanced together; empty if they can."""
    system = model.system
    if steady or each_from != "start":
        return "only runs that begin by themselves are advanced together"
    if system.hybrid is not None:
        return "the model has events, at which each case would have to begin anew at its own time"
    if not model.problem.size:
        return "nothing is integrated"
    if system.derivatives is not None and _exchanges_states(model):
        return "the states of the model may be exchanged on the way, by each case at its own time"
    if len(history_cells(system)) or model.problem.native is None:
        return "the model remembers its past (`ac.delay`)" if len(history_cells(system)) else "the native core is missing"
    solver = options.get("solver")
    if not (solver is None or solver == "ida" or isinstance(solver, Ida)):
        return f"the solver is `{solver}`, not `ida`"
    other = [name for name in options if name not in _OWN and name not in {o.name for o in Ida.options} | {"solver"}]
    return f"`{other[0]}` is asked for" if other else ""


def _exchanges_states(model: Any) -> bool:
    """Whether that is so for the model as it is."""
    beginning = Beginning(0.0, "start", {})
    try:
        return _may_exchange(model, model.prepare(beginning), beginning.t)
    except ModelError:  # it is told by the cases, each of its own
        return False


def _may_exchange(model: Any, first: Prepared, t: float) -> bool:
    """Whether a run that begins so may have to select other states of a reduced system on its way."""
    selection, problem = model.selection, first.problem
    if selection is None:
        return False
    known = values_at(first.signals, t, problem.known)
    own = known[: problem.lowered.system.known_count]
    y, yp = spread(problem, t, first.y, first.yp, known)
    return bool(selection.dynamic(selection.select(t, y, yp, own, model._preparation.starts.starts(own).nominal)))


def pays(model: Any, cases: int, columns: Sequence[Column]) -> bool:
    """Whether cases are advanced together without being asked: many of a small plant, reduced to numbers."""
    return cases >= GROUP and model.problem.size <= MOST_UNKNOWNS and all(isinstance(c.what, Reduction) for c in columns)


@dataclass(eq=False)
class Together:
    """What the groups of a study have in common."""

    model: Any
    options: Mapping[str, Any]  # of `simulate`, `until` among them
    inputs: frozenset[str]

    @cached_property
    def order(self) -> Order:
        return run_order(self.model, self.options)

    def results(self, cases: Sequence[tuple[int, Mapping[str, Any]]], stop: Event | None = None) -> dict[int, tuple[Result, float]]:
        """Results by number of the case, with the seconds each took; those that are missing are run by themselves."""
        begun, members = time.perf_counter(), dict[int, Prepared]()
        for number, changes in cases:
            if stop is not None and stop.is_set():
                return {}
            prepared = self._prepared(changes)
            if prepared is not None:
                members[number] = prepared
        first = next(iter(members.values()), None)
        same = {k: p for k, p in members.items() if p.problem.lowered is first.problem.lowered} if first is not None else {}
        found = self._advanced(same, stop)
        each = (time.perf_counter() - begun) / max(1, len(found))
        return {number: (result, each) for number, result in found.items()}

    def _prepared(self, changes: Mapping[str, Any]) -> Prepared | None:
        asked = self.order.beginning
        given = {path: v for path, v in changes.items() if path in self.inputs}
        beginning = replace(
            asked,
            inputs={**asked.inputs, **given},
            set=later(asked.set, {path: v for path, v in changes.items() if path not in self.inputs}),
        )
        try:
            if self.model._variants.suiting(beginning.set) is not self.model:
                return None  # with these values the equations are others
            found = self.model._preparation.prepare(beginning)
        except ModelError:  # it is told by the run of that case
            return None
        jumps = any(isinstance(s, Steps | Function) for s in found.signals.values())
        return None if jumps or _may_exchange(self.model, found, beginning.t) else found

    def _advanced(self, members: Mapping[int, Prepared], stop: Event | None) -> dict[int, Result]:
        if len(members) < 2 or (stop is not None and stop.is_set()):
            return {}
        found = self._solved(list(members.values()), stop)
        if found is not None:
            return dict(zip(members, found, strict=True))
        numbers = list(members)
        halves = numbers[: len(numbers) // 2], numbers[len(numbers) // 2 :]
        return {k: r for half in halves for k, r in self._advanced({n: members[n] for n in half}, stop).items()}

    def _solved(self, members: Sequence[Prepared], stop: Event | None = None) -> list[Result] | None:
        """One solve for all; None if it stopped before its end."""
        one, order, count = members[0].problem, self.order, len(members)
        problem = copied(one, count)
        known = np.stack([_known(p, order.beginning.t) for p in members], axis=1).ravel()
        inputs: dict[int, Any] = {}
        for r, p in enumerate(members):
            inputs |= {cell * count + r: s for cell, s in p.signals.items() if not isinstance(s, Constant)}
        gather = spread_out(one, one.lowered.index[order.choice.gather], count)
        request = Request(
            t0=order.beginning.t,
            t_end=order.end,
            output_times=order.times,
            y0=np.stack([p.y for p in members], axis=1).ravel(),
            yp0=np.stack([p.yp for p in members], axis=1).ravel(),
            stored=Storage(np.ascontiguousarray(gather.ravel(), dtype=np.int32)),
            rtol=order.rtol,
            atol=np.stack([absolute(self.model._preparation, p, order) for p in members], axis=1).ravel(),
            inputs=inputs,
            options=order.options,
            known=known,
            sound=True,
            progress=None if stop is None else lambda t: not stop.is_set(),
        )
        run = run_to_end(order.solver, problem, request)
        if run.interrupted:  # Ctrl-C is meant for the study: halves of this group are not tried
            raise KeyboardInterrupt
        if not run.outcome.ok:
            return None
        width = gather.shape[1]
        return [self._result(run, p, run.rows[:, r * width : (r + 1) * width]) for r, p in enumerate(members)]

    def _result(self, run: Any, member: Prepared, rows: np.ndarray) -> Result:
        choice, model = self.order.choice, self.model
        known = member.problem.known
        stored = Stored(run.times, rows, choice.column, choice.slope_column, known, member.signals, run.t)
        return Result(model.program, stored, Outcome.FINISHED, Statistics(run.statistics), member.told, run.journal)


def _known(member: Prepared, t: float) -> np.ndarray:
    found = member.problem.known.copy()
    for cell, signal in member.signals.items():
        if isinstance(signal, Constant):
            found[cell] = signal(t)
    return found
