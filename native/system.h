// A system F(t, y, y', known) = 0 as lists of compiled kernels and the index tables they loop over.
//
// Workspace: w = [ y | y' | known ]. A System is built once, then only read, so that several threads may share it;
// whoever evaluates it owns a workspace.
#pragma once

#include "arrays.h"

#include <cmath>
#include <memory>
#include <mutex>
#include <vector>

namespace acausal {

using ResidualKernel = void (*)(const double *w, double *out, const int32_t *slots, const int32_t *rows, int64_t n, void *const *functions);
using JacobianKernel = void (*)(const double *w, double cj, double *jac, const int32_t *slots, const int32_t *positions, int64_t n,
                                void *const *functions);

// One kernel with its tables: `slots` (slot, row) into w, `targets` (output, row) into what it adds to.
struct Family {
    void *address = nullptr;
    Table slots, targets;
    std::vector<void *> functions;
    std::vector<int32_t> by; // of a Jacobian's entries: the slot that each is a derivative by
    int64_t largest_target = -1;
    bool reads_derivatives = false;

    int64_t count() const { return targets.shape[1]; }
    void residual(const double *w, double *out) const {
        reinterpret_cast<ResidualKernel>(address)(w, out, slots.data, targets.data, count(), functions.data());
    }
    void jacobian(const double *w, double cj, double *jac) const { jacobian(w, cj, jac, targets.data); }
    void jacobian(const double *w, double cj, double *jac, const int32_t *positions) const {
        reinterpret_cast<JacobianKernel>(address)(w, cj, jac, slots.data, positions, count(), functions.data());
    }
};

struct Layout {
    int64_t size, known_size, time_index, equations; // `equations` differs from `size` for initial equations only
    int64_t workspace() const { return 2 * size + known_size; }
};

Family make_family(const Layout &layout, uintptr_t address, nb::handle slots, nb::handle targets, nb::handle functions, const char *target_name);

// What is stored at an output time: a gather from w (~i: with a minus sign), then expressions computed by kernels.
struct Outputs {
    Layout layout;
    Integers gather;
    std::vector<Family> families;
    int64_t expressions = 0;
    bool gathers_derivatives = false;

    void set_gather(nb::handle indices);
    void add(Family family) { families.push_back(std::move(family)); }
    void check() const;
    int64_t width() const { return gather.shape[0] + expressions; }
    bool reads_derivatives() const;
    void row(const double *w, double *out) const;
};

inline bool all_finite(const double *x, int64_t n) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; ++i) sum += x[i] * 0.0;
    return sum == 0.0;
}

class System {
  public:
    System(int64_t size, int64_t known_size, int64_t time_index, int64_t equations = -1);

    Layout layout;
    std::vector<Family> residuals, jacobians, roots;
    std::vector<Family> assignments; // fill the computed cells, the last of the known ones, in this order
    int64_t computed = 0;
    Table products; // value[products[0][k]] += value[products[1][k]] * value[products[2][k]]: the chain rule through computed cells
    int64_t cells = 0; // of the Jacobian's value array behind the pattern; one more behind them is the dump
    Outputs outputs;
    int64_t root_count = 0;
    std::vector<int32_t> root_bands; // of the root functions of relations, which are the first: cells of w whose sign tells on which side they are
    std::vector<double> root_zero;   // … and the side that goes with the value that is written where both sides of the relation are equal
    // Whether a relation is exactly on its switching point, and has another value than is written there.
    bool rests(int64_t k, double g, const double *w) const {
        return k < (int64_t)root_zero.size() && g + w[root_bands[k]] == 0 && std::copysign(1.0, w[root_bands[k]]) == root_zero[k];
    }
    std::vector<Family> bends; // their values change sign where an equation has other slopes on the other side, without an event
    int64_t bend_count = 0;
    std::vector<Family> step_updates; // new values of `step_cells`, known cells that change after each accepted step only
    Integers step_cells;              // indices into known
    Array<const bool, 1> step_watched; // a run is interrupted when one of these changes
    Integers indptr, indices;

    int64_t nnz() const { return indices.shape[0]; }
    int64_t value_count() const { return nnz() + cells + 1; }
    void set_pattern(nb::handle indptr, nb::handle indices);
    void check() const; // tables that refer to each other: pattern and positions, roots and their number

    void assign(double *w) const; // brings the computed cells up to date; to be done before anything else is evaluated
    // Those assignments that some kernels need, directly or by way of others; and these alone brought up to date (other computed cells
    // hold nothing afterwards).
    std::vector<int32_t> assignments_for(const std::vector<Family> &readers) const;
    void assign(double *w, const std::vector<int32_t> &chosen) const;
    bool assignments_read_derivatives() const;
    bool computed_finite(const double *w) const { return all_finite(w + layout.workspace() - computed, computed); }
    void residual(const double *w, double *out) const;
    void jacobian(const double *w, double cj, double *data) const; // dF/dy + cj dF/dy'; data has value_count() cells
    void partials(const double *w, double *data) const; // dF/dy, and behind its value_count() cells dF/dy' in as many
    void root(const double *w, double *out) const;
    void bend(const double *w, double *out) const;
    void step_update(const double *w, double *out) const;

  private:
    void build_split() const;
    mutable std::once_flag split_built; // at the first call of partials(), by whichever thread
    mutable std::vector<std::vector<int32_t>> split; // for each family of `jacobians`, where its entries go in partials()
};

} // namespace acausal
