#!/usr/bin/env bash
# Builds the kernels in Rust and AssemblyScript (sim/kernels/examples) to the modules that are checked in beside them, or
# into the folder that is given. Needs rustc with its target for WebAssembly, and npm, which fetches the compiler of
# AssemblyScript. A name, `rust` or `assemblyscript`, builds one of them.
set -euo pipefail
cd "$(dirname "$0")/../sim/kernels/examples"
only="${1:-}"
into="${2:-}"
if [ -z "$only" ] || [ "$only" = rust ]; then
    if ! ls "$(rustc --print target-libdir --target wasm32-unknown-unknown)" >/dev/null 2>&1; then
        echo "scripts/build-examples.sh: rustc has no target for WebAssembly: rustup target add wasm32-unknown-unknown" >&2
        exit 2
    fi
    # The stack has no bytes: each thread gets its own from wave-sim, which finds the stack pointer by its name.
    (cd rust && rustc --edition 2024 --target wasm32-unknown-unknown -O -g -C panic=abort \
        --remap-path-prefix "$PWD/=" -C link-arg=-zstack-size=0 -C link-arg=--export=__stack_pointer \
        sum.rs -o "${into:-.}/sum.wasm")
fi
if [ -z "$only" ] || [ "$only" = assemblyscript ]; then
    if ! command -v npx >/dev/null; then
        echo "scripts/build-examples.sh: npx is missing; on Debian or Ubuntu: sudo apt-get install -y npm" >&2
        exit 2
    fi
    (cd assemblyscript && npx --yes --package assemblyscript@0.28.20 asc collatz.ts -O --runtime stub --noAssert \
        -o "${into:-.}/collatz.wasm")
fi
