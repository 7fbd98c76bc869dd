"""What pages were told of a model when it was last open. The next page shows it at once, while a worker still loads the model.

It is text about names, units and numbers, never code, and it counts only while no file and no installed package has changed; a
moment later the worker says what is.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from .. import __version__
from .placing import placed
from .protocol import Model

_NAME = "model.json"
_FIELDS = {f.name for f in fields(Model)}

Stamps = Mapping[str, tuple[int, int]]


def write(folder: Path, target: str, model: Mapping[str, Any], stamps: Stamps) -> None:
    """Keep what is said of a model, with what its files look like."""
    kept = {"by": packages(), "target": target, "stamps": stamps, "model": model}
    with contextlib.suppress(OSError):  # it only ever saves time
        folder.mkdir(parents=True, exist_ok=True)
        placed(folder / _NAME, json.dumps(kept))


def read(folder: Path, target: str) -> tuple[dict[str, Any], dict[str, tuple[int, int]]] | None:
    """What was kept of this target with these packages, and what its files looked like then."""
    try:
        kept = json.loads((folder / _NAME).read_text(encoding="utf-8"))
        model, stamps = kept["model"], {str(file): (int(a), int(b)) for file, (a, b) in kept["stamps"].items()}
        fits = kept["by"] == packages() and kept["target"] == target and model.keys() == _FIELDS
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return (model, stamps) if fits else None


def packages() -> str:
    """A hash of what a model may import: Python, names and versions of all installed packages, and the files of this one, which
    may be installed in place."""
    found = [sys.version, __version__]
    for folder in dict.fromkeys(sys.path):
        with contextlib.suppress(OSError):
            found += sorted(name for name in os.listdir(folder or ".") if name.endswith((".dist-info", ".egg-info")))
    for file in sorted(Path(__file__).parents[1].rglob("*.py")):
        with contextlib.suppress(OSError):
            found.append(f"{file} {file.stat().st_mtime_ns}")
    return hashlib.sha256("\n".join(found).encode()).hexdigest()


def same(one: Mapping[str, Any] | None, other: Mapping[str, Any]) -> bool:
    """Whether two tell the same; how long loading took and an end that is yet to be guessed are no difference."""
    if one is None:
        return False
    passing = {"seconds": 0.0, "version": 0}
    known = {"until": one["until"]} if not other["until"] else {}
    return json.dumps({**one, **passing}) == json.dumps({**other, **passing, **known})
