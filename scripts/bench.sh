#!/usr/bin/env bash
# Speed of wave-sim beside the reference functional emulator on the same kernels, in one run, one thread each; then
# the peak memory of the largest preset. Prints ratios: absolute figures depend on the host.
set -euo pipefail
cd "$(dirname "$0")/.."
exec cargo bench --quiet --bench emulator
