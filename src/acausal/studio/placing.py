"""Files that others read while we write them: the new text is there whole, or the old one is."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def beside(path: Path) -> Iterator[Path]:
    """A file of our own beside `path`, which takes its place at the end. Two who write at once have different ones."""
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        yield part
        if path.exists():
            part.chmod(stat.S_IMODE(path.stat().st_mode))
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def placed(path: Path, content: str | bytes, *, sure: bool = False) -> None:
    """Write a file; with `sure`, only when the disk has it does it take the place of the old one."""
    with beside(path) as part, part.open("wb") as file:
        file.write(content.encode() if isinstance(content, str) else content)
        if sure:
            file.flush()
            os.fsync(file.fileno())
