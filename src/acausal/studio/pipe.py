"""Frames between the server and a worker: four bytes of length, then a frame as `protocol.packed` makes it."""

from __future__ import annotations

import struct
import threading
from typing import Any, BinaryIO

from .protocol import packed

LENGTH = struct.Struct("<I")
MOST = 1 << 30  # bytes of one frame


class Pipe:
    """A worker's end: frames are read by one thread and written by several."""

    def __init__(self, source: BinaryIO, sink: BinaryIO) -> None:
        self._source, self._sink, self._lock = source, sink, threading.Lock()

    def read(self) -> bytes | None:
        """The next frame; None when the other side is gone."""
        head = self._source.read(LENGTH.size)
        if len(head) < LENGTH.size:
            return None
        (size,) = LENGTH.unpack(head)
        frame = self._source.read(size)
        return frame if len(frame) == size else None

    def write(self, head: dict[str, Any], numbers: bytes | memoryview = b"") -> None:
        frame = packed(head, numbers)
        with self._lock:
            self._sink.write(LENGTH.pack(len(frame)))
            self._sink.write(frame)
            self._sink.flush()
