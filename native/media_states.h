// Borders between phases, the chord between them, and the state at (p, h).
// Part of media_tables.h, which says how it is compiled.
#pragma once
#include "media_surfaces.h"

namespace {

// hl where the liquid's table has its border, p = pl(hl). `at` is the place of a guess that is `shift` short of it: some 1e-8 of the
// range, so that two terms of Taylor's series lead from there to hl, for the fields too, below rounding.
INLINE Curve liquid_border(const Table& t, double p, double guess, const Place& at, double& shift) {
    const Curve pl = curve<2>(t.liquid_p, at);
    const double slope = 1 / pl.d, first = (p - pl.v) * slope;
    shift = first * (1 - 0.5 * pl.dd * slope * first);
    const double d = 1 / (pl.d + pl.dd * shift);
    return {guess + shift, d, -pl.dd * d * d * d};
}

// What lies along a border h = H(p) of a surface, as functions of p.
template <int order>
INLINE Jet1<order> along(const Jet2<order>& f, const Curve& H) {
    Jet1<order> r;
    r.d[0] = f.d[0];
    r.d[1] = f.d[1] + f.d[2] * all(H.d);
    if constexpr (order == 2) r.d[2] = f.d[3] + all(2 * H.d) * f.d[4] + all(H.d * H.d) * f.d[5] + all(H.dd) * f.d[2];
    return r;
}

// Both ends of the two-phase range at one pressure.
template <int order = 2>
struct Ends {
    Curve hl, hv;
    Jet1<order> l, v;  // the fields; filled by `fields`
    Place x, h;     // where the borders' fields are found, below p_low: of ln p, and of a guess …
    double shift;   // … from which it is so far to hl
    Curve tension;  // sigma^(1/1.26), below p_low
    bool two;  // there is room between them
};

struct Borders {
    Curve hl, hv;
};

INLINE Curve mixed(const Curve& a, const Curve& b, const Curve& w) {
    const Curve z = {b.v - a.v, b.d - a.d, b.dd - a.dd};
    return {a.v + w.v * z.v, a.d + w.v * z.d + w.d * z.v, a.dd + w.v * z.dd + 2 * w.d * z.d + w.dd * z.v};
}

template <int order>
INLINE void lower_ends(const Table& t, double p, Ends<order>& e) {
    e.x = place(t.dome_x, std::log(p));
    const Jet1<order> c = curves<order>(t.dome, e.x);
    e.h = place(t.liquid_h, c.d[0][2]);
    e.hl = liquid_border(t, p, c.d[0][2], e.h, e.shift);
    e.hv = unlog(lane(c, 0), 1 / p);
    e.tension = unlog(lane(c, 3), 1 / p);
    e.two = true;
}

// hl and hv alone, below p_low.
template <int order>
INLINE void lower_borders(const Table& t, double p, Curve& hl, Curve& hv) {
    const Jet1<order> c = curves<order>(t.dome, place(t.dome_x, std::log(p)));
    double shift;
    hl = liquid_border(t, p, c.d[0][2], place(t.liquid_h, c.d[0][2]), shift);
    hv = unlog(lane(c, 0), 1 / p);
}

constexpr double narrowest = 1e-7;  // of the dome's top, as a share of its enthalpy: what is narrower is one phase

template <int order>
void upper_ends(const Table& t, double p, Ends<order>& e) {
    const Jet1<order> c = curves<order>(t.top, place(t.top_x, std::log(p < t.p_critical ? p : t.p_critical)));
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
        Ends<order> below;
        lower_ends(t, p, below);
        e.hl = mixed(below.hl, e.hl, weight);
        e.hv = mixed(below.hv, e.hv, weight);
    }
}

template <int order>
INLINE void ends(const Table& t, double p, Ends<order>& e) {
    if (p < t.p_low) lower_ends(t, p, e);
    else upper_ends(t, p, e);
}

// The fields at both ends, below p_low: the first row of each table is its border, which is kept as polynomials.
template <int order>
INLINE void lower_fields(const Table& t, Block block, double p, Ends<order>& e) {
    const Curve& h = e.hl;
    Jet1<2> by_h = curves<2>(t.liquid_border[block], e.h);
    by_h.d[0] += all(e.shift) * (by_h.d[1] + all(0.5 * e.shift) * by_h.d[2]);
    by_h.d[1] += all(e.shift) * by_h.d[2];
    e.l.d[0] = by_h.d[0];
    e.l.d[1] = by_h.d[1] * all(h.d);
    if constexpr (order == 2) e.l.d[2] = by_h.d[2] * all(h.d * h.d) + by_h.d[1] * all(h.dd);
    e.v = curves<order>(t.vapour_border[block], e.x);
    unlog(e.v, 1 / p);
    if (block == STATE) times_p(e.v, p);
}

template <int order>
void upper_fields(const Table& t, Block block, double p, Ends<order>& e) {
    Jet2<order> f;
    single(t, block, p, e.hl.v, true, f);
    e.l = along(f, e.hl);
    single(t, block, p, e.hv.v, false, f);
    e.v = along(f, e.hv);
}

template <int order>
void fields(const Table& t, Block block, double p, Ends<order>& e) {
    if (p < t.p_low) lower_fields(t, block, p, e);
    else upper_fields(t, block, p, e);
}

// Two phases: volume, entropy and whatever else is asked for are linear in h between the ends.
template <int order>
INLINE void chord(Block block, double h, Ends<order>& e, Jet2<order>& f) {
    reciprocal(e.l, block);
    reciprocal(e.v, block);
    const double w1 = e.hv.d - e.hl.d, r = 1 / (e.hv.v - e.hl.v), x = (h - e.hl.v) * r, xp = -(e.hl.d + x * w1) * r;
    const v4 d0 = e.v.d[0] - e.l.d[0], d1 = e.v.d[1] - e.l.d[1];
    f.d[0] = e.l.d[0] + d0 * all(x);
    f.d[1] = e.l.d[1] + d1 * all(x) + d0 * all(xp);
    f.d[2] = d0 * all(r);
    if constexpr (order == 2) {
        const double w2 = e.hv.dd - e.hl.dd, xph = -w1 * r * r, xpp = -(e.hl.dd + 2 * xp * w1 + x * w2) * r;
        f.d[3] = e.l.d[2] + (e.v.d[2] - e.l.d[2]) * all(x) + all(2 * xp) * d1 + d0 * all(xpp);
        f.d[4] = d1 * all(r) + d0 * all(xph);
        f.d[5] = all(0);
    }
    reciprocal(f, block);
}

// --- states ---------------------------------------------------------------------------------------------------------------

enum Phase { LIQUID = -1, TWO = 0, VAPOUR = 1, ANY = 2, NOT_LIQUID = 3 };

// Near and above the critical point, whatever phase it is.
template <int order>
__attribute__((noinline)) void upper(const Table& t, Block block, double p, double h, Jet2<order>& f) {
    if (p >= t.p_critical) return single(t, block, p, h, h < t.h_join, f);
    Ends<order> e;
    upper_ends(t, p, e);
    if (e.two && h > e.hl.v && h < e.hv.v) {
        upper_fields(t, block, p, e);
        return chord(block, h, e, f);
    }
    single(t, block, p, h, h < 0.5 * (e.hl.v + e.hv.v), f);
}

constexpr double thinnest_liquid = 0.9;  // of the lowest saturation pressure: so far liquid and two phases go on below it

// A phase that the caller knows; each surface goes on beyond its border.
template <int order>
__attribute__((noinline)) void branch(const Table& t, Block block, double p, double h, double phase, Jet2<order>& f) {
    if (p >= t.p_critical) return single(t, block, p, h, h < t.h_join, f);
    if (phase > 0.5) {
        if (p >= t.p_low) return single(t, block, p, h, false, f);
        if (p < t.p_min) return thin(t, block, p, h, f);
        const Place at = place(t.dome_x, std::log(p));
        return vapour(t, block, p, at, curves<order>(t.dome, at), h, f);
    }
    if (p < thinnest_liquid * t.p_min) return undefined(f);
    if (phase < -0.5) {
        if (p < t.p_low) return liquid(t, block, p, h, f);
        return single(t, block, p, h, true, f);
    }
    Ends<order> e;
    ends(t, p, e);
    if (e.two) {
        fields(t, block, p, e);
        return chord(block, h, e, f);
    }
    single(t, block, p, h, h < t.h_join, f);
}

constexpr double emptiest = -1e-3;  // of the lowest saturation pressure: what is empty may be so but for the tolerance of a solver

INLINE bool inside(const Table& t, double p, double h) {
    return p >= emptiest * t.p_min && p <= 1.02 * t.p_max && h >= t.h_min - 0.05 * t.h_unit;
}

// Two phases or vapour, between p_min and p_low; the borders, too, where somebody asks for them.
template <int order>
INLINE void above_liquid(const Table& t, Block block, double p, double h, Jet2<order>& f, Borders* borders = nullptr) {
    Ends<order> e;
    e.x = place(t.dome_x, std::log(p));
    Jet1<order> c;
    curves(t.dome, e.x, c, 0, 2);
    const bool dry = h >= c.d[0][0];
    if (borders || !dry) {
        curves(t.dome, e.x, c, 2, 4);
        e.h = place(t.liquid_h, c.d[0][2]);
        e.hl = liquid_border(t, p, c.d[0][2], e.h, e.shift);
        e.hv = unlog(lane(c, 0), 1 / p);
        if (borders) *borders = {e.hl, e.hv};
    }
    if (dry) return vapour(t, block, p, e.x, c, h, f);
    lower_fields(t, block, p, e);
    chord(block, h, e, f);
}

template <int order>
INLINE void surface(const Table& t, Block block, double p, double h, Jet2<order>& f) {
    if (p >= t.p_low) return upper(t, block, p, h, f);
    if (p < t.p_min) {
        if (h >= t.h_gas) return thin(t, block, p, h, f);
        if (p < thinnest_liquid * t.p_min) return undefined(f);
    }
    if (h <= t.h_split) {  // what is above it is no liquid below p_low
        const Place at = place(t.liquid_h, h);
        if (p >= t.liquid_p[lanes * at.span]) {  // pl rises from where a span begins
            const Curve pl = curve<order>(t.liquid_p, at);
            if (p >= pl.v) return liquid(t, block, p, at, pl, f);
        }
    }
    above_liquid(t, block, p, h, f);
}

// Two phases, which go on below their liquid, or vapour, as it comes.
template <int order>
__attribute__((noinline)) void not_liquid(const Table& t, Block block, double p, double h, Jet2<order>& f) {
    if (p >= t.p_critical) return single(t, block, p, h, h < t.h_join, f);
    if (p >= t.p_low) {
        Ends<order> e;
        upper_ends(t, p, e);
        return branch(t, block, p, h, h < e.hv.v ? TWO : VAPOUR, f);
    }
    if (p < t.p_min) return branch(t, block, p, h, h >= t.h_gas ? VAPOUR : TWO, f);
    above_liquid(t, block, p, h, f);
}

template <int order>
INLINE void state(const Table& t, Block block, double p, double h, double phase, Jet2<order>& f) {
    if (!inside(t, p, h)) return undefined(f);
    if (phase >= 2.5) not_liquid(t, block, p, h, f);
    else if (phase >= 1.5) surface(t, block, p, h, f);
    else branch(t, block, p, h, phase, f);
}

// Arguments p, h, phase (-1 liquid, 0 two phases, 1 vapour, 2: to be found out, 3: to be found out of the last two). First derivatives alone cost a third less.
template <int order>
void state_ph(const void* table, const double* x, double* out) {
    Jet2<order> f;
    state(*static_cast<const Table*>(table), STATE, x[0], x[1], x[2], f);
    std::memcpy(out, &f, sizeof f);
}

template <int order>
void more_ph(const void* table, const double* x, double* out) {
    Jet2<order> f;
    state(*static_cast<const Table*>(table), MORE, x[0], x[1], x[2], f);
    reciprocal(f, MORE);
    std::memcpy(out, &f, sizeof f);
}

}  // namespace
