"""Files that this package keeps: whole or not at all, and never believed without their checksum.

A cache may only ever save time: what cannot be read is made again, what cannot be written stays in memory.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading

from ..vault import directory

_MAGIC = b"acausalfluid\0\0\0\0"
_DIGEST_SIZE = 16


def read(name: str) -> memoryview | None:
    """What was kept under a name, if it is there and whole."""
    base = directory()
    if base is None:
        return None
    try:
        content = (base / name).read_bytes()
    except OSError:
        return None
    start = len(_MAGIC) + _DIGEST_SIZE
    body = memoryview(content)[start:]
    whole = content[: len(_MAGIC)] == _MAGIC and content[len(_MAGIC) : start] == _digest(body)
    return body if whole else None


def write(name: str, body: bytes) -> None:
    """All or nothing: another process sees no file or a whole one. In silence if it is not possible."""
    base = directory()
    if base is None:
        return
    path = base / name
    part = path.with_suffix(f".{os.getpid()}-{threading.get_ident()}.part")
    with contextlib.suppress(OSError):
        base.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            part.write_bytes(_MAGIC + _digest(body) + body)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)


def _digest(body: bytes | memoryview) -> bytes:
    return hashlib.blake2b(body, digest_size=_DIGEST_SIZE).digest()
