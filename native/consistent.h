// Values that satisfy the equations after a jump, so that an integration may start again there.
//
// Given t, known values and y of the differential unknowns, F(t, y, y', known) = 0 is solved for z: y of the algebraic unknowns and
// y' of the differential ones. Damped Newton iterations with the columns of dF/dy' and dF/dy that z selects.
#pragma once

#include "klu.h"
#include "system.h"

#include <vector>

namespace acausal {

class Consistency {
  public:
    struct Answer {
        bool ok;
        int iterations;
    };

    Consistency(const System &system, SparseLu::Ordering ordering);

    // `w` holds a first guess, known values and time; its y and y' are changed whatever comes of it. An unknown of the mask
    // `differential` whose y' is in no equation at this point (a model may have modes) is algebraic here.
    Answer solve(double *w, const bool *differential, const double *nominal, double tolerance, int max_iterations);
    // Where w satisfies the equations, with its computed cells: how fast what is solved for changes, y' of the algebraic unknowns and y'' of the differential ones.
    // `drift` is dF/dt. From F = 0 along the solution, dF/dz z' = -dF/dt - dF/dy y', with the columns as above. False: they are not decided.
    bool rates(double *w, const bool *differential, const double *drift, double *found);
    bool is_slope(int64_t c) const { return slope[c]; }

  private:
    double &solved_for(double *w, int64_t c) const { return w[slope[c] ? n + c : c]; }
    bool evaluate(double *w); // false: not finite
    bool linearise(const double *w);
    void classify(double *w, const bool *differential);
    void scale_rows(const double *w, const double *nominal, bool with_correction);
    bool within(double tolerance) const; // every residual against the terms of its row
    bool small_correction(const double *nominal, double tolerance) const;
    bool factor_selected();          // the columns that z selects; false: singular
    bool find_correction(double *w); // false: singular
    bool step(double *w, const double *nominal, double tolerance, bool small);
    void polish(double *w);
    double worst() const;

    const System &system;
    int64_t n;
    SparseLu lu;
    std::vector<double> parts; // of the Jacobian, one after the other
    const double *by_value, *by_slope;
    std::vector<double> matrix, residual, correction, scale, weight, z;
    std::vector<char> slope; // whether y' of the unknown is solved for
};

} // namespace acausal
