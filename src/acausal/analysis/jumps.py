"""Sensitivities across an event whose time depends on parameters.

Let y⁻(t, p) and y⁺(t, p) be the solutions on either side, τ(p) the time of the event and g(τ, y⁻(τ, p), p) = 0 what brings it
about. Then dτ/dp = -(g_p + g_y s⁻) / (g_t + g_y y'⁻). Everything at the event moves by D = s⁻ + y'⁻ dτ/dp; what the event assigns
and re-initialises is a function of that, round by round, and after it s⁺ = D⁺ - y'⁺ dτ/dp (Galán, Feehery, Barton 1999:
"Parametric sensitivity functions for hybrid discrete/continuous systems").
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import ModelError
from ..families.plant import LIVE, TIME
from ..runtime.inputs import Constant, Signal, Steps, Table, derivative
from ..runtime.recording import Passage, Round
from .local import Local
from .moved import given_after, refuse_moved

_NEAR = 1e-7  # of a time: the largest step for the slope of an input


def across(
    passage: Passage, s: np.ndarray, known: np.ndarray, inputs: Mapping[int, Signal]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sensitivities of unknowns and of known cells after a passage, from those before; and of its time."""
    n = passage.problem.size
    if passage.happening is None:  # a corner: states go on as they are
        whole = passage.problem.differential.all()
        after_it = s if whole else Local(passage.problem, passage.after).consistent(s, known)[:n]
        return after_it, known, np.zeros(s.shape[1])
    refuse_moved(passage)
    before, after = _before(passage), Local(passage.problem, passage.after)
    direction = before.consistent(s, known)
    clock = clock_of(passage, len(known), inputs)
    with_time = before.consistent(passage.before[n : 2 * n, None], clock)
    moved = _time_of_event(passage, before, direction, with_time)
    direction = direction + with_time * moved
    for each in passage.rounds:
        direction = _round(passage, each, direction)
    known = direction[2 * n : before.first_computed] - clock * moved
    states = direction[:n] - passage.after[n : 2 * n, None] * moved
    return after.consistent(states, known)[:n], known, moved


def across_back(
    passage: Passage, states: np.ndarray, known: np.ndarray, later: np.ndarray, inputs: Mapping[int, Signal]
) -> tuple[np.ndarray, np.ndarray]:
    """`across`, transposed: from what outputs have to do with what is there after a passage, and with its time, to before."""
    n, size = passage.problem.size, len(passage.before)
    after = Local(passage.problem, passage.after)
    if passage.happening is None:
        if passage.problem.differential.all():
            return states, known
        moved, through = after.consistent_back(_spread(states, size))
        return moved, known + through
    refuse_moved(passage)
    before = _before(passage)
    clock = clock_of(passage, len(known), inputs)
    with_time = before.consistent(passage.before[n : 2 * n, None], clock)
    moved, through = after.consistent_back(_spread(states, size))
    weights = _spread(moved, size)
    weights[2 * n : before.first_computed] = known = known + through
    by_time = later - (clock.T @ known)[0] - passage.after[n : 2 * n] @ moved
    for each in reversed(passage.rounds):
        weights = _round_back(passage, each, weights)
    by_time = by_time + (with_time.T @ weights)[0]
    slope = _slope_of_time(passage, before, with_time)
    if slope is not None:
        weights += slope[:, None] * by_time
    return before.consistent_back(weights)


def _before(passage: Passage) -> Local:
    """What goes with what before a passage. At the start relations are those with which values were sought: as they come to be."""
    if passage.points:
        return Local(passage.problem, passage.before)
    w = passage.before.copy()
    w[2 * passage.problem.size + LIVE] = 1.0
    passage.problem.equations.native.assign(w)
    return Local(passage.problem, w)


def _spread(states: np.ndarray, size: int) -> np.ndarray:
    """What is known of the unknowns, as a direction of the whole workspace."""
    found = np.zeros((size, states.shape[1]))
    found[: len(states)] = states
    return found


def has_guard(passage: Passage) -> bool:
    """Whether the time of a passage may depend on parameters."""
    return passage.happening is not None and _guard(passage, Local(passage.problem, passage.before)) is not None


def clock_of(passage: Passage, size: int, inputs: Mapping[int, Signal]) -> np.ndarray:
    """How known cells move with time: time itself, and inputs, as they come to the event."""
    t, found = float(passage.before[2 * passage.problem.size]), np.zeros((size, 1))
    found[TIME] = 1.0
    for cell, signal in inputs.items():
        found[cell] = _slope_before(signal, t)
    return found


def _slope_before(signal: Signal, t: float) -> float:
    """How fast an input changes as it comes to a time: of tables exactly, of functions by differences."""
    last = float(np.nextafter(t, -np.inf))
    rate = derivative(signal, last, t) if isinstance(signal, (Constant, Steps, Table)) else ""
    if not isinstance(rate, str):
        return float(rate(last))
    best, least, before = 0.0, np.inf, np.nan
    for step in _NEAR * max(abs(t), 1e-3) * 0.125 ** np.arange(12):  # how fast a function changes nobody knows: several are tried
        times = last - step * np.arange(3)
        if not (np.diff(times) < -0.9 * step).all():
            break  # rounding of the time itself
        values = [signal(float(x)) for x in times]
        h, k = times[0] - times[1], times[0] - times[2]
        here = (values[0] - values[1]) / h * k / (k - h) - (values[0] - values[2]) / k * h / (k - h)  # of the parabola
        error = abs(here - before) + 1e-15 * max(map(abs, values)) / step
        best, least = (here, error) if error < least else (best, least)
        before = here
    return best


def _time_of_event(passage: Passage, before: Local, direction: np.ndarray, with_time: np.ndarray) -> np.ndarray:
    """dτ/dp."""
    slope = _slope_of_time(passage, before, with_time, direction)
    return np.zeros(direction.shape[1]) if slope is None else np.asarray(slope @ direction)


def _slope_of_time(
    passage: Passage, before: Local, with_time: np.ndarray, direction: np.ndarray | None = None
) -> np.ndarray | None:
    """dτ by every cell; None for an event whose time is given, or does not move in any of these directions."""
    gradient = _guard(passage, before)
    if gradient is None:
        return None
    by_time = float((gradient @ with_time)[0, 0])
    if by_time == 0.0:
        if direction is not None and not (gradient @ direction).any():
            return None
        when = passage.problem.lowered.system.plant.moment(float(passage.before[2 * passage.problem.size]))
        raise ModelError(
            f"The event at {when} touches its condition without passing it, so that its time has no derivative by parameters.",
            remedy="Sensitivities exist on either side of such a point: change the parameters a little.",
        )
    return np.asarray(-gradient[0] / by_time)


def _guard(passage: Passage, before: Local) -> np.ndarray | None:
    """The gradient of what is zero at the event, by every cell; None for an event whose time is given."""
    rules, happening = passage.problem.rules, passage.happening
    assert rules is not None and happening is not None
    role, row = "", -1
    if passage.roots is not None and passage.roots.any():
        row = int(np.flatnonzero(passage.roots)[0])
        count = rules.counts["relation"]
        role, row = ("relation", row) if row < count else ("crossing", row - count)
    else:
        role, row = next(((r, k) for r, k in happening.causes if r in ("timed", "clock_start")), ("", -1))
    if role == "clock_start":
        return _tick(before, row, happening.t)
    return _row(before, role, row) if role else None


def _row(local: Local, role: str, row: int) -> np.ndarray:
    """Derivatives of one rule."""
    found = local.of_rule(role)[[row]]
    return np.asarray(found if isinstance(found, np.ndarray) else found.toarray())


def _tick(before: Local, row: int, t: float) -> np.ndarray:
    """Of a clock that ticks at start + k period."""
    rules = before.problem.rules
    assert rules is not None
    first, period = (float(rules.values(role, before.w)[row]) for role in ("clock_start", "clock_period"))
    ticks = round((t - first) / period)
    found = _row(before, "clock_start", row) + ticks * _row(before, "clock_period", row)
    found[0, 2 * before.n + TIME] -= 1.0
    return np.asarray(found)


def _round(passage: Passage, each: Round, direction: np.ndarray) -> np.ndarray:
    """How everything moves after one round of an event."""
    problem, n = passage.problem, passage.problem.size
    hybrid = problem.lowered.system.hybrid
    assert hybrid is not None
    d = direction.copy()
    d[2 * n + hybrid.partners] = d[2 * n + hybrid.cells]
    snapshots, updates, reinit = (hybrid.parts[role] for role in ("snapshot", "update", "reinit"))
    if snapshots.count:
        d[2 * n + snapshots.targets] = Local(problem, each.begun).of_rule("snapshot") @ d
    settled = Local(problem, each.settled)
    if updates.count:
        slopes = settled.of_rule("update")
        for _ in range(updates.count + 1):  # assignments may depend on each other
            values = slopes @ settled.follow(d)
            if np.array_equal(values, d[2 * n + updates.targets]):
                break
            d[2 * n + updates.targets] = values
    d = settled.follow(d)
    if len(each.set_states):
        places = problem.lowered.place[reinit.targets]
        chosen = np.isin(places, each.set_states)
        d[places[chosen]] = (reinit.signs[:, None] * (settled.of_rule("reinit") @ d))[chosen]
    if each.solved is None:
        return settled.follow(d)
    solved = Local(problem, each.solved)
    return solved.consistent(d[:n], d[2 * n : solved.first_computed], given_after(passage, each))


def _round_back(passage: Passage, each: Round, weights: np.ndarray) -> np.ndarray:
    """`_round`, transposed."""
    problem, n = passage.problem, passage.problem.size
    hybrid = problem.lowered.system.hybrid
    assert hybrid is not None
    snapshots, updates, reinit = (hybrid.parts[role] for role in ("snapshot", "update", "reinit"))
    settled, found = Local(problem, each.settled), weights.copy()
    if each.solved is not None:
        states, known = Local(problem, each.solved).consistent_back(found, given_after(passage, each))
        found = _spread(states, len(weights))
        found[2 * n : settled.first_computed] = known
    if len(each.set_states):
        found = settled.follow_back(found)
        places = problem.lowered.place[reinit.targets]
        chosen = np.isin(places, each.set_states)
        found = _taken(found, places[chosen], (settled.of_rule("reinit")[chosen], reinit.signs[chosen]))
    found = settled.follow_back(found)
    if updates.count:
        found = _assigned_back(settled, found, 2 * n + updates.targets)
    if snapshots.count:
        found = _taken(found, 2 * n + snapshots.targets, (Local(problem, each.begun).of_rule("snapshot"), np.ones(snapshots.count)))
    partners, cells = 2 * n + hybrid.partners, 2 * n + hybrid.cells
    moved = found[partners].copy()
    found[partners] = 0.0
    np.add.at(found, cells, moved)
    return found


def _taken(weights: np.ndarray, targets: np.ndarray, rule: tuple[Any, np.ndarray]) -> np.ndarray:
    """Of values that a rule gave: what they have to do with an output is that of what the rule read."""
    slopes, signs = rule
    own = signs[:, None] * weights[targets]
    weights[targets] = 0.0
    return np.asarray(weights + slopes.T @ own)


def _assigned_back(settled: Local, weights: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """The same of assignments that may depend on each other."""
    slopes, direct = settled.of_rule("update"), weights[targets].copy()
    own, through = direct, np.zeros_like(weights)
    for _ in range(len(targets) + 1):
        through = settled.follow_back(np.asarray(slopes.T @ own))
        following = direct + through[targets]
        if np.array_equal(following, own):
            break
        own = following
    weights[targets] = through[targets] = 0.0
    return weights + through
