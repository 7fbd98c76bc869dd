#include "fixed.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>

namespace acausal {

namespace {
constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr double converged = 0.01; // a correction of this part of the tolerance is the last one
double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
} // namespace

Fixed::Fixed(std::shared_ptr<System> s, Outputs o, Doubles known, Doubles atol, FixedSettings chosen)
    : system(std::move(s)), outputs(std::move(o)), settings(chosen), gaps(system), n(system->layout.size), w(new double[system->layout.workspace()]()),
      w_out(new double[system->layout.workspace()]()), absolute(atol.data, atol.data + atol.shape[0]), jacobian(system->value_count()),
      residual(n), now(2 * n), before(2 * n), earlier(2 * n), lu(n, system->indptr, system->indices, SparseLu::AMD) {
    system->check();
    outputs.check();
    set_known(known.data);
    found.assign(system->root_count, 0);
}

void Fixed::set_known(const double *values) {
    std::memcpy(w.get() + 2 * n, values, sizeof(double) * system->layout.known_size);
    std::memcpy(w_out.get() + 2 * n, values, sizeof(double) * system->layout.known_size);
    roots_known = false;
    gaps.forget();
    fresh = false;
}

// The grid is that of the first start: where events lie has no influence on where later steps end.
void Fixed::start(double t0, const double *y0, const double *yp0, double) {
    if (!started) origin = t0;
    else if (t == t0 && t > recorded) record(); // left within a step: what was before whatever happens here
    started = true;
    t = begin = end = t0;
    std::memcpy(w.get(), y0, sizeof(double) * n);
    std::memcpy(w.get() + n, yp0, sizeof(double) * n);
    now.assign(w.get(), w.get() + 2 * n);
    last_step = step_before = 0;
    points = 1;
    roots_known = to_update = fresh = false;
    gaps.forget();
    record();
}

// As Ida does: histories (delays.cpp) begin a new segment where steps begin.
bool Fixed::record() {
    if (!system->step_cells.size() || !at(t, w.get())) return false;
    updated.resize(system->step_cells.size());
    system->step_update(w.get(), updated.data());
    recorded = t;
    return true;
}

bool Fixed::at(double time, double *workspace) {
    workspace[system->layout.time_index] = time;
    if (!inputs.empty() && !inputs.evaluate(time, workspace)) {
        nb::gil_scoped_acquire acquire;
        if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) PyErr_Clear(), interrupted = true;
        else exception = std::make_unique<nb::python_error>();
        return false;
    }
    system->assign(workspace);
    return true;
}

void Fixed::workspace(double *out) {
    if (at(t, w.get())) std::memcpy(out, w.get(), sizeof(double) * system->layout.workspace());
}

void Fixed::lend(std::shared_ptr<System> other) {
    if (other->layout.size != n || other->layout.workspace() != system->layout.workspace())
        throw std::runtime_error("equations can only be lent for the same unknowns");
    other->check();
    system = std::move(other);
    consistency.reset();
}

Consistency::Answer Fixed::consistent(double time, double *y, double *yp, const bool *differential, const double *nominal) {
    if (!consistency) consistency = std::make_unique<Consistency>(*system, SparseLu::AMD);
    std::vector<double> present(w.get(), w.get() + 2 * n);
    std::memcpy(w.get(), y, sizeof(double) * n);
    std::memcpy(w.get() + n, yp, sizeof(double) * n);
    Consistency::Answer answer{false, 0};
    if (at(time, w.get())) answer = consistency->solve(w.get(), differential, nominal, 1e-10, 20);
    if (answer.ok) {
        std::memcpy(y, w.get(), sizeof(double) * n);
        std::memcpy(yp, w.get() + n, sizeof(double) * n);
    }
    std::memcpy(w.get(), present.data(), sizeof(double) * 2 * n);
    return answer;
}

// ------------------------------------------------------------------------------------------------ one step

double Fixed::size_of(const std::vector<double> &correction) const {
    double largest = 0;
    for (int64_t i = 0; i < n; ++i) {
        double size = std::fabs(correction[i]) / (settings.rtol * std::fabs(w[i]) + absolute[i]);
        if (!(size <= largest)) largest = size;
    }
    return largest;
}

// Newton's iteration for y at `time`, where y' = cj y + what is in w[n …] minus cj times what is in w[0 …]. The factors of an earlier
// step serve as long as cj is the same and the iteration is quick.
int Fixed::solve(double time, double cj) {
    bool own = !fresh || cj != factored_cj;
    for (int attempt = 0; attempt < 2; ++attempt, own = true) {
        std::vector<double> first(w.get(), w.get() + 2 * n);
        double last = std::numeric_limits<double>::infinity();
        for (int k = 0; k < settings.max_iterations; ++k) {
            if (!at(time, w.get())) return Cancelled;
            system->residual(w.get(), residual.data());
            ++residuals, ++iterations;
            if (!all_finite(residual.data(), n) || !system->computed_finite(w.get())) {
                ++non_finite, non_finite_time = time;
                non_finite_values.assign(w.get(), w.get() + 2 * n);
                return NotFinite;
            }
            if (own && k < 2) {
                system->jacobian(w.get(), cj, jacobian.data());
                ++jacobians;
                if (!all_finite(jacobian.data(), system->nnz())) return NotFinite;
                if (!lu.factor(jacobian.data())) return singular_column = lu.singular_column(), Singular;
                factored_cj = cj, fresh = true;
            }
            lu.solve(residual.data());
            for (int64_t i = 0; i < n; ++i) w[i] -= residual[i], w[n + i] -= cj * residual[i];
            double size = size_of(residual);
            most_iterations = std::max<int64_t>(most_iterations, k + 1);
            if (size <= converged) return Finished;
            if (!std::isfinite(size) || (!own && size > 0.5 * last)) break; // too slow with old factors
            last = size;
        }
        if (own) break;
        std::copy(first.begin(), first.end(), w.get());
    }
    fresh = false;
    return Convergence;
}

int Fixed::step(double stop) {
    double h = settings.step, grid = origin + (std::floor((end - origin) / h + 1e-9) + 1) * h;
    double to = std::min(stop, grid);
    if (grid - to < 1e-9 * h) to = grid <= stop ? grid : stop;
    h = to - end;
    bool two = settings.order == 2 && points > 1;
    double ratio = two ? h / step_before : 0, cj = two ? (1 + 2 * ratio) / ((1 + ratio) * h) : 1 / h;
    if (two) std::swap(earlier, before); // `before` is the point before the last one now, in `earlier`
    std::swap(before, now);
    double a = two ? (1 + ratio) / h : 1 / h, b = two ? ratio * ratio / ((1 + ratio) * h) : 0;
    for (int64_t i = 0; i < n; ++i) {
        double past = two ? -a * before[i] + b * earlier[i] : -a * before[i];
        w[i] = points > 1 ? before[i] + h * before[n + i] : before[i];
        w[n + i] = cj * w[i] + past;
    }
    int status = solve(to, cj);
    if (status != Finished) {
        std::swap(before, now);
        if (two) std::swap(earlier, before);
        std::copy(now.begin(), now.end(), w.get());
        return status;
    }
    now.assign(w.get(), w.get() + 2 * n);
    begin = end, end = to;
    last_step = step_before = h;
    ++points, ++steps;
    to_update = true;
    return Finished;
}

// The polynomial with the values at both ends and the slope at the later one.
void Fixed::interpolate(double time, double *workspace) const {
    double h = end - begin, s = time - end;
    if (time >= end || h <= 0) {
        std::memcpy(workspace, now.data(), sizeof(double) * 2 * n);
        return;
    }
    for (int64_t i = 0; i < n; ++i) {
        double slope = now[n + i], curve = (before[i] - now[i] + h * slope) / (h * h);
        workspace[i] = now[i] + s * (slope + s * curve);
        workspace[n + i] = slope + 2 * s * curve;
    }
}

// ------------------------------------------------------------------------------------------------ roots, updates, output

void Fixed::evaluate_roots(double time, std::vector<double> &values) {
    interpolate(time, w_out.get());
    values.resize(system->root_count);
    if (!at(time, w_out.get())) return;
    system->root(w_out.get(), values.data());
    gaps.fill(values.data(), t, time, w_out.get(), [this](double when, double *there) {
        if (!points) return false;
        interpolate(when, there);
        return at(when, there);
    });
}

bool Fixed::cross(double target) {
    if (!system->root_count) return false;
    if (!roots_known) evaluate_roots(t, root_before);
    roots_known = true;
    evaluate_roots(target, root_now);
    auto crosses = [&](const std::vector<double> &after) {
        for (size_t k = 0; k < after.size(); ++k)
            if (root_before[k] * after[k] < 0 || (root_before[k] != 0 && after[k] == 0)) return true;
        return false;
    };
    if (!crosses(root_now)) {
        root_before = root_now;
        t = target;
        return false;
    }
    double low = t, high = target, close = 100 * epsilon * (std::fabs(target) + last_step);
    std::vector<double> middle;
    while (high - low > close) {
        double time = 0.5 * (low + high);
        evaluate_roots(time, middle);
        if (crosses(middle)) high = time, root_now = middle;
        else low = time;
    }
    for (size_t k = 0; k < root_now.size(); ++k) {
        bool here = root_before[k] * root_now[k] < 0 || (root_before[k] != 0 && root_now[k] == 0);
        found[k] = here ? (root_before[k] < 0 ? 1 : -1) : 0;
    }
    root_before = root_now;
    t = high;
    return true;
}

bool Fixed::update_after_step() {
    const Integers &cells = system->step_cells;
    if (!cells.size() || !(to_update || t > recorded)) return false;
    bool first = to_update; // in this step: a later root is for histories only
    to_update = false;
    if (!record() || !first) return false;
    bool changed = false;
    for (int64_t k = 0; k < cells.size(); ++k) {
        double &cell = w[2 * n + cells.data[k]];
        changed |= system->step_watched.data[k] && cell != updated[k];
        cell = w_out[2 * n + cells.data[k]] = updated[k];
    }
    if (changed) roots_known = false, gaps.forget();
    return changed;
}

void Fixed::write_row(double time, double *out) {
    interpolate(time, w_out.get());
    if (at(time, w_out.get())) outputs.row(w_out.get(), out);
}

int64_t Fixed::write_rows(double until, const double *times, int64_t count, double *rows, int64_t written) {
    for (; written < count && times[written] <= until; ++written) write_row(times[written], rows + written * outputs.width());
    return written;
}

bool Fixed::poll() {
    double time = seconds();
    if (time - asked < progress_interval) return true;
    asked = time;
    nb::gil_scoped_acquire acquire;
    bool go_on = PyErr_CheckSignals() == 0;
    if (go_on && !progress.is_none()) {
        PyObject *answer = PyObject_CallFunction(progress.ptr(), "d", t);
        go_on = answer && answer != Py_False;
        Py_XDECREF(answer);
    }
    if (PyErr_Occurred()) {
        if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) PyErr_Clear(), interrupted = true;
        else exception = std::make_unique<nb::python_error>();
    }
    return go_on;
}

int Fixed::advance(double t_end, double stop, const double *times, int64_t count, double *rows, int64_t &written) {
    double nearest = t + 8 * epsilon * std::max(std::fabs(t), std::fabs(t_end));
    written = write_rows(std::min(nearest, t + 8 * epsilon * std::fabs(t)), times, count, rows, 0);
    if (t_end <= nearest) return t = std::max(t, t_end), Finished;
    int64_t tick = 0;
    while (t < t_end) {
        if (t >= end) {
            if (settings.max_steps && steps >= settings.max_steps) return TooManySteps;
            int status = step(stop);
            if (status != Finished) return exception || interrupted ? (int)Cancelled : status;
        }
        double target = std::min(end, t_end);
        bool crossed = cross(target);
        if (!crossed) t = target;
        written = write_rows(t, times, count, rows, written);
        interpolate(t, w.get());
        bool assigned = (crossed || t >= end) && update_after_step();
        if (crossed) return Root;
        if (assigned) return Assigned;
        if (exception || interrupted || (++tick % 64 == 0 && !poll())) return Cancelled;
    }
    return Finished;
}

// ------------------------------------------------------------------------------------------------ binding

namespace {

using namespace nb::literals;

nb::object array_of(const double *data, int64_t n) {
    nb::object result = nb::module_::import_("numpy").attr("empty")(n);
    std::memcpy(Array<double, 1>(result, "result").data, data, sizeof(double) * n);
    return result;
}

void raise_kept(Fixed &f) {
    if (!f.exception) return;
    nb::python_error error = *f.exception;
    f.exception.reset();
    throw error;
}

} // namespace

void bind_fixed(nb::module_ &m) {
    nb::class_<Fixed>(m, "Fixed", "A session of a fixed-step implicit formula; see fixed.h.")
        .def("__init__",
             [](Fixed *self, std::shared_ptr<System> system, nb::handle known, double rtol, nb::handle atol, const Outputs &outputs, double step,
                int order, int max_iterations, int64_t max_steps) {
                 Doubles k(known, "known"), a(atol, "atol");
                 require_size(k, system->layout.known_size, "known");
                 require_size(a, system->layout.size, "atol");
                 if (!(step > 0)) throw nb::value_error("`step` must be positive");
                 new (self) Fixed(system, outputs, k, a, FixedSettings{step, rtol, order, max_iterations, max_steps});
                 self->progress = nb::none();
             },
             "system"_a, "known"_a, "rtol"_a, "atol"_a, "outputs"_a, nb::kw_only(), "step"_a, "order"_a, "max_iterations"_a, "max_steps"_a)
        .def("start",
             [](Fixed &f, double t, nb::handle y, nb::handle yp, double step) {
                 Doubles a(y, "y"), b(yp, "yp");
                 require_size(a, f.system->layout.size, "y");
                 require_size(b, f.system->layout.size, "yp");
                 f.start(t, a.data, b.data, step);
             },
             "t"_a, "y"_a, "yp"_a, "step"_a = 0.0)
        .def("advance",
             [](Fixed &f, double t_end, nb::handle output_times, nb::handle rows, nb::object progress, double interval, double, double stop) {
                 if (!f.started) throw std::runtime_error("start() must come before advance()");
                 Doubles times(output_times, "output_times");
                 Array<double, 2> buffer(rows, "rows");
                 if (buffer.shape[0] < times.shape[0] || buffer.shape[1] != f.outputs.width()) throw nb::value_error("`rows` is too small");
                 f.progress = std::move(progress);
                 f.progress_interval = interval;
                 int64_t written = 0;
                 int status;
                 {
                     nb::gil_scoped_release release;
                     status = f.advance(t_end, std::max(stop, t_end), times.data, times.shape[0], buffer.data, written);
                 }
                 f.progress = nb::none();
                 raise_kept(f);
                 return nb::make_tuple(status, written);
             },
             "t_end"_a, "output_times"_a, "rows"_a, "progress"_a = nb::none(), "progress_interval"_a = 0.1,
             "stored_until"_a = -std::numeric_limits<double>::infinity(), "stop"_a = -std::numeric_limits<double>::infinity())
        .def("set_known",
             [](Fixed &f, nb::handle known) {
                 Doubles values(known, "known");
                 require_size(values, f.system->layout.known_size, "known");
                 f.set_known(values.data);
             },
             "known"_a)
        .def("lend", &Fixed::lend, "system"_a)
        .def("consistent",
             [](Fixed &f, double t, nb::handle y, nb::handle yp, nb::handle differential, nb::handle nominal) {
                 int64_t n = f.system->layout.size;
                 Array<double, 1> a(y, "y"), b(yp, "yp");
                 Array<const bool, 1> mask(differential, "differential");
                 Doubles sizes(nominal, "nominal");
                 require_size(a, n, "y");
                 require_size(b, n, "yp");
                 require_size(mask, n, "differential");
                 require_size(sizes, n, "nominal");
                 Consistency::Answer answer = f.consistent(t, a.data, b.data, mask.data, sizes.data);
                 raise_kept(f);
                 return nb::make_tuple(answer.ok, answer.iterations);
             },
             "t"_a, "y"_a, "yp"_a, "differential"_a, "nominal"_a)
        .def("row",
             [](Fixed &f, nb::handle out) {
                 Array<double, 1> result(out, "out");
                 require_size(result, f.outputs.width(), "out");
                 f.row(result.data);
                 raise_kept(f);
             },
             "out"_a)
        .def("workspace",
             [](Fixed &f, nb::handle out) {
                 Array<double, 1> result(out, "out");
                 require_size(result, f.system->layout.workspace(), "out");
                 f.workspace(result.data);
                 raise_kept(f);
             },
             "out"_a)
        .def("add_table",
             [](Fixed &f, int64_t cell, nb::handle times, nb::handle values, nb::handle slopes, bool rate) {
                 f.inputs.add_table(2 * f.system->layout.size + cell, times, values, slopes, rate);
             },
             "cell"_a, "times"_a, "values"_a, "slopes"_a = nb::none(), "rate"_a = false)
        .def("add_function",
             [](Fixed &f, int64_t cell, nb::object function) { f.inputs.add_function(2 * f.system->layout.size + cell, std::move(function)); },
             "cell"_a, "function"_a)
        .def("clear_inputs", [](Fixed &f) { f.inputs.clear(); })
        .def("roots",
             [](const Fixed &f) {
                 nb::object result = nb::module_::import_("numpy").attr("empty")(f.found.size(), "dtype"_a = "int32");
                 if (!f.found.empty()) std::memcpy(Array<int32_t, 1>(result, "result").data, f.found.data(), sizeof(int32_t) * f.found.size());
                 return result;
             })
        .def("take_silent", [](Fixed &f) { return as_list(f.gaps.take()); })
        .def("statistics",
             [](const Fixed &f) {
                 nb::dict d, times;
                 d["steps"] = f.steps;
                 d["residual_evaluations"] = f.residuals;
                 d["jacobian_evaluations"] = f.jacobians;
                 d["linear_setups"] = f.jacobians;
                 d["nonlinear_iterations"] = f.iterations;
                 d["most_iterations"] = f.most_iterations;
                 d["error_test_failures"] = 0;
                 d["convergence_failures"] = 0;
                 d["non_finite_evaluations"] = f.non_finite;
                 d["seconds"] = times;
                 return d;
             })
        .def_prop_ro("t", [](const Fixed &f) { return f.t; })
        .def_ro("last_step", &Fixed::last_step)
        .def_prop_ro("y", [](const Fixed &f) { return array_of(f.y(), f.system->layout.size); })
        .def_prop_ro("yp", [](const Fixed &f) { return array_of(f.yp(), f.system->layout.size); })
        .def_prop_ro("message", [](const Fixed &) { return ""; })
        .def_prop_ro("singular_column", [](const Fixed &f) { return f.singular_column; })
        .def_prop_ro("interrupted", [](const Fixed &f) { return f.interrupted; })
        .def_prop_ro("non_finite", [](const Fixed &f) -> nb::object {
            if (!f.non_finite) return nb::none();
            int64_t n = f.system->layout.size;
            const double *values = f.non_finite_values.data();
            return nb::make_tuple(f.non_finite_time, array_of(values, n), array_of(values + n, n));
        });
}

} // namespace acausal
