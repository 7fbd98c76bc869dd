"""Sobol indices: which part of an output's variance comes from which uncertain parameter.

f(A), f(B) at two independent sets of points, f(AB_i) at A with parameter i taken from B. Then S_i = E[f(B) (f(AB_i) - f(A))] / V is
the part that i brings about alone, and T_i = E[(f(A) - f(AB_i))²] / 2V the part in which it is involved (Saltelli et al. 2010).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arguments import checked, refuse_other_than
from ..errors import ModelError, UsageError
from ..language.distributions import Distribution
from . import facts
from .cases import Cases
from .outputs import Outputs
from .sampling import shares
from .study import study
from .table import Study


@dataclass(frozen=True, eq=False)
class Indices:
    """`first[output][parameter]` and `total[output][parameter]`; `study` has the cases that they come from."""

    first: dict[str, dict[str, float]]
    total: dict[str, dict[str, float]]
    study: Study

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        lines = []
        for output, parts in self.total.items():
            lines.append(f"{output}: {'alone':>20} {'with others':>12}")
            ranked = sorted(parts, key=lambda p: -parts[p])
            lines += [f"  {p:<24} {self.first[output][p]:>8.3f} {parts[p]:>12.3f}" for p in ranked]
        return "\n".join(lines)


@checked
def sobol_indices(
    model: Any,
    distributions: Mapping[str, Distribution] | None,
    outputs: Outputs,
    *,
    count: int = 256,
    seed: int = 0,
    **options: Any,
) -> Indices:
    """Sobol indices of outputs over `count` · (parameters + 2) cases; without distributions those that parameters declare.

    indices = ac.sobol_indices(model, {"G": ac.uniform(40, 60), "P": ac.normal(1000, 50)}, "T", until="2 h")
    print(indices)
    """
    refuse_other_than("a compiled model", model)
    given = dict(distributions or facts.distributions(model))
    wrong = next((name for name, one in given.items() if not isinstance(one, Distribution)), None)
    if wrong is not None:
        raise UsageError(f"`{wrong}` has no distribution, but {given[wrong]!r}.", remedy=f'{{"{wrong}": ac.uniform(1.0, 2.0)}}')
    if not given:
        raise UsageError("No parameter has a distribution.", remedy='{"wall.G": ac.uniform(1.0, 2.0)}')
    if count < 2:
        raise UsageError(f"`count` is at least 2, got {count!r}.")
    names = list(given)
    both = shares(count, 2 * len(names), "sobol", seed)
    one, other = both[:, : len(names)], both[:, len(names) :]
    blocks = [one, other, *(np.where(np.arange(len(names)) == k, other, one) for k in range(len(names)))]
    points = np.concatenate(blocks)
    columns = {n: d.in_unit(facts.unit(model, n)).at(points[:, k]).tolist() for k, (n, d) in enumerate(given.items())}
    cases = Cases(columns, tuple(str(k + 1) for k in range(len(points))))
    found = study(model, cases, outputs, **options)
    first, total = dict[str, dict[str, float]](), dict[str, dict[str, float]]()
    for label in found.outputs:
        values = np.asarray(found[label], dtype=float).reshape(len(names) + 2, count)
        good = np.isfinite(values).all(axis=0) & np.all(found.ok.reshape(values.shape), axis=0)
        if good.sum() < 2:
            raise ModelError(f"Too many cases failed: there are no indices of `{label}`.", remedy="`study.failed` says why.")
        a, b, mixed = values[0, good], values[1, good], values[2:, good]
        mean = np.concatenate([a, b]).mean()
        variance = float(np.concatenate([a, b]).var()) or 1.0
        first[label] = {n: float(((b - mean) * (m - a)).mean() / variance) for n, m in zip(names, mixed, strict=True)}
        total[label] = {n: float(((a - m) ** 2).mean() / (2 * variance)) for n, m in zip(names, mixed, strict=True)}
    return Indices(first, total, found)
