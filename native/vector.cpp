// Distributed SUNDIALS libraries are compiled without vector instructions, and half of the time of a run of a large system is
// spent in these loops.
#include "vector.h"

#include <algorithm>
#include <cmath>

#include "vectorised.h"

namespace acausal {

// A maximum forgets a NaN, so the sum is carried along to tell.
VECTORISED static double norm_of(const double *x, const double *w, int64_t n) {
    double largest = 0, sum = 0;
#pragma omp simd reduction(max : largest) reduction(+ : sum)
    for (int64_t i = 0; i < n; ++i) {
        double v = std::fabs(x[i] * w[i]);
        largest = v > largest ? v : largest;
        sum += v;
    }
    return std::isfinite(sum) ? largest : sum;
}

VECTORISED static double masked_norm_of(const double *x, const double *w, const double *mask, int64_t n) {
    double largest = 0, sum = 0;
#pragma omp simd reduction(max : largest) reduction(+ : sum)
    for (int64_t i = 0; i < n; ++i) {
        double v = mask[i] > 0 ? std::fabs(x[i] * w[i]) : 0.0;
        largest = v > largest ? v : largest;
        sum += v;
    }
    return std::isfinite(sum) ? largest : sum;
}

VECTORISED static void linear_sum(double a, const double *x, double b, const double *y, double *z, int64_t n) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) z[i] = a * x[i] + b * y[i];
}

VECTORISED static void scale(double c, const double *x, double *z, int64_t n) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) z[i] = c * x[i];
}

VECTORISED static void absolute(const double *x, double *z, int64_t n) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) z[i] = std::fabs(x[i]);
}

VECTORISED static void inverse(const double *x, double *z, int64_t n) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) z[i] = 1.0 / x[i];
}

VECTORISED static double smallest(const double *x, int64_t n) {
    double least = x[0];
#pragma omp simd reduction(min : least)
    for (int64_t i = 0; i < n; ++i) least = x[i] < least ? x[i] : least;
    return least;
}

// z = sum of c_k x_k, in pieces that stay in the first-level cache; z may be one of the x_k.
VECTORISED static void combine(int count, const double *c, const double *const *x, double *z, int64_t n) {
    constexpr int64_t piece = 512;
    double sum[piece];
    for (int64_t begin = 0; begin < n; begin += piece) {
        int64_t length = std::min(piece, n - begin);
        const double *first = x[0] + begin;
        double factor = c[0];
#pragma omp simd
        for (int64_t i = 0; i < length; ++i) sum[i] = factor * first[i];
        for (int k = 1; k < count; ++k) {
            const double *next = x[k] + begin;
            factor = c[k];
#pragma omp simd
            for (int64_t i = 0; i < length; ++i) sum[i] += factor * next[i];
        }
        std::copy(sum, sum + length, z + begin);
    }
}

// ---------------------------------------------------------------------------------------------- as operations of an N_Vector

static realtype op_norm(N_Vector x, N_Vector w) { return norm_of(NV_DATA_S(x), NV_DATA_S(w), NV_LENGTH_S(x)); }

static realtype op_masked_norm(N_Vector x, N_Vector w, N_Vector id) {
    return masked_norm_of(NV_DATA_S(x), NV_DATA_S(w), NV_DATA_S(id), NV_LENGTH_S(x));
}

static void op_linear_sum(realtype a, N_Vector x, realtype b, N_Vector y, N_Vector z) {
    linear_sum(a, NV_DATA_S(x), b, NV_DATA_S(y), NV_DATA_S(z), NV_LENGTH_S(x));
}

static void op_constant(realtype c, N_Vector z) { std::fill_n(NV_DATA_S(z), NV_LENGTH_S(z), c); }

static void op_scale(realtype c, N_Vector x, N_Vector z) {
    if (c != 1.0) scale(c, NV_DATA_S(x), NV_DATA_S(z), NV_LENGTH_S(x));
    else if (x != z) std::copy_n(NV_DATA_S(x), NV_LENGTH_S(x), NV_DATA_S(z));
}

static void op_absolute(N_Vector x, N_Vector z) { absolute(NV_DATA_S(x), NV_DATA_S(z), NV_LENGTH_S(x)); }

static void op_inverse(N_Vector x, N_Vector z) { inverse(NV_DATA_S(x), NV_DATA_S(z), NV_LENGTH_S(x)); }

static realtype op_min(N_Vector x) { return smallest(NV_DATA_S(x), NV_LENGTH_S(x)); }

static thread_local N_Vector *combined = nullptr;

N_Vector *last_combined() { return combined; }

static int op_linear_combination(int count, realtype *c, N_Vector *x, N_Vector z) {
    constexpr int most = 16; // IDAS combines at most the 6 vectors of its history
    if (count < 1 || count > most) return -1;
    combined = x;
    const double *data[most];
    for (int k = 0; k < count; ++k) data[k] = NV_DATA_S(x[k]);
    combine(count, c, data, NV_DATA_S(z), NV_LENGTH_S(z));
    return 0;
}

static int op_scale_add_multi(int count, realtype *a, N_Vector x, N_Vector *y, N_Vector *z) {
    for (int k = 0; k < count; ++k) linear_sum(a[k], NV_DATA_S(x), 1.0, NV_DATA_S(y[k]), NV_DATA_S(z[k]), NV_LENGTH_S(x));
    return 0;
}

// One piece of all vectors after the other: where IDAS adds each vector of its history to the next, what was just written is read
// again while it is still in the first-level cache.
static int op_linear_sums(int count, realtype a, N_Vector *x, realtype b, N_Vector *y, N_Vector *z) {
    constexpr int64_t piece = 512;
    int64_t n = count ? NV_LENGTH_S(x[0]) : 0;
    for (int64_t begin = 0; begin < n; begin += piece)
        for (int k = 0; k < count; ++k)
            linear_sum(a, NV_DATA_S(x[k]) + begin, b, NV_DATA_S(y[k]) + begin, NV_DATA_S(z[k]) + begin, std::min(piece, n - begin));
    return 0;
}

static int op_scales(int count, realtype *c, N_Vector *x, N_Vector *z) {
    for (int k = 0; k < count; ++k) op_scale(c[k], x[k], z[k]);
    return 0;
}

N_Vector make_vector(int64_t size, double *data, SUNContext context) {
    N_Vector v = N_VMake_Serial(size, data, context);
    if (!v) return nullptr;
    v->ops->nvwrmsnorm = op_norm;
    v->ops->nvwrmsnormmask = op_masked_norm;
    v->ops->nvlinearsum = op_linear_sum;
    v->ops->nvconst = op_constant;
    v->ops->nvscale = op_scale;
    v->ops->nvabs = op_absolute;
    v->ops->nvinv = op_inverse;
    v->ops->nvmin = op_min;
    v->ops->nvlinearcombination = op_linear_combination;
    v->ops->nvscaleaddmulti = op_scale_add_multi;
    v->ops->nvlinearsumvectorarray = op_linear_sums;
    v->ops->nvscalevectorarray = op_scales;
    return v;
}

} // namespace acausal
