// Newton's method for initial values, as long as nothing goes wrong: `runtime/initialise/newton.py` says what it does, and takes over
// from the beginning where a number does not exist, a matrix is singular, or a full step is not enough. Small models that run
// thousands of times spend their time there; tests/runtime/initialise/test_at_once.py compares the two.

#include "klu.h"
#include "system.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <tuple>

#include <nanobind/stl/tuple.h>

namespace acausal {
namespace {

constexpr double descent = 1e-4, slow = 0.25, hope = 1e3; // as in steps.py and newton.py

class Newton {
  public:
    struct Numbers {
        const double *nominal, *lower, *upper;
        double tolerance;
        int64_t limit;
    };
    int iterations = 0, residuals = 0, jacobians = 0, factorisations = 0;
    double largest = 0; // scaled residual where it ended

    Newton(const System &s, Klu &k, nb::handle rows, nb::handle columns, nb::handle source, nb::handle indptr, nb::handle indices,
           nb::handle dropped)
        : system(s), klu(k), rows(rows, "rows"), columns(columns, "columns"), source(source, "source"), indptr(indptr, "indptr"),
          indices(indices, "indices"), dropped(dropped, "dropped"), n(this->rows.shape[0]) {
        const int64_t all = s.layout.size, nnz = this->indices.shape[0];
        require_size(this->columns, n, "columns");
        require_size(this->indptr, n + 1, "indptr");
        require_size(this->source, nnz, "source");
        bool fits = k.lu.size() == n && k.nnz == nnz && this->indptr.data[n] == nnz && s.layout.equations >= 0;
        fits = fits && largest_index(this->rows.data, n, false, "rows") < s.layout.equations;
        fits = fits && largest_index(this->columns.data, n, false, "columns") < 2 * all;
        fits = fits && largest_index(this->source.data, nnz, false, "source") < 2 * s.nnz();
        fits = fits && largest_index(this->indices.data, nnz, false, "indices") < n;
        fits = fits && largest_index(this->dropped.data, this->dropped.shape[0], false, "dropped") < 2 * s.nnz();
        if (!fits) throw nb::value_error("the tables are not those of one system");
        for (auto *vector : {&scale, &weight, &step, &correction, &trial, &r, &r_trial}) vector->resize(n);
        entries.resize(nnz);
        parts.resize(2 * s.value_count());
        whole.resize(s.layout.equations);
        w.resize(s.layout.workspace());
    }

    // Everything but z stays as `x` and `known` have it.
    void load(const double *x, const double *known, double t) {
        const int64_t all = system.layout.size;
        std::memcpy(w.data(), x, sizeof(double) * 2 * all);
        std::memcpy(w.data() + 2 * all, known, sizeof(double) * system.layout.known_size);
        w[system.layout.time_index] = t;
        iterations = residuals = jacobians = factorisations = 0;
    }

    bool solve(double *z, const Numbers &numbers) {
        project(z, numbers);
        if (!evaluate(z, r.data())) return false;
        for (;;) {
            if (!linearise(z, numbers) || !direction(r, step)) return false;
            if (settled(z, step, numbers)) return true;
            if (iterations == numbers.limit) return false;
            ++iterations;
            if (!advance(z, numbers)) return false;
            largest = scaled(r);
            if (largest <= hope * numbers.tolerance) {
                if (!direction(r, correction)) return false;
                if (settled(z, correction, numbers)) return true;
            }
        }
    }

  private:
    void put(const double *z) {
        for (int64_t k = 0; k < n; ++k) w[columns.data[k]] = z[k];
    }

    bool evaluate(const double *z, double *out) {
        put(z);
        ++residuals;
        system.assign(w.data());
        system.residual(w.data(), whole.data());
        for (int64_t k = 0; k < n; ++k) out[k] = whole[rows.data[k]];
        return all_finite(out, n) && system.computed_finite(w.data());
    }

    void project(double *z, const Numbers &numbers) const {
        for (int64_t k = 0; k < n; ++k) z[k] = std::min(std::max(z[k], numbers.lower[k]), numbers.upper[k]);
    }

    // Where w was evaluated last, which is z.
    bool linearise(const double *z, const Numbers &numbers) {
        ++jacobians;
        system.partials(w.data(), parts.data());
        const int64_t nnz = system.nnz(), shift = system.value_count() - nnz;
        auto part = [&](int32_t k) { return parts[k < nnz ? k : k + shift]; };
        for (int64_t k = 0; k < dropped.shape[0]; ++k)
            if (part(dropped.data[k]) != 0) return false;
        for (int64_t c = 0; c < n; ++c) scale[c] = std::max(numbers.nominal[c], std::fabs(z[c]));
        std::fill(weight.begin(), weight.end(), 0.0);
        for (int64_t c = 0; c < n; ++c)
            for (int32_t k = indptr.data[c]; k < indptr.data[c + 1]; ++k) {
                entries[k] = part(source.data[k]) * scale[c];
                weight[indices.data[k]] += std::fabs(entries[k]);
            }
        if (!all_finite(entries.data(), (int64_t)entries.size())) return false;
        for (double &one : weight)
            if (!(one > 0 && std::isfinite(one))) one = 1;
        for (size_t k = 0; k < entries.size(); ++k) entries[k] /= weight[indices.data[k]];
        if (klu.lu.factored() && klu.lu.count() == factored_as && entries == factored) return true; // a linear plant, again
        ++factorisations;
        factored = entries;
        bool regular = klu.lu.factor(entries.data());
        factored_as = klu.lu.count();
        return regular;
    }

    bool direction(const std::vector<double> &residual, std::vector<double> &out) {
        for (int64_t k = 0; k < n; ++k) out[k] = residual[k] / weight[k];
        klu.lu.solve(out.data());
        for (double &one : out) one = -one;
        return all_finite(out.data(), n);
    }

    double scaled(const std::vector<double> &residual) const {
        double found = 0;
        for (int64_t k = 0; k < n; ++k) found = std::max(found, std::fabs(residual[k] / weight[k]));
        return found;
    }

    double mean_square(const std::vector<double> &residual) const {
        double sum = 0;
        for (int64_t k = 0; k < n; ++k) sum += (residual[k] / weight[k]) * (residual[k] / weight[k]);
        return sum / (double)n;
    }

    bool settled(double *z, const std::vector<double> &last, const Numbers &numbers) {
        double length = 0;
        for (double one : last) length = std::max(length, std::fabs(one));
        largest = scaled(r);
        if (!(length <= numbers.tolerance && largest <= numbers.tolerance)) return false;
        for (int64_t k = 0; k < n; ++k) z[k] += scale[k] * last[k];
        project(z, numbers);
        return true;
    }

    // A full step, if that is what the line search would take.
    bool advance(double *z, const Numbers &numbers) {
        const double before = mean_square(r);
        const bool near = scaled(r) <= numbers.tolerance;
        for (int64_t k = 0; k < n; ++k) trial[k] = z[k] + scale[k] * step[k];
        project(trial.data(), numbers);
        if (!evaluate(trial.data(), r_trial.data())) return false;
        const double after = mean_square(r_trial), left = scaled(r_trial);
        const bool enough = after <= (1 - 2 * descent) * before || (near && left <= numbers.tolerance);
        const bool creeping = iterations > 1 && after > slow * slow * before && left > numbers.tolerance;
        if (!enough || creeping || !std::isfinite(after)) return false;
        std::copy(trial.begin(), trial.end(), z);
        r.swap(r_trial);
        return true;
    }

    const System &system;
    Klu &klu;
    Integers rows, columns, source, indptr, indices, dropped;
    int64_t n, factored_as = 0; // which factorisation `factored` is: Python makes others with the same object
    std::vector<double> scale, weight, step, correction, trial, r, r_trial, entries, factored, parts, whole, w;
};

using Answer = std::tuple<bool, double, int, int, int, int>;

Answer solve(Newton &newton, const System &system, nb::handle z, nb::handle x, nb::handle known, double t, nb::handle nominal,
             nb::handle lower, nb::handle upper, double tolerance, int64_t limit) {
    Array<double, 1> unknowns(z, "z");
    Doubles all(x, "x"), values(known, "known"), sizes(nominal, "nominal"), low(lower, "lower"), high(upper, "upper");
    require_size(all, 2 * system.layout.size, "x");
    require_size(values, system.layout.known_size, "known");
    for (const Doubles *one : {&sizes, &low, &high}) require_size(*one, unknowns.shape[0], "what is known about z");
    nb::gil_scoped_release release;
    newton.load(all.data, values.data, t);
    bool done = newton.solve(unknowns.data, {sizes.data, low.data, high.data, tolerance, limit});
    return {done, newton.largest, newton.iterations, newton.residuals, newton.jacobians, newton.factorisations};
}

struct Held { // what Python holds: the system and the factors live as long as the iteration does
    nb::object system, klu;
    int64_t size;
    Newton newton;
};

} // namespace

void bind_newton(nb::module_ &m) {
    using namespace nb::literals;
    nb::class_<Held>(m, "Newton", "Newton's method with full steps, for some rows of a system and as many of its columns.")
        .def("__init__",
             [](Held *self, nb::object system, nb::object klu, nb::handle rows, nb::handle columns, nb::handle source, nb::handle indptr,
                nb::handle indices, nb::handle dropped) {
                 const System &s = nb::cast<const System &>(system);
                 s.check();
                 new (self) Held{system, klu, nb::len(rows) ? (int64_t)nb::len(rows) : 0,
                                 Newton(s, nb::cast<Klu &>(klu), rows, columns, source, indptr, indices, dropped)};
             },
             "system"_a, "klu"_a, "rows"_a, "columns"_a, "source"_a, "indptr"_a, "indices"_a, "dropped"_a)
        .def("solve",
             [](Held &held, nb::handle z, nb::handle x, nb::handle known, double t, nb::handle nominal, nb::handle lower,
                nb::handle upper, double tolerance, int64_t limit) {
                 require_size(Array<double, 1>(z, "z"), held.size, "z");
                 return solve(held.newton, nb::cast<const System &>(held.system), z, x, known, t, nominal, lower, upper, tolerance, limit);
             },
             "z"_a, "x"_a, "known"_a, "t"_a, "nominal"_a, "lower"_a, "upper"_a, "tolerance"_a, "limit"_a,
             "Changes z; gives whether it is a solution, its scaled residual, and the numbers of iterations and evaluations.");
}

} // namespace acausal
