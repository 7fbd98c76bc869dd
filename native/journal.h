// What the steps of a run were like, in bounded memory, for whoever asks later why it took so long.
#pragma once

#include "scales.h"

#include <cstdint>
#include <cstring>
#include <limits>
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
// to the last iterate is the estimated local error up to a factor that all unknowns share. What became of an attempt shows in
// the counters when the next one begins. IDAS itself is never stopped for it: the steps are the same.
//
// A small system takes half a microsecond for a step, so that most attempts must go by with a comparison: after the first few
// hundred only some are visited, and only some of those are looked at unknown by unknown. With `every` all of them are.
class Journal {
  public:
    enum Kind : int32_t { ErrorTest = 0, Newton = 1, NotFinite = 2, Singular = 3 };

    Journal(int64_t n, const Scales &scales, bool every) : n(n), every(every), scales(scales) {}

    template <typename F> void visit(double t, const double *w, F &&standing, const double *tested) {
        if (t == attempt_time) { // another iteration of the same attempt
            if (detailed) std::memcpy(after.data(), w, sizeof(double) * 2 * n);
            return;
        }
        double previous = attempt_time;
        attempt_time = t;
        ++attempts;
        if (open || every || attempts <= all_visited || attempts % visited == 0) arrive(previous, w, standing(), tested);
    }
    void correction(const double *x) {
        if (detailed) std::memcpy(delta.data(), x, sizeof(double) * n);
    }
    void close(const Standing &now, const double *tested); // the attempt under way has come to its end
    void restart();                                         // the counters begin again
    nb::dict as_dict() const;

  private:
    static constexpr int64_t all_visited = 512, visited = 32, looked_at_early = 8;

    struct Step {
        double t, h;
        int32_t order, limiting, steps, error_failures, convergence_failures;
    };
    struct Failure {
        double t;
        int32_t kind, unknown;
    };
    struct Point {
        double t = 0;
        std::vector<double> before, after; // y and y', predicted and last
    };

    void arrive(double previous, const double *w, const Standing &now, const double *tested);
    void settle(double t, const Standing &now, const double *tested);
    void note_failure(double t, bool error_test, const Standing &now, const double *tested);
    int32_t worst(const double *tested) const;
    void add(const Step &step);
    void keep_point(double t);
    static Step merged(const Step &a, const Step &b);

    int64_t n;
    bool every;
    const Scales &scales;
    // The attempt under way: `open` when its beginning was seen, `detailed` when it is looked at unknown by unknown.
    bool open = false, detailed = false, sampled = false, after_failure = false;
    double attempt_time = std::numeric_limits<double>::quiet_NaN();
    int64_t attempts = 0, points_seen = 0, failures_seen = 0, failure_stride = 1;
    Standing last;
    std::vector<double> before, after, delta;

    std::vector<Step> steps;
    Step group{};
    int64_t stride = 1, grouped = 0, sampled_steps = 0, weight = 0;
    int32_t pending_error_failures = 0, pending_convergence_failures = 0;
    std::vector<Failure> failures;
    std::vector<int64_t> limited, failed_tests, not_converged; // per unknown; steps looked at count for those they stand for
    std::vector<Point> points;
};

} // namespace acausal
