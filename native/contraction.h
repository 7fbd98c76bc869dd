// How fast Newton's iteration with kept factors contracts, and when its last correction was small enough.
//
// A correction of size d leaves an error of about rate / (1 - rate) d (Hairer, Wanner II, IV.8). The rate is seen from two corrections;
// a first one is judged by the rate seen last. IDAS holds that the rate of new factors is unknown, and that what is seen with them holds
// as long as they are kept. The other way round is nearer to the truth:
// - With factors from where the iteration begins, and for its step, it contracts some hundred thousand times, and a second correction
//   finds nothing. So the first one is believed what was seen with the last new ones, with a margin, and a larger one a larger rate,
//   as Newton's method has it; every few times it is looked at again.
// - Kept factors become worse from step to step. What has not converged is noise in the history, and costs steps. So their rate is seen
//   for itself, and the quotient is taken for larger with every step that nobody looks at it.
#pragma once

#include <algorithm>
#include <cmath>

namespace acausal {

class Contraction {
  public:
    enum Verdict { Converged, Continue, Diverges };
    void renewed() { kept = unknown, ++believed; } // the next correction is made with new factors
    void forget() { kept = unknown, believed = patience + 1; }
    bool believes() const { return believing; } // the last verdict: it stands on what was seen with other factors
    // The correction number `iteration` (from 0) of an attempt, as large as `size`; `young`: with factors that were made in this attempt.
    Verdict judge(int iteration, double size, double tolerance, bool young) {
        believing = young && !iteration;
        if (!iteration) {
            first = size;
            if (size <= nothing * tolerance) return Converged;
            double quotient = young ? of_young(size) : kept;
            if (!young) kept = std::min(unknown, ageing * kept);
            return quotient * size <= tolerance ? Converged : Continue;
        }
        double rate = iteration == 1 ? size / first : std::pow(size / first, 1.0 / iteration);
        if (!(rate <= slowest)) return Diverges;
        double quotient = rate / (1 - rate);
        if (young) seen = quotient, first_seen = first, believed = 0;
        else kept = std::max(quotient, rounding);
        return quotient * size <= tolerance ? Converged : Continue;
    }

  private:
    static constexpr double unknown = 20, slowest = 0.9, nothing = 1e-8; // as IDAS has them
    static constexpr double margin = 10, least = 1e-5, ageing = 2, rounding = 1e-16;
    static constexpr int patience = 4; // times in a row that new factors are believed to be as good as the last ones
    double of_young(double size) const {
        if (believed > patience) return unknown;
        return std::min(unknown, margin * std::max(seen, least) * std::max(1.0, size / first_seen));
    }
    double kept = unknown, first = 0; // rate / (1 - rate) of factors from another attempt; the first correction of this one
    double seen = unknown, first_seen = 1; // the same of new ones, after a first correction as large as that
    int believed = patience + 1;
    bool believing = false;
};

} // namespace acausal
