#include "switches.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace acausal {

constexpr int32_t back_and_forth = 3; // changes of a relation in one round
constexpr int64_t most_rounds = 1000, most_looks = 10000; // more of them are Python's, which sees whether it gets anywhere

static uint64_t mixed_bits(uint64_t place, double value) {
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    bits = (bits ^ (place * 0x9e3779b97f4a7c15u)) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ (bits >> 29)) * 0x94d049bb133111ebu;
    return bits ^ (bits >> 32);
}

std::vector<double> &Rules::evaluate(const double *w) {
    std::fill(values.begin(), values.end(), 0.0);
    for (const Family &family : families) family.residual(w, values.data());
    return values;
}

// ------------------------------------------------------------------------------------------------ too fast?

void Haste::set(int64_t causes, int64_t window, double shortest_, double shrinking_, int64_t shrunk_, double near_) {
    own.assign(causes, Cause{});
    times.assign(window, -1e300);
    next = 0;
    shortest = shortest_, shrinking = shrinking_, shrunk = shrunk_, near = near_;
}

bool Haste::Cause::see(double t, double shrinking) {
    if (!(t > last)) return false;
    double now = t - last;
    if (last == -1e300) first = t;
    ratio = now / gap;
    run = now <= shrinking * gap ? run + 1 : 0;
    last = t, gap = now;
    return true;
}

bool Haste::restart(double t, const std::vector<int32_t> &causes) {
    bool fast = false;
    for (int32_t k : causes)
        if (own[k].see(t, shrinking)) fast |= own[k].run >= shrunk;
    if (times.empty()) return fast;
    times[next] = t;
    next = (next + 1) % times.size();
    return fast || t - times[next] < shortest;
}

bool Haste::jump(double t, const std::vector<int32_t> &causes) {
    bool fast = false;
    for (int32_t k : causes) {
        Cause &cause = own[k];
        if (cause.see(t, shrinking) && cause.run >= shrunk) fast |= cause.gap * cause.ratio < near * (1 - cause.ratio) * (t - cause.first);
    }
    return fast;
}

// ------------------------------------------------------------------------------------------------ one event

bool Switches::handle(double *w, const int32_t *roots, const Solve &solve) {
    size_t count = cells.size();
    before.resize(count), before_partners.resize(count);
    for (size_t k = 0; k < count; ++k) before[k] = w[cells[k]], before_partners[k] = w[partners[k]];
    present = solved_with = before;
    causes.clear(), seen.clear(), changed.clear(), old_bands.clear();
    wide.assign(bands.size(), 0.0);
    sides_before.resize(bands.size()), flight = 1e300;
    for (size_t k = 0; k < bands.size(); ++k) sides_before[k] = side(w, k);
    restart = jumped = is_kept = states_set = false;
    configuration = 0;
    rounds = sweeps = 0;
    if (!iterate(w, roots, solve)) return undo(w), false;
    noteworthy = restart, replan = false;
    for (size_t k = 0; k < count; ++k) {
        w[partners[k]] = present[k];
        if (present[k] == before[k]) continue;
        changed.push_back((int32_t)k);
        noteworthy |= (bool)visible[k], replan |= (bool)planned[k];
    }
    if (!assertion.empty()) {
        const std::vector<double> &holds = assertion.evaluate(w);
        if (std::find(holds.begin(), holds.end(), 0.0) != holds.end()) return undo(w), false;
    }
    sharpen(w);
    if (!turns_in_sight(w, solve)) return undo(w), false;
    ++records.handled;
    records.timed += due;
    records.restarted += restart, records.rounds += rounds, records.sweeps += sweeps;
    return true;
}

void Switches::keep(const double *w) {
    if (is_kept) return;
    kept.assign(w, w + 2 * system->layout.size);
    is_kept = true;
}

void Switches::undo(double *w) {
    for (size_t k = 0; k < cells.size(); ++k) w[cells[k]] = before[k], w[partners[k]] = before_partners[k];
    for (size_t k = old_bands.size(); k--;) w[bands[old_bands[k].first]] = old_bands[k].second;
    if (is_kept) std::copy(kept.begin(), kept.end(), w);
    system->assign(w);
}

bool Switches::iterate(double *w, const int32_t *roots, const Solve &solve) {
    system->assign(w);
    brace(w, roots);
    note_crossings(roots + bands.size());
    for (rounds = 1; rounds <= most_rounds; ++rounds) {
        bool over = false;
        if (!round(w, rounds == 1 ? roots : nullptr, solve, over)) return false;
        if (over) return true;
    }
    return false;
}

// False: unusual.
bool Switches::round(double *w, const int32_t *crossed, const Solve &solve, bool &over) {
    for (size_t k = 0; k < cells.size(); ++k) w[partners[k]] = present[k];
    if (!snapshot.empty()) {
        snapshot.evaluate(w);
        for (size_t k = 0; k < snapshot.targets.size(); ++k) w[snapshot.targets[k]] = snapshot.values[k];
        for (size_t k = 0; k < cells.size(); ++k) present[k] = w[cells[k]]; // no change to look at, but a value to keep
    }
    if (schedule.is) schedule.tick(w, now, due && rounds == 1, causes, first_of_time() + (int32_t)schedule.targets.size());
    if (!settle(w, crossed, solve)) return false;
    bool jumped = find_new_states(w), any = false;
    states_set |= jumped;
    if (!std::all_of(moved.begin(), moved.end(), [](const auto &m) { return std::isfinite(m.second); })) return false;
    if (!stop.empty()) {
        const std::vector<double> &stops = stop.evaluate(w);
        if (std::any_of(stops.begin(), stops.end(), [](double v) { return v != 0; })) return false;
    }
    if (!see_changes(w, any)) return false;
    over = !jumped && !any;
    if (over) return !rests(w);
    if ((jumped || unsolved(w)) && !resolve(w, solve)) return false;
    return !seen_before();
}

// Relations on what is solved for have bands as nominal values suggest: the solution may come out otherwise.
void Switches::brace(double *w, const int32_t *roots) {
    for (size_t k = 0; k < bands.size(); ++k) {
        if (exact[k] || roots[k] || width(w, k) >= narrow[k]) continue;
        old_bands.emplace_back((int32_t)k, w[bands[k]]);
        w[bands[k]] = -side(w, k) * narrow[k];
    }
}

void Switches::note_crossings(const int32_t *roots) {
    for (size_t k = 0; k < directions.size(); ++k) {
        if (!roots[k] || directions[k] * roots[k] < 0) continue;
        restart = true;
        causes.push_back((int32_t)(bands.size() + k));
    }
}

// Crossing functions a little later, along the slopes.
const std::vector<double> &Switches::later(const double *w) {
    int64_t n = system->layout.size;
    probe.assign(w, w + workspace_size());
    for (int64_t i = 0; i < n; ++i)
        if (differential[i]) probe[i] += soon * probe[n + i];
    probe[system->layout.time_index] += soon;
    system->assign(probe.data());
    return relation.evaluate(probe.data());
}

// Whether the event leaves something on its switching point that has another value than is written, and does not move from there as
// far as can be seen from here. Python looks again.
bool Switches::rests(const double *w) {
    auto suspect = [&](size_t k) { return distances[k] <= std::max(width(w, k), narrow[k]) && (w[relation.targets[k]] > 0) == (bool)strict[k]; };
    size_t first = 0, count = relation.values.size();
    while (first < count && !suspect(first)) ++first;
    if (first == count) return false;
    size.evaluate(w);
    auto at_zero = [&](size_t k) { return distances[k] <= rounding * size.values[k] && suspect(k); };
    while (first < count && !at_zero(first)) ++first;
    if (first == count) return false;
    const std::vector<double> &g = later(w);
    for (size_t k = first; k < count; ++k)
        if (at_zero(k) && !(std::fabs(g[k] + w[bands[k]]) > rounding * size.values[k])) return true;
    return false;
}

// How wide a band has to be that nominal values made, of a relation that is `along` from its switching point, on its side, and goes that way in
// a run. One that is behind that point and has not switched stays within its band: beyond it nobody would see it cross.
double Switches::sharpened(size_t row, double way, double terms, double along) const {
    double least = std::max(band * terms, std::min(narrow[row], band * way));
    return along < 0 ? std::min(narrow[row], std::max(least, -2 * along)) : least;
}

// Where nominal values made the band of a relation that is within it, because it switched or because others did, the way that it is to
// go may make it narrower.
void Switches::sharpen(double *w) {
    near.clear();
    for (size_t k = 0; k < bands.size(); ++k)
        if (exact[k] && width(w, k) == narrow[k] && distances[k] <= narrow[k]) near.emplace_back((int32_t)k, 0.0);
    if (near.empty()) return;
    size.evaluate(w);
    relation.evaluate(w);
    for (auto &[k, along] : near) along = side(w, k) * (relation.values[k] + w[bands[k]]);
    const std::vector<double> &g = later(w);
    for (auto [k, along] : near) {
        double way = std::fabs(std::fabs(g[k] + w[bands[k]]) - std::fabs(along)) / soon_of_run;
        if (!std::isfinite(way) || !(way > 0)) continue;
        old_bands.emplace_back(k, w[bands[k]]);
        w[bands[k]] = -side(w, k) * std::max(sharpened(k, way, size.values[k], along), wide[k]);
    }
}

// Values that go with w, judged by those of when the round began. What a jump puts into its band has the value that is written; what
// the solution brought there keeps the one it had. A relation that crossed and is just back on its old side, by less than what was
// interpolated may be wrong, has switched all the same: its band reaches beyond where it is.
void Switches::decide(double *w, const int32_t *crossed, bool jumped) {
    if (relation.empty()) return;
    const std::vector<double> &g = relation.evaluate(w);
    for (size_t k = 0; k < g.size(); ++k) {
        double was = side(old[k], k), raw = g[k] + w[bands[k]], along = was * g[k], distance = std::fabs(raw);
        bool wrong = along < 0, fires = crossed && crossed[k];
        distances[k] = distance;
        if (!jumped) distances_before[k] = distance;
        if (fires) fired[k] = 1;
        bool inherited = !fired[k] && fired[edges[k]];
        if (jumped && !crossed && wrong && (fired[k] || inherited) && distance <= soft[k]) wide[k] = 2 * distance, wrong = false;
        int32_t other = edges[k]; // two edges of a stair see a jump onto it within the same width: they would switch each other for ever
        double reach = std::max(std::max(width(w, k), narrow[k]), std::max(width(w, other), narrow[other]));
        bool onto = jumped && !inherited && distance <= reach && distances_before[k] > reach;
        if (onto && (old[k] > 0) == (bool)strict[k])
            wrong = true;
        else if (onto && wrong && other != (int32_t)k)
            wrong = false, wide[k] = std::max(wide[k], 2 * distance);
        bool rests = raw == 0 && (old[k] > 0) == (bool)strict[k]; // where another value is written
        if (fires && (along <= 0 || rests || (jumped && was * raw <= soft[k]))) {
            wrong = true;
            if (was * raw > 0) wide[k] = 2 * distance;
        }
        w[relation.targets[k]] = wrong ? 1.0 - old[k] : old[k];
    }
}

void Switches::close(double *w) {
    bool sized = false;
    for (size_t k = 0; k < old.size(); ++k) {
        bool switched = w[relation.targets[k]] != old[k];
        double own = width(w, k);
        if (!switched && wide[k] <= own) continue;
        if (switched) {
            causes.push_back((int32_t)k);
            if (!sized) size.evaluate(w), sized = true;
            own = std::max(narrow[k], band * size.values[k]);
        }
        old_bands.emplace_back((int32_t)k, w[bands[k]]);
        w[bands[k]] = -side(w, k) * std::max(own, wide[k]);
    }
    if (schedule.is) schedule.close(w, causes, first_of_time());
}

bool Switches::settle(double *w, const int32_t *crossed, const Solve &solve) {
    size_t count = relation.values.size();
    old.resize(count), distances.resize(count), fired.resize(count);
    for (size_t k = 0; k < count; ++k) old[k] = w[relation.targets[k]];
    if (crossed) std::fill(fired.begin(), fired.end(), 0);
    distances_before = distances;
    if (schedule.is) schedule.open(w);
    latest = present, at_solution = old;
    swings.assign(count, 0);
    looks.clear();
    uint64_t here = 0;
    for (int64_t look = 0; look < most_looks; ++look) {
        decide(w, crossed, look > 0 || !crossed);
        if (schedule.is) schedule.follow(w, (int32_t)system->layout.time_index, now);
        if (!sweep(w)) return false;
        bool any = false, of_equations = false, of_relations = false;
        for (size_t k = 0; k < cells.size(); ++k) {
            double now = w[cells[k]];
            if (now == latest[k]) continue;
            any = true;
            of_equations |= (bool)read[k], of_relations |= (bool)followed[k];
            here += mixed_bits(k, now) - mixed_bits(k, latest[k]);
            latest[k] = now;
            if ((timed[k] && !schedule.is) || !std::isfinite(now)) return false;
        }
        if (of_equations) system->assign(w);
        if (!of_relations) {
            if (!mixed || !unsolved(w)) return close(w), true;
            if (swing(w)) return false;
            moved.clear();
            if (!resolve(w, solve)) return false;
        }
        if (!any) continue;
        if (std::find(looks.begin(), looks.end(), here) != looks.end()) return false;
        looks.push_back(here);
    }
    return false;
}

// Whether a relation goes back and forth from one solution of the equations to the next: what follows is Python's to judge.
bool Switches::swing(const double *w) {
    bool any = false;
    for (size_t k = 0; k < old.size(); ++k) {
        if (w[relation.targets[k]] == at_solution[k]) continue;
        at_solution[k] = w[relation.targets[k]];
        any |= ++swings[k] >= back_and_forth;
    }
    return any;
}

bool Switches::sweep(double *w) {
    for (size_t k = 0; k < 2 * update.values.size() + 2; ++k) {
        ++sweeps;
        if (!nets.follow(w)) return false;
        const std::vector<double> &values = update.evaluate(w);
        bool settled = true;
        for (size_t i = 0; i < values.size(); ++i) settled &= values[i] == w[update.targets[i]];
        if (settled) return true;
        if (!all_finite(values.data(), (int64_t)values.size()) || !of_their_type(values)) return false;
        for (size_t i = 0; i < values.size(); ++i) w[update.targets[i]] = values[i];
    }
    return false;
}

bool Switches::of_their_type(const std::vector<double> &values) const {
    for (size_t i = 0; i < typed.size(); ++i) {
        if (typed[i] && values[i] != std::rint(values[i])) return false;
        if (truths[i] && values[i] != 0 && values[i] != 1) return false;
    }
    return true;
}

bool Switches::find_new_states(const double *w) {
    moved.clear();
    if (reinit.empty()) return false;
    const std::vector<double> &values = reinit.evaluate(w);
    for (size_t k = 0; k < values.size(); ++k) {
        double value = signs[k] * values[k];
        if (value == w[reinit.targets[k]]) continue;
        for (const auto &other : moved) // two values for one state are for Python to tell
            if (other.first == reinit.targets[k] && other.second != value) value = std::numeric_limits<double>::quiet_NaN();
        moved.emplace_back(reinit.targets[k], value);
    }
    return !moved.empty();
}

// What changed in this round. The sum of what each cell is mixed to names a configuration.
bool Switches::see_changes(const double *w, bool &any) {
    for (size_t k = 0; k < cells.size(); ++k) {
        double now = w[cells[k]];
        if (now == present[k]) continue;
        if ((timed[k] && !schedule.is) || !std::isfinite(now)) return false;
        any = true;
        configuration += mixed_bits(k, now) - mixed_bits(k, present[k]);
        present[k] = now;
    }
    return true;
}

// Whether equations see other discrete values than those that they were last solved with.
bool Switches::unsolved(const double *w) const {
    for (size_t k = 0; k < cells.size(); ++k)
        if (read[k] && w[cells[k]] != solved_with[k]) return true;
    return false;
}

bool Switches::resolve(double *w, const Solve &solve) {
    restart = true;
    keep(w);
    if (!guess.empty()) guess.evaluate(w); // of what was before
    for (auto [unknown, value] : moved) {
        configuration += mixed_bits(cells.size() + unknown, value) - mixed_bits(cells.size() + unknown, w[unknown]);
        w[unknown] = value;
    }
    for (size_t k = 0; k < guess.targets.size(); ++k)
        if (guess.targets[k] >= 0) w[guess.targets[k]] = guess_signs[k] * guess.values[k];
    if (!solve()) return false;
    system->assign(w);
    for (size_t k = 0; k < cells.size(); ++k) solved_with[k] = w[cells[k]];
    return true;
}

bool Switches::seen_before() {
    if (std::find(seen.begin(), seen.end(), configuration) != seen.end()) return true;
    seen.push_back(configuration);
    return false;
}

// ------------------------------------------------------------------------------------------------ one root function for all

void Switches::aim(double *w) {
    system->assign(w);
    const std::vector<double> &g = relation.evaluate(w);
    aims.resize(g.size());
    left_out = false;
    for (size_t k = 0; k < g.size(); ++k) {
        aims[k] = side(w, k) / narrow[k];
        if (aims[k] * g[k] >= 0 || std::isnan(g[k])) continue; // exactly at the edge of its band it has not crossed yet
        aims[k] = 0;
        left_out = true;
    }
}

void Switches::see_bands(const double *w) {
    loose = false;
    for (size_t k = 0; k < bands.size(); ++k) loose |= width(w, k) > idle * narrow[k];
}

void Switches::look(double *w) {
    system->assign(w);
    std::vector<double> &g = relation.evaluate(w);
    left_out = false;
    for (size_t k = 0; k < g.size() && loose; ++k) {
        double raw = g[k] + w[bands[k]];
        if (!(width(w, k) > idle * narrow[k]) || !(std::fabs(raw) > away * width(w, k))) continue;
        w[bands[k]] = std::copysign(idle * narrow[k], w[bands[k]]);
        g[k] = raw - w[bands[k]];
    }
    see_bands(w);
    for (size_t k = 0; k < aims.size() && joint(); ++k) {
        if (aims[k] != 0) continue;
        double factor = side(w, k) / narrow[k];
        if (factor * g[k] > 0) aims[k] = factor;
        else left_out = true;
    }
}

double Switches::least(const double *g) const {
    const double *factor = aims.data();
    double least = 1e300;
    int64_t count = (int64_t)aims.size();
#pragma omp simd reduction(min : least)
    for (int64_t k = 0; k < count; ++k) {
        double along = factor[k] * g[k];
        along = factor[k] != 0 ? along : 1e300;
        least = along < least ? along : least;
    }
    return least;
}

void Switches::crossed(const double *w, int32_t *found) {
    const std::vector<double> &g = relation.evaluate(w);
    for (size_t k = 0; k < g.size(); ++k)
        found[k] = aims[k] != 0 && (aims[k] * g[k] <= 0 || system->rests((int64_t)k, g[k], w)) ? (aims[k] > 0 ? -1 : 1) : 0;
}

// ------------------------------------------------------------------------------------------------ what came of it

void Switches::show(const double *w, double *other) const {
    for (int32_t k : changed) other[cells[k]] = other[partners[k]] = w[cells[k]];
    for (auto [row, _] : old_bands) other[bands[row]] = w[bands[row]];
}

void Switches::note(const double *w, double t, int64_t row) {
    int64_t event = (int64_t)records.times.size(), first_known = 2 * system->layout.size;
    records.times.push_back(t);
    records.rows.push_back(row);
    records.restarts.push_back(restart), records.jumps.push_back(jumped);
    for (int32_t cause : causes) records.cause_events.push_back(event), records.cause_rows.push_back(cause);
    for (int32_t k : changed) {
        records.change_events.push_back(event);
        records.change_cells.push_back(cells[k] - first_known);
        records.change_values.push_back(w[cells[k]]);
    }
}

} // namespace acausal
