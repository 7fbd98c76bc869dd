// Borders between phases, and the chord between them.
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
INLINE void lower_ends(const Table& t, double p, const Place& x, const Jet1<order>& c, Ends<order>& e) {
    e.x = x;
    e.h = place(t.liquid_h, c.d[0][2]);
    e.hl = liquid_border(t, p, c.d[0][2], e.h, e.shift);
    e.hv = unlog(lane(c, 0), 1 / p);
    e.tension = unlog(lane(c, 3), 1 / p);
    e.two = true;
}
template <int order>
INLINE void lower_ends(const Table& t, double p, Ends<order>& e) {
    const Place x = place(t.dome_x, std::log(p));
    lower_ends(t, p, x, curves<order>(t.dome, x), e);
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

// Two phases: volume, entropy and whatever else is asked for are linear in h between the ends. What of that depends on p alone: the
// fields of the liquid, by how much the vapour's differ, and where between which enthalpies.
template <int order>
struct Chord {
    Jet1<order> l, z;
    Curve hl, width;
    double per_width;
};

template <int order>
INLINE void make_chord(Block block, const Ends<order>& e, Chord<order>& c) {
    c.hl = e.hl;
    c.width = {e.hv.v - e.hl.v, e.hv.d - e.hl.d, e.hv.dd - e.hl.dd};
    c.per_width = 1 / c.width.v;
    Jet1<order> l = e.l, v = e.v;
    reciprocal(l, block);
    reciprocal(v, block);
    for (int k = 0; k <= order; ++k) c.l.d[k] = l.d[k], c.z.d[k] = v.d[k] - l.d[k];
}

template <int order>
INLINE void on_chord(Block block, double h, const Chord<order>& c, Jet2<order>& f) {
    const double r = c.per_width, x = (h - c.hl.v) * r, xp = -(c.hl.d + x * c.width.d) * r;
    f.d[0] = c.l.d[0] + c.z.d[0] * all(x);
    f.d[1] = c.l.d[1] + c.z.d[1] * all(x) + c.z.d[0] * all(xp);
    f.d[2] = c.z.d[0] * all(r);
    if constexpr (order == 2) {
        const double xph = -c.width.d * r * r, xpp = -(c.hl.dd + 2 * xp * c.width.d + x * c.width.dd) * r;
        f.d[3] = c.l.d[2] + c.z.d[2] * all(x) + all(2 * xp) * c.z.d[1] + c.z.d[0] * all(xpp);
        f.d[4] = c.z.d[1] * all(r) + c.z.d[0] * all(xph);
        f.d[5] = all(0);
    }
    reciprocal(f, block);
}

}  // namespace
