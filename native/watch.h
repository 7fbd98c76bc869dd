// States that were selected by numbers may degrade: now and then a part of a Jacobian is looked at.
//
// A = [M | N] with M square, the columns of the dummy derivatives, both sparse and in scales. An entry of M^-1 N is the factor by which
// exchanging two columns would enlarge det M (see families/selection.py). M^-1 N v for a few random vectors v tells how large
// its entries are without forming it: the price is a sparse factorisation and a few solutions. When this has grown beyond the limit, or
// to three times what it was at first, the run ends, and Python selects again. While it is far below, it is looked at rarely.
#pragma once

#include "klu.h"
#include "system.h"

#include <memory>
#include <vector>

namespace acausal {

class Watch {
  public:
    // `source` tells for each cell of the watched system's workspace where it is in the session's; [M | N] in compressed columns, with
    // positions in the system's Jacobian, and a scale for each column.
    Watch(std::shared_ptr<System> system, const Integers &source, Integers pointers, Integers rows, Integers positions, Doubles scale,
          double limit);
    bool degraded(double t, const double *w);

  private:
    double growth(const double *w);
    double measured();
    double interval(double now, double since) const; // until the next look
    double weight(int64_t vector, int64_t column) const;

    std::shared_ptr<System> system;
    Integers source, pointers, rows, positions;
    Doubles scale;
    double limit, allowed = 0;
    int64_t m, columns;
    long waited = 0; // steps since the last look …
    double last = 0, last_time = 0, next_time = -1e300; // … and what it found
    SparseLu lu;
    std::vector<double> values, workspace, matrix, rhs;
};

} // namespace acausal
