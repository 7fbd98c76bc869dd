#!/bin/sh
# Build SuiteSparse (KLU) and SUNDIALS (IDAS) as static libraries for wheels: sh scripts/native_libraries.sh PREFIX
set -e
prefix=${1:?where to install}
suitesparse=7.8.3 sundials=7.1.1
work=$(mktemp -d)
cd "$work"
fetch() { curl -fsSL "$1" | tar xz; }
fetch "https://github.com/DrTimothyAldenDavis/SuiteSparse/archive/refs/tags/v$suitesparse.tar.gz"
cmake -S "SuiteSparse-$suitesparse" -B suitesparse -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_BUILD_TYPE=Release \
    -DSUITESPARSE_ENABLE_PROJECTS="suitesparse_config;amd;colamd;btf;klu" -DKLU_USE_CHOLMOD=OFF -DSUITESPARSE_USE_FORTRAN=OFF \
    -DSUITESPARSE_USE_OPENMP=OFF -DBUILD_SHARED_LIBS=OFF -DBUILD_STATIC_LIBS=ON -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_INSTALL_LIBDIR=lib
cmake --build suitesparse -j2 --target install
fetch "https://github.com/LLNL/sundials/releases/download/v$sundials/sundials-$sundials.tar.gz"
cmake -S "sundials-$sundials" -B sundials -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF \
    -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DEXAMPLES_ENABLE_C=OFF -DBUILD_ARKODE=OFF -DBUILD_CVODE=OFF -DBUILD_CVODES=OFF -DBUILD_IDA=OFF \
    -DBUILD_KINSOL=OFF -DCMAKE_INSTALL_LIBDIR=lib
cmake --build sundials -j2 --target install
rm -rf "$work"
