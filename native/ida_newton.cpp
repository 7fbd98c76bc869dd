// Newton's iteration in a step: its factors and how long they serve, and when it has converged.
#include "ida.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

#if SUNDIALS_VERSION_MAJOR >= 7 // the old name is gone
#define SUN_NLS_SUCCESS SUN_SUCCESS
#endif

namespace acausal {

constexpr double renewal = 40; // steps that a Jacobian may serve
constexpr double surplus_here = 3, surplus_elsewhere = 1; // iterations beyond the first of each step that it may cost, made for this step or not …
constexpr double cheap = 8, latest = 10; // … times its factorisation in solutions, from what is cheap up to so many times as much
constexpr double settled = 0.1;     // of the iteration's tolerance: a correction of a full Newton iteration that may be the last

// IDAS' own solver, with another convergence test.
void Ida::create_newton() {
    newton = SUNNonlinSol_Newton(y_vector, context);
    if (!newton) throw std::runtime_error("SUNDIALS' nonlinear solver could not be created");
    check(IDASetNonlinearSolver(mem, newton), "IDASetNonlinearSolver");
    check(SUNNonlinSolSetConvTestFn(newton, convergence_callback, this), "SUNNonlinSolSetConvTestFn");
}

// The usual test gives up when a correction is hardly smaller than the one before. On its way across a corner, from a steep side to
// one that is less so, a full Newton iteration takes a longer one next, and is there.
int Ida::convergence_callback(SUNNonlinearSolver solver, N_Vector sum, N_Vector correction, realtype tolerance, N_Vector weight, void *self) {
    Ida &ida = *static_cast<Ida *>(self);
    int iteration = 0;
    SUNNonlinSolGetCurIter(solver, &iteration);
    int answer = ida.full_newton ? ida.full_newton_test(iteration, correction, tolerance, weight)
                                 : ida.usual_test(iteration, correction, tolerance, weight);
    if (answer == SUN_NLS_CONTINUE && iteration + 1 >= ida.settings.max_nonlinear_iterations && !ida.turns) return SUN_NLS_CONV_RECVR;
    // With new factors at every iteration they are from as near as can be; at a jump, no side agrees with where it leads.
    if (answer != SUN_NLS_SUCCESS || !ida.sides.any() || ida.full_newton) return answer;
    return ida.on_side_of_factors(iteration, sum, correction, tolerance, weight) ? SUN_NLS_SUCCESS : SUN_NLS_CONTINUE;
}

int Ida::usual_test(int iteration, N_Vector correction, double tolerance, N_Vector weight) {
    bool young = t_setup == input_time;
    switch (contraction.judge(iteration, N_VWrmsNorm(correction, weight), tolerance, young)) {
    case Contraction::Converged: return surplus += iteration, SUN_NLS_SUCCESS;
    case Contraction::Continue: return SUN_NLS_CONTINUE;
    default: return SUN_NLS_CONV_RECVR;
    }
}

int Ida::full_newton_test(int iteration, N_Vector correction, double tolerance, N_Vector weight) {
    double size = N_VWrmsNorm(correction, weight), before = last_correction;
    last_correction = size;
    if (!std::isfinite(size)) return SUN_NLS_CONV_RECVR;
    if (shortened) return SUN_NLS_CONTINUE;
    if (size <= settled * tolerance && iteration) return SUN_NLS_SUCCESS;
    bool contracts = iteration && size < before;
    return contracts && size * size <= tolerance * (before - size) ? SUN_NLS_SUCCESS : SUN_NLS_CONTINUE;
}

// Across a corner behind which an equation is curved, a Newton iteration may go back and forth for ever: the steep side leads beyond the
// corner, the flat side far back. Where it turns round, it goes half as far as it came at most.
void Ida::shorten(N_Vector correction) {
    double *now = NV_DATA_S(correction), along = 0, size = 0, before = 0;
    const double *each = weight ? NV_DATA_S(weight) : nullptr;
    for (int64_t i = 0; i < n && !last_direction.empty(); ++i) {
        double scale = each ? each[i] : 1.0, a = now[i] * scale, b = last_direction[i] * scale;
        along += a * b, size += a * a, before += b * b;
    }
    shortened = along < 0 && along * along > 0.5 * size * before && size > 0.25 * before;
    if (shortened) N_VScale(0.5 * std::sqrt(before / size), correction, correction), ++turns;
    last_direction.assign(now, now + n);
}

// Where a correction leads that was not looked at by another one, as far as bends are concerned.
const double *Ida::corrected(N_Vector correction) {
    double cj = 0;
    IDAGetCurrentCj(mem, &cj);
    present.assign(w.get(), w.get() + system->layout.workspace());
    const double *by = NV_DATA_S(correction);
    for (int64_t i = 0; i < n; ++i) present[i] += by[i], present[n + i] += cj * by[i];
    system->assign(present.data(), for_bends);
    return present.data();
}

// False: the iteration has come to another side of a bend than its factors are from, and goes on with new ones.
bool Ida::on_side_of_factors(int iteration, N_Vector sum, N_Vector correction, double tolerance, N_Vector weight) {
    if (!iteration) sides.renewals = 0;
    bool agree = sides.agree(*system, contraction.believes() ? corrected(correction) : w.get(), steps_since_start());
    if (agree && sides.under_way()) {
        double change = 0;
        const double *now = NV_DATA_S(sum), *then = sides.at_begin().data(), *each = NV_DATA_S(weight);
        for (int64_t i = 0; i < n; ++i) change = std::max(change, std::fabs(now[i] - then[i]) * each[i]);
        sides.end(change > tolerance);
    }
    if (agree || sides.renewals == Sides::most) return true;
    if (!sides.renewals++) sides.begin(NV_DATA_S(sum), n);
    last_correction = N_VWrmsNorm(correction, weight);
    return renew_now = true, false;
}

void Ida::note_setup() {
    t_setup = input_time;
    surplus = 0;
    steps_at_setup = steps_since_start();
    IDAGetCurrentCj(mem, &cj_setup);
}

// IDAS keeps a Jacobian as long as the step stays within a quarter. One that is old, or made for another step, costs a second
// iteration at every step: it is renewed as soon as these have cost as much as it does.
bool Ida::factors_are_old() const {
    if (refresh) return true;
    double cj = 0;
    IDAGetCurrentCj(mem, &cj);
    double later = std::clamp(lu->cost() / cheap, 1.0, latest);
    return (double)surplus >= later * (cj == cj_setup ? surplus_here : surplus_elsewhere) || (double)(steps_since_start() - steps_at_setup) >= later * renewal;
}

void Ida::refresh_jacobian() {
    refresh = true;
}

// The Jacobian where the last residual was evaluated: the computed cells are those of that point.
bool Ida::update_factors() {
    note_setup();
    contraction.renewed();
    jacobian_time.time([&] {
        system->jacobian(w.get(), cj_setup, jacobian.data());
        sides.at_factors(*system, w.get());
        return 0;
    });
    bool regular = factor_time.time([&] { return lu->factor(jacobian.data(), false); });
    if (regular) measure_scales();
    return regular;
}

// After a convergence failure the pivots are chosen anew: they are the first suspect. Corners are the second: an iteration with the
// slopes of one side never meets a solution on the other, however short the step is, if that is steeper by a factor of two. So a
// second attempt has new factors at every iteration.
int Ida::setup_callback(SUNLinearSolver solver, SUNMatrix) {
    Ida &ida = *static_cast<Ida *>(solver->content);
    long failures = 0;
    IDAGetNumNonlinSolvConvFails(ida.mem, &failures);
    bool fresh = failures != ida.failures_at_factor;
    ida.failures_at_factor = failures;
    ida.full_newton = fresh, ida.solved_since_setup = ida.renew_now = ida.shortened = false;
    ida.last_direction.clear(), ida.turns = 0;
    ida.note_setup();
    if (fresh) ida.contraction.forget();
    else ida.contraction.renewed();
    bool regular = ida.factor_time.time([&] { return ida.lu->factor(ida.jacobian.data(), fresh); });
    ida.last_setup_singular = !regular;
    bool failed_finite = ida.non_finite.count == ida.non_finite_at_factor; // what made the step short, not the point where it begins
    ida.non_finite_at_factor = ida.non_finite.count;
    if (fresh && ida.stuck()) return ida.last_evaluation_finite = failed_finite, -1;
    if (regular) return ida.measure_scales(), 0;
    ++ida.singular_setups;
    ida.singular_column = ida.lu->singular_column();
    return 1;
}

int Ida::solve_callback(SUNLinearSolver solver, SUNMatrix, N_Vector x, N_Vector b, realtype) {
    Ida &ida = *static_cast<Ida *>(solver->content);
    bool elsewhere = ida.t_setup != ida.input_time; // in a later step
    if (elsewhere) ida.full_newton = false, ida.turns = 0; // how often it went back and forth there says nothing of here
    bool renew = ida.renew_now || (ida.full_newton ? ida.solved_since_setup : elsewhere && ida.factors_are_old());
    if (ida.renew_now) ida.full_newton = true, ida.last_direction.clear(), ida.turns = 0;
    ida.renew_now = false;
    ida.solved_since_setup = true;
    if (renew && !ida.update_factors()) return SUNLS_PACKAGE_FAIL_REC;
    return ida.solve_time.time([&] {
        if (x != b) std::memcpy(NV_DATA_S(x), NV_DATA_S(b), sizeof(double) * ida.n);
        ida.lu->solve_quickly(NV_DATA_S(x));
        double cj = 0;
        IDAGetCurrentCj(ida.mem, &cj);
        if (cj != ida.cj_setup) N_VScale(2 / (1 + cj / ida.cj_setup), x, x); // the factors are those of another step (IDA guide 2.2)
        if (ida.full_newton) ida.shorten(x);
        ida.journal->correction(NV_DATA_S(x));
        return 0;
    });
}

} // namespace acausal
