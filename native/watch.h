// States that were selected by numbers may degrade: after each step, blocks of a Jacobian are looked at.
//
// A block is A = [M | N] with M square, the columns of the dummy derivatives. An entry of M^-1 N is the factor by which exchanging two
// columns would enlarge det M (see families/selection.py). Beyond `limit` the run ends, and Python selects again.
#pragma once

#include "system.h"

#include <memory>
#include <vector>

namespace acausal {

class Watch {
  public:
    // `source` tells for each cell of the watched system's workspace where it is in the session's.
    Watch(std::shared_ptr<System> system, const Integers &source, double limit)
        : system(std::move(system)), source(source), limit(limit), values(this->system->value_count()),
          workspace(this->system->layout.workspace()) {}
    void add(const Table &positions, int64_t chosen); // (row, column) into the system's Jacobian, -1: zero; chosen columns first
    bool degraded(const double *w);

  private:
    struct Block {
        int64_t rows, columns;
        std::vector<int32_t> positions;
    };
    double growth(const Block &block);

    std::shared_ptr<System> system;
    Integers source;
    double limit;
    std::vector<double> values, matrix, workspace;
    std::vector<Block> blocks;
};

} // namespace acausal
