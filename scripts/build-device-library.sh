#!/usr/bin/env bash
# Compiles the device library of PTX, which is checked in: the C library's arithmetic, and CUDA's names that it lacks. A
# function `name` becomes `__nv_name`, one of its own `__wave_FILE_name`. Needs clang from 14 on.
set -euo pipefail
cd "$(dirname "$0")/../sim/compile/src"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
out=ptx/library/device.ptx
{
    echo "// The device library. scripts/build-device-library.sh makes it of the C sources beside it and in c/library/."
    echo ".version 6.3"
    echo ".target sm_75"
    echo ".address_size 64"
} >"$work/out"
for source in c/library/source/{instructions,float,real,exponential,trigonometric}.c ptx/library/{device,print}.c; do
    name=$(basename "$source" .c)
    "${CLANG:-clang}" -target nvptx64-nvidia-cuda -Xclang -target-cpu -Xclang sm_75 -x c -O2 -S -mllvm -inline-threshold=3000 -ffp-contract=off \
        -fno-math-errno -fno-builtin -nostdlibinc -Iptx/library -Ic/library/include -Ic/library/source \
        "$source" -o "$work/$name.ptx"
    # Definitions without declarations and comments; names with a prefix, so that none is one of a user.
    python3 - "$work/$name.ptx" "$name" <<'PYTHON' >>"$work/out"
import re, sys
text, unit = open(sys.argv[1]).read(), sys.argv[2]
public = set(re.findall(r"^\.weak \.func.*?(\w+)\s*\(\n", text, re.M)) | set(re.findall(r"^\.weak \.func.*?(\w+)\n?\(", text, re.M))
shared = set(re.findall(r"^\.(?:visible|extern) \.func.*?(\w+)\s*\(?\n", text, re.M)) - public
own = set(re.findall(r"^(?:\.func|\.global|\.const).*?(\w+)(?:\[|\(|$)", text, re.M)) - public - shared
text = re.sub(r"^//.*\n|^\t*// .*\n|\.version.*\n|\.target.*\n|\.address_size.*\n", "", text, flags=re.M)
text = re.sub(r"^\.(?:extern|weak|visible) \.func[^;{]*;\n", "", text, flags=re.M)
text = re.sub(r"^\.func[^;{]*;\n", "", text, flags=re.M)
text = re.sub(r"^\.(?:weak|visible) ", "", text, flags=re.M)
def renamed(match):
    word = match.group(0)
    if word in own:
        return f"__wave_{unit}_{word}"
    if word.startswith("wave_"):
        return f"__{word}"
    if word in public or word in shared:
        return f"__nv_{word.removeprefix('nv_')}"
    return word
text = re.sub(r"(?<![\w.%$])[A-Za-z_]\w*(?![\w.])", renamed, text)
print(re.sub(r"\n\s*\n+", "\n", text).strip())
PYTHON
done
mv "$work/out" "$out"
