// The state at (p, h).
// Part of media_tables.h, which says how it is compiled.
#pragma once
#include "media_levels.h"

namespace {

enum Phase { LIQUID = -1, TWO = 0, VAPOUR = 1, ANY = 2, NOT_LIQUID = 3 };

// Near and above the critical point, whatever phase it is.
template <int order>
__attribute__((noinline)) void upper(const Table& t, Block block, double p, double h, Jet2<order>& f) {
    if (p >= t.p_critical) return single(t, block, p, h, h < t.h_join, f);
    Ends<order> e;
    upper_ends(t, p, e);
    if (e.two && h > e.hl.v && h < e.hv.v) {
        upper_fields(t, block, p, e);
        Chord<order> c;
        make_chord(block, e, c);
        return on_chord(block, h, c, f);
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
        Level<order>& l = level<order>(t, p);
        return vapour(t, block, p, weights_of(t, l), l.dome, h, f);
    }
    if (p < thinnest_liquid * t.p_min) return undefined(f);
    if (phase < -0.5) {
        if (p < t.p_low) return liquid(t, block, p, h, f);
        return single(t, block, p, h, true, f);
    }
    if (p < t.p_low) return on_chord(block, h, chord_of(t, level<order>(t, p), block), f);
    Ends<order> e;
    upper_ends(t, p, e);
    if (e.two) {
        upper_fields(t, block, p, e);
        Chord<order> c;
        make_chord(block, e, c);
        return on_chord(block, h, c, f);
    }
    single(t, block, p, h, h < t.h_join, f);
}

constexpr double emptiest = -1e-3;  // of the lowest saturation pressure: what is empty may be so but for the tolerance of a solver

INLINE bool inside(const Table& t, double p, double h) {
    return p >= emptiest * t.p_min && p <= 1.02 * t.p_max && h >= t.h_min - 0.05 * t.h_unit;
}

// Two phases or vapour, between p_min and p_low.
template <int order>
INLINE void above_liquid(const Table& t, Block block, double p, double h, Jet2<order>& f) {
    Level<order>& l = level<order>(t, p);
    if (h >= l.dome.d[0][0]) return vapour(t, block, p, weights_of(t, l), l.dome, h, f);
    on_chord(block, h, chord_of(t, l, block), f);
}

// The same with the borders. Cells ask for both, each at a pressure of its own: nothing is kept.
template <int order>
INLINE void above_liquid(const Table& t, Block block, double p, double h, Jet2<order>& f, Borders& borders) {
    const Place x = place(t.dome_x, std::log(p));
    const Jet1<order> c = curves<order>(t.dome, x);
    Ends<order> e;
    lower_ends(t, p, x, c, e);
    borders = {e.hl, e.hv};
    if (h >= c.d[0][0]) return vapour(t, block, p, x, c, h, f);
    lower_fields(t, block, p, e);
    Chord<order> chord;
    make_chord(block, e, chord);
    on_chord(block, h, chord, f);
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
