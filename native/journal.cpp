#include "journal.h"

#include <algorithm>
#include <cmath>

namespace acausal {

constexpr size_t most_steps = 8192, most_failures = 4096; // at these counts, every second one goes
constexpr int64_t most_points = 16, most_point_bytes = 16 << 20;

void Journal::restart() {
    open = detailed = false;
    attempt_time = std::numeric_limits<double>::quiet_NaN();
    last = Standing{};
}

// A new attempt begins: what became of those before it?
void Journal::arrive(double previous, const double *w, const Standing &now, const double *tested) {
    settle(previous, now, tested);
    bool early = attempts <= all_visited;
    sampled = every || (early ? attempts % looked_at_early == 1 : attempts % visited == 0);
    detailed = sampled || after_failure; // failures come in rows
    open = detailed || early;
    if (!detailed) return;
    before.assign(w, w + 2 * n);
    after = before;
    delta.assign(n, 0.0);
}

void Journal::close(const Standing &now, const double *tested) {
    settle(attempt_time, now, tested);
    restart();
    last = now;
}

// The unknown with the largest error over what is allowed, among those that are tested.
int32_t Journal::worst(const double *tested) const {
    if (!detailed) return -1;
    double largest = 0;
    int32_t found = -1;
    for (int64_t i = 0; i < n; ++i) {
        if (tested && tested[i] == 0) continue;
        double error = std::fabs(after[i] - before[i] + delta[i]) / scales.tolerance(i, before[i]);
        if (error > largest) largest = error, found = (int32_t)i;
    }
    return found;
}

void Journal::settle(double t, const Standing &now, const double *tested) {
    long accepted = now.steps - last.steps, tests = now.error_failures - last.error_failures,
         convergence = now.convergence_failures - last.convergence_failures;
    bool seen = open;
    open = false;
    if (accepted <= 0 && tests <= 0 && convergence <= 0) return;
    last = now;
    after_failure = false;
    pending_error_failures += (int32_t)tests;
    pending_convergence_failures += (int32_t)convergence;
    if (limited.empty()) limited.resize(n), failed_tests.resize(n), not_converged.resize(n);
    if (accepted > 0) {
        int32_t unknown = seen ? worst(tested) : -1;
        if (unknown >= 0 && sampled) {
            int64_t stands_for = every ? 1 : attempts <= all_visited ? looked_at_early : visited;
            limited[unknown] += stands_for;
            weight += stands_for;
            ++sampled_steps;
        }
        add(Step{t, now.h, now.order, unknown, (int32_t)accepted, pending_error_failures, pending_convergence_failures});
        pending_error_failures = pending_convergence_failures = 0;
    } else if (seen) {
        note_failure(t, tests > 0, now, tested);
    }
    detailed = false;
}

void Journal::note_failure(double t, bool error_test, const Standing &now, const double *tested) {
    after_failure = true;
    Kind kind = error_test ? ErrorTest : !now.finite ? NotFinite : now.singular ? Singular : Newton;
    int32_t unknown = kind == ErrorTest ? worst(tested) : kind == Newton ? worst(nullptr) : -1;
    if (unknown >= 0) ++(kind == ErrorTest ? failed_tests : not_converged)[unknown];
    if (kind == Newton && detailed) keep_point(t);
    if (failures_seen++ % failure_stride) return;
    failures.push_back(Failure{t, kind, unknown});
    if (failures.size() < most_failures) return;
    for (size_t k = 0; k < most_failures / 2; ++k) failures[k] = failures[2 * k];
    failures.resize(most_failures / 2);
    failure_stride *= 2;
}

// The first ones, and then the last ones in turn.
void Journal::keep_point(double t) {
    int64_t room = std::clamp<int64_t>(most_point_bytes / (int64_t)(sizeof(double) * 4 * n), 1, most_points), first = room / 2;
    int64_t place = points_seen < room ? points_seen : first + points_seen % (room - first);
    ++points_seen;
    if (place >= (int64_t)points.size()) points.resize(place + 1);
    points[place].t = t;
    points[place].before = before;
    points[place].after = after;
}

// Of steps put together the smallest one is shown, with all failures before it.
Journal::Step Journal::merged(const Step &a, const Step &b) {
    Step s = a.h <= b.h ? a : b;
    s.t = b.t;
    if (s.limiting < 0) s.limiting = std::max(a.limiting, b.limiting);
    s.steps = a.steps + b.steps;
    s.error_failures = a.error_failures + b.error_failures;
    s.convergence_failures = a.convergence_failures + b.convergence_failures;
    return s;
}

void Journal::add(const Step &step) {
    group = grouped ? merged(group, step) : step;
    if (++grouped < stride) return;
    steps.push_back(group);
    grouped = 0;
    if (steps.size() < most_steps) return;
    for (size_t k = 0; k < most_steps / 2; ++k) steps[k] = merged(steps[2 * k], steps[2 * k + 1]);
    steps.resize(most_steps / 2);
    stride *= 2;
}

namespace {

using namespace nb::literals;

template <typename T> nb::object numpy(const std::vector<T> &values, const char *dtype) {
    nb::object result = nb::module_::import_("numpy").attr("empty")(values.size(), "dtype"_a = dtype);
    if (!values.empty()) std::memcpy(Array<T, 1>(result, "result").data, values.data(), sizeof(T) * values.size());
    return result;
}

template <typename Record, typename T> nb::object column(const std::vector<Record> &records, T Record::*member) {
    std::vector<T> values;
    for (const Record &r : records) values.push_back(r.*member);
    return numpy(values, sizeof(T) == 8 ? "float64" : "int32");
}

} // namespace

nb::dict Journal::as_dict() const {
    std::vector<Step> all = steps;
    if (grouped) all.push_back(group);
    nb::dict d;
    d["t"] = column(all, &Step::t);
    d["h"] = column(all, &Step::h);
    d["order"] = column(all, &Step::order);
    d["limiting"] = column(all, &Step::limiting);
    d["error_failures"] = column(all, &Step::error_failures);
    d["convergence_failures"] = column(all, &Step::convergence_failures);
    d["steps"] = column(all, &Step::steps);
    d["sampled_steps"] = sampled_steps;
    d["weight"] = weight;
    d["limited"] = numpy(limited, "int64");
    d["failed_tests"] = numpy(failed_tests, "int64");
    d["not_converged"] = numpy(not_converged, "int64");
    d["failure_t"] = column(failures, &Failure::t);
    d["failure_kind"] = column(failures, &Failure::kind);
    d["failure_unknown"] = column(failures, &Failure::unknown);
    nb::list kept;
    for (const Point &p : points) kept.append(nb::make_tuple(p.t, numpy(p.before, "float64"), numpy(p.after, "float64")));
    d["points"] = kept;
    return d;
}

} // namespace acausal
