// What happens at times that can be computed: relations of time alone, and clocks. The rules are those of runtime/events/timed.py and
// runtime/clocks.py, which are the reference; whatever does not fit here is left to them.
#pragma once

#include "system.h"

#include <cstdint>
#include <vector>

namespace acausal {

class Schedule {
  public:
    bool is = false; // times are kept here; otherwise by somebody else
    // Relations a·time + b > 0: the families give b (with time at zero), `slope` is a, which nothing changes during a run.
    std::vector<Family> families;
    std::vector<int32_t> targets; // cells of w
    std::vector<double> sense, slope, times;
    std::vector<char> strict;
    // Clocks: clock i ticks at (first + m base) / denominator for m = next[i], next[i] + period[i], …
    std::vector<int32_t> tick_cells;
    std::vector<int64_t> next, period;
    int64_t first = 0, base = 1, denominator = 1;

    void look(double *w, int32_t time_cell, double t); // bring times up to date; clocks are beyond t then
    double next_time(double t) const;
    static bool is_now(double time, double t); // times that differ by a rounding are one instant
    void open(const double *w);                              // a round of an event begins
    void follow(double *w, int32_t time_cell, double t);     // values of relations at t
    void tick(double *w, double t, bool due, std::vector<int32_t> &causes, int32_t number) const; // clocks that tick at t; none, if not due
    void close(const double *w, std::vector<int32_t> &causes, int32_t number) const; // what changed, numbered from `number` on

  private:
    void find_times(double *w, int32_t time_cell, double t);
    double tick_time(int64_t m) const { return (double)(first + m * base) / (double)denominator; }
    void pass(double t);
    std::vector<double> offset, old;
};

} // namespace acausal
