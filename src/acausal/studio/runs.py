"""The runs of a model: a list that outlives the server, and the files with their numbers.

Each run has a file of its own that says what it was, beside the one with its numbers: so two studios on one plant share their runs,
and neither takes the other's away. Earlier versions kept one list for all, `runs.json`; it is still read.
"""

from __future__ import annotations

import contextlib
import json
import time
import uuid
from collections.abc import Iterator
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from .placing import placed
from .protocol import Case, Problem, Run

KEPT = 100  # runs; the oldest go first
_FIELDS = {f.name for f in fields(Run)}
_OVER = ("finished", "failed", "cancelled")


class Runs:
    """Runs in a folder: `<run>.json` says what it was, `<run>.acausal` has its numbers."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.by_id: dict[str, Run] = {}
        self._on_disk: dict[str, str] = {}
        self.look()

    def look(self) -> bool:
        """Take note of runs that another studio left in the folder; tells whether there were any."""
        new = [run for run in self._found() if run.id not in self.by_id and self.file(run.id).is_file()]
        if new:
            self.by_id = {run.id: run for run in sorted([*self.all(), *new], key=lambda run: run.begun)}
        return bool(new)

    def _found(self) -> Iterator[Run]:
        with contextlib.suppress(OSError, ValueError, TypeError, KeyError, AttributeError):
            yield from [_run(entry) for entry in json.loads((self.folder / "runs.json").read_text(encoding="utf-8"))]
        for file in self.folder.glob("*.json"):
            if file.stem not in self.by_id and file.stem != "runs":
                with contextlib.suppress(OSError, ValueError, TypeError, KeyError, AttributeError):
                    yield _run(json.loads(file.read_text(encoding="utf-8")))

    def file(self, run: str) -> Path:
        return self.folder / f"{run}.acausal"

    def _about(self, run: str) -> Path:
        return self.folder / f"{run}.json"

    def all(self) -> list[Run]:
        return list(self.by_id.values())

    def new(self, case: Case, version: int) -> Run:
        self.look()
        number = max((run.number for run in self.by_id.values()), default=0) + 1
        run = Run(uuid.uuid4().hex[:12], number, case, "queued", time.time(), version=version)
        self.by_id[run.id] = run
        for old in [r for r in self.all() if r.state in _OVER][: max(0, len(self.by_id) - KEPT)]:
            self.forget(old.id)
        return run

    def update(self, run: str, changes: dict[str, Any]) -> Run | None:
        found = self.by_id.get(run)
        if found is None:
            return None
        for name, value in changes.items():
            if name in _FIELDS and name != "id":
                setattr(found, name, value)
        return found

    def forget(self, run: str) -> None:
        self.by_id.pop(run, None)
        self._on_disk.pop(run, None)
        self._about(run).unlink(missing_ok=True)
        self.file(run).unlink(missing_ok=True)

    def write(self) -> None:
        """What is known of each run that is over, whole or as it was."""
        for run in self.all():
            text = json.dumps(asdict(run)) if run.state in _OVER else ""
            if text and self._on_disk.get(run.id) != text:
                placed(self._about(run.id), text)
                self._on_disk[run.id] = text


def _run(entry: dict[str, Any]) -> Run:
    problems = [Problem(**p) for p in entry.pop("problems")]
    return Run(**{**entry, "case": Case(**entry["case"])}, problems=problems)
