#!/usr/bin/env bash
# Tests the Python package: builds the module and the executable that it is compared with, puts the package together in a
# temporary folder, and runs sim/python/tests. Needs Python 3.10 or newer with NumPy, pandas, matplotlib, nbclient and
# ipykernel; PYTHON names the interpreter. Without Triton, the tests of its driver are skipped (docs/triton.md). With a
# folder it builds nothing and takes what is there, as `cargo test` has it do.
set -euo pipefail
cd "$(dirname "$0")/.."
python="$(scripts/python-for-tests.sh)"

target="${1:-}"
if [ -z "$target" ]; then
    cargo build --quiet -p wave-python -p wave-sim
    target="${CARGO_TARGET_DIR:-target}/debug"
fi
package="$(mktemp -d)"
trap 'rm -rf "$package"' EXIT
cp -R sim/python/wave_sim "$package/"
# Cargo leaves a module that a test needs in `deps` only. The newest is the one that has been built last.
module="$(ls -t "$target"/{,deps/}lib_wave_sim.{so,dylib} 2>/dev/null | head -1 || true)"
cp "$module" "$package/wave_sim/_wave_sim.abi3.so"

WAVE_SIM="$(realpath "$target/wave-sim")"
log="$package/log"
export WAVE_SIM PYTHONPATH="$package" PYTHONDONTWRITEBYTECODE=1 PYDEVD_DISABLE_FILE_VALIDATION=1
if ! "$python" -m unittest discover --start-directory sim/python/tests >"$log" 2>&1; then
    cat "$log"
    exit 1
fi
echo "Python package: $(sed -n 's/^Ran \([0-9]* tests\).*/\1/p' "$log") passed$(sed -n 's/^OK \((.*)\)$/ \1/p' "$log")"
