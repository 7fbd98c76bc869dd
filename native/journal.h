// What the steps of a run were like, in bounded memory, for whoever asks later why it took so long.
#pragma once

#include "arrays.h"

#include <cstdint>
#include <vector>

namespace acausal {

// Where IDAS stands: what grows with every attempt at a step, and the last step that was accepted.
struct Standing {
    long steps = 0, error_failures = 0, convergence_failures = 0;
    double h = 0;
    int order = 0;
    bool finite = true, singular = false; // the last evaluation; the last factorisation
};

// Everything is learnt from the evaluations of the residual: the first of an attempt is at the predicted point, so the distance
// to the last iterate is the estimated local error up to a factor that all unknowns share. When the counters have moved by the
// next evaluation, they tell what became of the attempt. IDAS itself is never stopped for it: the steps are the same.
class Journal {
  public:
    enum Kind : int32_t { ErrorTest = 0, Newton = 1, NotFinite = 2, Singular = 3 };

    // Every `every`-th attempt is looked at unknown by unknown; the others cost a comparison.
    Journal(int64_t n, const double *atol, double rtol, int64_t every) : n(n), every(every), atol(atol), rtol(rtol) {}

    void visit(double t, const double *w, const Standing &now, const double *tested);
    void correction(const double *x);
    void close(const Standing &now, const double *tested); // the attempt under way has come to its end
    void restart();                                         // the counters begin again
    nb::dict as_dict() const;

  private:
    struct Step {
        double t, h;
        int32_t order, limiting, error_failures, convergence_failures;
    };
    struct Failure {
        double t;
        int32_t kind, unknown;
    };
    struct Point {
        double t = 0;
        std::vector<double> before, after; // y and y', predicted and last
    };

    void begin(double t, const double *w);
    void settle(const Standing &now, const double *tested);
    int32_t worst(const double *tested) const;
    void add(const Step &step);
    void add(const Failure &failure);
    void keep_point();
    static Step merged(const Step &a, const Step &b);

    int64_t n, every;
    const double *atol;
    double rtol;
    bool open = false, detailed = false, sampled = false, after_failure = false;
    double attempt_time = 0;
    int64_t attempts = 0, points_seen = 0;
    Standing last;
    std::vector<double> before, after, delta;

    std::vector<Step> steps;
    Step group{};
    int64_t stride = 1, grouped = 0;
    int32_t pending_error_failures = 0, pending_convergence_failures = 0;
    std::vector<Failure> failures;
    int64_t failure_stride = 1, failures_seen = 0;
    int64_t sampled_steps = 0;
    std::vector<int64_t> limited, failed_tests, not_converged; // per unknown
    std::vector<Point> points;
};

} // namespace acausal
