"""Pictures of fits and of linear systems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .fit import Fit

File = "str | os.PathLike[str] | None"


def finished(figure: Figure, file: Any) -> Figure:
    figure.tight_layout()
    if file is not None:
        figure.savefig(file, dpi=120)
    return figure


def fit_picture(fit: Fit, file: Any) -> Figure:
    """Above what was measured and computed, below what is left, a column for each measured quantity."""
    from matplotlib.figure import Figure as Made

    paths = list(fit.weights)
    figure = Made(figsize=(5.0 * len(paths), 5.5))
    axes = figure.subplots(2, len(paths), squeeze=False, sharex="col", height_ratios=(2, 1))
    for number, e in enumerate(fit.experiments):
        run, colour = fit.result(number), f"C{number}"
        for k, path in enumerate(paths):
            if path not in e.values:
                continue
            above, below = axes[0][k], axes[1][k]
            above.plot(e.time, e.values[path], ".", color=colour, label=f"{e.name}, measured")
            above.plot(run.time, run.values_of(path), color=colour, label=f"{e.name}, fitted")
            there = np.interp(e.time, run.time, np.asarray(run.values_of(path), dtype=float))
            below.plot(e.time, e.values[path] - there, ".", color=colour)
            above.set_title(path)
            below.axhline(0.0, color="0.6", linewidth=0.8)
            below.set_xlabel("time [s]")
    axes[0][0].legend(fontsize="small")
    axes[1][0].set_ylabel("measured - fitted")
    return finished(figure, file)
