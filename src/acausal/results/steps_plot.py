"""Step size and order of a run over time, with its failed attempts marked."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import UsageError
from ..results import canvas
from ..runtime.journal import Journal
from .style import COLOURS, settings, time_axis

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_steps(result: Any, file: str | os.PathLike[str] | None = None) -> Figure:
    """Two panels above one another: the step size, logarithmically, and the order."""
    import matplotlib

    journal: Journal | None = result.journal
    if journal is None or not len(journal.step):
        raise UsageError(
            "There are no steps to draw: this run has no journal of them.", remedy='Simulate with solver="ida", the default.'
        )
    path = canvas.checked_path(file)
    window = canvas.has_window(matplotlib) if file is None else False
    with matplotlib.rc_context(settings()):
        figure = canvas.new_figure((8.0, 4.8), window)
        _draw(figure, journal, f"Steps of {result.title}")
        canvas.saved(figure, path)
    if window:
        canvas.show()
    return figure


def _marks(journal: Journal) -> Iterator[tuple[str, np.ndarray, str, str]]:
    """What failed before each record, with the mark it gets."""
    yield "error test failed", journal.error_failures, "v", COLOURS[1]
    yield "not converged", journal.convergence_failures, "x", COLOURS[3]


def _draw(figure: Figure, journal: Journal, title: str) -> None:
    steps, orders = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
    scale, symbol = time_axis(orders, np.append(journal.time[0] - journal.step[0], journal.time))
    time = journal.time / scale
    steps.plot(time, journal.step, color=COLOURS[0], linewidth=1.0, drawstyle="steps-pre")
    steps.set_yscale("log")
    steps.set_ylabel("Step size (s)")
    low = float(journal.step.min())
    for label, failed, marker, colour in _marks(journal):
        here = np.flatnonzero(failed)
        if len(here):
            text = f"{label} ({int(failed.sum())})"
            steps.plot(time[here], np.full(len(here), 0.5 * low), marker, color=colour, markersize=4, label=text, clip_on=False)
    if steps.get_legend_handles_labels()[0]:
        steps.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=4, frameon=False, borderaxespad=0.2)
    orders.plot(time, journal.order, color=COLOURS[2], linewidth=1.0, drawstyle="steps-pre")
    orders.set_ylabel("Order")
    orders.set_ylim(0.5, 5.5)
    orders.set_yticks([1, 2, 3, 4, 5])
    orders.set_xlabel(f"Time ({symbol})")
    orders.set_xlim((journal.time[0] - journal.step[0]) / scale, time[-1])
    steps.set_title(title)
    figure.align_ylabels([steps, orders])
