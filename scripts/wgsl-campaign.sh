#!/usr/bin/env bash
# Cases of WGSL's built-in functions, and random shaders, on wave-sim and on a Vulkan driver in software.
#
#   scripts/wgsl-campaign.sh run     [--program WAVE_SIM] [--only PART_OF_NAME]   the stored cases on wave-sim
#   scripts/wgsl-campaign.sh table                                              what they cover, and what held in that run
#   scripts/wgsl-campaign.sh driver                                             the stored cases on the driver
#   scripts/wgsl-campaign.sh build                                              writes the cases anew
#   scripts/wgsl-campaign.sh random  --count N --seed N                         random shaders on both
#
# Needs Python 3.10 or later, the package wgpu (installed into target/wgsl/venv), and Mesa's Vulkan drivers.
set -euo pipefail
cd "$(dirname "$0")/.."

venv="${WGSL_VENV:-target/wgsl/venv}"
if ! compgen -G '/usr/share/vulkan/icd.d/lvp_icd*.json' >/dev/null; then
    echo 'no Vulkan driver in software is here; this installs one: sudo apt-get install -y mesa-vulkan-drivers' >&2
    exit 1
fi
if ! [ -x "$venv/bin/python" ]; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet wgpu==0.32.0
fi
PYTHONPATH=scripts exec "$venv/bin/python" -m wgsl.campaign "$@"
