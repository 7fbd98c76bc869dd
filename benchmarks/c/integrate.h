/* One hand-written DAE on SUNDIALS IDAS + KLU, timed: what "the limit" of the benchmark suites means.
 *
 * A program (chain.c, ladder.c) states its equations as a `Problem`; `run_benchmark` integrates it as often as the
 * command line asks and prints one line of JSON. Norms, error test, tolerances and output are those of acausal's own
 * core, so that a ratio of the two compares code and not settings.
 */
#ifndef INTEGRATE_H
#define INTEGRATE_H

#include <idas/idas.h>
#include <sundials/sundials_nvector.h>
#include <sunmatrix/sunmatrix_sparse.h>

typedef struct {
  const char *name;
  sunindextype cells;
  sunindextype unknowns;
  sunindextype nonzeros;
  double end;
  IDAResFn residual;
  IDALsJacFn jacobian;
  /* Consistent initial values; `differential` is 1.0 where the unknown's derivative appears and 0.0 elsewhere. */
  void (*start)(sunindextype cells, double *y, double *yp, double *differential);
  /* Two numbers by which a reader (and a test) can tell that the right problem was solved. */
  void (*check)(sunindextype cells, const double *y_end, double *first, double *last);
} Problem;

/* What every program needs: seconds on a clock, an end with a message, and the norm in place of SUNDIALS' own. */
double now(void);
void require(int good, const char *what);
double max_norm(N_Vector x, N_Vector weight);

/* Reads the command line (see the usage text in integrate.c) and returns the exit code of the program. */
int run_benchmark(Problem (*state_problem)(sunindextype cells), int argc, char **argv);

#endif
