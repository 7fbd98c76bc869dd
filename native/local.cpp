#include "local.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace acausal {

constexpr int points = 5;          // of the collocation, so that a course has the degree of the highest order
constexpr size_t most_unknowns = 32;
constexpr int most_rounds_here = 50, most_sweeps_here = 100, most_repeats = 2, most_corrections = 25;
constexpr int most_samples = 8;
constexpr double short_way = 1e-3; // of a step, for slopes
constexpr double epsilon = std::numeric_limits<double>::epsilon();

namespace {

// Chebyshev points in (0, 1) and, for each, the polynomial that is 1 there and 0 at the others: coefficients of powers.
struct Basis {
    double x[points], lagrange[points][points], integral[points][points + 1];
    Basis() {
        for (int k = 0; k < points; ++k) x[k] = 0.5 - 0.5 * std::cos((2 * k + 1) * 3.14159265358979323846 / (2 * points));
        for (int k = 0; k < points; ++k) {
            double c[points] = {1}, scale = 1;
            int degree = 0;
            for (int j = 0; j < points; ++j) {
                if (j == k) continue;
                for (int p = ++degree; p >= 0; --p) c[p] = (p ? c[p - 1] : 0.0) - x[j] * (p < degree ? c[p] : 0.0);
                scale *= x[k] - x[j];
            }
            integral[k][0] = 0;
            for (int p = 0; p < points; ++p) lagrange[k][p] = c[p] / scale, integral[k][p + 1] = lagrange[k][p] / (p + 1);
        }
    }
};

const Basis basis;

double polynomial(const double *c, int degree, double x) {
    double value = c[degree];
    for (int p = degree; p--;) value = value * x + c[p];
    return value;
}

} // namespace

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

double Local::evaluate(Role role, int32_t row, double t) {
    const Closure &found = closure(role, row);
    const Weights &at = weights_at(t);
    if (!found.bounded) return role == Relation ? evaluate_wholly(row, t) : std::numeric_limits<double>::quiet_NaN();
    for (int32_t u : found.values) v[u] = value_at(at, u);
    for (int32_t u : found.slopes) v[n + u] = slope_at(at, u);
    set_time(t, v.data());
    int64_t first = system->layout.workspace() - system->computed;
    const Table &makers = producers[Assignment];
    for (int32_t cell : found.computed) {
        int32_t number = cell - (int32_t)first;
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
}

void Local::enter(History step) {
    if (history.times.empty() || step.times[0] != history.times[0] || step.times[1] != history.times[1]) forget();
    history = std::move(step);
    weights.clear();
}

void Local::show(double end, double t, double *y, double *yp) const {
    if (courses.empty() || end != history.times[0]) return;
    double x = along(t);
    for (const Unknown &u : courses) y[u.number] = course(u, x), yp[u.number] = course_slope(u, x);
}

double Local::course(const Unknown &u, double x) const { return polynomial(u.coefficient, points, x); }

double Local::course_slope(const Unknown &u, double x) const {
    double slope = 0;
    for (int p = points; p; --p) slope = slope * x + p * u.coefficient[p];
    return slope / length();
}

// ------------------------------------------------------------------------------------------------ which relations change sides

double Local::aimed(int32_t relation, double t) { return switches->aims[relation] * evaluate(Relation, relation, t); }

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

bool Local::look(double *w, double from, double until) {
    if (!built) system->assign(w), build(), match(w);
    else system->assign(w, for_relations);
    Switches &s = *switches;
    values_before.swap(values), slopes_before.swap(slopes);
    see_slopes(w, until);
    bool known = looked_until == from && values_before.size() == values.size(), any = false;
    values_before.resize(values.size()), slopes_before.resize(values.size());
    looked_until = until;
    for (size_t k = 0; k < s.aims.size() && !any; ++k) any = s.aims[k] != 0 && (!(s.aims[k] * values[k] > 0) || (known && may_dip(k, until - from)));
    if (!any) return false;
    system->assign(w);
    std::copy(w + 2 * n, w + system->layout.workspace(), v.begin() + 2 * n);
    queue = {};
    std::fill(crossings.begin(), crossings.end(), 0);
    event_time = from, searched_until = until;
    for (size_t k = 0; k < s.aims.size(); ++k) {
        if (s.aims[k] == 0) continue;
        if (!(s.aims[k] * values[k] > 0)) see_crossing((int32_t)k, from, until);
        else if (known && may_dip(k, until - from)) see_dip((int32_t)k, from, until);
    }
    return true;
}

// The time at which a relation is beyond its switching point for the first time, as far as two points of time tell.
void Local::see_crossing(int32_t relation, double from, double until) {
    double low = from, high = until, f_low = aimed(relation, low), f_high = aimed(relation, high), fine = this->fine();
    if (f_high > 0) return;
    int side = 0;
    if (!(f_low > 0)) high = low;
    while (high - low > fine) {
        double middle = low + (high - low) * f_low / (f_low - f_high); // the Illinois method
        middle = std::min(std::max(middle, low + 0.5 * fine), high - 0.5 * fine);
        if (!(middle > low) || !(middle < high)) middle = 0.5 * (low + high);
        double f = aimed(relation, middle);
        if (f > 0) {
            low = middle, f_low = f;
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

bool Local::next(double &t, int32_t &row, bool &alone) {
    bool found = false;
    alone = true;
    while (!queue.empty()) {
        Crossing first = queue.top();
        bool stale = first.version != version[first.row];
        if (found && !stale) {
            if (first.t > t + 2 * fine()) break;
            alone = false, t = first.t;
        }
        queue.pop();
        if (stale || found) continue;
        t = first.t, row = first.row, found = true;
    }
    return found;
}

// ------------------------------------------------------------------------------------------------ discrete values

void Local::set(int32_t cell, double value) {
    old.emplace_back(cell, v[cell]);
    v[cell] = value;
}

void Local::undo() {
    for (size_t k = old.size(); k--;) v[old[k].first] = old[k].second;
    for (const Unknown &u : few) place[u.number] = -1;
    old.clear(), few.clear();
}

bool Local::of_type(int32_t update, double value) const {
    const Switches &s = *switches;
    if (!std::isfinite(value)) return false;
    if ((size_t)update < s.typed.size() && s.typed[update] && value != std::rint(value)) return false;
    return !((size_t)update < s.truths.size() && s.truths[update] && value != 0 && value != 1);
}

// Assignments until they agree; `pending` are cells that have changed.
bool Local::sweep(std::vector<int32_t> pending, double t) {
    for (int k = 0; k < most_sweeps_here && !pending.empty(); ++k) {
        Reached found = reached(pending);
        if (!found.bounded) return false;
        std::vector<std::pair<int32_t, double>> values;
        for (int32_t row : found.updates) {
            if (!closure(Update, row).bounded) return false;
            double value = evaluate(Update, row, t);
            if (value == v[switches->update.targets[row]]) continue;
            if (!of_type(row, value)) return false;
            values.emplace_back(switches->update.targets[row], value);
        }
        pending.clear();
        for (auto [cell, value] : values) set(cell, value), pending.push_back(cell);
    }
    return pending.empty();
}

// Whether a relation has the value that goes with the unknowns.
bool Local::holds(int32_t relation, double t) {
    return closure(Relation, relation).bounded && !(switches->side(v.data(), relation) * evaluate(Relation, relation, t) < 0);
}

// The rounds of Switches, for what reads something that changes; the relation alone may change sides, and once.
bool Local::discrete(int32_t row, double t) {
    Switches &s = *switches;
    std::vector<int32_t> pending{s.relation.targets[row]}, partners;
    set(s.relation.targets[row], 1.0 - v[s.relation.targets[row]]);
    band = v[s.bands[row]];
    close_band(row, t);
    for (int round = 0; round < most_rounds_here; ++round) {
        size_t first = round ? old.size() : 0;
        if (!sweep(pending, t)) return false;
        Reached found = reached(pending);
        std::vector<int32_t> changed;
        for (size_t k = first; k < old.size(); ++k) {
            int32_t number = cell_number[old[k].first];
            if (number >= 0 && v[s.cells[number]] != v[s.partners[number]]) changed.push_back(s.cells[number]);
        }
        std::sort(changed.begin(), changed.end());
        changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
        found = reached(changed);
        if (!found.bounded || found.foreign) return false;
        for (int32_t relation : found.relations) // the one that has changed sides, too: it may read what it changes
            if (!holds(relation, t)) return false;
        if (changed.empty()) return true;
        pending.clear();
        for (int32_t cell : changed) {
            int32_t number = cell_number[cell];
            if (s.timed[number] || s.planned[number]) return false;
            changed_cells.push_back(number);
            set(s.partners[number], v[cell]);
            pending.push_back(s.partners[number]);
        }
        found = reached(pending);
        if (!found.bounded || found.foreign) return false;
    }
    return false;
}

void Local::close_band(int32_t row, double t) {
    Switches &s = *switches;
    double width = std::max(s.narrow[row], s.band * std::fabs(evaluate(Size, row, t)));
    set(s.bands[row], -s.side(v.data(), row) * width);
}

// ------------------------------------------------------------------------------------------------ the unknowns that take another course

bool Local::add_unknown(int32_t row, double t) {
    int32_t number = owner[row];
    if (number < 0 || few.size() >= most_unknowns || !closure(Residual, row).bounded) return false;
    if (place[number] >= 0) return few[place[number]].row == row;
    const Weights &at = weights_at(t);
    Unknown u{};
    u.number = number, u.row = row, u.differential = has_slope[number];
    u.begin = u.value = value_at(at, number), u.slope = slope_at(at, number);
    u.tolerance = scales.tolerance(number, u.begin);
    place[number] = (int32_t)few.size();
    few.push_back(u);
    return true;
}

bool Local::factor(double t) {
    size_t m = few.size();
    matrix.assign(m * m, 0.0), pivots.assign(m, 0);
    std::vector<double> base(m);
    for (size_t r = 0; r < m; ++r) base[r] = residual(r, t);
    for (size_t c = 0; c < m; ++c) {
        double &x = solved_for(few[c]), kept = x, step = 1e-7 * (std::fabs(x) + 1e3 * scale_of(few[c]));
        x = kept + step, step = x - kept;
        for (size_t r = 0; r < m; ++r) matrix[r * m + c] = (residual(r, t) - base[r]) / step;
        x = kept;
    }
    for (size_t k = 0; k < m; ++k) {
        size_t p = k;
        for (size_t r = k + 1; r < m; ++r)
            if (std::fabs(matrix[r * m + k]) > std::fabs(matrix[p * m + k])) p = r;
        pivots[k] = (int32_t)p;
        if (!(std::fabs(matrix[p * m + k]) > 0) || !std::isfinite(matrix[p * m + k])) return false;
        if (p != k) std::swap_ranges(&matrix[p * m], &matrix[p * m] + m, &matrix[k * m]);
        for (size_t r = k + 1; r < m; ++r) {
            double f = matrix[r * m + k] /= matrix[k * m + k];
            if (f != 0)
                for (size_t c = k + 1; c < m; ++c) matrix[r * m + c] -= f * matrix[k * m + c];
        }
    }
    return true;
}

void Local::back_substitute(double *x) const {
    size_t m = few.size();
    for (size_t k = 0; k < m; ++k) std::swap(x[k], x[pivots[k]]);
    for (size_t r = 0; r < m; ++r)
        for (size_t c = 0; c < r; ++c) x[r] -= matrix[r * m + c] * x[c];
    for (size_t r = m; r--;) {
        for (size_t c = r + 1; c < m; ++c) x[r] -= matrix[r * m + c] * x[c];
        x[r] /= matrix[r * m + r];
    }
}

// Slopes of states and values of the others just after the event, values of states given.
bool Local::jump(double t) {
    double x[most_unknowns];
    for (int k = 0; k < 12; ++k) {
        double largest = 0;
        if (!factor(t)) return false;
        for (size_t r = 0; r < few.size(); ++r) x[r] = residual(r, t);
        back_substitute(x);
        for (size_t r = 0; r < few.size(); ++r) {
            solved_for(few[r]) -= x[r];
            largest = std::max(largest, std::fabs(x[r]) / scale_of(few[r]));
            if (!std::isfinite(x[r])) return false;
        }
        if (largest < 1e-3) return true;
    }
    return false;
}

void Local::place_at(double t) {
    double x = along(t);
    for (Unknown &u : few) u.value = course(u, x), u.slope = course_slope(u, x);
}

// Slopes (of states) and values (of others) at some points of the step determine courses; courses determine them. In turns.
bool Local::collocate(double t) {
    size_t m = few.size();
    double start = along(t), x[most_unknowns];
    std::vector<double> at(points * m), states(m * points);
    for (size_t k = 0; k < m; ++k)
        for (int p = 0; p < points; ++p) at[p * m + k] = solved_for(few[k]);
    for (int turn = 0; turn < most_corrections; ++turn) {
        double largest = 0;
        for (size_t k = 0; k < m; ++k) {
            Unknown &u = few[k];
            std::fill(u.coefficient, u.coefficient + points + 1, 0.0);
            for (int p = 0; p < points; ++p)
                for (int q = 0; q <= points; ++q)
                    u.coefficient[q] += u.differential ? length() * at[p * m + k] * basis.integral[p][q] : q < points ? at[p * m + k] * basis.lagrange[p][q] : 0.0;
            if (u.differential) u.coefficient[0] += u.begin - polynomial(u.coefficient, points, start);
        }
        for (int p = 0; p < points; ++p) {
            double time = history.times[1] + basis.x[p] * length();
            for (size_t k = 0; k < m; ++k) {
                Unknown &u = few[k];
                if (u.differential) u.value = course(u, basis.x[p]), u.slope = at[p * m + k];
                else u.value = at[p * m + k], u.slope = course_slope(u, basis.x[p]);
            }
            for (size_t r = 0; r < m; ++r) x[r] = residual(r, time);
            back_substitute(x);
            for (size_t k = 0; k < m; ++k) {
                if (!std::isfinite(x[k])) return false;
                at[p * m + k] -= x[k];
                largest = std::max(largest, std::fabs(x[k]) / scale_of(few[k]));
            }
        }
        if (largest < 1e-2) return fits();
    }
    return false;
}

// Whether the highest power of each course is next to nothing (252 and 70: those of Legendre's polynomials of these degrees).
bool Local::fits() const {
    for (const Unknown &u : few) {
        double last = u.differential ? u.coefficient[points] / 252 : u.coefficient[points - 1] / 70;
        if (!(std::fabs(last) <= 0.02 * u.tolerance)) return false;
    }
    return true;
}

// Rows of others that read the few: those in which these leave a defect that matters become ours.
bool Local::add_neighbours(double t, bool &added) {
    added = false;
    std::vector<int32_t> cells;
    for (const Unknown &u : few) cells.push_back(u.number), cells.push_back((int32_t)n + u.number);
    Reached found = reached(cells);
    if (!found.bounded) return false;
    double later = t + length();
    std::vector<int32_t> wanted;
    for (int32_t row : found.rows) {
        int32_t number = owner[row];
        if (number < 0 || !closure(Residual, row).bounded) return false;
        if (place[number] >= 0) {
            if (few[place[number]].row != row) return false;
            continue;
        }
        place_at(later);
        double with = evaluate(Residual, row, later);
        std::vector<int32_t> places;
        for (const Unknown &u : few) places.push_back(place[u.number]), place[u.number] = -1;
        double without = evaluate(Residual, row, later);
        for (size_t k = 0; k < few.size(); ++k) place[few[k].number] = places[k];
        if (with == without) continue;
        const Weights &at = weights_at(later);
        Unknown other{};
        other.number = number, other.row = row, other.differential = has_slope[number];
        other.value = value_at(at, number), other.slope = slope_at(at, number);
        other.tolerance = scales.tolerance(number, other.value);
        double &x = solved_for(other), step = 1e-6 * (std::fabs(x) + 1e3 * scale_of(other));
        x += step;
        place[number] = (int32_t)few.size();
        few.push_back(other);
        double slope = (evaluate(Residual, row, later) - with) / step;
        few.pop_back();
        place[number] = -1;
        if (!(std::fabs(slope) > 0)) return false;
        if (!(std::fabs((with - without) / slope) <= 0.02 * scale_of(other))) wanted.push_back(row);
    }
    for (int32_t row : wanted)
        if (!add_unknown(row, t)) return false;
    added = !wanted.empty();
    return true;
}

bool Local::solve(double t) {
    for (bool more = true; more;) {
        for (Unknown &u : few) u.value = u.begin;
        if (!jump(t) || !collocate(t) || !add_neighbours(t, more)) return false;
    }
    return true;
}

bool Local::continuous(double t) {
    std::vector<int32_t> cells;
    for (int32_t number : changed_cells) cells.push_back(switches->cells[number]), cells.push_back(switches->partners[number]);
    effect = reached(cells);
    if (!effect.bounded || effect.foreign) return false;
    for (int32_t row : effect.rows)
        if (!add_unknown(row, t)) return false;
    if (!few.empty() && !solve(t)) return false;
    if (few.empty()) return true;
    std::vector<int32_t> values, slopes;
    for (const Unknown &u : few) {
        cells.push_back(u.number), cells.push_back((int32_t)n + u.number);
        slopes.push_back((int32_t)n + u.number);
        if (!u.differential) slopes.push_back(u.number);
    }
    effect = reached(cells);
    if (!effect.bounded) return false;
    Reached jumped = reached(slopes); // what sees a jump may switch at once
    if (!jumped.bounded || jumped.foreign || !jumped.updates.empty()) return false;
    place_at(t);
    for (int32_t relation : jumped.relations)
        if (!holds(relation, t)) return false;
    return true;
}

bool Local::attempt(int32_t row, double t) {
    Switches &s = *switches;
    old.clear(), few.clear(), changed_cells.clear();
    event_row = row, event_time = t;
    if (++crossings[row] > most_repeats || !closure(Relation, row).bounded || !closure(Size, row).bounded || !discrete(row, t) || !continuous(t))
        return undo(), ++left, false;
    std::sort(changed_cells.begin(), changed_cells.end());
    changed_cells.erase(std::unique(changed_cells.begin(), changed_cells.end()), changed_cells.end());
    shown = !few.empty();
    for (int32_t number : changed_cells) shown |= (bool)s.visible[number];
    // Whether it moves on from there, and how far away the band must be.
    double here = std::fabs(evaluate(Relation, row, t) + v[s.bands[row]]), ahead = std::min(s.soon, 0.125 * length());
    place_at(t + ahead);
    double there = std::fabs(evaluate(Relation, row, t + ahead) + v[s.bands[row]]), terms = std::fabs(evaluate(Size, row, t));
    if (here <= s.rounding * terms && !(there > s.rounding * terms)) return undo(), ++left, false;
    double way = std::fabs(there - here) * (s.soon / ahead) / s.soon_of_run;
    if (s.exact[row] && std::fabs(v[s.bands[row]]) == s.narrow[row] && here <= s.narrow[row] && std::isfinite(way) && way > 0)
        set(s.bands[row], -s.side(v.data(), row) * std::max(s.band * terms, std::min(s.narrow[row], s.band * way)));
    return true;
}

void Local::commit(double *w, double *w_out) {
    Switches &s = *switches;
    for (auto [cell, _] : old) w[cell] = w_out[cell] = v[cell];
    for (const Unknown &u : few) {
        double value[8];
        size_t count = std::min(history.differences.size(), (size_t)history.order + 2);
        for (size_t j = 0; j < count; ++j) value[j] = course(u, along(history.times[j]));
        for (size_t level = 1; level < count; ++level) // Newton's divided differences …
            for (size_t j = count - 1; j >= level; --j) value[j] = (value[j - 1] - value[j]) / (history.times[j - level] - history.times[j]);
        double product = 1;
        for (size_t j = 0; j < count; ++j) { // … times the distances that IDAS keeps with them
            history.differences[j][u.number] = product * value[j];
            if (j + 1 < count) product *= history.times[0] - history.times[j + 1];
        }
        double end = along(searched_until);
        w[u.number] = course(u, end), w[n + u.number] = course_slope(u, end);
        place[u.number] = -1;
        if (taken[u.number] < 0) taken[u.number] = (int32_t)courses.size(), courses.push_back(u);
        else courses[taken[u.number]] = u;
    }
    s.causes.assign(1, event_row);
    s.changed = changed_cells;
    few.clear();
    old.clear();
    ++handled;
    ++version[event_row];
    double factor = s.side(v.data(), event_row) / s.narrow[event_row];
    s.aims[event_row] = factor * evaluate(Relation, event_row, event_time) > 0 ? factor : 0;
    s.left_out |= s.aims[event_row] == 0;
    s.loose |= s.width(v.data(), event_row) > s.idle * s.narrow[event_row];
    if (!std::binary_search(effect.relations.begin(), effect.relations.end(), event_row)) effect.relations.push_back(event_row);
    for (int32_t relation : effect.relations) {
        if (relation != event_row) ++version[relation];
        double way = short_way * length();
        values[relation] = evaluate(Relation, relation, searched_until);
        slopes[relation] = (values[relation] - evaluate(Relation, relation, searched_until - way)) / way;
        if (s.aims[relation] == 0) continue;
        if (!(s.aims[relation] * values[relation] > 0)) {
            see_crossing(relation, event_time, searched_until);
            continue;
        }
        values_before[relation] = evaluate(Relation, relation, event_time);
        slopes_before[relation] = (evaluate(Relation, relation, event_time + way) - values_before[relation]) / way;
        if (may_dip(relation, searched_until - event_time)) see_dip(relation, event_time, searched_until);
    }
}

} // namespace acausal
