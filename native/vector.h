// N_Vectors whose error norms are weighted maximum norms, with vectorised arithmetic.
#pragma once

#include <nvector/nvector_serial.h>
#include <sundials/sundials_config.h>
#include <sundials/sundials_context.h>

#if SUNDIALS_VERSION_MAJOR >= 7 // the old name is gone
using realtype = sunrealtype;
#endif

namespace acausal {

// A vector over memory owned by somebody else. SUNDIALS' root-mean-square norm lets the error of one variable grow with the
// square root of the size of the plant; with the maximum norm what happens in one valve is as accurate in a large plant as in
// a small one. Vectors SUNDIALS clones from this one inherit the norms.
// The vectors that were combined last: IDAS' history, after IDAGetDky().
N_Vector *last_combined();
N_Vector make_vector(int64_t size, double *data, SUNContext context);

} // namespace acausal
