"""A bar on the terminal while something is made that takes seconds; nothing where nobody looks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def bar(what: str) -> Iterator[Callable[[float], None]]:
    """`with bar("tables of water") as done: done(0.3)`; the bar appears with the first call."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda share: None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    with Progress(TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), console=console, transient=True) as shown:
        task: list[object] = []

        def done(share: float) -> None:
            if not task:
                task.append(shown.add_task(what, total=1.0))
            shown.update(task[0], completed=share)  # type: ignore[arg-type]

        yield done
