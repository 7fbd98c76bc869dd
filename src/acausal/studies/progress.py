"""Progress of a study: a bar with the time left, or a user's function of (done, all)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..errors import UsageError


def check_counter(wanted: Any) -> None:
    """A function that sees the progress can be called with two numbers."""
    from inspect import signature

    if not callable(wanted):
        return
    try:
        signature(wanted).bind(0, 1)
    except (TypeError, ValueError):
        raise UsageError(
            "`progress` is True, or a function of how many cases are done and how many there are.",
            remedy="progress=lambda done, count: print(done, count)",
        ) from None


@contextmanager
def counted(wanted: bool | Callable[[int, int], Any], done: int, total: int, title: str) -> Iterator[Callable[[int], None]]:
    """A function of how many cases are done."""
    if callable(wanted):
        yield lambda count: wanted(count, total)
    elif wanted and sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(f"studying {title}", total=total, completed=done)
            yield lambda count: bar.update(task, completed=count)
    else:
        yield lambda count: None
