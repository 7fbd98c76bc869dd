// Nets of states: states that follow those of everything connected to them, by tables of integers (families/nets.py).
#pragma once

#include "arrays.h"

#include <vector>

namespace acausal {

using Numbers = std::vector<int32_t>;

// Names of states are numbered for the whole plant; `names` is (variable, state). Cells are indices into w.
class Nets {
  public:
    // Outputs combined from local states: `table` is (variable, local state).
    void set_combined(nb::handle cells, nb::handle of, nb::handle row, nb::handle table, int64_t workspace);
    void set_names(nb::handle names, int64_t count);
    // Nets whose sources do not depend on one another's followers; `key` and `rule` are (follower, state).
    void add_level(int64_t nets, nb::handle source, nb::handle source_net, nb::handle source_row, nb::handle follower, nb::handle key,
                   nb::handle many, nb::handle rule, int64_t workspace);
    bool empty() const { return levels.empty() && combined.empty(); }
    bool follow(double *w); // false: a value that is no state

  private:
    struct Matrix {
        Numbers values;
        int64_t rows = 0, columns = 0;
        int32_t at(int64_t row, int64_t column) const { return values[row * columns + column]; }
    };
    struct Level {
        int64_t nets;
        Numbers source, source_net, source_row, follower, many;
        Matrix key, rule;
    };

    bool follow(double *w, const Level &level);
    int64_t state_in(const Level &level, size_t follower) const;
    static Matrix matrix(nb::handle values, const char *name);

    Numbers combined, combined_of, combined_row;
    Matrix combined_table, names;
    int64_t name_count = 0;
    std::vector<Level> levels;
    Numbers counts;
};

} // namespace acausal
