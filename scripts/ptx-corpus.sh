#!/usr/bin/env bash
# How many kernels of a corpus compile, and why the others do not: scripts/ptx-corpus.sh FOLDER...
#
# Takes every .ptx file below the folders, and makes PTX of every .cu file that clang compiles with the header of the suite.
# Fetches nothing. Prints a line a file, then the sums by reason. CUDA_FLAGS go to clang, such as -I for headers that host
# code needs.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
wave_sim=${WAVE_SIM:-$here/target/release/wave-sim}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
compiled=0 refused=0 files=0 unread=0
while IFS= read -r -d '' file; do
    ptx=$file
    if [[ $file == *.cu ]]; then
        ptx=$work/kernel.ptx
        # shellcheck disable=SC2086
        if ! "${CLANG:-clang++}" -std=c++14 -w -x cuda --cuda-gpu-arch=sm_75 -nocudainc -nocudalib --cuda-device-only -S -O2 \
            -include "$here/sim/kernels/cuda/cuda.h" -I"$(dirname "$file")" ${CUDA_FLAGS:-} "$file" -o "$ptx" 2>"$work/clang"; then
            unread=$((unread + 1))
            echo "$file: clang: $(grep -m1 -o 'error: .*' "$work/clang" || true)"
            continue
        fi
    fi
    entries=$(grep -c '\.entry' "$ptx" || true)
    [[ $entries == 0 ]] && continue
    files=$((files + 1))
    "$wave_sim" check "$ptx" --source-format ptx >"$work/out" 2>"$work/err" || true
    taken=$(grep -c '^kernel ' "$work/out" || true)
    compiled=$((compiled + taken))
    refused=$((refused + entries - taken))
    grep -E '^(error|warning): ' "$work/err" >>"$work/reasons" || true
    echo "$file: $taken of $entries"
done < <(find "$@" \( -name '*.ptx' -o -name '*.cu' \) -print0 | sort -z)
echo "$files files with kernels, $unread that clang does not compile; $compiled kernels compiled, $refused refused"
[[ -f $work/reasons ]] && sort "$work/reasons" | uniq -c | sort -rn || true
