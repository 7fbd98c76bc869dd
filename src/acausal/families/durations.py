"""Assertions that count only after a while: it is kept when a condition began to fail, from which follows when that is too long.

Between events nothing is done: that time is a relation of time alone, which is computed when the condition fails, and never comes
while it holds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..language.declarations import Discrete
from ..language.events import Assertion, pre
from ..language.expression import Expression, Reference, Time, apply

if TYPE_CHECKING:
    from .hybrid import Freezer

NEVER = 1e300  # a time that does not come


def holds_or_not_for_long(freezer: Freezer, statement: Assertion) -> tuple[Expression, Reference | None]:
    """The condition as it is asserted: it holds, or has not failed for as long as is said; and since when it fails."""
    text, place = statement.location.source, statement.location
    holds = freezer.freeze(statement.condition, text, place)
    if statement.lasting is None:
        return holds, None
    since = freezer.auxiliary("since", Discrete(NEVER), holds.shape)
    since.declaration.carried = True  # a run that goes on from another one counts on
    failing = apply("where", apply("ge", pre(since), NEVER), Time(), pre(since))
    freezer.assigned(since, apply("where", statement.condition, NEVER, failing), text, place)
    return holds | ~freezer.freeze(apply("ge", Time(), pre(since) + statement.lasting), text, place), since
