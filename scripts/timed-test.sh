#!/usr/bin/env bash
# Runs a test executable in the folder of its crate, and prints the time of each of its tests: scripts/timed-test.sh
# FOLDER EXECUTABLE. What it prints comes at once when it has ended, so that two may run at a time. Adds a line with its
# seconds to the file that WAVE_SIM_TEST_TIMES names.
set -uo pipefail
folder="$1" program="$2"
name="$(basename "$program" | sed 's/-[0-9a-f]\{16\}\(\.exe\)\?$//')"
printed="$(mktemp)"
begin="$(date +%s%N)"
# Stable Rust reports the time of a test only to those who say that they know the flag to be unstable; the variable
# reaches the executable and no compiler.
(
    cd "$folder" || exit
    CARGO_MANIFEST_DIR="$folder" RUSTC_BOOTSTRAP=1 "$program" -Z unstable-options --report-time
) >"$printed" 2>&1
code=$?
milliseconds=$((($(date +%s%N) - begin) / 1000000))
{
    flock 9
    printf '\nexecutable %s\n' "$name"
    cat "$printed"
    printf '%d.%03d %s\n' $((milliseconds / 1000)) $((milliseconds % 1000)) "$name" >>"$WAVE_SIM_TEST_TIMES"
} 9>>"$WAVE_SIM_TEST_TIMES.lock"
rm "$printed"
exit "$code"
