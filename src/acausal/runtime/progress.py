"""Progress of a run: a bar on the terminal, or a user's function."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[float], bool | None]

_PATIENCE = 1.0  # seconds before a bar appears: short runs stay quiet


@contextmanager
def reported(wanted: bool | Progress, start: float, until: float, title: str) -> Iterator[Progress | None]:
    """A function of time to be called now and then; a bar is shown on a terminal when the run takes long."""
    if callable(wanted):
        yield wanted
    elif wanted and sys.stderr.isatty():
        bar = _Bar(start, until, title)
        try:
            yield bar
        finally:
            bar.close()
    else:
        yield None


class _Bar:
    """A rich progress bar on standard error that appears only after a while."""

    def __init__(self, start: float, until: float, title: str) -> None:
        self.start, self.span, self.title = start, until - start, title
        self.began = time.perf_counter()
        self.bar: object | None = None

    def __call__(self, t: float) -> bool:
        if self.bar is None and time.perf_counter() - self.began > _PATIENCE:
            self._open()
        if self.bar is not None:
            self.bar.update(self.task, completed=(t - self.start) / self.span)  # type: ignore[attr-defined]
        return True

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
        self.bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self.task = self.bar.add_task(f"simulating {self.title}", total=1.0)
        self.bar.start()

    def close(self) -> None:
        if self.bar is not None:
            self.bar.stop()  # type: ignore[attr-defined]
