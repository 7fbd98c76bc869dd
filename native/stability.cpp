#include "stability.h"

#include <algorithm>
#include <cmath>

namespace acausal {

constexpr int looks = 3;    // in a row
constexpr double alike = 9; // errors of two orders next to each other …
constexpr double noise = 3; // … but those of noise hardly fall with the order
constexpr double small = 5; // an error of order 2 with which it makes about the same step
constexpr double far = 20;  // … with which the next look has time
constexpr double failing = 0.2; // of the steps with the limit: it does no good
constexpr long least_patience = 50, most_patience = 5000; // steps with a limit

bool Stability::unstable(const Sight &now, double second, double own) {
    wait = second > far ? rare : usual;
    int above = now.order - stable_order;
    bool flat = second <= small && second <= std::pow(alike, above) * own && second >= std::pow(noise, above) * own;
    bool stuck = now.step <= step_before, calm = now.failures == failures_before;
    step_before = now.step, failures_before = now.failures;
    suspected = flat && stuck && calm ? suspected + 1 : 0;
    if (suspected) wait = soon;
    return suspected >= looks;
}

void Stability::limit(const Sight &now, long steps) {
    limited = true, limited_at = steps, suspected = 0, step_before = 0, failures_before = now.failures;
    patience = std::clamp(2 * patience, least_patience, most_patience);
}

bool Stability::may_rise(const Sight &now, long steps) {
    useless = (double)(now.failures - failures_before) > failing * (double)(steps - limited_at);
    if (!useless && steps - limited_at < patience) return false;
    failures_before = now.failures;
    limited = false;
    return true;
}

} // namespace acausal
