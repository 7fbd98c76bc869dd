// Tensor-product B-splines of degree 5 with first and second derivatives: weights of the basis, values of nodes.
// Part of media_tables.h, which says how it is compiled.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>

#include "media_table.h"

namespace {

using acausal::media::Axis;
using acausal::media::Function;
using acausal::media::Table;

constexpr int degree = 5, lanes = 8;
typedef double v4 __attribute__((vector_size(32), aligned(32)));
typedef double v2 __attribute__((vector_size(16), aligned(16)));

#define INLINE inline __attribute__((always_inline))

INLINE v4 all(double x) { return v4{x, x, x, x}; }
INLINE v4 at(const double* c) { return *reinterpret_cast<const v4*>(c); }

// The four fields of a node go through a processor's registers together, or, where these hold two numbers, as two halves one after
// the other: all sums of one half fit into sixteen registers. There a weight is kept twice, since to spread it costs as much as to use it.
#if defined(__AVX2__)
typedef v4 Part;
typedef double Spread;
INLINE Part everywhere(double x) { return all(x); }
INLINE Part spread(Spread x) { return all(x); }
#else
typedef v2 Part;
typedef v2 Spread;
INLINE Part everywhere(double x) { return v2{x, x}; }
INLINE Part spread(Spread x) { return x; }
#endif
constexpr int width = sizeof(Part) / sizeof(double), parts = 4 / width;
INLINE Part part_at(const double* c) { return *reinterpret_cast<const Part*>(c); }
INLINE void put(const Part& x, v4& all_of, int part) { std::memcpy(reinterpret_cast<double*>(&all_of) + width * part, &x, sizeof x); }

// Weights of the six basis functions that matter at a point: for the value, the first and the second derivative.
struct Weights {
    alignas(32) Spread w[3][lanes];
    int64_t first;
};

// Four fields over (p, h) with derivatives to `order`: value, p, h, pp, ph, hh.
template <int order>
struct Jet2 {
    v4 d[order == 2 ? 6 : 3];
};
// Four fields over p: value, first and second derivative.
template <int order>
struct Jet1 {
    v4 d[order + 1];
};
// One number over p.
struct Curve {
    double v, d, dd;
};

// Where x is on an axis: in which span, and how far into it, of its width.
struct Place {
    int64_t span;
    double s, inverse;
};

// There is one knot in a bucket at most, so that no branch depends on x.
INLINE Place place(const Axis& a, double x) {
    int64_t i = a.bucket[a.bucket_of(x)];
    i += x >= a.knots[i + 1];
    const double inverse = a.inverse[i];
    return {i, (x - a.knots[i]) * inverse, inverse};
}

INLINE void keep(const Part& x, Spread* to) {
#if defined(__AVX2__)
    std::memcpy(to, &x, sizeof x);
#else
    to[0] = __builtin_shuffle(x, (__typeof__(x < x)){0, 0});
    to[1] = __builtin_shuffle(x, (__typeof__(x < x)){1, 1});
#endif
}

// A polynomial of degree 5, its first and half its second derivative: E(s²) + s O(s²), since what waits for these waits half as
// long as for Horner's chain.
template <int order, class T, class Power>
INLINE void polynomial(Power power, const T& s, T& v, T& d, T& e) {
    const T t = s * s, c4 = power(4) * t, c5 = power(5) * t, e1 = c4 + power(2), o1 = c5 + power(3);
    const T odd = o1 * t + power(1), slope_e = e1 + c4, slope_o = (o1 + c5) * s;
    v = odd * s + (e1 * t + power(0));
    d = (slope_e + slope_o) * (s + s) + odd;
    if constexpr (order == 2) e = slope_e + slope_o * 3.0 + (c4 + c5 * s) * 4.0;
}

// Up to half a span beyond its ends an axis goes on with its polynomial, then with a parabola: smooth, and never wild.
INLINE bool is_far(const Place& at) { return std::fabs(at.s - 0.5) > 1; }
INLINE Place edge(const Place& at) { return {at.span, at.s < 0 ? -0.5 : 1.5, at.inverse}; }

template <class T, class Power>
INLINE void parabola(Power power, const T& edge, const T& far, T& v, T& d, T& e) {
    polynomial<2>(power, edge, v, d, e);
    v += far * (d + far * e);
    d += far * e * 2.0;
}

INLINE auto basis_at(const Axis& a, const Place& at, int k) {
    return [from = a.basis + at.span * (degree + 1) * lanes + k](int m) { return part_at(from + m * lanes); };
}
template <int order>
INLINE void keep(const Part& v, const Part& d, const Part& e, double inverse, Weights& w, int k) {
    keep(v, w.w[0] + k);
    keep(d * everywhere(inverse), w.w[1] + k);
    if constexpr (order == 2) keep(e * everywhere(2 * inverse * inverse), w.w[2] + k);
}

template <int order>
__attribute__((noinline)) void far_weights(const Axis& a, const Place& at, Weights& w) {
    const Part end = everywhere(edge(at).s), far = everywhere(at.s) - end;
    for (int k = 0; k <= degree; k += width) {
        Part v, d, e;
        parabola(basis_at(a, at, k), end, far, v, d, e);
        keep<order>(v, d, e, at.inverse, w, k);
    }
}

template <int order>
INLINE void weights(const Axis& a, const Place& at, Weights& w) {
    w.first = at.span;
    if (is_far(at)) return far_weights<order>(a, at, w);
    for (int k = 0; k <= degree; k += width) {
        Part v, d, e;
        polynomial<order>(basis_at(a, at, k), everywhere(at.s), v, d, e);
        keep<order>(v, d, e, at.inverse, w, k);
    }
}

// Four curves that are given as polynomials of each span; of them those from lane `from` on, before lane `to`.
template <int order>
INLINE void curves(const double* pieces, const Place& at, Jet1<order>& r, int from = 0, int to = 4) {
    const Part inverse = everywhere(at.inverse);
    for (int part = (from + width - 1) / width; part * width < to; ++part) {
        const auto power = [&](int m) { return part_at(pieces + 4 * (at.span * (degree + 1) + m) + width * part); };
        Part v, d, e;
        if (is_far(at)) parabola(power, everywhere(edge(at).s), everywhere(at.s - edge(at).s), v, d, e);
        else polynomial<order>(power, everywhere(at.s), v, d, e);
        put(v, r.d[0], part);
        put(d * inverse, r.d[1], part);
        if constexpr (order == 2) put(e * inverse * inverse * 2.0, r.d[2], part);
    }
}
template <int order>
INLINE Jet1<order> curves(const double* pieces, const Place& at) {
    Jet1<order> r;
    curves(pieces, at, r);
    return r;
}

// One of them.
template <int order>
INLINE Curve curve(const double* pieces, const Place& at) {
    const auto power = [&](int m) { return pieces[lanes * at.span + m]; };
    double v, d, e = 0;
    if (is_far(at)) parabola(power, edge(at).s, at.s - edge(at).s, v, d, e);
    else polynomial<order>(power, at.s, v, d, e);
    return {v, d * at.inverse, 2 * e * at.inverse * at.inverse};
}

// Weights are operands in memory: a compiler that takes all of them into registers writes most of them back elsewhere.
INLINE void reload(const Weights& w) { asm volatile("" : : "r"(&w) : "memory"); }
INLINE void add(Part& sum, const Part& term, int k) { sum = k ? sum + term : term; }  // a sum that starts with nothing costs an addition

// A table with nodes [x][y][4 fields]: value, x, y, xx, xy, yy. The weights of y, which come last, are wanted last.
template <int order>
INLINE void tensor(const double* nodes, int64_t ny, const Weights& wx, const Weights& wy, Jet2<order>& f) {
    constexpr int outputs = order == 2 ? 6 : 3;
    for (int part = 0; part < parts; ++part) {
        Part found[6];
        const double* base = nodes + (wx.first * ny + wy.first) * 4 + width * part;
#pragma GCC unroll 6
        for (int b = 0; b <= degree; ++b, base += 4) {
            reload(wx);
            Part g[3];
            for (int a = 0; a <= degree; ++a) {
                const Part n = part_at(base + 4 * a * ny);
                for (int d = 0; d <= order; ++d) add(g[d], n * spread(wx.w[d][a]), a);
            }
            const Part w0 = spread(wy.w[0][b]), w1 = spread(wy.w[1][b]);
            add(found[0], g[0] * w0, b);
            add(found[1], g[1] * w0, b);
            add(found[2], g[0] * w1, b);
            if constexpr (order == 2) {
                add(found[3], g[2] * w0, b);
                add(found[4], g[1] * w1, b);
                add(found[5], g[0] * spread(wy.w[2][b]), b);
            }
        }
        for (int k = 0; k < outputs; ++k) put(found[k], f.d[k], part);
    }
}

INLINE Curve lane(const Jet1<2>& j, int k) { return {j.d[0][k], j.d[1][k], j.d[2][k]}; }
INLINE Curve lane(const Jet1<1>& j, int k) { return {j.d[0][k], j.d[1][k], 0}; }

}  // namespace
