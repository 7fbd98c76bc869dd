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
}

void Ida::look_at_order(double stop) {
    if (recorder) return; // who goes over the steps again wants no start between them
    long steps = counters().steps;
    if (steps - orders_seen < stability.until_next() || settings.max_order <= Stability::stable_order || t >= stop) return;
    orders_seen = steps;
    Stability::Sight now{0, 0, counters().error_test_failures};
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
