"""Tables of a fluid over (p, h), from its equation of state. `native/media_tables.h` evaluates them; docs/media.md has the format.

Vapour is aligned with the dome in enthalpy, liquid in pressure (aligned in enthalpy, the compressibility of cold liquid would be
the difference of large numbers). Around the critical point (p, h) itself is regular, only hl and hv are not: there the table is not
aligned, and hl, hv are kept as mean and squared half difference. Inside the dome the equations of some fluids
misbehave, so that this region is fitted by least squares to stable states only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sparse
from scipy.interpolate import BarycentricInterpolator, BSpline
from scipy.sparse.linalg import splu

from .continuation import fit_what_is_known
from .equation_of_state import FIELDS, EquationOfState, Saturated, without_gaps
from .ranges import Range
from .splines import DEGREE, Axis, graded

VERSION = 4  # of the layout, shared with native/media.cpp
HEADER, FIRST_OFFSET = 64, 20
LOW, HIGH = 0.86, 0.92  # of the critical pressure: where the region around the critical point takes over …
EDGE = 0.78  # … and where it begins: a fit is poor at its very edge
EDGE_PLACE, GAS_PLACE = 40, 41  # in the header
COLDEST = 0.72  # of the lowest temperature: what is colder is not asked of the equation, which may be of no use there
SMOOTHEST = 0.94  # of the largest yet: see `_credible`
AT_THE_HOT_END = 0.06  # points crowd a little there, too: an interpolation is poor at its very edge
SLOPES = 10.0  # how much the slopes of entropy count beside its values, in widths of a span
SURFACE_TENSION_EXPONENT = 1.26  # shared with native/media_tables.h
_LANES = 4
_ENTROPY = FIELDS.index("s")
_BLOCKS = (slice(0, 4), slice(4, 8))

Progress = Callable[[float], None]


@dataclass(frozen=True)
class Sizes:
    """How many points each coordinate has, and how they crowd: the smaller a crowd's number, the denser they lie at one end."""

    dome_x: int = 72
    vapour_y: int = 44
    liquid_h: int = 68
    liquid_z: int = 20
    region_x: int = 68
    region_y: int = 92
    top_x: int = 40
    thin_x: int = 8
    vapour_crowd: float = 0.15
    liquid_crowd: float = 0.1
    region_crowd: tuple[float, float] = (0.08, 0.12)

    @staticmethod
    def of(eos: EquationOfState, reach: Range) -> Sizes:
        """A table that reaches far beyond the critical point needs its points where the dome is, and more of them."""
        hot = min(1.0, 1.7 * eos.T_critical / reach.T_max)
        dense = min(1.0, 4.5 * eos.p_critical / reach.p_max)
        usual = Sizes() if hot > 0.6 else WIDE if hot > 0.2 else CRYOGENIC
        return replace(
            usual,
            vapour_crowd=usual.vapour_crowd * hot,
            liquid_crowd=usual.liquid_crowd * dense,
            region_crowd=(usual.region_crowd[0], usual.region_crowd[1] * hot),
        )


WIDE = Sizes(dome_x=64, vapour_y=68, liquid_h=58, liquid_z=24, region_x=60, region_y=104, vapour_crowd=0.11)
CRYOGENIC = Sizes(
    dome_x=64,
    vapour_y=64,
    liquid_h=44,
    liquid_z=40,
    region_x=64,
    region_y=99,
    vapour_crowd=0.25,
    liquid_crowd=0.3,
    region_crowd=(0.4, 0.05),
)


@dataclass
class Builder:
    """All regions of one fluid's table, in order; `numbers` is the result."""

    eos: EquationOfState
    range: Range
    sizes: Sizes
    progress: Progress = lambda done: None

    def numbers(self) -> np.ndarray:
        """The whole table as one array; `native/media.cpp` says what stands where."""
        self._saturation_curves()
        self.progress(0.05)
        self._vapour()
        self._thin_gas()
        self.progress(0.15)
        self._liquid()
        self.progress(0.25)
        self._top_of_the_dome()
        self._around_the_critical_point()
        self.progress(1.0)
        return self._assembled()

    # --- coordinates and curves ---------------------------------------------------------------------------------------
    def _saturation_curves(self) -> None:
        eos, r = self.eos, self.range
        self.p_low, self.p_high = LOW * eos.p_critical, HIGH * eos.p_critical
        below = graded(np.log(1 / HIGH), np.log(eos.p_critical / r.p_min), self.sizes.dome_x, lambda z: 1 / (0.35 * z) + 1 / 0.9)
        self.dome_x = Axis(np.log(eos.p_critical) - below[::-1])
        self.ends = [eos.saturated(p) for p in np.exp(self.dome_x.points)]
        self.hmax = np.array([eos.edge(p, r.T_max)[0] for p in np.exp(self.dome_x.points)])
        curves = np.array([(vapour.h, 0.0, liquid.h, self._root_of_tension(liquid.T)) for liquid, vapour in self.ends])
        curves[:, 1] = self.hmax
        self.dome = self.dome_x.fit(curves)
        self.h_min = eos.saturated(r.p_min * (1 + 1e-9))[0].h
        self.h_split, self.h_join = eos.saturated(self.p_low)[0].h, eos.saturated(self.p_high)[0].h
        self.h_edge = eos.saturated(EDGE * eos.p_critical)[0].h

    def _root_of_tension(self, T: float) -> float:
        if "surface tension" not in self.eos.has:
            return float("nan")
        try:
            return float(max(self.eos.surface_tension(T), 0.0) ** (1 / SURFACE_TENSION_EXPONENT))
        except ValueError:  # the correlation's critical temperature is not quite that of the equation
            return 0.0

    def _vapour(self) -> None:
        crowd = self.sizes.vapour_crowd
        self.vapour_y = Axis(graded(0.0, 1.0, self.sizes.vapour_y, _also_hot(lambda y: 1 / (y + crowd))))
        values = np.empty((self.dome_x.count, self.vapour_y.count, len(FIELDS)))
        for i, (p, (_, end)) in enumerate(zip(np.exp(self.dome_x.points), self.ends, strict=True)):
            h = end.h + self.vapour_y.points * (self.hmax[i] - end.h)
            values[i] = self.eos.line(np.full(h.shape, p), h, end.T, end.rho)
            values[i, 0] = self._at_border(end, values[i, 0])
            values[i, :, 1] /= p
        values = _without_gaps(values)
        self.h_gas, self._lowest_vapour = self.ends[0][1].h, values[0]
        self.vapour = self.vapour_y.fit(self.dome_x.fit(values), 1)

    def _thin_gas(self) -> None:
        """Gas below the lowest saturation pressure, from the temperature there on. At that pressure it is the vapour, to rounding.

        Almost ideal, it is a power series in the pressure, but for its entropy, of which R ln p is taken away.
        """
        eos, r = self.eos, self.range
        share = 0.5 - 0.5 * np.cos(np.linspace(0.0, np.pi, self.sizes.thin_x))
        self.thin_x = Axis(r.p_gas + share * (r.p_min - r.p_gas))
        values = np.empty((self.thin_x.count, self.vapour_y.count, len(FIELDS)))
        border = np.empty((self.thin_x.count, _LANES))
        end = self.ends[0][1]
        for i, p in enumerate(self.thin_x.points.tolist()):
            low, rho = eos.gas(p, end.T, end.rho * p / r.p_min)
            high = eos.edge(p, r.T_max)[0]
            border[i] = low, high, 0.0, 0.0
            h = low + self.vapour_y.points * (high - low)
            values[i] = eos.line(np.full(h.shape, p), h, end.T, rho)
            values[i, :, 1] /= p
            values[i, :, 2] += eos.gas_constant * np.log(p / r.p_min)
        values[-1], border[-1, :2] = self._lowest_vapour, (self.h_gas, self.hmax[0])
        self.thin_h = self.thin_x.fit(border)
        self.thin = self.vapour_y.fit(self.thin_x.fit(_without_gaps(values)), 1)

    def _at_border(self, end: Saturated, nearby: np.ndarray) -> np.ndarray:
        fields = np.array(self.eos.fields(end.T, end.rho))
        return np.where(np.isfinite(fields), fields, nearby)

    def _liquid(self) -> None:
        sizes, r = self.sizes, self.range
        width = self.h_join - self.h_min
        grading = graded(0.0, 1.0, sizes.liquid_h, lambda z: 1 / (z + 0.35) + 0.3 / (1 - z + 0.02))
        points = self.h_min + width * (1 - grading[::-1])
        points[0], points[-1] = self.h_min, self.h_join
        self.liquid_h = Axis(points)
        self.liquid_z = Axis(graded(0.0, 1.0, sizes.liquid_z, lambda z: 1 / (z + sizes.liquid_crowd)))
        pressures = self._bubble_pressures(points)
        values = np.empty((len(points), self.liquid_z.count, len(FIELDS)))
        for i, (h, pl) in enumerate(zip(points, pressures, strict=True)):
            p = pl + self.liquid_z.points * (r.p_max - pl)
            end = self.eos.saturated(pl)[0]
            values[i] = self.eos.line(p, np.full(p.shape, h), end.T, end.rho, COLDEST * r.T_min)
            values[i, 0] = self._at_border(end, values[i, 0])
        self.liquid_p = self.liquid_h.fit(pressures)
        self.liquid = fit_what_is_known(self.liquid_h, self.liquid_z, values)
        self.liquid[:, 0] = self.liquid_h.fit(values[:, 0])  # the border, to the last bit

    def _bubble_pressures(self, enthalpies: np.ndarray) -> np.ndarray:
        """pl(h), the inverse of hl(p): Newton in ln p with the secant of the last two, from the curve's own inverse."""
        x = np.interp(enthalpies, [liquid.h for liquid, _ in self.ends], self.dome_x.points)
        slope = BSpline(self.dome_x.t, self.dome[:, 2], DEGREE).derivative()
        low, high = np.log(self.range.p_min), np.log(self.p_high)
        for _ in range(30):
            found = np.array([self.eos.saturated(p)[0].h for p in np.exp(x)])
            step = (enthalpies - found) / slope(x)
            x = np.clip(x + step, low, high)
            if np.max(np.abs(enthalpies - found)[1:-1]) < 1e-12 * (self.h_join - self.h_min):
                break
        x[0], x[-1] = low, high
        return np.asarray(np.exp(x))

    def _top_of_the_dome(self) -> None:
        eos = self.eos
        below = graded(0.0, np.log(1 / LOW), self.sizes.top_x, lambda z: 1 / (z + 0.02))[::-1]
        self.top_x = Axis(np.log(eos.p_critical) - below)
        curves = np.full((self.top_x.count, 3), np.nan)
        for i, p in enumerate(np.exp(self.top_x.points[:-1])):
            if ends := eos.saturated_if_found(p):
                half = 0.5 * (ends[1].h - ends[0].h)
                curves[i] = 0.5 * (ends[0].h + ends[1].h), half * half, self._root_of_tension(ends[0].T)
        x, known = self.top_x.points, _credible(curves[:, 1], np.exp(self.top_x.points) / eos.p_critical)
        curves[~known] = np.nan
        last = np.flatnonzero(known)[-4:]
        curves[~known, 0] = BarycentricInterpolator(x[last], curves[last, 0])(x[~known])
        for k in (1, 2):  # no difference and no tension at the critical point, which is the last
            near = np.append(last, len(x) - 1)
            curves[-1, k] = 0.0
            curves[~known, k] = BarycentricInterpolator(x[near], curves[near, k])(x[~known])
        curves = np.column_stack([curves, np.zeros(len(x))])
        self.top = self.top_x.fit(curves)

    # --- the region that is not aligned -------------------------------------------------------------------------------
    def _around_the_critical_point(self) -> None:
        eos, r, sizes = self.eos, self.range, self.sizes
        wide_x, wide_y = sizes.region_crowd
        to_edge = np.log(r.p_max / eos.p_critical)
        grading = graded(np.log(EDGE), to_edge, sizes.region_x, lambda z: 1 / (np.abs(z) + wide_x))
        self.region_x = Axis(np.log(eos.p_critical) + grading)
        highest = eos.edge(eos.p_critical, r.T_max)[0]
        y_critical = (eos.h_critical - self.h_edge) / (highest - self.h_edge)
        self.region_y = Axis(graded(0.0, 1.0, sizes.region_y, _also_hot(lambda y: 1 / (np.abs(y - y_critical) + wide_y))))
        self.region_hmax = self.region_x.fit(np.array([eos.edge(p, r.T_max)[0] for p in np.exp(self.region_x.points)]))
        self._hmax_of = BSpline(self.region_x.t, self.region_hmax, DEGREE)
        self.region = self._least_squares(*self._stable_states())

    def _stable_states(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(ln p, y, fields) on a grid finer than the knots, without the inside of the dome."""
        eos, xs, ys = self.eos, self.region_x.sampled(2), self.region_y.sampled(2)
        start = eos.saturated(EDGE * eos.p_critical)[0]
        T, rho = start.T, start.rho
        found: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        for i, x in enumerate(xs):
            p, hmax = float(np.exp(x)), float(self._hmax_of(x))
            h = self.h_edge + ys * (hmax - self.h_edge)
            if p < eos.p_critical * 0.99999:
                ends = eos.saturated_if_found(p)
                if ends is None:
                    continue
                liquid, vapour = ends
                below, above = np.append(h[h < liquid.h], liquid.h), np.append(vapour.h, h[h > vapour.h])
                under = eos.line(np.full(below.shape, p), below[::-1], liquid.T, liquid.rho)[::-1]
                over = eos.line(np.full(above.shape, p), above, vapour.T, vapour.rho)
                h, values = np.concatenate([below, above]), np.concatenate([under, over])
                T, rho = liquid.T, liquid.rho
            else:
                values = eos.line(np.full(h.shape, p), h, T, rho)
                T, rho = values[0, :2]
            found.append((np.full(h.shape, x), np.clip((h - self.h_edge) / (hmax - self.h_edge), 0.0, 1.0), values))
            self.progress(0.3 + 0.6 * (i + 1) / len(xs))
        x, y, values = (np.concatenate(part) for part in zip(*found, strict=True))
        there = np.isfinite(values[:, 0])
        return x[there], y[there], values[there]

    def _least_squares(self, x: np.ndarray, y: np.ndarray, values: np.ndarray) -> np.ndarray:
        nx, ny = self.region_x.count, self.region_y.count
        weight = self.eos.rho_critical / np.maximum(values[:, 1], 0.3 * self.eos.rho_critical)  # thin gas counts as much as dense
        weighted = sparse.diags(weight) @ _tensor_rows(self.region_x, self.region_y, x, y)
        penalty = self._third_differences()
        penalised = weighted.T @ weighted + penalty.T @ penalty
        scale = np.nanmedian(np.abs(values), axis=0)
        right = weighted.T @ (weight[:, None] * (values / scale))
        found = _solver(penalised)(right) * scale
        more, slopes = self._slopes_of_entropy(x, y, values, weight)
        found[:, _ENTROPY] = _solver(penalised + more)(right[:, _ENTROPY] * scale[_ENTROPY] + slopes)
        return np.asarray(found.reshape(ny, nx, values.shape[1]).transpose(1, 0, 2))

    def _slopes_of_entropy(
        self, x: np.ndarray, y: np.ndarray, values: np.ndarray, weight: np.ndarray
    ) -> tuple[sparse.csr_matrix, np.ndarray]:
        """What T ds = dh - dp / rho adds to the normal equations of entropy.

        Values alone leave slopes across the dome's border open: states lie on one side of it.
        """
        T, rho, axes = values[:, 0], values[:, 1], (self.region_x, self.region_y)
        by_y, by_x = (self._hmax_of(x) - self.h_edge) / T, (y * self._hmax_of(x, 1) - np.exp(x) / rho) / T
        parts: list[tuple[sparse.csr_matrix, np.ndarray]] = []
        for orders, slope, axis, at in (((1, 0), by_x, self.region_x, x), ((0, 1), by_y, self.region_y, y)):
            count = SLOPES * weight * axis.widths(at)
            rows = sparse.diags(count) @ _tensor_rows(*axes, x, y, orders)
            parts.append((rows.T @ rows, rows.T @ (count * slope)))
        return parts[0][0] + parts[1][0], parts[0][1] + parts[1][1]

    def _third_differences(self) -> sparse.csr_matrix:
        """A penalty that says something only where there are no states: inside the dome."""
        nx, ny = self.region_x.count, self.region_y.count
        x = np.array([self.region_x.t[j + 1 : j + DEGREE + 1].mean() for j in range(nx)])  # where a coefficient acts
        y = np.array([self.region_y.t[j + 1 : j + DEGREE + 1].mean() for j in range(ny)])
        inside = np.zeros((nx, ny), dtype=bool)
        for i, p in enumerate(np.exp(x)):
            ends = self.eos.saturated_if_found(p) if p < 0.9999 * self.eos.p_critical else None
            if ends is not None:
                liquid, vapour = ends
                h = self.h_edge + y * (float(self._hmax_of(x[i])) - self.h_edge)
                inside[i] = (h > liquid.h) & (h < vapour.h)
        weight = np.where(inside.T.ravel(), 1e-4, 1e-9)
        parts = []
        for along in (sparse.kron(sparse.identity(ny), _third(nx)), sparse.kron(_third(ny), sparse.identity(nx))):
            rows = along.tocsr()
            parts.append(sparse.diags((abs(rows) @ weight) / 8) @ rows)
        return sparse.vstack(parts).tocsr()

    # --- layout -------------------------------------------------------------------------------------------------------
    def _assembled(self) -> np.ndarray:
        head = np.zeros(HEADER)
        eos, r = self.eos, self.range
        unit = abs(self.ends[0][1].h - self.ends[0][0].h)
        head[:20] = (
            VERSION, r.p_min, r.p_max, eos.p_critical, self.p_low, self.p_high, self.h_min, self.h_split, self.h_join, unit,
            r.T_min, r.T_max, self.vapour_y.count, self.liquid_z.count, self.region_y.count,
            eos.T_critical, eos.rho_critical, eos.h_critical, eos.molar_mass, eos.gas_constant,
        )  # fmt: skip
        parts: list[np.ndarray] = []
        place, offsets = HEADER, []

        def add(*arrays: np.ndarray) -> None:
            nonlocal place
            offsets.append(place)
            for array in arrays:
                flat = np.ravel(array)
                padded = np.concatenate([flat, np.zeros(-len(flat) % 8)])
                parts.append(padded)
                place += len(padded)

        for axis in (self.dome_x, self.vapour_y, self.liquid_h, self.liquid_z, self.region_x, self.region_y, self.top_x):
            add(*axis.layout())
        for axis, nodes in (
            (self.dome_x, self.dome),
            (self.top_x, self.top),
            (self.liquid_h, self.liquid_p),
            (self.region_x, self.region_hmax),
        ):
            add(axis.pieces(nodes))
        for nodes in (self.vapour, self.liquid, self.region):
            for block in _BLOCKS:
                add(nodes[..., block])
        head[FIRST_OFFSET : FIRST_OFFSET + len(offsets)] = offsets
        head[EDGE_PLACE] = self.h_edge
        first = len(offsets)
        add(*self.thin_x.layout())
        add(self.thin_x.pieces(self.thin_h))
        for block in _BLOCKS:
            add(self.thin[..., block])
        head[GAS_PLACE : GAS_PLACE + 6] = (r.p_gas, self.h_gas, *offsets[first:])
        return np.concatenate([head, *parts])


def _credible(squares: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Which squared half differences of hl and hv are those of a dome that closes at the critical point.

    There the square goes to zero with pc - p, and their ratio hardly changes. For mixtures by nature CoolProp has curves of bubble
    and dew points that do not quite meet: their liquid vanishes before, and what it gives beyond is something else.
    """
    with np.errstate(invalid="ignore"):
        ratio = squares / np.maximum(1.0 - p, 1e-12)
        good = np.isfinite(squares) & (ratio >= SMOOTHEST * np.fmax.accumulate(np.where(np.isfinite(ratio), ratio, 0.0)))
    good[-1] = False
    return np.asarray(np.logical_and.accumulate(good | (np.arange(len(p)) < 4)) & np.isfinite(squares))


def _also_hot(density: Callable[[np.ndarray], np.ndarray]) -> Callable[[np.ndarray], np.ndarray]:
    return lambda y: density(y) + AT_THE_HOT_END / (1.01 - y)


def _without_gaps(values: np.ndarray) -> np.ndarray:
    """Whole lines without a property, from their neighbours."""
    flat = without_gaps(values.reshape(len(values), -1))
    return flat.reshape(values.shape)


def _third(n: int) -> sparse.spmatrix:
    return sparse.diags([-1.0, 3.0, -3.0, 1.0], [0, 1, 2, 3], shape=(n - 3, n))


def _solver(normal: sparse.spmatrix) -> Callable[[np.ndarray], np.ndarray]:
    """Factors of a symmetric, positive definite matrix, with one refinement.

    By elimination on the sparse matrix, not by LAPACK on its band: there the threads of a BLAS wait for each other, busily, and
    on a machine that has other work they waited ten times as long as they worked.
    """
    exact = normal.tocsc()
    factors = splu(exact, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})

    def solve(right: np.ndarray) -> np.ndarray:
        found = factors.solve(right)
        return np.asarray(found + factors.solve(right - exact @ found))

    return solve


def _tensor_rows(first: Axis, second: Axis, x: np.ndarray, y: np.ndarray, orders: tuple[int, int] = (0, 0)) -> sparse.csr_matrix:
    """Products of basis functions at scattered points, or of their derivatives, one row for each; the first axis runs fastest."""
    (a, column_a), (b, column_b) = first.rows(x, orders[0]), second.rows(y, orders[1])
    near = np.arange(DEGREE + 1)
    columns = (column_b[:, None, None] + near[:, None]) * first.count + column_a[:, None, None] + near
    values = b[:, :, None] * a[:, None, :]
    starts = np.arange(0, values.size + 1, len(near) ** 2)
    return sparse.csr_matrix((values.ravel(), columns.ravel(), starts), shape=(len(x), first.count * second.count))
