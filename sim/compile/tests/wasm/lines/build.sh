#!/usr/bin/env bash
# Makes smooth.wasm. It is checked in, so that the test needs no compiler; it was made with clang 14.
set -euo pipefail
cd "$(dirname "$0")"
clang --target=wasm32 -g -O2 -nostdlib -fdebug-compilation-dir=. -Wl,--no-entry -o smooth.wasm smooth.c
