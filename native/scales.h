// Tolerances of algebraic unknowns in scales of their own.
//
// States are known to their tolerances, not better. An algebraic unknown that follows from them, a current through a small
// resistance, a flow between two stiff volumes, the derivative of what a constraint determines, inherits that uncertainty, enlarged
// by its sensitivity. If its own tolerance (rtol times its size) is far smaller, then what the error test sees is noise: steps become
// shorter and shorter, while shorter steps make derivatives noisier still.
//
// With J = dF/dy + cj dF/dy' of the step, and an error e in the history of the states, the unknowns at its end are wrong by
// J^-1 cj dF/dy' e. This is measured now and then, for errors as large as the tolerances and of changing signs; what comes out is the
// least tolerance of an algebraic unknown: it is asked to be as exact as states that just pass their own test make it. (With a tenth of
// that, plants of refrigeration took a quarter more steps, and ended no more exact.) Where an index was reduced it is a tenth: forces of
// constraints and accelerations belong to derivatives of what is integrated. (With all of it an oscillating mechanism lost one and a half
// digits; from 0.03 on a rectifier's current is noise again.)
//
// Nobody gave a nominal value for a derivative that index reduction made an unknown, and that of its variable is in another unit.
// It is tested relative to its size and to what is measured here, whatever the unit of time; where the states do not decide it, it
// takes no part. Where derivatives cancel or vanish (the current into a capacitor across a constant voltage) rounding makes it look
// decided, and its size is that of noise: what hardly changes its variable within a step is no error, so that shorter steps, which
// make noise larger, do not ask for shorter ones still.
#pragma once

#include "klu.h"
#include "system.h"

#include <vector>

namespace acausal {

class Scales {
  public:
    Scales(const double *absolute, int64_t n, double rtol)
        : absolute(absolute, absolute + n), added(this->absolute), least(n), algebraic(n), derivative(n), integrated(n, 1), sizes(this->absolute), n(n), rtol(rtol) {
        for (double &size : sizes) size = rtol > 0 ? size / rtol : 1.0;
    }
    // Which unknowns are algebraic: only these have a least tolerance; and which of them are derivatives made by index reduction.
    void set_kinds(const bool *algebraic, const bool *derivative);
    // Whether a derivative is to be tested; `tested` is changed for derivatives alone. False: nothing changed.
    bool choose(double *tested) const;
    void restart(); // what was measured before an event says nothing
    void ask_less(bool less); // from now on, where an index was reduced: only what the states make possible, as of all others
    bool due(long steps, double cj) const;
    // `w` is where the factors `lu` of J belong.
    void measure(const System &system, SparseLu &lu, const double *w, double cj, long steps);
    bool weights(const double *y, double *weight) const; // false: a tolerance is zero
    double tolerance(int64_t i, double value) const;
    const std::vector<double> &smallest() const { return least; }
    bool has_algebraic() const { return any; }
    const bool *differential() const { return reinterpret_cast<const bool *>(integrated.data()); }
    const double *nominal() const { return sizes.data(); } // what absolute tolerances stand for

  private:
    double sign(); // at random, but the same in every run
    std::vector<double> absolute, added, least, probe, before, after; // `added`: to rtol times the size
    std::vector<char> algebraic, derivative, integrated;
    std::vector<double> sizes;
    int64_t n;
    double rtol, share = 1, measured_cj = 0;
    long measured_at = -1;
    bool any = false, less = false;
    uint64_t state = 0x9E3779B97F4A7C15ull;
};

} // namespace acausal
