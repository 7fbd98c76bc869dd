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

#define INLINE inline __attribute__((always_inline))

// Weights of the six basis functions that matter at a point: for the value, the first and the second derivative.
struct Weights {
    alignas(32) double w[3][lanes];
    int64_t first;
};

// Four fields over (p, h): value, p, h, pp, ph, hh.
struct Jet2 {
    v4 d[6];
};
// Four fields over p: value, first and second derivative.
struct Jet1 {
    v4 d[3];
};
// One number over p.
struct Curve {
    double v, d, dd;
};

INLINE v4 all(double x) { return v4{x, x, x, x}; }
INLINE v4 at(const double* c) { return *reinterpret_cast<const v4*>(c); }

INLINE int64_t span_of(const Axis& a, double x) {
    const double u = (x - a.start) * a.per_unit;
    const int64_t bucket = !(u > 0) ? 0 : u >= a.buckets ? a.buckets - 1 : static_cast<int64_t>(u);  // not a number: the first
    int64_t i = static_cast<int64_t>(a.bucket[bucket]);
    while (i < a.spans - 1 && x >= a.knots[i + 1]) ++i;
    return i;
}

// Up to half a span beyond its ends an axis goes on with its polynomial, then with a parabola: smooth, and never wild.
INLINE void weights(const Axis& a, double x, Weights& w) {
    const int64_t i = span_of(a, x);
    const double inverse = a.inverse[i], s = (x - a.knots[i]) * inverse;
    const double inside = s < -0.5 ? -0.5 : s > 1.5 ? 1.5 : s;
    const double* basis = a.basis + i * (degree + 1) * lanes;
    w.first = i;
    for (int half = 0; half < lanes; half += 4) {
        v4 v = at(basis + degree * lanes + half), d = all(0), e = all(0);
        const v4 t = all(inside);
        for (int m = degree - 1; m >= 0; --m) {
            e = e * t + d;
            d = d * t + v;
            v = v * t + at(basis + m * lanes + half);
        }
        if (s != inside) {
            const v4 far = all(s - inside);
            v += far * (d + far * e);
            d += all(2) * far * e;
        }
        std::memcpy(w.w[0] + half, &v, sizeof v);
        d *= all(inverse);
        std::memcpy(w.w[1] + half, &d, sizeof d);
        e *= all(2 * inverse * inverse);
        std::memcpy(w.w[2] + half, &e, sizeof e);
    }
}

// A table with nodes [x][y][4 fields]: value, x, y, xx, xy, yy.
INLINE void tensor(const double* nodes, int64_t ny, const Weights& wx, const Weights& wy, Jet2& f) {
    v4 v = all(0), x = all(0), y = all(0), xx = all(0), xy = all(0), yy = all(0);
    const double* base = nodes + (wx.first * ny + wy.first) * 4;
    for (int a = 0; a <= degree; ++a, base += 4 * ny) {
        v4 g = all(0), gy = all(0), gyy = all(0);
        for (int b = 0; b <= degree; ++b) {
            const v4 n = at(base + 4 * b);
            g += n * all(wy.w[0][b]);
            gy += n * all(wy.w[1][b]);
            gyy += n * all(wy.w[2][b]);
        }
        const v4 w0 = all(wx.w[0][a]), w1 = all(wx.w[1][a]), w2 = all(wx.w[2][a]);
        v += g * w0;
        x += g * w1;
        xx += g * w2;
        y += gy * w0;
        xy += gy * w1;
        yy += gyy * w0;
    }
    f = {{v, x, y, xx, xy, yy}};
}

// Four curves with nodes `stride` doubles apart.
INLINE Jet1 curves(const double* nodes, int64_t stride, const Weights& w) {
    Jet1 r = {{all(0), all(0), all(0)}};
    const double* node = nodes + w.first * stride;
    for (int k = 0; k <= degree; ++k, node += stride) {
        const v4 n = at(node);
        for (int d = 0; d < 3; ++d) r.d[d] += n * all(w.w[d][k]);
    }
    return r;
}

INLINE Curve curve(const double* nodes, const Weights& w) {
    double r[3] = {0, 0, 0};
    for (int k = 0; k <= degree; ++k)
        for (int d = 0; d < 3; ++d) r[d] += nodes[w.first + k] * w.w[d][k];
    return {r[0], r[1], r[2]};
}

INLINE Curve lane(const Jet1& j, int k) { return {j.d[0][k], j.d[1][k], j.d[2][k]}; }

}  // namespace
