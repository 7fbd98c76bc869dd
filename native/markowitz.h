// An order of pivots by Markowitz's rule: the next one is where (entries in its row - 1)(entries in its column - 1), the most that it can
// fill in, is smallest, among entries that are no smaller than a share of the largest in their column (Duff, Erisman, Reid, Direct Methods
// for Sparse Matrices, 7.3).
//
// AMD orders rows and columns alike, with rows assigned to columns by a matching that knows nothing of what fills in. The equations of a
// plant are far from symmetric: most balances, laws and closures have one unknown each that costs little to eliminate, and only a look at
// rows and columns at once finds it.
#pragma once

#include <cstdint>
#include <vector>

namespace acausal {

struct Pivots {
    std::vector<int> rows, columns; // in the order in which they are eliminated
};

// False: the matrix is singular to this rule, or `most` entries were looked at before the end.
bool markowitz(int64_t n, const int *indptr, const int *indices, const double *values, double most, Pivots &found);

} // namespace acausal
