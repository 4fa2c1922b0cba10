#!/usr/bin/env bash
# Measures the speed of the simulator. Runs all parts, or only those named: `emulator` (against the reference functional
# emulator on the same kernels), `functional` (runs without timing, against the same emulator), `operations` (each
# operation of lane arithmetic against a move), `threads` (host threads), `trace` (with and without the retirement
# trace), `idle` (with and without skipping of idle cycles), `scale` (1 to 128 cores, a million workgroups), `start`
# (start-up time), `compile` (a WebAssembly module of one megabyte), `debug` (a step backwards after ten million cycles,
# snapshots), `checkpoint` (size and time of a checkpoint file), `sampled` (some kernels with `--sample` and in full;
# scripts/sampling.py has more). Prints ratios between measurements of the same run.
set -euo pipefail
cd "$(dirname "$0")/.."
sampled=false
parts=()
for part in "$@"; do
    if [ "$part" = sampled ]; then sampled=true; else parts+=("$part"); fi
done
if [ ${#parts[@]} -gt 0 ] || ! $sampled; then
    cargo bench --quiet --bench speed -- "${parts[@]}"
fi
if $sampled || [ $# -eq 0 ]; then
    cargo build --quiet --release
    printf '\n== sampled\n'
    python3 scripts/sampling.py --program "${CARGO_TARGET_DIR:-target}/release/wave-sim" \
        mandelbrot transpose_naive softmax bitonic_sort vector_add
fi
