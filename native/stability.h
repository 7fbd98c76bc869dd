// When high orders are unstable: backward differences of order 3 to 5 let oscillations grow whose eigenvalues lie close to the imaginary axis
// (Hairer, Wanner II, V.1): waves in pipes, beams and lines for instance. The error test keeps what grows at the size of the tolerance, with
// steps that have nothing to do with the solution: thousands of steps in a plant at rest, and no test fails.
//
// It is seen from the history. With E_j the error that order j would make with this step, in tolerances: where the solution rules the step,
// E_2 is far above 1, or order 2 would do; where a growing oscillation rules it, E_2, E_3, … are all small and not far from each other,
// the step does not grow, and no attempt fails. Then order 2 takes the same step, is stable, and damps it. It is used for a while, and
// never again where its steps fail.
#pragma once

namespace acausal {

class Stability {
  public:
    static constexpr int stable_order = 2;
    struct Sight {
        int order;
        double step;   // the last one
        long failures; // of the error test, in all
    };
    // Errors of order 2 and of the order itself with the last step. True: the order is to be limited now.
    bool unstable(const Sight &now, double second, double own);
    void limit(const Sight &now, long steps);
    bool may_rise(const Sight &now, long steps); // the limit has been there long enough, or did no good
    void forget() { suspected = 0, step_before = 0; }
    void start_anew() { limited = false, patience = 0, forget(); }
    bool limited = false, useless = false;
    long until_next() const { return useless ? rare * rare : wait; } // steps after which to look again

  private:
    double step_before = 0;
    long failures_before = 0, limited_at = 0, patience = 0, wait = usual;
    int suspected = 0; // looks in a row
    static constexpr long soon = 10, usual = 25, rare = 100;
};

} // namespace acausal
