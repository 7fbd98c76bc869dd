"""What a caller hears without asking: that a run stopped before its end, that a connection was probably forgotten."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any, Literal, TypeVar, get_args

from ..errors import Diagnostic, Interrupted, ModelWarning, RunFailed, RunWarning, UsageError, level_of_caller
from ..families.system import System
from ..runtime.outcome import Outcome

OnFailure = Literal["warn", "raise", "keep"]
R = TypeVar("R")

_WAYS = get_args(OnFailure)


def check_on_failure(given: Any) -> None:
    if given not in _WAYS:
        raise UsageError(
            f'`on_failure` is "warn", "raise" or "keep", got {given!r}.',
            remedy='With "keep" nothing is said: look at `result.outcome`.',
        )


def heard(result: R, on_failure: OnFailure, interrupted: bool = False) -> R:
    """The result; but first its end is told, if it came early, and what it warned of. Who stopped it with a progress function knows
    already."""
    outcome: Outcome = result.outcome  # type: ignore[attr-defined]
    if interrupted:
        raise Interrupted(f"{_story(result)} It is in `result` of this exception.", result)
    if outcome is Outcome.CANCELLED or on_failure == "keep":
        return result
    if on_failure == "raise":
        if not outcome.ok:
            raise RunFailed(_story(result), result)
        return result
    if outcome.ok:
        told_of_warnings(result, result.diagnostics)  # type: ignore[attr-defined]
    else:
        warnings.warn(_story(result), RunWarning, stacklevel=level_of_caller())
    return result


def told_of_warnings(result: Any, diagnostics: Iterable[Diagnostic], of: str = "") -> None:
    """What a run went on after, if there was something; `of` is the first line of something else than a run."""
    told = [d for d in diagnostics if d.warning]
    if told:
        more = [f"… and {len(told) - _MOST_TOLD} more, in `result.diagnostics`."] if len(told) > _MOST_TOLD else []
        lines = [of or f"The run of {result.title} went on, but:", *map(str, told[:_MOST_TOLD]), *more]
        warnings.warn("\n".join(lines), RunWarning, stacklevel=level_of_caller())


def told_of_given(told: Iterable[Diagnostic], on_failure: OnFailure) -> None:
    """Warnings about what somebody gave and may have meant otherwise: data that end before the run, a start without a past."""
    for one in told if on_failure != "keep" else ():
        warnings.warn(str(one), ModelWarning, stacklevel=level_of_caller())


_MOST_TOLD = 3  # diagnostics


def _story(result: Any) -> str:
    """Why a run stopped; what it only warned of on its way is not the reason."""
    lines = [f"The run of {result.title} stopped at time {result.time_reached:.6g}. {result.outcome.value}"]
    reasons = [d for d in result.diagnostics if not d.warning]
    return "\n".join([*lines, *map(str, reasons[:_MOST_TOLD])])


_MOST_OPEN = 6  # connectors that are named


def told_of_open(system: System, title: str) -> None:
    """A warning about connectors that were probably forgotten."""
    from ..families.forgotten import useless_connectors

    names = useless_connectors(system, _MOST_OPEN + 1)
    if names:
        listed = ", ".join(f"`{name}`" for name in names[:_MOST_OPEN]) + (", …" if len(names) > _MOST_OPEN else "")
        warnings.warn(
            f"{title}: nothing is connected to {listed}, so nothing passes through "
            f"{'that component' if len(names) == 1 else 'those components'} at all. Is a connection missing in `connections`? "
            "If it is meant, leave the component out, or silence `ac.ModelWarning`.",
            ModelWarning,
            stacklevel=level_of_caller(),
        )
