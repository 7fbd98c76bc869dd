"""Values of one variable over time that know their name and unit: `result["room.T"].to("degC")`.

They are numpy arrays. What is computed from them is a plain array, since its unit may be another one; views, slices and copies are
still the variable.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np


@final
class Trajectory(np.ndarray[Any, np.dtype[np.float64]]):
    """An array with `name` and `unit`.

    T = result["room.T"]
    T.unit, T[-1], T.max()          # "K", and numpy's own
    T.to("degC")                    # the same in another unit
    """

    name: str
    unit: str

    @classmethod
    def of(cls, values: Any, name: str, unit: str) -> Trajectory:
        """Values as they are, not copied, with what they are called and measured in."""
        found = np.asarray(values, dtype=np.float64).view(cls)
        found.name, found.unit = name, unit
        return found

    def __array_finalize__(self, source: Any) -> None:
        self.name, self.unit = getattr(source, "name", ""), getattr(source, "unit", "")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        plain = [_plain(one) for one in inputs]
        if out := options.get("out"):
            options["out"] = tuple(_plain(one) for one in out)
        return getattr(ufunc, method)(*plain, **options)

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        return _plain(super().__array_function__(function, types, arguments, options))

    def __reduce__(self) -> Any:
        return Trajectory.of, (np.asarray(self), self.name, self.unit)

    def to(self, unit: str) -> Trajectory:
        """The same values in another unit, or why that cannot be."""
        from ..language.units import convert

        return Trajectory.of(convert(np.asarray(self), self.unit, unit), self.name, unit)


def _plain(value: Any) -> Any:
    return value.view(np.ndarray) if isinstance(value, Trajectory) else value
