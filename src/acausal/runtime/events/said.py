"""What a run has to tell a person, in the order of its time."""

from __future__ import annotations

from ...errors import Diagnostic
from ..outcome import Outcome
from .handler import Handler, Happening
from .words import OUTCOMES, explain

Kept = tuple[list[Diagnostic], set[int]]


class Said:
    """Diagnostics of a run. An assertion that fails is told once: a flow that swings would fill pages."""

    def __init__(self, handler: Handler) -> None:
        self.handler = handler
        self.diagnostics: list[Diagnostic] = []
        self._warned: set[int] = set()  # assertions that were told of, by their first rows

    def warn(self, happening: Happening) -> None:
        for row in happening.warnings:
            statement = self.handler.hybrid.parts["assertion"].statement(row)
            if statement not in self._warned:
                self._warned.add(statement)
                self.diagnostics.append(explain(self.handler, "warning", happening, row))

    def verdict(self, happening: Happening, more: tuple[Diagnostic, ...]) -> Outcome | None:
        """How an event ended the run, if it did; `more` is what was tried before it failed."""
        self.warn(happening)
        if happening.failure:
            self.diagnostics += [explain(self.handler, happening.failure, happening, -1), *more]
            return OUTCOMES[happening.failure]
        if happening.stop:
            self.diagnostics.append(explain(self.handler, "stop", happening, happening.rows[0]))
            return Outcome.TERMINATED
        return None

    def present(self) -> Kept:
        return list(self.diagnostics), set(self._warned)

    def back_to(self, kept: Kept) -> None:
        self.diagnostics, self._warned = list(kept[0]), set(kept[1])
