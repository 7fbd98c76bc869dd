#include "scales.h"

#include <algorithm>
#include <cmath>

namespace acausal {

constexpr long every = 20;     // steps between two measurements …
constexpr double changed = 2;  // … unless the step changed by such a factor
constexpr double kept = 0.7;   // of what an earlier measurement found: signs may cancel

void Scales::set_algebraic(const bool *mask) {
    algebraic.assign(mask, mask + n);
    any = std::any_of(mask, mask + n, [](bool a) { return a; }) && !std::all_of(mask, mask + n, [](bool a) { return a; });
    restart();
}

void Scales::restart() {
    std::fill(least.begin(), least.end(), 0.0);
    measured_at = -1;
}

bool Scales::due(long steps, double cj) const {
    if (!any || cj == 0) return false;
    return measured_at < 0 || steps - measured_at >= every || cj > changed * measured_cj || measured_cj > changed * cj;
}

double Scales::sign() {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state & 1 ? 1.0 : -1.0;
}

double Scales::tolerance(int64_t i, double value) const { return std::max(rtol * std::fabs(value) + absolute[i], least[i]); }

bool Scales::weights(const double *y, double *weight) const {
    const double *a = absolute.data(), *l = least.data();
    double smallest = 1;
#pragma omp simd reduction(min : smallest)
    for (int64_t i = 0; i < n; ++i) {
        double own = rtol * std::fabs(y[i]) + a[i];
        own = own > l[i] ? own : l[i];
        smallest = own < smallest ? own : smallest;
        weight[i] = 1 / own;
    }
    return smallest > 0;
}

void Scales::measure(const System &system, SparseLu &lu, const double *w, double cj, long steps) {
    measured_at = steps, measured_cj = cj;
    probe.assign(w, w + system.layout.workspace());
    before.resize(n), after.resize(n);
    system.residual(probe.data(), before.data());
    for (int64_t i = 0; i < n; ++i)
        if (!algebraic[i]) probe[n + i] += cj * sign() * (rtol * std::fabs(w[i]) + absolute[i]);
    system.assign(probe.data());
    system.residual(probe.data(), after.data());
    for (int64_t i = 0; i < n; ++i) after[i] -= before[i];
    if (!all_finite(after.data(), n)) return;
    lu.solve_quickly(after.data());
    if (!all_finite(after.data(), n)) return;
    for (int64_t i = 0; i < n; ++i)
        if (algebraic[i]) least[i] = std::max(kept * least[i], std::fabs(after[i]));
}

} // namespace acausal
