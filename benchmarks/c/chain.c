/* The heat chain of the suites `limit` and `peers`: n cells fed by an oscillating temperature, cooled at the far end.
 *
 *   100 T_i' = q_i - q_{i+1}                                i = 1 ... n
 *   q_i      = 10 (1 + 0.001 T_{i-1}) (T_{i-1} - T_i)       i = 1 ... n,   T_0 = 300 + 50 sin(0.1 t)
 *   q_{n+1}  = 0.1 u sqrt(1 + |u|),  u = T_n - 290
 *
 * Unknowns: y = [T_1 ... T_n | q_1 ... q_{n+1}]. Rows: n heat balances, then n + 1 laws of heat flow.
 * In the code T[0] is T_1 and q[0] is q_1.
 */
#include "integrate.h"

#include <math.h>
#include <stdlib.h>

static const double CAPACITY = 100.0, CONDUCTANCE = 10.0, SLOPE = 0.001, OUTLET = 0.1, AMBIENT = 290.0;

static double inlet_temperature(double t) { return 300.0 + 50.0 * sin(0.1 * t); }

static double conduction(double hot, double cold) { return CONDUCTANCE * (1.0 + SLOPE * hot) * (hot - cold); }

static int residual(double t, N_Vector y, N_Vector yp, N_Vector out, void *data) {
  const sunindextype n = ((const Problem *)data)->cells;
  const double *restrict T = N_VGetArrayPointer(y);
  const double *restrict q = T + n;
  const double *restrict der_T = N_VGetArrayPointer(yp);
  double *restrict balance = N_VGetArrayPointer(out);
  double *restrict law = balance + n;

  for (sunindextype i = 0; i < n; i++) balance[i] = CAPACITY * der_T[i] - q[i] + q[i + 1];
  law[0] = q[0] - conduction(inlet_temperature(t), T[0]);
  for (sunindextype i = 1; i < n; i++) law[i] = q[i] - conduction(T[i - 1], T[i]);
  const double u = T[n - 1] - AMBIENT;
  law[n] = q[n] - OUTLET * u * sqrt(1.0 + fabs(u));
  return 0;
}

/* dF/dy + cj dF/dy', column by column. IDA clears the pattern as well before every call, so it is written each time. */
static int jacobian(double t, double cj, N_Vector y, N_Vector yp, N_Vector r, SUNMatrix matrix, void *data, N_Vector tmp1,
                    N_Vector tmp2, N_Vector tmp3) {
  (void)yp, (void)r, (void)tmp1, (void)tmp2, (void)tmp3;
  const sunindextype n = ((const Problem *)data)->cells;
  const double *restrict T = N_VGetArrayPointer(y);
  double *restrict value = SUNSparseMatrix_Data(matrix);
  sunindextype *restrict row = SUNSparseMatrix_IndexValues(matrix);
  sunindextype *restrict column = SUNSparseMatrix_IndexPointers(matrix);

  sunindextype k = 0;
  double hot = inlet_temperature(t);
  for (sunindextype i = 0; i < n; i++) { /* columns of T: own balance, law of the flow in, law of the flow out */
    double out_by_T;
    if (i + 1 < n) {
      out_by_T = CONDUCTANCE * (SLOPE * (T[i] - T[i + 1]) + 1.0 + SLOPE * T[i]);
    } else {
      const double distance = fabs(T[i] - AMBIENT), root = sqrt(1.0 + distance);
      out_by_T = OUTLET * (root + 0.5 * distance / root);
    }
    column[i] = k;
    row[k] = i, value[k++] = CAPACITY * cj;
    row[k] = n + i, value[k++] = CONDUCTANCE * (1.0 + SLOPE * hot);
    row[k] = n + i + 1, value[k++] = -out_by_T;
    hot = T[i];
  }
  for (sunindextype i = 0; i <= n; i++) { /* columns of q: balance upstream, balance downstream, own law */
    column[n + i] = k;
    if (i > 0) row[k] = i - 1, value[k++] = 1.0;
    if (i < n) row[k] = i, value[k++] = -1.0;
    row[k] = n + i, value[k++] = 1.0;
  }
  column[2 * n + 1] = k;
  return 0;
}

static void start(sunindextype n, double *y, double *yp, double *differential) {
  double *T = y, *q = y + n;
  for (sunindextype i = 0; i < 2 * n + 1; i++) {
    yp[i] = 0.0;
    differential[i] = i < n ? 1.0 : 0.0;
  }
  for (sunindextype i = 0; i < n; i++) T[i] = AMBIENT;
  for (sunindextype i = 0; i <= n; i++) q[i] = 0.0;
  q[0] = conduction(inlet_temperature(0.0), AMBIENT);
  yp[0] = q[0] / CAPACITY;
}

static void check(sunindextype n, const double *y, double *first, double *last) {
  *first = y[0];
  *last = y[n - 1];
}

static Problem state_problem(sunindextype n) {
  return (Problem){.name = "chain",
                   .cells = n,
                   .unknowns = 2 * n + 1,
                   .nonzeros = 6 * n + 1,
                   .end = 1000.0,
                   .residual = residual,
                   .jacobian = jacobian,
                   .start = start,
                   .check = check};
}

int main(int argc, char **argv) { return run_benchmark(state_problem, argc, argv); }
