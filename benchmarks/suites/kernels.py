"""Kernels: whether their derivatives are right, what a class costs to translate, what a state costs in a step.

Each record has what was measured as `value`, what is asked for as `bar`, and `ok`; `ratio` is the one over the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks import translation


def run(sizes: list[int] | None = None) -> Iterator[dict[str, Any]]:
    """`sizes` is not looked at: each figure has the size that it is asked for."""
    yield from translation.records()
