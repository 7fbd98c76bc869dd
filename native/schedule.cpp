#include "schedule.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace acausal {

constexpr double close_by = 4 * std::numeric_limits<double>::epsilon();
constexpr double infinite = std::numeric_limits<double>::infinity();

void Schedule::find_times(double *w, int32_t time_cell, double t) {
    if (targets.empty()) return;
    w[time_cell] = 0.0; // so that of `time >= T` the time is T to the last digit
    offset.assign(targets.size(), 0.0);
    for (const Family &family : families) family.residual(w, offset.data());
    w[time_cell] = t;
    times.resize(offset.size());
    for (size_t k = 0; k < offset.size(); ++k) times[k] = slope[k] != 0 ? -offset[k] / slope[k] : infinite;
}

void Schedule::pass(double t) {
    for (size_t k = 0; k < next.size(); ++k)
        while (tick_time(next[k]) <= t) next[k] += period[k]; // mostly once
}

void Schedule::look(double *w, int32_t time_cell, double t) {
    find_times(w, time_cell, t);
    pass(t);
}

bool Schedule::is_now(double time, double t) { return time <= t + close_by * std::fabs(t); }

// Whoever made the schedule has seen to it that integers are exact as long as the run lasts.
double Schedule::next_time(double t) const {
    double soonest = infinite;
    for (double time : times)
        if (!is_now(time, t) && time < soonest) soonest = time;
    for (int64_t m : next) soonest = std::min(soonest, tick_time(m));
    return soonest;
}

void Schedule::open(const double *w) {
    old.resize(targets.size());
    for (size_t k = 0; k < targets.size(); ++k) old[k] = w[targets[k]];
}

void Schedule::follow(double *w, int32_t time_cell, double t) {
    find_times(w, time_cell, t);
    double reach = t * (1 + (t > 0 ? 1 : t < 0 ? -1 : 0) * close_by);
    for (size_t k = 0; k < times.size(); ++k) {
        bool moves = slope[k] != 0;
        double g = sense[k] * (moves ? (reach >= times[k] ? slope[k] : -slope[k]) : offset[k]);
        w[targets[k]] = strict[k] || moves ? g > 0 : g >= 0;
    }
}

void Schedule::tick(double *w, double t, bool due, std::vector<int32_t> &causes, int32_t number) const {
    for (int32_t cell : tick_cells) w[cell] = 0.0;
    if (!due) return;
    for (size_t k = 0; k < next.size(); ++k) {
        if (tick_time(next[k]) > t) continue;
        w[tick_cells[k]] = 1.0;
        causes.push_back(number + (int32_t)k);
    }
}

void Schedule::close(const double *w, std::vector<int32_t> &causes, int32_t number) const {
    for (size_t k = 0; k < targets.size(); ++k)
        if (w[targets[k]] != old[k]) causes.push_back(number + (int32_t)k);
}

} // namespace acausal
