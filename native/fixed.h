// A session of a fixed-step implicit formula on one System: for real time, where each step must cost the same.
//
// F(t, y, y') = 0 with y' replaced by a backward difference: of the last two points (order 1, implicit Euler) or, from the second step
// after a start on, of the last three (order 2). Steps end on a grid t0 + k h; a step that begins elsewhere, after an event, is
// shorter. Newton's iteration has the exact sparse Jacobian and a bounded number of iterations. There is no error control.
//
// It has the methods of the IDAS session (ida.h) that a run from event to event asks for. Roots are looked for at the ends of steps,
// and located within a step on the polynomial that the formula stands for.
#pragma once

#include "consistent.h"
#include "gaps.h"
#include "inputs.h"
#include "klu.h"
#include "system.h"

#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace acausal {

struct FixedSettings {
    double step = 0, rtol = 1e-6;
    int order = 2, max_iterations = 8;
    int64_t max_steps = 0;
};

class Fixed {
  public:
    enum Status : int { Finished = 0, Root = 1, Cancelled = 2, Assigned = 4, TooManySteps = -1, Convergence = -4, Singular = -5, NotFinite = -6 };

    Fixed(std::shared_ptr<System> system, Outputs outputs, Doubles known, Doubles atol, FixedSettings settings);

    void start(double t, const double *y, const double *yp, double step = 0);
    int advance(double t_end, double stop, const double *times, int64_t count, double *rows, int64_t &written);
    void set_known(const double *values);
    void row(double *out) { write_row(t, out); }
    void workspace(double *out);
    // Equations for the same unknowns, with which `consistent` works until those of the run come back.
    void lend(std::shared_ptr<System> other);
    Consistency::Answer consistent(double t, double *y, double *yp, const bool *differential, const double *nominal);
    const double *y() const { return w.get(); }
    const double *yp() const { return w.get() + n; }

    std::shared_ptr<System> system;
    Outputs outputs;
    Inputs inputs;
    FixedSettings settings;
    double t = 0, last_step = 0;
    std::vector<int32_t> found;
    int64_t steps = 0, residuals = 0, jacobians = 0, iterations = 0, non_finite = 0, most_iterations = 0;
    double non_finite_time = 0;
    std::vector<double> non_finite_values; // y and y'
    int64_t singular_column = -1;
    nb::object progress;
    double progress_interval = 0.1, asked = 0;
    bool interrupted = false;
    std::unique_ptr<nb::python_error> exception;
    bool started = false;
    Gaps gaps; // of root functions

  private:
    bool at(double time, double *workspace); // brings time, inputs and computed cells there; false: an input could not be evaluated
    int step(double stop);
    int solve(double time, double cj);
    double size_of(const std::vector<double> &correction) const;
    void interpolate(double time, double *workspace) const; // y and y' within the last step
    void evaluate_roots(double time, std::vector<double> &values); // t: what is before it has been looked at
    bool cross(double target); // whether a root lies before it; then t is there
    bool update_after_step();
    bool record(); // false: an input could not be evaluated
    void write_row(double time, double *out);
    int64_t write_rows(double until, const double *times, int64_t count, double *rows, int64_t written);
    bool poll();

    int64_t n;
    std::unique_ptr<double[]> w, w_out;
    std::vector<double> absolute, jacobian, residual, now, before, earlier; // [ y | y' ] at the end of the last step, its beginning, the one before
    double origin = 0, end = 0, begin = 0, step_before = 0, factored_cj = 0;
    int points = 0; // known since the start
    bool fresh = false, to_update = false;
    double recorded = 0; // until here histories know what was
    std::vector<double> root_before, root_now, updated;
    bool roots_known = false;
    SparseLu lu;
    std::unique_ptr<Consistency> consistency;
};

} // namespace acausal
