"""Figures, windows and files of pictures. matplotlib is imported when the first picture is drawn."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from ..container import whole_file
from ..errors import UsageError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Annotation
    from matplotlib.transforms import Bbox

ENDINGS = (".png", ".svg", ".pdf", ".jpg", ".jpeg", ".eps", ".webp")


def checked_path(file: str | os.PathLike[str] | None) -> Path | None:
    if file is None:
        return None
    path = Path(file)
    if not path.suffix:
        path = path.with_name(f"{path.name}.png")
    if path.suffix.lower() not in ENDINGS:
        raise UsageError(f"`{path}` cannot be drawn: `{path.suffix}` is no kind of picture.", remedy=f"use {', '.join(ENDINGS)}.")
    return path


def has_window(matplotlib: Any) -> bool:
    """Whether somebody sits before a screen; a notebook shows the figure by itself."""
    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return False
    backend = str(matplotlib.get_backend()).lower()
    return backend not in ("agg", "svg", "pdf", "ps", "cairo", "template") and "inline" not in backend


def new_figure(size: tuple[float, float], window: bool) -> Figure:
    """Outside pyplot unless a window is wanted, so that figures are freed and may be made in any thread."""
    if window:
        import matplotlib.pyplot

        return matplotlib.pyplot.figure(figsize=size, layout="constrained")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    class Picture(Figure):
        """A figure that a notebook shows as what it is, with or without `%matplotlib inline`."""

        def _repr_png_(self) -> bytes:
            stream = io.BytesIO()
            self.savefig(stream, format="png", dpi=110)
            return stream.getvalue()

    figure = Picture(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def saved(figure: Figure, path: Path | None) -> None:
    """Write the picture, completely or not at all."""
    if path is not None:
        with whole_file(path) as place, open(place, "wb") as stream:
            figure.savefig(stream, format=path.suffix[1:].lower(), dpi=160)


Draws = TypeVar("Draws", bound=Callable[..., Any])


def in_style(draw: Draws) -> Draws:
    """What a function draws looks like all other pictures."""

    @wraps(draw)
    def drawn(*args: Any, **kwargs: Any) -> Any:
        import matplotlib

        from .style import settings

        with matplotlib.rc_context(settings("light", None)):
            return draw(*args, **kwargs)

    return cast(Draws, drawn)


def begun(size: tuple[float, float], file: str | os.PathLike[str] | None) -> Figure:
    """An empty figure: in a window, if somebody sits before a screen and wants no file."""
    import matplotlib

    return new_figure(size, file is None and has_window(matplotlib))


def finished(figure: Figure, file: str | os.PathLike[str] | None) -> Figure:
    """The figure, written where it is wanted or shown where there is a window."""
    import matplotlib

    saved(figure, checked_path(file))
    if file is None and has_window(matplotlib):
        show()
    return figure


def show() -> None:
    import matplotlib.pyplot

    matplotlib.pyplot.show()


def labels(axes: Axes, places: Iterable[tuple[str, float, float]]) -> None:
    """The names of points, each where no other one stands, with a margin in which lines that pass behind it end."""
    from matplotlib.patheffects import withStroke

    margin = [withStroke(linewidth=2.5, foreground="white")]
    taken: list[Bbox] = []
    for name, x, y in places:
        note = axes.annotate(
            name, (x, y), xytext=(0, 0), textcoords="offset points", fontsize=8, color="#222222", path_effects=margin
        )
        boxes = [_put(note, *where) for where in _AROUND]
        free = [k for k, box in enumerate(boxes) if not any(box.overlaps(other) for other in taken)]
        taken.append(_put(note, *_AROUND[free[0] if free else 0]))


Alignment = Literal["left", "right"]
_AROUND: tuple[tuple[float, float, Alignment], ...] = ((5, 5, "left"), (5, -11, "left"), (-5, 5, "right"), (-5, -11, "right"))


def _put(note: Annotation, x: float, y: float, alignment: Alignment) -> Bbox:
    """Beside its point, so many points (of a type) to the right and upwards; where it is then."""
    note.set_position((x, y))
    note.set_horizontalalignment(alignment)
    return note.get_window_extent()
