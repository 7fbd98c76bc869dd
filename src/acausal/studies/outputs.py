"""Outputs of a study: what becomes a column of its table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import UsageError
from ..language.reductions import Reduction, final

Output = str | Reduction | Callable[[Any], float]
Outputs = Output | Iterable[Output] | Mapping[str, Output]


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its heading, and a reduction or a function of a result."""

    label: str
    what: Reduction | Callable[[Any], float]

    def of(self, result: Any) -> float:
        return self.what.of(result) if isinstance(self.what, Reduction) else self._called(result)

    def _called(self, result: Any) -> float:
        assert not isinstance(self.what, Reduction)
        try:
            return float(self.what(result))
        except Exception as error:
            raise UsageError(f"The output `{self.label}` failed with {type(error).__name__}: {error}") from error

    def unit(self, result: Any) -> str:
        return self.what.unit(result) if isinstance(self.what, Reduction) else ""

    @property
    def paths(self) -> list[str] | None:
        """What must be stored for it; None if nobody can know."""
        return [self.what.path] if isinstance(self.what, Reduction) else None


def columns_of(outputs: Outputs) -> list[Column]:
    """Columns from whatever a user gives: a path (its final value), a reduction, a function of a result; several; by name.

    >>> [c.label for c in columns_of(["room.T", Reduction("max", "room.T")])]
    ['room.T', 'max room.T']
    """
    if isinstance(outputs, Mapping):
        found = [Column(str(label), _what(given, str(label))) for label, given in outputs.items()]
    else:
        if not isinstance(outputs, str | Reduction | Iterable) and not callable(outputs):
            raise UsageError(
                f"`outputs` are paths, reductions or functions of a result, got {outputs!r} ({type(outputs).__name__}).",
                remedy='outputs=["room.T", ac.max("pump.P")]',
            )
        several = [outputs] if isinstance(outputs, str | Reduction) or callable(outputs) else list(outputs)
        found = [_column(given) for given in several]
    labels = [column.label for column in found]
    doubled = next((label for label in labels if labels.count(label) > 1), None)
    if doubled is not None:
        raise UsageError(f"Two outputs are called `{doubled}`.", remedy='Name them: outputs={"a": …, "b": …}.')
    return found


def _column(given: Output) -> Column:
    what = _what(given, "")
    label = what.label if isinstance(what, Reduction) else getattr(what, "__name__", "output")
    return Column(label, what)


def _what(given: Any, label: str) -> Reduction | Callable[[Any], float]:
    if isinstance(given, str):
        return final(given)
    if isinstance(given, Reduction) or callable(given):
        return given
    named = f" `{label}`" if label else ""
    raise UsageError(f"An output{named} is a path, a reduction such as ac.max(…), or a function of a result; got {given!r}.")
