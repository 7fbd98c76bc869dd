"""Studies from a form: every combination of some values, or draws between bounds; rows come as they are computed."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import UsageError
from .protocol import Case, StudyRow

if TYPE_CHECKING:
    from .worker import Worker

MOST = 10_000
_TOGETHER = 8  # cases between two looks at what the user wants
REDUCTIONS = ("final", "max", "min", "mean")


def sweep(worker: Worker, order: Mapping[str, Any]) -> None:
    """Run the cases of an order, and tell each row."""
    import acausal as ac

    case = Case(**order["case"])
    inputs, rows = combinations(order["over"], int(order.get("draws") or 0))
    _, end = worker.span(case)
    outputs = {name: _output(name) for name in order["outputs"]}
    if not outputs:
        raise UsageError("Nothing is asked of the runs.", remedy="Choose at least one result.")
    units = [_unit(worker.model, name) for name in order["outputs"]]

    def tell(**what: Any) -> None:
        worker.pipe.write({"notice": "study", "run": order["run"], "total": len(rows), **what})

    tell(inputs=inputs, outputs=list(outputs), units=units, state="running")
    for first in range(0, len(rows), _TOGETHER):
        if order["run"] in worker.cancelled:
            tell(state="cancelled", message=f"Stopped after {first} of {len(rows)} cases.")
            return
        part = rows[first : first + _TOGETHER]
        changes = [{**case.set, **dict(zip(inputs, row, strict=True))} for row in part]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            done = ac.study(
                worker.model, changes, outputs, until=end, executor="threads", rtol=case.rtol, inputs=worker.inputs_of(case)
            )
        tell(rows=[asdict(r) for r in _rows(done, part, first)])
    tell(state="finished", message=f"{len(rows)} cases.")


def _rows(done: Any, part: Sequence[Sequence[float]], first: int) -> Iterator[StudyRow]:
    for k, (values, row) in enumerate(zip(part, done, strict=True)):
        found = [_number(v) if row.ok else None for v in row.values]
        yield StudyRow(first + k, list(values), found, "finished" if row.ok else row.outcome.lower(), row.message)


def _number(value: Any) -> float | None:
    number = float(value)
    return number if math.isfinite(number) else None


def combinations(over: Mapping[str, Any], draws: int) -> tuple[list[str], list[list[float]]]:
    """The rows of a study: a list of values for each path (all combinations), or `[low, high]` and a number of draws.

    >>> combinations({"a": [1.0, 2.0], "b": [5.0]}, 0)
    (['a', 'b'], [[1.0, 5.0], [2.0, 5.0]])
    """
    names = list(over)
    if not names:
        raise UsageError("Nothing varies in this study.", remedy="Choose at least one parameter and its values.")
    for name, values in over.items():
        if not isinstance(values, list) or not values or not all(isinstance(v, (int, float)) and math.isfinite(v) for v in values):
            raise UsageError(f"The values of `{name}` are not numbers: {values!r}.")
    count = draws or math.prod(len(v) for v in over.values())
    if count > MOST:
        raise UsageError(f"This study has {count} cases; the studio runs no more than {MOST}.", remedy="`ac.study` has no limit.")
    if draws:
        rng = np.random.default_rng(0)
        low, high = np.array([min(v) for v in over.values()]), np.array([max(v) for v in over.values()])
        return names, (low + (high - low) * rng.random((draws, len(names)))).tolist()
    axes = np.meshgrid(*[np.asarray(v, dtype=float) for v in over.values()], indexing="ij")
    return names, np.stack([a.ravel() for a in axes], axis=1).tolist()


def _output(text: str) -> Any:
    """`max(room.T)`, `room.T` (its final value)."""
    import acausal as ac

    reduction, found, rest = text.partition("(")
    if found and rest.endswith(")") and reduction in REDUCTIONS:
        name = rest[:-1]
        return name if reduction == "final" else getattr(ac, reduction)(name)
    return text


def _unit(model: Any, text: str) -> str:
    name = text.partition("(")[2].rstrip(")") if "(" in text else text
    located = model.system.plant.locate(name)
    found = located.kind.quantities.get(located.name)
    return "" if found is None else str(found.declaration.unit)
