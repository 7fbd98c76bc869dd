// On which side of its bends the solution is, and on which side the factors were made (see families/bends.py).
//
// Factors from a steep side make corrections on the other side tiny, and what has not converged looks as if it had. So an iteration is
// not over while its end is on another side than its factors. Flows that rest change their signs with every rounding: where new
// factors moved nothing time after time, a value as small as those is taken for zero, until it matters again.
#pragma once

#include "system.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace acausal {

class Sides {
  public:
    static constexpr int most = 3;      // renewals in an iteration: at a jump there is no solution on either side
    static constexpr int patience = 10; // renewals that moved nothing, one after the other
    void see(const System &system) {
        count = system.bend_count;
        for (std::vector<double> *each : {&factors, &now, &before}) each->assign(count, 0.0);
        nothing.assign(2 * count, 0.0), useless.assign(2 * count, 0);
        steps = -1, since = memory;
    }
    bool any() const { return count; }
    void at_factors(const System &system, const double *w) {
        if (any()) system.bend(w, factors.data());
    }
    // An attempt at a step, `taken` steps after the start, has come to an end: whether the workspace is on the side of the factors. It
    // is where the last residual was evaluated; what the last correction moves is small, or there would be another one.
    bool agree(const System &system, const double *w, long taken) {
        if (taken != steps) {
            since = taken && !left_side() ? std::min(since + 1, memory) : taken ? 0 : memory;
            before = taken ? now : factors, steps = taken;
        }
        system.bend(w, now.data());
        turned.clear();
        for (int64_t k = 0; k < count; ++k)
            if (apart(k, factors)) turned.push_back((int32_t)k);
        return turned.empty();
    }
    // Whether the last step went across a bend, or interpolates over one that did: there is no polynomial that follows.
    bool crossed() const { return any() && (since < memory || left_side()); }
    void begin(const double *sum, int64_t n) { // the iteration is to go on, with new factors
        first.assign(sum, sum + n);
        suspects.clear();
        for (int32_t k : turned) suspects.emplace_back(on(k), std::fabs(now[k]));
    }
    void end(bool moved) { // the solution, by more than the tolerance of the iteration
        for (auto [k, size] : suspects) {
            useless[k] = moved ? 0 : useless[k] + 1;
            nothing[k] = moved ? 0.0 : useless[k] < patience ? nothing[k] : std::max(nothing[k], 2 * size);
        }
        suspects.clear();
    }
    bool under_way() const { return renewals && !suspects.empty(); }
    const std::vector<double> &at_begin() const { return first; }
    int renewals = 0; // in this iteration

  private:
    static constexpr int memory = 6; // steps that an interpolation goes back
    bool left_side() const { // of the step before
        for (int64_t k = 0; k < count; ++k)
            if (apart(k, before)) return true;
        return false;
    }
    static int side(double g) { return (g > 0) - (g < 0); }
    int64_t on(int64_t k) const { return 2 * k + (now[k] > 0); } // each side has a scale of its own
    bool apart(int64_t k, const std::vector<double> &other) const { return side(now[k]) != side(other[k]) && std::fabs(now[k]) > nothing[on(k)]; }
    int64_t count = 0;
    int since = memory; // steps, the last one not counted, since one went across
    long steps = -1; // that were taken when `before` was
    std::vector<int32_t> turned;
    std::vector<double> factors, now, before, nothing, first; // `before`: at the end of the step before; `nothing`: what counts as zero
    std::vector<int> useless;
    std::vector<std::pair<int64_t, double>> suspects;
};

} // namespace acausal
