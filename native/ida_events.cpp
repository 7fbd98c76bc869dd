// What a run with events asks of a session between two calls of advance(), and after each step.
#include "ida.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace acausal {

void Ida::set_cells(const int32_t *cells, const double *values, int64_t count) {
    double *here = w.get() + 2 * n, *there = w_out.get() + 2 * n;
    for (int64_t k = 0; k < count; ++k) here[cells[k]] = there[cells[k]] = values[k];
    input_time = output_input_time = nowhere; // a cell may be an input's
    roots_changed = true;
}

void Ida::row(double *out) { write_row(t, out, true); }

void Ida::workspace(double *out) {
    if (!set_time(t, w.get(), input_time)) return;
    system->assign(w.get());
    std::memcpy(out, w.get(), sizeof(double) * system->layout.workspace());
}

Consistency::Answer Ida::consistent(double time, double *y, double *yp, const bool *differential, const double *nominal, double tolerance,
                                    int max_iterations) {
    if (!consistency) consistency = std::make_unique<Consistency>(*system, settings.ordering);
    if (!set_time(time, w.get(), input_time)) return {false, 0};
    present.assign(w.get(), w.get() + 2 * n);
    std::memcpy(w.get(), y, sizeof(double) * n);
    std::memcpy(w.get() + n, yp, sizeof(double) * n);
    Consistency::Answer answer = consistency->solve(w.get(), differential, nominal, tolerance, max_iterations);
    if (answer.ok) {
        std::memcpy(y, w.get(), sizeof(double) * n);
        std::memcpy(yp, w.get() + n, sizeof(double) * n);
    }
    std::memcpy(w.get(), present.data(), sizeof(double) * 2 * n);
    return answer;
}

// ------------------------------------------------------------------------------------------------ rates at a start

// How fast algebraic unknowns change, which nobody says who starts: a prediction without it is wrong by so much that the first steps must
// be far shorter than the solution asks for. And how fast the slopes of states do, which is what limits a first step of order one.
void Ida::find_rates() {
    bend_at_start = 0;
    if (!scales.has_algebraic()) return;
    if (!consistency) consistency = std::make_unique<Consistency>(*system, settings.ordering);
    std::vector<double> drift(n), rates(n);
    if (!find_drift(drift)) return;
    if (!all_finite(drift.data(), n) || !consistency->rates(present.data(), scales.differential(), drift.data(), rates.data())) return;
    for (int64_t i = 0; i < n; ++i)
        if (consistency->is_slope(i)) bend_at_start = std::max(bend_at_start, std::fabs(rates[i]) / scales.tolerance(i, w[i]));
    double h = bend_at_start > 0 ? std::sqrt(0.5 / bend_at_start) : step_at_start; // a first step, if nothing else makes it shorter
    constexpr double near = 0.01; // of the size of an unknown: a slope that leads further within a first step (of a root next to zero) is worse than none
    for (int64_t i = 0; i < n; ++i) {
        bool follows = std::fabs(rates[i]) * h <= near * (std::fabs(w[i]) + scales.nominal()[i]);
        if (!consistency->is_slope(i) && !scales.differential()[i]) start_values[n + i] = follows ? rates[i] : 0.0;
    }
    restore_start();
}

// dF/dt at the start, by a difference over a time in which no state moves by more than a hundredth of its tolerance, and which is short where
// nothing moves; `present` is the start then, with its computed cells. Inputs that are Python's are not asked for times to come. False: an input could not be evaluated.
bool Ida::find_drift(std::vector<double> &drift) {
    constexpr double little = 0.01, distinct = 1e4 * std::numeric_limits<double>::epsilon();
    double rate = 0;
    for (int64_t i = 0; i < n; ++i)
        if (scales.differential()[i]) rate = std::max(rate, std::fabs(w[n + i]) / scales.tolerance(i, w[i]));
    double longest = step_at_start > 0 ? step_at_start : 1e-3 * std::max(1.0, std::fabs(t));
    double later = t + std::max(rate > 0 ? std::min(little / rate, longest) : 0.0, distinct * std::max(1.0, std::fabs(t)));
    present.assign(w.get(), w.get() + system->layout.workspace());
    double unset = nowhere;
    if (!set_time(t, present.data(), unset)) return false;
    std::vector<double> now(n);
    const auto evaluate = [&](double time, std::vector<double> &into) {
        present[system->layout.time_index] = time;
        inputs.evaluate_tables(time, present.data());
        system->assign(present.data());
        system->residual(present.data(), into.data());
    };
    evaluate(later, drift);
    evaluate(t, now);
    for (int64_t i = 0; i < n; ++i) drift[i] = (drift[i] - now[i]) / (later - t);
    return true;
}

// ------------------------------------------------------------------------------------------------ bends of inputs

double Ida::restart_pace() {
    double step = 0;
    IDAGetLastStep(mem, &step);
    return pace = std::max(step, 0.3 * pace);
}

// One closer than IDAS moves is passed: a repeating table and an event mean the same instant, and differ by rounding.
void Bends::start_at(double t) { next = std::upper_bound(times.begin(), times.end(), t + closest(t)) - times.begin(); }

void Ida::set_bends(Bends given) {
    given.passed = bends.passed;
    bends = std::move(given);
    bends.start_at(t);
}

// Slopes are those of the side to come.
void Ida::pass_bend() {
    if (!steps_since_start()) return bends.start_at(t);
    journal->close(standing(), tested());
    std::vector<double> side(w.get(), w.get() + 2 * n);
    double later = t + 4 * std::numeric_limits<double>::epsilon() * std::fabs(t);
    consistent(later, side.data(), side.data() + n, reinterpret_cast<const bool *>(bends.differential.data()), bends.nominal.data(), 1e-10, 20);
    start(t, side.data(), side.data() + n, bends.restart_step * restart_pace());
    if (recorder) recorder->bend();
    ++bends.passed;
}

// ------------------------------------------------------------------------------------------------ ordinary events

constexpr int64_t most_events = 1000; // in one call of advance()

// An event here, to its end; Root: it is for Python to handle, and nothing has been changed. At the end of a stretch something else
// may happen at the same time.
Status Ida::handle_event(double stop, double *rows, int64_t capacity, int64_t written) {
    last_status = Status::Root; // IDAS evaluates its root functions anew
    double end = std::isfinite(stop) ? stop - 8 * std::numeric_limits<double>::epsilon() * std::fabs(stop) : stop;
    found.resize(system->root_count);
    found_roots(found.data());
    if (t >= end) return cancelled ? Status::Cancelled : Status::Root;
    switches->due = scheduled() && timed_ahead && t >= bound; // a clock that ticks right here ticks now: it is passed afterwards
    bool handled = ordinary_event(found.data());
    switches->due = false;
    if (!handled) return cancelled ? Status::Cancelled : Status::Root;
    return conclude_event(rows, capacity, written);
}

// What the schedule has for this time; Timed: it is for Python to handle, and nothing has been changed.
Status Ida::handle_timed(double stop, double *rows, int64_t capacity, int64_t written) {
    if (t >= stop || !room_for_event(capacity, 0)) return Status::Timed;
    found.assign(system->root_count, 0);
    switches->due = true;
    bool handled = ordinary_event(found.data());
    switches->due = false;
    if (!handled) return cancelled ? Status::Cancelled : Status::Timed;
    roots_changed = true;
    return conclude_event(rows, capacity, written);
}

// Rows of an event that was handled, and the restart that it asks for.
Status Ida::conclude_event(double *rows, int64_t capacity, int64_t written) {
    Switches &s = *switches;
    if (s.noteworthy) {
        if (last_stored < t) store_row(rows, written);
        s.note(w.get(), t, written + event_rows - 1);
    }
    s.show(w.get(), w_out.get());
    if (s.restart) {
        journal->close(standing(), tested());
        start(t, w.get(), w.get() + n, std::min(s.restart_step * restart_pace(), 0.25 * s.flight));
        auto of_time = [&](int32_t cause) { return cause >= system->root_count; }; // what happens at given times cannot chatter
        s.causes.erase(std::remove_if(s.causes.begin(), s.causes.end(), of_time), s.causes.end());
        if (!s.causes.empty()) s.records.alarm |= s.haste.restart(t, s.causes);
    }
    if (s.noteworthy) store_row(rows, written);
    bool pause = s.records.alarm || s.replan || ++events_handled >= most_events || !room_for_event(capacity, 0);
    return pause ? Status::Paused : Status::Finished;
}

bool Ida::ordinary_event(const int32_t *roots) {
    if (!set_time(t, w.get(), input_time)) return false;
    switches->now = t;
    return switches->handle(w.get(), roots, [this] {
        if (!consistency) consistency = std::make_unique<Consistency>(*system, settings.ordering);
        const bool *differential = reinterpret_cast<const bool *>(switches->differential.data());
        return consistency->solve(w.get(), differential, switches->nominal.data(), 1e-10, 20).ok;
    });
}

bool Ida::solve_held() {
    if (!scales.has_algebraic()) return false;
    if (!consistency) consistency = std::make_unique<Consistency>(*system, settings.ordering);
    present.assign(w_out.get(), w_out.get() + 2 * n);
    if (consistency->solve(w_out.get(), scales.differential(), scales.nominal(), 1e-10, 20).ok) return true;
    std::memcpy(w_out.get(), present.data(), sizeof(double) * 2 * n);
    system->assign(w_out.get());
    return false;
}

void Ida::store_row(double *rows, int64_t written) {
    write_row(t, rows + (written + event_rows) * outputs.width(), true);
    ++event_rows;
    last_stored = t;
    switches->records.row_times.push_back(t);
}

// ------------------------------------------------------------------------------------------------ after each step

// IDAS may return several times from one step, when it holds roots: the first time counts. Histories see every time, or they would not
// know the value before a jump at the second root, and take what is after it for the end of an ordinary step.
bool Ida::update_after_step() {
    const Integers &cells = system->step_cells;
    if (!cells.size()) return false;
    if (steps_since_start() == steps_at_update) {
        if (t > recorded) record();
        return false;
    }
    steps_at_update = steps_since_start();
    show_updates(); // output times within the step see the values that held there
    if (!record()) return false;
    bool changed = false;
    for (int64_t k = 0; k < cells.size(); ++k) {
        double &cell = w[2 * n + cells.data[k]];
        changed |= system->step_watched.data[k] && cell != updated[k];
        cell = updated[k];
    }
    roots_changed |= changed;
    return changed;
}

// Histories (delays.cpp) are written where updates after steps are evaluated; they begin a new segment where the steps begin.
bool Ida::record() {
    if (!system->step_cells.size() || !set_time(t, w.get(), input_time)) return false;
    updated.resize(system->step_cells.size());
    system->assign(w.get());
    system->step_update(w.get(), updated.data());
    recorded = t;
    return true;
}

void Ida::show_updates() {
    const Integers &cells = system->step_cells;
    for (int64_t k = 0; k < cells.size(); ++k) w_out[2 * n + cells.data[k]] = w[2 * n + cells.data[k]];
}

// ------------------------------------------------------------------------------------------------ root functions

void Ida::set_switches(std::shared_ptr<Switches> given) {
    int was = root_mode();
    if (given) given->check();
    switches = std::move(given);
    see_what_roots_read();
    local.reset();
    if (started && root_mode() == was && system->root_count && !steps_since_start()) take_directions();
    if (!started || root_mode() == was || !system->root_count) return;
    if (steps_since_start()) throw std::runtime_error("set_switches() must come right after start()");
    init_roots();
}

// Root functions are evaluated once a step, where nothing else is: what only equations need is not computed there.
void Ida::see_what_roots_read() {
    for_roots = system->assignments_for(joint() ? switches->relation.families : system->roots);
}

void Ida::init_roots() {
    see_what_roots_read();
    if (!gaps) gaps = std::make_unique<Gaps>(system);
    if (searches()) return check(IDARootInit(mem, 0, nullptr), "IDARootInit");
    check(IDARootInit(mem, joint() ? 1 : (int)system->root_count, joint() ? joint_root_callback : root_callback), "IDARootInit");
    check(IDASetNoInactiveRootWarn(mem), "IDASetNoInactiveRootWarn");
    int falling = -1;
    if (joint()) check(IDASetRootDirection(mem, &falling), "IDASetRootDirection");
    take_directions();
}

// A crossing that counts one way only is no root the other way: going on from one without a start, IDAS gives up where the function is
// still exactly zero a moment later, as T - 298 is while T moves by less than its rounding.
void Ida::take_directions() {
    if (!switches || joint() || switches->directions.empty()) return;
    std::vector<int32_t> senses(system->root_count, 0);
    size_t first = switches->bands.size();
    for (size_t k = 0; k < switches->directions.size() && first + k < senses.size(); ++k)
        senses[first + k] = (switches->directions[k] > 0) - (switches->directions[k] < 0);
    set_root_directions(senses.data());
}

// Within the step that was made last; what is before the session's time has been looked at.
void Ida::fill_gaps(double *g, double time) {
    gaps->fill(g, t, time, w.get(), [this](double when, double *there) {
        if (!steps_since_start() || IDAGetDky(mem, when - origin, 0, y_out) || IDAGetDky(mem, when - origin, 1, yp_out)) return false;
        std::memcpy(there, NV_DATA_S(y_out), sizeof(double) * n);
        std::memcpy(there + n, NV_DATA_S(yp_out), sizeof(double) * n);
        double last = nowhere;
        return set_time(when, there, last);
    });
}

int Ida::joint_root_callback(realtype elapsed, N_Vector y, N_Vector yp, realtype *g, void *self) {
    Ida &ida = *static_cast<Ida *>(self);
    if (!ida.at(ida.origin + elapsed, y, yp)) return -1;
    return ida.root_time.time([&] {
        ida.system->assign(ida.w.get(), ida.for_roots);
        std::vector<double> &values = ida.switches->relation.evaluate(ida.w.get());
        ida.fill_gaps(values.data(), ida.origin + elapsed);
        *g = ida.switches->least(values.data());
        return 0;
    });
}

void Ida::set_root_directions(const int32_t *given) {
    directions.assign(given, given + system->root_count);
    send_directions();
}

void Ida::send_directions() {
    if (directions.empty() || joint()) return;
    std::vector<int> seen(directions);
    for (size_t i = 0; i < mirror.size(); ++i) seen[i] *= (int)mirror[i];
    IDASetRootDirection(mem, seen.data());
}

// A changed cell may turn the sign of a root function, which is no crossing. After a root, and at a start, IDAS evaluates its root
// functions again. Where it goes on without either, it compares with the values of before the change: those functions that turned
// are given to it with the other sign, until it evaluates anew.
void Ida::align_roots() {
    bool anew = last_status == Status::Root || !steps_since_start(), changed = roots_changed;
    roots_changed = false;
    if (switches) switches->see_bands(w.get());
    if (gaps) gaps->forget();
    if (joint()) {
        if (set_time(t, w.get(), input_time)) switches->aim(w.get());
        return;
    }
    if (anew && !mirror.empty()) mirror.clear(), send_directions();
    if (anew || !changed || !system->root_count) return;
    if (!set_time(t, w.get(), input_time)) return;
    std::vector<double> now(system->root_count);
    system->assign(w.get());
    system->root(w.get(), now.data());
    fill_gaps(now.data(), t);
    mirror.resize(now.size());
    for (size_t i = 0; i < now.size(); ++i) mirror[i] = now[i] * root_values[i] < 0 ? -1 : 1;
    send_directions();
}

void Ida::found_roots(int32_t *found) {
    if (joint()) {
        if (!set_time(t, w.get(), input_time)) return;
        system->assign(w.get());
        switches->crossed(w.get(), found);
        if (root_row >= 0 && !found[root_row]) found[root_row] = switches->heading(root_row);
        return;
    }
    IDAGetRootInfo(mem, found);
    for (size_t i = 0; i < mirror.size(); ++i) found[i] *= (int32_t)mirror[i];
}

// Whether a root that IDAS places behind this time is here already: it knows roots to some roundings only, and what gets a value that is
// beyond the switching point has crossed from the first instant on.
bool Ida::crossed_here() {
    double h = 0;
    IDAGetLastStep(mem, &h);
    double known_to = 200 * std::numeric_limits<double>::epsilon() * (std::fabs(ahead.t) + std::fabs(h));
    if (ahead.t - t > known_to || !set_time(t, w.get(), input_time)) return false;
    std::vector<double> g(system->root_count);
    system->assign(w.get());
    system->root(w.get(), g.data());
    return gaps->any_crossed(g.data(), w.get());
}

int Ida::root_callback(realtype elapsed, N_Vector y, N_Vector yp, realtype *g, void *self) {
    Ida &ida = *static_cast<Ida *>(self);
    if (!ida.at(ida.origin + elapsed, y, yp)) return -1;
    return ida.root_time.time([&] {
        ida.system->assign(ida.w.get(), ida.for_roots);
        ida.system->root(ida.w.get(), g);
        ida.fill_gaps(g, ida.origin + elapsed);
        for (size_t i = 0; i < ida.mirror.size(); ++i) g[i] *= ida.mirror[i];
        ida.root_values.assign(g, g + ida.system->root_count);
        return 0;
    });
}

} // namespace acausal
