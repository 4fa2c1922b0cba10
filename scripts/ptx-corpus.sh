#!/usr/bin/env bash
# How many kernels of a corpus compile, and why the others do not: scripts/ptx-corpus.sh FOLDER...
#
# Takes every .ptx, .cu and .cl file below the folders. Fetches nothing. Prints a line a file, then the sums by reason.
# CUDA_FLAGS go to clang, such as -I for headers that host code needs.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
wave_sim=${WAVE_SIM:-$here/target/release/wave-sim}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
compiled=0 refused=0 files=0 unread=0
while IFS= read -r -d '' file; do
    entries=$(grep -cE '\.entry|__global__|__kernel|[^_]kernel void' "$file" || true)
    [[ $entries == 0 ]] && continue
    files=$((files + 1))
    flags=()
    # shellcheck disable=SC2206
    [[ $file == *.ptx ]] || flags=(-- -w -I"$(dirname "$file")" ${CUDA_FLAGS:-})
    "$wave_sim" check "$file" "${flags[@]}" >"$work/out" 2>"$work/err" || true
    if grep -q '^error: clang ' "$work/err"; then
        unread=$((unread + 1))
        echo "$file: clang: $(grep -m1 -o 'error: [^c].*' "$work/err" || true)"
        continue
    fi
    taken=$(grep -c '^kernel ' "$work/out" || true)
    not=$(grep -cE '^(error|warning): ' "$work/err" || true)
    compiled=$((compiled + taken))
    refused=$((refused + not))
    grep -E '^(error|warning): ' "$work/err" >>"$work/reasons" || true
    echo "$file: $taken of $((taken + not))"
done < <(find "$@" \( -name '*.ptx' -o -name '*.cu' -o -name '*.cl' \) -print0 | sort -z)
echo "$files files with kernels, $unread that clang does not compile; $compiled kernels compiled, $refused refused"
[[ -f $work/reasons ]] && sort "$work/reasons" | uniq -c | sort -rn || true
