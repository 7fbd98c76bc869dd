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
    Ends<order> e;
    ends(t, p, e);
    write<order>(e.hl, out, 0, n);
    write<order>(e.hv, out, 1, n);
    fields(t, STATE, p, e);
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

// hl and hv alone: what parts the phases. Whoever looks for a change of phase asks for them once a step and more.
template <int order>
void borders_p(const void* table, const double* x, double* out) {
    const Table& t = *static_cast<const Table*>(table);
    double p = x[0];
    const bool sloping = saturated(t, p);
    if (!inside(t, p, t.h_min)) return nothing(out, 2 * (order + 1));
    Curve found[2];
    if (p < t.p_low) {
        lower_borders<order>(t, p, found[0], found[1]);
    } else {
        Ends<order> e;
        upper_ends(t, p, e);
        found[0] = e.hl, found[1] = e.hv;
    }
    for (int k = 0; k < 2; ++k) {
        out[k] = found[k].v;
        out[2 + k] = sloping ? found[k].d : 0;
        if constexpr (order == 2) out[4 + k] = sloping ? found[k].dd : 0;
    }
}

// The enthalpy of quality x, where there are two phases: nothing above the critical pressure and below the lowest of liquid.
void h_px(const void* table, const double* arguments, double* out) {
    const Table& t = *static_cast<const Table*>(table);
    const double p = arguments[0], x = arguments[1];
    if (!(p >= t.p_min * (1 - 1e-9) && p <= t.p_critical) || x != x) return nothing(out, 6);
    Ends<> e;
    ends(t, p, e);
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
    Ends<order> e;
    double p = x[0];
    const bool sloping = saturated(t, p);
    if (!inside(t, p, t.h_min)) return nothing(out, (order + 1) * n);
    ends(t, p, e);
    fields(t, MORE, p, e);
    reciprocal(e.l, MORE);
    reciprocal(e.v, MORE);
    for (int k = 0; k < 4; ++k) {
        write<order>(lane(e.l, k), out, k, n);
        write<order>(lane(e.v, k), out, 4 + k, n);
    }
    if (!sloping) without_slopes<order>(out, n);
}

}  // namespace
