// Tables in three to six arguments: one interpolation along each axis, the last axis first.
//
// The data are one float64 array made by language/grids.py: [dimensions, extrapolation, degree, sizes… | axes… | values, row by row].
// With degree 3 each interpolation is a cubic of Hermite's form with the slopes of Fritsch and Butland, as the tables in one
// argument have, computed from four neighbours on the fly: nothing overshoots. A derivative by one argument is carried along.

#include <nanobind/nanobind.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace {

namespace nb = nanobind;

struct Dual { // a value and its derivative by the argument that is asked for
    double v, g;
};
Dual operator+(Dual a, Dual b) { return {a.v + b.v, a.g + b.g}; }
Dual operator-(Dual a, Dual b) { return {a.v - b.v, a.g - b.g}; }
Dual operator*(double s, Dual a) { return {s * a.v, s * a.g}; }

int sign(double x) { return (x > 0) - (x < 0); }

// The slope between two secants: their weighted harmonic mean, or zero at an extremum.
Dual inner_slope(double before, double after, Dual a, Dual b) {
    if (sign(a.v) * sign(b.v) <= 0) return {0, 0};
    double near = 2 * after + before, far = after + 2 * before, sum = near * b.v + far * a.v;
    double p = a.v / sum, q = b.v / sum; // both bounded, however small the secants are
    return {(near + far) * a.v * q, (near + far) * (near * q * q * a.g + far * p * p * b.g)};
}

Dual end_slope(double h0, double h1, Dual a, Dual b) {
    Dual slope = (1 / (h0 + h1)) * ((2 * h0 + h1) * a - h0 * b);
    if (sign(slope.v) != sign(a.v)) return {0, 0};
    if (sign(a.v) != sign(b.v) && std::fabs(slope.v) > 3 * std::fabs(a.v)) return 3 * a;
    return slope;
}

struct Grid {
    const double *data, *x;
    int by; // the argument of the derivative; -1: none

    int dimensions() const { return (int)data[0]; }
    bool outside_refused() const { return data[1] == 2; }
    int64_t size(int axis) const { return (int64_t)data[3 + axis]; }
    const double *axis(int k) const {
        const double *found = data + 3 + dimensions();
        for (int j = 0; j < k; ++j) found += size(j);
        return found;
    }

    // The table with all arguments from `k` on put in; `values` is where those of the arguments before begin.
    Dual along(int k, const double *values) const {
        if (k == dimensions()) return {*values, 0};
        const double *grid = axis(k);
        int64_t n = size(k), stride = 1;
        for (int j = k + 1; j < dimensions(); ++j) stride *= size(j);
        double at = std::clamp(x[k], grid[0], grid[n - 1]);
        int64_t i = std::clamp<int64_t>(std::upper_bound(grid, grid + n, at) - grid - 1, 0, n - 2);
        auto point = [&](int64_t j) { return along(k + 1, values + j * stride); };
        double h = grid[i + 1] - grid[i], s = (at - grid[i]) / h;
        Dual a = point(i), b = point(i + 1), secant = (1 / h) * (b - a), slope, found;
        if (data[2] == 1) {
            found = a + s * (b - a);
            slope = secant;
        } else {
            auto other = [&](int64_t j) { return (1 / (grid[j + 1] - grid[j])) * (point(j + 1) - point(j)); };
            Dual left = secant, right = secant;
            if (n > 2) {
                Dual before = i > 0 ? other(i - 1) : Dual{0, 0}, after = i + 2 < n ? other(i + 1) : Dual{0, 0};
                double hb = i > 0 ? grid[i] - grid[i - 1] : 0, ha = i + 2 < n ? grid[i + 2] - grid[i + 1] : 0;
                left = i > 0 ? inner_slope(hb, h, before, secant) : end_slope(h, ha, secant, after);
                right = i + 2 < n ? inner_slope(h, ha, secant, after) : end_slope(h, hb, secant, before);
            }
            double r = 1 - s;
            found = (r * r * (1 + 2 * s)) * a + (s * s * (1 + 2 * r)) * b + (h * s * r * r) * left - (h * s * s * r) * right;
            slope = (6 * s * r) * secant + (r * (1 - 3 * s)) * left + (s * (3 * s - 2)) * right;
        }
        bool beyond = at != x[k];
        if (beyond && data[1] == 1) found = found + (x[k] - at) * slope;
        if (k == by && !(beyond && data[1] == 0)) found.g += slope.v;
        return found;
    }

    double value() const {
        for (int k = 0; k < dimensions(); ++k) {
            const double *grid = axis(k);
            if (std::isnan(x[k]) || (outside_refused() && (x[k] < grid[0] || x[k] > grid[size(k) - 1]))) return std::nan("");
        }
        Dual found = along(0, axis(dimensions()));
        return by < 0 ? found.v : found.g;
    }
};

template <int by> double grid3(const void *d, double a, double b, double c) {
    double x[] = {a, b, c};
    return Grid{static_cast<const double *>(d), x, by}.value();
}
template <int by> double grid4(const void *d, double a, double b, double c, double e) {
    double x[] = {a, b, c, e};
    return Grid{static_cast<const double *>(d), x, by}.value();
}
template <int by> double grid5(const void *d, double a, double b, double c, double e, double f) {
    double x[] = {a, b, c, e, f};
    return Grid{static_cast<const double *>(d), x, by}.value();
}
template <int by> double grid6(const void *d, double a, double b, double c, double e, double f, double g) {
    double x[] = {a, b, c, e, f, g};
    return Grid{static_cast<const double *>(d), x, by}.value();
}

template <int by> uintptr_t of(int dimensions) {
    if constexpr (by < 3)
        if (dimensions == 3) return reinterpret_cast<uintptr_t>(&grid3<by>);
    if constexpr (by < 4)
        if (dimensions == 4) return reinterpret_cast<uintptr_t>(&grid4<by>);
    if constexpr (by < 5)
        if (dimensions == 5) return reinterpret_cast<uintptr_t>(&grid5<by>);
    if (dimensions == 6) return reinterpret_cast<uintptr_t>(&grid6<by>);
    throw nb::value_error("grids have three to six dimensions");
}

} // namespace

void bind_grids(nb::module_ &m) {
    m.def(
        "grid_address",
        [](int dimensions, int by) {
            switch (by) {
            case -1: return of<-1>(dimensions);
            case 0: return of<0>(dimensions);
            case 1: return of<1>(dimensions);
            case 2: return of<2>(dimensions);
            case 3: return of<3>(dimensions);
            case 4: return of<4>(dimensions);
            case 5: return of<5>(dimensions);
            default: throw nb::value_error("no such argument");
            }
        },
        nb::arg("dimensions"), nb::arg("by") = -1, "Address of double f(const void* data, double, …): a table, or its derivative by an argument.");
}
