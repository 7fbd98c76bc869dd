#define _POSIX_C_SOURCE 200809L

#include "integrate.h"
#include "vectors.h"

#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sundials/sundials_config.h>
#include <sunlinsol/sunlinsol_klu.h>
#include <time.h>

#if SUNDIALS_VERSION_MAJOR < 7
#define SUN_COMM_NULL NULL
#endif

enum { OUTPUT_POINTS = 100 };
typedef struct {
  long cells;
  int repeats;
  double tolerance;     /* relative and absolute */
  const char *ordering; /* of KLU; colamd is the default of SUNDIALS */
  const char *vectors;  /* stock: vector operations of the installed SUNDIALS; tuned: those of vectors.c */
  const char *store;    /* file for the trajectory of the last run, raw doubles, one row per output point */
} Options;

typedef struct {
  double seconds;
  long steps, residuals, jacobians, iterations, error_test_failures, convergence_failures;
  double first, last;
} Run;

double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void require(int good, const char *what) {
  if (!good) {
    fprintf(stderr, "failed: %s\n", what);
    exit(EXIT_FAILURE);
  }
}

/* Weighted maximum norms in place of root-mean-square ones: the accuracy of one cell must not depend on how many others
 * there are. A NaN is returned at once, because a maximum taken by comparison would otherwise swallow it and IDA would
 * accept the step. */
double max_norm(N_Vector x, N_Vector weight) {
  const double *restrict px = N_VGetArrayPointer(x);
  const double *restrict pw = N_VGetArrayPointer(weight);
  const sunindextype n = N_VGetLength(x);
  double largest = 0.0;
  for (sunindextype i = 0; i < n; i++) {
    const double a = fabs(px[i] * pw[i]);
    if (!(a <= largest)) {
      largest = a;
      if (isnan(a)) return a;
    }
  }
  return largest;
}

static double max_norm_mask(N_Vector x, N_Vector weight, N_Vector mask) {
  const double *restrict px = N_VGetArrayPointer(x);
  const double *restrict pw = N_VGetArrayPointer(weight);
  const double *restrict pm = N_VGetArrayPointer(mask);
  const sunindextype n = N_VGetLength(x);
  double largest = 0.0;
  for (sunindextype i = 0; i < n; i++) {
    const double a = fabs(px[i] * pw[i]);
    if (pm[i] > 0.0 && !(a <= largest)) {
      largest = a;
      if (isnan(a)) return a;
    }
  }
  return largest;
}

/* Output by interpolation between the steps IDA chose by itself: the output points have no influence on the steps. */
static void integrate_and_store(void *ida, const Problem *problem, N_Vector y, N_Vector yp, N_Vector row, double *stored) {
  const double interval = problem->end / (OUTPUT_POINTS - 1);
  const size_t width = (size_t)problem->unknowns;
  memcpy(stored, N_VGetArrayPointer(y), width * sizeof(double));

  double t = 0.0;
  int point = 1;
  while (point < OUTPUT_POINTS) {
    const int flag = IDASolve(ida, problem->end, &t, y, yp, IDA_ONE_STEP);
    require(flag >= 0, "IDASolve");
    for (; point < OUTPUT_POINTS; point++) {
      const double wanted = point == OUTPUT_POINTS - 1 ? problem->end : point * interval;
      if (wanted > t) break;
      N_VSetArrayPointer(stored + (size_t)point * width, row);
      require(IDAGetDky(ida, wanted, 0, row) == IDA_SUCCESS, "IDAGetDky");
    }
  }
}

static void read_statistics(void *ida, Run *run) {
  require(IDAGetNumSteps(ida, &run->steps) == IDA_SUCCESS, "IDAGetNumSteps");
  require(IDAGetNumResEvals(ida, &run->residuals) == IDA_SUCCESS, "IDAGetNumResEvals");
  require(IDAGetNumJacEvals(ida, &run->jacobians) == IDA_SUCCESS, "IDAGetNumJacEvals");
  require(IDAGetNumNonlinSolvIters(ida, &run->iterations) == IDA_SUCCESS, "IDAGetNumNonlinSolvIters");
  require(IDAGetNumErrTestFails(ida, &run->error_test_failures) == IDA_SUCCESS, "IDAGetNumErrTestFails");
  require(IDAGetNumNonlinSolvConvFails(ida, &run->convergence_failures) == IDA_SUCCESS, "IDAGetNumNonlinSolvConvFails");
}

static void write_trajectory(const char *path, const double *stored, size_t count) {
  FILE *file = fopen(path, "wb");
  require(file != NULL, "opening the file for the trajectory");
  require(fwrite(stored, sizeof(double), count, file) == count, "writing the trajectory");
  require(fclose(file) == 0, "writing the trajectory");
}

/* One simulation, timed from the creation of the integrator to the last output point. */
static Run simulate(Problem *problem, const Options *options, SUNContext context, N_Vector y, N_Vector yp,
                    N_Vector differential) {
  Run run = {0};
  problem->start(problem->cells, N_VGetArrayPointer(y), N_VGetArrayPointer(yp), N_VGetArrayPointer(differential));

  const double begin = now();
  double *stored = malloc((size_t)problem->unknowns * OUTPUT_POINTS * sizeof(double));
  require(stored != NULL, "memory for the output");
  N_Vector row = N_VNewEmpty_Serial(problem->unknowns, context);
  SUNMatrix matrix = SUNSparseMatrix(problem->unknowns, problem->unknowns, problem->nonzeros, CSC_MAT, context);
  SUNLinearSolver solver = SUNLinSol_KLU(y, matrix, context);
  void *ida = IDACreate(context);
  require(row && matrix && solver && ida, "creation of the integrator");

  require(SUNLinSol_KLUSetOrdering(solver, strcmp(options->ordering, "amd") == 0 ? 0 : 1) == 0, "SUNLinSol_KLUSetOrdering");
  require(IDAInit(ida, problem->residual, 0.0, y, yp) == IDA_SUCCESS, "IDAInit");
  require(IDASStolerances(ida, options->tolerance, options->tolerance) == IDA_SUCCESS, "IDASStolerances");
  require(IDASetUserData(ida, problem) == IDA_SUCCESS, "IDASetUserData");
  require(IDASetId(ida, differential) == IDA_SUCCESS, "IDASetId");
  require(IDASetSuppressAlg(ida, SUNTRUE) == IDA_SUCCESS, "IDASetSuppressAlg");
  require(IDASetStopTime(ida, problem->end) == IDA_SUCCESS, "IDASetStopTime");
  require(IDASetLinearSolver(ida, solver, matrix) == IDA_SUCCESS, "IDASetLinearSolver");
  require(IDASetJacFn(ida, problem->jacobian) == IDA_SUCCESS, "IDASetJacFn");
  integrate_and_store(ida, problem, y, yp, row, stored);
  run.seconds = now() - begin;

  read_statistics(ida, &run);
  problem->check(problem->cells, stored + (size_t)(OUTPUT_POINTS - 1) * (size_t)problem->unknowns, &run.first, &run.last);
  if (options->store != NULL) write_trajectory(options->store, stored, (size_t)problem->unknowns * OUTPUT_POINTS);
  IDAFree(&ida);
  SUNLinSolFree(solver);
  SUNMatDestroy(matrix);
  N_VDestroy(row);
  free(stored);
  return run;
}

static int compare_doubles(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void print_json(const Problem *problem, const Options *options, double build, const Run *run, double *seconds) {
  const int repeats = options->repeats;
  qsort(seconds, (size_t)repeats, sizeof(double), compare_doubles);
  const double median = 0.5 * (seconds[(repeats - 1) / 2] + seconds[repeats / 2]);
  printf("{\"case\": \"%s\", \"n\": %ld, \"unknowns\": %ld, \"tolerance\": %g, ", problem->name, options->cells,
         (long)problem->unknowns, options->tolerance);
  printf("\"ordering\": \"%s\", \"vectors\": \"%s\", \"repeats\": %d, ", options->ordering, options->vectors, repeats);
  printf("\"build_seconds\": %.9f, \"seconds\": %.9f, \"median_seconds\": %.9f, ", build, seconds[0], median);
  printf("\"steps\": %ld, \"residuals\": %ld, \"jacobians\": %ld, \"iterations\": %ld, ", run->steps, run->residuals,
         run->jacobians, run->iterations);
  printf("\"error_test_failures\": %ld, \"convergence_failures\": %ld, ", run->error_test_failures, run->convergence_failures);
  printf("\"first\": %.12g, \"last\": %.12g}\n", run->first, run->last);
}

static int is_one_of(const char *word, const char *a, const char *b) { return strcmp(word, a) == 0 || strcmp(word, b) == 0; }

static int read_options(int argc, char **argv, Options *options) {
  *options = (Options){.tolerance = 1e-6, .ordering = "colamd", .vectors = "stock"};
  if (argc < 3 || argc % 2 == 0) return 0;
  options->cells = strtol(argv[1], NULL, 10);
  options->repeats = (int)strtol(argv[2], NULL, 10);
  for (int i = 3; i < argc; i += 2) {
    const char *name = argv[i], *value = argv[i + 1];
    if (strcmp(name, "--tolerance") == 0) options->tolerance = strtod(value, NULL);
    else if (strcmp(name, "--ordering") == 0) options->ordering = value;
    else if (strcmp(name, "--vectors") == 0) options->vectors = value;
    else if (strcmp(name, "--store") == 0) options->store = value;
    else return 0;
  }
  return options->cells > 0 && options->repeats > 0 && options->tolerance > 0.0 &&
         is_one_of(options->ordering, "amd", "colamd") && is_one_of(options->vectors, "stock", "tuned");
}

int run_benchmark(Problem (*state_problem)(sunindextype cells), int argc, char **argv) {
  Options options;
  if (!read_options(argc, argv, &options)) {
    fprintf(stderr, "usage: %s CELLS REPEATS [--tolerance X] [--ordering amd|colamd] [--vectors stock|tuned] [--store FILE]\n",
            argv[0]);
    return EXIT_FAILURE;
  }

  const double begin = now();
  Problem problem = state_problem(options.cells);
  SUNContext context;
  require(SUNContext_Create(SUN_COMM_NULL, &context) == 0, "SUNContext_Create");
  N_Vector y = N_VNew_Serial(problem.unknowns, context);
  require(y != NULL, "memory for the unknowns");
  y->ops->nvwrmsnorm = max_norm; /* before any clone, so that IDA's own vectors have them too */
  y->ops->nvwrmsnormmask = max_norm_mask;
  if (strcmp(options.vectors, "tuned") == 0) use_tuned_operations(y);
  N_Vector yp = N_VClone(y);
  N_Vector differential = N_VClone(y);
  double *seconds = malloc((size_t)options.repeats * sizeof(double));
  require(yp && differential && seconds, "memory for the unknowns");
  const double build = now() - begin;

  Run run = {0};
  for (int i = 0; i < options.repeats; i++) {
    run = simulate(&problem, &options, context, y, yp, differential);
    seconds[i] = run.seconds;
  }
  print_json(&problem, &options, build, &run, seconds);

  free(seconds);
  N_VDestroy(differential);
  N_VDestroy(yp);
  N_VDestroy(y);
  SUNContext_Free(&context);
  return EXIT_SUCCESS;
}
