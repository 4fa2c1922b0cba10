#!/usr/bin/env bash
# Runs a test executable for cargo and prints the time of each of its tests. Adds a line with the seconds of the
# executable to the file that WAVE_SIM_TEST_TIMES names. scripts/test.sh sets it as the runner of `cargo test`.
set -uo pipefail
program="$1"
shift
# Examples of the documentation are executables elsewhere, without the flags of tests.
case "$program" in
*/deps/*) ;;
*) exec "$program" "$@" ;;
esac
name="$(basename "$program" | sed 's/-[0-9a-f]\{16\}\(\.exe\)\?$//')"
# `cargo test --quiet` asks for dots; a time has a line.
arguments=()
for argument in "$@"; do [ "$argument" = --quiet ] || arguments+=("$argument"); done
printf '\nexecutable %s\n' "$name"
begin="$(date +%s%N)"
# Stable Rust reports the time of a test only to those who say that they know the flag to be unstable. The variable
# reaches the test executable and not the compiler, so the build is that of stable Rust.
RUSTC_BOOTSTRAP=1 "$program" "${arguments[@]}" -Z unstable-options --report-time
code=$?
milliseconds=$((($(date +%s%N) - begin) / 1000000))
printf '%d.%03d %s\n' $((milliseconds / 1000)) $((milliseconds % 1000)) "$name" >>"$WAVE_SIM_TEST_TIMES"
exit "$code"
