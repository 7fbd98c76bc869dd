"""What a hybrid run is given from outside, and what it gives: numbers that change in the middle of it, and where it is."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...errors import Diagnostic
from ...records import dataclass
from ..inputs import Signal
from ..problem import Floats, Mask
from .chatter import Rhythm


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """Parameters and inputs that change in the middle of a run."""

    cells: np.ndarray  # known cells of parameters …
    values: Floats
    inputs: Mapping[int, Signal]  # … all inputs from now on …
    changed: np.ndarray  # … all cells that change, inputs' too …
    schedule: bool  # … and whether times of clocks and corners may change


@dataclass(frozen=True, slots=True, eq=False)
class Mark:
    """Where a run was: arrays and numbers only."""

    t: float
    y: Floats
    yp: Floats
    steps: tuple[float, float]  # the last one, and the pace of restarts
    w: Floats
    relations: tuple[np.ndarray, ...]
    timed: tuple[Floats, Floats]
    rhythm: Rhythm
    counts: dict[str, int]
    told: tuple[list[Diagnostic], set[int]]
    record: tuple[str, int, int]  # whose, rows, events
    tied: Mask | None  # unknowns that keep states tied (see `tying`), where some do
