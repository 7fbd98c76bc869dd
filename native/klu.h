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
    enum Ordering { AMD = 0, COLAMD = 1, Best = 2 }; // Best: one that fills in little

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
    bool refactor(const double *data);
    double scale_rows(const double *data);
    double eliminate(int64_t column, int64_t first, const double *data);
    void try_others(double *data);
    void try_other(double *data, klu_symbolic *symbolic, klu_common common);
    void pack();
    void pack_sources();
    void order_rows();
    void renew_rows();
    bool by_rows() const;
    void solve_by_rows(double *rhs);
    void solve_by_columns(double *rhs);

    // The factors as plain columns: a run solves far more often than it factorises, and KLU divides twice for each unknown, one
    // division waiting for the other, where products with inverses will do for Newton's method. Rows and columns are in the order
    // of the pivots. L and U are without their diagonals, and each row of U is divided by its pivot, so that a solution is one loop
    // over the entries of each; U's columns keep KLU's order, in which they are computed. `outside`: above the blocks.
    struct Packed {
        struct Columns {
            std::vector<int> start, row, column;
            std::vector<double> value;
        } lower, upper, outside;
        // Where there is little fill-in, the same entries row by row: what the unknowns solved for before do to one is added up in a
        // register and written once, where a loop over columns writes it and waits to read it back for each entry. In each row the
        // unknown solved for last stands last. Rows of blocks of one are divided by their pivots, those of `outside`, too.
        struct Rows {
            std::vector<int> start, column, from; // from: where the entry stands in the columns
            std::vector<double> value;
        } lower_rows, upper_rows, outside_rows;
        struct Part {
            int64_t first, end;
            bool triangular; // blocks of one, each after the other: there is nothing to eliminate
        };
        std::vector<Part> parts;
        std::vector<double> row_scale;
        std::vector<int> source_start, source, place; // of the matrix, column by column: where it stands in its data, and its row
        std::vector<double> inverse_pivot, inverse_scale, largest, work, many;
        double multiplier = 0; // the largest entry of L
        bool valid = false;   // the factors are here; KLU's may be older
        bool current = false; // what does not change with the numbers is that of KLU's factors
        bool rows_ordered = false, rows_valid = false; // the same of the entries row by row
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
