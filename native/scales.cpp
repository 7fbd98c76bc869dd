#include "scales.h"

#include <algorithm>
#include <cmath>

namespace acausal {

constexpr long every = 50;     // steps between two measurements …
constexpr double changed = 2;  // … unless the step changed by such a factor
constexpr double share_reduced = 0.1; // of what errors as large as the tolerances of the states do to an unknown, where an index was reduced
constexpr double kept = 0.7;   // of what an earlier measurement found: signs may cancel
constexpr double idle = 1e-5;  // of a variable's tolerance: what an error in its derivative may make of it within a step, untested

void Scales::set_kinds(const bool *free, const bool *made) {
    algebraic.assign(free, free + n);
    derivative.assign(made, made + n);
    std::transform(free, free + n, integrated.begin(), [](bool a) { return !a; });
    share = std::any_of(made, made + n, [](bool d) { return d; }) ? share_reduced : 1.0;
    any = std::any_of(free, free + n, [](bool a) { return a; }) && !std::all_of(free, free + n, [](bool a) { return a; });
    restart();
}

void Scales::restart() {
    std::fill(least.begin(), least.end(), 0.0);
    added = absolute;
    measured_at = -1;
}

void Scales::ask_less(bool now) {
    if (now != less) measured_at = -1;
    less = now;
}

bool Scales::choose(double *tested) const {
    bool changed = false;
    for (int64_t i = 0; i < n; ++i) {
        if (!derivative[i]) continue;
        double now = least[i] > 0 ? 1.0 : 0.0;
        changed |= now != tested[i];
        tested[i] = now;
    }
    return changed;
}

bool Scales::due(long steps, double cj) const {
    if (!any || cj == 0) return false;
    return measured_at < 0 || steps - measured_at >= every || cj > changed * measured_cj || measured_cj > changed * cj;
}

double Scales::sign() {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state & 1 ? 1.0 : -1.0;
}

double Scales::tolerance(int64_t i, double value) const { return std::max(rtol * std::fabs(value) + added[i], least[i]); }

bool Scales::weights(const double *y, double *weight) const {
    const double *a = added.data(), *l = least.data();
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
    for (int64_t i = 0; i < n; ++i) {
        if (!algebraic[i]) continue;
        least[i] = std::max(kept * least[i], (less ? 1.0 : share) * std::fabs(after[i]));
        if (derivative[i]) added[i] = least[i] > 0 ? idle * std::fabs(cj) * absolute[i] : absolute[i];
    }
}

} // namespace acausal
