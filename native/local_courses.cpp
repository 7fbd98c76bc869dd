// The unknowns that take another course from an event on (local.h): collocation over the step, for as many of them as it concerns.
#include "local.h"

#include <algorithm>
#include <cmath>

namespace acausal {

constexpr size_t most_unknowns = 32;
constexpr int most_corrections = 25;

namespace {

// Chebyshev points in (0, 1) and, for each, the polynomial that is 1 there and 0 at the others: coefficients of powers.
struct Basis {
    double x[points], lagrange[points][points], integral[points][points + 1];
    Basis() {
        for (int k = 0; k < points; ++k) x[k] = 0.5 - 0.5 * std::cos((2 * k + 1) * 3.14159265358979323846 / (2 * points));
        for (int k = 0; k < points; ++k) {
            double c[points] = {1}, scale = 1;
            int degree = 0;
            for (int j = 0; j < points; ++j) {
                if (j == k) continue;
                for (int p = ++degree; p >= 0; --p) c[p] = (p ? c[p - 1] : 0.0) - x[j] * (p < degree ? c[p] : 0.0);
                scale *= x[k] - x[j];
            }
            integral[k][0] = 0;
            for (int p = 0; p < points; ++p) lagrange[k][p] = c[p] / scale, integral[k][p + 1] = lagrange[k][p] / (p + 1);
        }
    }
};

const Basis basis;

double polynomial(const double *c, int degree, double x) {
    double value = c[degree];
    for (int p = degree; p--;) value = value * x + c[p];
    return value;
}

} // namespace

double Local::course(const Unknown &u, double x) const { return polynomial(u.coefficient, points, x); }

double Local::course_slope(const Unknown &u, double x) const {
    double slope = 0;
    for (int p = points; p; --p) slope = slope * x + p * u.coefficient[p];
    return slope / length();
}

bool Local::add_unknown(int32_t row, double t) {
    int32_t number = owner[row];
    if (number < 0 || few.size() >= most_unknowns || !closure(Residual, row).bounded) return false;
    if (place[number] >= 0) return few[place[number]].row == row;
    const Weights &at = weights_at(t);
    Unknown u{};
    u.number = number, u.row = row, u.differential = has_slope[number];
    u.begin = u.value = value_at(at, number), u.slope = slope_at(at, number);
    u.since = t, u.tolerance = scales.tolerance(number, u.begin);
    place[number] = (int32_t)few.size();
    few.push_back(u);
    return true;
}

bool Local::factor(double t) {
    size_t m = few.size();
    matrix.assign(m * m, 0.0), pivots.assign(m, 0);
    std::vector<double> base(m);
    for (size_t r = 0; r < m; ++r) base[r] = residual(r, t);
    for (size_t c = 0; c < m; ++c) {
        double &x = solved_for(few[c]), kept = x, step = 1e-7 * (std::fabs(x) + 1e3 * scale_of(few[c]));
        x = kept + step, step = x - kept;
        for (size_t r = 0; r < m; ++r) matrix[r * m + c] = (residual(r, t) - base[r]) / step;
        x = kept;
    }
    for (size_t k = 0; k < m; ++k) {
        size_t p = k;
        for (size_t r = k + 1; r < m; ++r)
            if (std::fabs(matrix[r * m + k]) > std::fabs(matrix[p * m + k])) p = r;
        pivots[k] = (int32_t)p;
        if (!(std::fabs(matrix[p * m + k]) > 0) || !std::isfinite(matrix[p * m + k])) return false;
        if (p != k) std::swap_ranges(&matrix[p * m], &matrix[p * m] + m, &matrix[k * m]);
        for (size_t r = k + 1; r < m; ++r) {
            double f = matrix[r * m + k] /= matrix[k * m + k];
            if (f != 0)
                for (size_t c = k + 1; c < m; ++c) matrix[r * m + c] -= f * matrix[k * m + c];
        }
    }
    return true;
}

void Local::back_substitute(double *x) const {
    size_t m = few.size();
    for (size_t k = 0; k < m; ++k) std::swap(x[k], x[pivots[k]]);
    for (size_t r = 0; r < m; ++r)
        for (size_t c = 0; c < r; ++c) x[r] -= matrix[r * m + c] * x[c];
    for (size_t r = m; r--;) {
        for (size_t c = r + 1; c < m; ++c) x[r] -= matrix[r * m + c] * x[c];
        x[r] /= matrix[r * m + r];
    }
}

// Slopes of states and values of the others just after the event, values of states given.
bool Local::jump(double t) {
    double x[most_unknowns];
    for (int k = 0; k < 12; ++k) {
        double largest = 0;
        if (!factor(t)) return false;
        for (size_t r = 0; r < few.size(); ++r) x[r] = residual(r, t);
        back_substitute(x);
        for (size_t r = 0; r < few.size(); ++r) {
            solved_for(few[r]) -= x[r];
            largest = std::max(largest, std::fabs(x[r]) / scale_of(few[r]));
            if (!std::isfinite(x[r])) return false;
        }
        if (largest < 1e-3) return true;
    }
    return false;
}

void Local::place_at(double t) {
    double x = along(t);
    for (Unknown &u : few) u.value = t == u.since && u.differential ? u.begin : course(u, x), u.slope = course_slope(u, x);
}

double Local::collocation_time(int point) const { return history.times[1] + basis.x[point] * length(); }

// The course by its slopes, or values, at the points; `stride` numbers from one to the next.
void Local::integrate(Unknown &u, const double *at, size_t stride, double t) {
    std::fill(u.coefficient, u.coefficient + points + 1, 0.0);
    for (int p = 0; p < points; ++p)
        for (int q = 0; q <= points; ++q)
            u.coefficient[q] += u.differential ? length() * at[p * stride] * basis.integral[p][q] : q < points ? at[p * stride] * basis.lagrange[p][q] : 0.0;
    if (u.differential) u.coefficient[0] += u.begin - polynomial(u.coefficient, points, along(t));
}

// A state on the course that it had.
void Local::follow_former(Unknown &u, double t) {
    double at[points];
    int32_t placed = place[u.number];
    place[u.number] = -1;
    for (int p = 0; p < points; ++p) at[p] = slope_at(weights_at(collocation_time(p)), u.number);
    place[u.number] = placed;
    integrate(u, at, 1, t);
}

// Slopes (of states) and values (of others) at some points of the step determine courses; courses determine them. In turns.
bool Local::collocate(double t) {
    size_t m = few.size();
    double x[most_unknowns];
    std::vector<double> at(points * m), states(m * points);
    for (size_t k = 0; k < m; ++k)
        for (int p = 0; p < points; ++p) at[p * m + k] = solved_for(few[k]);
    for (int turn = 0; turn < most_corrections; ++turn) {
        double largest = 0;
        for (size_t k = 0; k < m; ++k) integrate(few[k], &at[k], m, t);
        for (int p = 0; p < points; ++p) {
            double time = collocation_time(p);
            for (size_t k = 0; k < m; ++k) {
                Unknown &u = few[k];
                if (u.differential) u.value = course(u, basis.x[p]), u.slope = at[p * m + k];
                else u.value = at[p * m + k], u.slope = course_slope(u, basis.x[p]);
            }
            for (size_t r = 0; r < m; ++r) x[r] = residual(r, time);
            back_substitute(x);
            for (size_t k = 0; k < m; ++k) {
                if (!std::isfinite(x[k])) return false;
                at[p * m + k] -= x[k];
                largest = std::max(largest, std::fabs(x[k]) / scale_of(few[k]));
            }
        }
        if (largest < 1e-2) return fits();
    }
    return false;
}

// Whether the highest power of each course is next to nothing (252 and 70: those of Legendre's polynomials of these degrees).
bool Local::fits() const {
    for (const Unknown &u : few) {
        double last = u.differential ? u.coefficient[points] / 252 : u.coefficient[points - 1] / 70;
        if (!(std::fabs(last) <= 0.02 * u.tolerance)) return false;
    }
    return true;
}

// Rows of others that read the few: those in which these leave a defect that matters become ours.
bool Local::add_neighbours(double t, bool &added) {
    added = false;
    beside.clear();
    std::vector<int32_t> cells;
    for (const Unknown &u : few) cells.push_back(u.number), cells.push_back((int32_t)n + u.number);
    Reached found = reached(cells);
    if (!found.bounded) return false;
    double later = t + length();
    std::vector<int32_t> wanted;
    for (int32_t row : found.rows) {
        int32_t number = owner[row];
        if (number < 0 || !closure(Residual, row).bounded) return false;
        if (place[number] >= 0) {
            if (few[place[number]].row != row) return false;
            continue;
        }
        place_at(later);
        double with = evaluate(Residual, row, later);
        std::vector<int32_t> places;
        for (const Unknown &u : few) places.push_back(place[u.number]), place[u.number] = -1;
        double without = evaluate(Residual, row, later);
        for (size_t k = 0; k < few.size(); ++k) place[few[k].number] = places[k];
        if (with == without) continue;
        const Weights &at = weights_at(later);
        Unknown other{};
        other.number = number, other.row = row, other.differential = has_slope[number];
        other.value = value_at(at, number), other.slope = slope_at(at, number);
        other.tolerance = scales.tolerance(number, other.value);
        double &x = solved_for(other), step = 1e-6 * (std::fabs(x) + 1e3 * scale_of(other));
        x += step;
        place[number] = (int32_t)few.size();
        few.push_back(other);
        double slope = (evaluate(Residual, row, later) - with) / step;
        few.pop_back();
        place[number] = -1;
        if (!(std::fabs(slope) > 0)) return false;
        if (!(std::fabs((with - without) / slope) <= 0.02 * scale_of(other))) wanted.push_back(row);
        else if (other.differential) beside.push_back(row);
    }
    for (int32_t row : wanted)
        if (!add_unknown(row, t)) return false;
    added = !wanted.empty();
    return true;
}

bool Local::solve(double t) {
    for (bool more = true; more;) {
        for (Unknown &u : few) u.value = u.begin;
        if (!jump(t) || !collocate(t) || !add_neighbours(t, more)) return false;
    }
    return true;
}

bool Local::continuous(double t) {
    std::vector<int32_t> cells;
    for (int32_t number : changed_cells) cells.push_back(switches->cells[number]), cells.push_back(switches->partners[number]);
    effect = reached(cells);
    if (!effect.bounded || effect.foreign) return false;
    for (int32_t row : effect.rows)
        if (!add_unknown(row, t)) return false;
    if (!few.empty() && !solve(t)) return false;
    if (few.empty()) return true;
    std::vector<int32_t> slopes; // and values that are solved for: those that were set have been seen to
    for (const Unknown &u : few) {
        slopes.push_back((int32_t)n + u.number);
        if (!u.differential) slopes.push_back(u.number);
    }
    Reached seen = reached(slopes); // what sees a jump may switch at once
    if (!seen.bounded || seen.foreign || !balance(t)) return false;
    for (const Unknown &u : few) cells.push_back(u.number), cells.push_back((int32_t)n + u.number);
    effect = reached(cells);
    if (!effect.bounded) return false;
    place_at(t);
    return stays(seen, t);
}

} // namespace acausal
