"""What a studio asks the machine: which file a target names, whether a file has changed, how many cores there are."""

from __future__ import annotations

import os
from pathlib import Path


def model_file(target: str) -> Path | None:
    """The file that a target names, if it is one: `plant.py:House(n=3)` is in `plant.py`."""
    path = Path(target.partition(".py:")[0] + (".py" if ".py:" in target else ""))
    return path if path.suffix == ".py" else None


def cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not everywhere
        return os.cpu_count() or 1


def stamp(file: str) -> tuple[int, int]:
    try:
        found = Path(file).stat()
    except OSError:
        return (0, 0)
    return (found.st_mtime_ns, found.st_size)
