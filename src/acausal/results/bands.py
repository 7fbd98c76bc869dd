"""Discrete variables in pictures: strips and bands coloured by state, steps with state names beside them, maps of many."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import UsageError
from . import series
from .events import Array, Meaning
from .series import Trajectories
from .states import Pieces, pieces
from .style import is_dark

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Tol's light colours, made to be filled and told apart by readers with any kind of colour vision; grey is for what is off.
FILLS = ("#EE8866", "#77AADD", "#44BB99", "#EEDD88", "#FFAABB", "#99DDFF", "#BBCC33", "#AAAA00")
QUIET, QUIET_ON_DARK = "#DDDDDD", "#3A424B"
THIN = 0.002  # of the run: pieces that are shorter on average are drawn with an outline, so that none is lost
OFF = ("off", "false", "closed", "idle", "none", "0")
HATCHES = ("", "////", "....", "xxxx")  # for the ninth state and the rest

BANDS_UPTO = 60  # pieces of one variable that are also shaded behind the curves; more would only flicker
SMOOTH_UPTO = 2000  # more pieces than this are drawn as pixels
MAP_COLUMNS = 2000
LANE = 0.27  # inches
STRIPS_MOST = 40


class StateColours:
    """One colour for each state name, the same in the whole picture."""

    def __init__(self) -> None:
        self._given: dict[str, tuple[str, str]] = {}
        self._used = 0

    def __call__(self, state: str) -> tuple[str, str]:
        """Colour and hatching."""
        if state not in self._given:
            if state.lower() in OFF:
                self._given[state] = (QUIET_ON_DARK if is_dark() else QUIET, "")
            else:
                self._given[state] = (FILLS[self._used % len(FILLS)], HATCHES[self._used // len(FILLS) % len(HATCHES)])
                self._used += 1
        return self._given[state]

    def legend(self, figure: Figure) -> None:
        """All states below the picture, in as many lines as they need."""
        from matplotlib.patches import Patch

        if not self._given:
            return
        handles = [
            Patch(facecolor=colour, hatch=hatch, edgecolor="#888888", linewidth=0.4, label=state)
            for state, (colour, hatch) in list(self._given.items())[:STRIPS_MOST]
        ]
        figure.legend(handles=handles, loc="outside lower center", ncols=min(len(handles), 8), frameon=False, handlelength=1.4)


def checked(result: Trajectories, names: str | Iterable[str]) -> dict[str, Pieces]:
    """The state variables that a user named, patterns allowed, each with its pieces."""
    found = {name: pieces(result, name) for name in series.expand(result, names)} if names else {}
    if len(found) > STRIPS_MOST:
        raise UsageError(
            f"{len(found)} state variables are too many strips for one picture; up to {STRIPS_MOST} can be told apart.",
            remedy="Name fewer, or draw them as a map by giving the array as a variable: `result.plot('rooms.cooling')`.",
        )
    return found


def strip_height(count: int) -> float:
    return LANE * count + 0.05


def draw_strips(axes: Axes, found: dict[str, Pieces], scale: float, colours: StateColours) -> None:
    """One lane for each variable, its name to the left."""
    for lane, one in enumerate(found.values()):
        _fill(axes, one, scale, colours, (lane - 0.36, 0.72), alpha=1.0)
    axes.set_ylim(len(found) - 0.5, -0.5)
    axes.set_yticks(range(len(found)), [_short(name) for name in found])
    axes.tick_params(axis="y", length=0)
    axes.grid(False)
    axes.spines["left"].set_visible(False)


def shade(axes: Axes, one: Pieces, scale: float, colours: StateColours) -> None:
    """Bands behind the curves, from bottom to top; nothing where there would be too many."""
    if len(one.starts) <= BANDS_UPTO:
        _fill(axes, one, scale, colours, (0.0, 1.0), alpha=0.22, transform=axes.get_xaxis_transform(), zorder=0.2, behind=True)


def _fill(
    axes: Axes, one: Pieces, scale: float, colours: StateColours, height: tuple[float, float], behind: bool = False, **style: Any
) -> None:
    many = len(one.starts) > SMOOTH_UPTO
    by_state: dict[str, Any] = dict.fromkeys(one.meaning.values, ())  # in their order, so that colours do not depend on the run
    by_state |= {one.meaning.text(float(value)): one.values == value for value in np.unique(one.values)}
    looks = {text: colours(text) for text in by_state}
    lasted = {text: float((one.ends - one.starts)[c].mean()) for text, c in by_state.items() if np.any(c)}
    for text in sorted(lasted, key=lasted.__getitem__, reverse=True):  # what is short is drawn last, and never thinner than a line
        (colour, hatch), chosen = looks[text], by_state[text]
        if behind and colour in (QUIET, QUIET_ON_DARK):
            continue
        spans = np.stack([one.starts[chosen], (one.ends - one.starts)[chosen]], axis=1) / scale
        thin = not behind and lasted[text] < THIN * float(one.ends[-1] - one.starts[0])
        axes.broken_barh(
            spans[spans[:, 1] > 0].tolist(), height, facecolor=colour, hatch=hatch or None,
            edgecolor=colour if thin else "#777777", linewidth=0.6 if thin else 0.0, antialiased=False, rasterized=many, **style,
        )  # fmt: skip


def _short(name: str, most: int = 34) -> str:
    return name if len(name) <= most else f"…{name[-most + 1 :]}"


# ---------------------------------------------------------------- discrete variables as what is drawn


def steps_height(meaning: Meaning) -> float:
    """Inches for a panel whose axis has only the states on it."""
    return 0.55 + 0.24 * max(2, min(12, len(meaning.values)))


def label_steps(axes: Axes, meaning: Meaning) -> None:
    """State names instead of numbers, with room above and below the outermost."""
    names = meaning.values
    every = max(1, -(-len(names) // 16))
    axes.set_yticks(range(0, len(names), every), names[::every])
    axes.set_ylim(-0.25, len(names) - 0.75)


def for_map(time: Array, values: Array) -> tuple[Array, Array]:
    """No more points in time than a picture can show, evenly spread: a map is a cell for each, and events make very many."""
    if len(time) <= MAP_COLUMNS or time[-1] <= time[0]:
        return time, values
    shown = np.linspace(time[0], time[-1], MAP_COLUMNS)
    return shown, values[np.searchsorted(time, shown, side="right") - 1]


def draw_state_map(axes: Axes, time: Array, values: Array, meaning: Meaning, colours: StateColours) -> None:
    """Elements upwards, time to the right, colours by state."""
    from matplotlib.colors import BoundaryNorm, ListedColormap
    from matplotlib.ticker import MaxNLocator

    count = len(meaning.values)
    time, values = for_map(time, values)
    fills = ListedColormap([colours(state)[0] for state in meaning.values])
    edges = np.concatenate([time[:1], 0.5 * (time[1:] + time[:-1]), time[-1:]])
    rows = np.arange(values.shape[1] + 1) - 0.5
    norm = BoundaryNorm(np.arange(count + 1) - 0.5, count)
    axes.pcolormesh(edges, rows, np.ma.masked_invalid(values.T), cmap=fills, norm=norm, rasterized=True)
    axes.grid(False)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))
