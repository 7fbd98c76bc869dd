/* Thermostatted rooms of the suite `events`: n rooms that share nothing but the weather, each switching by itself.
 *
 *   C_i T_i' = G_i (T_out - T_i) + P_i on_i,   T_out = 273.15 + 5 sin(2 pi t / 86400)
 *   on_i becomes true where T_i falls below low_i, false where it rises above high_i
 *
 * The parameters are spread so that rooms do not fall into step. With a_i = (7919 i mod 10007) / 10007,
 * b_i = (4801 i mod 10009) / 10009, c_i = (3571 i mod 9973) / 9973 (integers, then one division: the same in any language)
 *
 *   C_i = 8e6 + 2e6 a_i     G_i = 90 + 20 b_i     P_i = 4000 + 800 c_i
 *   low_i = 293.15 + c_i    high_i = low_i + 1.5 + a_i
 *   T_i(0) = low_i + (high_i - low_i) (0.05 + 0.9 b_i), so that no room starts at a limit     on_i(0) = i odd
 *
 * A room switches about ten times a day. One root function a room, of the limit that matters at present. At a root: switch,
 * new T' from the equation (it is explicit, so nothing needs to be solved), IDAReInit, on. `--first-step F` then begins with
 * F times the last step before the event instead of the step IDA chooses for itself: what a restart at order 1 costs at least.
 *
 * Norms, tolerances, Jacobian, output by interpolation and time measured as in integrate.c; nothing is stored at events.
 */
#define _POSIX_C_SOURCE 200809L

#include "integrate.h"
#include "vectors.h"

#include <idas/idas.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sundials/sundials_config.h>
#include <sunlinsol/sunlinsol_klu.h>
#include <sunmatrix/sunmatrix_sparse.h>
#include <time.h>

#if SUNDIALS_VERSION_MAJOR < 7
#define SUN_COMM_NULL NULL
#endif

enum { OUTPUT_POINTS = 100 };
static const double DAY = 86400.0, TWO_PI = 6.283185307179586;

typedef struct {
  long rooms;
  int repeats;
  double days, tolerance; /* relative and absolute */
  double first_step;      /* in steps before the event; 0: IDA's choice */
  const char *vectors;    /* stock: vector operations of the installed SUNDIALS; tuned: those of vectors.c */
} Options;

typedef struct {
  sunindextype n;
  double *C, *G, *P, *low, *high, *on;
} Rooms;

typedef struct {
  double seconds, first, last, sum;
  long events, switches, steps, residuals, jacobians, roots;
} Run;

/* --- the equations ------------------------------------------------------------------------------------------------------- */

static double outside(double t) { return 273.15 + 5.0 * sin(TWO_PI * t / DAY); }

static int residual(double t, N_Vector y, N_Vector yp, N_Vector out, void *data) {
  const Rooms *rooms = data;
  const double *restrict T = N_VGetArrayPointer(y), *restrict der_T = N_VGetArrayPointer(yp);
  const double *restrict C = rooms->C, *restrict G = rooms->G, *restrict P = rooms->P, *restrict on = rooms->on;
  double *restrict r = N_VGetArrayPointer(out);
  const double T_out = outside(t);
  for (sunindextype i = 0; i < rooms->n; i++) r[i] = C[i] * der_T[i] - G[i] * (T_out - T[i]) - P[i] * on[i];
  return 0;
}

static int jacobian(double t, double cj, N_Vector y, N_Vector yp, N_Vector r, SUNMatrix matrix, void *data, N_Vector tmp1,
                    N_Vector tmp2, N_Vector tmp3) {
  (void)t, (void)y, (void)yp, (void)r, (void)tmp1, (void)tmp2, (void)tmp3;
  const Rooms *rooms = data;
  double *restrict value = SUNSparseMatrix_Data(matrix);
  sunindextype *restrict row = SUNSparseMatrix_IndexValues(matrix);
  sunindextype *restrict column = SUNSparseMatrix_IndexPointers(matrix);
  for (sunindextype i = 0; i < rooms->n; i++) column[i] = row[i] = i, value[i] = rooms->C[i] * cj + rooms->G[i];
  column[rooms->n] = rooms->n;
  return 0;
}

static int limits(double t, N_Vector y, N_Vector yp, double *out, void *data) {
  (void)t, (void)yp;
  const Rooms *rooms = data;
  const double *T = N_VGetArrayPointer(y);
  for (sunindextype i = 0; i < rooms->n; i++) out[i] = T[i] - (rooms->on[i] > 0.0 ? rooms->high[i] : rooms->low[i]);
  return 0;
}

static void set_derivatives(const Rooms *rooms, double t, N_Vector y, N_Vector yp) {
  const double *T = N_VGetArrayPointer(y), T_out = outside(t);
  double *der_T = N_VGetArrayPointer(yp);
  for (sunindextype i = 0; i < rooms->n; i++)
    der_T[i] = (rooms->G[i] * (T_out - T[i]) + rooms->P[i] * rooms->on[i]) / rooms->C[i];
}

static Rooms make_rooms(sunindextype n) {
  double *memory = malloc(6 * (size_t)n * sizeof(double));
  require(memory != NULL, "memory for the parameters");
  Rooms rooms = {n, memory, memory + n, memory + 2 * n, memory + 3 * n, memory + 4 * n, memory + 5 * n};
  for (long i = 0; i < n; i++) {
    const double a = (double)(7919 * i % 10007) / 10007.0, c = (double)(3571 * i % 9973) / 9973.0;
    const double b = (double)(4801 * i % 10009) / 10009.0;
    rooms.C[i] = 8e6 + 2e6 * a;
    rooms.G[i] = 90.0 + 20.0 * b;
    rooms.P[i] = 4000.0 + 800.0 * c;
    rooms.low[i] = 293.15 + c;
    rooms.high[i] = rooms.low[i] + 1.5 + a;
  }
  return rooms;
}

static void start(Rooms *rooms, N_Vector y, N_Vector yp) {
  double *T = N_VGetArrayPointer(y);
  for (long i = 0; i < rooms->n; i++) {
    const double b = (double)(4801 * i % 10009) / 10009.0;
    T[i] = rooms->low[i] + (rooms->high[i] - rooms->low[i]) * (0.05 + 0.9 * b);
    rooms->on[i] = (double)(i % 2);
  }
  set_derivatives(rooms, 0.0, y, yp);
}

/* --- integration --------------------------------------------------------------------------------------------------------- */

/* IDAReInit sets IDA's counters to zero, so they are added up before. */
static void add_statistics(void *ida, Run *run) {
  long steps, residuals, jacobians, roots;
  require(IDAGetNumSteps(ida, &steps) == IDA_SUCCESS, "IDAGetNumSteps");
  require(IDAGetNumResEvals(ida, &residuals) == IDA_SUCCESS, "IDAGetNumResEvals");
  require(IDAGetNumJacEvals(ida, &jacobians) == IDA_SUCCESS, "IDAGetNumJacEvals");
  require(IDAGetNumGEvals(ida, &roots) == IDA_SUCCESS, "IDAGetNumGEvals");
  run->steps += steps, run->residuals += residuals, run->jacobians += jacobians, run->roots += roots;
}

static void restart(void *ida, Rooms *rooms, const Options *options, double t, int *found, N_Vector y, N_Vector yp, Run *run) {
  double last_step;
  require(IDAGetRootInfo(ida, found) == IDA_SUCCESS, "IDAGetRootInfo");
  require(IDAGetLastStep(ida, &last_step) == IDA_SUCCESS, "IDAGetLastStep");
  add_statistics(ida, run);
  run->events++;
  for (sunindextype i = 0; i < rooms->n; i++)
    if (found[i]) rooms->on[i] = 1.0 - rooms->on[i], run->switches++;
  set_derivatives(rooms, t, y, yp);
  require(IDAReInit(ida, t, y, yp) == IDA_SUCCESS, "IDAReInit");
  if (options->first_step > 0.0) require(IDASetInitStep(ida, options->first_step * last_step) == IDA_SUCCESS, "IDASetInitStep");
}

static void integrate(void *ida, Rooms *rooms, const Options *options, N_Vector y, N_Vector yp, N_Vector row, double *stored,
                      int *found, Run *run) {
  const double end = options->days * DAY, interval = end / (OUTPUT_POINTS - 1);
  const size_t width = (size_t)rooms->n;
  memcpy(stored, N_VGetArrayPointer(y), width * sizeof(double));
  double t = 0.0;
  for (int point = 1; point < OUTPUT_POINTS;) {
    const int flag = IDASolve(ida, end, &t, y, yp, IDA_ONE_STEP);
    require(flag >= 0, "IDASolve");
    for (; point < OUTPUT_POINTS; point++) {
      const double wanted = point == OUTPUT_POINTS - 1 ? end : point * interval;
      if (wanted > t) break;
      N_VSetArrayPointer(stored + (size_t)point * width, row);
      require(IDAGetDky(ida, wanted, 0, row) == IDA_SUCCESS, "IDAGetDky");
    }
    if (flag == IDA_ROOT_RETURN) restart(ida, rooms, options, t, found, y, yp, run);
  }
}

static void check(sunindextype n, const double *end, Run *run) {
  run->first = end[0], run->last = end[n - 1];
  for (sunindextype i = 0; i < n; i++) run->sum += end[i];
}

static Run simulate(Rooms *rooms, const Options *options, SUNContext context, N_Vector y, N_Vector yp) {
  Run run = {0};
  start(rooms, y, yp);
  const double begin = now();
  double *stored = malloc((size_t)rooms->n * OUTPUT_POINTS * sizeof(double));
  int *found = malloc((size_t)rooms->n * sizeof(int));
  N_Vector row = N_VNewEmpty_Serial(rooms->n, context);
  SUNMatrix matrix = SUNSparseMatrix(rooms->n, rooms->n, rooms->n, CSC_MAT, context);
  SUNLinearSolver solver = SUNLinSol_KLU(y, matrix, context);
  void *ida = IDACreate(context);
  require(stored && found && row && matrix && solver && ida, "creation of the integrator");
  require(IDAInit(ida, residual, 0.0, y, yp) == IDA_SUCCESS, "IDAInit");
  require(IDASStolerances(ida, options->tolerance, options->tolerance) == IDA_SUCCESS, "IDASStolerances");
  require(IDASetUserData(ida, rooms) == IDA_SUCCESS, "IDASetUserData");
  require(IDASetStopTime(ida, options->days * DAY) == IDA_SUCCESS, "IDASetStopTime");
  require(IDASetLinearSolver(ida, solver, matrix) == IDA_SUCCESS, "IDASetLinearSolver");
  require(IDASetJacFn(ida, jacobian) == IDA_SUCCESS, "IDASetJacFn");
  require(IDARootInit(ida, (int)rooms->n, limits) == IDA_SUCCESS, "IDARootInit");
  require(IDASetNoInactiveRootWarn(ida) == IDA_SUCCESS, "IDASetNoInactiveRootWarn");
  integrate(ida, rooms, options, y, yp, row, stored, found, &run);
  run.seconds = now() - begin;

  add_statistics(ida, &run);
  check(rooms->n, stored + (size_t)(OUTPUT_POINTS - 1) * (size_t)rooms->n, &run);
  IDAFree(&ida);
  SUNLinSolFree(solver);
  SUNMatDestroy(matrix);
  N_VDestroy(row);
  free(found);
  free(stored);
  return run;
}

static int read_options(int argc, char **argv, Options *options) {
  *options = (Options){.days = 1.0, .tolerance = 1e-6, .vectors = "stock"};
  if (argc < 3 || argc % 2 == 0) return 0;
  options->rooms = strtol(argv[1], NULL, 10);
  options->repeats = (int)strtol(argv[2], NULL, 10);
  for (int i = 3; i < argc; i += 2) {
    const char *name = argv[i], *value = argv[i + 1];
    if (strcmp(name, "--tolerance") == 0) options->tolerance = strtod(value, NULL);
    else if (strcmp(name, "--days") == 0) options->days = strtod(value, NULL);
    else if (strcmp(name, "--first-step") == 0) options->first_step = strtod(value, NULL);
    else if (strcmp(name, "--vectors") == 0) options->vectors = value;
    else return 0;
  }
  return options->rooms > 0 && options->repeats > 0 && options->days > 0.0 && options->tolerance > 0.0 &&
         (strcmp(options->vectors, "stock") == 0 || strcmp(options->vectors, "tuned") == 0);
}

int main(int argc, char **argv) {
  Options options;
  if (!read_options(argc, argv, &options)) {
    fprintf(stderr, "usage: %s ROOMS REPEATS [--days X] [--tolerance X] [--first-step X] [--vectors stock|tuned]\n", argv[0]);
    return EXIT_FAILURE;
  }
  SUNContext context;
  require(SUNContext_Create(SUN_COMM_NULL, &context) == 0, "SUNContext_Create");
  N_Vector y = N_VNew_Serial(options.rooms, context);
  require(y != NULL, "memory for the unknowns");
  y->ops->nvwrmsnorm = max_norm; /* before any clone, so that IDA's own vectors have it too */
  if (strcmp(options.vectors, "tuned") == 0) use_tuned_operations(y);
  N_Vector yp = N_VClone(y);
  require(yp != NULL, "memory for the unknowns");
  Rooms rooms = make_rooms(options.rooms);

  Run run = {0};
  double best = INFINITY;
  for (int i = 0; i < options.repeats; i++) {
    run = simulate(&rooms, &options, context, y, yp);
    best = run.seconds < best ? run.seconds : best;
  }
  printf("{\"case\": \"rooms\", \"n\": %ld, \"days\": %g, \"tolerance\": %g, \"first_step\": %g, \"vectors\": \"%s\", ",
         options.rooms, options.days, options.tolerance, options.first_step, options.vectors);
  printf("\"repeats\": %d, \"seconds\": %.9f, \"events\": %ld, \"switches\": %ld, \"steps\": %ld, ", options.repeats, best,
         run.events, run.switches, run.steps);
  printf("\"residuals\": %ld, \"jacobians\": %ld, \"roots\": %ld, ", run.residuals, run.jacobians, run.roots);
  printf("\"first\": %.12g, \"last\": %.12g, \"sum\": %.14g}\n", run.first, run.last, run.sum);

  free(rooms.C);
  N_VDestroy(yp);
  N_VDestroy(y);
  SUNContext_Free(&context);
  return EXIT_SUCCESS;
}
