"""The pattern of a Jacobian through computed cells, where every entry of it goes, and the products of the chain rule.

Residual rows and computed cells are targets, 0 … m-1 and m … m+z-1. A target has entries by unknowns, by their slopes and by
computed cells (and by what is known: these go to the dump). The columns C(t) of a target are the smallest sets with C(t) ⊇ own
columns of t and C(t) ⊇ C(m + c) for each cell c that t reads; no cells read one another in a ring. The value array is
`[ residuals, in compressed columns | C of each cell | links (t, c) | dump ]`, and for each link and each column of its cell there
is a product, `value[into] += value[link] · value[from]`; those into cells that others read come first.

Done natively (`native/chain.cpp`) and, where that is not built, with numpy; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..structure import native
from .explicit import ranges, unsigned
from .pattern import Pattern, by_family, distinct, sorted_unique, tables_of
from .template import Family

Found = tuple[
    np.ndarray, Pattern, np.ndarray, int
]  # the place of each entry, the pattern, products, how many values behind the pattern
_RING = "computed variables that depend on each other in a ring"


class Chain:
    """Pattern and products of families (residuals) and assignments (computed cells, in the order of their numbers)."""

    def __init__(self, m: int, z: int, known: int, families: list[Family], assignments: list[Family]) -> None:
        self.m, self.z = m, z
        self.first_computed = 2 * m + known
        self.families, self.assignments = families, assignments

    def tables(self) -> tuple[Pattern, np.ndarray, int]:
        chain = native.find("graph_chain")
        position, pattern, products, cells = self._found(*self._entries()) if chain is None else self._native(chain)
        every = [*self.families, *self.assignments]
        pattern.positions = by_family(position, [(len(f.template.entry_places[0]), f.count) for f in every])
        return pattern, products, cells

    def _entries(self) -> tuple[np.ndarray, np.ndarray]:
        """(target, workspace index) of every Jacobian entry of every row of every family."""
        targets, sources = [np.zeros(0, dtype=np.int32)], [np.zeros(0, dtype=np.int32)]
        for offset, families in ((0, self.families), (self.m, self.assignments)):
            for family in families:
                outputs, slots = family.template.entry_places
                targets.append((family.rows[outputs] + np.int32(offset)).ravel())
                sources.append(unsigned(family, slots).ravel())
        return np.concatenate(targets), np.concatenate(sources)

    def _native(self, chain: Callable[..., Any]) -> Found:
        known = self.first_computed - 2 * self.m
        found = chain(tables_of(self.families), tables_of(self.assignments), self.m, self.z, known)
        if found is None:
            raise RuntimeError(_RING)
        indptr, indices, position, by_value, by_slope, products, cells = found
        pattern = Pattern(indptr, indices, [], by_value.view(bool), by_slope.view(bool))
        return position, pattern, products.reshape(3, -1), cells

    def _found(self, target: np.ndarray, source: np.ndarray) -> Found:
        target, source = target.astype(np.int64), source.astype(np.int64)
        slope = (source >= self.m) & (source < 2 * self.m)
        by_y = source < 2 * self.m
        column = np.where(source >= self.m, source - self.m, source)
        direct = target[by_y] * self.m + column[by_y]
        through = source >= self.first_computed
        link_target, link_source = target[through], source[through] - self.first_computed
        whole, part = self._closed(
            distinct(direct), distinct(link_target * self.z + link_source), direct[slope[by_y]], direct[~slope[by_y]]
        )
        links = distinct(link_target * self.z + link_source)
        return self._positions(whole, part, links, target, column, by_y, link_target, link_source, through)

    def _closed(
        self, direct: np.ndarray, links: np.ndarray, slopes: np.ndarray, values: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """All (target, column) keys, through links as well, and for each whether it is by y (1), by y' (2) or both (3)."""
        keys = direct
        part = np.zeros(len(keys), dtype=np.int64)  # every value and slope is among the keys, which are sorted
        part[np.searchsorted(keys, values)] |= 1
        part[np.searchsorted(keys, slopes)] |= 2
        link_target, link_source = np.divmod(links, self.z)
        for chosen in self._rounds(link_target, link_source):
            starts = np.searchsorted(keys, (self.m + link_source[chosen]) * self.m)
            counts = np.searchsorted(keys, (self.m + link_source[chosen] + 1) * self.m) - starts
            picked = ranges(starts, counts)
            new = np.repeat(link_target[chosen], counts) * self.m + keys[picked] % self.m
            keys, part = _merged_parts(np.concatenate([keys, new]), np.concatenate([part, part[picked]]))
        return keys, part

    def _rounds(self, target: np.ndarray, source: np.ndarray) -> list[np.ndarray]:
        """Links grouped such that those into a computed cell come before those out of it (cells are numbered by level)."""
        level = np.zeros(self.z, dtype=np.int64)
        inner = target >= self.m
        for _ in range(self.z + 1):  # as many rounds as there are levels
            higher = level.copy()
            np.maximum.at(higher, target[inner] - self.m, level[source[inner]] + 1)
            if (higher == level).all():
                break
            level = higher
        else:
            raise RuntimeError(_RING)
        order = np.where(inner, level[np.maximum(target - self.m, 0)], level.max(initial=0) + 1)
        self.link_order = order
        return [np.flatnonzero(order == k) for k in distinct(order)]

    def _positions(
        self, whole: np.ndarray, part: np.ndarray, links: np.ndarray, target: np.ndarray, column: np.ndarray, by_y: np.ndarray,
        link_target: np.ndarray, link_source: np.ndarray, through: np.ndarray,
    ) -> Found:  # fmt: skip
        rows, columns = np.divmod(whole, max(self.m, 1))
        main = rows < self.m
        place = np.empty(len(whole), dtype=np.int64)
        order = np.lexsort((rows[main], columns[main]))
        nnz = int(main.sum())
        place[np.flatnonzero(main)[order]] = np.arange(nnz)
        place[~main] = nnz + np.arange(len(whole) - nnz)
        first_link = len(whole)
        dump = first_link + len(links)
        position = np.full(len(target), dump, dtype=np.int32)
        position[by_y] = place[np.searchsorted(whole, target[by_y] * self.m + column[by_y])]
        position[through] = first_link + np.searchsorted(links, link_target * self.z + link_source)
        indptr = np.zeros(self.m + 1, dtype=np.int32)
        indptr[1:] = np.cumsum(np.bincount(columns[main], minlength=self.m))
        by = part[main][order]
        indices = rows[main][order].astype(np.int32)
        pattern = Pattern(indptr, indices, [], (by & 1) > 0, (by & 2) > 0)
        return position, pattern, self._products(whole, place, links, first_link), dump - nnz

    def _products(self, whole: np.ndarray, place: np.ndarray, links: np.ndarray, first_link: int) -> np.ndarray:
        target, source = np.divmod(links, self.z)
        found = []
        for chosen in [np.flatnonzero(self.link_order == k) for k in distinct(self.link_order)]:
            starts = np.searchsorted(whole, (self.m + source[chosen]) * self.m)
            counts = np.searchsorted(whole, (self.m + source[chosen] + 1) * self.m) - starts
            picked = ranges(starts, counts)
            into = np.repeat(target[chosen], counts) * self.m + whole[picked] % self.m
            factors = first_link + np.repeat(chosen, counts)
            found.append(np.stack([place[np.searchsorted(whole, into)], factors, place[picked]]))
        return np.concatenate(found, axis=1).astype(np.int32) if found else np.zeros((3, 0), dtype=np.int32)


def _merged_parts(keys: np.ndarray, part: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    unique, inverse = sorted_unique(keys)
    merged = np.zeros(len(unique), dtype=np.int64)
    np.bitwise_or.at(merged, inverse, part)
    return unique, merged
