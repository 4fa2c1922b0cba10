#!/usr/bin/env bash
# Measures the cost of tracing, off and on. Prints, for a few kernels (or those in $KERNELS):
#
#   off   host instructions of a run without a trace, divided by those of a build whose sources contain no observer
#         code (scripts/without_observers.py). 1.000 means that an unused trace costs nothing.
#   on    host instructions of a run that writes the binary retirement trace, divided by those of a run without it
#   time  the same ratio in seconds: median of five pairs of runs, with the kernels at full size
#
# All runs simulate on one thread; trace records are built on a second thread. callgrind counts host instructions, so
# `off` and `on` are the same on every host. It does not see the operating system's work to write the file; `time`
# does. Needs valgrind and Python 3. Builds two release programs.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v valgrind >/dev/null || { echo "scripts/trace-cost.sh: missing valgrind; on Debian or Ubuntu: sudo apt-get install -y valgrind" >&2; exit 2; }
cargo build --release --quiet
program=target/release/wave-sim
python3 scripts/without_observers.py target/no-observers/source
cargo build --release --quiet --manifest-path target/no-observers/source/Cargo.toml --target-dir target/no-observers \
    2>target/no-observers/warnings.txt || { cat target/no-observers/warnings.txt >&2; exit 1; }
bare=target/no-observers/release/wave-sim
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

host_instructions() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" 2>&1 >/dev/null |
        sed -n 's/^==[0-9]*== Collected : \([0-9]*\).*/\1/p' | one_number "instructions of $*"
}
seconds() { "$@" 2>&1 >/dev/null | sed -n 's/^host: seconds=\([0-9.]*\).*/\1/p' | one_number "seconds of $*"; }
# A program that says no number, or 0, would be compared as nothing.
one_number() {
    read -r number && [ "$(awk -v n="$number" 'BEGIN { print (n > 0) }')" = 1 ] ||
        { echo "scripts/trace-cost.sh: there are no $1" >&2; exit 1; }
    echo "$number"
}
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.4f", a / b }'; }

printf '%-12s %9s %9s %9s %14s\n' kernel off on time 'trace bytes'
for kernel in ${KERNELS:-sgemm reduction spmv histogram}; do
    small=("$kernel" --config gpu.ron --size small --threads 1)
    off=$(host_instructions "$program" "${small[@]}")
    without=$(host_instructions "$bare" "${small[@]}")
    on=$(host_instructions "$program" "${small[@]}" --wvfi "$folder/t.wvfi")
    full=("$program" "$kernel" --config gpu.ron --threads 1)
    time=$(for _ in 1 2 3 4 5; do
        before=$(seconds "${full[@]}")
        echo "$(ratio "$(seconds "${full[@]}" --wvfi "$folder/t.wvfi")" "$before")"
    done | sort -n | sed -n 3p)
    printf '%-12s %8sx %8.2fx %8.2fx %14d\n' \
        "$kernel" "$(ratio "$off" "$without")" "$(ratio "$on" "$off")" "$time" "$(stat -c %s "$folder/t.wvfi")"
done
