// States from other properties than (p, h).
// Part of media_tables.h, which says how it is compiled.
#pragma once
#include <type_traits>

#include "media_saturation.h"

namespace {

// Newton on the surface itself, kept between bounds that close in; derivatives by the implicit function theorem.

constexpr double converged = 1e-13;
constexpr double almost = 1e-5;  // before a step of the third order, which leaves some 1e-16; `move` brings derivatives along
constexpr int most_steps = 200;

// The root of an increasing function. `f` gives value and slope, and may give the curvature: then steps are Halley's, of the third
// order, and the last one may be that much longer.
template <class F>
double root_of(F f, double low, double high, double start, double size) {
    constexpr bool curved = std::is_invocable_v<F, double, double&, double&>;
    constexpr double last = curved ? almost : converged;
    double x = start, width = high - low;
    for (int step = 0; step < most_steps; ++step) {
        double slope, value;
        if constexpr (curved) {
            double curvature;
            value = f(x, slope, curvature);
            const double bent = slope - 0.5 * value / slope * curvature;
            if (bent > 0.5 * slope) slope = bent;
        } else {
            value = f(x, slope);
        }
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
        if (std::fabs(next - x) <= last * (std::fabs(x) + size) || high - low <= 1e-15 * (std::fabs(x) + size)) return next;
        x = next;
    }
    return x;
}

double highest_h(const Table& t, double p) {
    if (p < t.p_min) return curves<1>(t.thin_h, place(t.thin_x, p)).d[0][1];
    const double x = std::log(p);
    if (p < t.p_low) return curves<1>(t.dome, place(t.dome_x, x)).d[0][1];
    return curve<1>(t.region_hmax, place(t.region_x, x)).v;
}

// Lane k of a surface a little further along h.
INLINE void move(Jet2<2>& f, int k, double by) {
    f.d[0][k] += by * (f.d[2][k] + 0.5 * by * f.d[5][k]);
    f.d[1][k] += by * f.d[4][k];
    f.d[2][k] += by * f.d[5][k];
}

// h(p, q) where the surface's lane k is q: value, p, q, pp, pq, qq.
void implicit(const Jet2<2>& f, int k, double h, double* out) {
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
void h_pT_jet(const Table& t, double p, double T, double phase, double* out, Jet2<2>& f) {
    double low = t.h_min - slack * t.h_unit, high = highest_h(t, p) + slack * t.h_unit, start = t.h_join;
    if (p < t.p_min) {  // gas only
        phase = VAPOUR;
        low = t.h_gas - slack * t.h_unit;
        start = 0.5 * (low + high);
    } else if (p < t.p_critical) {
        Ends<> room;
        const Ends<>& e = ends_with_fields(t, STATE, p, room);
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
        [&](double x, double& slope, double& curvature) {
            state(t, STATE, p, x, phase, f);
            slope = f.d[2][0], curvature = f.d[5][0];
            return f.d[0][0] - T;
        },
        low, high, start, t.h_unit);
    state(t, STATE, p, h, phase, f);
    if (!(std::fabs(f.d[0][0] - T) < 1e-6 * T)) return nothing(out, 6);  // beyond the table
    implicit(f, 0, h, out);
}

void h_pT(const void* table, const double* x, double* out) {
    const Table& t = *static_cast<const Table*>(table);
    Jet2<2> f;
    if (!inside(t, x[0], t.h_min) || !(x[1] > 0)) return nothing(out, 6);
    h_pT_jet(t, x[0], x[1], ANY, out, f);
}

// What `h_ps` gives, from the surface at the last point `at` of the iteration.
void isentrope(const Table& t, Jet2<2>& f, double s, double h, double at, double* out) {
    move(f, 2, h - at);
    if (!(std::fabs(f.d[0][2] - s) * f.d[0][0] < 1e-6 * t.h_unit)) return nothing(out, 6);
    implicit(f, 2, h, out);
}

// h(p, s) of vapour below p_low, where most compressors ask for it: what depends on p alone is found once. It begins where a gas of the
// mean heat capacity up to the table's end would be, of which two steps are left.
void h_ps_of_vapour(const Table& t, double p, double s, const Ends<1>& e, double* out) {
    const Jet1<2> c = curves<2>(t.dome, e.x);
    Weights wx;
    weights<2>(t.dome_x, e.x, wx);
    const double hv = e.hv.v, highest = c.d[0][1], Tv = e.v.d[0][0], cp = (highest - hv) / (t.T_max - Tv);
    const double guess = hv + cp * Tv * std::expm1((s - e.v.d[0][2]) / cp), high = highest + slack * t.h_unit;
    double at = hv;
    Jet2<2> f;
    const double h = root_of(
        [&](double x, double& slope, double& curvature) {
            at = x;
            vapour(t, STATE, p, wx, c, x, f);
            slope = f.d[2][2], curvature = f.d[5][2];
            return f.d[0][2] - s;
        },
        hv - slack * t.h_unit, high, guess < highest ? guess : highest, t.h_unit);
    isentrope(t, f, s, h, at, out);
}

void h_ps(const void* table, const double* x, double* out) {
    const Table& t = *static_cast<const Table*>(table);
    const double p = x[0], s = x[1];
    if (!inside(t, p, t.h_min) || s != s) return nothing(out, 6);
    double start = t.h_join, low = t.h_min - slack * t.h_unit, phase = ANY;
    if (p < t.p_min) {
        phase = VAPOUR;
        low = t.h_gas - slack * t.h_unit;
        start = 0.5 * (low + highest_h(t, p) + slack * t.h_unit);
    } else if (p < t.p_critical) {  // from the border that is nearer, on a surface that goes on beyond it
        Ends<1> room;
        const Ends<1>& e = ends_with_fields(t, STATE, p, room);
        const double sl = e.l.d[0][2], sv = e.v.d[0][2];
        if (p < t.p_low && s >= sv) return h_ps_of_vapour(t, p, s, e, out);
        start = s <= sl ? e.hl.v : s >= sv ? e.hv.v : e.hl.v + (s - sl) / (sv - sl) * (e.hv.v - e.hl.v);
        if (e.two) phase = s <= sl ? LIQUID : s >= sv ? VAPOUR : TWO;
    }
    double at = start;
    Jet2<2> f;
    const double h = root_of(
        [&](double x, double& slope, double& curvature) {
            at = x;
            state(t, STATE, p, x, phase, f);
            slope = f.d[2][2], curvature = f.d[5][2];
            return f.d[0][2] - s;
        },
        low, highest_h(t, p) + slack * t.h_unit, start, t.h_unit);
    isentrope(t, f, s, h, at, out);
}

// The pressure at which T is the temperature of quality x; that depends on x where the mixture has a glide.
void p_Tx(const void* table, const double* arguments, double* out) {
    const Table& t = *static_cast<const Table*>(table);
    const double T = arguments[0], x = arguments[1];
    if (!(T >= t.T_min - 1) || x != x) return nothing(out, 6);
    Ends<> e;
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

INLINE void lane_of(const Jet2<2>& f, int k, double* out) {
    for (int d = 0; d < 6; ++d) out[d] = f.d[d][k];
}

void ph_rho_T(const void* table, const double* x, double* out) {
    const Table& t = *static_cast<const Table*>(table);
    const double rho = x[0], T = x[1];
    if (!(rho > 0) || !(T > 0)) return nothing(out, 12);
    Jet2<2> f;
    double h = 0, inverse[6], start = std::log(t.p_high), phase = ANY, a[6], b[6];
    double low = std::log(t.p_gas), high = std::log(1.01 * t.p_max);
    const double liquid[2] = {T, 0}, vapour[2] = {T, 1};
    double bubble[6], dew[6];
    p_Tx(table, liquid, bubble);
    p_Tx(table, vapour, dew);
    if (bubble[0] == bubble[0] && dew[0] == dew[0] && bubble[0] < t.p_critical * (1 - 1e-9)) {
        Ends<> el, ev;
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
            const auto quality = [&](double p, Ends<>& e) {
                ends(t, p, e);
                fields(t, STATE, p, e);
                const double vl = 1 / e.l.d[0][1], vv = 1 / e.v.d[0][1];
                return (1 / rho - vl) / (vv - vl);
            };
            Ends<> e;
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
    Jet2<2> f;
    const auto lnp = root_of(
        [&](double lnp, double& slope) {
            const double p = std::exp(lnp), h = u + p / rho;
            if (h < t.h_min - 0.04 * t.h_unit || (p < t.p_min && h < t.h_gas)) {  // too little pressure
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
        std::log(t.p_gas), std::log(1.01 * t.p_max), std::log(t.p_low), 1);
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

}  // namespace
