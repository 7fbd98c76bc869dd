"""What a run keeps: what is asked for, what that needs, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from plants import Ladder

import acausal as ac
from acausal.errors import NameNotFound, UsageError
from acausal.runtime.storage import choose, needed_unknowns, output_times

MODEL = ac.compile(Ladder(8))


@pytest.mark.parametrize(
    "path, columns",
    [
        ("C[2].v", 1),
        ("C[-1].v", 1),
        ("C.v", 8),
        ("C[::2].v", 4),
        ("R[3].v", 2),
        ("ground.p.v", 0),
        ("R.R", 0),
        ("der(C[1].v)", 1),
        ("R[3].p.i", 1),
        ("R[3].n.i", 1),
    ],
)
def test_only_what_is_needed(path, columns):
    whole = MODEL.simulate(until=1.0, points=11, derivatives=True)
    result = MODEL.simulate(until=1.0, points=11, store=[path])
    assert result.data.shape == (11, columns)
    np.testing.assert_array_equal(result[path], whole[path])
    with pytest.raises(NameNotFound, match=r"`C\[5\]\.v` was not stored.*\n.*store") if path != "C.v" else _nothing():
        result["C[5].v"]


class _nothing:
    def __enter__(self):
        return self

    def __exit__(self, *rest):
        return False


def test_named_expressions_and_nested_ones():
    class Nested(ac.Component):
        x = ac.Variable(shape=3, start=[1.0, 2.0, 3.0], fixed=True)
        d = ac.Variable()

        def equations(self):
            yield ac.der(self.x) == -self.x
            yield self.d == self.x[0] - self.x[1]
            self.e = self.d * 2 + ac.der(self.x[2])

    model = ac.compile(Nested())
    result = model.simulate(until=1.0, points=5, store="e", rtol=1e-8)
    assert result.data.shape == (5, 3)  # x[0] and x[1] through d, and the slope of x[2]
    np.testing.assert_allclose(result["e"], -5 * np.exp(-result.time), atol=1e-4)
    with pytest.raises(NameNotFound):
        result["x[2]"]


def test_derivatives_are_stored_on_demand():
    few = MODEL.simulate(until=1.0, points=5, derivatives=True)
    assert few["der(C.v)"].shape == (5, 8)
    with pytest.raises(NameNotFound, match=r"der\(C\[0\]\.v\)"):
        MODEL.simulate(until=1.0, points=5, derivatives=False)["der(C.v)"]
    with pytest.raises(NameNotFound, match="not differentiated"):
        few["der(R[0].p.i)"]


def test_unknowns_of_a_quantity():
    assert len(needed_unknowns(MODEL.system, "R.v")) == 9
    assert len(needed_unknowns(MODEL.system, "ground.p.v")) == 0


def test_choice_of_everything():
    choice = choose(MODEL.system, None, False, 100)
    np.testing.assert_array_equal(choice.gather, np.arange(MODEL.system.size))
    assert (choice.slope_column == -1).all()


def test_output_times():
    np.testing.assert_array_equal(output_times(1.0, 3.0, 5, None, 10), [1.0, 1.5, 2.0, 2.5, 3.0])
    np.testing.assert_array_equal(output_times(0.0, 3.0, None, (0, 1, 1, 3), 10), [0.0, 1.0, 1.0, 3.0])
    assert len(output_times(0.0, 1.0, None, None, 10)) == 501
    assert len(output_times(0.0, 1.0, None, None, 10**7)) == 13
    with pytest.raises(UsageError):
        output_times(1.0, 1.0, None, None, 10)


def test_single_and_repeated_output_times_in_a_run():
    result = MODEL.simulate(until=2.0, at=[0.0, 1.0, 1.0, 2.0])
    assert len(result.time) == 4 and (result["C.v"][1] == result["C.v"][2]).all()
    late = MODEL.simulate(until=2.0, at=[1.5])
    np.testing.assert_allclose(late["C[0].v"], MODEL.simulate(until=2.0, at=[1.0, 1.5])["C[0].v"][1:])
