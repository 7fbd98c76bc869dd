#include "gaps.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace acausal {

constexpr size_t most_silent = 8; // workspaces that are kept until somebody looks at them

static bool any_nan(const double *g, int64_t count) {
    return !all_finite(g, count) && std::any_of(g, g + count, [](double v) { return std::isnan(v); });
}

void Gaps::fill(double *g, double low, double time, const double *w, const Go &go_) {
    int64_t count = system->root_count;
    leave_zero(g, low, time, w);
    bool some = any_nan(g, count);
    if (!some && !open) return;
    go = &go_;
    if (low != from || !searchable || (int64_t)beginning.size() != count) open_stretch(low, w);
    open = some || !gaps.empty() || any_nan(beginning.data(), count);
    if (searchable && time > low) look(g, time, w);
    for (int32_t k = 0; k < count; ++k) g[k] = filled(k, g[k], time, w);
}

// What comes to rest exactly on its switching point, with another value than is written there, has crossed; what is there in passing has not.
// What begins exactly there has not crossed yet: IDAS would not look at it until it is elsewhere, and never learn that it went.
void Gaps::leave_zero(double *g, double low, double time, const double *w) {
    if (low != rest_from) rest_from = furthest = low, resting.clear();
    if (!(time > low)) {
        for (int32_t k = 0; k < (int32_t)system->root_bands.size(); ++k)
            if (g[k] == 0) g[k] = side(k, w) * std::numeric_limits<double>::min();
        return;
    }
    if (time >= furthest) {
        furthest = time;
        resting.clear();
        for (int32_t k = 0; k < (int32_t)system->root_zero.size(); ++k)
            if (system->rests(k, g[k], w)) resting.push_back(k);
    }
    for (int32_t k : resting)
        if (system->rests(k, g[k], w)) g[k] = system->root_zero[k];
}

void Gaps::open_stretch(double low, const double *w) {
    int64_t count = system->root_count;
    from = low;
    gaps.clear();
    last.resize(count, std::numeric_limits<double>::quiet_NaN());
    probe.assign(w, w + system->layout.workspace());
    searchable = evaluate(low, beginning);
    if (!searchable) return beginning.assign(count, 0.0);
    for (int32_t k = 0; k < count; ++k)
        if (beginning[k] > 0 || beginning[k] < 0) last[k] = beginning[k] > 0 ? 1 : -1;
}

bool Gaps::evaluate(double time, std::vector<double> &values) {
    values.resize(system->root_count);
    if (!(*go)(time, probe.data())) return false;
    system->assign(probe.data());
    system->root(probe.data(), values.data());
    return true;
}

// Functions that have a value at one end of the stretch alone.
void Gaps::look(const double *g, double time, const double *w) {
    std::vector<int32_t> losing, gaining, silent_rows;
    for (int32_t k = 0; k < system->root_count; ++k) {
        bool before = !std::isnan(beginning[k]), now = !std::isnan(g[k]);
        if (!before && !now) silent_rows.push_back(k);
        if (before != now && !gaps.count(k)) (before ? losing : gaining).push_back(k);
    }
    std::vector<double> now(g, g + system->root_count);
    if (!losing.empty()) narrow(losing, true, from, beginning, time, now);
    if (!gaining.empty()) narrow(gaining, false, from, beginning, time, now);
    for (int32_t k : gaining) {
        auto found = gaps.find(k);
        if (found != gaps.end()) found->second.crossed = found->second.value * side(k, w) < 0;
    }
    auto fresh = [&](int32_t k) { return k < (int32_t)system->root_bands.size() && !(k < (int32_t)told.size() && told[k]); };
    silent_rows.erase(std::remove_if(silent_rows.begin(), silent_rows.end(), [&](int32_t k) { return !fresh(k); }), silent_rows.end());
    if (silent_rows.empty() || !(*go)(from, probe.data())) return;
    for (int32_t k : silent_rows) note(k, from, probe.data());
}

// Bisection for all rows at once; those that part on the way are followed apart.
void Gaps::narrow(const std::vector<int32_t> &rows, bool begins, double low, const std::vector<double> &at_low, double high,
                  const std::vector<double> &at_high) {
    double middle = 0.5 * (low + high);
    if (!(middle > low) || !(middle < high) || high - low <= 4 * std::numeric_limits<double>::epsilon() * std::fabs(high)) {
        for (int32_t k : rows) gaps[k] = {begins, false, begins ? low : high, (begins ? at_low : at_high)[k]};
        return;
    }
    std::vector<double> here;
    if (!evaluate(middle, here)) return;
    std::vector<int32_t> earlier, later; // where the gap begins, or ends
    for (int32_t k : rows) (std::isnan(here[k]) == begins ? earlier : later).push_back(k);
    if (!earlier.empty()) narrow(earlier, begins, low, at_low, middle, here);
    if (!later.empty()) narrow(later, begins, middle, here, high, at_high);
}

double Gaps::side(int32_t row, const double *w) const {
    return row < (int32_t)system->root_bands.size() ? -std::copysign(1.0, w[system->root_bands[row]]) : last[row];
}

bool Gaps::any_crossed(const double *g, const double *w) const {
    for (int32_t k = 0; k < (int32_t)system->root_bands.size(); ++k)
        if (g[k] * side(k, w) < 0) return true;
    return false;
}

double Gaps::filled(int32_t row, double g, double time, const double *w) const {
    auto found = gaps.find(row);
    if (found != gaps.end()) {
        const Gap &gap = found->second;
        if (gap.begins && time > gap.time) return gap.value;
        if (!gap.begins && time < gap.time) return side(row, w);
        if (!gap.begins && gap.crossed) return gap.value;
    }
    return std::isnan(g) ? side(row, w) : g;
}

void Gaps::note(int32_t row, double time, const double *w) {
    told.resize(system->root_count, 0);
    if (told[row] || silent.size() >= most_silent) return;
    told[row] = 1;
    silent.push_back({row, time, std::vector<double>(w, w + system->layout.workspace())});
}

std::vector<Gaps::Silent> Gaps::take() {
    std::vector<Silent> taken;
    taken.swap(silent);
    return taken;
}

nb::list as_list(std::vector<Gaps::Silent> silent) {
    nb::list found;
    for (const Gaps::Silent &one : silent) {
        nb::object w = nb::module_::import_("numpy").attr("empty")(one.w.size());
        std::copy(one.w.begin(), one.w.end(), Array<double, 1>(w, "w").data);
        found.append(nb::make_tuple(one.row, one.time, w));
    }
    return found;
}

} // namespace acausal
