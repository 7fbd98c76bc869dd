// The tables' evaluation for processors with AVX2 and fused multiply-add; media.cpp asks the processor before it hands these out.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>

#if defined(__x86_64__)
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#include "media_tables.h"
namespace acausal::media {
Functions functions_for_avx2() { return functions; }
}  // namespace acausal::media
#pragma GCC pop_options
#else
#include "media_table.h"
namespace acausal::media {
Functions functions_for_avx2() { return {nullptr, nullptr}; }
}  // namespace acausal::media
#endif
