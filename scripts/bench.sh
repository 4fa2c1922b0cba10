#!/usr/bin/env bash
# How fast the simulator is. Without arguments everything, or the parts that are named: `emulator` (beside the reference
# functional emulator on the same kernels), `threads`, `idle` (idle cycles skipped or not), `scale` (1 to 128 cores, a
# million workgroups), `start` (start-up time). What is compared comes from one run, as ratios.
set -euo pipefail
cd "$(dirname "$0")/.."
exec cargo bench --quiet --bench speed -- "$@"
