// The trajectory of a run, step by step, for whoever goes over it again: points (t, y, y', some known cells) and the orders of the steps.
#pragma once

#include "arrays.h"

#include <cstdint>
#include <vector>

namespace acausal {

class Recorder {
  public:
    Recorder(int64_t size, int64_t known, std::vector<int32_t> cells) : n(size), known_size(known), varying(std::move(cells)) {}

    void restart() { begins = true; }
    // Instead: an input bends, and what is recorded goes on from where it is, with steps that know nothing of those before.
    void bend() { begins = false, bends = !time.empty(); }
    // A step that ended at t with an order of the formula; `start` are y and y' where the steps since the last restart began.
    void step(double t, int order, const double *w, double t_start, const double *start);

    int64_t points() const { return (int64_t)time.size(); }
    int64_t width() const { return 2 * n + (int64_t)varying.size(); }
    const double *point(int64_t k) const { return values.data() + k * width(); }
    void load(int64_t k, int64_t time_index, double *w) const; // y, y', time and varying cells of a point

    int64_t n, known_size;
    std::vector<int32_t> varying;   // known cells that change within steps: inputs
    std::vector<double> time, values;
    std::vector<int32_t> order;     // 0: where steps begin; negative: of the first step behind a bend
    std::vector<int64_t> starts;    // points where they do …
    std::vector<double> known;      // … and all known values there

  private:
    void add(double t, int order, const double *w, const double *yyp);
    bool begins = true, bends = false;
};

} // namespace acausal
