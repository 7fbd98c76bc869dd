"""Cases that begin where the one before ended. Where the last one ended is kept with the rows, so that none is run twice."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ..errors import ModelError
from .case_run import Job, Row, run_case
from .cases import Cases

_END, _WRITING = "end-of-{}.acausal", "end.writing"


class Chain:
    """Goes from case to case; a failed one is passed over. `folder` is where the study is kept, if it is."""

    def __init__(self, folder: Path | None) -> None:
        self.folder, self.number = folder, -1
        self.last: Any = None

    def rows(self, job: Job, cases: Cases, left: Sequence[int]) -> Iterator[Row]:
        """Rows of the cases that are left, in order."""
        wanted = frozenset(left)
        self._resume(min(left, default=0))
        for k in range(self.number + 1, max(left, default=-1) + 1):
            row, result = run_case(job, k, cases[k], self.last)
            self.number, self.last = k, result if row.ok else self.last
            if k in wanted:
                yield row

    def save(self) -> None:
        """Keep where the last case ended. Nothing is lost if that fails: what is missing is run again."""
        if self.folder is None or self.last is None:
            return
        place, writing = self._place(self.number), self.folder / _WRITING
        try:
            if not place.exists():
                self.last.save(writing)
                os.replace(writing, place)
            for other in self.folder.glob(_END.format("*")):
                if other != place:
                    other.unlink()
        except (OSError, ModelError):
            writing.unlink(missing_ok=True)

    def _resume(self, first: int) -> None:
        """Go on behind the last case whose end is known, of those before the first that is left."""
        from ..results.store import load

        for number in range(first - 1, -1, -1) if self.folder is not None else ():
            if self._place(number).exists():
                try:
                    self.number, self.last = number, load(self._place(number))
                except ModelError:  # damaged: the cases are run again
                    continue
                return

    def _place(self, number: int) -> Path:
        assert self.folder is not None
        return self.folder / _END.format(number + 1)
