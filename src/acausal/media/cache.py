"""Files that this package keeps: whole or not at all, and never believed without their checksum.

A cache may only ever save time: what cannot be read is made again, what cannot be written stays in memory.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading
from pathlib import Path

_MAGIC = b"acausalfluid\0\0\0\0"
_DIGEST_SIZE = 16


def folder() -> Path | None:
    """`$ACAUSAL_CACHE`, or `acausal` in the user's cache folder."""
    if chosen := os.environ.get("ACAUSAL_CACHE"):
        return Path(chosen)
    if base := os.environ.get("XDG_CACHE_HOME"):
        return Path(base) / "acausal"
    try:
        return Path.home() / ".cache" / "acausal"
    except RuntimeError:
        return None


def read(name: str) -> memoryview | None:
    """What was kept under a name, if it is there and whole."""
    base = folder()
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
    base = folder()
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
