"""Coefficients as sums of products of known cells: what is the same quantity cancels, whatever its value.

A capacitor between two nodes adds `C·(a' - b')` to the one balance and takes it from the other: the sum of both holds no
derivative, for every C. To see it, a coefficient is written as Σ factor · cell · cell · …; two products of the same cells are one
*symbol*. A combination of rows cancels for all values of the cells if it does so symbol by symbol.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from ..language.expression import Constant, Expression, Operation, Slot
from ..records import dataclass
from .orders import KNOWN, Coded, Literals, plain
from .plant import ONE, ZERO
from .template import Template

ONE_SYMBOL = 0  # the symbol of a plain number
_MOST = 40  # products of a coefficient; one that has more is nobody's sum of capacitors

Polynomial = dict[tuple[int, ...], float]  # {known slots of a product, in order: its factor}


def polynomial(expression: Expression) -> Polynomial | None:
    """An expression over known slots, multiplied out; None if it is anything else.

    >>> a, b = Slot(0, "known"), Slot(1, "known")
    >>> polynomial(2.0 * (a - b) * a)
    {(0, 0): 2.0, (0, 1): -2.0}
    """
    if isinstance(expression, Constant):
        return {(): float(expression.value)}
    if isinstance(expression, Slot):
        return {(expression.number,): 1.0} if expression.kind == "known" else None
    if not isinstance(expression, Operation) or expression.operator.name not in ("add", "sub", "neg", "mul", "div"):
        return None
    parts = [polynomial(a) for a in expression.args]
    if any(p is None for p in parts):
        return None
    return _joined(expression.operator.name, [p for p in parts if p is not None])


def _joined(name: str, parts: list[Polynomial]) -> Polynomial | None:
    first = parts[0]
    if name == "neg":
        return {slots: -v for slots, v in first.items()}
    second = parts[1]
    if name == "div":
        divisor = second.get(()) if second.keys() == {()} else None
        return {slots: v / divisor for slots, v in first.items()} if divisor else None
    pairs: Iterator[tuple[tuple[int, ...], float]]
    if name == "mul":
        pairs = ((tuple(sorted(a + b)), v * w) for a, v in first.items() for b, w in second.items())
    else:
        sign = -1.0 if name == "sub" else 1.0
        pairs = iter([*first.items(), *((slots, sign * v) for slots, v in second.items())])
    total: Polynomial = {}
    for slots, value in pairs:
        total[slots] = total.get(slots, 0.0) + value
    kept = {slots: v for slots, v in total.items() if v}
    return kept if len(kept) <= _MOST else None


class Symbols:
    """Numbers for products of known cells; 0 is the empty product, a plain number."""

    def __init__(self) -> None:
        self.cells: list[tuple[int, ...]] = [()]
        self._number: dict[tuple[int, ...], int] = {(): ONE_SYMBOL}

    def terms(self, coefficient: Expression, table: Coded, literals: Literals) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """(symbol, factor) of every product in a coefficient; nan where it is more than sums of products of knowns."""
        number = literals.value(coefficient, table)
        other = np.isnan(number)
        found = polynomial(coefficient) if other.any() and not isinstance(coefficient, Constant) else None
        plain_number = np.full(len(number), ONE_SYMBOL)
        yield plain_number, number if found is None else np.where(other, 0.0, number)
        for slots, factor in (found or {}).items():
            symbol, value = self._product(slots, factor, table, literals)
            yield symbol, np.where(other, value, 0.0)

    def _product(self, slots: tuple[int, ...], factor: float, table: Coded, literals: Literals) -> tuple[np.ndarray, np.ndarray]:
        """(symbol, factor) of one product, row by row; literals and signs go to the factor."""
        value = np.full(table.codes.shape[1], factor)
        if not slots:
            return np.full(len(value), ONE_SYMBOL), value
        cells = np.full((len(slots), len(value)), -1, dtype=np.int64)
        for k, slot in enumerate(slots):
            codes = table.codes[slot]
            cell = plain(codes) - KNOWN
            number = literals.has(cell)
            if number.any():
                value *= np.where(number, literals.values[np.where(number, cell - literals.first, 0)], 1.0)
            value *= np.where(cell == ZERO, 0.0, np.where(codes < 0, -1.0, 1.0))
            cells[k] = np.where(number | (cell == ZERO) | (cell == ONE), -1, cell)
        distinct, which = np.unique(np.sort(cells, axis=0), axis=1, return_inverse=True)
        numbers = [self._of_cells(tuple(c for c in column if c >= 0)) for column in distinct.T.tolist()]
        return np.array(numbers, dtype=np.int64)[which.reshape(-1)], value

    def _of_cells(self, cells: tuple[int, ...]) -> int:
        found = self._number.setdefault(cells, len(self.cells))
        if found == len(self.cells):
            self.cells.append(cells)
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Terms:
    """Where unknowns stand: `factor · symbol ·` derivative `order` of `unknown` in `row`; nan: the factor is no constant."""

    row: np.ndarray
    unknown: np.ndarray
    order: np.ndarray
    symbol: np.ndarray
    factor: np.ndarray


def terms(tables: Iterable[Coded], size: int, literals: Literals, symbols: Symbols) -> Terms:
    """Every product in every entry of every row."""
    empty = np.zeros(0, dtype=np.int64)
    found: list[tuple[np.ndarray, ...]] = [(empty, empty, empty, empty, np.zeros(0))]
    for table in tables:
        template = Template.of(table.outputs)
        known = {s.number for s in template.slots if s.kind == "known"}
        for k, (output, slot, value, reads) in enumerate(template.entries):
            codes = table.codes[slot]
            keep = plain(codes) < KNOWN
            order, unknown = np.divmod(plain(codes)[keep], size)
            coefficient: Expression = Constant(np.nan if value is None else value)
            if value is None and known.issuperset(reads):  # derivatives are formed only where they may be constant
                coefficient = template.jacobian[k][2]
            for symbol, factor in symbols.terms(coefficient, table, literals):
                signed = np.where(codes < 0, -factor, factor)[keep]
                found.append((table.rows[output][keep], unknown, order, symbol[keep], signed))
    return Terms(*(np.concatenate(column) for column in zip(*found, strict=True)))
