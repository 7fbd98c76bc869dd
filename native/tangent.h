// Sensitivities along a recorded trajectory, forward and backward.
//
// With s = dy/dp the equations F(t, y, y', p) = 0 give F_y s + F_y' s' + F_p = 0, linear in s. At every point n of the recording s' is the
// derivative of the polynomial through the latest values of s, of the order that the step had: s'_n = c_0 s_n + Σ c_j s_{n-j}. So
//     (F_y + c_0 F_y') s_n = -F_p - F_y' Σ c_j s_{n-j},
// one factorisation for all parameters. Backward, λ_n solves with the transposed matrix for whatever s_n does to an output
// (Cao, Li, Petzold, Serban 2003, in its discrete form: the gradient is exactly that of the forward scheme).
#pragma once

#include "klu.h"
#include "recorder.h"
#include "system.h"

#include <array>
#include <memory>
#include <vector>

namespace acausal {

// Derivatives of residuals along known cells, through computed ones: kernels for the rows that are reached, then products.
// Numbered: seeds (known cells), computed cells, residual rows: d[target] += value[position] * d[source], in order.
class Tape {
  public:
    Layout layout;
    std::vector<Family> families;
    Integers target, position, source;
    Integers rows; // residual rows of the last numbers
    int64_t seeds = 0, total = 0, values = 0;

    void check() const;
    void evaluate(const double *w, double *value) const;
    void forward(const double *value, double *d, int64_t count) const;  // d[number][count], seeds given
    void backward(const double *value, double *d, int64_t count) const; // rows given, the rest zero
};

class Tangent {
  public:
    Tangent(std::shared_ptr<Recorder> recorder, int64_t count);

    void use(std::shared_ptr<System> system, std::shared_ptr<Tape> tape);
    void start(int64_t point, const double *s); // s[unknown][count] where steps begin
    // Over the points up to `last`; s of `columns` at the times given, as far as they lie before it, go to rows[time][column][count].
    int64_t advance(int64_t last, const double *times, int64_t times_count, const Integers &columns, double *rows);
    const double *present() const { return history.front().s.data(); }

    // Backward over points first … last, between which the integration did not begin anew: `turn` once, then `retreat` from piece to
    // piece, the last one first. What an output has to do with s at a point is added with `add`, and what is left there is `waiting_at`.
    void turn(int64_t first, int64_t last);
    void add(int64_t point, const double *what); // [unknown][count]
    // Over the steps to points last … first (of a piece with which the integration begins, to first + 1). `weights`[time][unknown][count]
    // is what an output has to do with s at times in between; adds to `gradient`[seed][count].
    void retreat(int64_t first, int64_t last, bool begins, const double *times, int64_t times_count, const double *weights, double *gradient);
    std::vector<double> &waiting_at(int64_t point);

    std::shared_ptr<Recorder> recorder;
    std::vector<double> known, seeds;
    const int64_t n, count;
    int64_t singular = 0; // points at which the matrix was

  private:
    struct Value {
        double t;
        std::vector<double> s;
    };
    struct Formula { // s' at a point from values at points
        int terms = 0;
        std::array<int64_t, 7> point{};
        std::array<double, 7> slope{};
    };
    void evaluate(int64_t point, double c0);
    void weigh(const Formula &formula, double t, const double *weighed);
    std::vector<Formula> formulas(int64_t first, int64_t last) const;
    void product(const double *x, double *y, bool transposed) const; // y -= F_y' x
    void from_history(const Formula &formula, const double *const *values);

    std::shared_ptr<System> system;
    std::shared_ptr<Tape> tape;
    std::unique_ptr<SparseLu> lu;
    std::vector<double> w, partials, matrix, value, d, right, past;
    std::vector<Value> history; // the latest first
    std::vector<std::vector<double>> waiting; // backward: what an output has to do with s at each point, so far
    std::vector<Formula> plan;
    std::vector<int64_t> points_of; // of the history
    std::vector<int64_t> last_use;  // of each point of the plan: the last one whose formula has it
    int64_t at = 0, first_of_plan = 0;
};

} // namespace acausal
