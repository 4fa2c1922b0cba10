#!/usr/bin/env bash
# Compiles the suite in CUDA C++ to PTX, which is checked in. Needs clang from 14 on, and nothing of NVIDIA.
set -euo pipefail
cd "$(dirname "$0")/../sim/kernels/cuda"
headers=../../compile/src/c/library/cuda
for source in *.cu; do
    "${CLANG:-clang++}" -std=c++17 -x cuda --cuda-gpu-arch=sm_75 -nocudainc -nocudalib --cuda-device-only -S -O2 \
        -isystem "$headers" -include wave_cuda.h "$source" -o "${source%.cu}.ptx"
done
