"""A page that looks at the studio, seen from the server."""

from __future__ import annotations

import asyncio
import contextlib

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
