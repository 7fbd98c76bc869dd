"""The discrete adjoint of a run: from what outputs have to do with its rows back to its start, over steps and across events.

Every map of the forward sensitivities is linear: along the steps (`native/tangent.h`), across an event (`jumps.across`), at the
start (`initial.py`). Here they are taken in the opposite order, each transposed; so the gradient is exactly that of the forward
scheme, and its cost does not depend on the number of parameters. `by_states` and `by_known` are what outputs have to do with the
unknowns and with the known cells at the point that was reached, one column for each output.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..language.reductions import Reduction
from ..runtime.problem import Problem, core
from ..runtime.recording import Passage
from .directions import Directions
from .jumps import across_back, clock_of, has_guard
from .local import Local, through_computed
from .outputs import Outputs
from .point import Point, workspaces
from .sensitivity import Following, Piece, plain_places
from .slopes import Slopes

_MOST = 10**6  # cells of the workspaces that are looked at together


class Backward:
    """Goes back over a recorded run. `weights[k]` says what the rows of the result have to do with output k, `jumps[k]` what the
    times of its events have; `moving[k]` is the row it is taken from, if that is at an event and moves with it."""

    def __init__(
        self,
        following: Following,
        outputs: Sequence[Reduction],
        weights: Sequence[np.ndarray],
        jumps: Sequence[Mapping[float, float]],
        moving: Sequence[int | None],
    ) -> None:
        self.following, self.outputs, self.weights, self.jumps, self.moving = following, outputs, weights, jumps, moving
        self.result, self.recorder = following.result, following.recorder
        first = following.prepared.problem
        self.by_states = np.zeros((first.size, len(outputs)))
        self.by_known = np.zeros((following.model.system.known_count, len(outputs)))

    def gradient(self, directions: Directions) -> np.ndarray:
        """A row for each output, a column for each parameter."""
        if self.recorder is None or not self.recorder.points:  # nothing moves
            rows = range(len(self.result.time))
            self.by_states += self._weighed(rows, self.following.prepared.problem).sum(axis=0)
        else:
            self._back(self.following.active(directions.known))
        started = self.following.start(directions)
        return np.asarray(self.by_states.T @ started + (directions.moved.T @ self.by_known).T)

    def _back(self, cells: np.ndarray) -> None:
        pieces, ending = list(self.following.pieces()), self._ending()
        spans, left = self._spans(pieces)
        tangent, last = core.Tangent(self.recorder, len(self.outputs)), pieces[-1].last
        if ending:
            self.by_states += self._weighed(range(left, len(self.result.time)), ending[-1].problem).sum(axis=0)
            self._across(ending)
        for k in reversed(range(len(pieces))):
            piece, rows = pieces[k], spans[k]
            if piece.last == last:
                first = next(p for p in reversed(pieces[: k + 1]) if p.begins).first
                tangent.turn(first, last)
                tangent.add(last, np.ascontiguousarray(self.by_states))
            self._along(tangent, piece, rows, cells)
            if piece.begins:
                self.by_states, last = tangent.waiting(piece.first), piece.first - 1
                self._across(piece.passages)
            elif piece.passages:  # known cells changed, the steps went on
                self.by_states = np.zeros_like(self.by_states)
                self._across(piece.passages)
                tangent.add(piece.first - 1, np.ascontiguousarray(self.by_states))

    def _along(self, tangent: Any, piece: Piece, rows: range, cells: np.ndarray) -> None:
        tangent.use(piece.problem.native, self.following.tape(piece.problem, cells), piece.known)
        weighed, total = self._weighed(rows, piece.problem), np.zeros((len(cells), len(self.outputs)))
        counting = np.flatnonzero(weighed.any(axis=(1, 2)))
        times = np.ascontiguousarray(self.result.time[rows.start : rows.stop][counting])
        tangent.retreat(piece.first, piece.last, piece.begins, times, np.ascontiguousarray(weighed[counting]), total)
        self.by_known[cells] += total

    def _across(self, passages: Sequence[Passage]) -> None:
        """Back over events, the last one first. Of several at one time the first one brings the others about."""
        timed = any(self.jumps) or any(row is not None for row in self.moving)
        leading = next((p for p in passages if has_guard(p)), None) if timed else None
        for passage in reversed(passages):
            later = self._later(passages) if passage is leading else np.zeros(len(self.outputs))
            signals = self.following.prepared.signals
            self.by_states, self.by_known = across_back(passage, self.by_states, self.by_known, later, signals)

    def _later(self, passages: Sequence[Passage]) -> np.ndarray:
        """What outputs gain when events come later: integrals, what is no longer there; values taken there, their own slope."""
        time, t = self.result.time, float(passages[0].before[2 * passages[0].problem.size])
        found = np.array([jumps.get(t, 0.0) for jumps in self.jumps])
        for k, row in enumerate(self.moving):
            if row is not None and time[row] == t:
                after = row > np.searchsorted(time, t, side="left")
                passage = passages[-1 if after else 0]
                found[k] += self._slope(self.outputs[k].path, passage, passage.after if after else passage.before)
        return found

    def _slope(self, path: str, passage: Passage, w: np.ndarray) -> float:
        """How fast a quantity changes on one side of an event."""
        model, problem, n = self.following.model, passage.problem, passage.problem.size
        clock = clock_of(passage, len(self.by_known), self.following.prepared.signals)
        moved = Local(problem, w).consistent(w[n : 2 * n, None], clock)
        return float((Outputs(Point(model, problem, 0.0, w), [path]).slope @ moved)[0, 0])

    def _ending(self) -> list[Passage]:
        """What happened at the very end of the run."""
        return [p for p in self.following.recording.passages if p.points == self.recorder.points]

    def _spans(self, pieces: Sequence[Piece]) -> tuple[list[range], int]:
        """Rows of the result within each piece, and the first row behind all of them."""
        found, row, moments = [], 0, self.recorder.time
        for piece in pieces:
            until = len(self.result.time) if piece.rows is None else piece.rows
            passed = int(np.searchsorted(self.result.time[row:until], moments[piece.last], side="right"))
            found.append(range(row, row + passed))
            row += passed
        return found, row

    def _weighed(self, rows: range, problem: Problem) -> np.ndarray:
        """What outputs have to do with the unknowns at some rows; what they have to do with known cells there is added up."""
        found = np.zeros((len(rows), problem.size, len(self.outputs)))
        for k, (output, weight) in enumerate(zip(self.outputs, self.weights, strict=True)):
            plain = plain_places(self.following.model, output.path, problem)
            if plain is not None:
                found[:, plain[0][0], k] = weight[rows.start : rows.stop] * plain[1][0]
                continue
            where = np.flatnonzero(weight[rows.start : rows.stop])
            for part in np.array_split(where, 1 + len(where) * len(self.by_known) // _MOST) if len(where) else ():
                found[part, :, k] = self._computed(output.path, problem, rows.start + part, weight, k)
        return found

    def _computed(self, path: str, problem: Problem, rows: np.ndarray, weight: np.ndarray, k: int) -> np.ndarray:
        """Of what is computed from unknowns, perhaps from their derivatives, which unknowns and known cells determine."""
        n, count, lowered = problem.size, len(rows), problem.lowered
        every = workspaces(self.following.model, self.result, slice(rows[0], rows[-1] + 1), problem)
        here = np.ascontiguousarray(every[rows - rows[0]])
        slopes = Outputs(Point(self.following.model, problem, 0.0, here[0]), [path], here).slope
        by_cells, size = slopes.T @ weight[rows], here.shape[1]
        if lowered.computed:
            computed = Slopes(lowered.assignments, (lowered.computed, size), count).at(here.ravel())
            places = (np.arange(count)[:, None] * size + np.arange(size - lowered.computed, size)).ravel()
            by_cells = through_computed(computed, places, by_cells)
        by_cells = by_cells.reshape(count, size)
        states, by_known = by_cells[:, :n].copy(), by_cells[:, 2 * n : size - lowered.computed].sum(axis=0)
        for row in np.flatnonzero(by_cells[:, n : 2 * n].any(axis=1)).tolist():
            through = np.zeros((size, 1))
            through[n : 2 * n, 0] = by_cells[row, n : 2 * n]
            more, known = Local(problem, here[row]).consistent_back(through)
            states[row] += more[:, 0]
            by_known = by_known + known[:, 0]
        self.by_known[: len(by_known), k] += by_known
        return np.asarray(states)
