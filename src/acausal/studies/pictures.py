"""Pictures of a study: lines, scatter, tornado, heat map, overlay, bands of percentiles."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import UsageError
from ..results.canvas import begun, finished, in_style
from . import facts

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .table import Study

File = str | os.PathLike[str] | None
_MOST_LINES = 8  # in one picture of what was computed over what was changed
_MOST_WORDS = 48  # letters that say what a case changes; longer ones are known by their number


@in_style
def lines(study: Study, x: str, outputs: Sequence[str], file: File) -> Figure:
    wanted = list(outputs) or study.outputs
    figure, axes = _axes(file, len(wanted), 1, sharex=True)
    across, groups = study[x], _alike_but_for(study, x)
    for axis, output in zip(axes.ravel(), wanted, strict=True):
        values = np.where(study.ok, study[output], np.nan)
        for label, rows in groups.items():
            order = rows[np.argsort(across[rows], kind="stable")]
            joined = 1.2 if len(groups) > 1 or len(study.changed) == 1 else 0.0  # else a line means nothing
            axis.plot(across[order], values[order], marker="o", markersize=3, linewidth=joined, label=label)
        axis.set_ylabel(_label(study, output))
    if len(groups) > 1:
        axes.ravel()[0].legend(fontsize=8)
    axes.ravel()[-1].set_xlabel(_label(study, x))
    return finished(figure, file)


def _alike_but_for(study: Study, x: str) -> dict[str, np.ndarray]:
    """Cases that differ in one thing alone, by what they have in common; all in one where that tells nothing."""
    found: dict[str, list[int]] = {}
    for k, told in enumerate(_told(study, range(len(study)), x)):
        found.setdefault(told, []).append(k)
    if len(found) > _MOST_LINES or min(map(len, found.values()), default=0) < 2:
        return {"": np.arange(len(study))}
    return {label: np.array(rows) for label, rows in found.items()}


def _told(study: Study, cases: Iterable[int], *without: str) -> Iterator[str]:
    """What is changed in each of some cases: `G = 40, P = 1000`."""
    columns = {name: study[name] for name in study.changed if name not in without}
    for k in cases:
        values = ((name, column[k]) for name, column in columns.items())
        yield ", ".join(f"{n} = {v:g}" if isinstance(v, float | np.floating) else f"{n} = {v}" for n, v in values)


@in_style
def scatter(study: Study, output: str, file: File) -> Figure:
    strength = study.correlations(output)
    if not strength:
        raise UsageError("A scatter plot needs at least three cases in which a number was changed.")
    figure, axes = _axes(file, 1, len(strength), sharey=True)
    for axis, (path, rank) in zip(axes.ravel(), strength.items(), strict=True):
        axis.scatter(study[path][study.ok], study[output][study.ok], s=8, alpha=0.6, linewidths=0)
        axis.set_xlabel(_label(study, path))
        axis.set_title(f"ρ = {rank:+.2f}", fontsize=9)
        axis.locator_params(axis="x", nbins=4)
    axes.ravel()[0].set_ylabel(_label(study, output))
    return finished(figure, file)


@in_style
def tornado(study: Study, output: str, file: File) -> Figure:
    base, ranges = _ranges(study, output)
    figure, axes = _axes(file, 1, 1, height=0.8 + 0.4 * len(ranges))
    axis = axes.ravel()[0]
    for place, (path, (low, high)) in enumerate(reversed(ranges.items())):
        axis.barh(place, high - low, left=low, height=0.6, color="C0")
        axis.text(high, place, f" {path}", va="center", fontsize=8)
    axis.axvline(base, color="black", linewidth=0.8)
    axis.set_yticks([])
    axis.set_xlabel(_label(study, output))
    axis.use_sticky_edges = False
    axis.margins(x=0.2)
    return finished(figure, file)


def _ranges(study: Study, output: str) -> tuple[float, dict[str, tuple[float, float]]]:
    """The output at the base case, and over the cases in which each thing alone (or at all) was changed; the widest first."""
    values, good = study[output], study.ok
    found: dict[str, tuple[float, float]] = {}
    alone = [[path for path, column in study.cases.columns.items() if column[k] is not None] for k in range(len(study))]
    one_at_a_time = all(len(paths) <= 1 for paths in alone)
    base = next((k for k, paths in enumerate(alone) if not paths and good[k]), None) if one_at_a_time else None
    middle = float(values[base]) if base is not None else float(np.nanmedian(values[good]))
    for heading, path in study._paths.items():
        if one_at_a_time:
            own = [float(values[k]) for k, paths in enumerate(alone) if paths == [path] and good[k]]
        else:
            x = study[heading]
            slope = np.polyfit(x[good], values[good], 1) if np.ptp(x[good]) > 0 else (0.0, middle)
            own = [float(np.polyval(slope, x[good].min())), float(np.polyval(slope, x[good].max()))]
        if own:
            found[heading] = (min([middle, *own]), max([middle, *own]))
    return middle, dict(sorted(found.items(), key=lambda pair: pair[1][0] - pair[1][1]))


@in_style
def heat_map(study: Study, x: str, y: str, output: str, file: File) -> Figure:
    across, up, values = study[x], study[y], np.where(study.ok, study[output], np.nan)
    xs, ys = np.unique(across), np.unique(up)
    table = np.full((len(ys), len(xs)), np.nan)
    table[np.searchsorted(ys, up), np.searchsorted(xs, across)] = values
    if np.isnan(table).all() or len(xs) * len(ys) > 4 * len(study):
        raise UsageError(f"`{x}` and `{y}` do not form a grid in this study.", remedy="Make the cases with `ac.grid`.")
    figure, axes = _axes(file, 1, 1)
    axis = axes.ravel()[0]
    shown = axis.pcolormesh(xs, ys, table, shading="nearest", cmap="viridis")
    figure.colorbar(shown, ax=axis, label=_label(study, output))
    axis.set_xlabel(_label(study, x))
    axis.set_ylabel(_label(study, y))
    return finished(figure, file)


@in_style
def overlay(study: Study, path: str, most: int, file: File) -> Figure:
    figure, axes = _axes(file, 1, 1)
    axis = axes.ravel()[0]
    cases = np.unique(np.linspace(0, len(study) - 1, min(most, len(study))).astype(int))
    for k, told in zip(cases.tolist(), _told(study, cases), strict=True):
        result, name = study.result(k), study.cases.names[k]
        own = name != str(k + 1) or not told or len(told) > _MOST_WORDS
        axis.plot(result.time, result[path], linewidth=1, label=name if own else told)
    axis.set_xlabel(_over(study))
    axis.set_ylabel(_label(study, path))
    if len(axis.lines) <= 10:
        axis.legend(fontsize=8)
    return finished(figure, file)


@in_style
def bands(study: Study, path: str, shares: Sequence[float], file: File) -> Figure:
    good = np.flatnonzero(study.ok)
    if not len(good):
        raise UsageError("None of the cases came to its end, so there is nothing to draw.")
    first = study.result(int(good[0]))
    time = np.unique(first.time)
    curves = np.stack([_at(study.result(int(k)), path, time) for k in good])
    lines_ = np.nanpercentile(curves, sorted(check_shares(shares)), axis=0)
    figure, axes = _axes(file, 1, 1)
    axis = axes.ravel()[0]
    pairs = len(lines_) // 2
    for k in range(pairs):  # one upon the other, each as dark as it looks, so that the legend shows the same
        label = f"{sorted(shares)[k]:g} … {sorted(shares)[-1 - k]:g} %"
        colour = _lighter("C0", 0.75 - 0.5 * k / max(1, pairs))
        axis.fill_between(time, lines_[k], lines_[-1 - k], linewidth=0, color=colour, label=label)
    if len(lines_) % 2:
        axis.plot(time, lines_[len(lines_) // 2], color="C0", label=f"{sorted(shares)[len(lines_) // 2]:g} %")
    axis.set_xlabel(_over(study))
    axis.set_ylabel(_label(study, path))
    axis.legend(fontsize=8)
    return finished(figure, file)


def check_shares(shares: Sequence[float]) -> Sequence[float]:
    wrong = next((s for s in np.atleast_1d(shares) if not 0 <= s <= 100), None)
    if wrong is not None:
        raise UsageError(f"Percentages go from 0 to 100, got {wrong:g}.", remedy="shares=(5, 50, 95)")
    return shares


def _over(study: Study) -> str:
    """What runs are integrated over, with its unit."""
    name, unit = study._job.model.system.plant.independent[:2]
    return f"{name} [{unit}]" if unit else str(name)


def _lighter(colour: str, share: float) -> tuple[float, float, float]:
    """A colour mixed with white."""
    from matplotlib.colors import to_rgb

    red, green, blue = (share + (1 - share) * part for part in to_rgb(colour))
    return red, green, blue


def _at(result: Any, path: str, time: np.ndarray) -> np.ndarray:
    return np.asarray(np.interp(time, result.time, result[path]))


def _label(study: Study, name: str) -> str:
    try:
        unit = study.unit(name)
    except KeyError:
        unit = facts.unit(study._job.model, name)
    return f"{name} [{unit}]" if unit else name


def _axes(file: File, rows: int, columns: int, height: float | None = None, **options: Any) -> tuple[Figure, Any]:
    size = (max(6.4, 2.6 * columns), height or max(3.6, 2.2 * rows))
    figure = begun(size, file)
    return figure, figure.subplots(rows, columns, squeeze=False, **options)
