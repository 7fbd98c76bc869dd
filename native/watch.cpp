#include "watch.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace acausal {

void Watch::add(const Table &positions, int64_t chosen) {
    Block block{positions.shape[0], positions.shape[1], {}};
    if (chosen != block.rows || block.columns < block.rows) throw nb::value_error("a watched block needs as many chosen columns as rows");
    int64_t nnz = system->nnz();
    for (int64_t k = 0; k < block.rows * block.columns; ++k) {
        int32_t position = positions.data[k];
        if (position < -1 || position >= nnz) throw nb::value_error("a watched position lies outside the Jacobian");
        block.positions.push_back(position < 0 ? (int32_t)nnz : position);
    }
    blocks.push_back(std::move(block));
}

// The largest entry of M^-1 N, by Gauss elimination with row pivoting; infinite when M is singular.
double Watch::growth(const Block &block) {
    int64_t m = block.rows, k = block.columns;
    matrix.resize(m * k);
    for (int64_t i = 0; i < m * k; ++i) matrix[i] = values[block.positions[i]];
    for (int64_t c = 0; c < m; ++c) {
        int64_t best = c;
        for (int64_t r = c + 1; r < m; ++r)
            if (std::fabs(matrix[r * k + c]) > std::fabs(matrix[best * k + c])) best = r;
        double pivot = matrix[best * k + c];
        if (pivot == 0 || !std::isfinite(pivot)) return std::numeric_limits<double>::infinity();
        if (best != c) std::swap_ranges(&matrix[c * k], &matrix[c * k] + k, &matrix[best * k]);
        for (int64_t j = c; j < k; ++j) matrix[c * k + j] /= pivot;
        for (int64_t r = 0; r < m; ++r) {
            double factor = matrix[r * k + c];
            if (r == c || factor == 0) continue;
            for (int64_t j = c; j < k; ++j) matrix[r * k + j] -= factor * matrix[c * k + j];
        }
    }
    double largest = 0;
    for (int64_t r = 0; r < m; ++r)
        for (int64_t j = m; j < k; ++j) largest = std::max(largest, std::fabs(matrix[r * k + j]));
    return largest;
}

bool Watch::degraded(const double *w) {
    for (size_t k = 0; k < workspace.size(); ++k) workspace[k] = w[source.data[k]];
    system->jacobian(workspace.data(), 0.0, values.data());
    values[system->nnz()] = 0; // the dump cell serves as the zero that absent entries point to
    for (const Block &block : blocks)
        if (growth(block) > limit) return true;
    return false;
}

} // namespace acausal
