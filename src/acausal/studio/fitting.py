"""A fit from a form: which file, which parameters, between which bounds; what was found, and measured against computed."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import UsageError
from .protocol import Case, FitCurve, FitRow

if TYPE_CHECKING:
    from .worker import Worker

_POINTS = 1500  # of a curve that is drawn


def fitted(worker: Worker, order: Mapping[str, Any]) -> None:
    """Do what an order says, and tell what came out."""
    import acausal as ac

    case, bounds = Case(**order["case"]), _bounds(order["free"])
    held = {name: value for name, value in case.set.items() if name not in bounds}
    given = {name: float(value) for name, value in case.set.items() if name in bounds and isinstance(value, (int, float))}
    begin = {name: given.get(name, _present(worker.model, name)) for name in bounds}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = ac.experiment(order["file"], inputs=worker.inputs_of(case), set=held)
        found = worker.model.fit(data, bounds, start=given, rtol=case.rtol)
        result = found.result()
    rows = [
        FitRow(name, begin[name], value, _finite(found.deviations[name]), *bounds[name]) for name, value in found.parameters.items()
    ]
    curves = list(_curves(found.experiments[0], result))
    worker.pipe.write(
        {
            "notice": "fit",
            "run": order["run"],
            "state": "finished" if found.converged else "failed",
            "message": f"{100 * found.explained:.2f} % of the variance is explained by the model."
            if math.isfinite(found.explained)
            else "The fit ended.",
            "told": list(found.diagnostics),
            "rows": [asdict(r) for r in rows],
            "curves": [asdict(c) for c in curves],
        }
    )


def _bounds(free: Mapping[str, Any]) -> dict[str, tuple[float | None, float | None]]:
    if not free:
        raise UsageError("No parameter is to be fitted.", remedy="Choose at least one.")
    return {name: (low, high) for name, (low, high) in free.items()}


def _present(model: Any, name: str) -> float | None:
    try:
        return _finite(float(model.get(name)))
    except (TypeError, ValueError, UsageError):
        return None


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _curves(measured: Any, result: Any) -> Any:
    rows = np.unique(np.linspace(0, len(measured.time) - 1, min(_POINTS, len(measured.time))).round().astype(int))
    for name, values in measured.values.items():
        computed = np.interp(measured.time[rows], result.time, np.asarray(result[name]))
        yield FitCurve(
            name,
            result.unit(name),
            measured.time[rows].tolist(),
            [_finite(v) for v in values[rows].tolist()],
            [_finite(v) for v in computed.tolist()],
        )
