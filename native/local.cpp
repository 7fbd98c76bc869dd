#include "local.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>

namespace acausal {

constexpr int most_repeats = 2, most_hops = 100; // of a relation in one step; those at which a state jumps
constexpr int most_samples = 8;
constexpr size_t most_weights = 500;
constexpr double turns_still = 1e-9; // of a rate before an event: next to it another one is zero
constexpr double turns_near = 16;    // bands: what is further from its switching point has not been turned back there
constexpr double short_way = 1e-3; // of a step, for slopes
constexpr double epsilon = std::numeric_limits<double>::epsilon();

Local::Local(std::shared_ptr<System> system_, std::shared_ptr<Switches> switches_, const Scales &scales_, SetTime set_time_)
    : system(std::move(system_)), switches(std::move(switches_)), scales(scales_), set_time(std::move(set_time_)), n(system->layout.size) {}

// ------------------------------------------------------------------------------------------------ single rows

void Local::call(const Node &node, double *out) {
    const Family &family = *node.family;
    int64_t slots = family.slots.shape[0], outputs = family.targets.shape[0], count = family.count();
    int32_t slot[most_cells], target[most_cells];
    for (int64_t i = 0; i < slots; ++i) slot[i] = family.slots.data[i * count + node.column];
    for (int64_t o = 0; o < outputs; ++o) target[o] = (int32_t)o, out[o] = 0;
    reinterpret_cast<ResidualKernel>(family.address)(v.data(), out, slot, target, 1, family.functions.data());
}

double Local::part_of(int32_t node, int32_t target) {
    double out[most_cells], sum = 0;
    call(nodes[node], out);
    for (int64_t o = 0; o < nodes[node].family->targets.shape[0]; ++o)
        if (target_of(*nodes[node].family, o, nodes[node].column) == target) sum += out[o];
    return sum;
}

double Local::evaluate(Role role, int32_t row, double t, double ahead) {
    const Closure &found = closure(role, row);
    const Weights &at = weights_at(t);
    if (!found.bounded) return role == Relation ? evaluate_wholly(row, t) : std::numeric_limits<double>::quiet_NaN();
    for (int32_t u : found.values) v[u] = ahead == 0 ? value_at(at, u) : value_at(at, u) + ahead * slope_at(at, u);
    for (int32_t u : found.slopes) v[n + u] = slope_at(at, u);
    set_time(t + ahead, v.data());
    int64_t first = system->layout.workspace() - system->computed;
    for (int32_t cell : found.computed) {
        const Table &makers = producers[cell >= first ? Assignment : Snapshot];
        int32_t number = cell >= first ? cell - (int32_t)first : snapshot_of[cell];
        double sum = 0;
        for (int32_t k = makers.start[number]; k < makers.start[number + 1]; ++k) sum += part_of(makers.nodes[k], number);
        v[cell] = sum;
    }
    double sum = 0;
    for (int32_t node : found.nodes) sum += part_of(node, row);
    return sum;
}

// A relation that reads very many unknowns.
double Local::evaluate_wholly(int32_t relation, double t) {
    const Weights &at = weights_at(t);
    for (int32_t u = 0; u < n; ++u) v[u] = value_at(at, u), v[n + u] = slope_at(at, u);
    set_time(t, v.data());
    system->assign(v.data());
    return switches->relation.evaluate(v.data())[relation];
}

// As IDAS interpolates (IDA guide 2.2): products of distances over those from the last point.
const Local::Weights &Local::weights_at(double t) {
    int64_t key;
    std::memcpy(&key, &t, sizeof key);
    auto [place_, is_new] = weights.try_emplace(key);
    Weights &found = place_->second;
    if (!is_new) return found;
    double c = 1, d = 0, gamma = (t - history.times[0]) / (history.times[0] - history.times[1]);
    found.value[0] = 1, found.slope[0] = 0, found.along = along(t);
    for (int j = 1; j <= history.order; ++j) {
        double psi = history.times[0] - history.times[j];
        d = d * gamma + c / psi;
        c *= gamma;
        if (j < history.order) gamma = (t - history.times[j]) / (history.times[0] - history.times[j + 1]);
        found.value[j] = c, found.slope[j] = d;
    }
    return found;
}

// Of thousands of events in one step: those of the last ones are looked up, and fit into a cache.
void Local::forget_weights() {
    if (weights.size() > most_weights) weights.clear();
}

double Local::past(const Weights &at, int32_t unknown) const {
    double sum = 0;
    for (int j = 0; j <= history.order; ++j) sum += at.value[j] * history.differences[j][unknown];
    return sum;
}

double Local::past_slope(const Weights &at, int32_t unknown) const {
    double sum = 0;
    for (int j = 1; j <= history.order; ++j) sum += at.slope[j] * history.differences[j][unknown];
    return sum;
}

double Local::value_at(const Weights &at, int32_t unknown) const {
    if (place[unknown] >= 0) return few[place[unknown]].value;
    return taken[unknown] >= 0 ? course(courses[taken[unknown]], at.along) : past(at, unknown);
}

double Local::slope_at(const Weights &at, int32_t unknown) const {
    if (place[unknown] >= 0) return few[place[unknown]].slope;
    return taken[unknown] >= 0 ? course_slope(courses[taken[unknown]], at.along) : past_slope(at, unknown);
}

void Local::forget() {
    for (const Unknown &u : courses) taken[u.number] = -1;
    courses.clear();
    queue = {};
}

void Local::enter(History step) {
    if (history.times.empty() || step.times[0] != history.times[0] || step.times[1] != history.times[1]) forget();
    history = std::move(step);
    weights.clear();
}

void Local::show(double end, double t, double *y, double *yp) const {
    if (courses.empty() || end != history.times[0]) return;
    double x = along(t);
    for (const Unknown &u : courses) {
        y[u.number] = t == u.since && u.differential ? u.begin : course(u, x); // what it was set to, to the last bit
        yp[u.number] = course_slope(u, x);
    }
}

// ------------------------------------------------------------------------------------------------ which relations change sides

double Local::aimed(int32_t relation, double t) {
    double g = evaluate(Relation, relation, t);
    return switches->aims[relation] * (t > looked_from && rests[relation] && system->rests(relation, g, v.data()) ? system->root_zero[relation] : g);
}

// Slopes of the relations' functions where w is.
void Local::see_slopes(const double *w, double until) {
    Switches &s = *switches;
    double way = short_way * length();
    probe.assign(w, w + system->layout.workspace());
    for (int64_t i = 0; i < n; ++i) probe[i] -= way * w[n + i];
    probe[system->layout.time_index] = until - way;
    system->assign(probe.data(), for_relations);
    values = s.relation.evaluate(w);
    slopes = s.relation.evaluate(probe.data());
    for (size_t k = 0; k < slopes.size(); ++k) slopes[k] = (values[k] - slopes[k]) / way;
}

// Whether a function that has kept its side at both ends may be on the other one in between: the tangents meet there.
bool Local::may_dip(size_t k, double length) const {
    double aim = switches->aims[k], a = aim * values_before[k], b = aim * values[k];
    double down = aim * slopes_before[k] * length, up = aim * slopes[k] * length;
    return down < 0 && up > 0 && !(a + down * (b - a - up) / (down - up) > 0);
}

double Local::fine() const { return 100 * epsilon * (std::fabs(history.times[0]) + length()); } // as IDAS searches

// The lowest of some values in between, each where the parabola through its neighbours is lowest; a crossing before it, if it is beyond.
void Local::see_dip(int32_t relation, double from, double until) {
    double low = from, high = until, middle = 0.5 * (low + high), f = aimed(relation, middle);
    for (int k = 0; k < most_samples && f > 0; ++k) {
        double left = 0.5 * (low + middle), right = 0.5 * (middle + high), f_left = aimed(relation, left), f_right = aimed(relation, right);
        if (f_left < f && f_left <= f_right) high = middle, middle = left, f = f_left;
        else if (f_right < f) low = middle, middle = right, f = f_right;
        else low = left, high = right;
    }
    if (!(f > 0)) see_crossing(relation, from, middle);
}

// Whether a relation may have changed sides; one that has no value at both ends has not.
bool Local::suspect(size_t k, double length, bool known) const {
    double aim = switches->aims[k];
    if (aim == 0) return false;
    bool had_none = known && std::isnan(values_before[k]);
    if (had_none) return !std::isnan(values[k]);
    return !(aim * values[k] > 0) || rests[k] || (known && may_dip(k, length));
}

// The time next to a gap at which a relation still has a value, or has one again.
double Local::end_of_gap(int32_t relation, double with_value, double without) {
    for (;;) {
        double middle = 0.5 * (with_value + without);
        if (middle == with_value || middle == without || std::fabs(without - with_value) <= 4 * epsilon * std::fabs(with_value)) return with_value;
        (std::isnan(aimed(relation, middle)) ? without : with_value) = middle;
    }
}

bool Local::look(double *w, double from, double until, Gaps &gaps) {
    if (!built) system->assign(w), build(), match(w);
    else system->assign(w, for_relations);
    Switches &s = *switches;
    values_before.swap(values), slopes_before.swap(slopes);
    see_slopes(w, until);
    bool known = looked_until == from && values_before.size() == values.size(), any = false;
    values_before.resize(values.size()), slopes_before.resize(values.size());
    looked_until = until, looked_from = from;
    rests.resize(values.size());
    for (size_t k = 0; k < values.size(); ++k) rests[k] = system->rests((int64_t)k, values[k], w);
    for (size_t k = 0; k < s.aims.size(); ++k) {
        any |= suspect(k, until - from, known);
        if (known && std::isnan(values_before[k]) && std::isnan(values[k])) gaps.note((int32_t)k, from, w);
    }
    std::vector<Crossing> found_before; // the run was left within this step: what comes and goes next to nothing is not found twice
    for (; !queue.empty(); queue.pop()) {
        const Crossing &each = queue.top();
        if (each.version == version[each.row] && each.t > from && each.t <= until) found_before.push_back(each);
    }
    if (!any && found_before.empty()) return false;
    system->assign(w);
    std::copy(w + 2 * n, w + system->layout.workspace(), v.begin() + 2 * n);
    std::fill(crossings.begin(), crossings.end(), 0), std::fill(hops.begin(), hops.end(), 0);
    event_time = from, searched_until = until;
    for (size_t k = 0; k < s.aims.size(); ++k) {
        if (!suspect(k, until - from, known)) continue;
        if (known && !std::isnan(values_before[k]) && !rests[k] && s.aims[k] * values[k] > 0) see_dip((int32_t)k, from, until);
        else see_crossing((int32_t)k, from, until);
    }
    for (const Crossing &each : found_before)
        if (s.aims[each.row] != 0 && aimed(each.row, from) > 0 && !(aimed(each.row, each.t) > 0)) queue.push(each);
    return true;
}

// The time at which a relation is beyond its switching point for the first time, as far as two points of time tell.
void Local::see_crossing(int32_t relation, double from, double until) {
    forget_weights();
    double low = from, high = until, f_low = aimed(relation, low), f_high = aimed(relation, high), fine = this->fine();
    if (std::isnan(f_low) && std::isnan(f_high)) return;
    if (std::isnan(f_low)) {
        low = end_of_gap(relation, until, from), f_low = aimed(relation, low);
    } else if (std::isnan(f_high)) {
        high = end_of_gap(relation, from, until), f_high = aimed(relation, high);
    }
    if (f_low > 0 && f_high > 0) return;
    int side = 0;
    if (!(f_low > 0)) high = low;
    while (high - low > fine) {
        double middle = low + (high - low) * f_low / (f_low - f_high); // the Illinois method
        middle = std::min(std::max(middle, low + 0.5 * fine), high - 0.5 * fine);
        if (!(middle > low) || !(middle < high)) middle = 0.5 * (low + high);
        double f = aimed(relation, middle);
        if (!(f <= 0)) { // another gap counts as the side before it
            low = middle, f_low = std::isnan(f) ? f_low : f;
            if (side == 1) f_high *= 0.5;
            side = 1;
        } else {
            high = middle, f_high = f;
            if (side == -1) f_low *= 0.5;
            side = -1;
        }
        if (!(f_low > f_high)) f_low = 1, f_high = -1;
    }
    queue.push({high, relation, version[relation]});
}

bool Local::next(double &t, std::vector<int32_t> &rows) {
    rows.clear();
    for (; !queue.empty(); queue.pop()) {
        Crossing first = queue.top();
        if (first.version != version[first.row]) continue;
        if (!rows.empty() && first.t > t + 2 * fine()) break;
        t = first.t;
        if (std::find(rows.begin(), rows.end(), first.row) == rows.end()) rows.push_back(first.row);
    }
    return !rows.empty();
}

// ------------------------------------------------------------------------------------------------ an event

bool Local::attempt(const std::vector<int32_t> &rows, double t) {
    forget_weights();
    old.clear(), few.clear(), changed_cells.clear(), flipped.clear(), moved.clear(), acted.clear();
    event_rows = rows, event_time = t;
    jumped = unsolved = false;
    double ahead = std::min(switches->soon, 0.125 * length());
    rates_before.clear();
    for (int32_t row : rows) rates_before.push_back(rate(row, t, ahead));
    bool fast = false;
    for (int32_t row : rows) fast |= ++crossings[row] > most_repeats || hops[row] >= most_hops;
    if (fast || !discrete(t) || !continuous(t)) return undo(), ++left, false;
    see_changes();
    for (int32_t row : rows)
        if (!leaves(row, t)) return undo(), ++left, false;
    for (size_t k = 0; jumped && k < rows.size(); ++k)
        if (!comes_back(rows[k], t, rate(rows[k], t, ahead), rates_before[k])) return undo(), ++left, false;
    return true;
}

double Local::rate(int32_t row, double t, double ahead) {
    place_at(t);
    double later = evaluate(Relation, row, t, ahead);
    return (later - evaluate(Relation, row, t, -ahead)) / (2 * ahead);
}

// Whether what the event turns back is seen to change sides again. What is back within its band, or not over it when the step ends, is for
// Switches, which look where it turns, and for Python to tell of (Switches::turns_in_sight).
bool Local::comes_back(int32_t row, double t, double now, double was) {
    Switches &s = *switches;
    place_at(t);
    double side = s.side(v.data(), row), start = side * evaluate(Relation, row, t);
    auto first = std::find_if(old.begin(), old.end(), [&](const auto &each) { return each.first == s.relation.targets[row]; });
    bool is_back = first != old.end() && first->second == v[first->first]; // what was set has taken it back, as a cell that fires does
    bool is_near = start <= turns_near * std::max(s.width(v.data(), row), s.narrow[row]);
    if (is_back || !is_near || side * now > turns_still * std::fabs(was)) return true;
    place_at(searched_until);
    double moved = std::fabs(side * evaluate(Relation, row, searched_until) - start);
    if (moved <= turns_still * std::fabs(was) * (searched_until - t)) return true; // it rests
    for (double way = 8 * fine(); t + way < searched_until; way *= 2) {
        place_at(t + way);
        if (side * evaluate(Relation, row, t + way) <= 0) return place_at(t), true;
    }
    return false;
}

// Whether a relation moves on from where it switched, and how far away its band must be.
bool Local::leaves(int32_t row, double t) {
    Switches &s = *switches;
    place_at(t);
    double side = s.side(v.data(), row), along = side * (evaluate(Relation, row, t) + v[s.bands[row]]);
    double here = std::fabs(along), terms = std::fabs(evaluate(Size, row, t)), ahead = std::min(s.soon, 0.125 * length());
    double there = std::fabs(evaluate(Relation, row, t, ahead) + v[s.bands[row]]); // along slopes: what rises a little soon falls again
    bool as_written = (v[s.relation.targets[row]] > 0) != (bool)s.strict[row]; // where both sides of the relation are equal
    if (!as_written && here <= s.rounding * terms && !(there > s.rounding * terms)) return false;
    double way = std::fabs(there - here) * (s.soon / ahead) / s.soon_of_run;
    if (s.exact[row] && std::fabs(v[s.bands[row]]) == s.narrow[row] && here <= s.narrow[row] && std::isfinite(way) && way > 0)
        set(s.bands[row], -side * s.sharpened(row, way, terms, along));
    return true;
}

// IDAS' differences of an unknown, by what its new course adds to the former one: the last of them is of a degree that neither has.
void Local::rewrite(const Unknown &u) {
    double value[8];
    size_t count = std::min(history.differences.size(), (size_t)history.order + 2);
    place[u.number] = -1;
    for (size_t j = 0; j < count; ++j) value[j] = course(u, along(history.times[j])) - value_at(weights_at(history.times[j]), u.number);
    for (size_t level = 1; level < count; ++level) // Newton's divided differences …
        for (size_t j = count - 1; j >= level; --j) value[j] = (value[j - 1] - value[j]) / (history.times[j - level] - history.times[j]);
    double product = 1, &present = history.differences[0][u.number], rounding = jumped ? 64 * epsilon * (std::fabs(present) + std::fabs(value[0])) : 0;
    for (size_t j = 0; j < count; ++j) { // … times the distances that IDAS keeps with them
        double &difference = history.differences[j][u.number];
        difference += product * value[j];
        if (std::fabs(difference) <= rounding) difference = 0; // what comes to rest does not move by what is left of where it was
        if (j + 1 < count) product *= history.times[0] - history.times[j + 1];
    }
}

void Local::commit(double *w, double *w_out) {
    Switches &s = *switches;
    for (auto [cell, _] : old) w[cell] = w_out[cell] = v[cell];
    for (const Unknown &u : few) {
        rewrite(u);
        double end = along(searched_until);
        w[u.number] = course(u, end), w[n + u.number] = course_slope(u, end);
        if (taken[u.number] < 0) taken[u.number] = (int32_t)courses.size(), courses.push_back(u);
        else courses[taken[u.number]] = u;
    }
    s.causes = flipped;
    s.changed = changed_cells;
    few.clear();
    old.clear();
    ++handled;
    for (int32_t row : flipped) aim(row);
    std::vector<int32_t> others;
    std::sort(flipped.begin(), flipped.end());
    std::set_union(effect.relations.begin(), effect.relations.end(), flipped.begin(), flipped.end(), std::back_inserter(others));
    for (int32_t relation : others) search_on(relation);
}

// What a relation that changed sides looks for from now on.
void Local::aim(int32_t row) {
    Switches &s = *switches;
    if (jumped) crossings[row] = 0, ++hops[row];
    double factor = s.side(v.data(), row) / s.narrow[row];
    s.aims[row] = factor * evaluate(Relation, row, event_time) > 0 ? factor : 0;
    s.left_out |= s.aims[row] == 0;
    s.loose |= s.width(v.data(), row) > s.idle * s.narrow[row];
}

// What has just changed sides may be back very much sooner than the step ends, as a ball is that hardly rises any more.
bool Local::see_hop(int32_t relation) {
    for (double way = 8 * fine(); event_time + way < searched_until; way *= 2) {
        if (aimed(relation, event_time + way) > 0) continue;
        return see_crossing(relation, event_time, event_time + way), true;
    }
    return false;
}

// A relation that sees new courses: does it change sides in what is left of the step?
void Local::search_on(int32_t relation) {
    ++version[relation];
    double way = short_way * length();
    values[relation] = evaluate(Relation, relation, searched_until);
    slopes[relation] = (values[relation] - evaluate(Relation, relation, searched_until - way)) / way;
    double aim = switches->aims[relation];
    if (aim == 0) return;
    if (!(aim * values[relation] > 0)) return see_crossing(relation, event_time, searched_until);
    if (std::binary_search(flipped.begin(), flipped.end(), relation) && see_hop(relation)) return;
    values_before[relation] = evaluate(Relation, relation, event_time);
    slopes_before[relation] = (evaluate(Relation, relation, event_time + way) - values_before[relation]) / way;
    if (may_dip(relation, searched_until - event_time)) see_dip(relation, event_time, searched_until);
}

} // namespace acausal
