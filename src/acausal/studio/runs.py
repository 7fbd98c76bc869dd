"""The runs of a model: a list that outlives the server, and the files with their numbers."""

from __future__ import annotations

import json
import os
import time
import uuid
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from .protocol import Case, Problem, Run

KEPT = 100  # runs; the oldest go first
_FIELDS = {f.name for f in fields(Run)}


class Runs:
    """Runs in a folder: `runs.json` and one file of numbers each."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.by_id: dict[str, Run] = {run.id: run for run in self._read()}

    def _read(self) -> list[Run]:
        try:
            found = json.loads((self.folder / "runs.json").read_text(encoding="utf-8"))
            runs = [_run(entry) for entry in found]
        except (OSError, ValueError, TypeError, KeyError):
            return []
        return [run for run in runs if self.file(run.id).is_file()]

    def file(self, run: str) -> Path:
        return self.folder / f"{run}.acausal"

    def all(self) -> list[Run]:
        return list(self.by_id.values())

    def new(self, case: Case, version: int) -> Run:
        number = max((run.number for run in self.by_id.values()), default=0) + 1
        run = Run(uuid.uuid4().hex[:12], number, case, "queued", time.time(), version=version)
        self.by_id[run.id] = run
        for old in [r for r in self.all() if r.state not in ("queued", "running")][: max(0, len(self.by_id) - KEPT)]:
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
        self.file(run).unlink(missing_ok=True)

    def write(self) -> None:
        """The list on disk, whole or as it was."""
        done = [asdict(run) for run in self.all() if run.state in ("finished", "failed", "cancelled")]
        new = self.folder / "runs.json.new"
        new.write_text(json.dumps(done), encoding="utf-8")
        os.replace(new, self.folder / "runs.json")


def _run(entry: dict[str, Any]) -> Run:
    problems = [Problem(**p) for p in entry.pop("problems")]
    return Run(**{**entry, "case": Case(**entry["case"])}, problems=problems)
