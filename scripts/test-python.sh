#!/usr/bin/env bash
# Tests the Python package: builds the module and the executable that it is compared with, puts the package together in a
# temporary folder, and runs sim/python/tests. Needs Python 3.10 or newer with NumPy, pandas, matplotlib, nbclient and
# ipykernel; PYTHON names the interpreter. scripts/test.sh calls it.
set -euo pipefail
cd "$(dirname "$0")/.."
python="$(scripts/python-for-tests.sh)"

cargo build --quiet -p wave-python -p wave-sim
target="${CARGO_TARGET_DIR:-target}/debug"
package="$(mktemp -d)"
trap 'rm -rf "$package"' EXIT
cp -R sim/python/wave_sim "$package/"
module=
for made in lib_wave_sim.so lib_wave_sim.dylib; do [ ! -f "$target/$made" ] || module="$target/$made"; done
cp "$module" "$package/wave_sim/_wave_sim.abi3.so"

WAVE_SIM="$(realpath "$target/wave-sim")"
log="$package/log"
export WAVE_SIM PYTHONPATH="$package" PYTHONDONTWRITEBYTECODE=1 PYDEVD_DISABLE_FILE_VALIDATION=1
if ! "$python" -m unittest discover --start-directory sim/python/tests >"$log" 2>&1; then
    cat "$log"
    exit 1
fi
echo "Python package: $(sed -n 's/^Ran \([0-9]* tests\).*/\1/p' "$log") passed$(sed -n 's/^OK \((.*)\)$/ \1/p' "$log")"
