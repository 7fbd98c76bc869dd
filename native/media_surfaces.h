// Surfaces of a single phase over (p, h), each in coordinates of its own, and how they are blended.
// Part of media_tables.h, which says how it is compiled.
#pragma once
#include "media_splines.h"

namespace {

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
    const Curve low = {t.h_edge, 0, 0}, high = curve(t.region_hmax, wx);
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

}  // namespace
