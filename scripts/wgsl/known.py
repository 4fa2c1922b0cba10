"""What is known to be refused or to differ on the side of the oracle. `campaign.py build` fails on anything else."""

import re

# Cases that naga does not accept, with the reason; they are left out.
REFUSED: list[tuple[str, str]] = [
    (
        r"bitcast<.*f16.*>\([^h]*[fiu]32>?\)|bitcast<(vec2<)?[fiu]32>+\(.*f16.*\)",
        "naga keeps the width of a component in a bitcast",
    ),
]

# Cases in which the driver, or what naga hands to it, is wrong by the specification.
DRIVER: list[tuple[str, str]] = [
    (
        r"function variables begin anew",
        "a variable without initialiser in the body of a loop keeps its value from one turn to the next; naga 30 stores the"
        " zero, the naga in wgpu-native 29 seems not to",
    ),
    (
        r"workgroup memory begins with zeros",
        "wgpu-native on this driver leaves in workgroup memory what the workgroup before left there",
    ),
    (
        r"(u64\(i32\)|vec3<u64>\(vec3<i32>\))",
        "naga's SPIR-V zero-extends, chosen by the type of the result; every other conversion between integers"
        " keeps the value modulo 2^n",
    ),
    (
        r"(i64\(u32\)|vec3<i64>\(vec3<u32>\))",
        "naga's SPIR-V sign-extends, chosen by the type of the result; 4294967295 fits into i64",
    ),
]


def reason(table: list[tuple[str, str]], name: str) -> str | None:
    for pattern, text in table:
        if re.fullmatch(pattern, name):
            return text
    return None
