#!/usr/bin/env bash
# Measures the speed of the simulator. Runs all parts, or only those named: `emulator` (against the reference functional
# emulator on the same kernels), `functional` (runs without timing, against the same emulator), `threads` (host
# threads), `idle` (with and without skipping of idle cycles), `scale` (1 to 128 cores, a million workgroups), `start`
# (start-up time), `compile` (a WebAssembly module of one megabyte), `debug` (a step backwards after ten million cycles,
# snapshots), `checkpoint` (size and time of a checkpoint file). Prints ratios between measurements of the same run.
set -euo pipefail
cd "$(dirname "$0")/.."
exec cargo bench --quiet --bench speed -- "$@"
