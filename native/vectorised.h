// Loops that are compiled for more than one kind of processor and chosen at load time, where the compiler can: by what a processor
// can do, not by its name, which "arch=haswell" would ask for (others than Intel's were left with the default).
#pragma once

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__)
#define VECTORISED __attribute__((target_clones("avx2", "default")))
#else
#define VECTORISED
#endif
