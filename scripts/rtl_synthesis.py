#!/usr/bin/env python3
"""Reports gates, area and logic depth of the RTL, and lints it with a second front end.

    python3 scripts/rtl_synthesis.py                 # every module and the whole machine
    python3 scripts/rtl_synthesis.py fp_fma lsu      # modules by name
    python3 scripts/rtl_synthesis.py --waves 4       # of the small core
    python3 scripts/rtl_synthesis.py --waves 4 --paths 5 whole    # the machine in one piece, and where its longest paths end

The first run installs pyosys and pyslang in target/rtl-tools, in the versions that rtl_sources.py states.

First slang lints the machine; any warning ends the run with status 1. Then yosys-slang reads each module on its own,
with its submodules as black boxes. The module is checked (`check -assert`, no latches) and mapped by abc to two-input
gates and multiplexers. A row gives the gates, the flip-flops, the bits of memory (memories are not mapped to gates), the
area without memories, in thousands of NAND gates, and the depth: the longest path, in gates, between registers, ports,
memories and black boxes. The row `whole` is the machine in one piece: its modules are flattened, and only memories are
black boxes, so its paths go through all modules. A module that takes longer than --minutes is skipped.
"""

import argparse
import collections
import pathlib
import re
import subprocess
import sys
import tempfile

from rtl_paths import Netlist, is_flip_flop, is_gate
from rtl_sources import children, pyosys, slang_options, with_tools

TOP = "wave_top"
# The machine in one piece.
WHOLE = "whole"


def lint(top, waves):
    """True if slang reports nothing about the module. slang prints its own messages."""
    import pyslang
    driver = pyslang.driver.Driver()
    driver.addStandardArgs()
    warnings = ["--error-limit=0", "-Wextra", "-Wsign-compare", "-Warith-op-mismatch", "-Wbitwise-op-mismatch", "-Werror"]
    arguments = ["slang", *warnings, f"-DWAVE_MAX_WAVES={waves}", *slang_options(top)]
    driver.parseCommandLine(" ".join(map(str, arguments)))
    return driver.processOptions() and driver.parseAllSources() and driver.runFullCompilation(True)


def synthesize(module, waves, paths):
    """Prints gates, flip-flops, bits of memory, area and longest path in gates, then the instances of each black box."""
    yosys = pyosys()
    design = yosys.Design()
    top = TOP if module == WHOLE else module
    black = [] if module == WHOLE else children(module)

    def run(command):
        yosys.run_pass(f"tee -q {command}", design)

    with tempfile.TemporaryDirectory() as directory:
        netlist = pathlib.Path(directory) / "netlist.json"
        boxes = [f"--blackboxed-module {child}" for child in black]
        read = ["read_slang", "--ignore-assertions", f"-DWAVE_MAX_WAVES={waves}", *boxes, *slang_options(top)]
        for command in [
            " ".join(map(str, read)),
            f"hierarchy -check -top {top}",
            *(["flatten"] if module == WHOLE else []),
            "check -assert",
            "select -assert-none t:$dlatch t:$_DLATCH* t:$dlatchsr %u",
            "opt -fast", "wreduce", "peepopt", "opt_clean", "alumacc", "opt -fast",
            # Memories stay as cells; ROMs become logic.
            "memory -nomap", "opt_clean", "memory_map -rom-only",
            "opt -fast -mux_undef -undriven -fine", "techmap", "opt -fast",
            "abc -fast -g AND,NAND,OR,NOR,XOR,XNOR,MUX",
            "opt_clean -purge",
            "check -assert",
            "select -assert-none t:$dlatch t:$_DLATCH* t:$dlatchsr %u",
            f"write_json {netlist}",
        ]:
            run(command)
        mapped = Netlist(netlist, top)
    cells = collections.Counter(cell["type"] for cell in mapped.cells.values())
    bits = sum(int(c["parameters"]["SIZE"], 2) * int(c["parameters"]["WIDTH"], 2)
               for c in mapped.cells.values() if c["type"] == "$mem_v2")
    flops = sum(count for kind, count in cells.items() if is_flip_flop(kind))
    gates = sum(count for kind, count in cells.items() if is_gate(kind))
    ends = sorted(mapped.ends().items(), key=lambda end: (-end[1][0], end[0]))
    print("figures", gates, flops, bits, round(mapped.area()), ends[0][1][0], *[f"{child}={cells[child]}" for child in black])
    for name, (depth, net) in ends[:paths]:
        print(f"path {depth} to {name}: {' > '.join(mapped.path(net))}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", nargs="*")
    parser.add_argument("--waves", type=int, default=32, help="wave slots of the core")
    parser.add_argument("--minutes", type=float, default=30, help="longest time for a module")
    parser.add_argument("--paths", type=int, default=0, metavar="N", help="print the longest paths to N registers")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    with_tools()
    if arguments.one:
        return synthesize(arguments.modules[0], arguments.waves, arguments.paths)
    modules = arguments.modules
    if not all([lint(TOP if module == WHOLE else module, arguments.waves) for module in modules or [TOP]]):
        sys.exit(1)
    if not modules:
        # In depth-first order: a module comes after its submodules.
        def visit(module):
            for child in children(module):
                visit(child)
            if module not in modules:
                modules.append(module)
        visit(TOP)
        modules.append(WHOLE)
    print("| module | gates | flip-flops | bits of memory | area, k NAND | depth |\n|---|--:|--:|--:|--:|--:|")
    missing = []
    for module in modules:
        # One process per module: yosys ends the whole process when a check fails.
        try:
            command = [sys.executable, __file__, "--one", "--waves", str(arguments.waves), "--paths", str(arguments.paths), module]
            run = subprocess.run(command, capture_output=True, text=True, timeout=60 * arguments.minutes)
        except subprocess.TimeoutExpired:
            missing.append(module)
            continue
        found = re.search(r"^figures (\d+) (\d+) (\d+) (\d+) (\d+)", run.stdout, re.M)
        if run.returncode or not found:
            sys.exit(f"{module}: {run.stdout[-2000:]}{run.stderr[-2000:]}")
        gates, flops, bits, area, depth = map(int, found.groups())
        print(f"| `{module}` | {gates:,} | {flops:,} | {bits:,} | {area / 1000:,.1f} | {depth:,} |", flush=True)
        for path in re.findall(r"^path (.*)", run.stdout, re.M):
            print(f"    {path}")
    if missing:
        sys.exit(f"not within {arguments.minutes} minutes: {', '.join(missing)}")


if __name__ == "__main__":
    main()
