// A session of IDAS with KLU on one System: start, advance to the next thing of interest, decide in Python, go on.
#pragma once

#include "amplified.h"
#include "consistent.h"
#include "contraction.h"
#include "corrector.h"
#include "gaps.h"
#include "inputs.h"
#include "journal.h"
#include "klu.h"
#include "local.h"
#include "recorder.h"
#include "scales.h"
#include "sides.h"
#include "stability.h"
#include "switches.h"
#include "system.h"
#include "vector.h"
#include "watch.h"

#include <idas/idas.h>
#include <sundials/sundials_linearsolver.h>
#include <sundials/sundials_matrix.h>
#include <sunnonlinsol/sunnonlinsol_newton.h>

#include <atomic>
#include <chrono>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace acausal {

constexpr int most_iterations = 40; // of Newton's, in an attempt in which it goes back and forth
constexpr double nowhere = std::numeric_limits<double>::quiet_NaN(); // the time of a workspace that must be brought up to date

enum class Status : int {
    Finished = 0,
    Root = 1,
    Cancelled = 2,
    StatesDegraded = 3,
    Assigned = 4,
    Paused = 5, // after events that were handled here: someone should look at them, or there is no more room for them
    Timed = 6,  // at a time at which something is to happen that was not handled here
    TooManySteps = -1,
    StepTooSmall = -2,
    ErrorTest = -3,
    Convergence = -4,
    Singular = -5,
    NotFinite = -6,
    TooMuchAccuracy = -7,
    Failed = -8,
};

// Defaults stand in `runtime/ida.py`, where users read them.
struct Settings {
    double rtol;
    int max_order;
    double max_step, initial_step; // 0: no limit; estimated
    int64_t max_steps;             // over the whole session; 0: no limit
    bool suppress_algebraic;
    SparseLu::Ordering ordering;
    int max_nonlinear_iterations, max_convergence_failures, max_error_test_failures;
    double nonlinear_tolerance;
    bool record_steps; // look at every step for the journal, not only now and then
};

// Wall time of one phase. Short calls are sampled: reading the clock around each would cost more than it tells.
class Stopwatch {
  public:
    using Clock = std::chrono::steady_clock;
    explicit Stopwatch(int64_t every = 1) : every(every) {}
    template <typename F> auto time(F &&work) {
        if (++calls % every) return work();
        Clock::time_point begin = Clock::now();
        auto result = work();
        seconds += std::chrono::duration<double>(Clock::now() - begin).count();
        return result;
    }
    double total() const { return timed() ? seconds * (double)calls / (double)timed() : 0.0; }

  private:
    int64_t timed() const { return calls / every; }
    int64_t every, calls = 0;
    double seconds = 0;
};

struct Counters {
    long steps = 0, residuals = 0, jacobians = 0, setups = 0, nonlinear_iterations = 0, error_test_failures = 0, convergence_failures = 0,
         roots = 0;
    void add(const Counters &other);
};

// A place where the residual was not a number, kept so that the equation can be named later.
struct NonFinite {
    int64_t count = 0;
    double t = 0;
    std::vector<double> w; // y and y'
};

// What unknowns are to the error test: `tested` ones take part; `algebraic` ones have a least tolerance, and of these the derivatives that
// index reduction made unknowns take part while the states decide them (see scales.h).
struct Kinds {
    const bool *tested, *algebraic, *derivative;
};

// Times at which inputs bend, though none jumps. States and algebraic unknowns go on as they were, with other slopes: nobody needs to be
// asked, but what the steps before predict does not hold beyond.
struct Bends {
    std::vector<double> times; // in order
    std::vector<char> differential;
    std::vector<double> nominal;
    double restart_step = 0; // first step behind one, in steps before it
    size_t next = 0; // the first that is not passed
    int64_t passed = 0;
    double ahead() const { return next < times.size() ? times[next] : std::numeric_limits<double>::infinity(); }
    static double closest(double t) { return 8 * std::numeric_limits<double>::epsilon() * std::fabs(t); }
    bool reached(double t) const { return ahead() <= t + closest(t); }
    void start_at(double t);
};

class Ida {
  public:
    Ida(std::shared_ptr<System> system, Outputs outputs, Doubles known, Doubles atol, const Kinds &kinds, Settings settings);
    ~Ida();
    Ida(const Ida &) = delete;
    Ida &operator=(const Ida &) = delete;

    // First start, new run, or restart after an event; keeps the memory and the symbolic factorisation. `step` is a time
    // within which slopes change little, such as a step before the event, for the first step; 0: nothing is known yet.
    void start(double t, const double *y, const double *yp, double step = 0);
    // Integrate to t_end, the first root or the first change of a watched step update; writes rows for output times in (…, t] and says
    // how many. May be called again without a restart, with a t_end before the end of the step that held a root, too.
    // With switches ordinary events are handled on the way, as long as `capacity` has room for their rows; `written` counts output
    // times all the same, and the switches' records have the times of all rows.
    // `stop` is a time that no step passes (or infinity). Where it is later than t_end, steps take no notice of t_end: the session goes
    // back to t_end by interpolation, and what happened beyond is met when a later call comes there. A start forgets it.
    Status advance(double t_end, double stop, const double *times, int64_t count, double *rows, int64_t capacity, int64_t &written);

    // Go on with other equations for the same unknowns, without a restart: the solution is smooth, only its description changes.
    void exchange(std::shared_ptr<System> other, const Kinds &kinds);
    // A new Jacobian at every step. IDAS keeps one while the step hardly changes; with nonlinear constraints its Newton iteration
    // then accepts what has not converged, because it trusts the rate of convergence that it saw long ago.
    void refresh_jacobian();

    void set_known(const double *values);
    void set_cells(const int32_t *cells, const double *values, int64_t count); // some of the known values
    // Begin anew at these times, within advance().
    void set_bends(Bends given);
    void row(double *out);                                                     // what is stored, where the session is
    void workspace(double *out);                                               // w, where the session is
    // Consistent y and y' at a time, for a restart there; the session itself stays where it is. On failure nothing is changed.
    Consistency::Answer consistent(double t, double *y, double *yp, const bool *differential, const double *nominal, double tolerance,
                                   int max_iterations);
    void set_root_directions(const int32_t *given);
    void found_roots(int32_t *found);
    void cancel() { cancelled.store(true, std::memory_order_relaxed); }
    Counters counters() const;
    void local_errors(double *errors, double *weights) const;

    std::shared_ptr<System> system;
    Outputs outputs;
    Inputs inputs;
    Settings settings;
    nb::object progress; // callable(t) or None
    double progress_interval = 0.1;
    double t = 0;
    std::string message;
    NonFinite non_finite;
    bool interrupted = false; // by Ctrl-C
    std::unique_ptr<nb::python_error> exception; // raised by a Python function during advance()
    std::unique_ptr<SparseLu> lu;
    Scales scales;
    std::shared_ptr<Journal> journal; // a result may keep it longer
    std::shared_ptr<Recorder> recorder; // none: nobody goes over the steps again
    std::unique_ptr<Watch> watch; // none for a system whose states were not selected
    void set_switches(std::shared_ptr<Switches> given);
    std::shared_ptr<Switches> switches; // none: all events are Python's
    std::unique_ptr<Gaps> gaps; // of root functions, where there are some
    Bends bends;
    double pace = 0; // the step that restarts go by: one soon after another must not make the next start slower still
    double restart_pace();
    double last_stored = -std::numeric_limits<double>::infinity(); // time of the last stored row
    int64_t singular_setups = 0, singular_column = -1, orders_limited = 0;
    Stopwatch residual_time, jacobian_time, factor_time, solve_time, output_time, root_time, watch_time;
    double advance_seconds = 0;
    std::atomic<bool> busy{false};
    const double *y() const { return w.get(); }
    const double *yp() const { return w.get() + n; }
    void *memory() const { return mem; }
    bool started = false;

  private:
    void create();
    bool update_factors();
    bool factors_are_old() const;
    void note_setup();
    void measure_scales();
    bool stuck() const; // the step under way is too short to move time
    void set_kinds(const Kinds &kinds);
    void set_tested();
    void choose_tested();
    void correct_output();
    bool refresh = false;
    void create_newton();
    SUNNonlinearSolver newton = nullptr;
    Contraction contraction;
    int surplus = 0; // iterations beyond the first of each step since the factors were made
    bool full_newton = false, solved_since_setup = false; // after a failure: new factors at every iteration
    double last_correction = 0;
    std::vector<double> last_direction; // of a full Newton iteration …
    int turns = 0;                      // … that went back and forth so often …
    bool shortened = false;             // … and the last correction therefore not the whole way
    void shorten(N_Vector correction);
    Sides sides;
    Amplified amplified;
    bool renew_now = false; // the next solution has new factors
    int usual_test(int iteration, N_Vector correction, double tolerance, N_Vector weight);
    int full_newton_test(int iteration, N_Vector correction, double tolerance, N_Vector weight);
    const double *corrected(N_Vector correction);
    bool on_side_of_factors(int iteration, N_Vector sum, N_Vector correction, double tolerance, N_Vector weight);
    void release();
    void check(int flag, const char *what);
    long steps_since_start() const;
    double first_step(double t_end) const;
    bool at(double t, N_Vector y, N_Vector yp); // bring w to (t, y, y'); false: an input could not be evaluated
    bool poll(double t);                        // true: go on
    Standing standing() const;
    const double *tested() const { return settings.suppress_algebraic ? id.data() : nullptr; }
    bool ask_python(double t);
    void keep_exception(); // needs the GIL
    void note_non_finite(double t);
    bool set_time(double t, double *w, double &last);
    // Within a step what takes no part in the error test is solved for. `hold`: all that is not a state, for given states, as an event
    // does that begins there; so its two rows differ by what happened.
    void write_row(double t, double *row, bool hold = false);
    bool solve_held(); // false: nothing changed
    int64_t write_rows(double t, const double *times, int64_t count, double *rows, int64_t written);
    int64_t prepare(double t_end, double stop, const double *times, int64_t count, double *rows, int64_t written); // to go on from t
    Status handle_event(double stop, double *rows, int64_t capacity, int64_t written);
    Status handle_timed(double stop, double *rows, int64_t capacity, int64_t written);
    Status conclude_event(double *rows, int64_t capacity, int64_t written);
    void pass_bend();
    bool scheduled() const { return switches && switches->handles && switches->schedule.is; }
    // What the schedule has next is due. Whoever is asked to stop a rounding before it has reached it: a run that goes on from there,
    // or begins anew, takes it for passed. An output time on the way, which may be as close, is no such stop.
    bool timed_now(double t_end) const { return scheduled() && timed_ahead && (t >= t_end ? Schedule::is_now(bound, t) : t >= bound); }
    // Local events: relations are searched step by step here, and not by IDAS.
    bool searches() const;
    double step_end() const;
    Status search(double until); // Root: there is one that is for everybody; the session is there
    Status search_step();
    void take_course(double time);
    void go_to_root(const std::vector<int32_t> &rows, double time, double until);
    History history();
    std::unique_ptr<Local> local;
    std::vector<double> mesh; // ends of steps since the start, the last one first
    double searched = 0, horizon = 0, local_time = nowhere;
    int32_t root_row = -1;
    std::vector<int32_t> left_rows; // those that were left to everybody last, and when
    double left_at = -1e300;
    N_Vector *differences = nullptr; // IDAS' history
    struct Sheet {
        const double *times;
        int64_t count;
        double *rows;
        int64_t capacity, *written;
    } sheet{};
    double bound = 0;         // the next time that no step passes …
    bool timed_ahead = false; // … because something happens then
    void go_back(double time);             // to a time within the last step
    Status go_on_ahead(double t_end);      // to where the last step ended already, or to t_end before it
    bool crossed_here();                   // a root that is only a rounding ahead
    bool ordinary_event(const int32_t *roots); // false: left as it was
    void store_row(double *rows, int64_t written);
    bool room_for_event(int64_t capacity, int64_t count) const { return capacity - count - event_rows >= 2; }
    Status step_to(double t_target, double stop);
    void record_step();
    void look_at_order(double stop); // between two steps; may start anew from there, with a limited order
    void free_order();
    void look_at_growth(const Counters &now);
    void hold_growth(bool hold);
    double largest_error(const double *errors) const; // in tolerances
    void set_out(double t_end);       // what IDAS must know before it goes on
    Stability stability;
    long orders_seen = 0; // steps of the session at the last look
    long growth_seen = 0, failures_seen = 0;
    bool growth_held = false; // no step is lengthened
    bool stepped_past(double time) const; // the last step ended later, with a root in it
    bool update_after_step();             // true: a watched cell changed
    bool record(); // false: an input could not be evaluated
    void show_updates();
    void align_roots();
    void fill_gaps(double *g, double time);
    void init_roots();
    void see_what_roots_read();
    int root_mode() const { return searches() ? 2 : joint(); }
    bool joint() const { return switches && switches->joint(); }
    void send_directions();
    void take_directions();
    Status outcome(int flag);
    void restore_start();
    void find_rates(); // of what the start does not say, see there
    bool find_drift(std::vector<double> &drift);

    static int residual_callback(realtype t, N_Vector y, N_Vector yp, N_Vector r, void *self);
    static int jacobian_callback(realtype t, realtype cj, N_Vector y, N_Vector yp, N_Vector r, SUNMatrix J, void *self, N_Vector, N_Vector,
                                 N_Vector);
    static int weight_callback(N_Vector y, N_Vector weight, void *self);
    static int root_callback(realtype t, N_Vector y, N_Vector yp, realtype *g, void *self);
    static int joint_root_callback(realtype t, N_Vector y, N_Vector yp, realtype *g, void *self);
    static int convergence_callback(SUNNonlinearSolver solver, N_Vector sum, N_Vector correction, realtype tolerance, N_Vector weight,
                                    void *self);
    static int setup_callback(SUNLinearSolver solver, SUNMatrix J);
    static int solve_callback(SUNLinearSolver solver, SUNMatrix J, N_Vector x, N_Vector b, realtype tolerance);
#if SUNDIALS_VERSION_MAJOR >= 7
    static void context_error_callback(int, const char *, const char *, const char *text, SUNErrCode, void *self, SUNContext);
#endif
    static void error_callback(int code, const char *module, const char *function, char *text, void *self);

    int64_t n;
    std::unique_ptr<double[]> w, w_out; // where the solver is; where output is evaluated
    std::vector<double> start_values, absolute, id, jacobian;
    double input_time, output_input_time;
    SUNContext context = nullptr;
    void *mem = nullptr;
    N_Vector y_vector = nullptr, yp_vector = nullptr, y_out = nullptr, yp_out = nullptr, atol_vector = nullptr, id_vector = nullptr;
    N_Vector weight = nullptr; // IDAS' own
    SUNMatrix matrix = nullptr;
    SUNLinearSolver linear = nullptr;
    std::vector<int32_t> for_roots, for_bends; // assignments whose cells root functions read, or those that bends are seen from
    void see_bends();
    std::unique_ptr<Consistency> consistency; // made when first asked for
    std::unique_ptr<Corrector> corrector;
    std::vector<double> present, updated;
    std::vector<double> root_values, mirror; // as IDAS saw them last; -1 for those that it sees with the other sign, empty: none
    std::vector<int> directions, found;
    struct Ahead {
        bool is = false; // the last step ended, or held a root, later than where the session was asked to go
        double t = 0;
        Status status = Status::Finished;
    } ahead;
    int64_t event_rows = 0, events_handled = 0; // in this call of advance()
    bool roots_changed = false;
    long steps_at_update = 0;
    double recorded = 0; // until here histories know what was
    Counters before; // of runs ended by a restart
    bool interpolate_derivatives, untested = false; // some unknowns take no part in the error test
    bool last_setup_singular = false, last_evaluation_finite = true;
    Status last_status = Status::Finished;
    long failures_at_factor = 0;
    int64_t non_finite_at_factor = 0;
    double origin = 0; // IDAS counts time from the first start, so that its tolerances in time do not depend on the date
    double t_start = 0, step_at_start = 0, t_setup = -1e300, cj_setup = 0;
    double bend_at_start = 0; // the largest y'' of a state there, in its tolerance; 0: not known
    long steps_at_setup = 0;
    std::atomic<bool> cancelled{false};
    int64_t polls = 0, poll_every;
    Stopwatch::Clock::time_point last_asked;
};

} // namespace acausal
