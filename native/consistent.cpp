#include "consistent.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace acausal {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr int halvings = 10;
constexpr double slowest = 1e-6; // a rate below this part of the nominal value a second is as good as none

Consistency::Consistency(const System &s, SparseLu::Ordering ordering)
    : system(s), n(s.layout.size), lu(n, s.indptr, s.indices, ordering), parts(2 * s.value_count()),
      by_value(parts.data()), by_slope(parts.data() + s.value_count()),
      matrix(s.nnz()), residual(n), correction(n), scale(n), weight(n), z(n), slope(n) {}

bool Consistency::evaluate(double *w) {
    system.assign(w);
    system.residual(w, residual.data());
    return all_finite(residual.data(), n) && system.computed_finite(w);
}

// Both parts of the Jacobian where w was last evaluated.
bool Consistency::linearise(const double *w) {
    system.partials(w, parts.data());
    return all_finite(by_value, system.nnz()) && all_finite(by_slope, system.nnz());
}

void Consistency::classify(double *w, const bool *differential) {
    const int32_t *start = system.indptr.data;
    for (int64_t c = 0; c < n; ++c) {
        slope[c] = differential[c] && std::any_of(by_slope + start[c], by_slope + start[c + 1], [](double d) { return d != 0; });
        if (!slope[c]) w[n + c] = 0;
    }
}

// How large the terms of each row are: what a residual is measured against. Known terms are not seen here, but what balances them is.
void Consistency::scale_rows(const double *w, const double *nominal, bool with_correction) {
    const int32_t *start = system.indptr.data, *row = system.indices.data;
    std::fill(scale.begin(), scale.end(), 0.0);
    for (int64_t c = 0; c < n; ++c) {
        double moved = with_correction ? std::fabs(correction[c]) : 0.0;
        double value = std::max(std::fabs(w[c]), nominal ? nominal[c] : 0.0) + (slope[c] ? 0.0 : moved);
        double rate = std::fabs(w[n + c]) + (slope[c] ? moved : 0.0);
        for (int32_t k = start[c]; k < start[c + 1]; ++k) scale[row[k]] += std::fabs(by_value[k]) * value + std::fabs(by_slope[k]) * rate;
    }
}

bool Consistency::within(double tolerance) const {
    for (int64_t r = 0; r < n; ++r)
        if (!(std::fabs(residual[r]) <= tolerance * scale[r])) return false;
    return true;
}

double Consistency::worst() const {
    double largest = 0;
    for (int64_t r = 0; r < n; ++r)
        if (residual[r] != 0) largest = std::max(largest, std::fabs(residual[r]) / weight[r]);
    return largest;
}

bool Consistency::small_correction(const double *nominal, double tolerance) const {
    for (int64_t c = 0; c < n; ++c)
        if (!(std::fabs(correction[c]) <= tolerance * std::max(std::fabs(z[c]), slope[c] ? slowest * nominal[c] : nominal[c]))) return false;
    return true;
}

// One correction, halved until the residuals become smaller. True: somewhere they did, and w is there.
bool Consistency::step(double *w, const double *nominal, double tolerance, bool small) {
    scale_rows(w, nominal, true);
    weight = scale;
    double before = worst(), part = 1;
    for (int k = 0; k <= halvings; ++k, part /= 2) {
        for (int64_t c = 0; c < n; ++c) solved_for(w, c) = z[c] - part * correction[c];
        if (!evaluate(w)) continue;
        if (small || worst() < before) return true; // after a small correction, rounding decides whether residuals decrease
        scale_rows(w, nominal, false);
        if (within(tolerance)) return true;
    }
    return false;
}

bool Consistency::factor_selected() {
    const int32_t *start = system.indptr.data;
    for (int64_t c = 0; c < n; ++c) {
        const double *part = slope[c] ? by_slope : by_value;
        std::copy(part + start[c], part + start[c + 1], matrix.begin() + start[c]);
    }
    return lu.factor(matrix.data());
}

bool Consistency::find_correction(double *w) {
    for (int64_t c = 0; c < n; ++c) z[c] = solved_for(w, c);
    if (!factor_selected()) return false;
    correction = residual;
    lu.solve(correction.data());
    return all_finite(correction.data(), n);
}

// One more correction with the factors there are: small residuals are good enough to end here, but unknowns with a tight tolerance are
// wrong by more than that, and no step is short enough for a jump from the start.
void Consistency::polish(double *w) {
    double before = worst();
    if (!(before > 0)) return;
    correction = residual;
    lu.solve(correction.data());
    if (!all_finite(correction.data(), n)) return;
    for (int64_t c = 0; c < n; ++c) z[c] = solved_for(w, c), solved_for(w, c) -= correction[c];
    if (evaluate(w) && worst() <= before) return;
    for (int64_t c = 0; c < n; ++c) solved_for(w, c) = z[c];
    evaluate(w);
}

// Nothing is corrected when the residuals are rounding errors. Otherwise once at least: a residual may be small against the terms of
// its row where the unknown is not, the charging current of a small capacitor beside a large one through a resistor.
Consistency::Answer Consistency::solve(double *w, const bool *differential, const double *nominal, double tolerance, int max_iterations) {
    for (int64_t c = 0; c < n; ++c)
        if (!differential[c]) w[n + c] = 0;
    if (!evaluate(w)) return {false, 0};
    for (int iteration = 0; iteration < max_iterations; ++iteration) {
        if (!linearise(w)) return {false, iteration};
        if (iteration == 0) {
            classify(w, differential);
            scale_rows(w, nullptr, false);
            if (within(4 * epsilon)) return {true, 0};
        }
        if (!find_correction(w)) return {false, iteration};
        bool small = small_correction(nominal, tolerance);
        if (!step(w, nominal, tolerance, small)) return {false, iteration + 1};
        scale_rows(w, nominal, false);
        if (small) return {true, iteration + 1};
        if (within(tolerance)) return polish(w), Answer{true, iteration + 1};
    }
    return {false, max_iterations};
}

bool Consistency::rates(double *w, const bool *differential, const double *drift, double *found) {
    if (!system.computed_finite(w) || !linearise(w)) return false;
    classify(w, differential);
    if (!factor_selected()) return false;
    const int32_t *start = system.indptr.data, *row = system.indices.data;
    for (int64_t r = 0; r < n; ++r) found[r] = -drift[r];
    for (int64_t c = 0; c < n; ++c)
        for (int32_t k = start[c]; slope[c] && k < start[c + 1]; ++k) found[row[k]] -= by_value[k] * w[n + c];
    lu.solve(found);
    return all_finite(found, n);
}

} // namespace acausal
