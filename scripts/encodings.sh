#!/usr/bin/env bash
# Runs the tests of the decoders, and prints for each encoding: operators that tests cover, the oracle, assertions that
# were held against it.
set -euo pipefail
cd "$(dirname "$0")/.."

rows="$(cargo test --quiet -p wave-compile --test wasm --test wasm2015 --test rwasm --test pica -- --nocapture |
    sed -n 's/^table: //p')"
# One that prints nothing has lost its count.
if [ "$(wc -l <<<"$rows")" != 4 ]; then
    printf 'scripts/encodings.sh: 4 rows were expected:\n%s\n' "$rows" >&2
    exit 1
fi
printf 'encoding | operators | oracle | assertions\n%s\n' "$rows" | column -t -s '|'
