"""The cycle of a run on its diagram over time: an animation."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments import checked, refuse_other_than
from ..container import whole_file
from ..errors import UsageError
from . import canvas
from .diagrams import SIZE, Chart, PressureEnthalpy, Route, TemperatureEntropy, instant, moment, of_run
from .style import COLOURS, STYLE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text

    from ..media.fluid import Fluid
    from .result import Result

CHARTS: dict[str, type[Chart]] = {"ph": PressureEnthalpy, "Ts": TemperatureEntropy}
WRITERS = {".gif": "pillow", ".mp4": "ffmpeg", ".html": "html"}
SIGNS = {
    "minus": "−", "fast-backward": "|◀◀", "step-backward": "|◀", "play fa-flip-horizontal": "◀", "pause": "❚❚", "play": "▶",
    "step-forward": "▶|", "fast-forward": "▶▶|", "plus": "+",
}  # fmt: skip
DPI = {"pillow": 90, "ffmpeg": 90, "html": 100}


@checked
def animate_cycle(
    medium: Fluid | str | Result,
    result: Any = None,
    cycle: Sequence[str] = (),
    file: str | os.PathLike[str] = "cycle.gif",
    *,
    chart: str = "ph",
    frames: int = 60,
    start: float | str | None = None,
    until: float | str | None = None,
) -> Path:
    """The cycle in its diagram over time, as `.gif`, `.html`, or `.mp4` where ffmpeg is installed.

    medium, result, cycle: as those of `ph_diagram`; `ac.animate_cycle(result, file="cycle.gif")` finds the fluid and its parts.
    chart: "ph" for pressure over enthalpy, "Ts" for temperature over entropy.
    frames: how many pictures, evenly over the times from `start` to `until`; the whole run unless given.

    >>> import acausal as ac
    >>> from acausal.library.refrigeration.cold_store import CYCLE, ColdStore
    >>> run = ac.compile(ColdStore()).simulate(until="10 min", points=61)
    >>> ac.animate_cycle("R134a", run, CYCLE, getfixture("tmp_path") / "cycle.gif", chart="Ts", frames=2).name
    'cycle.gif'
    """
    path, writer = _written(file)
    if chart not in CHARTS:
        raise UsageError(
            f"There is no chart {chart!r} of a cycle.", remedy='"ph" is pressure over enthalpy, "Ts" temperature over entropy.'
        )
    fluid, run = of_run(medium, result)
    refuse_other_than("a result", run)
    if frames < 1:
        raise UsageError(f"An animation has one picture or more, not {frames}.")
    begin, end = float(run.time[0]) if start is None else instant(run, start), instant(run, until)
    if begin > end:
        raise UsageError(f"An animation goes from a time to a later one, not from {begin:g} to {moment(run, end)}.")
    drawn, route = CHARTS[chart](fluid), Route(run, fluid.name, cycle)
    _draw(drawn, route, run, np.linspace(begin, end, frames), path, writer)
    return path


def _written(file: str | os.PathLike[str]) -> tuple[Path, str]:
    """Where an animation goes and who writes it."""
    from matplotlib.animation import writers

    path = Path(file)
    writer = WRITERS.get(path.suffix.lower())
    if writer is None:
        raise UsageError(f"`{path}` is no kind of animation that can be written.", remedy="Use .gif, .html or .mp4.")
    if writer == "ffmpeg" and not writers.is_available("ffmpeg"):
        raise UsageError(f"`{path}` needs the program ffmpeg, which is not installed.", remedy="Install it, or use .gif or .html.")
    return path, writer


def _draw(chart: Chart, route: Route, result: Any, times: np.ndarray, path: Path, writer: str) -> None:
    import matplotlib
    from matplotlib.animation import FuncAnimation

    states = [route.at(float(time)) for time in times]
    titles = [f"{result.title} at {moment(result, float(time), '.0f')}" for time in times]
    with matplotlib.rc_context({**STYLE, "savefig.dpi": "figure"}):
        figure = canvas.new_figure(SIZE, False)
        figure.set_dpi(DPI[writer])
        axes = figure.subplots()
        chart.draw(axes, *(np.concatenate(values) for values in zip(*states, strict=True)))
        heading = axes.set_title(titles[0])
        _as_picture(figure, axes, heading)
        (line,) = axes.plot([], [], color=COLOURS[1], linewidth=2.0)
        (points,) = axes.plot([], [], "o", color=COLOURS[1], markersize=5)

        def frame(number: int) -> tuple[Any, ...]:
            line.set_data(*route.line(chart, states[number]))
            points.set_data(*chart.place(*states[number]))
            heading.set_text(titles[number])
            return line, points

        moving = FuncAnimation(figure, frame, frames=len(times), blit=False)
        with whole_file(path) as place, TemporaryDirectory() as folder:
            drawn = Path(folder) / path.name  # writers go by the ending
            if writer == "html":
                drawn.write_text(_without_links(moving.to_jshtml(fps=12)), encoding="utf-8")
            else:
                moving.save(str(drawn), writer=writer, fps=12)
            copyfile(drawn, place)


def _without_links(page: str) -> str:
    """A page that needs nothing else: its buttons had their signs from a server far away, and none without it."""
    page = re.sub(r"<link[^>]*>", "", page)
    return re.sub(r'<i class="fa fa-([a-z -]+)"></i>', lambda found: SIGNS.get(found[1], found[1]), page)


def _as_picture(figure: Figure, axes: Axes, heading: Text) -> None:
    """Put a picture of what was drawn, without its heading, in its place: the isolines are the same in every frame, and dear."""
    figure.draw_without_rendering()  # with the heading: there is room for it
    figure.set_layout_engine("none")
    heading.set_visible(False)
    figure.canvas.draw()
    heading.set_visible(True)
    picture = np.array(figure.canvas.buffer_rgba())  # type: ignore[attr-defined]
    axes.set_autoscale_on(False)
    for artist in (*axes.collections, *axes.lines, *axes.artists):  # isolines take their labels with them
        artist.remove()
    axes.set_axis_off()
    figure.figimage(picture, zorder=-1)
