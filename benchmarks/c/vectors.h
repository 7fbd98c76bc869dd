/* Vector operations for IDA compiled with the program instead of those of the installed SUNDIALS.
 *
 * Distributions may ship SUNDIALS compiled without optimisation (Debian 12 does); its vector operations then take about
 * 70 % of a run. `limit` therefore measures both: the program on the library as it is installed, and the same program
 * with these plain loops.
 */
#ifndef VECTORS_H
#define VECTORS_H

#include <sundials/sundials_nvector.h>

/* To be called before `vector` is cloned. */
void use_tuned_operations(N_Vector vector);

#endif
