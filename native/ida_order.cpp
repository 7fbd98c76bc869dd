// The order of the integration, looked at between two steps (see stability.h).
#include "ida.h"

#include <algorithm>
#include <cmath>

namespace acausal {

double Ida::largest_error(const double *errors) const {
    double largest = 0;
    for (int64_t i = 0; i < n; ++i)
        if (id[i] > 0) largest = std::max(largest, std::fabs(errors[i]) / scales.tolerance(i, w[i]));
    return largest;
}

// What an event begins is another solution, and has a high order until it is seen to need none.
void Ida::free_order() {
    if (stability.limited) check(IDASetMaxOrd(mem, settings.max_order), "IDASetMaxOrd");
    stability.start_anew();
    hold_growth(false);
    Counters now = counters();
    growth_seen = now.steps, failures_seen = now.error_test_failures;
}

// IDAS doubles a step whose error is small enough for twice the step, as it estimates, and looks at order 2 only after some steps of
// one length. Coordinates that a constraint ties to the states have two large terms of the error, which cancel as long as the step
// stays the same: there twice the step fails whatever its length, is taken back, and is tried again, at order 1 for ever. So where
// many steps of order 1 fail, none is lengthened for a while. Neither do they cancel at the change to order 2, which is taken back as
// well where they are large: for as long, these coordinates are asked to be no more exact than the states make them.
void Ida::look_at_growth(const Counters &now) {
    constexpr long window = 10, failing = 4; // steps; one step in so many
    if (now.steps - growth_seen < window) return;
    int order = 0;
    IDAGetLastOrder(mem, &order);
    hold_growth(order == 1 && failing * (now.error_test_failures - failures_seen) > now.steps - growth_seen);
    growth_seen = now.steps, failures_seen = now.error_test_failures;
}

void Ida::hold_growth(bool hold) {
#if SUNDIALS_VERSION_MAJOR > 6 || (SUNDIALS_VERSION_MAJOR == 6 && SUNDIALS_VERSION_MINOR >= 2) // before, nobody can say so
    constexpr double as_usual = 2, never = 1e30; // by how much a step must be able to grow before it does
    if (hold != growth_held) check(IDASetEtaFixedStepBounds(mem, 1.0, hold ? never : as_usual), "IDASetEtaFixedStepBounds");
#endif
    scales.ask_less(hold);
    growth_held = hold;
}

void Ida::look_at_order(double stop) {
    Counters counted = counters();
    look_at_growth(counted);
    if (recorder) return; // who goes over the steps again wants no start between them
    long steps = counted.steps;
    if (steps - orders_seen < stability.until_next() || settings.max_order <= Stability::stable_order || t >= stop) return;
    orders_seen = steps;
    Stability::Sight now{0, 0, counted.error_test_failures};
    IDAGetLastOrder(mem, &now.order);
    IDAGetLastStep(mem, &now.step);
    if (stability.limited) {
        if (stability.may_rise(now, steps)) check(IDASetMaxOrd(mem, settings.max_order), "IDASetMaxOrd");
        return;
    }
    if (now.order <= Stability::stable_order || now.step == settings.max_step || stability.useless) return stability.forget();
    double elapsed = 0;
    IDAGetCurrentTime(mem, &elapsed);
    if (IDAGetDky(mem, elapsed, Stability::stable_order + 1, yp_out)) return;
    double second = largest_error(NV_DATA_S(yp_out)) * std::pow(now.step, 3) / 3;
    IDAGetEstLocalErrors(mem, yp_out);
    if (!stability.unstable(now, second, largest_error(NV_DATA_S(yp_out)) / (now.order + 1))) return;
    present.assign(w.get(), w.get() + 2 * n);
    start(t, present.data(), present.data() + n, now.step); // IDAS gives up no order that it has
    stability.limit(now, steps);
    ++orders_limited;
    check(IDASetMaxOrd(mem, Stability::stable_order), "IDASetMaxOrd");
    set_out(stop);
}

} // namespace acausal
