"""Progress of a run: a bar on the terminal or in a notebook, or a user's function."""

from __future__ import annotations

import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

Progress = Callable[[float], bool | None]

_PATIENCE = 1.0  # seconds before a bar appears: short runs stay quiet


@contextmanager
def reported(wanted: bool | Progress, start: float, until: float, title: str) -> Iterator[Progress | None]:
    """A function of time to be called now and then; a bar is shown on a terminal when the run takes long."""
    if callable(wanted):
        yield wanted
    elif wanted and (made := _for_notebook() or (_Bar if sys.stderr.isatty() else None)) is not None:
        bar = made(start, until, title)
        try:
            yield bar
        finally:
            bar.close()
    else:
        yield None


def _for_notebook() -> type[_Bar] | None:
    """What shows progress in Jupyter and VS Code, or in marimo; None elsewhere. Neither is imported by us."""
    shell = sys.modules.get("IPython")
    if shell is not None and getattr(shell.get_ipython(), "kernel", None) is not None:
        return _InJupyter
    marimo = sys.modules.get("marimo")
    return _InMarimo if marimo is not None and marimo.running_in_notebook() else None


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


class _InNotebook(_Bar, ABC):
    """A bar in the output of a cell, at most ten times a second; it goes when the run is over."""

    _EVERY = 0.1

    def __call__(self, t: float) -> bool:
        now = time.perf_counter()
        if now - self.began > _PATIENCE and now - self.last > self._EVERY:
            self.last = now
            self.draw(self.html((t - self.start) / self.span))
        return True

    last = 0.0

    def html(self, share: float) -> str:
        from html import escape  # of a notebook only

        return f"simulating {escape(self.title)} <progress value='{share:.4f}' max='1'></progress> {100 * share:.0f} %"

    @abstractmethod
    def draw(self, text: str) -> None:
        """Show it in place of what was shown before."""

    def close(self) -> None:
        if self.last:
            self.draw("")


class _InJupyter(_InNotebook):
    handle: Any = None

    def draw(self, text: str) -> None:
        shown: Any = import_module("IPython.display")
        if self.handle is None:
            self.handle = shown.display(shown.HTML(text), display_id=True)
        else:
            self.handle.update(shown.HTML(text))


class _InMarimo(_InNotebook):
    def draw(self, text: str) -> None:
        marimo: Any = import_module("marimo")
        marimo.output.replace(marimo.Html(text) if text else None)
