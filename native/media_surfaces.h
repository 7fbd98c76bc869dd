// Surfaces of a single phase over (p, h), each in coordinates of its own, and how they are blended.
// Part of media_tables.h, which says how it is compiled.
#pragma once
#include <utility>

#include "media_splines.h"

namespace {

// From derivatives by (x, y) to those by (x, Y), where y = (Y - a(x)) / (b(x) - a(x)).
template <int order>
INLINE void aligned(Jet2<order>& f, double y, const Curve& a, const Curve& b) {
    const double r = 1 / (b.v - a.v), w1 = b.d - a.d, yx = (-a.d - y * w1) * r;
    const v4 fy = f.d[2];
    if constexpr (order == 2) {
        const double w2 = b.dd - a.dd, yxx = (-a.dd - y * w2 - 2 * yx * w1) * r, rx = -w1 * r * r;
        const v4 xx = f.d[3], xy = f.d[4], yy = f.d[5];
        f.d[3] = xx + all(2 * yx) * xy + yy * all(yx * yx) + fy * all(yxx);
        f.d[4] = (xy + yy * all(yx)) * all(r) + fy * all(rx);
        f.d[5] = yy * all(r * r);
    }
    f.d[1] += fy * all(yx);
    f.d[2] = fy * all(r);
}

// From derivatives by ln p to those by p.
template <int order>
INLINE void unlog(Jet2<order>& f, double ip) {
    if constexpr (order == 2) {
        f.d[3] = (f.d[3] - f.d[1]) * all(ip * ip);
        f.d[4] *= all(ip);
    }
    f.d[1] *= all(ip);
}
template <int order>
INLINE void unlog(Jet1<order>& f, double ip) {
    if constexpr (order == 2) f.d[2] = (f.d[2] - f.d[1]) * all(ip * ip);
    f.d[1] *= all(ip);
}
INLINE Curve unlog(const Curve& c, double ip) { return {c.v, c.d * ip, (c.dd - c.d) * ip * ip}; }

// The fields of a block. STATE: T, rho, s, speed of sound. MORE: 1/cp, cv, viscosity, 1/conductivity.
enum Block { STATE = 0, MORE = 1 };

// rho = p * (rho / p), in lane 1.
template <int order>
INLINE void times_p(Jet2<order>& f, double p) {
    const v4 scale = {1, p, 1, 1}, only = {0, 1, 0, 0};
    if constexpr (order == 2) {
        f.d[3] = f.d[3] * scale + all(2) * only * f.d[1];
        f.d[4] = f.d[4] * scale + only * f.d[2];
        f.d[5] *= scale;
    }
    f.d[1] = f.d[1] * scale + only * f.d[0];
    f.d[2] *= scale;
    f.d[0] *= scale;
}
template <int order>
INLINE void times_p(Jet1<order>& f, double p) {
    const v4 scale = {1, p, 1, 1}, only = {0, 1, 0, 0};
    if constexpr (order == 2) f.d[2] = f.d[2] * scale + all(2) * only * f.d[1];
    f.d[1] = f.d[1] * scale + only * f.d[0];
    f.d[0] *= scale;
}

// Lanes whose reciprocals are averaged over two phases: the volume, not the density; and those that are stored as reciprocals.
constexpr int reciprocal_lanes[2][2] = {{1, 1}, {0, 3}};

template <int order>
INLINE void reciprocal(Jet2<order>& f, Block block) {
    for (int k : {reciprocal_lanes[block][0], reciprocal_lanes[block][1]}) {
        const double i = 1 / f.d[0][k], p = f.d[1][k] * i, h = f.d[2][k] * i;
        if constexpr (order == 2) {
            f.d[3][k] = (2 * p * p - f.d[3][k] * i) * i;
            f.d[4][k] = (2 * p * h - f.d[4][k] * i) * i;
            f.d[5][k] = (2 * h * h - f.d[5][k] * i) * i;
        }
        f.d[0][k] = i;
        f.d[1][k] = -p * i;
        f.d[2][k] = -h * i;
        if (block == STATE) break;
    }
}
template <int order>
INLINE void reciprocal(Jet1<order>& f, Block block) {
    for (int k : {reciprocal_lanes[block][0], reciprocal_lanes[block][1]}) {
        const double i = 1 / f.d[0][k], p = f.d[1][k] * i;
        if constexpr (order == 2) f.d[2][k] = (2 * p * p - f.d[2][k] * i) * i;
        f.d[0][k] = i;
        f.d[1][k] = -p * i;
        if (block == STATE) break;
    }
}

constexpr double hottest = 1.05;  // of y: a table goes on a little beyond its end, for iterations that look there

template <int order>
INLINE void undefined(Jet2<order>& f) {
    for (v4& d : f.d) d = all(std::nan(""));
}

// --- single-phase surfaces ------------------------------------------------------------------------------------------------

// Gas over y, from `low` to `high` at this pressure.
template <int order>
INLINE void gas(const Table& t, const double* nodes, const Weights& wx, const Curve& low, const Curve& high, double h, Jet2<order>& f) {
    const double y = (h - low.v) / (high.v - low.v);
    if (y > hottest) return undefined(f);
    Weights wy;
    weights<order>(t.vapour_y, place(t.vapour_y, y), wy);
    tensor(nodes, t.vapour_ny, wx, wy, f);
    aligned(f, y, low, high);
}

template <int order>
INLINE void vapour(const Table& t, Block block, double p, const Weights& wx, const Jet1<order>& c, double h, Jet2<order>& f) {
    gas(t, t.vapour[block], wx, lane(c, 0), lane(c, 1), h, f);
    unlog(f, 1 / p);
    if (block == STATE) times_p(f, p);
}
template <int order>
INLINE void vapour(const Table& t, Block block, double p, const Place& at, const Jet1<order>& c, double h, Jet2<order>& f) {
    Weights wx;
    weights<order>(t.dome_x, at, wx);
    vapour(t, block, p, wx, c, h, f);
}

// Gas of so little pressure that it has no liquid in the table: over p itself, since it is almost ideal; s + R ln(p / p_min) is kept.
template <int order>
__attribute__((noinline)) void thin(const Table& t, Block block, double p, double h, Jet2<order>& f) {
    Weights wx;
    const Place at = place(t.thin_x, p);
    weights<order>(t.thin_x, at, wx);
    const Jet1<order> c = curves<order>(t.thin_h, at);
    gas(t, t.thin[block], wx, lane(c, 0), lane(c, 1), h, f);
    if (block != STATE) return;
    times_p(f, p);
    const v4 only = {0, 0, t.gas_constant, 0};
    const double some = p > t.p_gas ? p : t.p_gas, slope = p > t.p_gas ? 1 / p : 0;  // vacuum has no entropy
    f.d[0] -= only * all(std::log(some / t.p_min));
    f.d[1] -= only * all(slope);
    if constexpr (order == 2) f.d[3] += only * all(slope * slope);
}

// `at` and `pl` belong to h.
template <int order>
INLINE void liquid(const Table& t, Block block, double p, const Place& at, const Curve& pl, Jet2<order>& f) {
    const double z = (p - pl.v) / (t.p_max - pl.v);
    Weights wh, wz;
    weights<order>(t.liquid_h, at, wh);
    weights<order>(t.liquid_z, place(t.liquid_z, z), wz);
    tensor(t.liquid[block], t.liquid_nz, wh, wz, f);
    aligned(f, z, pl, Curve{t.p_max, 0, 0});
    std::swap(f.d[1], f.d[2]);  // here x is h and Y is p
    if constexpr (order == 2) std::swap(f.d[3], f.d[5]);
}

template <int order>
void liquid(const Table& t, Block block, double p, double h, Jet2<order>& f) {
    const Place at = place(t.liquid_h, h);
    liquid(t, block, p, at, curve<order>(t.liquid_p, at), f);
}

template <int order>
void region(const Table& t, Block block, double p, double h, Jet2<order>& f) {
    Weights wx, wy;
    const Place at = place(t.region_x, std::log(p));
    const Curve low = {t.h_edge, 0, 0}, high = curve<order>(t.region_hmax, at);
    const double y = (h - low.v) / (high.v - low.v);
    if (y > hottest) return undefined(f);
    weights<order>(t.region_x, at, wx);
    weights<order>(t.region_y, place(t.region_y, y), wy);
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
template <int order>
INLINE void blend(const Jet2<order>& a, const Jet2<order>& b, const Curve& w, int by, Jet2<order>& f) {
    const int other = 3 - by, twice = by == 1 ? 3 : 5, other_twice = 8 - twice;
    constexpr int count = order == 2 ? 6 : 3;
    v4 z[count];
    for (int k = 0; k < count; ++k) z[k] = b.d[k] - a.d[k];
    const v4 w0 = all(w.v), w1 = all(w.d), w2 = all(w.dd);
    f.d[0] = a.d[0] + w0 * z[0];
    f.d[by] = a.d[by] + w0 * z[by] + w1 * z[0];
    f.d[other] = a.d[other] + w0 * z[other];
    if constexpr (order == 2) {
        f.d[twice] = a.d[twice] + w0 * z[twice] + all(2) * w1 * z[by] + w2 * z[0];
        f.d[4] = a.d[4] + w0 * z[4] + w1 * z[other];
        f.d[other_twice] = a.d[other_twice] + w0 * z[other_twice];
    }
}

// The surface of one phase at p >= p_low.
template <int order>
void single(const Table& t, Block block, double p, double h, bool liquid_side, Jet2<order>& f) {
    if (liquid_side) {
        if (h <= t.h_split) return liquid(t, block, p, h, f);
        if (h >= t.h_join) return region(t, block, p, h, f);
        Jet2<order> a, b;
        liquid(t, block, p, h, a);
        region(t, block, p, h, b);
        const double inverse = 1 / (t.h_join - t.h_split);
        return blend(a, b, smoothstep((h - t.h_split) * inverse, inverse), 2, f);
    }
    if (p >= t.p_high) return region(t, block, p, h, f);
    const Place at = place(t.dome_x, std::log(p));
    Jet2<order> a, b;
    vapour(t, block, p, at, curves<order>(t.dome, at), h, a);
    region(t, block, p, h, b);
    const double inverse = 1 / (t.p_high - t.p_low);
    blend(a, b, smoothstep((p - t.p_low) * inverse, inverse), 1, f);
}

}  // namespace
