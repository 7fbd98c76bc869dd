// Tables: piecewise cubics in one and two arguments, evaluated without Python.
//
// The data are one float64 array made by language/tables.py, whose `_layout1` and `_layout2` say what stands where; the numpy
// evaluation there is the twin of this file and a test compares them. Functions have the form that kernels call,
// double f(const void* data, double x [, double y]); the orders of differentiation are template arguments, so that each
// derivative is a function of its own. They only read, and can run in any number of threads.

#include <nanobind/nanobind.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace {

namespace nb = nanobind;

constexpr int header = 8;
constexpr int record = 5;

// The interval i with grid[i] <= x < grid[i + 1], the last one for x = grid[n - 1]. x is inside the grid.
inline int64_t interval(const double* grid, int64_t n, double inverse_step, double x) {
    if (inverse_step > 0) {
        // The product may be off by one at the points, and the grid may be equidistant up to rounding only.
        int64_t i = std::clamp<int64_t>(static_cast<int64_t>((x - grid[0]) * inverse_step), 0, n - 2);
        if (x < grid[i] && i > 0) return i - 1;
        if (x >= grid[i + 1] && i < n - 2) return i + 1;
        return i;
    }
    int64_t low = 0, high = n - 1;
    while (high - low > 1) {
        const int64_t middle = (low + high) / 2;
        if (x >= grid[middle]) low = middle;
        else high = middle;
    }
    return low;
}

template <int order>
double table1(const void* data, double x) {
    const double* d = static_cast<const double*>(data);
    const int64_t n = static_cast<int64_t>(d[0]);
    const bool linear = d[1] == 1;
    const double* grid = d + header;
    if (std::isnan(x)) return x;
    if (d[1] == 2 && (x < grid[0] || x > grid[n - 1])) return std::nan("");
    if (x < grid[0]) {
        if (order > 1 || !linear) return order == 0 ? d[3] : 0.0;
        return order == 0 ? d[3] + d[4] * (x - grid[0]) : d[4];
    }
    if (x > grid[n - 1] || (order < 2 && x == grid[n - 1])) {
        const double beyond = x - grid[n - 1];
        if (order == 0) return linear ? d[5] + d[6] * beyond : d[5];
        return order == 1 && (linear || beyond == 0) ? d[6] : 0.0;
    }
    const int64_t i = interval(grid, n, d[2], x);
    const double* c = grid + n + record * i;
    const double s = (x - grid[i]) * c[0];
    if (order == 0) return c[1] + s * (c[2] + s * (c[3] + s * c[4]));
    if (order == 1) return (c[2] + s * (2 * c[3] + s * (3 * c[4]))) * c[0];
    if (order == 2) return (2 * c[3] + s * (6 * c[4])) * c[0] * c[0];
    return 6 * c[4] * c[0] * c[0] * c[0];
}

// What the values and slopes at both ends of an interval count for, in the order value, slope, value, slope.
struct Weights {
    double w[4];
};

Weights basis(int order, bool cubic, double s, double h) {
    const double r = 1 - s;
    if (!cubic) {
        if (order == 0) return {{r, 0, s, 0}};
        if (order == 1) return {{-1 / h, 0, 1 / h, 0}};
        return {{0, 0, 0, 0}};
    }
    switch (order) {
        case 0: return {{(1 + 2 * s) * r * r, h * s * r * r, s * s * (3 - 2 * s), h * s * s * (s - 1)}};
        case 1: return {{-6 * s * r / h, r * (1 - 3 * s), 6 * s * r / h, s * (3 * s - 2)}};
        case 2: return {{(12 * s - 6) / (h * h), (6 * s - 4) / h, (6 - 12 * s) / (h * h), (6 * s - 2) / h}};
        default: return {{12 / (h * h * h), 6 / (h * h), -12 / (h * h * h), 6 / (h * h)}};
    }
}

template <int order>
inline Weights weights(const double* grid, int64_t n, double inverse_step, bool linear, bool cubic, double x, int64_t& i) {
    const double inside = std::clamp(x, grid[0], grid[n - 1]);
    i = interval(grid, n, inverse_step, inside);
    const double h = grid[i + 1] - grid[i];
    const double s = (inside - grid[i]) / h;
    if (x == inside) return basis(order, cubic, s, h);
    if (order > 1 || (order == 1 && !linear)) return {{0, 0, 0, 0}};
    Weights found = basis(order, cubic, s, h);
    if (order == 0 && linear) {
        const Weights slope = basis(1, cubic, s, h);
        for (int k = 0; k < 4; ++k) found.w[k] += (x - inside) * slope.w[k];
    }
    return found;
}

template <int order_x, int order_y>
double table2(const void* data, double x, double y) {
    const double* d = static_cast<const double*>(data);
    if (std::isnan(x) || std::isnan(y)) return std::nan("");
    const int64_t nx = static_cast<int64_t>(d[0]), ny = static_cast<int64_t>(d[1]);
    const bool linear = d[2] == 1, cubic = d[3] == 3;
    const double *grid_x = d + header, *grid_y = grid_x + nx, *nodes = grid_y + ny;
    if (d[2] == 2 && (x < grid_x[0] || x > grid_x[nx - 1] || y < grid_y[0] || y > grid_y[ny - 1])) return std::nan("");
    int64_t i, j;
    const Weights by_x = weights<order_x>(grid_x, nx, d[4], linear, cubic, x, i);
    const Weights by_y = weights<order_y>(grid_y, ny, d[5], linear, cubic, y, j);
    double found = 0;
    for (int a = 0; a < 2; ++a) {
        for (int b = 0; b < 2; ++b) {
            const double* f = nodes + 4 * ((i + a) * ny + j + b);  // f, f_x, f_y, f_xy
            const double value = by_x.w[2 * a], slope = by_x.w[2 * a + 1];
            found += by_y.w[2 * b] * (value * f[0] + slope * f[1]) + by_y.w[2 * b + 1] * (value * f[2] + slope * f[3]);
        }
    }
    return found;
}

// One of several tables; the data are the addresses of theirs. Numbers are within bounds: they are parameters that have some.
template <int order>
double chosen1(const void* data, double which, double x) {
    return table1<order>(static_cast<const void* const*>(data)[static_cast<int64_t>(which)], x);
}

template <int order_x, int order_y>
double chosen2(const void* data, double which, double x, double y) {
    return table2<order_x, order_y>(static_cast<const void* const*>(data)[static_cast<int64_t>(which)], x, y);
}

using Chosen1 = double (*)(const void*, double, double);
using Chosen2 = double (*)(const void*, double, double, double);

constexpr Chosen1 chosens1[4] = {chosen1<0>, chosen1<1>, chosen1<2>, chosen1<3>};

template <int x>
constexpr Chosen2 chosen_row(int y) {
    return y == 0 ? chosen2<x, 0> : y == 1 ? chosen2<x, 1> : y == 2 ? chosen2<x, 2> : chosen2<x, 3>;
}

constexpr Chosen2 chosens2[4][4] = {
    {chosen_row<0>(0), chosen_row<0>(1), chosen_row<0>(2), chosen_row<0>(3)},
    {chosen_row<1>(0), chosen_row<1>(1), chosen_row<1>(2), chosen_row<1>(3)},
    {chosen_row<2>(0), chosen_row<2>(1), chosen_row<2>(2), chosen_row<2>(3)},
    {chosen_row<3>(0), chosen_row<3>(1), chosen_row<3>(2), chosen_row<3>(3)},
};

using Table1 = double (*)(const void*, double);
using Table2 = double (*)(const void*, double, double);

constexpr Table1 tables1[4] = {table1<0>, table1<1>, table1<2>, table1<3>};

template <int x>
constexpr Table2 row(int y) {
    return y == 0 ? table2<x, 0> : y == 1 ? table2<x, 1> : y == 2 ? table2<x, 2> : table2<x, 3>;
}

constexpr Table2 tables2[4][4] = {
    {row<0>(0), row<0>(1), row<0>(2), row<0>(3)},
    {row<1>(0), row<1>(1), row<1>(2), row<1>(3)},
    {row<2>(0), row<2>(1), row<2>(2), row<2>(3)},
    {row<3>(0), row<3>(1), row<3>(2), row<3>(3)},
};

int checked(int order) {
    if (order < 0 || order > 3) throw nb::value_error("tables have derivatives of order 0 to 3");
    return order;
}

}  // namespace

void bind_tables(nanobind::module_& m) {
    m.def(
        "table1_address", [](int order) { return reinterpret_cast<uintptr_t>(tables1[checked(order)]); }, nb::arg("order"),
        "Address of double f(const void* data, double x): a 1-D table or its derivative of the given order.");
    m.def(
        "table2_address", [](int x, int y) { return reinterpret_cast<uintptr_t>(tables2[checked(x)][checked(y)]); }, nb::arg("x"),
        nb::arg("y"), "Address of double f(const void* data, double x, double y): a 2-D table or its partial derivative.");
    m.def(
        "chosen1_address", [](int order) { return reinterpret_cast<uintptr_t>(chosens1[checked(order)]); }, nb::arg("order"),
        "Address of double f(const void* data, double which, double x): one of several 1-D tables or its derivative.");
    m.def(
        "chosen2_address", [](int x, int y) { return reinterpret_cast<uintptr_t>(chosens2[checked(x)][checked(y)]); },
        nb::arg("x"), nb::arg("y"),
        "Address of double f(const void* data, double which, double x, double y): one of several 2-D tables or its derivative.");
}
