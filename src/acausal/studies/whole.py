"""Whole results of a study: run when they are asked for, kept in memory as far as they fit, and on disk beyond."""

from __future__ import annotations

import tempfile
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..errors import ModelError
from .case_run import Job
from .cases import Cases

_MOST_BYTES = 256 * 2**20  # of all results that stay in memory


class Whole:
    """Results by number of the case. `folder` is where a study is kept; without one, they go to a temporary folder."""

    def __init__(self, job: Job, cases: Cases, before: Callable[[int], int | None], folder: Path | None) -> None:
        """`before(k)` is the case from whose end case k begins, if it does not begin by itself."""
        self._job, self._cases, self._before, self._given, self.most = job, cases, before, folder, _MOST_BYTES
        self._held: OrderedDict[int, tuple[Any, int]] = OrderedDict()
        self._own: tempfile.TemporaryDirectory[str] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_held": OrderedDict(), "_own": None}

    def __getitem__(self, number: int) -> Any:
        chain = [number]  # the cases that are to be run one after the other, the last one first
        found = self._there(number)
        while found is None and (earlier := self._before(chain[-1])) is not None:
            found = self._there(earlier)
            chain.append(earlier)
        if found is not None:
            chain.pop()
        for k in reversed(chain):
            found = self._job.solve(self._cases[k], found)
            self._hold(k, found)
            if self._given is not None:
                self._to_disk(k, found)
        return found

    def _there(self, number: int) -> Any:
        if number in self._held:
            self._held.move_to_end(number)
            return self._held[number][0]
        found = self._from_disk(number)
        if found is not None:
            self._hold(number, found)
        return found

    def _hold(self, number: int, result: Any) -> None:
        self._held[number] = result, int(result.data.nbytes)
        while sum(size for _, size in self._held.values()) > self.most and len(self._held) > 1:
            oldest, (leaving, _) = self._held.popitem(last=False)
            self._to_disk(oldest, leaving)

    def _place(self, number: int) -> Path:
        if self._given is None and self._own is None:
            self._own = tempfile.TemporaryDirectory(prefix="acausal-study-")
        folder = self._given / "results" if self._given is not None else Path(self._own.name)  # type: ignore[union-attr]
        return folder / f"{number + 1}.acausal"

    def _to_disk(self, number: int, result: Any) -> None:
        place = self._place(number)
        if place.exists():
            return
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            result.save(place)
        except (OSError, ModelError):  # it can be run again at any time
            place.unlink(missing_ok=True)

    def _from_disk(self, number: int) -> Any:
        from ..results.store import load

        if (self._given is None and self._own is None) or not self._place(number).exists():
            return None
        try:
            return load(self._place(number))
        except ModelError:  # damaged: it is run again
            self._place(number).unlink(missing_ok=True)
            return None
