"""Numerical singularity: there is an equation for every unknown, yet with the numbers at hand they do not determine them.

With the states given, A z = … determines z: the derivatives of the states and the other unknowns. A is block triangular along
`solution_order`, so it is singular just when one of its diagonal blocks is. A right null vector of a block is a motion of
unknowns that changes no equation; a left one is a combination of equations that says nothing, so one of them repeats what the
others say. Blocks are equilibrated first: a singular value means nothing before rows and columns have been brought to one size.

Two cases are told apart: a coefficient that is there by structure has become zero (a closed valve), or equations depend on each
other although all their coefficients are there (a circuit without a ground).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import Diagnostic
from ..families.plant import Kind, joined
from ..families.statistics import solution_order
from ..families.system import System
from ..readable import equation_line, listed
from ..structure.blocks import BlockForm
from ..structure.incidence import Incidence
from ..structure.matching import match
from .problem import Floats, Problem

EXACT, NEARLY = 1e-12, 1e-9  # smallest over largest singular value of an equilibrated block
_DENSE = 2000  # larger blocks are looked at by inverse iteration
_SMALL = 64  # smaller ones all at once
_PART = 0.05  # parts of a null vector that are told, of its largest
_MOST = 6
_MOST_VECTORS = 3


@dataclass(frozen=True, slots=True, eq=False)
class Singularity:
    """One way in which a block is singular: unknowns that move together by `amounts`, equations that cancel with `factors`."""

    ratio: float  # smallest over largest singular value
    unknowns: np.ndarray
    amounts: Floats
    equations: np.ndarray
    factors: Floats
    block_size: int
    zeros: tuple[tuple[int, int], ...] = ()  # (equation, unknown): coefficients that are zero, if that is the cause

    @property
    def exact(self) -> bool:
        return self.ratio <= EXACT


@dataclass(frozen=True, slots=True, eq=False)
class _Active:
    """Entries of A: rows, columns, values, and the block of both where they have the same."""

    form: BlockForm
    rows: np.ndarray
    columns: np.ndarray
    values: Floats
    block: np.ndarray  # -1: outside the diagonal blocks


def singularities(
    problem: Problem, t: float, y: Floats, yp: Floats, known: Floats | None = None, limit: float = NEARLY
) -> list[Singularity]:
    """Every way in which the equations fail to determine derivatives and algebraic unknowns at a point, the worst first."""
    if problem.size == 0:
        return []
    active = _active(problem, t, y, yp, known)
    if not np.isfinite(active.values).all():
        return []
    entries = _entries(active)
    suspects = _suspects(entries, active.form.sizes, limit)
    found = [*_single(active), *(s for k in suspects for s in _of_block(entries, active.form, k, limit))]
    return sorted(found, key=lambda s: s.ratio)


def _active(problem: Problem, t: float, y: Floats, yp: Floats, known: Floats | None) -> _Active:
    indptr, rows = problem.pattern
    columns = np.repeat(np.arange(problem.size), np.diff(indptr))
    every = np.ones(len(rows), dtype=bool)
    by_value, by_slope = problem.pattern_parts if problem.pattern_parts is not None else (every, every)
    by_y, slopes = problem.partials(t, y, yp, known=known)
    differential = problem.differential[columns]
    keep = np.where(differential, by_slope, by_value)
    values = np.where(differential, slopes, by_y)[keep]
    rows, columns = rows[keep], columns[keep]
    form = _order(problem)
    of_row = form.block_of_equation(problem.size)
    of_column = np.full(problem.size, -1)
    of_column[form.unknowns] = of_row[form.equations]
    return _Active(form, rows, columns, values, np.where(of_row[rows] == of_column[columns], of_row[rows], -1))


def _order(problem: Any) -> BlockForm:
    if problem.pattern_parts is not None:
        return solution_order(problem)
    indptr, rows = problem.pattern
    columns = np.repeat(np.arange(problem.size), np.diff(indptr))
    from ..structure.blocks import block_form

    return block_form(Incidence.from_pairs(rows, columns, problem.size, problem.size))


def _single(active: _Active) -> Iterator[Singularity]:
    """Blocks of one equation: its coefficient is zero, or it is not."""
    alone = active.form.sizes[active.block] == 1
    wrong = np.flatnonzero((active.block >= 0) & alone & (active.values == 0))
    for k in wrong:
        row, column = int(active.rows[k]), int(active.columns[k])
        yield Singularity(0.0, np.array([column]), np.ones(1), np.array([row]), np.ones(1), 1, ((row, column),))


# --- blocks ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _Entries:
    """The entries of all larger blocks, sorted by block, with local numbers."""

    row: np.ndarray
    column: np.ndarray
    value: Floats
    start: np.ndarray  # per block

    def of(self, block: int) -> tuple[np.ndarray, np.ndarray, Floats]:
        place = slice(self.start[block], self.start[block + 1])
        return self.row[place], self.column[place], self.value[place]


def _entries(active: _Active) -> _Entries:
    form = active.form
    inside = np.flatnonzero((active.block >= 0) & (form.sizes[active.block] > 1))
    order = inside[np.argsort(active.block[inside], kind="stable")]
    size = 1 + max(
        int(form.equations.max(initial=-1)), int(form.unknowns.max(initial=-1))
    )  # some may have no partner, and no block
    place_of_row, place_of_column = np.zeros(size, np.int64), np.zeros(size, np.int64)
    local = np.arange(form.pointers[-1]) - np.repeat(form.pointers[:-1], form.sizes)
    place_of_row[form.equations], place_of_column[form.unknowns] = local, local
    start = np.searchsorted(active.block[order], np.arange(form.count + 1))
    return _Entries(place_of_row[active.rows[order]], place_of_column[active.columns[order]], active.values[order], start)


def _suspects(entries: _Entries, sizes: np.ndarray, limit: float) -> Iterator[int]:
    """Blocks of more than one equation that may be singular."""
    for size in np.unique(sizes[(sizes > 1) & (sizes <= _SMALL)]):
        blocks = np.flatnonzero(sizes == size)
        for some in np.array_split(blocks, max(1, len(blocks) * int(size) ** 2 // 2_000_000)):
            values = np.linalg.svd(_equilibrated(_stacked(entries, some, int(size)))[0], compute_uv=False)
            yield from (int(k) for k in some[values[:, -1] <= limit * values[:, 0]])
    yield from (int(k) for k in np.flatnonzero(sizes > _SMALL))


def _stacked(entries: _Entries, blocks: np.ndarray, size: int) -> Floats:
    found = np.zeros((len(blocks), size, size))
    for k, block in enumerate(blocks):
        row, column, value = entries.of(int(block))
        found[k, row, column] = value
    return found


def _equilibrated(matrices: Floats) -> tuple[Floats, Floats, Floats]:
    """Rows and columns brought to a largest entry of about 1 (Ruiz 2001): the matrices, row scales, column scales."""
    work = matrices.copy()
    rows, columns = np.ones(work.shape[:2]), np.ones((work.shape[0], work.shape[2]))
    for _ in range(8):
        r, c = (1 / np.sqrt(np.maximum(np.abs(work).max(axis=axis), np.finfo(float).tiny)) for axis in (2, 1))
        r, c = np.where(r > 1e100, 1.0, r), np.where(c > 1e100, 1.0, c)  # a row of zeros stays one
        work *= r[:, :, None] * c[:, None, :]
        rows, columns = rows * r, columns * c
    return work, rows, columns


def _of_block(entries: _Entries, form: BlockForm, block: int, limit: float) -> Iterator[Singularity]:
    row, column, value = entries.of(block)
    equations, unknowns = form.block(block)
    size = len(equations)
    if size <= _DENSE:
        ratios, left, right = _dense_vectors(row, column, value, size, limit)
    else:
        ratios, left, right = _sparse_vectors(row, column, value, size, limit)
    zeros = _vanished(row, column, value, size)
    told = tuple((int(equations[r]), int(unknowns[c])) for r, c in zeros)
    for ratio, u, v in zip(ratios, left.T, right.T, strict=True):
        rows, columns = _largest(u), _largest(v)
        yield Singularity(float(ratio), unknowns[columns], v[columns], equations[rows], u[rows], size, told)


def _dense_vectors(row: np.ndarray, column: np.ndarray, value: Floats, size: int, limit: float) -> tuple[Floats, Floats, Floats]:
    matrix = np.zeros((1, size, size))
    matrix[0, row, column] = value
    work, rows, columns = _equilibrated(matrix)
    u, s, vt = np.linalg.svd(work[0])
    chosen = np.flatnonzero(s <= limit * s[0])[::-1][:_MOST_VECTORS]
    return s[chosen] / (s[0] or 1.0), _sparsest(u[:, chosen], rows[0]), _sparsest(vt[chosen].T, columns[0])


def _sparse_vectors(row: np.ndarray, column: np.ndarray, value: Floats, size: int, limit: float) -> tuple[Floats, Floats, Floats]:
    """Inverse iteration with a factorisation of A + δ: partners stand on the diagonal, so δ makes any of these blocks regular."""
    from scipy.sparse import coo_array, diags_array, eye_array
    from scipy.sparse.linalg import splu

    work = coo_array((value, (row, column)), shape=(size, size)).tocsc()
    rows, columns = np.ones(size), np.ones(size)
    for _ in range(8):
        r, c = (1 / np.sqrt(np.maximum(np.asarray(abs(work).max(axis=axis).todense()).ravel(), 1e-100)) for axis in (1, 0))
        work = (diags_array(r) @ work @ diags_array(c)).tocsc()
        rows, columns = rows * r, columns * c
    factor = splu((work + 1e-13 * eye_array(size, format="csc")).tocsc())
    right = np.linalg.qr(np.random.default_rng(1).standard_normal((size, _MOST_VECTORS)))[0]
    for _ in range(6):
        left = np.linalg.qr(factor.solve(right, trans="T"))[0]
        right = np.linalg.qr(factor.solve(left))[0]
    u, s, vt = np.linalg.svd(left.T @ (work @ right))
    largest = np.sqrt(np.asarray((work.multiply(work)).sum(axis=1)).max())
    chosen = np.flatnonzero(s <= limit * largest)[::-1]
    return s[chosen] / largest, _sparsest(left @ u[:, chosen], rows), _sparsest(right @ vt[chosen].T, columns)


def _sparsest(vectors: Floats, scales: Floats) -> Floats:
    """Another basis of the space of orthonormal vectors, in which each vector has one entry alone, brought to `scales` and then to
    a largest entry of 1. With scales that are far apart vectors brought to them first would look like dependent ones."""
    if vectors.shape[1] > 1:
        from scipy.linalg import qr

        pivots = qr(vectors.T, mode="r", pivoting=True)[1][: vectors.shape[1]]
        vectors = vectors @ np.linalg.pinv(vectors[pivots])
    if vectors.shape[1] == 0:
        return vectors
    vectors = scales[:, None] * vectors
    largest = np.argmax(np.abs(vectors), axis=0)
    return vectors / vectors[largest, np.arange(vectors.shape[1])]


def _largest(vector: Floats) -> np.ndarray:
    """Places of the parts that matter, largest first; of equals the first."""
    order = np.argsort(-np.round(np.abs(vector), 6), kind="stable")
    return order[np.abs(vector[order]) > _PART]


def _vanished(row: np.ndarray, column: np.ndarray, value: Floats, size: int) -> list[tuple[int, int]]:
    """Coefficients that are zero, if without them there is no longer an equation for every unknown."""
    there = value != 0
    if there.all():
        return []
    pairs = match(Incidence.from_pairs(row[there], column[there], size, size))
    if not len(pairs.unmatched_equations):
        return []
    from ..structure.matching import reach

    blamed, _ = reach(Incidence.from_pairs(row[there], column[there], size, size), pairs, pairs.unmatched_equations)
    return [(int(r), int(c)) for r, c in zip(row[~there], column[~there], strict=True) if blamed[r]]


# --- words ----------------------------------------------------------------------------------------------------------------


def explain_point(
    problem: Problem, t: float, y: Floats, yp: Floats, known: Floats | None = None, limit: float = 1e-4
) -> tuple[Diagnostic, ...]:
    """What is told when equations turn out singular. Just before a run ends for that reason, they are nearly singular only."""
    found = singularities(problem, t, y, yp, known, limit)[:_MOST_VECTORS]
    return tuple(diagnostic(problem, s, f"at time {t:.6g}") for s in found)


def diagnostic(problem: Problem, s: Singularity, when: str) -> Diagnostic:
    """The near-null vectors of one singularity in names."""
    first = problem.describe_equation(int(s.equations[0]))
    unknowns, defined = [_name(problem, int(u)) for u in s.unknowns], _definitions(problem, s.equations)
    vanished = bool(s.zeros) and not defined  # otherwise the equation and a definition in it cancelled
    if vanished:
        what = f"An equation does not contain the unknown it is to determine {when}: its coefficient is zero."
    elif s.exact:
        what = f"Equations depend on each other {when}, so they do not determine their unknowns."
    else:
        what = f"Equations nearly depend on each other {when} (singular values of 1 : {1 / s.ratio:.0e})."
    zeros = s.zeros[:_MOST] if vanished else ()
    details = [
        "This is caused by the numbers, not by the structure: there is an equation for every unknown.",
        f"can move:  {_motion(unknowns, s.amounts, [name for name, _ in defined])}",
        *_alike(problem, s, [where for _, where in defined]),
        *(f"zero:      {_coefficient(problem, row, column)}" for row, column in zeros),
    ]
    return Diagnostic(
        what,
        component=getattr(first, "component", ""),
        equation=getattr(first, "equation", ""),
        location=getattr(first, "location", None),
        details=tuple(details),
        remedy=_remedy(problem, s, vanished),
    )


def _definitions(problem: Problem, rows: np.ndarray) -> list[tuple[str, Diagnostic]]:
    """Variables in these equations that translation replaced by their definitions, and the equations that define them.

    They are equations of the user like the others, but rows of the matrix they are not.
    """
    lowered: Any = getattr(problem, "lowered", None)
    found: dict[tuple[str, str], Diagnostic] = {}
    for row in rows[:_MOST] if lowered is not None else ():
        stated = _stated(lowered.system, int(lowered.kept_rows[row]))
        if stated is None:
            continue
        kind, text, path = stated
        for (index, name), definition in lowered.system.definitions.items():
            if index == kind.index and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text):
                where = f"{path or 'the model'} ({kind.name})"
                found[path, name] = Diagnostic("", where, definition.equation.text, definition.equation.location)
    return [(joined(path, name), equation) for (path, name), equation in found.items()]


def _stated(system: System, row: int) -> tuple[Kind, str, str] | None:
    """Kind, equation and path of a row as the user stated it; None for what connections or index reduction added."""
    block = next((b for b in system.blocks if b.start <= row < b.start + b.count), None)
    if block is None or block.equation is None or block.kind is None:
        return None
    local = row - block.start if block.picked is None else int(block.picked[row - block.start])
    instance = local // max(int(np.prod(block.equation.shape)), 1)
    return block.kind, block.equation.text, system.plant.path_of(block.kind, instance)


def _coefficient(problem: Problem, row: int, column: int) -> str:
    return f"the coefficient of {_name(problem, column)} in {equation_line(problem.describe_equation(row))}"


def _name(problem: Problem, unknown: int) -> str:
    name = problem.name_of_unknown(unknown)
    return f"der({name})" if problem.differential[unknown] else name


def _motion(names: list[str], amounts: Floats, defined: list[str]) -> str:
    """How far each goes when the first goes by 1."""
    if len(names) == 1 and defined:
        return f"{names[0]}, and {listed(defined, 3)} with it, without changing an equation"
    if len(names) == 1:
        return f"{names[0]} can take any value without changing an equation"
    shown, more = names[:_MOST], f", … {len(names) - _MOST} more" if len(names) > _MOST else ""
    if np.allclose(amounts, amounts[0], rtol=1e-6):
        return f"{', '.join(shown)}{more}, all by the same amount, without changing an equation"
    parts = [f"{n} by {a / amounts[0]:.4g}" for n, a in zip(shown, amounts, strict=False)]
    return f"{', '.join(parts)}{more}, without changing an equation"


def _alike(problem: Problem, s: Singularity, defining: list[Diagnostic]) -> list[str]:
    if s.zeros and defining:
        rows = [problem.describe_equation(int(row)) for row in s.equations[:_MOST]]
        return ["These equations say the same:", *(f"  {equation_line(one)}" for one in [*rows, *defining[:_MOST]])]
    if len(s.equations) < 2:
        return []
    lines = ["These equations say the same; together they cancel:"]
    for row, factor in list(zip(s.equations, s.factors, strict=True))[:_MOST]:
        lines.append(f"  {factor / s.factors[0]:8.4g} ×  {equation_line(problem.describe_equation(int(row)))}")
    if len(s.equations) > _MOST:
        lines.append(f"           … and {len(s.equations) - _MOST} more")
    return lines


def _remedy(problem: Problem, s: Singularity, vanished: bool) -> str:
    held = _level(problem, s)
    if vanished:
        return (
            "Look for what makes the coefficient zero there (a closed valve, no flow, an empty volume, a root at zero) and use a "
            "regularised function or a small leakage."
        )
    if held:
        return f"Nothing holds the level of {listed(held, 3)}: connect a ground, a boundary or a store there."
    return "One of these equations repeats what the others say: replace it by what is missing, or give one of the unknowns a value."


def _level(problem: Problem, s: Singularity) -> list[str]:
    """If potentials can all rise together, their names: the most frequent cause is a part without a reference."""
    system = getattr(getattr(problem, "lowered", None), "system", None)
    if system is None:
        return []
    kept, count = problem.lowered.kept, len(system.aliases.representative)
    numbers = [int(kept[u]) for u, a in zip(s.unknowns, s.amounts, strict=True) if np.isclose(a, s.amounts[0], rtol=1e-6)]
    numbers = [int(system.aliases.representative[u]) for u in numbers if u < count]
    return [system.plant.name_of(n) for n in numbers if system.plant.quantity_at(n)[1].is_potential]
