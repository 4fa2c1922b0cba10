#!/usr/bin/env bash
# Compiles the programs of the suite in C (sim/kernels/c) to the modules that are checked in beside them. Needs clang 14,
# as Debian 12 has it, so that the bytes are the same everywhere; a test compares them.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! clang --version | grep -q 'clang version 14\.0\.'; then
    echo "scripts/build-c-suite.sh: needs clang 14; on Debian 12: sudo apt-get install -y clang lld" >&2
    exit 2
fi
UPDATE=1 cargo test --quiet -p wave-compile --test c the_modules_are_those_that_clang_makes
