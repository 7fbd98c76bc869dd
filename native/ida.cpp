#include "ida.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

namespace acausal {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr double never = 1e300; // a time that is not reached
constexpr double shortest = 1e-250; // of all steps
constexpr double no_way = 1e-150;   // from 0 to a stop: IDAS multiplies the way by a step, and the product is no number above zero
constexpr long chunk = 1000; // steps between two checks that time still moves
// Where so many chunks in a row go no further than that of what is left, each no further than twice the one before, and a tenth of the
// attempts fail, the end is out of reach: 1e13 steps away.
constexpr long most_slow_chunks = 20;
constexpr double out_of_reach = 1e-10;

void Counters::add(const Counters &o) {
    steps += o.steps, residuals += o.residuals, jacobians += o.jacobians, setups += o.setups, roots += o.roots;
    nonlinear_iterations += o.nonlinear_iterations, error_test_failures += o.error_test_failures;
    convergence_failures += o.convergence_failures;
}

Ida::Ida(std::shared_ptr<System> s, Outputs o, Doubles known, Doubles atol, const Kinds &kinds, Settings chosen)
    : system(std::move(s)), outputs(std::move(o)), settings(chosen), scales(atol.data, atol.shape[0], chosen.rtol), n(system->layout.size), w(new double[system->layout.workspace()]()),
      w_out(new double[system->layout.workspace()]()), start_values(2 * n), absolute(atol.data, atol.data + atol.shape[0]), id(n),
      jacobian(system->value_count()), input_time(nowhere), output_input_time(nowhere) {
    system->check();
    outputs.check();
    set_known(known.data);
    lu = std::make_unique<SparseLu>(n, system->indptr, system->indices, settings.ordering);
    journal = std::make_shared<Journal>(n, scales, settings.record_steps);
    residual_time = solve_time = root_time = Stopwatch(n < 2000 ? 16 : 1);
    see_bends();
    set_kinds(kinds);
    poll_every = std::max<int64_t>(1, 50000 / (n + 50));
    try {
        create();
    } catch (...) {
        release();
        throw;
    }
}

Ida::~Ida() { release(); }

void Ida::release() {
    if (mem) IDAFree(&mem);
    if (newton) SUNNonlinSolFree(newton), newton = nullptr;
    if (linear) SUNLinSolFreeEmpty(linear), linear = nullptr;
    if (matrix) SUNMatFreeEmpty(matrix), matrix = nullptr;
    for (N_Vector *v : {&y_vector, &yp_vector, &y_out, &yp_out, &atol_vector, &id_vector})
        if (*v) N_VDestroy(*v), *v = nullptr;
    if (context) SUNContext_Free(&context);
}

void Ida::check(int flag, const char *what) {
    if (flag < 0) throw std::runtime_error(std::string(what) + " failed: " + message);
}

// Our own matrix and linear solver: the values are written where KLU reads them, and the pattern is never touched again
// (SUNDIALS' sparse matrix clears and rewrites its indices at every Jacobian).
void Ida::create() {
#if SUNDIALS_VERSION_MAJOR >= 7
    if (SUNContext_Create(SUN_COMM_NULL, &context)) throw std::runtime_error("SUNDIALS could not be started");
    SUNContext_ClearErrHandlers(context);
    SUNContext_PushErrHandler(context, context_error_callback, this);
#else
    if (SUNContext_Create(nullptr, &context)) throw std::runtime_error("SUNDIALS could not be started");
#endif
    y_vector = make_vector(n, w.get(), context);
    yp_vector = make_vector(n, w.get() + n, context);
    y_out = make_vector(n, w_out.get(), context);
    yp_out = make_vector(n, w_out.get() + n, context);
    atol_vector = make_vector(n, absolute.data(), context);
    id_vector = make_vector(n, id.data(), context);

    matrix = SUNMatNewEmpty(context);
    matrix->content = this;
    matrix->ops->getid = [](SUNMatrix) { return SUNMATRIX_CUSTOM; };
    matrix->ops->zero = [](SUNMatrix) { return 0; }; // the Jacobian kernels start from zero themselves
    linear = SUNLinSolNewEmpty(context);
    linear->content = this;
    linear->ops->gettype = [](SUNLinearSolver) { return SUNLINEARSOLVER_DIRECT; };
    linear->ops->getid = [](SUNLinearSolver) { return SUNLINEARSOLVER_CUSTOM; };
    linear->ops->initialize = [](SUNLinearSolver) { return 0; };
    linear->ops->setup = setup_callback;
    linear->ops->solve = solve_callback;

    mem = IDACreate(context);
    if (!mem) throw std::runtime_error("IDAS could not be created");
#if SUNDIALS_VERSION_MAJOR < 7
    check(IDASetErrHandlerFn(mem, error_callback, this), "IDASetErrHandlerFn");
#endif
}

#if SUNDIALS_VERSION_MAJOR >= 7
void Ida::context_error_callback(int, const char *, const char *, const char *text, SUNErrCode, void *self, SUNContext) {
    static_cast<Ida *>(self)->message = text ? text : "";
}
#endif

void Ida::error_callback(int code, const char *, const char *, char *text, void *self) {
    if (code != IDA_WARNING) static_cast<Ida *>(self)->message = text;
}

void Ida::set_known(const double *values) {
    std::memcpy(w.get() + 2 * n, values, sizeof(double) * system->layout.known_size);
    std::memcpy(w_out.get() + 2 * n, values, sizeof(double) * system->layout.known_size);
    input_time = output_input_time = nowhere;
    roots_changed = true;
}

void Ida::start(double t0, const double *y0, const double *yp0, double step) {
    std::memcpy(start_values.data(), y0, sizeof(double) * n);
    std::memcpy(start_values.data() + n, yp0, sizeof(double) * n);
    t = t_start = t0;
    if (recorder) recorder->restart();
    ahead.is = false;
    mesh.assign(1, t0), searched = t0, root_row = -1, left_rows.clear();
    bends.start_at(t0);
    if (local) local->forget();
    if (!started) origin = t0;
    step_at_start = step;
    restore_start();
    if (last_status == Status::Cancelled) cancelled = false;
    last_status = Status::Finished;
    input_time = output_input_time = nowhere;
    steps_at_update = 0;
    contraction.forget();
    find_rates();
    if (started) {
        before = counters();
        journal->restart();
        scales.restart();
        amplified.restart();
        check(IDAReInit(mem, t0 - origin, y_vector, yp_vector), "IDAReInit");
        free_order();
        choose_tested();
        failures_at_factor = steps_at_setup = 0;
        non_finite_at_factor = non_finite.count;
        record();
        return;
    }
    check(IDAInit(mem, residual_callback, t0 - origin, y_vector, yp_vector), "IDAInit");
    check(IDASetUserData(mem, this), "IDASetUserData");
    check(IDAWFtolerances(mem, weight_callback), "IDAWFtolerances");
    set_tested();
    create_newton();
    check(IDASetMaxOrd(mem, settings.max_order), "IDASetMaxOrd");
    if (settings.max_step > 0) check(IDASetMaxStep(mem, settings.max_step), "IDASetMaxStep");
    check(IDASetMaxNonlinIters(mem, std::max(most_iterations, settings.max_nonlinear_iterations)), "IDASetMaxNonlinIters");
    check(IDASetMaxConvFails(mem, settings.max_convergence_failures), "IDASetMaxConvFails");
    check(IDASetMaxErrTestFails(mem, settings.max_error_test_failures), "IDASetMaxErrTestFails");
    check(IDASetNonlinConvCoef(mem, settings.nonlinear_tolerance), "IDASetNonlinConvCoef");
    check(IDASetLinearSolver(mem, linear, matrix), "IDASetLinearSolver");
    check(IDASetJacFn(mem, jacobian_callback), "IDASetJacFn");
    check(IDASetLinearSolutionScaling(mem, SUNFALSE), "IDASetLinearSolutionScaling"); // we know better for which cj the factors are
    if (system->root_count) init_roots();
    started = true;
    record();
}

void Ida::see_bends() {
    sides.see(*system);
    for_bends = system->assignments_for(system->bends);
}

void Ida::set_kinds(const Kinds &kinds) {
    std::transform(kinds.tested, kinds.tested + n, id.begin(), [](bool d) { return d ? 1.0 : 0.0; });
    untested = !std::all_of(kinds.tested, kinds.tested + n, [](bool d) { return d; });
    scales.set_kinds(kinds.algebraic, kinds.derivative);
    interpolate_derivatives = untested || sides.any() || outputs.reads_derivatives() || system->assignments_read_derivatives();
}

void Ida::exchange(std::shared_ptr<System> other, const Kinds &kinds) {
    if (!started || other->layout.size != n || other->layout.workspace() != system->layout.workspace() || other->root_count != system->root_count)
        throw std::runtime_error("equations can only be exchanged for others with the same unknowns, in a started session");
    other->check();
    int was = root_mode();
    system = std::move(other);
    jacobian.assign(system->value_count(), 0.0);
    lu = std::make_unique<SparseLu>(n, system->indptr, system->indices, settings.ordering);
    consistency.reset();
    corrector.reset();
    if (gaps) gaps = std::make_unique<Gaps>(system);
    see_what_roots_read();
    see_bends();
    set_kinds(kinds);
    set_tested();
    system->assign(w.get()), update_factors();
    if (root_mode() != was && system->root_count) init_roots(); // what takes no part in the error test is not searched within a step
}

void Ida::measure_scales() {
    long steps = steps_since_start();
    amplified.look(*system, scales, w.get(), steps);
    if (!scales.due(steps, cj_setup)) return;
    scales.measure(*system, *lu, w.get(), cj_setup, steps);
    choose_tested();
    if (weight) scales.weights(w.get(), NV_DATA_S(weight)); // the attempt under way is tested with them already
}

void Ida::choose_tested() {
    if (scales.choose(id.data())) set_tested();
}

// Norms that leave some unknowns out read one vector more; where none is left out, the plain ones give the same numbers.
void Ida::set_tested() {
    check(IDASetId(mem, id_vector), "IDASetId");
    bool some_left_out = std::any_of(id.begin(), id.end(), [](double tested) { return tested == 0; });
    check(IDASetSuppressAlg(mem, settings.suppress_algebraic && some_left_out), "IDASetSuppressAlg");
}

int Ida::weight_callback(N_Vector y, N_Vector weight, void *self) {
    static_cast<Ida *>(self)->weight = weight;
    return static_cast<Ida *>(self)->scales.weights(NV_DATA_S(y), NV_DATA_S(weight)) ? 0 : -1;
}

// Failed attempts shorten a step until this is so: how often that is does not matter, as long as time can move.
bool Ida::stuck() const {
    double elapsed = 0, h = 0;
    IDAGetCurrentTime(mem, &elapsed);
    IDAGetCurrentStep(mem, &h);
    return std::fabs(h) <= epsilon * std::fabs(elapsed) || std::fabs(h) < shortest;
}

void Ida::restore_start() { std::memcpy(w.get(), start_values.data(), sizeof(double) * 2 * n); }

// ------------------------------------------------------------------------------------------------ what IDAS calls

// IDAS works in the vectors it was given to return the solution in, which are w itself: mostly there is nothing to copy.
bool Ida::at(double time, N_Vector y, N_Vector yp) {
    if (NV_DATA_S(y) != w.get()) std::memcpy(w.get(), NV_DATA_S(y), sizeof(double) * n);
    if (NV_DATA_S(yp) != w.get() + n) std::memcpy(w.get() + n, NV_DATA_S(yp), sizeof(double) * n);
    return set_time(time, w.get(), input_time);
}

bool Ida::set_time(double time, double *workspace, double &last) {
    if (time == last) return true;
    workspace[system->layout.time_index] = last = time;
    if (inputs.empty() || inputs.evaluate(time, workspace)) return true;
    nb::gil_scoped_acquire acquire;
    keep_exception();
    return false;
}

void Ida::note_non_finite(double time) {
    last_evaluation_finite = false;
    ++non_finite.count;
    if (non_finite.count > 1 && !all_finite(w.get(), 2 * n)) return; // a point that is not finite itself tells nothing
    non_finite.t = time;
    non_finite.w.assign(w.get(), w.get() + 2 * n);
}

int Ida::residual_callback(realtype elapsed, N_Vector y, N_Vector yp, N_Vector r, void *self) {
    Ida &ida = *static_cast<Ida *>(self);
    double time = ida.origin + elapsed;
    if (!ida.poll(time) || !ida.at(time, y, yp)) return -1;
    ida.journal->visit(time, ida.w.get(), [&] { return ida.standing(); }, ida.tested());
    return ida.residual_time.time([&] {
        ida.system->assign(ida.w.get());
        ida.system->residual(ida.w.get(), NV_DATA_S(r));
        if (all_finite(NV_DATA_S(r), ida.n) && ida.system->computed_finite(ida.w.get())) return ida.last_evaluation_finite = true, 0;
        ida.note_non_finite(time);
        return ida.stuck() ? -1 : 1; // IDAS tries a smaller step
    });
}

int Ida::jacobian_callback(realtype elapsed, realtype cj, N_Vector y, N_Vector yp, N_Vector, SUNMatrix, void *self, N_Vector, N_Vector, N_Vector) {
    Ida &ida = *static_cast<Ida *>(self);
    double time = ida.origin + elapsed;
    if (!ida.at(time, y, yp)) return -1;
    return ida.jacobian_time.time([&] { // IDAS evaluated the residual here just before, and so did we the computed cells
        ida.system->jacobian(ida.w.get(), cj, ida.jacobian.data());
        ida.jacobian.back() = 0; // the dump cell
        ida.sides.at_factors(*ida.system, ida.w.get());
        if (all_finite(ida.jacobian.data(), ida.system->nnz())) return 0; // computed cells that nothing reads are the residual's business
        ida.note_non_finite(time);
        return ida.stuck() ? -1 : 1;
    });
}

// ------------------------------------------------------------------------------------------------ progress, cancellation

bool Ida::poll(double time) {
    if (cancelled.load(std::memory_order_relaxed)) return false;
    if (++polls % poll_every) return true;
    Stopwatch::Clock::time_point now = Stopwatch::Clock::now();
    if (std::chrono::duration<double>(now - last_asked).count() < progress_interval) return true;
    last_asked = now;
    return ask_python(time);
}

// Ctrl-C ends a run and is raised again when its rows are safe; any other exception of the callback is the caller's to see.
bool Ida::ask_python(double time) {
    nb::gil_scoped_acquire acquire;
    bool go_on = PyErr_CheckSignals() == 0;
    if (go_on && !progress.is_none()) {
        PyObject *answer = PyObject_CallFunction(progress.ptr(), "d", time);
        go_on = answer && answer != Py_False;
        Py_XDECREF(answer);
    }
    if (PyErr_Occurred()) keep_exception();
    if (!go_on) cancel();
    return go_on;
}

void Ida::keep_exception() {
    if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) PyErr_Clear(), interrupted = true;
    else exception = std::make_unique<nb::python_error>();
    cancel();
}

// ------------------------------------------------------------------------------------------------ output

void Ida::write_row(double time, double *row, bool hold) {
    bool within = false, at_end = false; // of a step: there all unknowns are solved for, to their tolerances
    if (!steps_since_start()) {
        std::memcpy(w_out.get(), start_values.data(), sizeof(double) * 2 * n);
    } else {
        double elapsed = time - origin, end = 0;
        IDAGetCurrentTime(mem, &end);
        within = end - elapsed > 100 * epsilon * std::fabs(end), at_end = !within;
        elapsed = std::min(elapsed, end); // a time that was rounded may lie beyond the last step
        IDAGetDky(mem, elapsed, 0, y_out);
        if (interpolate_derivatives || hold || amplified.is()) IDAGetDky(mem, elapsed, 1, yp_out);
        if (local) local->show(origin + end, time, w_out.get(), w_out.get() + n);
    }
    set_time(time, w_out.get(), output_input_time);
    system->assign(w_out.get());
    if (within && (!hold || !solve_held()) && (untested || sides.crossed() || amplified.is())) correct_output();
    if (at_end && !hold && amplified.is()) correct_output();
    outputs.row(w_out.get(), row);
}

void Ida::correct_output() {
    if (!corrector) corrector = std::make_unique<Corrector>(*system, settings.ordering);
    corrector->solve(w_out.get(), scales, cj_setup, sides.crossed());
}

int64_t Ida::write_rows(double until, const double *times, int64_t count, double *rows, int64_t written) {
    if (written >= count || times[written] > until) return written;
    return output_time.time([&] {
        for (; written < count && times[written] <= until; ++written) {
            write_row(times[written], rows + (written + event_rows) * outputs.width());
            last_stored = times[written];
            if (switches) switches->records.row_times.push_back(last_stored);
        }
        return written;
    });
}

// ------------------------------------------------------------------------------------------------ integration

// IDAS guesses its first step from the distance to the first output time; ours depends on the problem alone. It is a millionth
// of the span at most: a plant that starts at rest says nothing of how fast its inputs will move, and a thousandth, which IDAS
// takes, may step over a whole period of them (a sine of 20 s in a run of 10 000 s, seen from its zeros only).
double Ida::first_step(double t_end) const {
    if (settings.initial_step > 0) return std::min(settings.initial_step, t_end - t);
    double rate = 0;
    for (int64_t i = 0; i < n; ++i) {
        if ((settings.suppress_algebraic && id[i] == 0) || !scales.differential()[i]) continue;
        rate = std::max(rate, std::fabs(start_values[n + i]) / (settings.rtol * std::fabs(start_values[i]) + absolute[i]));
    }
    if (step_at_start > 0) { // slopes change little within such a step: the error of order 1 is about rate h² / step, or less where y'' is known
        double h = std::min(step_at_start, t_end - t), usual = rate * h * h > 0.5 * step_at_start ? std::sqrt(0.5 * step_at_start / rate) : h;
        return bend_at_start > 0 ? std::min(h, std::max(usual, std::sqrt(0.5 / bend_at_start))) : usual;
    }
    double h = 1e-6 * (t_end - t);
    return rate * h > 0.5 ? 0.5 / rate : h;
}

Counters Ida::counters() const {
    Counters now;
    if (mem && started) {
        IDAGetNumSteps(mem, &now.steps);
        IDAGetNumResEvals(mem, &now.residuals);
        IDAGetNumJacEvals(mem, &now.jacobians);
        IDAGetNumLinSolvSetups(mem, &now.setups);
        IDAGetNumNonlinSolvIters(mem, &now.nonlinear_iterations);
        IDAGetNumErrTestFails(mem, &now.error_test_failures);
        IDAGetNumNonlinSolvConvFails(mem, &now.convergence_failures);
        if (system->root_count) IDAGetNumGEvals(mem, &now.roots);
    }
    now.add(before);
    return now;
}

Standing Ida::standing() const {
    Standing now;
    IDAGetNumSteps(mem, &now.steps);
    IDAGetNumErrTestFails(mem, &now.error_failures);
    IDAGetNumStepSolveFails(mem, &now.convergence_failures); // not those that a new Jacobian healed
    now.finite = last_evaluation_finite;
    now.singular = last_setup_singular;
    IDAGetLastStep(mem, &now.h);
    IDAGetLastOrder(mem, &now.order);
    return now;
}

void Ida::local_errors(double *errors, double *weights) const {
    N_Vector e = make_vector(n, errors, context), w_ = make_vector(n, weights, context);
    IDAGetEstLocalErrors(mem, e);
    IDAGetErrWeights(mem, w_);
    N_VDestroy(e);
    N_VDestroy(w_);
    if (!settings.suppress_algebraic) return;
    for (int64_t i = 0; i < n; ++i) errors[i] *= id[i];
}

Status Ida::outcome(int flag) {
    if (flag == IDA_ROOT_RETURN) return Status::Root;
    if (flag >= 0) return Status::Finished;
    if (cancelled.load()) return Status::Cancelled;
    switch (flag) {
    case IDA_TOO_MUCH_WORK: return Status::TooManySteps;
    case IDA_TOO_MUCH_ACC: return Status::TooMuchAccuracy;
    case IDA_ERR_FAIL: return Status::ErrorTest;
    case IDA_REP_RES_ERR: return Status::NotFinite;
    case IDA_RES_FAIL:
    case IDA_LSETUP_FAIL:
    case IDA_CONV_FAIL:
        if (!last_evaluation_finite) return Status::NotFinite;
        return last_setup_singular ? Status::Singular : Status::Convergence;
    default: return Status::Failed;
    }
}

// Steps until t_target is passed (without root functions: IDAS looks at every single step otherwise, since output times must
// not decide where it looks for roots). Work is cut into chunks, to see that time still moves.
Status Ida::step_to(double t_target, double stop) {
    bool look_at_steps = system->root_count || watch || recorder || system->step_cells.size();
    int task = look_at_steps && !stepped_past(stop) ? IDA_ONE_STEP : IDA_NORMAL;
    if (searches() && steps_since_start() && searched < std::min(step_end(), horizon)) {
        Status status = search_step();
        if (status != Status::Finished || t >= t_target) return status;
    }
    double chunk_start = t, last_gain = 0;
    long slow = 0, failed_before = 0;
    int64_t non_finite_before = non_finite.count;
    for (long taken = 0;;) {
        long limit = settings.max_order > Stability::stable_order ? std::min(chunk, stability.until_next()) : chunk;
        if (settings.max_steps) limit = std::min<long>(limit, settings.max_steps - counters().steps);
        if (limit <= 0) return Status::TooManySteps;
        IDASetMaxNumSteps(mem, limit);
        double elapsed = 0, aim = task == IDA_NORMAL ? t_target : stop;
        int flag = IDASolve(mem, aim - origin, &elapsed, y_vector, yp_vector, task);
        t = elapsed == stop - origin ? stop : elapsed == aim - origin ? aim : origin + elapsed;
        if (flag >= 0 && task == IDA_ONE_STEP && searches()) {
            Status status = search_step();
            if (status != Status::Finished) return status;
        }
        if (flag >= 0 && recorder && set_time(t, w.get(), input_time)) record_step();
        if (flag >= 0 && switches && (switches->left_out || switches->loose) && set_time(t, w.get(), input_time)) switches->look(w.get());
        if (flag >= 0 && update_after_step() && flag != IDA_ROOT_RETURN) return Status::Assigned;
        if (watch && flag == IDA_SUCCESS && t < stop && watch_time.time([&] { return watch->degraded(t, w.get()); })) return Status::StatesDegraded;
        if (flag != IDA_TOO_MUCH_WORK && (task == IDA_NORMAL || flag != IDA_SUCCESS || t >= t_target)) return outcome(flag);
        taken += task == IDA_NORMAL ? limit : 1;
        look_at_order(stop);
        if (taken < chunk) continue;
        if (std::fabs(t - chunk_start) < 16 * epsilon * std::fabs(t) * chunk)
            return non_finite.count > non_finite_before ? Status::NotFinite : Status::StepTooSmall;
        double gain = std::fabs(t - chunk_start);
        Counters now = counters();
        long failed = now.convergence_failures + now.error_test_failures;
        bool crawls = gain < out_of_reach * std::fabs(horizon - t) && failed - failed_before > taken / 10 && gain <= 2 * last_gain;
        slow = crawls ? slow + 1 : 0;
        last_gain = gain, failed_before = failed;
        if (slow >= most_slow_chunks) return last_setup_singular ? Status::Singular : Status::StepTooSmall;
        chunk_start = t;
        non_finite_before = non_finite.count;
        taken = 0;
        message.clear();
    }
}

void Ida::record_step() {
    int order = 1;
    IDAGetLastOrder(mem, &order);
    recorder->step(t, order, w.get(), t_start, start_values.data());
}

bool Ida::stepped_past(double time) const {
    double end = 0;
    if (!steps_since_start()) return false;
    IDAGetCurrentTime(mem, &end);
    return end > time - origin;
}

long Ida::steps_since_start() const {
    long steps = 0;
    IDAGetNumSteps(mem, &steps);
    return steps;
}

// Output times up to where the session is, and what IDAS must know before it goes on from there.
int64_t Ida::prepare(double t_end, double stop, const double *times, int64_t count, double *rows, int64_t written) {
    double nearest = t + 8 * epsilon * std::max(std::fabs(t), std::fabs(t_end)); // closer than this, IDAS does not move
    written = write_rows(std::min(nearest, t + 8 * epsilon * std::fabs(t)), times, count, rows, written);
    if (bends.reached(t) && t < t_end && !ahead.is) pass_bend();
    bound = bends.ahead() + Bends::closest(stop) < stop ? bends.ahead() : stop; // what is at a bend but for rounding takes it along
    timed_ahead = false;
    if (scheduled() && set_time(t, w.get(), input_time)) {
        switches->schedule.look(w.get(), (int32_t)system->layout.time_index, t);
        double next = switches->schedule.next_time(t);
        if (next <= stop && next <= bound + Bends::closest(next)) bound = next, timed_ahead = true;
    }
    if (t_end <= nearest) {
        t = std::max(t, t_end);
    } else if (!ahead.is) {
        set_out(std::isfinite(bound) ? bound : t_end);
    }
    return written;
}

void Ida::set_out(double t_end) {
    if (!steps_since_start()) check(IDASetInitStep(mem, first_step(t_end)), "IDASetInitStep");
    if (!stepped_past(bound)) check(IDASetStopTime(mem, std::min(bound - origin, never)), "IDASetStopTime");
    align_roots();
}

void Ida::go_back(double time) {
    t = time;
    IDAGetDky(mem, time - origin, 0, y_vector);
    IDAGetDky(mem, time - origin, 1, yp_vector);
    if (local) local->show(step_end(), time, w.get(), w.get() + n);
    input_time = nowhere;
}

Status Ida::go_on_ahead(double t_end) {
    if (searches() && searched < std::min(ahead.t, t_end)) {
        Status status = search(std::min(ahead.t, t_end));
        if (status != Status::Finished) return ahead.is = false, status;
    }
    if (ahead.t > t_end) {
        go_back(t_end);
        ahead.is = ahead.status != Status::Root || !crossed_here();
        return ahead.is ? Status::Finished : Status::Root;
    }
    ahead.is = false;
    go_back(ahead.t);
    return ahead.status;
}

Status Ida::advance(double t_end, double stop, const double *times, int64_t count, double *rows, int64_t capacity, int64_t &written) {
    Stopwatch::Clock::time_point begin = Stopwatch::Clock::now();
    if (last_asked == Stopwatch::Clock::time_point{}) last_asked = begin;
    Status status = cancelled ? Status::Cancelled : Status::Finished;
    message.clear();
    event_rows = events_handled = 0;
    sheet = {times, count, rows, capacity, &written};
    horizon = t_end;
    written = prepare(t_end, stop, times, count, rows, 0);
    if (t >= t_end && status == Status::Finished && timed_now(t_end)) status = handle_timed(stop, rows, capacity - count, written);
    while (t < t_end && status == Status::Finished) {
        bool at_once = false; // to where it is anyway, but for rounding
        if (ahead.is) {
            status = go_on_ahead(t_end);
            if (!ahead.is && status == Status::Finished && t < t_end) set_out(std::isfinite(bound) ? bound : t_end); // which IDAS does not know yet
        } else {
            double aim = std::min(t_end, bound);
            at_once = bound <= t + std::max(8 * epsilon * std::fabs(t), no_way); // closer than IDAS moves
            if (at_once) t = bound;
            else status = step_to(written < count && !stepped_past(bound) ? std::min(times[written], aim) : aim, bound);
            if (t > t_end && status >= Status::Finished) {
                ahead = {true, t, status};
                status = go_on_ahead(t_end);
            }
        }
        double reached = t;
        if (status == Status::Finished && t < t_end) { // often a little further than asked for
            IDAGetCurrentTime(mem, &reached);
            reached += origin;
        }
        if (steps_since_start()) written = write_rows(std::min(reached, t_end), times, count, rows, written);
        else if (!at_once) restore_start(), t = t_start;
        if (status == Status::Finished && timed_now(t_end))
            status = handle_timed(stop, rows, capacity - count, written);
        else if (status == Status::Root && switches && switches->handles && room_for_event(capacity, count))
            status = handle_event(stop, rows, capacity - count, written);
        else if (status != Status::Finished || !bends.reached(t))
            continue;
        if (status == Status::Finished) written = prepare(t_end, stop, times, count, rows, written);
    }
    if (status != Status::Cancelled && cancelled) status = Status::Cancelled;
    journal->close(standing(), tested());
    show_updates();
    input_time = nowhere;
    advance_seconds += std::chrono::duration<double>(Stopwatch::Clock::now() - begin).count();
    if (status != Status::Paused) last_status = status;
    return status;
}

} // namespace acausal
