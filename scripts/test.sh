#!/usr/bin/env bash
# Runs every check of the repository: format, lints, all tests, and the README's main command. Prints the time of each
# step and of each test. Needs Rust. On Debian and Ubuntu it installs the other packages itself if it is root or sudo
# needs no password; otherwise it prints the command that installs them.
set -euo pipefail
cd "$(dirname "$0")/.."

# The tests build two reference models with cmake: Berkeley SoftFloat, in C, and DRAMsim3, in C++. `.cargo/config.toml`
# lets CMake 4 build the first.
need=()
command -v cc >/dev/null || need+=(gcc libc6-dev)
command -v c++ >/dev/null || need+=(g++)
command -v cmake >/dev/null || need+=(cmake)
command -v make >/dev/null || need+=(make)
# Verilator compiles the SystemVerilog core. WAVE_SIM_SKIP_RTL=1 skips the tests that need it.
if [ "${WAVE_SIM_SKIP_RTL:-}" != 1 ]; then command -v verilator >/dev/null || need+=(verilator zlib1g-dev); fi
# ptxas, from PyPI, assembles the PTX of kernels. WAVE_SIM_SKIP_PTXAS=1 skips the tests that need it.
if [ "${WAVE_SIM_SKIP_PTXAS:-}" != 1 ] && [ -z "${PTXAS:-}" ]; then
    python3 -c 'import ensurepip, venv' 2>/dev/null || need+=(python3-venv)
fi
# clang compiles kernels in C. WAVE_SIM_SKIP_CLANG=1 skips the tests that need it.
if [ "${WAVE_SIM_SKIP_CLANG:-}" != 1 ]; then
    command -v clang >/dev/null || need+=(clang)
    command -v wasm-ld >/dev/null || need+=(lld)
    # Programs for OpenCL include its headers.
    [ -e /usr/include/CL/cl.h ] || need+=(opencl-headers)
fi
# callgrind counts host instructions. WAVE_SIM_SKIP_CALLGRIND=1 skips the tests that need it.
if [ "${WAVE_SIM_SKIP_CALLGRIND:-}" != 1 ]; then command -v valgrind >/dev/null || need+=(valgrind); fi
# A browser opens the HTML reports. WAVE_SIM_SKIP_BROWSER=1 skips the tests that need it.
if [ "${WAVE_SIM_SKIP_BROWSER:-}" != 1 ]; then
    command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null ||
        need+=(chromium fonts-dejavu-core)
fi
# Python runs the tests of its package, and a notebook. WAVE_SIM_SKIP_PYTHON=1 skips them.
if [ "${WAVE_SIM_SKIP_PYTHON:-}" != 1 ]; then
    scripts/python-for-tests.sh >/dev/null 2>&1 ||
        need+=(python3 python3-numpy python3-pandas python3-matplotlib python3-nbclient python3-ipykernel)
fi
if [ ${#need[@]} -gt 0 ]; then
    as_root=()
    [ "$(id -u)" = 0 ] || as_root=(sudo -n)
    if ! command -v apt-get >/dev/null || ! { "${as_root[@]}" apt-get update -qq &&
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "${need[@]}"; } >/dev/null 2>&1; then
        echo "scripts/test.sh: missing ${need[*]}; on Debian or Ubuntu: sudo apt-get install -y ${need[*]}" >&2
        exit 2
    fi
fi
if ! command -v cargo >/dev/null; then
    echo "scripts/test.sh: cargo is missing; install Rust 1.91 or newer: https://rustup.rs" >&2
    exit 2
fi

begun() { printf '\n== %s\n' "$*"; begin=$SECONDS; }
ended() { printf -- '-- %d s\n' $((SECONDS - begin)); }
step() { begun "$@"; "$@"; ended; }
if cargo fmt --version >/dev/null 2>&1; then step cargo fmt --check; fi
if cargo clippy --version >/dev/null 2>&1; then
    if [ "${CI:-}" = true ]; then
        # A clean clone: clippy compiles the workspace for the tests, so that each crate is gone through once. Nothing of it
        # is compiled again or looked at in a debugger, so what would serve that is left out.
        export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=none RUSTC_WORKSPACE_WRAPPER=clippy-driver
        export CLIPPY_ARGS=-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__
        step cargo test --workspace --no-run --quiet
        step cargo test --workspace --benches --no-run --quiet
    else
        step cargo clippy --workspace --all-targets --quiet -- -D warnings
    fi
fi
log="$(mktemp)" WAVE_SIM_TEST_TIMES="$(mktemp)"
export WAVE_SIM_TEST_TIMES
passed=0
begun scripts/test-executables.sh
scripts/test-executables.sh 2>&1 | tee "$log" || passed=$?
ended
begun cargo test --workspace --doc --quiet
cargo test --workspace --doc --quiet || passed=$?
ended
printf '\n== seconds of each test executable, and those of the processors\n'
sort -rn "$WAVE_SIM_TEST_TIMES" |
    awk '{ printf "%9.1f %9.1f  %s\n", $1, $2, $3; sum += $1; work += $2 } END { printf "%9.1f %9.1f  all\n", sum, work }'
printf '\n== seconds of the 40 slowest tests\n'
sed -n -e 's/^executable /of /p' -e 's/^test \(.*\) \.\.\. .*<\([0-9.]*\)s>$/\2 \1/p' "$log" |
    awk '$1 == "of" { of = $2; next } { print $1, of "::" $2 }' | sort -rn | awk 'NR <= 40 { printf "%9.1f  %s\n", $1, $2 }'
# Where no time is noted, nothing says how long the tests take.
[ -s "$WAVE_SIM_TEST_TIMES" ] || { echo "scripts/test.sh: no test executable has left its time" >&2; exit 1; }
rm "$log" "$WAVE_SIM_TEST_TIMES"
[ "$passed" = 0 ] || exit "$passed"
# The README's main command prints the README's table, and the measured figures of the book match the current machine.
# Both use the executable that the tests have just built: results do not depend on the build profile. A release build or
# `cargo run` would compile the simulator once more.
program="${CARGO_TARGET_DIR:-target}/debug/wave-sim"
measured="$(mktemp -d)"
"$program" measure --config configs/gpu.ron --save "$measured" >"$measured/gpu.txt" &
begun "$program --config configs/gpu.ron, compared with README.md"
table="$("$program" --config configs/gpu.ron 2>/dev/null)"
echo "$table"
diff <(sed -n '/^```text/,/^```$/p' README.md | sed '1d;$d') <(echo "$table")
ended
begun docs/measure
wait %%
diff -r docs/measure "$measured"
rm -r "$measured"
ended
