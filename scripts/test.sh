#!/usr/bin/env bash
# Every check of the repository: format, lints, all tests, and the README's main command. Needs Rust; on Debian
# and Ubuntu it installs the rest when it may (as root, or with sudo that asks for no password), else it names
# the command that does.
set -euo pipefail
cd "$(dirname "$0")/.."

# Two oracles of the tests are built with cmake: Berkeley SoftFloat, in C, and DRAMsim3, in C++.
need=()
command -v cc >/dev/null || need+=(gcc libc6-dev)
command -v c++ >/dev/null || need+=(g++)
command -v cmake >/dev/null || need+=(cmake)
command -v make >/dev/null || need+=(make)
# The core in SystemVerilog runs as a Verilated executable; WAVE_SIM_SKIP_RTL=1 goes without.
if [ "${WAVE_SIM_SKIP_RTL:-}" != 1 ]; then command -v verilator >/dev/null || need+=(verilator zlib1g-dev); fi
# The host's instructions are counted; WAVE_SIM_SKIP_CALLGRIND=1 goes without.
if [ "${WAVE_SIM_SKIP_CALLGRIND:-}" != 1 ]; then command -v valgrind >/dev/null || need+=(valgrind); fi
# Reports are tried in a browser; WAVE_SIM_SKIP_BROWSER=1 goes without.
if [ "${WAVE_SIM_SKIP_BROWSER:-}" != 1 ]; then
    command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null ||
        need+=(chromium fonts-dejavu-core)
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

step() { printf '\n== %s\n' "$*"; "$@"; }
if cargo fmt --version >/dev/null 2>&1; then step cargo fmt --check; fi
if cargo clippy --version >/dev/null 2>&1; then step cargo clippy --workspace --all-targets --quiet -- -D warnings; fi
step cargo test --workspace --quiet
# The README's command, and the figures in the book: they are those of the machine as it is. With the executable that the
# tests have just built; a release build says the same (results do not depend on the profile) and costs minutes more, as
# does `cargo run`, which builds once more with the features of no test.
program="${CARGO_TARGET_DIR:-target}/debug/wave-sim"
step "$program" --config configs/gpu.ron --size small
measured="$(mktemp -d)"
printf '\n== docs/measure\n'
"$program" measure --config configs/gpu.ron --save "$measured" >"$measured/gpu.txt"
diff -r docs/measure "$measured"
rm -r "$measured"
