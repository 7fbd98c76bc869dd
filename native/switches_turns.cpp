// Relations that an event turns back, as a bounce does: what has just become true goes back over its switching point, and comes again.
//
// It has to be seen to become false in between. So the first step ends within the flight, and where this is so small that the relation
// does not leave its band, the event is for Python, which says that something comes to rest (runtime/events/turned.py).
#include "switches.h"

#include <algorithm>

namespace acausal {

constexpr double small = 16;   // bands: a flight that leads no further is looked at again
constexpr double still = 1e-9; // of a rate before the event: next to it another one is zero

// How fast relations' functions change along the slopes, and how fast that changes with slopes that bend.
std::vector<double> Switches::rates(const double *w, const double *bend, std::vector<double> *bends) {
    int64_t n = system->layout.size;
    std::vector<double> sides[2];
    for (int k = 0; k < 2; ++k) {
        double way = k ? soon : -soon;
        probe.assign(w, w + workspace_size());
        for (int64_t i = 0; i < n; ++i)
            if (differential[i]) probe[i] += way * probe[n + i] + (bend ? 0.5 * way * way * bend[i] : 0.0);
        probe[system->layout.time_index] += way;
        system->assign(probe.data());
        sides[k] = relation.evaluate(probe.data());
    }
    if (bends) {
        *bends = relation.evaluate(w);
        for (size_t k = 0; k < bends->size(); ++k) (*bends)[k] = (sides[0][k] - 2 * (*bends)[k] + sides[1][k]) / (soon * soon);
    }
    for (size_t k = 0; k < sides[0].size(); ++k) sides[1][k] = (sides[1][k] - sides[0][k]) / (2 * soon);
    return sides[1];
}

bool Switches::turns_in_sight(double *w, const Solve &solve) {
    if (!states_set || !is_kept || !(soon > 0)) return true;
    int64_t n = system->layout.size;
    std::vector<size_t> turned;
    const std::vector<double> g = relation.evaluate(w);
    std::vector<double> rate;
    for (int32_t cause : causes) {
        size_t k = (size_t)cause;
        if (k >= bands.size() || side(w, k) == sides_before[k] || !(side(w, k) * g[k] <= small * std::max(width(w, k), narrow[k]))) continue;
        if (rate.empty()) rate = rates(w);
        if (side(w, k) * rate[k] < 0) turned.push_back(k);
        else {
            std::vector<double> here(w, w + workspace_size());
            std::copy(kept.begin(), kept.end(), here.begin());
            if (std::fabs(rate[k]) <= still * std::fabs(rates(here.data())[k])) turned.push_back(k);
        }
    }
    if (turned.empty()) return true;
    std::vector<double> here(w, w + 2 * n), bend(n), bends;
    double &time = w[system->layout.time_index], now = time;
    for (int64_t i = 0; i < n; ++i)
        if (differential[i]) w[i] += soon * w[n + i];
    time += soon;
    bool solved = solve();
    for (int64_t i = 0; i < n; ++i) bend[i] = (w[n + i] - here[n + i]) / soon;
    std::copy(here.begin(), here.end(), w);
    time = now;
    system->assign(w);
    if (!solved) return true;
    rates(w, bend.data(), &bends);
    for (size_t k : turned) {
        double down = side(w, k) * bends[k], up = std::fabs(rate[k]);
        if (!(down > 0)) continue;
        if (up * up <= 2 * down * small * (side(w, k) * g[k] + width(w, k))) return false;
        flight = std::min(flight, 2 * up / down);
    }
    return true;
}

} // namespace acausal
