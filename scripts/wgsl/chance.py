"""Random shaders on both machines."""

import argparse
import hashlib
import pathlib
import struct
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field

from . import oracle, simulator
from .cases import ROOT, Buffer
from .generate_statements import buffers, generate
from .shrink import shrink
from .tree import Program

DIFFERENCES = ROOT / "target" / "wgsl" / "differences"


@dataclass
class Trial:
    seed: int
    # What was computed, in short; None where the shader was not accepted by the oracle.
    digest: str | None
    lines: int
    fault: str | None = None
    # Words of the results that are not zero, of how many.
    filled: tuple[int, int] = (0, 0)


@dataclass(frozen=True)
class Setting:
    program: pathlib.Path | None
    options: tuple[str, ...] = field(default=("--functional",))
    shrink: bool = True


def by_oracle(program: Program, held: list[Buffer]) -> list[bytes]:
    return oracle.run(program.text(), "main", (program.groups, 1, 1), held)


def by_simulator(program: Program, held: list[Buffer], setting: Setting) -> list[bytes]:
    assert setting.program
    return simulator.run(setting.program, program.text(), "main", (program.groups, 1, 1), held, options=setting.options)


def fault_of(program: Program, held: list[Buffer], setting: Setting) -> str | None:
    """How the machines differ. A message of the simulator counts without its numbers and names."""
    try:
        wanted = by_oracle(program, held)
    except oracle.Refused:
        return None
    try:
        got = by_simulator(program, held, setting)
    except simulator.Failed as error:
        return "simulator: " + str(error)
    return first_difference(held, wanted, got)


def first_difference(held: list[Buffer], wanted: list[bytes], got: list[bytes]) -> str | None:
    for buffer, w, g in zip(held, wanted, got):
        for at in range(0, len(w), 4):
            if w[at : at + 4] != g[at : at + 4]:
                values = [struct.unpack("<I", d[at : at + 4])[0] for d in (w, g)]
                place = f"binding {buffer.group}.{buffer.binding} byte {at}"
                return f"{place}: {values[1]:#010x} where the oracle has {values[0]:#010x}"
    return None


def sort_of(fault: str | None) -> str:
    """Faults that shrinking takes for the same one."""
    if fault is None:
        return ""
    return (
        "differs" if fault.startswith("binding") else "".join(c for c in fault.splitlines()[0][:60] if not c.isdigit())
    )


def trial(seed: int, setting: Setting) -> Trial:
    program = generate(seed)
    held = buffers(program)
    lines = program.text().count("\n")
    try:
        wanted = by_oracle(program, held)
    except oracle.Refused as error:
        return Trial(seed, None, lines, f"refused by the oracle: {error}")
    digest = hashlib.sha256(b"".join(wanted)).hexdigest()
    words = struct.unpack(f"<{len(wanted[2]) // 4}I", wanted[2])
    filled = (sum(1 for w in words if w), len(words))
    if setting.program is None:
        return Trial(seed, digest, lines, None, filled)
    try:
        fault = first_difference(held, wanted, by_simulator(program, held, setting))
    except simulator.Failed as error:
        fault = "simulator: " + str(error)
    if fault:
        report(program, held, setting, fault)
    return Trial(seed, digest, lines, fault, filled)


def report(program: Program, held: list[Buffer], setting: Setting, fault: str) -> None:
    """Writes the smallest program that still differs in the same way, with what both machines made of it."""
    if setting.shrink:
        sort = sort_of(fault)
        shrink(program, lambda p: sort_of(fault_of(p, held, setting)) == sort)
        fault = fault_of(program, held, setting) or fault
    DIFFERENCES.mkdir(parents=True, exist_ok=True)
    path = DIFFERENCES / f"{program.seed}.md"
    inputs = "\n".join(f"input {b.group}.{b.binding}: {b.input[:256].hex()}" for b in held if any(b.input))
    path.write_text(
        f"# Random shader {program.seed}\n\nGrid {program.groups},1,1. {fault}\n\n```wgsl\n{program.text()}```\n\n{inputs}\n"
    )


def random_shaders(options: argparse.Namespace) -> int:
    """Random shaders on the oracle and the simulator."""
    begun = time.monotonic()
    setting = Setting(
        None if options.oracle_only else options.program,
        tuple(options.option) or ("--functional",),
        not options.no_shrink,
    )
    seeds = range(options.seed, options.seed + options.count)
    faults, digests, refused, lines, filled, words = 0, set(), 0, 0, 0, 0
    with ProcessPoolExecutor(options.jobs) as pool:
        for done in pool.map(trial, seeds, [setting] * len(seeds), chunksize=4):
            lines += done.lines
            if done.digest is None:
                refused += 1
            else:
                digests.add(done.digest)
            filled, words = filled + done.filled[0], words + done.filled[1]
            if done.fault:
                faults += 1
                print(f"{done.seed}: {done.fault.splitlines()[0]}", flush=True)
    seconds = time.monotonic() - begun
    print(
        f"{options.count} shaders of {lines // options.count} lines: {faults} faults, {refused} refused by the oracle,"
        f" {len(digests)} different results, {100 * filled // max(words, 1)} % of their words not zero; {seconds:.0f} s"
    )
    # A campaign that compares nothing has failed.
    if len(digests) < 0.9 * options.count or filled < 0.3 * words:
        print("too few different results: the shaders compute too little")
        return 1
    return 1 if faults else 0
