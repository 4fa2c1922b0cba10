#!/usr/bin/env bash
# Times incremental builds: after an edit of the report, of a study, of the core, and of the opcode table. Prints the
# seconds and the crates that were built again, for the tests' profile and, with --release, for the release profile.
# `first` builds the executable from nothing in the profiles that follow (release, dist), and prints seconds, processor
# time and size.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ "${1:-}" = first ]; then
    shift
    cargo fetch --quiet
    printf '%-9s %9s %18s %9s\n' profile seconds 'processor seconds' MB
    for profile in "${@:-release}"; do
        target="$(mktemp -d)"
        trap 'rm -rf "$target"' EXIT
        TIMEFORMAT='%R %U %S'
        spent="$({ time cargo build --quiet -p wave-sim --profile "$profile" --target-dir "$target" >&2; } 2>&1 | tail -n 1)"
        size="$(stat -c %s "$target/$profile/wave-sim")"
        awk -v p="$profile" -v t="$spent" -v s="$size" 'BEGIN {
            split(t, a, " "); printf "%-9s %9.0f %18.0f %9.1f\n", p, a[1], a[2] + a[3], s / 1e6 }'
        rm -rf "$target"
    done
    exit
fi
profile=("$@")
cargo build --quiet "${profile[@]}"
printf '%-36s %9s  %s\n' 'edited file' 'seconds' 'crates built again'
for file in sim/study/src/report/page.rs sim/observe/src/races/report.rs sim/machine/src/core/issue.rs sim/isa/src/rows.rs; do
    touch "$file"
    start=$(date +%s.%N)
    built=$(cargo build "${profile[@]}" 2>&1 | sed -n 's/^ *Compiling \(wave-[a-z]*\) .*/\1/p' | tr '\n' ' ')
    seconds=$(awk -v a="$start" -v b="$(date +%s.%N)" 'BEGIN { printf "%.1f", b - a }')
    # A build that compiles nothing would look like the fastest of all.
    if [ -z "$built" ]; then echo "scripts/build-times.sh: an edit of $file built nothing again" >&2; exit 1; fi
    printf '%-36s %9s  %s\n' "$file" "$seconds" "$built"
done
