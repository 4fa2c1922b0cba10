#!/usr/bin/env python3
"""Prints the share of host instructions per block of the machine, for each kernel at full size on gpu.ron, one thread.

    scripts/profile.py [--functions N] [KERNEL...]

callgrind counts the instructions executed inside `Machine::run` of the release build. addr2line maps each instruction to the
simulator function it was compiled from, also where the compiler inlined that function. --functions also prints the N
functions with the most instructions of each kernel. Needs valgrind and binutils."""

import argparse
import collections
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAM = os.path.join(ROOT, "target", "release", "wave-sim")
KERNELS = ["alu_loop", "nbody", "stencil2d", "sgemm", "vector_add", "saxpy", "spmv", "pointer_chase"]
# Pattern of each block for file paths under sim/CRATE/src. The first match counts.
BLOCKS = [
    ("fetch and decode", r"core/fetch"),
    ("issue", r"core/(issue|wave|divergence|release|workgroup|uop|straight)"),
    ("operands, dispatch, write-back", r"core/(collector|dispatch|execute|writeback)"),
    ("arithmetic", r"alu/"),
    ("load/store unit, local memory", r"core/lsu/"),
    ("order of the stages", r"core/"),
    ("L1", r"memory/l1/"),
    ("L2", r"memory/l2/"),
    ("memory channels", r"memory/dram/"),
    ("tags and bytes of lines", r"memory/(tags|replacement/\w+|geometry|image)"),
    ("interconnect", r"memory/(crossbar|network|fabric|port|message)|clock/"),
    ("order of the memory side", r"memory/"),
    ("run loop, dispatcher", r"gpu/"),
    ("copies and other libraries", r""),
]


def instructions(program, kernel):
    """Executed instructions by address in the program, and the total of all libraries."""
    with tempfile.NamedTemporaryFile() as out:
        command = ["valgrind", "--tool=callgrind", "--dump-instr=yes", f"--callgrind-out-file={out.name}"]
        # As in sim/cli/tests/host_instructions.rs.
        command += ["--toggle-collect=*wave_machine::gpu::machine::Machine*::run"]
        command += [program, kernel, "--config", "gpu.ron", "--threads", "1"]
        run = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if run.returncode != 0:
            sys.exit(f"scripts/profile.py: {kernel}: {run.stderr.splitlines()[-1]}")
        lines = open(out.name).read().splitlines()
    counts, libraries = collections.Counter(), 0
    objects, current, address, of_call = {}, "", 0, False
    for line in lines:
        if match := re.match(r"(c?)ob=(\(\d+\))(?: (.*))?$", line):
            called, number, name = match.groups()
            objects[number] = name or objects[number]
            if not called:
                current = objects[number]
        elif line.startswith("calls="):
            of_call = True
        elif match := re.match(r"(0x[0-9a-f]+|[+-]\d+|\*) \S+ (\d+)$", line):
            place, count = match.groups()
            if place != "*":
                address = int(place, 16) if place.startswith("0x") else address + int(place)
            if of_call:
                of_call = False
            elif current == program:
                counts[address] += int(count)
            else:
                libraries += int(count)
    return counts, libraries


def functions(program, addresses):
    """Innermost simulator function and its file, by address. Omits addresses that come from no simulator source."""
    given = "\n".join(map(hex, addresses))
    command = ["addr2line", "-e", program, "-f", "-i", "-a", "-C"]
    lines = subprocess.run(command, input=given, capture_output=True, text=True, check=True).stdout.splitlines()
    found, address, i = {}, None, 0
    while i < len(lines):
        if lines[i].startswith("0x"):
            address = int(lines[i], 16)
            i += 1
            continue
        name, place = lines[i], lines[i + 1]
        i += 2
        if address not in found and (match := re.search(r"sim/\w+/src/(.*\.rs)", place)):
            found[address] = (re.sub(r"<impl ([^>]*)>", r"\1", name).replace("wave_machine::", "").replace("wave_isa::", ""), match.group(1))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--functions", type=int, metavar="N", help="name the N functions with the most")
    parser.add_argument("kernels", nargs="*", default=KERNELS, metavar="KERNEL")
    args = parser.parse_args()
    subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=ROOT, check=True)
    columns, totals, named = [], [], []
    for kernel in args.kernels:
        counts, libraries = instructions(PROGRAM, kernel)
        found = functions(PROGRAM, counts)
        blocks, by_function = collections.Counter({BLOCKS[-1][0]: libraries}), collections.Counter()
        for address, count in counts.items():
            name, file = found.get(address, ("", ""))
            blocks[next(block for block, pattern in BLOCKS if re.match(pattern, file))] += count
            by_function[name] += count
        known = sum(count for address, count in counts.items() if address in found)
        if known * 2 < sum(blocks.values()) or not known:
            sys.exit(f"scripts/profile.py: {kernel}: of {sum(blocks.values())} instructions, {known} are known to be the "
                     "simulator's: nothing matches the pattern of --toggle-collect, or addr2line finds no places")
        totals.append(sum(blocks.values()))
        columns.append(blocks)
        named.append(by_function)
    print("| per cent of the host's instructions | " + " | ".join(args.kernels) + " |")
    print("|---" * (len(args.kernels) + 1) + "|")
    for block, _ in BLOCKS:
        shares = (f"{100 * column[block] / total:.0f}" for column, total in zip(columns, totals))
        print(f"| {block} | " + " | ".join(shares) + " |")
    print("| millions | " + " | ".join(f"{total / 1e6:.0f}" for total in totals) + " |")
    for kernel, by_function, total in zip(args.kernels, named, totals):
        if args.functions:
            print(f"\n{kernel}")
        for name, count in by_function.most_common(args.functions or 0):
            print(f"{100 * count / total:6.1f} %  {name}")


if __name__ == "__main__":
    main()
