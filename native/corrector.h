// Output points of runs in which some unknowns take no part in the error test: these are solved for, not interpolated.
//
// Newton's iteration on all rows, from the interpolated values, with y' moving cj times as far as y: as in a step. So states move by
// less than their local error, and all constraints hold. The factors serve one output point after the other while they are good.
#pragma once

#include "klu.h"
#include "scales.h"
#include "system.h"

#include <vector>

namespace acausal {

class Corrector {
  public:
    Corrector(const System &system, SparseLu::Ordering ordering)
        : system(system), n(system.layout.size), lu(n, system.indptr, system.indices, ordering), jacobian(system.value_count()), r(n) {}
    // `w` holds interpolated values, with its computed cells; where there is no solution near them, they stay. `bent`: slopes may be
    // others at every iterate.
    void solve(double *w, const Scales &scales, double step_cj, bool bent = false);

  private:
    bool linearise(double *w, double step_cj);
    double iterate(double *w, const Scales &scales); // the size of the correction, in tolerances
    const System &system;
    int64_t n;
    SparseLu lu;
    std::vector<double> jacobian, r, interpolated;
    double cj = 0;
};

} // namespace acausal
