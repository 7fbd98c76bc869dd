#include "klu.h"
#include "markowitz.h"

#include <nanobind/stl/shared_ptr.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace acausal {

SparseLu::SparseLu(int64_t size, Integers pointers, Integers rows, Ordering ordering)
    : n(size), indptr(pointers), indices(rows), undecided(ordering == Best) {
    klu_defaults(&common);
    common.ordering = ordering == Best ? AMD : ordering;
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
    if (!std::isfinite(common.rcond) || common.rcond <= 0) return false;
    if (undecided) try_others(data);
    klu_flops(symbolic, numeric, &common);
    cost_of_factors = common.flops / (2.0 * (double)std::max<int64_t>(fill(), 1));
    return true;
}

// AMD orders A + A'. Where A is far from symmetric that may fill in much: pivots by Markowitz's rule fill in less, and in plants that are too
// large for that COLAMD, which orders A'A.
void SparseLu::try_others(double *data) {
    constexpr double some = 1.2, unlike = 0.5, much = 3, linear = 300;
    undecided = false;
    int *p = const_cast<int *>(indptr.data), *i = const_cast<int *>(indices.data);
    double entries = indptr.data[n];
    Pivots pivots;
    if ((double)fill() > some * entries && markowitz(n, p, i, data, linear * entries, pivots)) {
        klu_common other = common;
        try_other(data, klu_analyze_given((int)n, p, i, pivots.rows.data(), pivots.columns.data(), &other), other);
    } else if (symbolic->symmetry <= unlike && (double)fill() >= much * entries) {
        klu_common other = common;
        other.ordering = COLAMD;
        try_other(data, klu_analyze((int)n, p, i, &other), other);
    }
}

// Another order of rows and columns, taken where its factors have far fewer entries: what is about the same may stay as it is.
void SparseLu::try_other(double *data, klu_symbolic *s, klu_common other) {
    constexpr double fewer = 0.9;
    klu_numeric *f = s ? klu_factor(const_cast<int *>(indptr.data), const_cast<int *>(indices.data), data, s, &other) : nullptr;
    bool better = f && other.status == KLU_OK && (double)(f->lnz + f->unz) < fewer * (double)fill() && klu_rcond(s, f, &other) && other.rcond > 0;
    if (better) std::swap(s, symbolic), std::swap(f, numeric), std::swap(other, common), rcond_of_pivots = common.rcond;
    if (f) klu_free_numeric(&f, &other);
    if (s) klu_free_symbolic(&s, &other);
}

// A refactorisation keeps the pivots of an earlier matrix. They have gone bad when the ratio of the smallest to the largest
// pivot is far below what it was with fresh ones, or when a multiplier is far above what KLU accepts of fresh ones (1000): so many
// digits are lost of sums that the exact solution keeps, as of the charge of a circuit. Then, and only then, new pivots are worth their price.
bool SparseLu::factor(double *data, bool fresh) {
    regular = false;
    if (n == 0) return regular = true;
    if (!symbolic && !analyse()) return false;
    if (numeric && !fresh) {
        ++refactorisations;
        if (refactor(data) && common.rcond > 1e-4 * rcond_of_pivots && packed.multiplier * common.tol < 10) return regular = true;
    }
    packed.valid = packed.current = packed.rows_valid = false;
    return regular = factor_anew(data);
}

void SparseLu::solve(double *rhs) {
    if (packed.valid) solve_quickly(rhs);
    else if (n) klu_solve(symbolic, numeric, (int)n, 1, rhs, &common);
}

// KLU gives L with its unit diagonal first in each column, U with its pivot last.
void SparseLu::pack() {
    auto take = [&](int64_t entries, bool lower, Packed::Columns &to) {
        extract_start.resize(n + 1), extract_row.resize(entries), extract_value.resize(entries);
        int *p = extract_start.data(), *i = extract_row.data();
        double *x = extract_value.data();
        if (lower) klu_extract(numeric, symbolic, p, i, x, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, &common);
        else klu_extract(numeric, symbolic, nullptr, nullptr, nullptr, p, i, x, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, &common);
        to.start.resize(n + 1), to.row.resize(entries - n), to.column.resize(entries - n), to.value.resize(entries - n);
        int filled = 0;
        for (int64_t j = 0; j < n; ++j) {
            to.start[j] = filled;
            for (int k = p[j]; k < p[j + 1]; ++k) {
                if (i[k] != j) to.row[filled] = i[k], to.column[filled] = (int)j, to.value[filled++] = x[k];
                else if (!lower) packed.inverse_pivot[j] = 1 / x[k];
            }
        }
        to.start[n] = filled;
    };
    packed.inverse_pivot.resize(n), packed.inverse_scale.resize(n), packed.largest.resize(n), packed.work.assign(n, 0.0);
    take(numeric->lnz, true, packed.lower);
    take(numeric->unz, false, packed.upper);
    for (size_t k = 0; k < packed.upper.row.size(); ++k) packed.upper.value[k] *= packed.inverse_pivot[packed.upper.row[k]];
    for (int64_t k = 0; k < n; ++k) packed.inverse_scale[k] = numeric->Rs ? 1 / numeric->Rs[k] : 1.0;
    pack_sources();
    const double *outside = static_cast<const double *>(numeric->Offx);
    packed.outside.value.assign(outside, outside + packed.outside.row.size());
    packed.valid = packed.current = true;
    packed.rows_ordered = packed.rows_valid = false;
}

// Where the entries of the matrix go: into their block, or (as ~ their number) above it, in the order in which KLU takes them.
void SparseLu::pack_sources() {
    std::vector<int> place_of(n);
    for (int64_t k = 0; k < n; ++k) place_of[numeric->Pnum[k]] = (int)k;
    Packed::Columns &outside = packed.outside;
    packed.source_start.assign(1, 0), packed.source.clear(), packed.place.clear();
    outside.start.assign(1, 0), outside.row.clear(), outside.column.clear();
    for (int block = 0; block < symbolic->nblocks; ++block) {
        int first = symbolic->R[block];
        for (int j = first; j < symbolic->R[block + 1]; ++j) {
            int column = symbolic->Q[j];
            for (int k = indptr.data[column]; k < indptr.data[column + 1]; ++k) {
                int row = place_of[indices.data[k]];
                packed.source.push_back(k);
                packed.place.push_back(row >= first ? row : ~(int)outside.row.size());
                if (row < first) outside.row.push_back(row), outside.column.push_back(j);
            }
            packed.source_start.push_back((int)packed.source.size());
            outside.start.push_back((int)outside.row.size());
        }
    }
}

// Inverse of the largest entry of each row, as KLU has it; gives the smallest of these, which is 0 or not a number where a row is bad.
double SparseLu::scale_rows(const double *data) {
    double *largest = packed.largest.data(), *inverse = packed.inverse_scale.data();
    std::fill_n(largest, n, 0.0);
    for (size_t k = 0; k < packed.source.size(); ++k) {
        int place = packed.place[k], row = place >= 0 ? place : packed.outside.row[~place];
        largest[row] = std::max(largest[row], std::fabs(data[packed.source[k]]));
    }
    double least = largest[0];
    for (int64_t k = 0; k < n; ++k) least = std::min(least, largest[k]), inverse[k] = 1 / largest[k];
    return least;
}

// x[row] -= factor times a column.
static inline void subtract(const double *column, const int *row, int count, double factor, double *x) {
    int k = 0;
    for (; k + 4 <= count; k += 4) { // rows of a column are distinct
        double a = x[row[k]] - column[k] * factor, b = x[row[k + 1]] - column[k + 1] * factor;
        double c = x[row[k + 2]] - column[k + 2] * factor, d = x[row[k + 3]] - column[k + 3] * factor;
        x[row[k]] = a, x[row[k + 1]] = b, x[row[k + 2]] = c, x[row[k + 3]] = d;
    }
    for (; k < count; ++k) x[row[k]] -= column[k] * factor;
}

// One column with the pivots known, from the left (Gilbert and Peierls 1988); gives its pivot. `work` is zero before and after.
double SparseLu::eliminate(int64_t j, int64_t first, const double *data) {
    double *x = packed.work.data(), *lower = packed.lower.value.data(), *upper = packed.upper.value.data();
    const int *lower_row = packed.lower.row.data(), *lower_start = packed.lower.start.data();
    const double *scale = packed.inverse_scale.data();
    for (int k = packed.source_start[j]; k < packed.source_start[j + 1]; ++k) {
        int place = packed.place[k];
        double value = data[packed.source[k]];
        if (place >= first) x[place] = value * scale[place];
        else packed.outside.value[~place] = value * scale[packed.outside.row[~place]];
    }
    for (int k = packed.upper.start[j]; k < packed.upper.start[j + 1]; ++k) {
        int i = packed.upper.row[k];
        double above = x[i];
        x[i] = 0;
        upper[k] = above * packed.inverse_pivot[i];
        subtract(lower + lower_start[i], lower_row + lower_start[i], lower_start[i + 1] - lower_start[i], above, x);
    }
    double pivot = x[j], inverse = packed.inverse_pivot[j] = 1 / pivot;
    x[j] = 0;
    double largest = packed.multiplier; // in a register: among numbers in memory it would be stored for each entry, and waited for
    for (int l = lower_start[j]; l < lower_start[j + 1]; ++l) {
        lower[l] = x[lower_row[l]] * inverse, x[lower_row[l]] = 0;
        largest = std::max(largest, std::fabs(lower[l]));
    }
    packed.multiplier = largest;
    return pivot;
}

// False: a row or a pivot is zero or no number. Then nothing is here any more.
bool SparseLu::refactor(const double *data) {
    if (!packed.current) pack();
    packed.valid = packed.rows_valid = false, packed.multiplier = 0;
    double least = scale_rows(data), smallest = std::numeric_limits<double>::infinity(), largest = 0, sum = least;
    if (!(least > 0)) return false;
    for (int block = 0; block < symbolic->nblocks; ++block) {
        int64_t first = symbolic->R[block], end = symbolic->R[block + 1];
        for (int64_t j = first; j < end; ++j) {
            double size = std::fabs(eliminate(j, first, data));
            smallest = std::min(smallest, size), largest = std::max(largest, size), sum += size;
        }
    }
    common.rcond = std::isfinite(sum) && smallest > 0 ? smallest / largest : 0;
    return packed.valid = common.rcond > 0;
}

// Entries of columns, sorted by rows: from the first column to the last, or the other way round.
template <typename Columns, typename Rows> static void sort_by_rows(const Columns &from, Rows &to, int64_t n, bool ascending) {
    size_t entries = from.row.size();
    to.start.assign(n + 1, 0), to.column.resize(entries), to.from.resize(entries), to.value.resize(entries);
    for (int row : from.row) ++to.start[row + 1];
    for (int64_t j = 0; j < n; ++j) to.start[j + 1] += to.start[j];
    std::vector<int> next(to.start.begin(), to.start.end() - 1);
    for (size_t k = 0; k < entries; ++k) {
        size_t entry = ascending ? k : entries - 1 - k;
        int place = next[from.row[entry]]++;
        to.column[place] = from.column[entry], to.from[place] = (int)entry;
    }
}

void SparseLu::order_rows() {
    sort_by_rows(packed.lower, packed.lower_rows, n, true);
    sort_by_rows(packed.upper, packed.upper_rows, n, false);
    sort_by_rows(packed.outside, packed.outside_rows, n, false);
    packed.parts.clear(), packed.row_scale.resize(n);
    for (int block = 0; block < symbolic->nblocks; ++block) {
        int64_t first = symbolic->R[block], end = symbolic->R[block + 1];
        bool single = end - first == 1;
        if (single && !packed.parts.empty() && packed.parts.back().triangular) packed.parts.back().end = end;
        else packed.parts.push_back({first, end, single});
    }
    packed.rows_ordered = true;
}

void SparseLu::renew_rows() {
    if (!packed.rows_ordered) order_rows();
    auto renew = [](const Packed::Columns &from, Packed::Rows &to) {
        for (size_t k = 0; k < to.from.size(); ++k) to.value[k] = from.value[to.from[k]];
    };
    renew(packed.lower, packed.lower_rows), renew(packed.upper, packed.upper_rows), renew(packed.outside, packed.outside_rows);
    packed.row_scale = packed.inverse_scale;
    for (const Packed::Part &part : packed.parts) {
        if (!part.triangular) continue;
        Packed::Rows &rows = packed.outside_rows;
        for (int64_t j = part.first; j < part.end; ++j) {
            packed.row_scale[j] *= packed.inverse_pivot[j];
            for (int k = rows.start[j]; k < rows.start[j + 1]; ++k) rows.value[k] *= packed.inverse_pivot[j];
        }
    }
    packed.rows_valid = true;
}

// Chains and trees of components. A network that fills in has columns so long that nobody waits for what was written, and its many
// entries would have to be sorted after each factorisation.
bool SparseLu::by_rows() const { return (int64_t)(packed.lower.row.size() + packed.upper.row.size() + packed.outside.row.size()) <= 8 * n; }

void SparseLu::solve_quickly(double *rhs) {
    if (!n) return;
    if (!packed.valid) pack();
    if (by_rows()) solve_by_rows(rhs);
    else solve_by_columns(rhs);
}

// x[j] less what the unknowns of its row do to it. The one solved for just before is still in a register.
template <typename Rows> static inline double reduced(const Rows &of, const double *x, int64_t j, int64_t before, double last) {
    double sum = x[j];
    int k = of.start[j], end = of.start[j + 1];
    if (k == end) return sum;
    for (--end; k < end; ++k) sum -= of.value[k] * x[of.column[k]];
    return of.column[end] == before ? sum - of.value[end] * last : sum - of.value[end] * x[of.column[end]];
}

template <typename Rows> static void down(const Rows &of, double *x, int64_t first, int64_t end) {
    double last = 0;
    for (int64_t j = first; j < end; ++j) x[j] = last = reduced(of, x, j, j - 1, last);
}

// `last`: the unknown behind the end.
template <typename Rows> static void up(const Rows &of, double *x, int64_t first, int64_t end, double last) {
    for (int64_t j = end - 1; j >= first; --j) x[j] = last = reduced(of, x, j, j + 1, last);
}

// Blocks from the last to the first: what the unknowns of later blocks do to this one, L, then U.
void SparseLu::solve_by_rows(double *rhs) {
    if (!packed.rows_valid) renew_rows();
    double *x = packed.work.data();
    const int *row_of = numeric->Pnum, *column_of = symbolic->Q;
    const double *scale = packed.row_scale.data(), *pivot = packed.inverse_pivot.data();
    for (int64_t k = 0; k < n; ++k) x[k] = rhs[row_of[k]] * scale[k];
    for (size_t p = packed.parts.size(); p-- > 0;) {
        auto [first, end, triangular] = packed.parts[p];
        up(packed.outside_rows, x, first, end, end < n ? x[end] : 0.0);
        if (triangular) continue;
        down(packed.lower_rows, x, first, end);
        for (int64_t j = first; j < end; ++j) x[j] *= pivot[j];
        up(packed.upper_rows, x, first, end, 0.0);
    }
    for (int64_t k = 0; k < n; ++k) rhs[column_of[k]] = x[k], x[k] = 0;
}

// x[row] -= value x[column], entry by entry: of `of`, those of columns from `first` to `end`.
template <typename Columns> static inline void forwards(const Columns &of, double *x, int64_t first, int64_t end) {
    const int *row = of.row.data(), *column = of.column.data();
    const double *value = of.value.data();
    for (int k = of.start[first], last = of.start[end]; k < last; ++k) x[row[k]] -= value[k] * x[column[k]];
}

template <typename Columns> static inline void backwards(const Columns &of, double *x, int64_t first, int64_t end) {
    const int *row = of.row.data(), *column = of.column.data();
    const double *value = of.value.data();
    for (int k = of.start[end] - 1, last = of.start[first]; k >= last; --k) x[row[k]] -= value[k] * x[column[k]];
}

// Blocks from the last to the first: L, U, then what the block's unknowns do to earlier blocks.
void SparseLu::solve_by_columns(double *rhs) {
    double *x = packed.work.data();
    const int *row_of = numeric->Pnum, *column_of = symbolic->Q;
    const double *scale = packed.inverse_scale.data(), *pivot = packed.inverse_pivot.data();
    for (int64_t k = 0; k < n; ++k) x[k] = rhs[row_of[k]] * scale[k];
    for (int block = symbolic->nblocks - 1; block >= 0; --block) {
        int64_t first = symbolic->R[block], end = symbolic->R[block + 1];
        forwards(packed.lower, x, first, end);
        for (int64_t j = first; j < end; ++j) x[j] *= pivot[j];
        backwards(packed.upper, x, first, end);
        forwards(packed.outside, x, first, end);
    }
    for (int64_t k = 0; k < n; ++k) rhs[column_of[k]] = x[k], x[k] = 0;
}

// The same, row by row of `count` numbers that lie side by side: what is one product for one right-hand side is a loop here.
WIDE void SparseLu::solve_many(double *rhs, int64_t count) {
    if (!n || !count) return;
    if (!packed.valid) pack();
    std::vector<double> &work = packed.many;
    work.resize(n * count);
    double *x = work.data();
    const int *row_of = numeric->Pnum, *column_of = symbolic->Q;
    auto scaled = [count](double *to, const double *from, double factor) {
        for (int64_t c = 0; c < count; ++c) to[c] = from[c] * factor;
    };
    auto spread = [x, count](const Packed::Columns &of, int64_t j) {
        const double *known = x + j * count;
        for (int k = of.start[j]; k < of.start[j + 1]; ++k) {
            double *to = x + of.row[k] * count, factor = of.value[k];
            for (int64_t c = 0; c < count; ++c) to[c] -= factor * known[c];
        }
    };
    for (int64_t k = 0; k < n; ++k) scaled(x + k * count, rhs + row_of[k] * count, packed.inverse_scale[k]);
    for (int block = symbolic->nblocks - 1; block >= 0; --block) {
        int64_t first = symbolic->R[block], end = symbolic->R[block + 1];
        for (int64_t j = first; j < end; ++j) spread(packed.lower, j);
        for (int64_t j = first; j < end; ++j) scaled(x + j * count, x + j * count, packed.inverse_pivot[j]);
        for (int64_t j = end - 1; j >= first; --j) spread(packed.upper, j);
        for (int64_t j = first; j < end; ++j) spread(packed.outside, j);
    }
    for (int64_t k = 0; k < n; ++k) std::memcpy(rhs + column_of[k] * count, x + k * count, sizeof(double) * count);
}

// Blocks from the first to the last: what earlier blocks' unknowns do, U', then L'.
WIDE void SparseLu::solve_many_transposed(double *rhs, int64_t count) {
    if (!n || !count) return;
    if (count == 1 && !packed.valid) { // packing costs more than it saves
        klu_tsolve(symbolic, numeric, (int)n, 1, rhs, &common);
        return;
    }
    if (!packed.valid) pack();
    std::vector<double> &work = packed.many;
    work.resize(n * count);
    double *x = work.data();
    const int *row_of = numeric->Pnum, *column_of = symbolic->Q;
    auto gather = [x, count](const Packed::Columns &of, int64_t j) {
        double *to = x + j * count;
        for (int k = of.start[j]; k < of.start[j + 1]; ++k) {
            const double *from = x + of.row[k] * count;
            double factor = of.value[k];
            for (int64_t c = 0; c < count; ++c) to[c] -= factor * from[c];
        }
    };
    for (int64_t k = 0; k < n; ++k) std::memcpy(x + k * count, rhs + column_of[k] * count, sizeof(double) * count);
    for (int block = 0; block < symbolic->nblocks; ++block) {
        int64_t first = symbolic->R[block], end = symbolic->R[block + 1];
        for (int64_t j = first; j < end; ++j) gather(packed.outside, j), gather(packed.upper, j);
        for (int64_t j = first; j < end; ++j)
            for (int64_t c = 0; c < count; ++c) x[j * count + c] *= packed.inverse_pivot[j];
        for (int64_t j = end - 1; j >= first; --j) gather(packed.lower, j);
    }
    for (int64_t k = 0; k < n; ++k)
        for (int64_t c = 0; c < count; ++c) rhs[row_of[k] * count + c] = x[k * count + c] * packed.inverse_scale[k];
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

nb::object solve(SparseLu &lu, nb::handle rhs, bool quickly) {
    Array<double, 1> b(rhs, "rhs");
    require_size(b, lu.size(), "rhs");
    if (!lu.factored()) throw std::runtime_error("there is no factorisation to solve with: call factor() first and see that it returns True");
    {
        nb::gil_scoped_release release;
        if (quickly) lu.solve_quickly(b.data);
        else lu.solve(b.data);
    }
    return b.owner;
}

} // namespace

SparseLu::Ordering ordering_of(const std::string &name) {
    if (name == "amd") return SparseLu::AMD;
    if (name == "colamd") return SparseLu::COLAMD;
    if (name == "auto") return SparseLu::Best;
    throw nb::value_error(("`ordering` must be 'auto', 'amd' or 'colamd', not '" + name + "'").c_str());
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
        .def("solve", [](Klu &k, nb::handle rhs, bool quickly) { return solve(k.lu, rhs, quickly); }, "rhs"_a, "quickly"_a = false,
             "Solve in place; returns `rhs`. Quickly: with inverses of the pivots, as the integrator does.")
        .def_prop_ro("rcond", [](Klu &k) { return k.lu.rcond(); })
        .def_prop_ro("structural_rank", [](Klu &k) { return k.lu.structural_rank(); })
        .def_prop_ro("numerical_rank", [](Klu &k) { return k.lu.numerical_rank(); })
        .def_prop_ro("singular_column", [](Klu &k) { return k.lu.singular_column(); })
        .def_prop_ro("trouble", [](Klu &k) { return k.lu.trouble(); })
        .def_prop_ro("blocks", [](Klu &k) { return k.lu.blocks(); })
        .def_prop_ro("fill", [](Klu &k) { return k.lu.fill(); });
}

} // namespace acausal
