#!/usr/bin/env bash
# Builds the plug-ins of sim/plugins as somebody outside of this repository does, and prints what each of them does to a
# kernel where it should help and to one where it should not. With `new`: makes the crate of `wave-sim new plugin` in a
# temporary folder, builds it and runs its tests.
set -euo pipefail
cd "$(dirname "$0")/.."
target="${CARGO_TARGET_DIR:-$PWD/target}/plugins"
if [ "${1:-}" = new ]; then
    folder="$(mktemp -d)"
    trap 'rm -rf "$folder"' EXIT
    cargo run --quiet --release -- new plugin "$folder/my_scheduler"
    CARGO_TARGET_DIR="$target" cargo test --quiet --manifest-path "$folder/my_scheduler/Cargo.toml"
    exit
fi
cargo build --quiet --release --manifest-path sim/plugins/Cargo.toml --target-dir "$target"
cd sim/plugins/kernels
program="$target/release/wave-plugins"
# Cycles of a kernel with settings.
cycles() {
    local kernel="$1" setting words=()
    shift
    for setting in "$@"; do words+=(--set "$setting"); done
    "$program" --config gpu.ron --set cores=4 "${words[@]}" --stats "$kernel" 2>/dev/null |
        awk '$1 == "kernel.cycles" { print $2; found = 1 } END { exit !found }' ||
        { echo "scripts/plugins.sh: $kernel does not run with $*" >&2; exit 1; }
}
printf '%-13s %-14s %10s %10s %7s  %s\n' plug-in kernel without with ratio settings
compare() {
    local plug_in="$1" kernel="$2" key="$3" built_in="$4" before after
    shift 4
    before="$(cycles "$kernel" "$@" "$key=$built_in")"
    after="$(cycles "$kernel" "$@" "$key=$plug_in")"
    printf '%-13s %-14s %10d %10d %7.3f  %s\n' "$plug_in" "${kernel%.ron}" "$before" "$after" \
        "$(awk "BEGIN { print $after / $before }")" "$*"
}
compare ccws gemv_rows.ron core.issue.policy gto core.l1.bytes=16KiB core.schedulers=1
compare ccws saxpy core.issue.policy gto core.l1.bytes=16KiB core.schedulers=1
compare ship hot_table.ron core.l1.replacement lru core.l1.bytes=4KiB
compare ship saxpy core.l1.replacement lru core.l1.bytes=4KiB
compare stride hot_table.ron core.l1.prefetcher none core.max_waves=4 core.max_workgroups=1
compare stride pointer_chase core.l1.prefetcher none
compare victim_cache pairs.ron core.l1.path none core.l1.ways=1 core.l1.bytes=16KiB core.max_waves=4 \
    core.max_workgroups=1 victim_cache.lines=64
compare victim_cache saxpy core.l1.path none core.l1.ways=1 core.l1.bytes=16KiB
