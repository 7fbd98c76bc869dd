"""The Jacobian through computed cells: against dense matrices, natively and with numpy alike."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import acausal.structure.native as native
from acausal.families.chain import Chain

Entry = tuple[int, int]  # target, workspace index


def family(entries: list[Entry], offset: int) -> Any:
    """One row for each entry: what `Chain` asks of a family."""
    rows = np.array([[t - offset for t, _ in entries]], dtype=np.int32)
    slots = np.array([[s for _, s in entries]], dtype=np.int32)
    places = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    return SimpleNamespace(template=SimpleNamespace(entry_places=places), rows=rows, slots=slots, signs=(1,), count=len(entries))


def drawn(rng: np.random.Generator, m: int, z: int, known: int) -> tuple[list[Entry], list[Entry]]:
    """Entries of residuals and of cells, some of them more than once; a cell reads cells of lower numbers in a random order."""
    first, order = 2 * m + known, rng.permutation(z)
    residuals = [(int(rng.integers(m)), int(rng.integers(first + z))) for _ in range(4 * m)]
    cells = [(m + int(rng.integers(z)), int(rng.integers(first))) for _ in range(2 * z)]
    for _ in range(2 * z):
        a, b = sorted(rng.integers(z, size=2))
        if a < b:
            cells.append((m + int(order[b]), first + int(order[a])))
    return residuals, cells


def drawn_in_rows(rng: np.random.Generator, m: int, z: int, known: int) -> tuple[list[Entry], list[Entry]]:
    """Entries of arrays: from one target to the next each moves on by a cell, across all borders of the workspace, but for some."""
    first = 2 * m + known
    starts = rng.integers(-m - z, first + z, size=int(rng.integers(1, 8))).tolist()
    every = [(t, s + t) for t in range(m + z) for s in starts if 0 <= s + t < first + z and rng.random() > 0.02]
    cells = [(t, s) for t, s in every if t >= m and s - first < t - m]  # each reads cells before it
    return [e for e in every if e[0] < m] or [(0, 0)], cells or [(m, 0)]


def tables(m: int, z: int, known: int, residuals: list[Entry], cells: list[Entry]) -> Any:
    return Chain(m, z, known, [family(residuals, 0)], [family(cells, m)]).tables()


def dense(m: int, z: int, known: int, entries: list[Entry], numbers: np.ndarray, c: float) -> np.ndarray:
    """dF/dy + c dF/dy' by the chain rule: own derivatives, and through the cells, (1 - P)^-1 of theirs."""
    own, through = np.zeros((m + z, m)), np.zeros((m + z, z))
    for (t, s), number in zip(entries, numbers, strict=True):
        if s < 2 * m:
            own[t, s % m] += number * (c if s >= m else 1.0)
        elif s >= 2 * m + known:
            through[t, s - 2 * m - known] += number
    whole = np.linalg.solve(np.eye(z) - through[m:], own[m:]) if z else np.zeros((0, m))
    return own[:m] + through[:m] @ whole


def through_tables(found: Any, m: int, entries: list[Entry], numbers: np.ndarray, c: float) -> np.ndarray:
    pattern, products, cells = found
    values = np.zeros(pattern.size + cells + 1)
    places = np.concatenate([p.ravel() for p in pattern.positions])
    for place, (_, s), number in zip(places, entries, numbers, strict=True):
        values[place] += number * (c if m <= s < 2 * m else 1.0)
    for into, link, origin in products.T:
        values[into] += values[link] * values[origin]
    result = np.zeros((m, m))
    columns = np.repeat(np.arange(m), np.diff(pattern.indptr))
    result[pattern.indices, columns] = values[: pattern.size]
    return result


@pytest.mark.parametrize("seed", range(20))
def test_products_are_the_chain_rule(seed: int) -> None:
    rng = np.random.default_rng(seed)
    m, z, known = int(rng.integers(1, 12)), int(rng.integers(1, 15)), int(rng.integers(0, 4))
    residuals, cells = drawn(rng, m, z, known)
    entries, c = residuals + cells, 3.7
    numbers = rng.normal(size=len(entries))
    exact = dense(m, z, known, entries, numbers, c)
    found = tables(m, z, known, residuals, cells)
    assert through_tables(found, m, entries, numbers, c) == pytest.approx(
        exact, rel=1e-12, abs=1e-12 * np.abs(exact).max(initial=1.0)
    )


@pytest.mark.parametrize("draw", [drawn, drawn_in_rows])
@pytest.mark.parametrize("seed", range(40))
def test_both_halves_say_the_same(seed: int, draw: Any) -> None:
    if native.find("graph_chain") is None:
        pytest.skip("the native core is not built")
    rng = np.random.default_rng(100 + seed)
    m, z, known = int(rng.integers(1, 40)), int(rng.integers(1, 50)), int(rng.integers(0, 5))
    given = m, z, known, *draw(rng, m, z, known)
    pattern, products, cells = tables(*given)
    with native.portable():
        other, other_products, other_cells = tables(*given)
    assert cells == other_cells and np.array_equal(products, other_products)
    for name in ("indptr", "indices", "by_value", "by_slope"):
        mine, theirs = getattr(pattern, name), getattr(other, name)
        assert mine.dtype == theirs.dtype and np.array_equal(mine, theirs), name
    for mine, theirs in zip(pattern.positions, other.positions, strict=True):
        assert mine.dtype == theirs.dtype and np.array_equal(mine, theirs)


@pytest.mark.parametrize("portable", [False, True])
def test_cells_in_a_ring_are_refused(portable: bool) -> None:
    cells = [(2, 4 + 1), (3, 4 + 0), (2, 0)]
    with pytest.raises(RuntimeError, match="in a ring"):
        if portable:
            with native.portable():
                tables(2, 2, 0, [(0, 0), (1, 1)], cells)
        else:
            tables(2, 2, 0, [(0, 0), (1, 1)], cells)
