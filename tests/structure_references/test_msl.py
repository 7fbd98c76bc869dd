"""Examples of the Modelica Standard Library 4.1.0 against the trajectories published with it (Dymola), and its number of states.

The few values written down here are from the same files; the whole files are compared where they lie beside the project.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import acausal as ac
from benchmarks.structure.msl import FOLDER, CauerLowPass, First, trajectories, worst_deviation

from .conftest import state_count

AGREEMENT = 2e-3  # of each signal's range
published_files = pytest.mark.skipif(not FOLDER.is_dir(), reason="the published trajectories are not beside the project")

FIRST = {  # damper.phi_rel, damper.w_rel, inertia3.phi, inertia3.w
    0.1: (-0.02214329076606023, -0.429617944464804, 0.022898836383418168, 0.4946728989995863),
    0.3: (-0.0617558048542262, -0.4074260779849516, 0.061263784967403645, 0.4297615330387183),
    0.5: (-0.09581282303087237, -0.37201687172752795, 0.0962001193484458, 0.47193077324544286),
    0.9: (-0.15121620816551073, -0.3322036793481704, 0.1510312182159429, 0.43379300572395285),
    1.0: (-0.1623281810820793, 0.11221860229049774, 0.16286001199358532, -0.1383323790831503),
}
CAUER = {  # C1.v, C3.v, C5.v, L1.i, L2.i
    3.0: (0.5814164574576405, 0.21558778101713716, 0.1054883277153516, 0.5154755472799436, 0.11154725778762048),
    6.0: (0.40996272672193995, 0.5893677523191408, 0.49062723621339205, 0.54127847873722, 0.6693066947810841),
    10.008: (0.4964782337522439, 0.44735851596987786, 0.4847000090829784, 0.556060432111307, 0.36042882747595817),
    20.004: (0.5014496019588021, 0.5242850293857179, 0.5004163320153573, 0.4684757962487795, 0.5469344928541143),
    40.008: (0.49931311883930124, 0.5053616944459625, 0.49931253589761976, 0.4952205253299415, 0.5072615657662763),
}


def sampled(result: Any, names: tuple[str, ...], expected: dict[float, tuple[float, ...]]) -> None:
    for k, values in enumerate(zip(*expected.values(), strict=True)):
        actual = np.asarray(result[names[k]])[1:]
        np.testing.assert_allclose(actual, values, rtol=0, atol=AGREEMENT * max(np.ptp(values), 0.1))


def test_first_has_four_states_and_its_sampled_values() -> None:
    model = ac.compile(First())
    assert state_count(model) == 4
    result = model.simulate(until=1.0, at=[0.0, *FIRST])
    sampled(result, ("damper.phi_rel", "damper.w_rel", "inertia3.phi", "inertia3.w"), FIRST)


def test_the_gear_binds_angles_and_speeds() -> None:
    result = ac.compile(First()).simulate(until=1.0, rtol=1e-8)
    np.testing.assert_allclose(result["inertia1.phi"], 10 * result["inertia2.phi"], rtol=0, atol=1e-7)
    np.testing.assert_allclose(result["inertia1.w"], 10 * result["inertia2.w"], rtol=0, atol=1e-6)


@published_files
def test_first_over_the_whole_file() -> None:
    published = trajectories("First")
    times, picked = np.unique(published["time"], return_index=True)
    result = ac.compile(First()).simulate(until=1.0, at=times)
    assert worst_deviation(result, picked, published) < AGREEMENT


def test_cauer_filter_has_five_states_and_its_sampled_values() -> None:
    """Begun at the step: the circuit is at rest before, and the jump of the source is no derivative that anything needs."""
    model = ac.compile(CauerLowPass())
    assert state_count(model) == 5
    result = model.simulate(start=1.0, until=60.0, at=[1.0, *CAUER])
    sampled(result, ("C1.v", "C3.v", "C5.v", "L1.i", "L2.i"), CAUER)


@published_files
def test_cauer_filter_over_the_whole_file() -> None:
    published = trajectories("CauerLowPassAnalog")
    before = published["time"] < 1.0
    assert all(np.abs(values[before]).max() == 0.0 for name, values in published.items() if name != "time")
    times = published["time"]
    after = np.flatnonzero((times >= 1.0) & np.append(np.diff(times) > 0, True))
    result = ac.compile(CauerLowPass()).simulate(start=1.0, until=60.0, at=times[after])
    assert worst_deviation(result, after, published) < AGREEMENT
