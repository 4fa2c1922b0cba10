#!/usr/bin/env bash
# Prints cycles, instructions and registers of the kernels that the suite has in C and in hand-written assembly, and the
# geometric mean of the ratios of cycles, on the default machine. With `wgsl` or `cuda` those in WGSL or CUDA C++ instead.
# `full` runs the full size, else it is the small one. A name prints the code of one kernel too.
set -euo pipefail
cd "$(dirname "$0")/.."
language=c
for word in "$@"; do
    case "$word" in
        full) export WAVE_SIM_FULL=1 ;;
        wgsl | cuda) language=$word ;;
        *) export WAVE_SIM_ONLY="$word" ;;
    esac
done
cargo test --quiet -p wave-compile --test c "compiled_${language}_is_nearly" -- --nocapture
