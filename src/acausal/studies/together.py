"""Cases of one model advanced together: copies of its equations in one solve, with one step size that suits all of them.

A small plant costs more in the solver's own loop than in its equations. Copies share that loop (`runtime/copies.py`); each keeps
its tolerance. A case that cannot come along (a start that fails, equations of another form, an input with corners) is run by
itself, and so is one with which the others stop: the group is halved until it is found.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
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
from ..runtime.inputs import Constant, has_corners
from ..runtime.outcome import Outcome
from ..runtime.preparation import Prepared
from ..runtime.problem import Stored as Storage
from ..runtime.run import run_to_end
from ..runtime.solver import Request, Statistics
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
    if system.derivatives is not None or not model.problem.size:
        return "the states of the model are selected by numbers" if model.problem.size else "nothing is integrated"
    if len(history_cells(system)) or model.problem.native is None:
        return "the model remembers its past (`ac.delay`)" if len(history_cells(system)) else "the native core is missing"
    solver = options.get("solver")
    if not (solver is None or solver == "ida" or isinstance(solver, Ida)):
        return f"the solver is `{solver}`, not `ida`"
    other = [name for name in options if name not in _OWN and name not in {o.name for o in Ida.options} | {"solver"}]
    return f"`{other[0]}` is asked for" if other else ""


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

    def results(self, cases: Sequence[tuple[int, Mapping[str, Any]]]) -> dict[int, tuple[Result, float]]:
        """Results by number of the case, with the seconds each took; those that are missing are run by themselves."""
        begun, members = time.perf_counter(), dict[int, Prepared]()
        for number, changes in cases:
            prepared = self._prepared(changes)
            if prepared is not None:
                members[number] = prepared
        first = next(iter(members.values()), None)
        same = {k: p for k, p in members.items() if p.problem.lowered is first.problem.lowered} if first is not None else {}
        found = self._advanced(same)
        each = (time.perf_counter() - begun) / max(1, len(found))
        return {number: (result, each) for number, result in found.items()}

    def _prepared(self, changes: Mapping[str, Any]) -> Prepared | None:
        asked = self.order.beginning
        given = {path: v for path, v in changes.items() if path in self.inputs}
        beginning = replace(
            asked,
            inputs={**asked.inputs, **given},
            set={**asked.set, **{path: v for path, v in changes.items() if path not in self.inputs}},
        )
        try:
            found = self.model._preparation.prepare(beginning)
        except ModelError:  # it is told by the run of that case
            return None
        return None if any(has_corners(s) for s in found.signals.values()) else found

    def _advanced(self, members: Mapping[int, Prepared]) -> dict[int, Result]:
        if len(members) < 2:
            return {}
        found = self._solved(list(members.values()))
        if found is not None:
            return dict(zip(members, found, strict=True))
        numbers = list(members)
        halves = numbers[: len(numbers) // 2], numbers[len(numbers) // 2 :]
        return {k: r for half in halves for k, r in self._advanced({n: members[n] for n in half}).items()}

    def _solved(self, members: Sequence[Prepared]) -> list[Result] | None:
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
        return Result(model.program, stored, Outcome.FINISHED, Statistics(run.statistics), member.told)


def _known(member: Prepared, t: float) -> np.ndarray:
    found = member.problem.known.copy()
    for cell, signal in member.signals.items():
        if isinstance(signal, Constant):
            found[cell] = signal(t)
    return found
