#include "tangent.h"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

namespace acausal {

// ------------------------------------------------------------------------------------------------ along known cells

void Tape::check() const {
    for (const Integers *numbers : {&target, &source})
        if (largest_index(numbers->data, numbers->size(), false, "tape") >= total) throw nb::value_error("the tape points outside of its numbers");
    if (largest_index(position.data, position.size(), false, "position") >= values) throw nb::value_error("the tape points outside of its values");
    if (seeds + rows.size() > total || target.size() != source.size() || target.size() != position.size()) throw nb::value_error("the tape does not fit");
    for (const Family &family : families)
        if (family.largest_target >= values) throw nb::value_error("a kernel of the tape writes outside of its values");
}

void Tape::evaluate(const double *w, double *value) const {
    std::memset(value, 0, sizeof(double) * values);
    for (const Family &family : families) family.jacobian(w, 1.0, value);
}

WIDE void Tape::forward(const double *value, double *d, int64_t count) const {
    std::memset(d + seeds * count, 0, sizeof(double) * (total - seeds) * count);
    for (int64_t k = 0; k < target.size(); ++k) {
        double *to = d + target.data[k] * count, factor = value[position.data[k]];
        const double *from = d + source.data[k] * count;
        for (int64_t c = 0; c < count; ++c) to[c] += factor * from[c];
    }
}

WIDE void Tape::backward(const double *value, double *d, int64_t count) const {
    for (int64_t k = target.size() - 1; k >= 0; --k) {
        const double *from = d + target.data[k] * count;
        double *to = d + source.data[k] * count, factor = value[position.data[k]];
        for (int64_t c = 0; c < count; ++c) to[c] += factor * from[c];
    }
}

// ------------------------------------------------------------------------------------------------ along the steps

Tangent::Tangent(std::shared_ptr<Recorder> r, int64_t how_many) : recorder(std::move(r)), n(recorder->n), count(how_many) {}

void Tangent::use(std::shared_ptr<System> other, std::shared_ptr<Tape> with) {
    if (other->layout.size != n || other->layout.known_size != recorder->known_size) throw nb::value_error("the system is not that of the recording");
    with->check();
    bool same = system && system->indptr.data == other->indptr.data && system->indices.data == other->indices.data;
    system = std::move(other);
    tape = std::move(with);
    if (!same) lu = std::make_unique<SparseLu>(n, system->indptr, system->indices, SparseLu::Best);
    w.resize(system->layout.workspace());
    partials.resize(2 * system->value_count());
    matrix.resize(system->value_count());
    value.resize(tape->values);
    d.resize(tape->total * count);
    right.resize(n * count);
}

// Points that nearly coincide (a root right behind the end of a step) leave one of them out of the polynomials of later points.
std::vector<Tangent::Formula> Tangent::formulas(int64_t first, int64_t last) const {
    std::vector<Formula> found(last - first + 1);
    std::vector<int64_t> used{first};
    for (int64_t k = first + 1; k <= last; ++k) {
        const std::vector<double> &t = recorder->time;
        Formula &formula = found[k - first];
        if (recorder->order[k] < 0) used.assign(1, k - 1);
        int order = std::min<int>(std::max(1, std::abs(recorder->order[k])), (int)used.size());
        formula.terms = order + 1;
        formula.point[0] = k;
        for (int j = 1; j <= order; ++j) formula.point[j] = used[used.size() - j];
        for (int j = 0; j <= order; ++j) { // the derivative at t_k of Lagrange's polynomial for value j
            double weight = j ? 1 / (t[formula.point[j]] - t[k]) : 0;
            for (int i = 1; i <= order; ++i) {
                if (!j) weight += 1 / (t[k] - t[formula.point[i]]);
                else if (i != j) weight *= (t[k] - t[formula.point[i]]) / (t[formula.point[j]] - t[formula.point[i]]);
            }
            formula.slope[j] = weight;
        }
        if (used.size() > 1 && t[k] - t[used.back()] < 1e-3 * (t[used.back()] - t[used[used.size() - 2]])) used.pop_back();
        used.push_back(k);
    }
    return found;
}

void Tangent::start(int64_t point, const double *s) {
    history.clear();
    history.push_back({recorder->time[point], std::vector<double>(s, s + n * count)});
    points_of.assign(1, point);
    at = first_of_plan = point;
    int64_t last = point;
    while (last + 1 < recorder->points() && recorder->order[last + 1]) ++last;
    plan = formulas(point, last);
    last_use.assign(plan.size(), point);
    for (int64_t k = point + 1; k <= last; ++k)
        for (int j = 1; j < plan[k - point].terms; ++j) last_use[plan[k - point].point[j] - point] = k;
}

void Tangent::evaluate(int64_t point, double c0) {
    std::memcpy(w.data() + 2 * n, known.data(), sizeof(double) * recorder->known_size);
    recorder->load(point, system->layout.time_index, w.data());
    // A step that ends at a corner of a table is a step of this side, and slopes are those of the side that it came from.
    double t = recorder->time[point], step = point ? t - recorder->time[point - 1] : 0.0;
    w[system->layout.time_index] = t - 4 * std::numeric_limits<double>::epsilon() * std::max(std::abs(t), step);
    system->assign(w.data());
    system->partials(w.data(), partials.data());
    const double *slope = partials.data() + system->value_count();
    for (int64_t k = 0; k < system->nnz(); ++k) matrix[k] = partials[k] + c0 * slope[k];
    if (!lu->factor(matrix.data())) {
        ++singular;
        throw std::runtime_error("the matrix of the sensitivities is singular");
    }
    tape->evaluate(w.data(), value.data());
}

WIDE void Tangent::product(const double *x, double *y, bool transposed) const {
    const double *slope = partials.data() + system->value_count();
    const int32_t *start = system->indptr.data, *row = system->indices.data;
    for (int64_t j = 0; j < n; ++j)
        for (int32_t k = start[j]; k < start[j + 1]; ++k) {
            if (slope[k] == 0) continue;
            const double *from = x + (transposed ? row[k] : j) * count;
            double factor = slope[k];
            double *to = y + (transposed ? j : row[k]) * count;
            for (int64_t c = 0; c < count; ++c) to[c] -= factor * from[c];
        }
}

// right -= F_y' Σ c_j s_{n-j}, unknown by unknown.
WIDE void Tangent::from_history(const Formula &formula, const double *const *values) {
    const double *slope = partials.data() + system->value_count();
    const int32_t *start = system->indptr.data, *row = system->indices.data;
    past.resize(count);
    double *sum = past.data();
    for (int64_t j = 0; j < n; ++j) {
        bool any = false;
        for (int32_t k = start[j]; k < start[j + 1]; ++k) any |= slope[k] != 0;
        if (!any) continue;
        std::fill(sum, sum + count, 0.0);
        for (int i = 1; i < formula.terms; ++i) {
            const double *from = values[i] + j * count;
            double factor = formula.slope[i];
            for (int64_t c = 0; c < count; ++c) sum[c] += factor * from[c];
        }
        for (int32_t k = start[j]; k < start[j + 1]; ++k) {
            double *to = right.data() + row[k] * count, factor = slope[k];
            if (factor == 0) continue;
            for (int64_t c = 0; c < count; ++c) to[c] -= factor * sum[c];
        }
    }
}

static double weight_at(double t, const double *nodes, int terms, int j) {
    double weight = 1;
    for (int i = 0; i < terms; ++i)
        if (i != j) weight *= (t - nodes[i]) / (nodes[j] - nodes[i]);
    return weight;
}

int64_t Tangent::advance(int64_t last, const double *times, int64_t times_count, const Integers &columns, double *rows) {
    int64_t written = 0;
    for (; at < last; ++at) {
        const Formula &formula = plan[at + 1 - first_of_plan];
        evaluate(at + 1, formula.slope[0]);
        std::memcpy(d.data(), seeds.data(), sizeof(double) * tape->seeds * count);
        tape->forward(value.data(), d.data(), count);
        std::array<const double *, 7> values{};
        for (int j = 1; j < formula.terms; ++j) {
            size_t place = std::find(points_of.begin(), points_of.end(), formula.point[j]) - points_of.begin();
            values[j] = history[place].s.data();
        }
        std::fill(right.begin(), right.end(), 0.0);
        from_history(formula, values.data());
        const double *of_rows = d.data() + (tape->total - tape->rows.size()) * count;
        for (int64_t r = 0; r < tape->rows.size(); ++r)
            for (int64_t c = 0; c < count; ++c) right[tape->rows.data[r] * count + c] -= of_rows[r * count + c];
        lu->solve_many(right.data(), count);

        std::array<double, 7> nodes{};
        values[0] = right.data();
        for (int j = 0; j < formula.terms; ++j) nodes[j] = recorder->time[formula.point[j]];
        for (; written < times_count && times[written] <= nodes[0]; ++written) {
            double *row = rows + written * columns.size() * count;
            std::memset(row, 0, sizeof(double) * columns.size() * count);
            for (int j = 0; j < formula.terms; ++j) {
                double weight = weight_at(times[written], nodes.data(), formula.terms, j);
                for (int64_t m = 0; m < columns.size(); ++m)
                    for (int64_t c = 0; c < count; ++c) row[m * count + c] += weight * values[j][columns.data[m] * count + c];
            }
        }
        Value next{nodes[0], {}};
        for (size_t k = points_of.size(); k-- > 0;) // where points nearly coincide, those in between are asked no more, and others for long
            if (last_use[points_of[k] - first_of_plan] <= at + 1) {
                next.s = std::move(history[k].s);
                history.erase(history.begin() + k), points_of.erase(points_of.begin() + k);
            }
        next.s.resize(right.size());
        std::swap(next.s, right);
        history.insert(history.begin(), std::move(next));
        points_of.insert(points_of.begin(), at + 1);
    }
    return written;
}

void Tangent::turn(int64_t first, int64_t last) {
    if (first < 0 || last < first || last >= recorder->points()) throw nb::index_error("there are no such points");
    plan = formulas(first, last);
    first_of_plan = first;
    waiting.assign(last - first + 1, {});
}

std::vector<double> &Tangent::waiting_at(int64_t point) {
    std::vector<double> &found = waiting.at(point - first_of_plan);
    if (found.empty()) found.assign(n * count, 0.0);
    return found;
}

void Tangent::add(int64_t point, const double *what) {
    std::vector<double> &to = waiting_at(point);
    for (int64_t k = 0; k < n * count; ++k) to[k] += what[k];
}

// A value at a time is that of the polynomial of the step that passes it.
void Tangent::weigh(const Formula &formula, double t, const double *weighed) {
    std::array<double, 7> nodes{};
    for (int j = 0; j < formula.terms; ++j) nodes[j] = recorder->time[formula.point[j]];
    for (int j = 0; j < formula.terms; ++j) {
        double weight = weight_at(t, nodes.data(), formula.terms, j);
        std::vector<double> &to = waiting_at(formula.point[j]);
        for (int64_t m = 0; m < n * count; ++m) to[m] += weight * weighed[m];
    }
}

void Tangent::retreat(int64_t first, int64_t last, bool begins, const double *times, int64_t times_count, const double *weights, double *gradient) {
    for (int64_t k = last; k >= first + begins; --k) {
        const Formula &formula = plan.at(k - first_of_plan);
        bool rest = k == first && !begins; // rows at the time of what happened before the first step
        for (; times_count && (rest || times[times_count - 1] > recorder->time[k - 1]); --times_count)
            weigh(formula, times[times_count - 1], weights + (times_count - 1) * n * count);
        if (waiting[k - first_of_plan].empty()) continue;
        evaluate(k, formula.slope[0]);
        right = waiting[k - first_of_plan];
        lu->solve_many_transposed(right.data(), count);
        std::vector<double> past(n * count, 0.0);
        product(right.data(), past.data(), true);
        for (int j = 1; j < formula.terms; ++j) {
            std::vector<double> &to = waiting_at(formula.point[j]);
            for (int64_t m = 0; m < n * count; ++m) to[m] += formula.slope[j] * past[m];
        }
        std::fill(d.begin(), d.end(), 0.0);
        double *of_rows = d.data() + (tape->total - tape->rows.size()) * count;
        for (int64_t r = 0; r < tape->rows.size(); ++r)
            for (int64_t c = 0; c < count; ++c) of_rows[r * count + c] = -right[tape->rows.data[r] * count + c];
        tape->backward(value.data(), d.data(), count);
        for (int64_t m = 0; m < tape->seeds * count; ++m) gradient[m] += d[m];
        std::vector<double>().swap(waiting[k - first_of_plan]);
    }
    for (; times_count; --times_count) add(first, weights + (times_count - 1) * n * count);
}

// ---------------------------------------------------------------------------------------------------------------- binding

using namespace nb::literals;

namespace {

template <typename T> nb::object array_from(const std::vector<T> &values, const char *dtype) {
    nb::object made = nb::module_::import_("numpy").attr("frombuffer")(nb::bytes(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T)), "dtype"_a = dtype);
    return made.attr("copy")();
}

nb::object points_of(const Recorder &r, nb::handle which) {
    nb::object numpy = nb::module_::import_("numpy"), out = numpy.attr("empty")(nb::make_tuple(nb::len(which), r.width()));
    Array<double, 2> rows(out, "out");
    int64_t row = 0;
    for (nb::handle k : nb::iter(which)) {
        int64_t point = nb::cast<int64_t>(k);
        if (point < 0 || point >= r.points()) throw nb::index_error("there is no such point");
        std::memcpy(rows.data + row++ * r.width(), r.point(point), sizeof(double) * r.width());
    }
    return out;
}

void require_table(const Array<double, 2> &table, int64_t rows, int64_t columns, const char *name) {
    if (table.shape[0] == rows && table.shape[1] == columns) return;
    std::string text = std::string("`") + name + "` must have the shape (" + std::to_string(rows) + ", " + std::to_string(columns) + ")";
    throw nb::value_error(text.c_str());
}

} // namespace

void bind_tangent(nb::module_ &m) {
    nb::class_<Recorder>(m, "Recorder", "The points of a run, step by step.")
        .def(nb::init<int64_t, int64_t, std::vector<int32_t>>(), "size"_a, "known"_a, "cells"_a)
        .def_prop_ro("points", &Recorder::points)
        .def_prop_ro("time", [](const Recorder &r) { return array_from(r.time, "float64"); })
        .def_prop_ro("order", [](const Recorder &r) { return array_from(r.order, "int32"); })
        .def_prop_ro("starts", [](const Recorder &r) { return array_from(r.starts, "int64"); })
        .def_prop_ro("known", [](const Recorder &r) { return array_from(r.known, "float64").attr("reshape")(r.starts.size(), -1); })
        .def("values", &points_of, "points"_a, "[ y | y' | varying cells ] of some points.");
    nb::class_<Tape>(m, "Tape", "Derivatives of residuals along known cells.")
        .def("__init__",
             [](Tape *self, const System &system, nb::handle target, nb::handle position, nb::handle source, nb::handle rows, int64_t seeds, int64_t total,
                int64_t values) {
                 new (self) Tape{system.layout, {}, Integers(target, "target"), Integers(position, "position"), Integers(source, "source"), Integers(rows, "rows"), seeds, total, values};
             },
             "system"_a, "target"_a, "position"_a, "source"_a, "rows"_a, "seeds"_a, "total"_a, "values"_a)
        .def("add", [](Tape &t, uintptr_t address, nb::handle slots, nb::handle positions, nb::handle functions) {
            t.families.push_back(make_family(t.layout, address, slots, positions, functions, "positions"));
        }, "address"_a, "slots"_a, "positions"_a, "functions"_a);
    nb::class_<Tangent>(m, "Tangent", "Sensitivities along a recorded run.")
        .def(nb::init<std::shared_ptr<Recorder>, int64_t>(), "recorder"_a, "count"_a)
        .def("use", [](Tangent &t, std::shared_ptr<System> system, std::shared_ptr<Tape> tape, nb::handle known) {
            Doubles values(known, "known");
            require_size(values, t.recorder->known_size, "known");
            t.use(std::move(system), std::move(tape));
            t.known.assign(values.data, values.data + values.size());
            t.seeds.clear();
        }, "system"_a, "tape"_a, "known"_a)
        .def("set_seeds", [](Tangent &t, nb::handle seeds) {
            Array<double, 2> values(seeds, "seeds");
            t.seeds.assign(values.data, values.data + values.size());
        }, "seeds"_a)
        .def("start", [](Tangent &t, int64_t point, nb::handle s) {
            Array<double, 2> values(s, "s");
            require_table(values, t.n, t.count, "s");
            t.start(point, values.data);
        }, "point"_a, "s"_a)
        .def("advance", [](Tangent &t, int64_t last, nb::handle times, nb::handle columns, nb::handle rows) {
            Doubles at(times, "times");
            Integers chosen(columns, "columns");
            Array<double, 3> out(rows, "rows");
            nb::gil_scoped_release release;
            return t.advance(last, at.data, at.size(), chosen, out.data);
        }, "last"_a, "times"_a, "columns"_a, "rows"_a)
        .def("present", [](const Tangent &t) {
            nb::object out = nb::module_::import_("numpy").attr("empty")(nb::make_tuple(t.n, t.count));
            std::memcpy(Array<double, 2>(out, "out").data, t.present(), sizeof(double) * t.n * t.count);
            return out;
        })
        .def("turn", &Tangent::turn, "first"_a, "last"_a)
        .def("add", [](Tangent &t, int64_t point, nb::handle what) {
            Array<const double, 2> values(what, "what");
            t.add(point, values.data);
        }, "point"_a, "what"_a)
        .def("waiting", [](Tangent &t, int64_t point) {
            nb::object out = nb::module_::import_("numpy").attr("empty")(nb::make_tuple(t.n, t.count));
            std::memcpy(Array<double, 2>(out, "out").data, t.waiting_at(point).data(), sizeof(double) * t.n * t.count);
            return out;
        }, "point"_a)
        .def("retreat", [](Tangent &t, int64_t first, int64_t last, bool begins, nb::handle times, nb::handle weights, nb::handle gradient) {
            Doubles at(times, "times");
            Array<const double, 3> weighed(weights, "weights");
            Array<double, 2> total(gradient, "gradient");
            nb::gil_scoped_release release;
            t.retreat(first, last, begins, at.data, at.size(), weighed.data, total.data);
        }, "first"_a, "last"_a, "begins"_a, "times"_a, "weights"_a, "gradient"_a);
}

} // namespace acausal
