#!/usr/bin/env bash
# What tracing costs. Without arguments: how much longer a run takes when it writes the binary retirement trace, by
# instructions of the host (callgrind, the same on every host) and by time (the best of five). With the program of another
# commit as argument: also the host instructions of a run without a trace in both, which tell what observers cost
# when they are off. Needs valgrind.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v valgrind >/dev/null || { echo "scripts/trace-cost.sh: missing valgrind; on Debian or Ubuntu: sudo apt-get install -y valgrind" >&2; exit 2; }
cargo build --release --quiet
program=target/release/wave-sim
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

host_instructions() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" 2>&1 >/dev/null |
        sed -n 's/^==[0-9]*== Collected : \([0-9]*\).*/\1/p'
}
seconds() {
    for _ in 1 2 3 4 5; do "$@" 2>&1 >/dev/null | sed -n 's/^host: seconds=\([0-9.]*\).*/\1/p'; done | sort -n | head -1
}
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.3f", a / b }'; }

printf '%-16s %18s %10s %12s\n' kernel 'host instructions' time 'trace bytes'
for kernel in sgemm reduction spmv histogram; do
    run=("$program" "$kernel" --config gpu.ron --size small)
    traced=("${run[@]}" --wvfi "$folder/t.wvfi")
    off=$(host_instructions "${run[@]}")
    on=$(host_instructions "${traced[@]}")
    # The full size, so that starting up does not count.
    long=("$program" "$kernel" --config gpu.ron)
    time=$(ratio "$(seconds "${long[@]}" --wvfi "$folder/t.wvfi")" "$(seconds "${long[@]}")")
    printf '%-16s %17sx %9sx %12d' "$kernel" "$(ratio "$on" "$off")" "$time" "$(stat -c %s "$folder/t.wvfi")"
    if [ $# -gt 0 ]; then
        before=$(host_instructions "$1" "$kernel" --config gpu.ron --size small)
        printf '   off: %sx of %s' "$(ratio "$off" "$before")" "$1"
    fi
    printf '\n'
done
