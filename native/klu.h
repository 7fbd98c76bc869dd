// A sparse LU factorisation (SuiteSparse KLU) for matrices of one fixed pattern: analysed once, then refactored.
#pragma once

#include "arrays.h"

#include <klu.h>

#include <vector>

// For loops over many numbers side by side: the machine's widest instructions, where the compiler can choose them at run time.
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__linux__)
#define WIDE __attribute__((target_clones("avx2", "default")))
#else
#define WIDE
#endif

namespace acausal {

class SparseLu {
  public:
    enum Ordering { AMD = 0, COLAMD = 1, Best = 2 }; // Best: the one of them that fills in less

    SparseLu(int64_t size, Integers indptr, Integers indices, Ordering ordering);
    ~SparseLu();
    SparseLu(const SparseLu &) = delete;
    SparseLu &operator=(const SparseLu &) = delete;

    // True if regular. Pivots are kept from the last full factorisation while they are still good; `fresh` demands new ones.
    bool factor(double *data, bool fresh = false);
    void solve(double *rhs);         // in place; only after factor() returned true
    void solve_quickly(double *rhs); // the same but for rounding, and faster from the second time on
    // Many right-hand sides at once, those of one unknown side by side: x[unknown][count], in place.
    void solve_many(double *x, int64_t count);
    void solve_many_transposed(double *x, int64_t count);

    int64_t size() const { return n; }
    double rcond() const { return common.rcond; }
    int64_t structural_rank() const { return rank; }
    int64_t numerical_rank() const { return common.numerical_rank < 0 ? n : common.numerical_rank; }
    int64_t singular_column() const { return common.singular_col < n ? common.singular_col : -1; }
    bool factored() const { return regular; }
    int64_t count() const { return full_factorisations + refactorisations; } // of factorisations so far
    int64_t blocks() const { return symbolic ? symbolic->nblocks : 0; }
    double cost() const { return cost_of_factors; } // of a factorisation, in solutions with the factors
    int64_t fill() const { return numeric ? numeric->lnz + numeric->unz : 0; }
    const char *trouble() const; // why the last call failed

    int64_t full_factorisations = 0, refactorisations = 0;

  private:
    bool analyse();
    bool factor_anew(double *data);
    void try_other(double *data);
    void pack();

    // The factors without their diagonals, as plain columns: a run solves far more often than it factorises, and KLU divides twice
    // for each unknown, one division waiting for the other, where products with inverses will do for Newton's method.
    struct Packed {
        std::vector<int> lower_start, lower_row, upper_start, upper_row;
        std::vector<double> lower, upper, inverse_pivot, inverse_scale, work, many;
        bool valid = false;
    } packed;
    std::vector<int> extract_start, extract_row;
    std::vector<double> extract_value;

    int64_t n, rank = -1;
    Integers indptr, indices;
    klu_common common;
    klu_symbolic *symbolic = nullptr;
    klu_numeric *numeric = nullptr;
    double rcond_of_pivots = 0; // rcond when the pivots were chosen
    double cost_of_factors = 1;
    bool regular = false, undecided;
};

// What Python holds: a factorisation, and the number of entries of its pattern.
struct Klu {
    int64_t nnz;
    SparseLu lu;
};

SparseLu::Ordering ordering_of(const std::string &name); // "amd", "colamd" or "auto"

} // namespace acausal
