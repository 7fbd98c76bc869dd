/* The RC ladder of the suites `limit` and `scaling`: n resistors in a row, a capacitor to ground behind each.
 *
 *   v_0 = sin(2 pi 0.05 t)
 *   v_{k-1} - v_k = R i_k                   resistor
 *   C v_k' = j_k                            capacitor
 *   i_k - j_k - i_{k+1} = 0                 node, i_{n+1} = 0
 *
 * Unknowns: y = [v_0 ... v_n | i_1 ... i_n | j_1 ... j_n]. Rows in the order of the equations above.
 * In the code i[0] and j[0] are i_1 and j_1.
 */
#include "integrate.h"

#include <math.h>
#include <stdlib.h>

static const double RESISTANCE = 1.0, CAPACITANCE = 1.0, AMPLITUDE = 1.0, FREQUENCY = 0.05;
static const double TWO_PI = 6.283185307179586;

static int residual(double t, N_Vector y, N_Vector yp, N_Vector out, void *data) {
  const sunindextype n = ((const Problem *)data)->cells;
  const double *restrict v = N_VGetArrayPointer(y);
  const double *restrict i = v + n + 1;
  const double *restrict j = i + n;
  const double *restrict der_v = N_VGetArrayPointer(yp);
  double *restrict source = N_VGetArrayPointer(out);
  double *restrict resistor = source + 1;
  double *restrict capacitor = resistor + n;
  double *restrict node = capacitor + n;

  source[0] = v[0] - AMPLITUDE * sin(TWO_PI * FREQUENCY * t);
  for (sunindextype k = 0; k < n; k++) resistor[k] = v[k] - v[k + 1] - RESISTANCE * i[k];
  for (sunindextype k = 0; k < n; k++) capacitor[k] = CAPACITANCE * der_v[k + 1] - j[k];
  for (sunindextype k = 0; k + 1 < n; k++) node[k] = i[k] - j[k] - i[k + 1];
  node[n - 1] = i[n - 1] - j[n - 1];
  return 0;
}

/* dF/dy + cj dF/dy', column by column. IDA clears the pattern as well before every call, so it is written each time. */
static int jacobian(double t, double cj, N_Vector y, N_Vector yp, N_Vector r, SUNMatrix matrix, void *data, N_Vector tmp1,
                    N_Vector tmp2, N_Vector tmp3) {
  (void)t, (void)y, (void)yp, (void)r, (void)tmp1, (void)tmp2, (void)tmp3;
  const sunindextype n = ((const Problem *)data)->cells;
  const sunindextype resistor = 1, capacitor = n + 1, node = 2 * n + 1; /* first row of each kind */
  double *restrict value = SUNSparseMatrix_Data(matrix);
  sunindextype *restrict row = SUNSparseMatrix_IndexValues(matrix);
  sunindextype *restrict column = SUNSparseMatrix_IndexPointers(matrix);

  sunindextype m = 0, c = 0;
  column[c++] = m; /* v_0 */
  row[m] = 0, value[m++] = 1.0;
  row[m] = resistor, value[m++] = 1.0;
  for (sunindextype k = 0; k < n; k++) { /* v_{k+1}: resistor before, resistor behind, capacitor */
    column[c++] = m;
    row[m] = resistor + k, value[m++] = -1.0;
    if (k + 1 < n) row[m] = resistor + k + 1, value[m++] = 1.0;
    row[m] = capacitor + k, value[m++] = CAPACITANCE * cj;
  }
  for (sunindextype k = 0; k < n; k++) { /* resistor currents: own law, node before, node behind */
    column[c++] = m;
    row[m] = resistor + k, value[m++] = -RESISTANCE;
    if (k > 0) row[m] = node + k - 1, value[m++] = -1.0;
    row[m] = node + k, value[m++] = 1.0;
  }
  for (sunindextype k = 0; k < n; k++) { /* capacitor currents: own law, node */
    column[c++] = m;
    row[m] = capacitor + k, value[m++] = -1.0;
    row[m] = node + k, value[m++] = -1.0;
  }
  column[c] = m;
  return 0;
}

/* Everything at rest: the source starts at zero volts. */
static void start(sunindextype n, double *y, double *yp, double *differential) {
  for (sunindextype k = 0; k < 3 * n + 1; k++) {
    y[k] = yp[k] = 0.0;
    differential[k] = k >= 1 && k <= n ? 1.0 : 0.0;
  }
}

static void check(sunindextype n, const double *y, double *first, double *last) {
  *first = y[1];
  *last = y[n];
}

static Problem state_problem(sunindextype n) {
  return (Problem){.name = "ladder",
                   .cells = n,
                   .unknowns = 3 * n + 1,
                   .nonzeros = 8 * n,
                   .end = 10.0,
                   .residual = residual,
                   .jacobian = jacobian,
                   .start = start,
                   .check = check};
}

int main(int argc, char **argv) { return run_benchmark(state_problem, argc, argv); }
