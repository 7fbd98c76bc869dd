"""Components in lists are written as columns, and are what they were when they are read."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.program import columns
from acausal.program.codec import Encoded, decode
from acausal.program.encoder import encode


class Decay(ac.Component):
    x = ac.Variable(start=1.0, fixed=True)
    rate, other = ac.Parameter(1.0), ac.Parameter(2.0)

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.x) == -self.rate * self.x + 0.0 * self.other


class Growth(Decay):
    def equations(self) -> Iterator[Any]:
        yield ac.der(self.x) == self.rate + self.other


class Mixed(ac.Component):
    """Two classes in turn, some changed in one way and some in another, one of them by a text, one by an expression."""

    scale = ac.Parameter(3.0)

    def __init__(self, n: int) -> None:
        self.parts = [self.part(k) for k in range(n)]

    def part(self, k: int) -> ac.Component:
        cls = Growth if k % 3 == 1 else Decay
        if k == 5:
            return cls(rate=self.scale)
        if k == 7:
            return cls(x=ac.start("2", fixed=True))
        return cls(rate=0.1 * k, x=ac.start(1.0 + k, fixed=True)) if k % 2 else cls(other=float(k))


def test_a_mixed_list_comes_back_as_it_was() -> None:
    model = ac.compile(Mixed(60))
    again = pickle.loads(pickle.dumps(model))
    assert again.catalogue() == model.catalogue()
    assert again.parameters() == model.parameters()
    first, second = (m.simulate(until=0.5, points=3) for m in (model, again))
    assert first.names() == second.names()
    for name in first.names():
        np.testing.assert_array_equal(first[name], second[name])
    nodes = [m.system.plant.root.children["parts"] for m in (model, again)]
    for one, other in zip(*nodes, strict=True):
        assert (one.position, one.first, one.count, one.class_name) == (other.position, other.first, other.count, other.class_name)
        assert other.parent is again.system.plant.root and other in other.kind.members


def test_records_do_not_grow_with_the_list() -> None:
    counts = []
    for n in (100, 400):
        model = ac.compile(Mixed(n))
        counts.append(len(encode(model.program).records))
    assert counts[1] - counts[0] < 10


@pytest.mark.parametrize("broken", ["short", "matrix", "far", "not a column", "run"])
def test_columns_that_do_not_fit_are_refused(broken: str) -> None:
    encoded = encode(ac.compile(Mixed(60)).program)
    records, arrays = [list(r) for r in encoded.records], list(encoded.arrays)
    number = next(k for k, r in enumerate(records) if r[0] == columns.TAG)
    last = records[records[number][-1][0]]
    if broken == "short":
        arrays[records[records[number][-2][0]][1]] = arrays[last[1]][:-1]
    elif broken == "matrix":
        arrays[last[1]] = arrays[last[1]][None, :]
    elif broken == "far":
        records[number][-1] = [10**6]
    elif broken == "not a column":
        records[number][-1] = [0]
    else:
        records.append(["list", [number, 0, 10**6]])
    with pytest.raises(ValueError, match="do not fit together"):
        decode(Encoded(records, arrays, encoded.root, encoded.outside))
