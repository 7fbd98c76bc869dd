"""A small made-up result whose every value is known in closed form, and every kind of name once."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from acausal.errors import NameNotFound
from acausal.results import series
from acausal.results.series import Array
from acausal.results.viewable import Viewable


class FakeOutcome(enum.Enum):
    DONE = "The end of the interval was reached."
    STOPPED = "The run was cancelled. What was computed is kept."


class FakeResult(Viewable):
    """`wall.T` (5), `C[i].v` (3) and `grid.T` (2, 3) are columns; aliases with both signs, two parameters, two expressions."""

    def __init__(self, times: int = 40, until: float = 10.0) -> None:
        self.time: Array = np.linspace(0.0, until, times)
        self.title, self.outcome = "A wall in the wind", FakeOutcome.DONE
        self.statistics: dict[str, Any] = {"steps": np.int64(123), "seconds": {"integration": 0.25}}
        self.metadata: dict[str, str | float] = {"solver": "ida", "tolerance": 1e-6}
        t, scaled = self.time, self.time / until
        walls = [300.0 + 10.0 * (i + 1) * np.exp(-3.0 * scaled) for i in range(5)]
        volts = [np.sin(6.0 * scaled - i) for i in range(3)]
        grid = [280.0 + i + 10.0 * j + t for i in range(2) for j in range(3)]
        self.data: Array = np.column_stack([*walls, *volts, *grid, 0.1 + 0.05 * scaled])
        self._source: dict[str, tuple[str, int, int]] = {f"wall.T[{i}]": ("column", i, 1) for i in range(5)}
        self._source |= {f"C[{i}].v": ("column", 5 + i, 1) for i in range(3)}
        self._source |= {f"C[{i}].p.i": ("column", 5 + i, -1) for i in range(3)}
        self._source |= {f"grid.T[{i}, {j}]": ("column", 8 + 3 * i + j, 1) for i in range(2) for j in range(3)}
        self._source |= {
            "pump.m_flow": ("column", 14, 1),
            "pump.inlet.m_flow": ("column", 14, 1),
            "sink.m_flow": ("column", 14, -1),
        }
        self._source |= {"R.R": ("constant", 3, 1), "Größe.R": ("constant", 3, 1), "ambient.T": ("constant", 9, 1)}
        self._source |= {"heater.Q_flow": ("expression", -1, 1), "heater.level": ("expression", -1, 1)}

    def names(self, pattern: str = "*") -> list[str]:
        return [name for name in self._source if series.pattern_of(pattern).fullmatch(name)]

    def source(self, name: str) -> tuple[str, int, int]:
        if name not in self._source:
            raise NameNotFound(f"`{name}` does not exist.")
        return self._source[name]

    def values_of(self, name: str) -> Array:
        arrays = {"wall.T": (slice(0, 5), (5,)), "C.v": (slice(5, 8), (3,)), "grid.T": (slice(8, 14), (2, 3))}
        if name == "C[1:].v":
            return self["C.v"][:, 1:]
        if name in arrays:
            where, shape = arrays[name]
            return self.data[:, where].reshape(-1, *shape)
        kind, index, sign = self.source(name)
        if kind == "column":
            return sign * self.data[:, index]
        if kind == "constant":
            return np.full(len(self.time), {3: 47.0, 9: 293.15}[index])
        return 100.0 * self.data[:, 0] if name == "heater.Q_flow" else np.tanh(self.time)

    def unit(self, name: str) -> str:
        last = name.split("[")[0] if not name.startswith("C") else name
        ends = {"T": "K", "v": "V", "i": "A", "m_flow": "kg/s", "R": "ohm", "Q_flow": "W"}
        return ends.get(last.rsplit(".", 1)[-1], "")

    def description(self, name: str) -> str:
        return {"pump.m_flow": "mass flow into the pump", "heater.Q_flow": "heat flow, see [3]"}.get(name, "")


@pytest.fixture
def full_device(tmp_path: Path) -> Path:
    """A device on which every write fails, by way of a link, so that whoever deletes what could not be written deletes that."""
    if not Path("/dev/full").is_char_device():
        pytest.skip("there is no /dev/full")
    (tmp_path / "full").symlink_to("/dev/full")
    return tmp_path / "full"


@pytest.fixture
def result() -> FakeResult:
    return FakeResult()
