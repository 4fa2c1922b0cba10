#!/usr/bin/env bash
# Runs random kernels in PTX, compiled and interpreted: scripts/ptx-campaign.sh FIRST END [PROCESSES]
# Compiles damaged texts in PTX:                        scripts/ptx-campaign.sh mutations FIRST END [PROCESSES]
#
# Prints how many ran. A kernel that goes wrong is made smaller and printed, and the exit code is not 0.
set -euo pipefail
name=random::random_kernels_do_what_the_interpreter_does
if [ "${1:-}" = mutations ]; then
    name=mutations::no_text_makes_it_panic
    shift
fi
first=${1:?the first seed} end=${2:?the seed after the last} processes=${3:-1}
cd "$(dirname "$0")/../sim/compile"
# `target` may be elsewhere: cargo says where it puts the test.
test=$(cargo test --quiet --workspace --test ptx --no-run --message-format=json |
    grep -o '"executable":"[^"]*/ptx-[^"]*"' | tail -1 | cut -d'"' -f4)
step=$(((end - first + processes - 1) / processes))
failed=0
pids=()
for ((from = first; from < end; from += step)); do
    to=$((from + step < end ? from + step : end))
    WAVE_SIM_PTX_SEEDS=$from..$to "$test" --exact "$name" --nocapture &
    pids+=($!)
done
for pid in "${pids[@]}"; do
    wait "$pid" || failed=1
done
exit "$failed"
