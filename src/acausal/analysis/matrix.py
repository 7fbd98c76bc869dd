"""Sparse matrices whose rows and columns have names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final, overload

import numpy as np
from scipy.sparse import csc_array

from ..errors import NameNotFound, near_matches


@final
class Names(Sequence[str]):
    """As many names as there are rows or columns; each is made when somebody looks at it, for a large plant has many."""

    def __init__(self, count: int, name_of: Callable[[int], str]) -> None:
        self._count, self._name_of = count, name_of
        self._numbers: dict[str, int] | None = None

    def __reduce__(self) -> Any:
        """In another process, and in a copy, all of them: who can name them stays here."""
        return _listed, (list(self),)

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, key: int) -> str: ...
    @overload
    def __getitem__(self, key: slice) -> list[str]: ...
    def __getitem__(self, key: int | slice) -> str | list[str]:
        if isinstance(key, slice):
            return [self._name_of(k) for k in range(self._count)[key]]
        return self._name_of(range(self._count)[key])

    def __repr__(self) -> str:
        return f"[{', '.join(map(repr, self[:4]))}{', …' if len(self) > 4 else ''}]"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def number(self, name: str) -> int:
        """Where a name stands."""
        if self._numbers is None:
            self._numbers = {self._name_of(k): k for k in range(self._count)}
        if name not in self._numbers:
            raise NameNotFound(f"There is no `{name}` here. {near_matches(name, list(self._numbers))}".rstrip())
        return self._numbers[name]


@dataclass(frozen=True, slots=True, eq=False)
class Matrix:
    """Numbers of a sparse matrix (`values`, compressed columns) with the names of its `rows` and `columns`.

    `matrix["row", "column"]` is one of them; `np.asarray(matrix)` and `matrix.values` are for those who want numbers only.
    """

    values: csc_array
    rows: Sequence[str]
    columns: Sequence[str]

    @property
    def shape(self) -> tuple[int, int]:
        return self.values.shape

    def __getitem__(self, key: tuple[str, str]) -> float:
        row, column = key
        return float(self.values[_number(self.rows, row), _number(self.columns, column)])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self.values.toarray(), dtype=dtype)

    def __repr__(self) -> str:
        columns = repr(_as_names(self.columns))
        return f"<Matrix of {self.shape[0]} × {self.shape[1]}, {self.values.nnz} stored; columns {columns}>"


def _as_names(names: Sequence[str]) -> Names:
    return names if isinstance(names, Names) else Names(len(names), names.__getitem__)


def _number(names: Sequence[str], name: str) -> int:
    return _as_names(names).number(name)


def _listed(names: list[str]) -> Names:
    return Names(len(names), names.__getitem__)
