"""A page that looks at the studio, seen from the server."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import asdict
from typing import Any

from ..errors import ModelError
from .process import Gone
from .protocol import Problem, problem

_QUEUE = 512  # frames a slow page may be behind


class Client:
    """A page: what it is to hear waits here."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.queue: asyncio.Queue[bytes | None] = asyncio.Queue(_QUEUE)

    def hear(self, frame: bytes) -> None:
        try:
            self.queue.put_nowait(frame)
        except asyncio.QueueFull:  # it sleeps, or the line is slow: it comes back and hears everything anew
            with contextlib.suppress(asyncio.QueueEmpty):
                while True:
                    self.queue.get_nowait()
            self.queue.put_nowait(None)


def refusal(error: Exception) -> list[dict[str, Any]]:
    """What a page is told of a question that went wrong."""
    if isinstance(error, Gone):
        return error.problems
    if isinstance(error, ModelError):
        return [asdict(problem(d)) for d in error.diagnostics]
    if isinstance(error, OSError):
        return [asdict(Problem(f"The studio cannot read or write a file: {error}."))]
    return [asdict(Problem(f"The studio cannot make sense of this question: {type(error).__name__} {error}."))]
