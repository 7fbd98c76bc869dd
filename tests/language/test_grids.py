"""Tables in three to six arguments."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import acausal as ac

pytest.importorskip("acausal._core")
AXES = ([0.0, 1.0, 2.5, 3.0], [-1.0, 0.0, 2.0], [10.0, 20.0, 25.0, 40.0, 50.0])


def filled(f: Any, axes: Any = AXES, **options: Any) -> ac.TableND:
    return ac.TableND(axes, f(*np.meshgrid(*axes, indexing="ij")), **options)


@pytest.mark.parametrize("method", ["monotone", "linear"])
def test_points_and_planes_are_exact(method: str) -> None:
    table = filled(lambda x, y, z: 1.0 + 2 * x - 3 * y + 0.5 * z, method=method)
    assert table(0.3, 1.1, 33.0) == pytest.approx(1.0 + 0.6 - 3.3 + 16.5)
    rough = filled(lambda x, y, z: np.sin(7 * x * y + z), method=method)
    for index in np.ndindex(*rough.values.shape):
        assert rough(*(axis[k] for axis, k in zip(AXES, index, strict=True))) == pytest.approx(rough.values[index])


def test_along_an_axis_it_is_the_table_in_one_argument() -> None:
    values = [0.0, 1.0, 1.2, 5.0, 4.0]
    table = filled(lambda x, y, z: np.interp(z, AXES[2], values) + 0 * x)
    one = ac.Table(AXES[2], values)
    for z in np.linspace(10.0, 50.0, 41):
        assert table(1.7, 0.4, z) == pytest.approx(one(z), abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(-5, 5), min_size=60, max_size=60), st.tuples(st.floats(0, 3), st.floats(-1, 2), st.floats(10, 50)))
def test_nothing_overshoots_and_derivatives_agree(numbers: list[float], at: tuple[float, float, float]) -> None:
    table = ac.TableND(AXES, np.array(numbers).reshape(4, 3, 5))
    assert min(numbers) - 1e-9 <= table(*at) <= max(numbers) + 1e-9
    for k in range(3):
        if min(abs(at[k] - point) for point in AXES[k]) < 1e-3:
            continue
        step = 1e-6
        ahead, behind = (table(*(x + sign * step * (j == k) for j, x in enumerate(at))) for sign in (1, -1))
        slope = table._derivative(k)(*at)
        assert slope == pytest.approx((ahead - behind) / (2 * step), rel=1e-4, abs=1e-4)


def test_beyond_the_edge() -> None:
    def plane(x: Any, y: Any, z: Any) -> Any:
        return x + y + z

    assert filled(plane)(5.0, 0.0, 10.0) == pytest.approx(13.0)
    assert filled(plane, extrapolation="linear")(5.0, 0.0, 10.0) == pytest.approx(15.0)
    assert np.isnan(filled(plane, extrapolation="refuse")(5.0, 0.0, 10.0))


class Charging(ac.Component):
    """A state that goes to where a table of four arguments is zero."""

    x, y = ac.Variable(start=0.0, fixed=True), ac.Variable()

    def __init__(self) -> None:
        axis = np.linspace(0.0, 2.0, 5)
        self.law = filled(lambda a, b, c, d: (1.5 - a) * (1 + b) * (1 + c) + 0 * d, (axis, axis, axis, axis), name="law")

    def equations(self) -> Any:
        yield ac.der(self.x) == self.law(self.x, 0.5, 1.0, self.y)
        yield self.y == 0.5 * self.x


def test_in_a_model_and_in_files(tmp_path: Path) -> None:
    model = ac.compile(Charging())
    result = model.simulate(2.0, rtol=1e-8)
    np.testing.assert_allclose(result["x"], 1.5 * (1 - np.exp(-3.0 * result["time"])), atol=1e-6)
    model.save(tmp_path / "charging.acm")
    assert ac.load(tmp_path / "charging.acm").simulate(2.0)["x"][-1] == pytest.approx(result["x"][-1], rel=1e-5)
    table = Charging().law
    assert pickle.loads(pickle.dumps(table)) is table


def test_what_is_refused() -> None:
    with pytest.raises(ac.UsageError, match="three to six"):
        ac.TableND(([0.0, 1.0],), [1.0, 2.0])
    with pytest.raises(ac.UsageError, match="must have shape"):
        ac.TableND(AXES, np.zeros((4, 3, 4)))
    with pytest.raises(ac.UsageError, match=r"axes\[0\] must increase"):
        ac.TableND(([0.0, 0.0, 1.0], *AXES[1:]), np.zeros((3, 3, 5)))
    with pytest.raises(ac.UsageError, match="method must be one of"):
        filled(lambda x, y, z: x, method="cubic")
