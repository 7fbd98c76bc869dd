"""Pictures of fits and of linear systems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..results.canvas import begun, finished, in_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .fit import Fit

File = "str | os.PathLike[str] | None"


@in_style
def fit_picture(fit: Fit, file: Any) -> Figure:
    """Above what was measured and computed, below what is left, a column for each measured quantity."""
    paths = list(fit.weights)
    figure = begun((5.0 * len(paths), 5.5), file)
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


@in_style
def branch_picture(branch: Any, name: str, file: Any) -> Figure:
    figure = begun((6.5, 4.5), file)
    axis, x, y, stable = figure.subplots(), branch.values, branch[name], branch.stable
    first = 0
    for k in range(1, len(x) + 1):
        if k == len(x) or stable[k] != stable[first]:
            axis.plot(x[first : k + 1], y[first : k + 1], "-" if stable[first] else "--", color="C0")
            first = k
    for special in branch.special:
        axis.plot([special.parameter], [branch.at(special, name)], "o", color="C1", markersize=5)
        axis.annotate(
            special.kind, (special.parameter, branch.at(special, name)), fontsize="small", textcoords="offset points", xytext=(5, 5)
        )
    axis.set_xlabel(branch.parameter)
    axis.set_ylabel(name)
    return finished(figure, file)


@in_style
def bode(linear: Any, frequencies: Any, file: Any) -> Figure:
    f = linear.frequencies() if frequencies is None else np.asarray(frequencies, dtype=float)
    answer = linear.response(f)
    figure = begun((6.5, 6.0), file)
    above, below = figure.subplots(2, 1, sharex=True)
    for i, output in enumerate(linear.outputs):
        for j, given in enumerate(linear.inputs):
            above.loglog(f, np.abs(answer[:, i, j]), label=f"{output} / {given}")
            below.semilogx(f, np.rad2deg(np.unwrap(np.angle(answer[:, i, j]))))
    above.set_ylabel("magnitude")
    above.legend(fontsize="small")
    below.set_ylabel("phase [deg]")
    below.set_xlabel("frequency [Hz]")
    for axis in (above, below):
        axis.grid(True, which="both", alpha=0.3)
    return finished(figure, file)


@in_style
def nyquist(linear: Any, frequencies: Any, file: Any) -> Figure:
    f = linear.frequencies(800) if frequencies is None else np.asarray(frequencies, dtype=float)
    answer = linear.response(f)
    figure = begun((5.5, 5.5), file)
    axis = figure.subplots()
    for i, output in enumerate(linear.outputs):
        for j, given in enumerate(linear.inputs):
            (line,) = axis.plot(answer[:, i, j].real, answer[:, i, j].imag, label=f"{output} / {given}")
            axis.plot(answer[:, i, j].real, -answer[:, i, j].imag, "--", color=line.get_color(), alpha=0.5)
    axis.plot([-1.0], [0.0], "+", color="C1", markersize=10)
    axis.set_aspect("equal", adjustable="datalim")  # a first-order lag is a circle
    axis.set_xlabel("real part")
    axis.set_ylabel("imaginary part")
    axis.grid(True, alpha=0.3)
    axis.legend(fontsize="small")
    return finished(figure, file)


@in_style
def response_picture(response: Any, name: str, file: Any) -> Figure:
    figure = begun((6.5, 4.5), file)
    axis = figure.subplots()
    amplitude = response.amplitude(name)
    axis.plot(response.frequencies, amplitude)
    for fold in response.folds:
        axis.axvline(fold, color="C1", linewidth=0.8, linestyle=":")
        axis.annotate(f"{fold:.4g} Hz", (fold, amplitude.max()), fontsize="small", rotation=90, va="top")
    axis.set_xlabel("frequency [Hz]")
    axis.set_ylabel(f"amplitude of {name}")
    return finished(figure, file)


@in_style
def locus_picture(roots: Any, values: Any, name: str, file: Any) -> Figure:
    """Eigenvalues in the complex plane: crosses where they begin, circles where they end."""
    figure = begun((6.0, 5.0), file)
    axis = figure.subplots()
    axis.axhline(0.0, color="0.8", linewidth=0.8)
    axis.axvline(0.0, color="0.8", linewidth=0.8)
    for k, column in enumerate(roots.T):
        axis.plot(column.real, column.imag, linewidth=1.2, color=f"C{k % 10}")
        axis.plot(column.real[:1], column.imag[:1], "x", color=f"C{k % 10}", label=f"{name} = {values[0]:g}" if k == 0 else None)
        axis.plot(column.real[-1:], column.imag[-1:], "o", color=f"C{k % 10}", label=f"{name} = {values[-1]:g}" if k == 0 else None)
    axis.set_xlabel("real part [1/s]")
    axis.set_ylabel("imaginary part [1/s]")
    axis.legend(fontsize=8)
    return finished(figure, file)
