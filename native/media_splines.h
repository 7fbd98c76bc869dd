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
INLINE double one(Spread x) { return x; }
#else
typedef v2 Part;
typedef v2 Spread;
INLINE Part everywhere(double x) { return v2{x, x}; }
INLINE Part spread(Spread x) { return x; }
INLINE double one(Spread x) { return x[0]; }
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

INLINE int64_t span_of(const Axis& a, double x) {
    const double u = (x - a.start) * a.per_unit;
    const int64_t bucket = !(u > 0) ? 0 : u >= a.buckets ? a.buckets - 1 : static_cast<int64_t>(u);  // not a number: the first
    int64_t i = static_cast<int64_t>(a.bucket[bucket]);
    while (i < a.spans - 1 && x >= a.knots[i + 1]) ++i;
    return i;
}

INLINE void keep(const Part& x, Spread* to) {
#if defined(__AVX2__)
    std::memcpy(to, &x, sizeof x);
#else
    to[0] = __builtin_shuffle(x, (__typeof__(x < x)){0, 0});
    to[1] = __builtin_shuffle(x, (__typeof__(x < x)){1, 1});
#endif
}

// Up to half a span beyond its ends an axis goes on with its polynomial, then with a parabola: smooth, and never wild.
template <int order>
INLINE void weights(const Axis& a, double x, Weights& w, int64_t i) {
    const double inverse = a.inverse[i], s = (x - a.knots[i]) * inverse;
    const double inside = s < -0.5 ? -0.5 : s > 1.5 ? 1.5 : s;
    const double* basis = a.basis + i * (degree + 1) * lanes;
    const Part t = everywhere(inside), first = everywhere(inverse), second = everywhere(2 * inverse * inverse);
    w.first = i;
    for (int k = 0; k <= degree; k += width) {
        const auto power = [&](int m) { return part_at(basis + m * lanes + k); };
        Part d = power(5), v = d * t + power(4), e = d;
        d = d * t + v;
        v = v * t + power(3);
        for (int m = 2; m >= 0; --m) {
            if constexpr (order == 2) e = e * t + d;
            d = d * t + v;
            v = v * t + power(m);
        }
        if (s != inside) {
            if constexpr (order == 1) e = power(2) + t * (3.0 * power(3) + t * (6.0 * power(4) + t * (10.0 * power(5))));
            const Part far = everywhere(s - inside);
            v += far * (d + far * e);
            d += far * e * 2.0;
        }
        keep(v, w.w[0] + k);
        keep(d * first, w.w[1] + k);
        if constexpr (order == 2) keep(e * second, w.w[2] + k);
    }
}
template <int order>
INLINE void weights(const Axis& a, double x, Weights& w) {
    weights<order>(a, x, w, span_of(a, x));
}

// A table with nodes [x][y][4 fields]: value, x, y, xx, xy, yy.
template <int order>
INLINE void tensor(const double* nodes, int64_t ny, const Weights& wx, const Weights& wy, Jet2<order>& f) {
    constexpr int outputs = order == 2 ? 6 : 3;
    for (int part = 0; part < parts; ++part) {
        Part found[6] = {};
        const double* base = nodes + (wx.first * ny + wy.first) * 4 + width * part;
        for (int a = 0; a <= degree; ++a, base += 4 * ny) {
            Part g[3] = {};
            for (int b = 0; b <= degree; ++b) {
                const Part n = part_at(base + 4 * b);
                for (int d = 0; d <= order; ++d) g[d] += n * spread(wy.w[d][b]);
            }
            const Part w0 = spread(wx.w[0][a]), w1 = spread(wx.w[1][a]);
            found[0] += g[0] * w0;
            found[1] += g[0] * w1;
            found[2] += g[1] * w0;
            if constexpr (order == 2) {
                found[3] += g[0] * spread(wx.w[2][a]);
                found[4] += g[1] * w1;
                found[5] += g[2] * w0;
            }
        }
        for (int k = 0; k < outputs; ++k) put(found[k], f.d[k], part);
    }
}

// Four curves with nodes `stride` doubles apart.
template <int order>
INLINE Jet1<order> curves(const double* nodes, int64_t stride, const Weights& w) {
    Jet1<order> r;
    for (int part = 0; part < parts; ++part) {
        Part found[3] = {};
        const double* node = nodes + w.first * stride + width * part;
        for (int k = 0; k <= degree; ++k, node += stride) {
            const Part n = part_at(node);
            for (int d = 0; d <= order; ++d) found[d] += n * spread(w.w[d][k]);
        }
        for (int d = 0; d <= order; ++d) put(found[d], r.d[d], part);
    }
    return r;
}

template <int order>
INLINE Curve curve(const double* nodes, const Weights& w) {
    double r[3] = {0, 0, 0};
    for (int k = 0; k <= degree; ++k)
        for (int d = 0; d <= order; ++d) r[d] += nodes[w.first + k] * one(w.w[d][k]);
    return {r[0], r[1], r[2]};
}

INLINE Curve lane(const Jet1<2>& j, int k) { return {j.d[0][k], j.d[1][k], j.d[2][k]}; }
INLINE Curve lane(const Jet1<1>& j, int k) { return {j.d[0][k], j.d[1][k], 0}; }

}  // namespace
