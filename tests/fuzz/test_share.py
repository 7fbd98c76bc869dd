"""A bounded share of the random models, the same in every run."""

from __future__ import annotations

import pytest

from .verdict import GENERATORS, judge


@pytest.mark.parametrize("generator", GENERATORS)
@pytest.mark.parametrize("seed", range(1000, 1006))
def test_random_models(generator: str, seed: int) -> None:
    verdict = judge(generator, seed)
    assert verdict.good, f"{verdict.said}: {verdict.why}"
