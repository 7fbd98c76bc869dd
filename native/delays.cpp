// Histories of delayed quantities, and the functions by which kernels read and write them.
//
// A run has one set of histories. Each delay of the model has a channel in it, whose number stands in a known cell, so that code is
// shared between runs and data are not; whatever is no number of an open channel means that there is no history: at a state of
// rest, and while a start is sought, the delayed value is the value itself.
//
// A channel holds (t, x) at the end of every accepted step, in segments between restarts of the integration: x may jump or bend
// there and is smooth between. Within a segment x is the polynomial through up to six neighbouring points, which is as accurate as
// the formulas of the integrators are. Where a step is longer than the delay, the point under way takes part, as an unknown.
//
// What happened at a restart is felt one delay later, one order smoother each time (x' = f(x(t - T))): a break has a level, that of
// the break which caused it plus one, and those above the order of any formula are no events any more. Nor are those where x goes on
// as it came, within the tolerance of the run: the integration began anew for the sake of something else, or it is smooth by now.

#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <vector>

namespace {

namespace nb = nanobind;

constexpr double never = 1e300, rest = -1e290; // no further break; the mark of a history at rest
constexpr double past_alone = -1; // in a cell: the present has no share in what is delayed, as mostly in a run; states are chosen by that
constexpr int most_points = 6, highest_level = 5;
constexpr int64_t steps_back = 8, worth_forgetting = 256; // how far a run may go back, in steps; points that go at once
constexpr double a_jump = 1e-5; // of the largest value: less is the noise of restarts
constexpr double too_close = 1e-5; // of the step before: differences of two such points are noise
constexpr double closest = 0.1; // of the interval in which a value is sought: points beside it that are closer together are passed over
constexpr double few = 4; // tolerances: a bend that leads further away within a step matters, and noise is less

struct Segment {
    int level;
    double start; // stays when the first points are forgotten
    std::vector<double> t, x;
    double begin() const { return start; }
};

struct Histories;

struct Channel {
    Histories *set;
    uint32_t number;
    std::vector<Segment> segments;
    double largest = 0;
    bool forgotten = false; // there was more before the first point
};

struct Histories {
    Histories() = default;
    Histories(const Histories &) = delete;
    ~Histories();
    std::vector<std::unique_ptr<Channel>> channels;
    int pending = -1; // the level of a break that is being passed; -1: none
    double tolerance = 0; // of the run, relative
    bool forgets = false; // parameters stay what they are as long as it lasts
};

// All open channels. A cell may hold anything (a file that somebody changed, a difference quotient): it is looked up, not followed.
constexpr uint32_t most_channels = 1 << 22;
std::atomic<Channel *> open_channels[most_channels];
std::mutex numbering;
std::vector<uint32_t> given_back;
uint32_t first_unused = 1;

void open(Histories &set) {
    std::lock_guard<std::mutex> guard(numbering);
    if (given_back.empty() && first_unused == most_channels) throw std::runtime_error("more than four million delays are remembered at once");
    uint32_t number = given_back.empty() ? first_unused++ : given_back.back();
    if (!given_back.empty()) given_back.pop_back();
    set.channels.push_back(std::make_unique<Channel>());
    set.channels.back()->set = &set, set.channels.back()->number = number;
    open_channels[number] = set.channels.back().get();
}

Histories::~Histories() {
    std::lock_guard<std::mutex> guard(numbering);
    for (const auto &c : channels) open_channels[c->number] = nullptr, given_back.push_back(c->number);
}

Channel *channel(double number) {
    bool meant = number >= 1 && number < most_channels && number == (uint32_t)number;
    return meant ? open_channels[(uint32_t)number].load(std::memory_order_acquire) : nullptr;
}

// The polynomial through some points in Newton's form.
struct Polynomial {
    int n = 0;
    double t[most_points], x[most_points];
    bool divided = false;

    void add(double time, double value) { t[n] = time, x[n++] = value; }
    void divide() {
        for (int k = 1; k < n; ++k)
            for (int i = n - 1; i >= k; --i) x[i] = (x[i] - x[i - 1]) / (t[i] - t[i - k]);
    }
    double derivative(int order, double s) const { // Horner's scheme, differentiated along
        double d[4] = {0, 0, 0, 0};
        for (int i = n - 1; i >= 0; --i) {
            for (int k = order; k > 0; --k) d[k] = d[k] * (s - t[i]) + d[k - 1];
            d[0] = d[0] * (s - t[i]) + x[i];
        }
        double factorial = order == 3 ? 6 : order == 2 ? 2 : 1;
        return d[order] * factorial;
    }
};

// The next point of a segment beyond its point `from`, to the left (-1) or to the right (+1), that is no nearer to it than `apart`; -1: none.
int64_t beyond(const std::vector<double> &t, int64_t from, int side, double apart) {
    int64_t next = from + side, count = (int64_t)t.size();
    if (next < 0 || next >= count) return -1;
    if (std::fabs(t[next] - t[from]) >= apart) return next;
    if (side < 0) return std::upper_bound(t.begin(), t.begin() + from, t[from] - apart) - t.begin() - 1;
    next = std::lower_bound(t.begin() + from, t.end(), t[from] + apart) - t.begin();
    return next < count ? next : -1;
}

// The points of a segment around s, as many of each side as there are; with `now` the point under way is the last of them. Those that lie
// close together beside the interval in which s is (a step that was cut short at a stop) say nothing about it but noise: of these, few.
Polynomial around(const Segment &g, double s, bool now, double t, double x) {
    int64_t count = (int64_t)g.t.size(), place = std::upper_bound(g.t.begin(), g.t.end(), s) - g.t.begin();
    int64_t low = std::clamp<int64_t>(place - 1, 0, std::max<int64_t>(0, count - 2 + now)), high = low + 1;
    double apart = closest * ((high < count ? g.t[high] : now ? t : g.t[low]) - g.t[low]);
    int64_t left[most_points], right[most_points], lefts = 0, rights = 0;
    for (int64_t k = low; k >= 0 && lefts < most_points; k = beyond(g.t, k, -1, apart)) left[lefts++] = k;
    for (int64_t k = high < count ? high : -1; k >= 0 && rights < most_points; k = beyond(g.t, k, 1, apart)) right[rights++] = k;
    int64_t room = most_points - now, half = most_points / 2;
    int64_t taken = std::min(lefts, std::max(half, room - rights));
    Polynomial p;
    for (int64_t i = taken - 1; i >= 0; --i) p.add(g.t[left[i]], g.x[left[i]]);
    for (int64_t i = 0; i < std::min(rights, room - taken); ++i) p.add(g.t[right[i]], g.x[right[i]]);
    if (now) p.add(t, x);
    return p;
}

// Where a lookup goes: a segment and whether the point under way takes part.
struct Place {
    const Segment *segment = nullptr;
    double s = 0;
    bool now = false;
};

Place find(const Channel &c, double t, double delay, double mark) {
    double s = t - delay;
    size_t k = 0, count = c.segments.size();
    while (k + 1 < count && c.segments[k + 1].begin() <= s) ++k;
    // What was passed is passed, and what was not is not, whatever the last digits say.
    size_t low = 0, high = count - 1;
    while (low + 1 < count && c.segments[low + 1].begin() <= mark) ++low;
    for (size_t j = low + 1; j < count; ++j)
        if (c.segments[j].level <= highest_level) {
            high = j - 1;
            break;
        }
    k = std::clamp(k, low, high);
    const Segment &g = c.segments[k];
    bool now = k + 1 == count && s > g.t.back() && t > g.t.back();
    return {&g, s, now};
}

template <int order> double value(const Channel &c, double t, double delay, double x, double mark);

template <int order> double value(double handle, double t, double delay, double x, double mark) {
    const Channel *found = channel(handle);
    return found ? value<order>(*found, t, delay, x, mark) : order == 0 ? x : 0.0;
}

template <int order> double value(const Channel &c, double t, double delay, double x, double mark) {
    if (c.segments.empty()) return order == 0 ? x : 0.0;
    Place p = find(c, t, delay, mark);
    const Segment &g = *p.segment;
    if (c.forgotten && p.s < c.segments.front().t.front()) return std::numeric_limits<double>::quiet_NaN(); // nobody knows
    if (p.s <= g.begin() && mark < g.begin() && p.segment == &c.segments.front()) return order == 0 ? g.x.front() : 0.0;
    Polynomial q = around(g, p.s, p.now, t, x);
    q.divide();
    double end = p.now ? t : g.t.back();
    if (p.s <= end) return q.derivative(order, p.s);
    // Beyond the end of a segment that is not passed yet: straight on, so that no polynomial runs away.
    double slope = order <= 1 ? q.derivative(1, end) : 0.0;
    return order == 0 ? q.derivative(0, end) + slope * (p.s - end) : order == 1 ? slope : 0.0;
}

// The derivative of the value by x: the share of the point under way.
template <int order> double weight(double handle, double t, double delay, double x, double mark) {
    const Channel *c = channel(handle);
    if (!c || c->segments.empty()) return order == 0 && handle != past_alone ? 1.0 : 0.0;
    Place p = find(*c, t, delay, mark);
    if (!p.now) return 0.0;
    Polynomial q = around(*p.segment, p.s, true, t, x);
    for (int i = 0; i < q.n; ++i) q.x[i] = i + 1 == q.n ? 1.0 : 0.0;
    q.divide();
    return q.derivative(order, p.s);
}

double next_break(double handle, double mark) {
    const Channel *c = channel(handle);
    if (!c) return rest;
    for (const Segment &g : c->segments)
        if (g.begin() > mark && g.level <= highest_level) return g.begin();
    return never;
}

// How far a time is beyond the next break; the band in which the relation rests goes by the size of this.
double ahead(double handle, double mark, double s) {
    double next = next_break(handle, mark);
    return next == rest ? 1.0 : next == never ? -1.0 : s - next;
}

double within(const Segment &g, double s) {
    Polynomial p = around(g, s, false, 0.0, 0.0);
    p.divide();
    return p.derivative(0, s);
}

// Whether x goes on otherwise than it came: with another slope or another curvature, which leads away by a few tolerances within a
// step of the present. Of seven values across the break, three of each side, the sixth difference is 6 times the jump of the slope
// times their distance, and two fifth differences together show that of the curvature; where x is smooth both are next to nothing.
bool matters(const Channel &c, size_t k) {
    const Segment &right = c.segments[k], &last = c.segments.back();
    if (!k || right.t.size() < 3 || c.segments[k - 1].t.size() < 3 || last.t.size() < 2) return true;
    const Segment &left = c.segments[k - 1];
    double tolerance = c.set->tolerance * c.largest, step = last.t.back() - last.t[last.t.size() - 2], here = right.begin();
    if (std::fabs(within(left, here) - right.x.front()) > tolerance) return true;
    double part = std::min({step / 4, (left.t.back() - left.t.front()) / 3, (right.t.back() - right.t.front()) / 3});
    constexpr double sixth[] = {-20, 15, -6, 1}, fifths[] = {0, 5, -4, 1};
    double slope = sixth[0] * right.x.front(), curvature = 0, steps = step / part;
    for (int i = 1; i <= 3; ++i) {
        double before = within(left, here - i * part), after = within(right, here + i * part);
        slope += sixth[i] * (after + before);
        curvature += fifths[i] * (after - before);
    }
    return std::fabs(slope) / 6 * steps > few * tolerance || std::fabs(curvature) / 2 * steps * steps > few * tolerance;
}

// The mark after the next break, if the delayed time has come there and it matters.
double go_past(double handle, double mark, double passed, double t, double delay) {
    if (passed == 0) return mark;
    double next = next_break(handle, mark);
    if (next == rest || next == never) return next == rest ? next : mark;
    constexpr double rounding = 1e-13;
    if (next > t - delay + rounding * (std::fabs(t) + std::fabs(delay))) return mark; // one that was at this instant has been dealt with
    Channel *c = channel(handle);
    for (size_t k = 0; k < c->segments.size(); ++k) {
        Segment &g = c->segments[k];
        if (g.begin() != next) continue;
        if (!matters(*c, k)) return g.level = highest_level + 1, mark;
        c->set->pending = std::max(c->set->pending, g.level + 1);
    }
    return next;
}

void cut(Channel &c, double t) {
    double left = value<0>(c, t, 0.0, 0.0, c.segments.back().begin());
    while (c.segments.size() > 1 && c.segments.back().begin() > t) c.segments.pop_back();
    Segment &g = c.segments.back();
    if (g.t.back() <= t) return;
    while (g.t.size() > 1 && g.t.back() >= t) g.t.pop_back(), g.x.pop_back();
    if (g.t.back() < t) g.t.push_back(t), g.x.push_back(left);
}

// After an accepted step, and where the integration begins anew: then time has not moved, or has gone back.
double record(double handle, double t, double x) {
    Channel *found = channel(handle);
    if (!found || !std::isfinite(x)) return 0.0;
    Channel &c = *found;
    c.largest = std::max(c.largest, std::fabs(x));
    if (c.segments.empty()) {
        c.segments.push_back({0, t, {t}, {x}});
        return 0.0;
    }
    if (t > c.segments.back().t.back()) {
        Segment &g = c.segments.back();
        size_t n = g.t.size();
        if (n > 1 && t - g.t[n - 1] < too_close * (g.t[n - 1] - g.t[n - 2])) g.t.pop_back(), g.x.pop_back();
        g.t.push_back(t);
        g.x.push_back(x);
        c.set->pending = -1;
        return 0.0;
    }
    cut(c, t);
    Segment &g = c.segments.back();
    if (g.t.size() == 1 && g.begin() >= t) {
        g.x[0] = x;
        return 0.0;
    }
    bool jumped = std::fabs(x - g.x.back()) > a_jump * c.largest;
    int level = jumped || c.set->pending < 0 ? 0 : c.set->pending;
    c.segments.push_back({level, t, {t}, {x}});
    return 0.0;
}

// Forget what no lookup reaches any more: those within `reach` of the last few steps, and the neighbours of the points they find.
void forget(Channel &c, double reach) {
    const Segment &last = c.segments.back();
    double from = (int64_t)last.t.size() > steps_back ? last.t[last.t.size() - steps_back] - reach : -never;
    size_t gone = 0;
    while (gone + 1 < c.segments.size() && c.segments[gone + 1].begin() < from) ++gone;
    if (gone) c.segments.erase(c.segments.begin(), c.segments.begin() + (int64_t)gone), c.forgotten = true;
    Segment &g = c.segments.front();
    int64_t old = std::lower_bound(g.t.begin(), g.t.end(), from) - g.t.begin() - most_points;
    if (old < worth_forgetting || 2 * old < (int64_t)g.t.size()) return;
    g.t.erase(g.t.begin(), g.t.begin() + old);
    g.x.erase(g.x.begin(), g.x.begin() + old);
    c.forgotten = true;
}

// The same for a delay that is a number and stays what it is.
double record_within(double handle, double t, double x, double reach) {
    record(handle, t, x);
    Channel *c = channel(handle);
    if (c && !c->segments.empty()) forget(*c, reach);
    return 0.0;
}

// And for one that is a parameter, which somebody may set on the way.
double record_while_set(double handle, double t, double x, double reach) {
    Channel *c = channel(handle);
    return c && c->set->forgets ? record_within(handle, t, x, reach) : record(handle, t, x);
}

using State = std::vector<std::vector<double>>; // of each channel: its largest value (negative: something was forgotten), for each segment its level, its start, its length, times and values

State state_of(const Histories &h) {
    State out;
    for (const auto &c : h.channels) {
        std::vector<double> flat{c->forgotten ? -c->largest : c->largest};
        for (const Segment &g : c->segments) {
            flat.push_back(g.level);
            flat.push_back(g.start);
            flat.push_back((double)g.t.size());
            flat.insert(flat.end(), g.t.begin(), g.t.end());
            flat.insert(flat.end(), g.x.begin(), g.x.end());
        }
        out.push_back(std::move(flat));
    }
    return out;
}

void set_state(Histories &h, const State &state) {
    if (state.size() != h.channels.size()) throw nb::value_error("histories of another model");
    for (size_t k = 0; k < state.size(); ++k) {
        const std::vector<double> &flat = state[k];
        Channel &c = *h.channels[k];
        c.segments.clear();
        c.largest = flat.empty() ? 0.0 : std::fabs(flat[0]);
        c.forgotten = !flat.empty() && std::signbit(flat[0]);
        for (size_t i = 1; i + 2 < flat.size();) {
            size_t n = (size_t)flat[i + 2];
            if (n < 1 || i + 3 + 2 * n > flat.size()) throw nb::value_error("histories that are cut off");
            auto at = flat.begin() + (int64_t)(i + 3);
            c.segments.push_back({(int)flat[i], flat[i + 1], {at, at + (int64_t)n}, {at + (int64_t)n, at + (int64_t)(2 * n)}});
            i += 3 + 2 * n;
        }
    }
    h.pending = -1;
}

using Reading = double (*)(double, double, double, double, double);
constexpr Reading values[4] = {value<0>, value<1>, value<2>, value<3>};
constexpr Reading weights[4] = {weight<0>, weight<1>, weight<2>, weight<3>};

} // namespace

void bind_delays(nb::module_ &m) {
    nb::class_<Histories>(m, "Histories", "What the delayed quantities of a run were.")
        .def("__init__",
             [](Histories *self, int64_t count, double tolerance, bool forgets) {
                 new (self) Histories();
                 self->tolerance = tolerance, self->forgets = forgets;
                 for (int64_t k = 0; k < count; ++k) open(*self);
             },
             nb::arg("count"), nb::arg("tolerance") = 0.0, nb::arg("forgets") = false)
        .def("handles",
             [](const Histories &h) {
                 std::vector<double> out;
                 for (const auto &c : h.channels) out.push_back((double)c->number);
                 return out;
             },
             "What stands in the known cells of the delays.")
        .def("state", &state_of, "All of it as numbers, to be kept.")
        .def("set_state", &set_state, nb::arg("state"));
    m.def(
        "delay_address",
        [](const char *what, int order) {
            if (order < 0 || order > 3) throw nb::value_error("delays have derivatives of order 0 to 3");
            if (!std::strcmp(what, "value")) return reinterpret_cast<uintptr_t>(values[order]);
            if (!std::strcmp(what, "weight")) return reinterpret_cast<uintptr_t>(weights[order]);
            if (!std::strcmp(what, "next")) return reinterpret_cast<uintptr_t>(&next_break);
            if (!std::strcmp(what, "ahead")) return reinterpret_cast<uintptr_t>(&ahead);
            if (!std::strcmp(what, "go_past")) return reinterpret_cast<uintptr_t>(&go_past);
            if (!std::strcmp(what, "record")) return reinterpret_cast<uintptr_t>(&record);
            if (!std::strcmp(what, "record_while_set")) return reinterpret_cast<uintptr_t>(&record_while_set);
            if (!std::strcmp(what, "record_within")) return reinterpret_cast<uintptr_t>(&record_within);
            throw nb::value_error("no such function of delays");
        },
        nb::arg("what"), nb::arg("order") = 0, "Address of a function of histories; see native/delays.cpp.");
}
