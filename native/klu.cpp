#include "klu.h"

#include <nanobind/stl/shared_ptr.h>

#include <cmath>
#include <cstring>

namespace acausal {

SparseLu::SparseLu(int64_t size, Integers pointers, Integers rows, Ordering ordering) : n(size), indptr(pointers), indices(rows) {
    klu_defaults(&common);
    common.ordering = ordering;
    common.halt_if_singular = 1;
}

SparseLu::~SparseLu() {
    if (numeric) klu_free_numeric(&numeric, &common);
    if (symbolic) klu_free_symbolic(&symbolic, &common);
}

bool SparseLu::analyse() {
    symbolic = klu_analyze((int)n, const_cast<int *>(indptr.data), const_cast<int *>(indices.data), &common);
    rank = common.structural_rank;
    return symbolic != nullptr;
}

bool SparseLu::factor_anew(double *data) {
    if (numeric) klu_free_numeric(&numeric, &common);
    ++full_factorisations;
    common.numerical_rank = -1;
    common.singular_col = (int)n;
    numeric = klu_factor(const_cast<int *>(indptr.data), const_cast<int *>(indices.data), data, symbolic, &common);
    if (!numeric || common.status != KLU_OK) return false;
    klu_rcond(symbolic, numeric, &common);
    rcond_of_pivots = common.rcond;
    return std::isfinite(common.rcond) && common.rcond > 0;
}

// A refactorisation keeps the pivots of an earlier matrix. They have gone bad when the ratio of the smallest to the largest
// pivot is far below what it was with fresh ones; then, and only then, new pivots are worth their price.
bool SparseLu::factor(double *data, bool fresh) {
    regular = false;
    if (n == 0) return regular = true;
    if (!symbolic && !analyse()) return false;
    if (numeric && !fresh) {
        ++refactorisations;
        if (klu_refactor(const_cast<int *>(indptr.data), const_cast<int *>(indices.data), data, symbolic, numeric, &common) &&
            common.status == KLU_OK && klu_rcond(symbolic, numeric, &common) && common.rcond > 1e-4 * rcond_of_pivots)
            return regular = true;
    }
    return regular = factor_anew(data);
}

void SparseLu::solve(double *rhs) {
    if (n) klu_solve(symbolic, numeric, (int)n, 1, rhs, &common);
}

const char *SparseLu::trouble() const {
    switch (common.status) {
    case KLU_OK: return regular ? "" : "singular";
    case KLU_SINGULAR: return rank >= 0 && rank < n ? "structurally singular" : "singular";
    case KLU_OUT_OF_MEMORY: return "out of memory";
    case KLU_TOO_LARGE: return "too large for 32-bit indices";
    default: return "not a valid sparse matrix (unsorted or repeated entries?)";
    }
}

// ---------------------------------------------------------------------------------------------------------------- binding

namespace {

bool factor(SparseLu &lu, int64_t nnz, nb::handle data, bool fresh) {
    Doubles values(data, "data");
    if (values.shape[0] != nnz + 1) require_size(values, nnz, "data");
    nb::gil_scoped_release release;
    return lu.factor(const_cast<double *>(values.data), fresh);
}

nb::object solve(SparseLu &lu, nb::handle rhs) {
    Array<double, 1> b(rhs, "rhs");
    require_size(b, lu.size(), "rhs");
    if (!lu.factored()) throw std::runtime_error("there is no factorisation to solve with: call factor() first and see that it returns True");
    {
        nb::gil_scoped_release release;
        lu.solve(b.data);
    }
    return b.owner;
}

struct Klu {
    int64_t nnz;
    SparseLu lu;
};

} // namespace

SparseLu::Ordering ordering_of(const std::string &name) {
    if (name == "amd") return SparseLu::AMD;
    if (name == "colamd") return SparseLu::COLAMD;
    throw nb::value_error(("`ordering` must be 'amd' or 'colamd', not '" + name + "'").c_str());
}

void bind_klu(nb::module_ &m) {
    using namespace nb::literals;
    nb::class_<Klu>(m, "Klu", "Sparse LU for matrices of one pattern (CSC): analysed once, refactored while the pivots are good.")
        .def("__init__",
             [](Klu *self, int64_t n, nb::handle indptr, nb::handle indices, const std::string &ordering) {
                 Integers p(indptr, "indptr"), i(indices, "indices");
                 require_size(p, n + 1, "indptr");
                 require_size(i, p.data[n], "indices");
                 if (largest_index(i.data, i.size(), false, "indices") >= n) throw nb::value_error("`indices` holds a row outside the matrix");
                 new (self) Klu{i.shape[0], {n, p, i, ordering_of(ordering)}};
             },
             "n"_a, "indptr"_a, "indices"_a, "ordering"_a = "amd")
        .def("factor", [](Klu &k, nb::handle data, bool fresh) { return factor(k.lu, k.nnz, data, fresh); }, "data"_a, "fresh"_a = false,
             "True if regular; False if singular: see structural_rank, numerical_rank, singular_column, trouble.")
        .def("solve", [](Klu &k, nb::handle rhs) { return solve(k.lu, rhs); }, "rhs"_a, "Solve in place; returns `rhs`.")
        .def_prop_ro("rcond", [](Klu &k) { return k.lu.rcond(); })
        .def_prop_ro("structural_rank", [](Klu &k) { return k.lu.structural_rank(); })
        .def_prop_ro("numerical_rank", [](Klu &k) { return k.lu.numerical_rank(); })
        .def_prop_ro("singular_column", [](Klu &k) { return k.lu.singular_column(); })
        .def_prop_ro("trouble", [](Klu &k) { return k.lu.trouble(); })
        .def_prop_ro("blocks", [](Klu &k) { return k.lu.blocks(); })
        .def_prop_ro("fill", [](Klu &k) { return k.lu.fill(); });
}

} // namespace acausal
