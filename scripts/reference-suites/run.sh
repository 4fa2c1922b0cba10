#!/bin/sh
# The test suites of the reference toolchain (github.com/Oabraham1/wave) on wave-sim: its conformance tests
# (tests/spec-verification) and its tests of the emulator (tests/ci/run_emulator_tests.sh), unmodified.
#
#   git clone https://github.com/Oabraham1/wave reference
#   cargo build --release --bin wave-sim
#   scripts/reference-suites/run.sh reference target/release/wave-sim
#
# The toolchain is copied, and in the copy its crate wave-emu replaced by the one beside this script, whose library
# and command have the executable do the work. CARGO_TARGET_DIR says where things are built, if it is set. Ends with 0
# if all tests of both suites pass.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
if [ $# -ne 2 ] || [ ! -d "$1/tests/spec-verification" ] || [ ! -x "$2" ]; then
    echo "usage: $0 CHECKOUT EXECUTABLE, a checkout of the reference toolchain and wave-sim" >&2
    exit 2
fi
WAVE_SIM=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
export WAVE_SIM
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/wave"
(cd "$1" && tar -cf - --exclude=./.git --exclude=target .) | tar -xf - -C "$work/wave"
rm -r "$work/wave/wave-emu"
cp -r "$here/wave-emu" "$work/wave/wave-emu"
# The suites look for executables in the target folder of each crate.
built=${CARGO_TARGET_DIR:-$work/target}
unset CARGO_TARGET_DIR
mkdir -p "$built"
for crate in wave-asm wave-decode wave-dis wave-emu wave-compiler tests/spec-verification; do
    ln -s "$built" "$work/wave/$crate/target"
done

failed=0
(cd "$work/wave/tests/spec-verification" && cargo build --release --quiet)
"$built/release/run-spec-tests" > "$work/conformance.txt" || failed=1
grep -A 2 '\[FAIL\]' "$work/conformance.txt" || true
grep '^Summary' "$work/conformance.txt"
bash "$work/wave/tests/ci/run_emulator_tests.sh" > "$work/emulator.txt" 2>&1 || failed=1
grep -A 1 '\[FAIL\]' "$work/emulator.txt" || true
grep '^Results' "$work/emulator.txt" || { tail -5 "$work/emulator.txt"; failed=1; }
exit $failed
