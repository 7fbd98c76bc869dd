// Both ends of the two-phase range, as functions of pressure.
// Part of media_tables.h, which says how it is compiled.
#pragma once
#include "media_states.h"

namespace {

constexpr double surface_tension_exponent = 1.26;  // of (1 - T/Tc) near the critical point: its root is almost straight

// Result number k of n, with its derivatives to an order.
template <int order>
INLINE void write(const Curve& c, double* out, int k, int n) {
    out[k] = c.v;
    out[n + k] = c.d;
    if constexpr (order == 2) out[2 * n + k] = c.dd;
}

// Its root near and above the critical point, where the dome's curve gives way to another.
Curve upper_tension(const Table& t, double p) {
    const double x = std::log(p), inverse = 1 / (t.p_high - t.p_low);
    const Curve above = unlog(lane(curves<2>(t.top, place(t.top_x, x)), 2), 1 / p);
    if (p >= t.p_high) return above;
    const Curve below = unlog(lane(curves<2>(t.dome, place(t.dome_x, x)), 3), 1 / p);
    return mixed(below, above, smoothstep((p - t.p_low) * inverse, inverse));
}

INLINE Curve surface_tension(const Curve& root) {
    const double a = surface_tension_exponent;
    if (!(root.v > 0)) return {root.v == root.v ? 0 : root.v, 0, 0};
    const double power = std::pow(root.v, a - 1);
    return {power * root.v, a * power * root.d, a * power * (root.dd + (a - 1) * root.d * root.d / root.v)};
}

// Below the lowest saturation pressure both ends stay what they are there.
INLINE bool saturated(const Table& t, double& p) {
    const bool thin = p < t.p_min;
    if (thin && p >= emptiest * t.p_min) p = t.p_min;
    return !thin;
}

INLINE void nothing(double* out, int n) {
    for (int k = 0; k < n; ++k) out[k] = std::nan("");
}

const Curve undefined_curve = {std::nan(""), std::nan(""), std::nan("")};

template <int order>
INLINE void without_slopes(double* out, int n) {
    for (int k = n; k < (order + 1) * n; ++k) out[k] = 0;
}

// hl, hv, then Tl, rhol, sl, wl, Tv, rhov, sv, wv, and surface tension, which few ask for and which costs a third of all; above the critical
// point both ends are one.
template <int order, bool tension>
void saturation_p(const void* table, const double* x, double* out) {
    constexpr int n = tension ? 11 : 10;
    const Table& t = *static_cast<const Table*>(table);
    double p = x[0];
    const bool sloping = saturated(t, p);
    if (!inside(t, p, t.h_min)) return nothing(out, (order + 1) * n);
    Ends<order> room;
    const Ends<order>& e = ends_with_fields(t, STATE, p, room);
    write<order>(e.hl, out, 0, n);
    write<order>(e.hv, out, 1, n);
    for (int k = 0; k < 4; ++k) {
        write<order>(lane(e.l, k), out, 2 + k, n);
        write<order>(lane(e.v, k), out, 6 + k, n);
    }
    if constexpr (tension) {
        const bool upper = p >= t.p_low;
        write<order>(p < t.p_critical ? surface_tension(upper ? upper_tension(t, p) : e.tension) : Curve{0, 0, 0}, out, 10, n);
    }
    if (!sloping) without_slopes<order>(out, n);
}

// hl and hv alone, with their slopes.
template <int order>
INLINE Borders borders_at(const Table& t, double p) {
    const bool sloping = saturated(t, p);
    if (!inside(t, p, t.h_min)) return {undefined_curve, undefined_curve};
    Ends<order> room;
    const Ends<order>& e = ends_at(t, p, room);
    const Borders found = {e.hl, e.hv};
    return sloping ? found : Borders{{found.hl.v, 0, 0}, {found.hv.v, 0, 0}};
}

// What parts the phases. Whoever looks for a change of phase asks for it once a step and more.
template <int order>
void borders_p(const void* table, const double* x, double* out) {
    const Borders found = borders_at<order>(*static_cast<const Table*>(table), x[0]);
    write<order>(found.hl, out, 0, 2);
    write<order>(found.hv, out, 1, 2);
}

// The pressure at which liquid of enthalpy h boils: at (p, h) there is liquid where it is below p. One curve tells, without hl(p); above
// h_split there is none, and near and above the critical point h - hl(p) stands for it, in Pa.
template <int order>
void boiling_ph(const void* table, const double* x, double* out) {
    const Table& t = *static_cast<const Table*>(table);
    const double p = x[0], h = x[1];
    if (!inside(t, p, h)) return nothing(out, order == 2 ? 6 : 3);
    const bool beyond = h > t.h_split, upper = p >= t.p_low;
    const Curve pl = curve<order>(t.liquid_p, place(t.liquid_h, beyond || upper ? t.h_split : h));
    double p_p = 0, p_pp = 0, p_hh = 0;
    if (upper) {
        const Curve hl = borders_at<order>(t, p).hl;
        out[0] = p + pl.d * (h - hl.v);
        p_p = 1 - pl.d * hl.d, p_pp = -pl.d * hl.dd;
    } else {
        const bool sloping = p >= t.p_min;  // below it the border stays where it is
        out[0] = pl.v + (beyond ? pl.d * (h - t.h_split) : 0) + (sloping ? 0 : p - t.p_min);
        p_p = sloping ? 0 : 1, p_hh = beyond ? 0 : pl.dd;
    }
    out[1] = p_p;
    out[2] = pl.d;
    if constexpr (order == 2) out[3] = p_pp, out[4] = 0, out[5] = p_hh;
}

// The state at (p, h), and hl and hv at p: one look-up where an exchanger asks for both.
template <int order>
void bordered_ph(const void* table, const double* x, double* out) {
    const Table& t = *static_cast<const Table*>(table);
    const double p = x[0], h = x[1], phase = x[2];
    Jet2<order> f;
    Borders borders;
    if (phase >= 2.5 && p >= t.p_min && p < t.p_low && inside(t, p, h)) {
        above_liquid(t, STATE, p, h, f, borders);
    } else {
        state(t, STATE, p, h, phase, f);
        borders = borders_at<order>(t, p);
    }
    constexpr int count = order == 2 ? 6 : 3, n = 6;
    for (int k = 0; k < count; ++k) std::memcpy(out + n * k, &f.d[k], sizeof f.d[k]);
    const Curve* both[2] = {&borders.hl, &borders.hv};
    for (int k = 0; k < 2; ++k) {
        const double by_h = 0 * both[k]->v, values[6] = {both[k]->v, both[k]->d, by_h, both[k]->dd, by_h, by_h};
        for (int m = 0; m < count; ++m) out[n * m + 4 + k] = values[m];
    }
}

// The enthalpy of quality x, where there are two phases: nothing above the critical pressure and below the lowest of liquid.
void h_px(const void* table, const double* arguments, double* out) {
    const Table& t = *static_cast<const Table*>(table);
    const double p = arguments[0], x = arguments[1];
    if (!(p >= t.p_min * (1 - 1e-9) && p <= t.p_critical) || x != x) return nothing(out, 6);
    Ends<> room;
    const Ends<>& e = ends_at(t, p, room);
    out[0] = e.hl.v + x * (e.hv.v - e.hl.v);
    out[1] = e.hl.d + x * (e.hv.d - e.hl.d);
    out[2] = e.hv.v - e.hl.v;
    out[3] = e.hl.dd + x * (e.hv.dd - e.hl.dd);
    out[4] = e.hv.d - e.hl.d;
    out[5] = 0;
}

// cp, cv, viscosity, conductivity of the liquid, then of the vapour.
template <int order>
void saturation_more_p(const void* table, const double* x, double* out) {
    constexpr int n = 8;
    const Table& t = *static_cast<const Table*>(table);
    double p = x[0];
    const bool sloping = saturated(t, p);
    if (!inside(t, p, t.h_min)) return nothing(out, (order + 1) * n);
    Ends<order> room;
    const Ends<order>& e = ends_with_fields(t, MORE, p, room);
    Jet1<order> l = e.l, v = e.v;
    reciprocal(l, MORE);
    reciprocal(v, MORE);
    for (int k = 0; k < 4; ++k) {
        write<order>(lane(l, k), out, k, n);
        write<order>(lane(v, k), out, 4 + k, n);
    }
    if (!sloping) without_slopes<order>(out, n);
}

}  // namespace
