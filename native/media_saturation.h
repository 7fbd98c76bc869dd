// Both ends of the two-phase range, as functions of pressure.
// Part of media_tables.h, which says how it is compiled.
#pragma once
#include "media_states.h"

namespace {

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

}  // namespace
