#!/usr/bin/env bash
# Runs the test executables of the workspace, two at a time: `cargo test` runs one after the other, and a processor waits
# wherever the last test of one is long. Where there are two processors for it, each executable keeps to one of them, so
# that no thread of a simulation waits for one that has no processor. Prints what each has to say when it has ended, with
# the time of each test, and adds a line to the file that WAVE_SIM_TEST_TIMES names: seconds, seconds of the processors,
# name. The exit code is 0 if all have passed. Examples of the documentation are not among them: `cargo test --workspace
# --doc`.
set -uo pipefail
cd "$(dirname "$0")/.."
export WAVE_SIM_TEST_TIMES="${WAVE_SIM_TEST_TIMES:-$(mktemp)}"

if [ "${1:-}" = --one ]; then
    # One of them, as `cargo test` would run it: in the folder of its package.
    executable="$2" package="$3"
    name="$(basename "$executable" | sed 's/-[0-9a-f]\{16\}$//')"
    log="$(mktemp)"
    # The list of processors, such as `0,2-5`, and one of the first two of them for each of the two places.
    on=() processors=()
    if command -v taskset >/dev/null; then
        for range in $(taskset -pc $$ | sed 's/.*: //; s/,/ /g'); do
            for processor in $(seq "${range%-*}" "${range#*-}"); do processors+=("$processor"); done
        done
        if [ ${#processors[@]} -ge 2 ]; then on=(taskset -c "${processors[$PLACE]}"); fi
    fi
    TIMEFORMAT='%R %U %S'
    cd "$package" || exit 1
    # Stable Rust reports the time of a test only to those who say that they know the flag to be unstable. The variable
    # reaches the test executable and not the compiler, so the build is that of stable Rust.
    # Two tests of it at a time: some wait for a browser, or for a signal.
    export RUST_TEST_THREADS=2 RUSTC_BOOTSTRAP=1
    { time "${on[@]}" "$executable" -Z unstable-options --report-time >"$log" 2>&1; } 2>"$log.time"
    code=$?
    (
        flock 9
        printf '\nexecutable %s\n' "$name"
        cat "$log"
        [ "$code" = 0 ] || echo "failed: $name, with exit code $code"
        awk -v name="$name" '{ printf "%.1f %.1f %s\n", $1, $2 + $3, name }' "$log.time" >>"$WAVE_SIM_TEST_TIMES"
    ) 9>>"$WAVE_SIM_TEST_TIMES.lock"
    rm "$log" "$log.time"
    exit "$code"
fi

cargo test --workspace --no-run --quiet || exit
list="$(mktemp)"
cargo test --workspace --no-run --message-format=json 2>/dev/null |
    sed -n 's/^{"reason":"compiler-artifact".*"manifest_path":"\([^"]*\)\/Cargo.toml".*"overflow_checks":[a-z]*,"test":true}.*"executable":"\([^"]*\)".*$/\2 \1/p' >"$list"
if [ "$(wc -l <"$list")" -lt 40 ]; then
    echo "scripts/test-executables.sh: cargo names $(wc -l <"$list") test executables" >&2
    exit 1
fi
# Executables of macros load the compiler's library, as cargo lets them.
export LD_LIBRARY_PATH="$(rustc --print target-libdir)${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
# The longest first, so that none of them is left alone at the end.
long='/\(cli\|cosim\|timing\|report\|package\|translation\|host_instructions\|packets\)-[0-9a-f]\{16\} '
{ grep "$long" "$list" | sort -t/ -k1,1; grep -v "$long" "$list"; } |
    xargs -P 2 -L 1 --process-slot-var=PLACE "$PWD/scripts/test-executables.sh" --one
code=$?
rm "$list"
rm -f "$WAVE_SIM_TEST_TIMES.lock"
exit "$code"
