#include "corrector.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace acausal {

constexpr int most = 12;           // iterations
constexpr double converged = 1e-4; // in tolerances
constexpr double good = 0.1;       // contraction of factors that may serve on

// Slopes have moved with the cj of the factors until now: with another one they would end up elsewhere, and the states with them.
bool Corrector::linearise(double *w, double step_cj) {
    if (cj != step_cj) {
        for (int64_t i = 0; i < n; ++i) w[n + i] = interpolated[n + i] + step_cj * (w[i] - interpolated[i]);
        system.assign(w);
    }
    cj = step_cj;
    system.jacobian(w, cj, jacobian.data());
    jacobian.back() = 0;
    return all_finite(jacobian.data(), system.nnz()) && lu.factor(jacobian.data());
}

double Corrector::iterate(double *w, const Scales &scales) {
    system.residual(w, r.data());
    lu.solve_quickly(r.data());
    double size = 0, sum = 0;
    for (int64_t i = 0; i < n; ++i) {
        double part = std::fabs(r[i]) / scales.tolerance(i, w[i]);
        size = std::max(size, part), sum += part;
        w[i] -= r[i], w[n + i] -= cj * r[i];
    }
    system.assign(w);
    return std::isfinite(sum) ? size : std::numeric_limits<double>::infinity();
}

void Corrector::solve(double *w, const Scales &scales, double step_cj, bool bent) {
    interpolated.assign(w, w + 2 * n);
    bool fresh = bent || !lu.factored() || cj > 2 * step_cj || step_cj > 2 * cj;
    bool usable = !fresh || linearise(w, step_cj);
    double before = std::numeric_limits<double>::infinity();
    for (int k = 0; k < most && usable; ++k) {
        double size = iterate(w, scales);
        if (size < converged) return;
        bool slow = !(size < good * before) && k > 0;
        if (slow && !(size < before) && size < 1) return; // rounding is all that is left of it: tolerances may be that small
        slow = slow || bent;
        bool away = !std::isfinite(size) || (slow && !(size < before));
        if (away && !fresh) { // from the solution, with factors of elsewhere: once more, from the beginning
            std::copy(interpolated.begin(), interpolated.end(), w);
            system.assign(w);
            slow = true, size = std::numeric_limits<double>::infinity();
        } else if (!std::isfinite(size)) {
            usable = false;
            break;
        }
        if (slow) usable = linearise(w, step_cj), fresh = true;
        before = size;
    }
    if (usable && before < 1) return;
    std::copy(interpolated.begin(), interpolated.end(), w);
    system.assign(w);
}

} // namespace acausal
