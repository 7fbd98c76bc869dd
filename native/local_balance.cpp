// Sums that equations keep, of masses, charges or energies, through an event that changes few unknowns.
//
// Courses are solved for to a part of their tolerances, and where a neighbour would hardly take another one it keeps its own: what one
// gives and the other does not take would be lost. So in the end every state that the event reaches gets the slope of its former
// course plus what its right-hand side has changed by. All of these are evaluated on the same courses; what cancels in their sum
// cancels to rounding.
#include "local.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace acausal {

constexpr double near = 1; // tolerance: as far from what was solved for a course may be, since the former one was as far from its own equations

// What the row would be without the event: former values of cells, and former courses.
double Local::former_residual(int32_t row, double t) {
    for (size_t k = old.size(); k--;) std::swap(v[old[k].first], old[k].second);
    for (const Unknown &u : few) place[u.number] = -1;
    double value = evaluate(Residual, row, t);
    for (size_t k = 0; k < few.size(); ++k) place[few[k].number] = (int32_t)k;
    for (auto &[cell, other] : old) std::swap(v[cell], other);
    return value;
}

// How a row changes with the slope that it determines; 0: with a value, so that nothing is kept by it. Balances are linear in slopes,
// and a long way shows that to the last digit.
double Local::weight_of_slope(Unknown &u, double t) {
    if (!u.differential) return 0;
    double base = evaluate(Residual, u.row, t), kept = u.slope, step = std::fabs(kept) + scale_of(u);
    u.slope = kept + step, step = u.slope - kept;
    double weight = (evaluate(Residual, u.row, t) - base) / step;
    u.slope = kept;
    return weight;
}

// By so much the slope of a former course may be wrong because its differences are rounded.
double Local::rounding_of_slope(const Unknown &u, double t) {
    const Weights &at = weights_at(t);
    double sum = 0;
    for (int j = 1; j <= history.order; ++j) sum += std::fabs(at.slope[j]);
    return 512 * std::numeric_limits<double>::epsilon() * sum * (std::fabs(history.differences[0][u.number]) + std::fabs(u.begin));
}

// Whether a state and another one see each other, as two that exchange something do: what one does not go on by, the other does.
bool Local::exchanges(const Unknown &u) {
    const std::vector<int32_t> &read = closure(Residual, u.row).values;
    for (int32_t row : reached({u.number}).rows)
        if (row != u.row && (owner[row] < 0 || std::find(read.begin(), read.end(), owner[row]) != read.end())) return true;
    return false;
}

bool Local::balance(double t) {
    for (int32_t row : beside) {
        size_t before = few.size();
        if (!add_unknown(row, t)) return false;
        if (few.size() > before) follow_former(few.back(), t);
    }
    size_t m = few.size();
    std::vector<double> weight(m), slope(points * m);
    place_at(t);
    for (size_t k = 0; k < m; ++k) weight[k] = weight_of_slope(few[k], t);
    bool rest = jumped; // all of them, alone: they do not go on by what former courses were wrong. Of some only, a sum would not be kept
    for (size_t k = 0; rest && k < m; ++k) rest = weight[k] == 0 || !exchanges(few[k]);
    std::vector<double> former(points * m);
    for (int p = 0; p < points; ++p) {
        double time = collocation_time(p);
        place_at(time);
        for (size_t k = 0; k < m; ++k) {
            if (weight[k] == 0) continue;
            former[p * m + k] = former_residual(few[k].row, time) / weight[k];
            double own = slope[p * m + k] = few[k].slope - evaluate(Residual, few[k].row, time) / weight[k];
            rest &= std::fabs(own) <= rounding_of_slope(few[k], time);
            if (!std::isfinite(own + former[p * m + k])) return false;
        }
    }
    for (size_t k = 0; !rest && k < points * m; ++k) slope[k] += former[k];
    double end = along(searched_until);
    for (size_t k = 0; k < m; ++k) {
        if (weight[k] == 0) continue;
        double solved = course(few[k], end);
        integrate(few[k], &slope[k], m, t);
        if (!(std::fabs(course(few[k], end) - solved) <= near * few[k].tolerance)) return false;
    }
    return true;
}

} // namespace acausal
