"""The plants among the examples: what they find is what laws and conservation say."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


def example(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Examples write their pictures where they are started."""
    monkeypatch.chdir(tmp_path)


def test_hot_water_network_closes_its_loops_and_stands_still() -> None:
    module = example("hot_water_network")
    result = module.main()
    assert result.outcome
    flow, houses = np.asarray(result["flow.m_flow"]), np.asarray(result["house.valve.m_flow"])

    def at(hour: float) -> int:
        return int(np.searchsorted(result.time, hour * 3600.0))

    for hour in (0.95, 1.45):  # at rest what comes to a node leaves it; water becomes warmer in the nodes, by less than 1e-3
        k = at(hour)
        np.testing.assert_allclose(flow[k, :-1] - flow[k, 1:], houses[k], atol=2e-3)
    losses = np.asarray(result["flow.a.p"] - result["flow.b.p"])
    assert np.abs(losses.sum(axis=1)).max() < 1.0  # Pa, of some 30 kPa, round the ring
    assert flow[at(0.95), 2] > 0 > flow[at(1.45), 2]  # a section turns
    assert np.abs(houses[at(1.45), 2]) < 1e-3
    assert max(np.abs(flow[at(3.1)]).max(), np.abs(houses[at(3.1)]).max()) < 2e-3
    _compare_with_hardy_cross(module, result, at(0.95))


def _compare_with_hardy_cross(module: Any, result: Any, k: int) -> None:
    """The ring with the flows of the houses given: one correction of all sections makes the losses sum to zero."""
    from scipy.optimize import brentq

    from acausal.library.fluid import pressure_loss

    houses = np.asarray(result["house.valve.m_flow"])[k]
    water = module.ac.media.fluid("water").state(p=3e5, T=353.15)

    def section(first: float) -> np.ndarray:
        return first - np.concatenate([[0.0], np.cumsum(houses)])

    def sum_of_losses(first: float) -> float:
        terms = [pressure_loss(m, water.rho, water.viscosity, length, 0.05, 5e-5)
                 for m, length in zip(section(first), module.LENGTH, strict=True)]  # fmt: skip
        return float(np.sum([float(t) for t in terms]))

    exact = section(brentq(sum_of_losses, 0.0, houses.sum()))
    np.testing.assert_allclose(np.asarray(result["flow.m_flow"])[k], exact, atol=5e-3)
