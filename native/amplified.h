// Computed cells that enlarge what unknowns are uncertain by: y == (u - x) / 1e-14 with x known to its tolerance says nothing of y.
//
// Between steps, where x is interpolated, it is noise; and at the end of one it is what an iteration leaves that need not move x by
// more than its tolerance. Now and then it is measured what errors as large as the tolerances do to computed cells; where that is a
// good part of the largest value that any cell ever had, output points are solved for. (What rests has no size of its own.)
#pragma once

#include "scales.h"
#include "system.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace acausal {

class Amplified {
  public:
    static constexpr long every = 50;       // steps between two looks
    static constexpr double enough = 0.1;   // of the largest value
    void restart() { next = 0; }
    bool is() const { return found; }
    // `w` with its computed cells, `taken` steps after the start.
    void look(const System &system, const Scales &scales, const double *w, long taken) {
        if (!system.computed || taken < next) return;
        next = taken + every;
        probe.assign(w, w + system.layout.workspace());
        for (int64_t i = 0; i < system.layout.size; ++i)
            probe[i] += ((uint32_t)i * 2654435761u >> 16 & 1 ? 1 : -1) * scales.tolerance(i, w[i]); // signs at random
        system.assign(probe.data());
        const double *now = w + system.layout.workspace() - system.computed, *then = probe.data() + (now - w);
        double change = 0;
        for (int64_t k = 0; k < system.computed; ++k) {
            largest = std::max(largest, std::fabs(now[k]));
            change = std::max(change, std::fabs(then[k] - now[k]));
        }
        found = change > enough * largest;
    }

  private:
    std::vector<double> probe;
    double largest = 1; // what nobody gave a nominal value has this one
    long next = 0;
    bool found = false;
};

} // namespace acausal
