// The Python face of the IDAS session.
#include "ida.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace acausal {

namespace {

using namespace nb::literals;

// Sessions belong to one thread at a time; a callback must not drive the session it is called from.
struct Exclusive {
    Ida &ida;
    explicit Exclusive(Ida &i) : ida(i) {
        if (ida.busy.exchange(true)) throw std::runtime_error("this solver session is already running");
    }
    ~Exclusive() { ida.busy = false; }
};

nb::object array_of(const double *data, int64_t n) {
    nb::object result = nb::module_::import_("numpy").attr("empty")(n);
    std::memcpy(Array<double, 1>(result, "result").data, data, sizeof(double) * n);
    return result;
}

void check_settings(const Settings &s) {
    if (!(s.rtol >= 0)) throw nb::value_error("`rtol` must not be negative");
    if (s.max_order < 1 || s.max_order > 5) throw nb::value_error("`max_order` must be 1 … 5");
    if (!(s.max_step >= 0) || !(s.initial_step >= 0)) throw nb::value_error("`max_step` and `initial_step` must not be negative");
    if (s.max_steps < 0) throw nb::value_error("`max_steps` must not be negative");
}

// A mask that may be left out: then it is empty of truths.
std::vector<char> mask_of(nb::handle given, int64_t n, const char *name) {
    std::vector<char> mask(n, 0);
    if (given.is_none()) return mask;
    Array<const bool, 1> values(given, name);
    require_size(values, n, name);
    std::copy(values.data, values.data + n, mask.begin());
    return mask;
}

struct Masks {
    Masks(nb::handle tested, nb::handle algebraic, nb::handle derivative, int64_t n)
        : tested(mask_of(tested, n, "tested")), algebraic(mask_of(algebraic, n, "algebraic")),
          derivative(mask_of(derivative, n, "derivative")) {}
    Kinds kinds() const {
        auto of = [](const std::vector<char> &mask) { return reinterpret_cast<const bool *>(mask.data()); };
        return {of(tested), of(algebraic), of(derivative)};
    }
    std::vector<char> tested, algebraic, derivative;
};

void create(Ida *self, std::shared_ptr<System> system, nb::handle known, double rtol, nb::handle atol, nb::handle tested,
            std::optional<Outputs> outputs, nb::handle algebraic, nb::handle derivative, int max_order, double max_step, double initial_step, int64_t max_steps, bool suppress_algebraic,
            const std::string &ordering, int max_nonlinear_iterations, int max_convergence_failures, int max_error_test_failures,
            double nonlinear_tolerance, bool record_steps) {
    int64_t n = system->layout.size;
    Doubles k(known, "known"), a(atol, "atol");
    require_size(k, system->layout.known_size, "known");
    require_size(a, n, "atol");
    Masks masks(tested, algebraic, derivative, n);
    if (system->layout.equations != n) throw nb::value_error("a system with more or fewer equations than unknowns cannot be integrated");
    if (n == 0) throw nb::value_error("a system without unknowns needs no solver");
    if (system->indptr.shape[0] != n + 1) throw nb::value_error("the system has no Jacobian pattern: call set_pattern() first");
    Settings settings{rtol, max_order, max_step, initial_step, max_steps, suppress_algebraic, ordering_of(ordering),
                      max_nonlinear_iterations, max_convergence_failures, max_error_test_failures, nonlinear_tolerance, record_steps};
    check_settings(settings);
    new (self) Ida(system, outputs ? *outputs : system->outputs, k, a, masks.kinds(), settings);
    self->progress = nb::none();
}

void start(Ida &ida, double t, nb::handle y, nb::handle yp, double step) {
    Exclusive guard(ida);
    Doubles a(y, "y"), b(yp, "yp");
    require_size(a, ida.system->layout.size, "y");
    require_size(b, ida.system->layout.size, "yp");
    if (!(step >= 0)) throw nb::value_error("`step` must not be negative");
    ida.start(t, a.data, b.data, step);
}

// What a Python function raised while the session evaluated it.
void raise_kept(Ida &ida) {
    if (!ida.exception) return;
    nb::python_error error = *ida.exception;
    ida.exception.reset();
    throw error;
}

nb::tuple advance(Ida &ida, double t_end, nb::handle output_times, nb::handle rows, nb::object progress, double interval,
                  double stored_until, double stop) {
    Exclusive guard(ida);
    if (!ida.started) throw std::runtime_error("start() must come before advance()");
    Doubles times(output_times, "output_times");
    Array<double, 2> buffer(rows, "rows");
    if (buffer.shape[0] < times.shape[0] || buffer.shape[1] != ida.outputs.width()) {
        std::string text = "`rows` must have the shape (" + std::to_string(times.shape[0]) + " or more, " + std::to_string(ida.outputs.width()) +
                           "), not (" + std::to_string(buffer.shape[0]) + ", " + std::to_string(buffer.shape[1]) + ")";
        throw nb::value_error(text.c_str());
    }
    ida.progress = std::move(progress);
    ida.progress_interval = interval;
    ida.last_stored = stored_until;
    int64_t written = 0;
    Status status;
    {
        nb::gil_scoped_release release;
        status = ida.advance(t_end, std::max(stop, t_end), times.data, times.shape[0], buffer.data, buffer.shape[0], written);
    }
    ida.progress = nb::none();
    raise_kept(ida);
    return nb::make_tuple((int)status, written);
}

nb::tuple consistent(Ida &ida, double t, nb::handle y, nb::handle yp, nb::handle differential, nb::handle nominal, double tolerance,
                     int max_iterations) {
    Exclusive guard(ida);
    int64_t n = ida.system->layout.size;
    Array<double, 1> a(y, "y"), b(yp, "yp");
    Array<const bool, 1> mask(differential, "differential");
    Doubles sizes(nominal, "nominal");
    require_size(a, n, "y");
    require_size(b, n, "yp");
    require_size(mask, n, "differential");
    require_size(sizes, n, "nominal");
    Consistency::Answer answer;
    {
        nb::gil_scoped_release release;
        answer = ida.consistent(t, a.data, b.data, mask.data, sizes.data, tolerance, max_iterations);
    }
    raise_kept(ida);
    return nb::make_tuple(answer.ok, answer.iterations);
}

void set_cells(Ida &ida, nb::handle cells, nb::handle values) {
    Exclusive guard(ida);
    Integers c(cells, "cells");
    Doubles v(values, "values");
    require_size(v, c.shape[0], "values");
    int64_t largest = largest_index(c.data, c.size(), false, "cells"), known = ida.system->layout.known_size;
    if (largest >= known)
        throw nb::value_error(("`cells` holds " + std::to_string(largest) + ", outside the " + std::to_string(known) + " known values").c_str());
    ida.set_cells(c.data, v.data, c.size());
}

// A part of where the session is, written into an array of the caller.
template <auto Write> void write_present(Ida &ida, nb::handle out, int64_t size) {
    Exclusive guard(ida);
    if (!ida.started) throw std::runtime_error("start() must come first");
    Array<double, 1> result(out, "out");
    require_size(result, size, "out");
    (ida.*Write)(result.data);
    raise_kept(ida);
}

void set_known(Ida &ida, nb::handle known) {
    Exclusive guard(ida);
    Doubles values(known, "known");
    require_size(values, ida.system->layout.known_size, "known");
    ida.set_known(values.data);
}

int64_t input_cell(const Ida &ida, int64_t cell) {
    const Layout &layout = ida.system->layout;
    if (cell < 0 || cell >= layout.known_size)
        throw nb::value_error(("`cell` is " + std::to_string(cell) + ", outside the " + std::to_string(layout.known_size) + " known values").c_str());
    return 2 * layout.size + cell;
}

nb::object roots(Ida &ida) {
    std::vector<int> found(ida.system->root_count);
    if (!found.empty() && ida.started) ida.found_roots(found.data());
    nb::object result = nb::module_::import_("numpy").attr("empty")(found.size(), "dtype"_a = "int32");
    if (!found.empty()) std::memcpy(Array<int32_t, 1>(result, "result").data, found.data(), sizeof(int) * found.size());
    return result;
}

void set_root_directions(Ida &ida, nb::handle directions) {
    Integers d(directions, "directions");
    require_size(d, ida.system->root_count, "directions");
    if (!ida.started) throw std::runtime_error("start() must come before set_root_directions()");
    if (d.size()) ida.set_root_directions(d.data);
}

double last_step(const Ida &ida) {
    double step = 0;
    if (ida.started) IDAGetLastStep(ida.memory(), &step);
    return step;
}

nb::dict statistics(const Ida &ida) {
    Counters c = ida.counters();
    int last_order = 0, order = 0;
    double last_step = 0, step = 0, first_step = 0;
    if (ida.started) {
        IDAGetLastOrder(ida.memory(), &last_order);
        IDAGetCurrentOrder(ida.memory(), &order);
        IDAGetLastStep(ida.memory(), &last_step);
        IDAGetCurrentStep(ida.memory(), &step);
        IDAGetActualInitStep(ida.memory(), &first_step);
    }
    nb::dict d, seconds;
    d["steps"] = c.steps;
    d["residual_evaluations"] = c.residuals;
    d["jacobian_evaluations"] = c.jacobians;
    d["linear_setups"] = c.setups;
    d["nonlinear_iterations"] = c.nonlinear_iterations;
    d["error_test_failures"] = c.error_test_failures;
    d["convergence_failures"] = c.convergence_failures;
    d["order_limits"] = ida.orders_limited;
    d["bends"] = ida.bends.passed;
    d["root_evaluations"] = c.roots;
    d["non_finite_evaluations"] = ida.non_finite.count;
    d["singular_setups"] = ida.singular_setups;
    d["full_factorisations"] = ida.lu->full_factorisations;
    d["refactorisations"] = ida.lu->refactorisations;
    d["factor_entries"] = ida.lu->fill();
    d["first_step"] = first_step;
    d["last_step"] = last_step;
    d["current_step"] = step;
    d["last_order"] = last_order;
    d["current_order"] = order;
    seconds["residual"] = ida.residual_time.total();
    seconds["jacobian"] = ida.jacobian_time.total();
    seconds["factorisation"] = ida.factor_time.total();
    seconds["solution"] = ida.solve_time.total();
    seconds["roots"] = ida.root_time.total();
    seconds["output"] = ida.output_time.total();
    seconds["watch"] = ida.watch_time.total();
    seconds["total"] = ida.advance_seconds;
    d["seconds"] = seconds;
    return d;
}

// Estimated local error of the last step over what is allowed, unknown by unknown: which of them limit the step.
nb::object weighted_errors(const Ida &ida) {
    int64_t n = ida.system->layout.size;
    std::vector<double> errors(n), weights(n);
    if (!ida.started) return array_of(errors.data(), n);
    ida.local_errors(errors.data(), weights.data());
    for (int64_t i = 0; i < n; ++i) errors[i] = std::fabs(errors[i] * weights[i]);
    return array_of(errors.data(), n);
}

void exchange(Ida &ida, std::shared_ptr<System> system, nb::handle tested, nb::handle algebraic, nb::handle derivative) {
    Exclusive guard(ida);
    Masks masks(tested, algebraic, derivative, ida.system->layout.size);
    ida.exchange(std::move(system), masks.kinds());
}

void set_watch(Ida &ida, std::shared_ptr<System> system, nb::handle source, nb::handle pointers, nb::handle rows, nb::handle positions,
               nb::handle scale, double limit) {
    Integers cells(source, "source");
    require_size(cells, system->layout.workspace(), "source");
    if (largest_index(cells.data, cells.size(), false, "source") >= ida.system->layout.workspace())
        throw nb::value_error("`source` points outside the workspace");
    ida.watch = std::make_unique<Watch>(system, cells, Integers(pointers, "pointers"), Integers(rows, "rows"),
                                        Integers(positions, "positions"), Doubles(scale, "scale"), limit);
}

void set_switches(Ida &ida, std::shared_ptr<Switches> switches) {
    Exclusive guard(ida);
    ida.set_switches(std::move(switches));
}

void set_bends(Ida &ida, nb::handle times, nb::handle differential, nb::handle nominal, double restart_step) {
    Exclusive guard(ida);
    int64_t n = ida.system->layout.size;
    Doubles at(times, "times"), sizes(nominal, "nominal");
    Array<const bool, 1> mask(differential, "differential");
    require_size(sizes, n, "nominal");
    require_size(mask, n, "differential");
    for (int64_t k = 1; k < at.size(); ++k)
        if (!(at.data[k] > at.data[k - 1])) throw nb::value_error("`times` must increase strictly");
    Bends bends;
    bends.times.assign(at.data, at.data + at.size());
    bends.differential.assign(mask.data, mask.data + n);
    bends.nominal.assign(sizes.data, sizes.data + n);
    bends.restart_step = restart_step;
    ida.set_bends(std::move(bends));
}

nb::dict take_events(Ida &ida) {
    Exclusive guard(ida);
    if (!ida.switches) throw std::runtime_error("there are no switches in this session");
    nb::dict taken = ida.switches->records.as_dict();
    ida.switches->records.clear();
    return taken;
}

// (t, y, y') of the last evaluation that gave something not finite, or None.
nb::object non_finite(const Ida &ida) {
    if (!ida.non_finite.count) return nb::none();
    int64_t n = ida.system->layout.size;
    return nb::make_tuple(ida.non_finite.t, array_of(ida.non_finite.w.data(), n), array_of(ida.non_finite.w.data() + n, n));
}

} // namespace

void bind_ida(nb::module_ &m) {
    nb::class_<Journal>(m, "Journal", "Steps and failures of a session.").def("as_dict", &Journal::as_dict);
    nb::class_<Ida>(m, "Ida", "A session of IDAS with KLU: start, advance to an end or a root, decide, go on.")
        .def("__init__", &create, "system"_a, "known"_a, "rtol"_a, "atol"_a, "tested"_a, "outputs"_a = nb::none(), nb::kw_only(), "algebraic"_a = nb::none(), "derivative"_a = nb::none(),
             "max_order"_a, "max_step"_a, "initial_step"_a, "max_steps"_a, "suppress_algebraic"_a = true, "ordering"_a,
             "max_nonlinear_iterations"_a, "max_convergence_failures"_a, "max_error_test_failures"_a, "nonlinear_tolerance"_a,
             "record_steps"_a)
        .def("start", &start, "t"_a, "y"_a, "yp"_a, "step"_a = 0.0, "`step`: a time within which slopes change little, if one is known, for the first step.")
        .def("reinit", &start, "t"_a, "y"_a, "yp"_a, "step"_a = 0.0, "The same as start(): nothing is allocated or analysed again.")
        .def("advance", &advance, "t_end"_a, "output_times"_a, "rows"_a, "progress"_a = nb::none(), "progress_interval"_a = 0.1,
             "stored_until"_a = -std::numeric_limits<double>::infinity(), "stop"_a = -std::numeric_limits<double>::infinity(),
             "Returns (status, output times written). With switches `rows` may have rows for events as well, two for each; "
             "`stored_until` is the time of the last row before. Steps pass t_end, and the session goes back to it, where `stop` is later.")
        .def("set_switches", &set_switches, "switches"_a.none(), "Handle ordinary events within advance(); None: none.")
        .def("set_bends", &set_bends, "times"_a, "differential"_a, "nominal"_a, "restart_step"_a, "Begin anew at these times, at which inputs bend, within advance().")
        .def("take_events", &take_events, "Events handled and rows stored since this was last called.")
        .def("take_silent", [](Ida &ida) { return ida.gaps ? as_list(ida.gaps->take()) : nb::list(); },
             "Relations that have no value, each once: (row, time, workspace).")
        .def("set_known", &set_known, "known"_a)
        .def("set_cells", &set_cells, "cells"_a, "values"_a, "Set some cells of known.")
        .def("row", [](Ida &ida, nb::handle out) { write_present<&Ida::row>(ida, out, ida.outputs.width()); }, "out"_a,
             "Write what is stored at an output time, where the session is now.")
        .def("workspace", [](Ida &ida, nb::handle out) { write_present<&Ida::workspace>(ida, out, ida.system->layout.workspace()); }, "out"_a,
             "Write [ y | y' | known ] where the session is now, with time, inputs and computed cells up to date.")
        .def("consistent", &consistent, "t"_a, "y"_a, "yp"_a, "differential"_a, "nominal"_a, "tolerance"_a = 1e-10, "max_iterations"_a = 20,
             "Solve for y of algebraic and y' of differential unknowns, in place; returns (ok, iterations). See consistent.h.")
        .def("add_table",
             [](Ida &ida, int64_t cell, nb::handle times, nb::handle values, nb::handle slopes, bool rate) {
                 ida.inputs.add_table(input_cell(ida, cell), times, values, slopes, rate);
             },
             "cell"_a, "times"_a, "values"_a, "slopes"_a = nb::none(), "rate"_a = false, "Cell `cell` of known follows a table; cubic if slopes are given; its rate if asked for.")
        .def("add_function", [](Ida &ida, int64_t cell, nb::object f) { ida.inputs.add_function(input_cell(ida, cell), std::move(f)); },
             "cell"_a, "function"_a, "Cell `cell` of known is function(t).")
        .def("refresh_jacobian", [](Ida &ida) { ida.refresh_jacobian(); }, "A new Jacobian at every step.")
        .def("exchange", &exchange, "system"_a, "tested"_a, "algebraic"_a = nb::none(), "derivative"_a = nb::none(),
             "Go on with other equations for the same unknowns, without a restart.")
        .def("set_watch", &set_watch, "system"_a, "source"_a, "pointers"_a, "rows"_a, "positions"_a, "scale"_a, "limit"_a,
             "End a run with status STATES_DEGRADED when the square part of a matrix of `system`'s Jacobian degrades.")
        .def("set_recorder", [](Ida &ida, std::shared_ptr<Recorder> r) { ida.recorder = std::move(r); }, "recorder"_a,
             "Keep every step from now on; before start().")
        .def("clear_inputs", [](Ida &ida) { ida.inputs.clear(); })
        .def("cancel", &Ida::cancel, "End the run at the next evaluation; from any thread.")
        .def("roots", &roots, "After status ROOT: +1, -1 or 0 for each root function.")
        .def("set_root_directions", &set_root_directions, "directions"_a)
        .def("statistics", &statistics)
        .def("journal", [](const Ida &ida) { return ida.journal->as_dict(); }, "Steps and failures so far; see journal.h.")
        .def("kept_journal", [](const Ida &ida) { return ida.journal; }, "The same, to be read when somebody asks.")
        .def("weighted_errors", &weighted_errors, "Local error of the last step over what is allowed, unknown by unknown.")
        .def_prop_ro("t", [](const Ida &ida) { return ida.t; })
        .def_prop_ro("last_step", &last_step, "Length of the last accepted step.")
        .def_rw("pace", &Ida::pace, "The step that restarts go by.")
        .def_prop_ro("y", [](const Ida &ida) { return array_of(ida.y(), ida.system->layout.size); })
        .def_prop_ro("yp", [](const Ida &ida) { return array_of(ida.yp(), ida.system->layout.size); })
        .def_prop_ro("message", [](const Ida &ida) { return ida.message; })
        .def_prop_ro("non_finite", &non_finite)
        .def_prop_ro("interrupted", [](const Ida &ida) { return ida.interrupted; }, "Whether Ctrl-C ended a run.")
        .def_prop_ro("singular_column", [](const Ida &ida) { return ida.singular_column; })
        .def_prop_ro("width", [](const Ida &ida) { return ida.outputs.width(); });

    nb::module_ status = m.def_submodule("status", "What advance() returns.");
    status.attr("FINISHED") = (int)Status::Finished;
    status.attr("ROOT") = (int)Status::Root;
    status.attr("CANCELLED") = (int)Status::Cancelled;
    status.attr("STATES_DEGRADED") = (int)Status::StatesDegraded;
    status.attr("ASSIGNED") = (int)Status::Assigned;
    status.attr("PAUSED") = (int)Status::Paused;
    status.attr("TIMED") = (int)Status::Timed;
    status.attr("TOO_MANY_STEPS") = (int)Status::TooManySteps;
    status.attr("STEP_TOO_SMALL") = (int)Status::StepTooSmall;
    status.attr("ERROR_TEST") = (int)Status::ErrorTest;
    status.attr("CONVERGENCE") = (int)Status::Convergence;
    status.attr("SINGULAR") = (int)Status::Singular;
    status.attr("NOT_FINITE") = (int)Status::NotFinite;
    status.attr("TOO_MUCH_ACCURACY") = (int)Status::TooMuchAccuracy;
    status.attr("FAILED") = (int)Status::Failed;
}

} // namespace acausal
