"""The studio's diagram and plots in a notebook: one cell carries everything that it shows, and asks nobody."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import UsageError
from ..program.catalogue import described
from . import describe
from .diagram import diagram
from .looking import columns, frames
from .opening import likely_plots
from .protocol import Case, Diagram, Model, Run

ESM = Path(__file__).parent / "static" / "notebook.js"
_LEVELS = 60  # insides of components that a cell carries
_FRAMES = 400  # times at which the diagram has values
_VALUES = 3000


def widget(result: Any, *names: str, height: int = 460) -> Any:
    """The plant with values and a time slider, and plots of some signals (of states, unless any are named): a cell of a notebook.

    names: what is drawn; a list is a panel of its own.
    height: of the cell, in pixels.

    It needs `pip install "acausal[notebook]"`, no network, and no kernel once it is there.
    """
    catalogue = described(result._system, result.title, result._stored.known)
    return _made(_still(catalogue, result, [[n] if isinstance(n, str) else list(n) for n in names]), result.title, height)


def model_diagram(model: Any, *, height: int = 460) -> Any:
    """The diagram of a model as a cell of a notebook: a double click on a part looks inside."""
    return _made(_still(model.catalogue(), None, []), model.title, height)


def _made(still: tuple[str, bytes], title: str, height: int) -> Any:
    try:
        anywidget, traitlets = (import_module(name) for name in ("anywidget", "traitlets"))
    except ModuleNotFoundError as error:
        remedy = 'pip install "acausal[notebook]"'
        raise UsageError(f"A widget needs `{error.name}`, which is not installed.", remedy=remedy) from error

    base: Any = anywidget.AnyWidget

    class Cell(base):  # type: ignore[misc]
        """What the notebook shows."""

        _esm = ESM
        head = traitlets.Unicode().tag(sync=True)
        numbers = traitlets.Bytes().tag(sync=True)
        title = traitlets.Unicode().tag(sync=True)
        height = traitlets.Int().tag(sync=True)

    head, numbers = still
    return Cell(head=head, numbers=numbers, title=f"acausal: {title}", height=int(height))


def _still(catalogue: dict[str, Any], result: Any, plots: list[list[str]]) -> tuple[str, bytes]:
    """What the page is told, as JSON, and its numbers one after the other."""
    parts = describe.parts_of(catalogue)
    plots = plots or likely_plots(parts)
    diagrams = {path: diagram(catalogue, path) for path in _levels(parts)}
    kind = catalogue["kinds"][catalogue["tree"]["kind"]]
    until = float(result.time[-1]) if result is not None and len(result.time) else 0.0
    page = Model(
        catalogue["title"], kind["documentation"], "", 1, catalogue["unknowns"], 0, until, parts, [], describe.units_of(parts),
        plots, 0.0, [], time=catalogue["independent"],
    )  # fmt: skip
    head: dict[str, Any] = {"model": asdict(page), "run": None, "columns": [], "frames": [], "plots": plots}
    head["diagrams"] = {path: asdict(found) for path, found in diagrams.items()}
    head["views"] = ["diagram"] if result is None else ["both", "diagram", "plots"] if diagrams[""].parts else ["plots"]
    blocks = {} if result is None else _numbers(head, result, plots, list(diagrams.values()))
    ends = np.cumsum([0, *(len(values) for values in blocks.values())]).tolist()
    head["blocks"] = {name: [a, b - a] for name, a, b in zip(blocks, ends[:-1], ends[1:], strict=True)}
    return json.dumps(head), b"".join(np.ascontiguousarray(v, dtype="<f8").tobytes() for v in blocks.values())


def _levels(parts: Sequence[Any]) -> Iterator[str]:
    yield from [part.path for part in parts if part.composite or not part.path][:_LEVELS]


def _numbers(head: dict[str, Any], result: Any, plots: list[list[str]], diagrams: list[Diagram]) -> dict[str, np.ndarray]:
    names = list(dict.fromkeys(name for panel in plots for name in panel))
    for name in names:
        result[name]  # an unknown one is told, with those that are near
    drawn = columns(result, names)
    shown = list(dict.fromkeys(value.path for found in diagrams for part in found.parts for value in part.shown))
    stated, times, table = frames(result, [n for n in shown if "*" not in n][:_VALUES], _FRAMES)
    reached = float(result.time_reached)
    run = Run("run", 1, Case("", until=str(reached)), "finished", time.time(), 1.0, reached, until=reached, points=len(result.time))
    head["run"], head["columns"], head["frames"] = asdict(run), [asdict(c) for c, _ in drawn], [asdict(c) for c in stated]
    found = {"time": np.asarray(result.time), "times": times}
    found |= {f"column {k}": values for k, (_, values) in enumerate(drawn)}
    return found | {f"frame {k}": row for k, row in enumerate(table)}
