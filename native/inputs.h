// External inputs: cells of `known` that are functions of time.
#pragma once

#include "arrays.h"

#include <vector>

namespace acausal {

// Piecewise linear (no slopes) or cubic Hermite (slopes given); the first and last values hold outside the table. The rate of a cubic
// is its first derivative, which keeps that of the first and last points outside.
struct InputTable {
    int64_t cell; // index into w
    Doubles times, values, slopes;
    bool cubic = false, rate = false;
    int64_t interval = 0; // where the last value was found: time mostly moves on

    double value(double t);
};

struct InputFunction {
    int64_t cell;
    nb::object function;
};

class Inputs {
  public:
    void add_table(int64_t cell, nb::handle times, nb::handle values, nb::handle slopes, bool rate);
    void add_function(int64_t cell, nb::object function) { functions.push_back({cell, std::move(function)}); }
    bool empty() const { return tables.empty() && functions.empty(); }
    void clear();

    // Write the inputs at time t into w. Takes the GIL only if there are Python functions; false if one of them raised.
    bool evaluate(double t, double *w);
    void evaluate_tables(double t, double *w); // those alone that are no Python functions

  private:
    std::vector<InputTable> tables;
    std::vector<InputFunction> functions;
};

} // namespace acausal
