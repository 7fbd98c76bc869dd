#include "vectors.h"

#include <math.h>

enum { MAX_TERMS = 16, BLOCK = 512 }; /* IDA combines at most 7 vectors (order 5); 512 doubles stay in the first cache */

/* SUNDIALS allows the result to be one of the operands, so those pointers are not `restrict`; the loops still vectorise,
 * because each element depends on elements of the same index only. */

static void linear_sum(double a, N_Vector x, double b, N_Vector y, N_Vector z) {
  const double *px = N_VGetArrayPointer(x), *py = N_VGetArrayPointer(y);
  double *pz = N_VGetArrayPointer(z);
  const sunindextype n = N_VGetLength(z);
#pragma GCC ivdep
  for (sunindextype i = 0; i < n; i++) pz[i] = a * px[i] + b * py[i];
}

static void scale(double c, N_Vector x, N_Vector z) {
  const double *px = N_VGetArrayPointer(x);
  double *pz = N_VGetArrayPointer(z);
  const sunindextype n = N_VGetLength(z);
#pragma GCC ivdep
  for (sunindextype i = 0; i < n; i++) pz[i] = c * px[i];
}

static void set_constant(double c, N_Vector z) {
  double *pz = N_VGetArrayPointer(z);
  const sunindextype n = N_VGetLength(z);
  for (sunindextype i = 0; i < n; i++) pz[i] = c;
}

static void absolute(N_Vector x, N_Vector z) {
  const double *px = N_VGetArrayPointer(x);
  double *pz = N_VGetArrayPointer(z);
  const sunindextype n = N_VGetLength(z);
#pragma GCC ivdep
  for (sunindextype i = 0; i < n; i++) pz[i] = fabs(px[i]);
}

static void invert(N_Vector x, N_Vector z) {
  const double *px = N_VGetArrayPointer(x);
  double *pz = N_VGetArrayPointer(z);
  const sunindextype n = N_VGetLength(z);
#pragma GCC ivdep
  for (sunindextype i = 0; i < n; i++) pz[i] = 1.0 / px[i];
}

static void add_constant(N_Vector x, double b, N_Vector z) {
  const double *px = N_VGetArrayPointer(x);
  double *pz = N_VGetArrayPointer(z);
  const sunindextype n = N_VGetLength(z);
#pragma GCC ivdep
  for (sunindextype i = 0; i < n; i++) pz[i] = px[i] + b;
}

static double minimum(N_Vector x) {
  const double *px = N_VGetArrayPointer(x);
  const sunindextype n = N_VGetLength(x);
  double smallest = px[0];
  for (sunindextype i = 1; i < n; i++)
    if (px[i] < smallest) smallest = px[i];
  return smallest;
}

/* The predictor of every step: block by block, so that the sum stays in the cache while the history streams by. */
static int linear_combination(int terms, double *c, N_Vector *x, N_Vector z) {
  if (terms > MAX_TERMS) return -1;
  const double *px[MAX_TERMS];
  for (int k = 0; k < terms; k++) px[k] = N_VGetArrayPointer(x[k]);
  double *pz = N_VGetArrayPointer(z);
  const sunindextype n = N_VGetLength(z);
  for (sunindextype begin = 0; begin < n; begin += BLOCK) {
    const sunindextype length = n - begin < BLOCK ? n - begin : BLOCK;
    double sum[BLOCK];
    for (sunindextype i = 0; i < length; i++) sum[i] = c[0] * px[0][begin + i];
    for (int k = 1; k < terms; k++)
      for (sunindextype i = 0; i < length; i++) sum[i] += c[k] * px[k][begin + i];
    for (sunindextype i = 0; i < length; i++) pz[begin + i] = sum[i];
  }
  return 0;
}

void use_tuned_operations(N_Vector vector) {
  N_Vector_Ops operations = vector->ops;
  operations->nvlinearsum = linear_sum;
  operations->nvscale = scale;
  operations->nvconst = set_constant;
  operations->nvabs = absolute;
  operations->nvinv = invert;
  operations->nvaddconst = add_constant;
  operations->nvmin = minimum;
  operations->nvlinearcombination = linear_combination;
}
