#include "watch.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace acausal {

constexpr int64_t vectors = 3;
constexpr double degradation = 3; // of what was found at first
constexpr long rarest = 12;       // steps between two looks
constexpr double close = 0.6;     // of what is allowed: from here on every step is looked at
constexpr double longer = 1.5;    // from one interval to the next

static int64_t rows_of(const Integers &rows) {
    int64_t most = -1;
    for (int64_t k = 0; k < rows.size(); ++k) most = std::max<int64_t>(most, rows.data[k]);
    return most + 1;
}

static Integers first_columns(const Integers &all, int64_t count) {
    Integers part = all;
    part.shape[0] = count;
    return part;
}

Watch::Watch(std::shared_ptr<System> s, const Integers &source, Integers pointers, Integers rows, Integers positions, Doubles scale,
             double limit)
    : system(std::move(s)), source(source), pointers(pointers), rows(rows), positions(positions), scale(scale), limit(limit),
      m(rows_of(rows)), columns(scale.size()), lu(m, first_columns(pointers, m + 1), first_columns(rows, pointers.data[m]), SparseLu::AMD),
      values(system->value_count()), workspace(system->layout.workspace()), matrix(pointers.data[m]), rhs(m) {
    if (columns < m || pointers.size() != columns + 1 || pointers.data[columns] != rows.size() || rows.size() != positions.size())
        throw nb::value_error("a watched matrix needs at least as many columns as rows, and a position for each entry");
    for (int64_t k = 0; k < positions.size(); ++k)
        if (positions.data[k] < 0 || positions.data[k] >= system->nnz()) throw nb::value_error("a watched position lies outside the Jacobian");
}

// Between 0.5 and 1.5, of either sign. With signs alone two columns that are opposite, as those of the ends of a rod, would cancel to
// nothing wherever they get the same ones.
double Watch::weight(int64_t vector, int64_t column) const {
    uint64_t x = (uint64_t)(column + 1) * 0x9E3779B97F4A7C15ull + (uint64_t)vector * 0xBF58476D1CE4E5B9ull;
    x ^= x >> 29, x *= 0x94D049BB133111EBull, x ^= x >> 32;
    double size = 0.5 + (double)(x >> 12) / (double)(1ull << 52);
    return x & 1 ? size : -size;
}

double Watch::measured() {
    for (int64_t c = 0; c < m; ++c)
        for (int32_t k = pointers.data[c]; k < pointers.data[c + 1]; ++k) matrix[k] = values[positions.data[k]] * scale.data[c];
    if (!all_finite(matrix.data(), (int64_t)matrix.size()) || !lu.factor(matrix.data())) return std::numeric_limits<double>::infinity();
    double largest = 0;
    for (int64_t v = 0; v < vectors; ++v) {
        std::fill(rhs.begin(), rhs.end(), 0.0);
        for (int64_t c = m; c < columns; ++c)
            for (int32_t k = pointers.data[c]; k < pointers.data[c + 1]; ++k)
                rhs[rows.data[k]] += weight(v, c) * scale.data[c] * values[positions.data[k]];
        lu.solve(rhs.data());
        if (!all_finite(rhs.data(), m)) return std::numeric_limits<double>::infinity();
        for (double x : rhs) largest = std::max(largest, std::fabs(x));
    }
    return largest;
}

double Watch::growth(const double *w) {
    for (size_t k = 0; k < workspace.size(); ++k) workspace[k] = w[source.data[k]];
    system->jacobian(workspace.data(), 0.0, values.data());
    return measured();
}

bool Watch::degraded(double t, const double *w) {
    if (t < next_time && ++waited < rarest) return false;
    double now = growth(w);
    if (allowed == 0) allowed = std::max(limit, degradation * now); // nothing better was to be had
    next_time = t + interval(now, t - last_time);
    last = now, last_time = t, waited = 0;
    return now > allowed;
}

// Half of the time after which it would come close. Its inverse is about proportional to det M, which moves evenly to a zero.
double Watch::interval(double now, double since) const {
    if (!(now < close * allowed) || last == 0) return 0;
    double left = 1 / now - 1 / (close * allowed), lost = 1 / last - 1 / now;
    return since * (lost > 0 ? std::min(0.5 * left / lost, longer) : longer);
}

} // namespace acausal
