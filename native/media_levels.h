// What depends on pressure alone, below p_low: found once for all who ask at the same pressure one after the other.
//
// Half of what a state costs is spent on the borders and the grid at its pressure; and what connectors join has one pressure, as have the
// zones of an exchanger. Each thread keeps a few pressures, of each what somebody has asked for there. What `level` gives, and all
// that is read from it, holds until somebody asks at another pressure. Order 1 and order 2 are kept apart: each has its own roundings.
// Part of media_tables.h, which says how it is compiled.
#pragma once
#include "media_borders.h"

namespace {

template <int order>
struct Level {
    uint64_t serial = 0;  // of the table; zero: nothing is there
    double p;
    Place x;           // of ln p
    Jet1<order> dome;  // its curves; the last two with the ends
    Weights weights;   // of x
    Ends<order> ends[2];  // with the fields of each block
    Chord<order> chord[2];
    bool has_weights, has_ends, has_fields[2], has_chord[2];
};

constexpr int bits_of_place = 4, levels_kept = 1 << bits_of_place;

// A pointer is small enough for the part of a thread's memory that is found without a call.
#if defined(__ELF__) && defined(__GNUC__)
#define OF_THREAD __attribute__((tls_model("initial-exec"))) thread_local
#else
#define OF_THREAD thread_local
#endif
template <int order>
OF_THREAD Level<order>* levels = nullptr;

template <int order>
__attribute__((noinline)) Level<order>* make_levels() {
    thread_local std::vector<Level<order>> own(levels_kept);  // lives as long as the thread
    return levels<order> = own.data();
}

template <int order>
INLINE void renew(const Table& t, double p, Level<order>& l) {
    l.serial = t.serial;
    l.p = p;
    l.x = place(t.dome_x, std::log(p));
    curves(t.dome, l.x, l.dome, 0, 2);
    l.has_weights = l.has_ends = l.has_fields[STATE] = l.has_fields[MORE] = l.has_chord[STATE] = l.has_chord[MORE] = false;
}

template <int order>
INLINE Level<order>& level(const Table& t, double p) {
    Level<order>* own = levels<order>;
    if (!own) own = make_levels<order>();
    uint64_t bits;
    std::memcpy(&bits, &p, sizeof bits);
    Level<order>& found = own[(bits * 0x9e3779b97f4a7c15u) >> (64 - bits_of_place)];
    if (found.serial != t.serial || found.p != p) renew(t, p, found);
    return found;
}

template <int order>
INLINE Ends<order>& ends_of(const Table& t, Level<order>& l) {
    if (l.has_ends) return l.ends[STATE];
    curves(t.dome, l.x, l.dome, 2, 4);
    lower_ends(t, l.p, l.x, l.dome, l.ends[STATE]);
    l.has_ends = true;
    return l.ends[STATE];
}

template <int order>
INLINE const Ends<order>& fields_of(const Table& t, Level<order>& l, Block block) {
    Ends<order>& e = l.ends[block];
    if (l.has_fields[block]) return e;
    const Ends<order>& ends = ends_of(t, l);
    if (block != STATE) e = ends;
    lower_fields(t, block, l.p, e);
    l.has_fields[block] = true;
    return e;
}

template <Block block, int order>
__attribute__((noinline)) void find_chord(const Table& t, Level<order>& l) {
    make_chord(block, fields_of(t, l, block), l.chord[block]);
    l.has_chord[block] = true;
}
template <int order>
INLINE const Chord<order>& chord_of(const Table& t, Level<order>& l, Block block) {
    if (!l.has_chord[block]) block == STATE ? find_chord<STATE>(t, l) : find_chord<MORE>(t, l);
    return l.chord[block];
}

template <int order>
INLINE const Weights& weights_of(const Table& t, Level<order>& l) {
    if (!l.has_weights) weights<order>(t.dome_x, l.x, l.weights), l.has_weights = true;
    return l.weights;
}

// Both ends at any pressure, without their fields or with them.
template <int order>
INLINE const Ends<order>& ends_at(const Table& t, double p, Ends<order>& room) {
    if (p < t.p_low) return ends_of(t, level<order>(t, p));
    upper_ends(t, p, room);
    return room;
}
template <int order>
INLINE const Ends<order>& ends_with_fields(const Table& t, Block block, double p, Ends<order>& room) {
    if (p < t.p_low) return fields_of(t, level<order>(t, p), block);
    upper_ends(t, p, room);
    upper_fields(t, block, p, room);
    return room;
}

}  // namespace
