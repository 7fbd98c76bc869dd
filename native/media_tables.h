// Fluid properties over (p, h): evaluation of the tables that src/acausal/media/build.py makes (docs/media.md has the layout).
//
// Tensor-product B-splines of degree 5 in regions, each in coordinates of its own:
//   vapour V        ln p and y = (h - hv(p)) / (hmax(p) - hv(p)); density is stored as rho / p
//   liquid L        h and z = (p - pl(h)) / (pmax - pl(h))
//   near- and supercritical R   ln p and y = (h - h_split) / (hmax(p) - h_split), p > p_low
//   dome            the chord between the single-phase surfaces at hl(p) and hv(p): no property jumps at a border
// L and R are blended in h between h_split and h_join, V and R in p between p_low and p_high, twice continuously differentiable.
//
// This file is compiled twice, for any processor and for those with AVX2 (media.cpp, media_avx2.cpp); everything stands in an
// unnamed namespace, so that the linker cannot take one for the other. Nothing is written but the results: any number of threads.
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

// From derivatives by (x, y) to those by (x, Y), where y = (Y - a(x)) / (b(x) - a(x)).
INLINE void aligned(Jet2& f, double y, const Curve& a, const Curve& b) {
    const double r = 1 / (b.v - a.v), w1 = b.d - a.d, w2 = b.dd - a.dd;
    const double yx = (-a.d - y * w1) * r, yxx = (-a.dd - y * w2 - 2 * yx * w1) * r, rx = -w1 * r * r;
    const v4 x = f.d[1], fy = f.d[2], xx = f.d[3], xy = f.d[4], yy = f.d[5];
    f.d[1] = x + fy * all(yx);
    f.d[2] = fy * all(r);
    f.d[3] = xx + all(2 * yx) * xy + yy * all(yx * yx) + fy * all(yxx);
    f.d[4] = (xy + yy * all(yx)) * all(r) + fy * all(rx);
    f.d[5] = yy * all(r * r);
}

// From derivatives by ln p to those by p.
INLINE void unlog(Jet2& f, double ip) {
    f.d[3] = (f.d[3] - f.d[1]) * all(ip * ip);
    f.d[1] *= all(ip);
    f.d[4] *= all(ip);
}
INLINE void unlog(Jet1& f, double ip) {
    f.d[2] = (f.d[2] - f.d[1]) * all(ip * ip);
    f.d[1] *= all(ip);
}
INLINE Curve unlog(const Curve& c, double ip) { return {c.v, c.d * ip, (c.dd - c.d) * ip * ip}; }

// The fields of a block. STATE: T, rho, s, speed of sound. MORE: 1/cp, cv, viscosity, 1/conductivity.
enum Block { STATE = 0, MORE = 1 };

// rho = p * (rho / p), in lane 1.
INLINE void times_p(Jet2& f, double p) {
    const v4 scale = {1, p, 1, 1}, only = {0, 1, 0, 0};
    f.d[3] = f.d[3] * scale + all(2) * only * f.d[1];
    f.d[4] = f.d[4] * scale + only * f.d[2];
    f.d[5] *= scale;
    f.d[1] = f.d[1] * scale + only * f.d[0];
    f.d[2] *= scale;
    f.d[0] *= scale;
}
INLINE void times_p(Jet1& f, double p) {
    const v4 scale = {1, p, 1, 1}, only = {0, 1, 0, 0};
    f.d[2] = f.d[2] * scale + all(2) * only * f.d[1];
    f.d[1] = f.d[1] * scale + only * f.d[0];
    f.d[0] *= scale;
}

typedef int64_t m4 __attribute__((vector_size(32), aligned(32)));

// Lanes whose reciprocals are averaged over two phases: the volume, not the density; and those that are stored as reciprocals.
INLINE m4 reciprocal_lanes(Block block) { return block == STATE ? m4{0, -1, 0, 0} : m4{-1, 0, 0, -1}; }

INLINE void reciprocal(Jet2& f, m4 lanes) {
    const v4 i = all(1) / f.d[0], p = f.d[1] * i, h = f.d[2] * i;
    f.d[3] = lanes ? (all(2) * p * p - f.d[3] * i) * i : f.d[3];
    f.d[4] = lanes ? (all(2) * p * h - f.d[4] * i) * i : f.d[4];
    f.d[5] = lanes ? (all(2) * h * h - f.d[5] * i) * i : f.d[5];
    f.d[0] = lanes ? i : f.d[0];
    f.d[1] = lanes ? -p * i : f.d[1];
    f.d[2] = lanes ? -h * i : f.d[2];
}
INLINE void reciprocal(Jet1& f, m4 lanes) {
    const v4 i = all(1) / f.d[0], p = f.d[1] * i;
    f.d[2] = lanes ? (all(2) * p * p - f.d[2] * i) * i : f.d[2];
    f.d[0] = lanes ? i : f.d[0];
    f.d[1] = lanes ? -p * i : f.d[1];
}

constexpr double hottest = 1.05;  // of y: a table goes on a little beyond its end, for iterations that look there

INLINE void undefined(Jet2& f) {
    for (v4& d : f.d) d = all(std::nan(""));
}

// --- single-phase surfaces ------------------------------------------------------------------------------------------------

INLINE void vapour(const Table& t, Block block, double p, const Weights& wx, const Jet1& c, double h, Jet2& f) {
    const Curve hv = lane(c, 1), hmax = lane(c, 2);
    const double y = (h - hv.v) / (hmax.v - hv.v);
    if (y > hottest) return undefined(f);
    Weights wy;
    weights(t.vapour_y, y, wy);
    tensor(t.vapour[block], t.vapour_ny, wx, wy, f);
    aligned(f, y, hv, hmax);
    unlog(f, 1 / p);
    if (block == STATE) times_p(f, p);
}

// `wh` and `pl` belong to h.
INLINE void liquid(const Table& t, Block block, double p, const Weights& wh, const Curve& pl, Jet2& f) {
    const double z = (p - pl.v) / (t.p_max - pl.v);
    Weights wz;
    weights(t.liquid_z, z, wz);
    tensor(t.liquid[block], t.liquid_nz, wh, wz, f);
    aligned(f, z, pl, Curve{t.p_max, 0, 0});
    const v4 by_h = f.d[1], by_hh = f.d[3];  // here x is h and Y is p
    f.d[1] = f.d[2];
    f.d[2] = by_h;
    f.d[3] = f.d[5];
    f.d[5] = by_hh;
}

void liquid(const Table& t, Block block, double p, double h, Jet2& f) {
    Weights wh;
    weights(t.liquid_h, h, wh);
    liquid(t, block, p, wh, curve(t.liquid_p, wh), f);
}

void region(const Table& t, Block block, double p, double h, Jet2& f) {
    Weights wx, wy;
    weights(t.region_x, std::log(p), wx);
    const Curve low = {t.h_split, 0, 0}, high = curve(t.region_hmax, wx);
    const double y = (h - low.v) / (high.v - low.v);
    if (y > hottest) return undefined(f);
    weights(t.region_y, y, wy);
    tensor(t.region[block], t.region_ny, wx, wy, f);
    aligned(f, y, low, high);
    unlog(f, 1 / p);
}

// s³(10 - 15 s + 6 s²) on 0 … 1, by a variable in which it is 1/inverse wide.
INLINE Curve smoothstep(double s, double inverse) {
    return {s * s * s * (10 + s * (6 * s - 15)), 30 * s * s * (1 - s) * (1 - s) * inverse,
            60 * s * (1 - s) * (1 - 2 * s) * inverse * inverse};
}

// a + w (b - a), where w depends on p (by = 1) or on h (by = 2).
INLINE void blend(const Jet2& a, const Jet2& b, const Curve& w, int by, Jet2& f) {
    const int other = 3 - by, twice = by == 1 ? 3 : 5, other_twice = 8 - twice;
    v4 z[6];
    for (int k = 0; k < 6; ++k) z[k] = b.d[k] - a.d[k];
    const v4 w0 = all(w.v), w1 = all(w.d), w2 = all(w.dd);
    f.d[0] = a.d[0] + w0 * z[0];
    f.d[by] = a.d[by] + w0 * z[by] + w1 * z[0];
    f.d[other] = a.d[other] + w0 * z[other];
    f.d[twice] = a.d[twice] + w0 * z[twice] + all(2) * w1 * z[by] + w2 * z[0];
    f.d[4] = a.d[4] + w0 * z[4] + w1 * z[other];
    f.d[other_twice] = a.d[other_twice] + w0 * z[other_twice];
}

// The surface of one phase at p >= p_low.
void single(const Table& t, Block block, double p, double h, bool liquid_side, Jet2& f) {
    if (liquid_side) {
        if (h <= t.h_split) return liquid(t, block, p, h, f);
        if (h >= t.h_join) return region(t, block, p, h, f);
        Jet2 a, b;
        liquid(t, block, p, h, a);
        region(t, block, p, h, b);
        const double inverse = 1 / (t.h_join - t.h_split);
        return blend(a, b, smoothstep((h - t.h_split) * inverse, inverse), 2, f);
    }
    if (p >= t.p_high) return region(t, block, p, h, f);
    Weights wx;
    weights(t.dome_x, std::log(p), wx);
    Jet2 a, b;
    vapour(t, block, p, wx, curves(t.dome, 4, wx), h, a);
    region(t, block, p, h, b);
    const double inverse = 1 / (t.p_high - t.p_low);
    blend(a, b, smoothstep((p - t.p_low) * inverse, inverse), 1, f);
}

// --- borders --------------------------------------------------------------------------------------------------------------

// hl where the liquid's table has its border, p = pl(hl). `wh` comes out for a guess that is `shift` short of it: some 1e-8 of the
// range, so that two terms of Taylor's series lead from there to hl, for the fields too, below rounding.
INLINE Curve liquid_border(const Table& t, double p, double guess, Weights& wh, double& shift) {
    weights(t.liquid_h, guess, wh);
    const Curve pl = curve(t.liquid_p, wh);
    const double first = (p - pl.v) / pl.d;
    shift = first * (1 - 0.5 * pl.dd / pl.d * first);
    const double d = 1 / (pl.d + pl.dd * shift);
    return {guess + shift, d, -pl.dd * d * d * d};
}

// What lies along a border h = H(p) of a surface, as functions of p.
INLINE Jet1 along(const Jet2& f, const Curve& H) {
    return {{f.d[0], f.d[1] + f.d[2] * all(H.d),
             f.d[3] + all(2 * H.d) * f.d[4] + all(H.d * H.d) * f.d[5] + all(H.dd) * f.d[2]}};
}

// Both ends of the two-phase range at one pressure.
struct Ends {
    Curve hl, hv;
    Jet1 l, v;  // the fields; filled by `fields`
    Weights wx, wh;
    double shift;  // from where `wh` holds to hl
    bool two;  // there is room between them
};

INLINE Curve mixed(const Curve& a, const Curve& b, const Curve& w) {
    const Curve z = {b.v - a.v, b.d - a.d, b.dd - a.dd};
    return {a.v + w.v * z.v, a.d + w.v * z.d + w.d * z.v, a.dd + w.v * z.dd + 2 * w.d * z.d + w.dd * z.v};
}

INLINE void lower_ends(const Table& t, double p, Ends& e) {
    weights(t.dome_x, std::log(p), e.wx);
    const Jet1 c = curves(t.dome, 4, e.wx);
    e.hl = liquid_border(t, p, c.d[0][0], e.wh, e.shift);
    e.hv = unlog(lane(c, 1), 1 / p);
    e.two = true;
}

constexpr double narrowest = 1e-7;  // of the dome's top, as a share of its enthalpy: what is narrower is one phase

void upper_ends(const Table& t, double p, Ends& e) {
    Weights w;
    weights(t.top_x, std::log(p < t.p_critical ? p : t.p_critical), w);
    const Jet1 c = curves(t.top, 4, w);
    const Curve mean = unlog(lane(c, 0), 1 / p), square = unlog(lane(c, 1), 1 / p);
    const double least = narrowest * t.h_unit, D = square.v;
    e.two = p < t.p_critical && D > least * least;
    if (!e.two) {
        e.hl = e.hv = p < t.p_critical ? mean : Curve{mean.v, 0, 0};
        return;
    }
    const double r = std::sqrt(D), r1 = square.d / (2 * r), r2 = (square.dd - 2 * r1 * r1) / (2 * r);
    e.hl = {mean.v - r, mean.d - r1, mean.dd - r2};
    e.hv = {mean.v + r, mean.d + r1, mean.dd + r2};
    if (p < t.p_high) {
        const double inverse = 1 / (t.p_high - t.p_low);
        const Curve weight = smoothstep((p - t.p_low) * inverse, inverse);
        Ends below;
        lower_ends(t, p, below);
        e.hl = mixed(below.hl, e.hl, weight);
        e.hv = mixed(below.hv, e.hv, weight);
    }
}

INLINE void ends(const Table& t, double p, Ends& e) {
    if (p < t.p_low) lower_ends(t, p, e);
    else upper_ends(t, p, e);
}

// The fields at both ends, below p_low: the first row of each table is its border.
INLINE void lower_fields(const Table& t, Block block, double p, Ends& e) {
    const Curve& h = e.hl;
    Jet1 by_h = curves(t.liquid[block], 4 * t.liquid_nz, e.wh);
    by_h.d[0] += all(e.shift) * (by_h.d[1] + all(0.5 * e.shift) * by_h.d[2]);
    by_h.d[1] += all(e.shift) * by_h.d[2];
    e.l = {{by_h.d[0], by_h.d[1] * all(h.d), by_h.d[2] * all(h.d * h.d) + by_h.d[1] * all(h.dd)}};
    e.v = curves(t.vapour[block], 4 * t.vapour_ny, e.wx);
    unlog(e.v, 1 / p);
    if (block == STATE) times_p(e.v, p);
}

void upper_fields(const Table& t, Block block, double p, Ends& e) {
    Jet2 f;
    single(t, block, p, e.hl.v, true, f);
    e.l = along(f, e.hl);
    single(t, block, p, e.hv.v, false, f);
    e.v = along(f, e.hv);
}

void fields(const Table& t, Block block, double p, Ends& e) {
    if (p < t.p_low) lower_fields(t, block, p, e);
    else upper_fields(t, block, p, e);
}

// Two phases: volume, entropy and whatever else is asked for are linear in h between the ends.
INLINE void chord(Block block, double h, Ends& e, Jet2& f) {
    const m4 lanes = reciprocal_lanes(block);
    reciprocal(e.l, lanes);
    reciprocal(e.v, lanes);
    const double w1 = e.hv.d - e.hl.d, w2 = e.hv.dd - e.hl.dd, r = 1 / (e.hv.v - e.hl.v), x = (h - e.hl.v) * r;
    const double xp = -(e.hl.d + x * w1) * r, xph = -w1 * r * r, xpp = -(e.hl.dd + 2 * xp * w1 + x * w2) * r;
    const v4 d0 = e.v.d[0] - e.l.d[0], d1 = e.v.d[1] - e.l.d[1], d2 = e.v.d[2] - e.l.d[2];
    f.d[0] = e.l.d[0] + d0 * all(x);
    f.d[1] = e.l.d[1] + d1 * all(x) + d0 * all(xp);
    f.d[2] = d0 * all(r);
    f.d[3] = e.l.d[2] + d2 * all(x) + all(2 * xp) * d1 + d0 * all(xpp);
    f.d[4] = d1 * all(r) + d0 * all(xph);
    f.d[5] = all(0);
    reciprocal(f, lanes);
}

// --- states ---------------------------------------------------------------------------------------------------------------

enum Phase { LIQUID = -1, TWO = 0, VAPOUR = 1, ANY = 2 };

// Near and above the critical point, whatever phase it is.
__attribute__((noinline)) void upper(const Table& t, Block block, double p, double h, Jet2& f) {
    if (p >= t.p_critical) return single(t, block, p, h, h < t.h_join, f);
    Ends e;
    upper_ends(t, p, e);
    if (e.two && h > e.hl.v && h < e.hv.v) {
        upper_fields(t, block, p, e);
        return chord(block, h, e, f);
    }
    single(t, block, p, h, h < 0.5 * (e.hl.v + e.hv.v), f);
}

// A phase that the caller knows; each surface goes on beyond its border.
__attribute__((noinline)) void branch(const Table& t, Block block, double p, double h, double phase, Jet2& f) {
    if (p >= t.p_critical) return single(t, block, p, h, h < t.h_join, f);
    if (phase < -0.5) {
        if (p < t.p_low) return liquid(t, block, p, h, f);
        return single(t, block, p, h, true, f);
    }
    if (phase > 0.5) {
        if (p >= t.p_low) return single(t, block, p, h, false, f);
        Weights wx;
        weights(t.dome_x, std::log(p), wx);
        return vapour(t, block, p, wx, curves(t.dome, 4, wx), h, f);
    }
    Ends e;
    ends(t, p, e);
    if (e.two) {
        fields(t, block, p, e);
        return chord(block, h, e, f);
    }
    single(t, block, p, h, h < t.h_join, f);
}

INLINE bool inside(const Table& t, double p, double h) {
    return p >= 0.9 * t.p_min && p <= 1.02 * t.p_max && h >= t.h_min - 0.05 * t.h_unit;
}

INLINE void surface(const Table& t, Block block, double p, double h, Jet2& f) {
    if (p >= t.p_low) return upper(t, block, p, h, f);
    if (h <= t.h_split) {  // what is above it is no liquid below p_low
        Weights wh;
        weights(t.liquid_h, h, wh);
        const Curve pl = curve(t.liquid_p, wh);
        if (p >= pl.v) return liquid(t, block, p, wh, pl, f);
    }
    Ends e;
    weights(t.dome_x, std::log(p), e.wx);
    const Jet1 c = curves(t.dome, 4, e.wx);
    if (h >= c.d[0][1]) return vapour(t, block, p, e.wx, c, h, f);
    e.hl = liquid_border(t, p, c.d[0][0], e.wh, e.shift);
    e.hv = unlog(lane(c, 1), 1 / p);
    lower_fields(t, block, p, e);
    chord(block, h, e, f);
}

void state(const Table& t, Block block, double p, double h, double phase, Jet2& f) {
    if (!inside(t, p, h)) return undefined(f);
    if (phase >= 1.5) surface(t, block, p, h, f);
    else branch(t, block, p, h, phase, f);
}

// Arguments p, h, phase (-1 liquid, 0 two phases, 1 vapour, 2: to be found out).
void state_ph(const void* table, const double* x, double* out) {
    Jet2 f;
    state(*static_cast<const Table*>(table), STATE, x[0], x[1], x[2], f);
    std::memcpy(out, &f, sizeof f);
}

void more_ph(const void* table, const double* x, double* out) {
    Jet2 f;
    state(*static_cast<const Table*>(table), MORE, x[0], x[1], x[2], f);
    reciprocal(f, reciprocal_lanes(MORE));
    std::memcpy(out, &f, sizeof f);
}

// --- saturation -----------------------------------------------------------------------------------------------------------

constexpr double surface_tension_exponent = 1.26;  // of (1 - T/Tc) near the critical point: its root is almost straight

// Result number k of n.
INLINE void put(const Curve& c, double* out, int k, int n) {
    out[k] = c.v;
    out[n + k] = c.d;
    out[2 * n + k] = c.dd;
}

Curve surface_tension(const Table& t, double p) {
    Weights w;
    Curve root;
    const double x = std::log(p), inverse = 1 / (t.p_high - t.p_low);
    if (p < t.p_high) {
        weights(t.dome_x, x, w);
        root = unlog(lane(curves(t.dome, 4, w), 3), 1 / p);
    }
    if (p >= t.p_low) {
        weights(t.top_x, x, w);
        const Curve above = unlog(lane(curves(t.top, 4, w), 2), 1 / p);
        root = p < t.p_high ? mixed(root, above, smoothstep((p - t.p_low) * inverse, inverse)) : above;
    }
    const double a = surface_tension_exponent;
    if (!(root.v > 0)) return {root.v == root.v ? 0 : root.v, 0, 0};
    const double power = std::pow(root.v, a - 1);
    return {power * root.v, a * power * root.d, a * power * (root.dd + (a - 1) * root.d * root.d / root.v)};
}

// hl, hv, then Tl, rhol, sl, wl, Tv, rhov, sv, wv, surface tension; above the critical point both ends are one.
void saturation_p(const void* table, const double* x, double* out) {
    const Table& t = *static_cast<const Table*>(table);
    const double p = x[0];
    if (!inside(t, p, t.h_min)) {
        for (int k = 0; k < 33; ++k) out[k] = std::nan("");
        return;
    }
    Ends e;
    ends(t, p, e);
    put(e.hl, out, 0, 11);
    put(e.hv, out, 1, 11);
    fields(t, STATE, p, e);
    for (int k = 0; k < 4; ++k) {
        put(lane(e.l, k), out, 2 + k, 11);
        put(lane(e.v, k), out, 6 + k, 11);
    }
    put(p < t.p_critical ? surface_tension(t, p) : Curve{0, 0, 0}, out, 10, 11);
}

// cp, cv, viscosity, conductivity of the liquid, then of the vapour.
void saturation_more_p(const void* table, const double* x, double* out) {
    const Table& t = *static_cast<const Table*>(table);
    Ends e;
    if (!inside(t, x[0], t.h_min)) {
        for (int k = 0; k < 24; ++k) out[k] = std::nan("");
        return;
    }
    ends(t, x[0], e);
    fields(t, MORE, x[0], e);
    reciprocal(e.l, reciprocal_lanes(MORE));
    reciprocal(e.v, reciprocal_lanes(MORE));
    for (int k = 0; k < 4; ++k) {
        put(lane(e.l, k), out, k, 8);
        put(lane(e.v, k), out, 4 + k, 8);
    }
}

// --- inverses -------------------------------------------------------------------------------------------------------------
// Newton on the surface itself, kept between bounds that close in; derivatives by the implicit function theorem.

constexpr double converged = 1e-13;
constexpr int most_steps = 200;

// The root of an increasing function. `f` gives value and slope.
template <class F>
double root_of(F f, double low, double high, double start, double size) {
    double x = start, width = high - low;
    for (int step = 0; step < most_steps; ++step) {
        double slope;
        const double value = f(x, slope);
        if (value != value) return value;
        if (value == 0) return x;
        (value > 0 ? high : low) = x;
        double next = x - value / slope;
        if (!(next > low && next < high)) {
            next = 0.5 * (low + high);
        } else if (step % 8 == 7 && high - low > 0.5 * width) {  // Newton creeps: halve
            next = 0.5 * (low + high);
        }
        if (step % 8 == 7) width = high - low;
        if (std::fabs(next - x) <= converged * (std::fabs(x) + size) || high - low <= 1e-15 * (std::fabs(x) + size)) return next;
        x = next;
    }
    return x;
}

double highest_h(const Table& t, double p) {
    Weights w;
    const double x = std::log(p);
    if (p < t.p_low) {
        weights(t.dome_x, x, w);
        return curves(t.dome, 4, w).d[0][2];
    }
    weights(t.region_x, x, w);
    return curve(t.region_hmax, w).v;
}

void nothing(double* out, int n) {
    for (int k = 0; k < n; ++k) out[k] = std::nan("");
}

// h(p, q) where the surface's lane k is q: value, p, q, pp, pq, qq.
void implicit(const Jet2& f, int k, double h, double* out) {
    const double fp = f.d[1][k], fh = f.d[2][k], fpp = f.d[3][k], fph = f.d[4][k], fhh = f.d[5][k];
    const double hq = 1 / fh, hp = -fp * hq;
    out[0] = h;
    out[1] = hp;
    out[2] = hq;
    out[3] = -(fpp + 2 * fph * hp + fhh * hp * hp) * hq;
    out[4] = -(fph + fhh * hp) * hq * hq;
    out[5] = -fhh * hq * hq * hq;
}

constexpr double slack = 0.01;  // of the enthalpy's range, beyond the ends of the table

// h(p, T). Below the critical pressure the temperature says which phase it is, unless the caller does.
void h_pT_jet(const Table& t, double p, double T, double phase, double* out, Jet2& f) {
    double low = t.h_min - slack * t.h_unit, high = highest_h(t, p) + slack * t.h_unit, start = t.h_join;
    if (p < t.p_critical) {
        Ends e;
        ends(t, p, e);
        fields(t, STATE, p, e);
        if (phase >= ANY) phase = T <= e.l.d[0][0] ? LIQUID : T >= e.v.d[0][0] ? VAPOUR : TWO;
        const double beyond = 1e-3 * t.h_unit;  // the surface of a phase goes on
        if (phase <= LIQUID) {
            start = e.hl.v;
            high = start + beyond;
        } else if (phase >= VAPOUR) {
            start = e.hv.v;
            low = start - beyond;
        } else {
            low = e.hl.v - beyond;
            high = e.hv.v + beyond;
            start = 0.5 * (low + high);
        }
    }
    const double h = root_of(
        [&](double x, double& slope) {
            state(t, STATE, p, x, phase, f);
            slope = f.d[2][0];
            return f.d[0][0] - T;
        },
        low, high, start, t.h_unit);
    state(t, STATE, p, h, phase, f);
    if (!(std::fabs(f.d[0][0] - T) < 1e-6 * T)) return nothing(out, 6);  // beyond the table
    implicit(f, 0, h, out);
}

void h_pT(const void* table, const double* x, double* out) {
    const Table& t = *static_cast<const Table*>(table);
    Jet2 f;
    if (!inside(t, x[0], t.h_min) || !(x[1] > 0)) return nothing(out, 6);
    h_pT_jet(t, x[0], x[1], ANY, out, f);
}

void h_ps(const void* table, const double* x, double* out) {
    const Table& t = *static_cast<const Table*>(table);
    const double p = x[0], s = x[1];
    Jet2 f;
    if (!inside(t, p, t.h_min) || s != s) return nothing(out, 6);
    double start = t.h_join;
    if (p < t.p_critical) {  // from the border that is nearer
        Ends e;
        ends(t, p, e);
        fields(t, STATE, p, e);
        const double sl = e.l.d[0][2], sv = e.v.d[0][2];
        start = s <= sl ? e.hl.v : s >= sv ? e.hv.v : e.hl.v + (s - sl) / (sv - sl) * (e.hv.v - e.hl.v);
    }
    const double low = t.h_min - slack * t.h_unit, high = highest_h(t, p) + slack * t.h_unit;
    const double h = root_of(
        [&](double x, double& slope) {
            state(t, STATE, p, x, ANY, f);
            slope = f.d[2][2];
            return f.d[0][2] - s;
        },
        low, high, start, t.h_unit);
    state(t, STATE, p, h, ANY, f);
    if (!(std::fabs(f.d[0][2] - s) * f.d[0][0] < 1e-6 * t.h_unit)) return nothing(out, 6);
    implicit(f, 2, h, out);
}

// The pressure at which T is the temperature of quality x; that depends on x where the mixture has a glide.
void p_Tx(const void* table, const double* arguments, double* out) {
    const Table& t = *static_cast<const Table*>(table);
    const double T = arguments[0], x = arguments[1];
    if (!(T >= t.T_min - 1) || x != x) return nothing(out, 6);
    Ends e;
    const double p = std::exp(root_of(
        [&](double lnp, double& slope) {
            const double p = std::exp(lnp);
            ends(t, p, e);
            fields(t, STATE, p, e);
            slope = p * (e.l.d[1][0] + x * (e.v.d[1][0] - e.l.d[1][0]));
            return e.l.d[0][0] + x * (e.v.d[0][0] - e.l.d[0][0]) - T;
        },
        std::log(0.98 * t.p_min), std::log(t.p_critical), std::log(0.5 * t.p_low), 1));
    ends(t, p, e);
    fields(t, STATE, p, e);
    const Curve l = lane(e.l, 0), v = lane(e.v, 0);
    const double f = l.v + x * (v.v - l.v), fp = l.d + x * (v.d - l.d), fpp = l.dd + x * (v.dd - l.dd);
    if (!(std::fabs(f - T) < 1e-6 * T)) return nothing(out, 6);
    const double fx = v.v - l.v, fpx = v.d - l.d, pT = 1 / fp, px = -fx * pT;
    out[0] = p;
    out[1] = pT;
    out[2] = px;
    out[3] = -fpp * pT * pT * pT;
    out[4] = -(fpx + fpp * px) * pT * pT;
    out[5] = -(2 * fpx * px + fpp * px * px) * pT;
}

// The inverse of (p, h) -> (a, b), whose derivatives (value, p, h, pp, ph, hh) are given; out: p and h by a, b.
void inverse_map(const double* a, const double* b, double p, double h, double* out) {
    const double det = a[1] * b[2] - a[2] * b[1];
    const double g[2][2] = {{b[2] / det, -a[2] / det}, {-b[1] / det, a[1] / det}};  // [p, h][by a, by b]
    out[0] = p;
    out[1] = h;
    for (int k = 0; k < 2; ++k) {
        out[2 + k] = g[k][0];
        out[4 + k] = g[k][1];
    }
    for (int m = 0, place = 3; m < 2; ++m) {
        for (int n = m; n < 2; ++n, ++place) {
            const double pp = g[0][m] * g[0][n], ph = g[0][m] * g[1][n] + g[1][m] * g[0][n], hh = g[1][m] * g[1][n];
            const double qa = a[3] * pp + a[4] * ph + a[5] * hh, qb = b[3] * pp + b[4] * ph + b[5] * hh;
            for (int k = 0; k < 2; ++k) out[2 * place + k] = -(g[k][0] * qa + g[k][1] * qb);
        }
    }
}

INLINE void lane_of(const Jet2& f, int k, double* out) {
    for (int d = 0; d < 6; ++d) out[d] = f.d[d][k];
}

void ph_rho_T(const void* table, const double* x, double* out) {
    const Table& t = *static_cast<const Table*>(table);
    const double rho = x[0], T = x[1];
    if (!(rho > 0) || !(T > 0)) return nothing(out, 12);
    Jet2 f;
    double h = 0, inverse[6], start = std::log(t.p_high), phase = ANY, a[6], b[6];
    double low = std::log(0.95 * t.p_min), high = std::log(1.01 * t.p_max);
    const double liquid[2] = {T, 0}, vapour[2] = {T, 1};
    double bubble[6], dew[6];
    p_Tx(table, liquid, bubble);
    p_Tx(table, vapour, dew);
    if (bubble[0] == bubble[0] && dew[0] == dew[0] && bubble[0] < t.p_critical * (1 - 1e-9)) {
        Ends el, ev;
        ends(t, bubble[0], el);
        fields(t, STATE, bubble[0], el);
        ends(t, dew[0], ev);
        fields(t, STATE, dew[0], ev);
        if (rho >= el.l.d[0][1]) {
            phase = LIQUID;
            start = std::log(bubble[0]);
            low = start - 1e-3;
        } else if (rho <= ev.v.d[0][1]) {
            phase = VAPOUR;
            start = std::log(dew[0]);
            high = start + 1e-3;
        } else {  // two phases: p follows from T (and from rho, with a glide), h from the volume
            low = std::log(dew[0]) - 1e-9;
            high = std::log(bubble[0]) + 1e-9;
            const auto quality = [&](double p, Ends& e) {
                ends(t, p, e);
                fields(t, STATE, p, e);
                const double vl = 1 / e.l.d[0][1], vv = 1 / e.v.d[0][1];
                return (1 / rho - vl) / (vv - vl);
            };
            Ends e;
            double p = bubble[0];
            for (int k = 0; k < 30; ++k) {
                const double tx[2] = {T, quality(p, e)};
                double found[6];
                p_Tx(table, tx, found);
                const double step = found[0] - p;
                p = found[0];
                if (!(std::fabs(step) > 1e-14 * p)) break;
            }
            const double q = quality(p, e);
            h = e.hl.v + q * (e.hv.v - e.hl.v);
            state(t, STATE, p, h, TWO, f);
            lane_of(f, 1, a);
            lane_of(f, 0, b);
            return inverse_map(a, b, p, h, out);
        }
    }
    const double p = std::exp(root_of(
        [&](double lnp, double& slope) {
            const double p = std::exp(lnp);
            h_pT_jet(t, p, T, phase, inverse, f);
            h = inverse[0];
            slope = p * (f.d[1][1] + f.d[2][1] * inverse[1]);
            return f.d[0][1] - rho;
        },
        low, high, start, 1));
    h_pT_jet(t, p, T, phase, inverse, f);
    if (!(std::fabs(f.d[0][1] - rho) < 1e-6 * rho)) return nothing(out, 12);
    lane_of(f, 1, a);
    lane_of(f, 0, b);
    inverse_map(a, b, p, inverse[0], out);
}

// With u = h - p / rho, h follows from p, and along that line density rises with pressure: 1/w² > 0 at the solution.
void ph_rho_u(const void* table, const double* x, double* out) {
    const Table& t = *static_cast<const Table*>(table);
    const double rho = x[0], u = x[1];
    if (!(rho > 0) || u != u) return nothing(out, 12);
    Jet2 f;
    const auto lnp = root_of(
        [&](double lnp, double& slope) {
            const double p = std::exp(lnp), h = u + p / rho;
            if (h < t.h_min - 0.04 * t.h_unit) {  // too little pressure
                slope = 0;
                return -rho;
            }
            if (h > highest_h(t, p) + slack * t.h_unit) {  // too much
                slope = 0;
                return rho;
            }
            state(t, STATE, p, h, ANY, f);
            slope = p * (f.d[1][1] + f.d[2][1] / rho);
            return f.d[0][1] - rho;
        },
        std::log(0.95 * t.p_min), std::log(1.01 * t.p_max), std::log(t.p_low), 1);
    const double p = std::exp(lnp), h = u + p / rho;
    state(t, STATE, p, h, ANY, f);
    if (!(std::fabs(f.d[0][1] - rho) < 1e-6 * rho)) return nothing(out, 12);
    double a[6], b[6];
    lane_of(f, 1, a);
    const double i = 1 / a[0], ip = p * i * i, ip2 = 2 * p * i * i * i;  // u = h - p / rho
    b[0] = u;
    b[1] = -i + ip * a[1];
    b[2] = 1 + ip * a[2];
    b[3] = 2 * i * i * a[1] + ip * a[3] - ip2 * a[1] * a[1];
    b[4] = i * i * a[2] + ip * a[4] - ip2 * a[1] * a[2];
    b[5] = ip * a[5] - ip2 * a[2] * a[2];
    inverse_map(a, b, p, h, out);
}

constexpr Function functions[acausal::media::KINDS] = {state_ph, more_ph, saturation_p, saturation_more_p, h_pT,
                                                       h_ps,     p_Tx,    ph_rho_T,     ph_rho_u};

}  // namespace
