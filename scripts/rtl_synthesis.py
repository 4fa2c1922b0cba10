#!/usr/bin/env python3
"""Reports gates, area and logic depth of the RTL, and lints it with a second front end.

    python3 scripts/rtl_synthesis.py                      # every module and the whole machine
    python3 scripts/rtl_synthesis.py fp_fma lsu           # modules by name
    python3 scripts/rtl_synthesis.py --waves 4            # of the small core
    python3 scripts/rtl_synthesis.py --paths 5            # and where the longest paths of the machine end

The first run installs pyosys and pyslang in target/rtl-tools, in the versions that rtl_sources.py states.

First slang lints the machine; any warning ends the run with status 1. Then yosys-slang reads each module on its own,
with its submodules as black boxes. The module is checked (`check -assert`, no latches) and mapped by abc to two-input
gates and multiplexers. A row gives the gates, the flip-flops, the bits of memory (memories are not mapped to gates), the
area without memories, in thousands of NAND gates, and the depth: the longest path, in gates, between registers, ports,
memories and black boxes. A read port of a memory without a clock counts as the multiplexers that it would be, one gate for each
bit of its address. The last row is the machine: it counts each module once per instance, and its depth is that of
the machine in one piece, so its paths go through several modules.
"""

import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys

from rtl_paths import Paths, figures, module_of
from rtl_sources import ENVIRONMENT, children, pyosys, slang_options, with_tools

TOP = "wave_top"


def lint(top, waves):
    """True if slang reports nothing about the module. slang prints its own messages."""
    import pyslang
    driver = pyslang.driver.Driver()
    driver.addStandardArgs()
    warnings = ["--error-limit=0", "-Wextra", "-Wsign-compare", "-Warith-op-mismatch", "-Wbitwise-op-mismatch", "-Werror"]
    arguments = ["slang", *warnings, f"-DWAVE_MAX_WAVES={waves}", *slang_options(top)]
    driver.parseCommandLine(" ".join(map(str, arguments)))
    return driver.processOptions() and driver.parseAllSources() and driver.runFullCompilation(True)


def synthesize(module, waves, file):
    """Writes the mapped netlist of a module."""
    yosys = pyosys()
    design = yosys.Design()
    boxes = [f"--blackboxed-module {child}" for child in children(module)]
    read = ["read_slang", "--ignore-assertions", f"-DWAVE_MAX_WAVES={waves}", *boxes, *slang_options(module)]
    for command in [
        " ".join(map(str, read)),
        f"hierarchy -check -top {module}",
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
        f"write_json {file}",
    ]:
        yosys.run_pass(f"tee -q {command}", design)


def in_order(module, found):
    """The modules of a module in depth-first order: each comes after those in it."""
    for child in children(module):
        in_order(child, found)
    if module not in found:
        found.append(module)
    return found


def row(name, gates, flops, bits, area, depth):
    print(f"| {name} | {gates:,} | {flops:,} | {bits:,} | {area / 1000:,.1f} | {depth:,} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", nargs="*")
    parser.add_argument("--waves", type=int, default=32, help="wave slots of the core")
    parser.add_argument("--paths", type=int, default=0, metavar="N",
                        help="print the longest paths to N registers, of the modules by name or of the machine")
    parser.add_argument("--netlist", type=pathlib.Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    with_tools()
    if arguments.netlist:
        return synthesize(arguments.modules[0], arguments.waves, arguments.netlist)
    by_name = arguments.modules
    if not all([lint(top, arguments.waves) for top in by_name or [TOP]]):
        sys.exit(1)
    directory = ENVIRONMENT / f"netlists-{arguments.waves}"
    directory.mkdir(exist_ok=True)
    print("| module | gates | flip-flops | bits of memory | area, k NAND | depth |\n|---|--:|--:|--:|--:|--:|")
    netlists, numbers = {}, {}

    def netlist(module):
        # One process per module: yosys ends the whole process when a check fails.
        file = directory / f"{module}.json"
        command = [sys.executable, __file__, "--waves", str(arguments.waves), "--netlist", file, module]
        return file, subprocess.run(command, capture_output=True, text=True)

    modules = by_name or in_order(TOP, [])
    pool = concurrent.futures.ThreadPoolExecutor(os.cpu_count())
    for module, (file, run) in zip(modules, pool.map(netlist, modules)):
        if run.returncode:
            pool.shutdown(cancel_futures=True)
            sys.exit(f"{module}: {run.stdout[-2000:]}{run.stderr[-2000:]}")
        netlists[module] = module_of(file, module)
        numbers[module] = figures(netlists[module])
        paths = Paths({module: netlists[module]}, module)
        row(f"`{module}`", *numbers[module][:4], paths.depth_of_all())
        if by_name:
            tell(paths, arguments.paths)
    if not by_name:
        def total(module):
            *own, kinds = numbers[module]
            parts = [(own, 1)] + [(total(child), kinds[child]) for child in children(module)]
            return [sum(part[i] * count for part, count in parts) for i in range(4)]
        paths = Paths(netlists, TOP)
        row("the machine", *total(TOP), paths.depth_of_all())
        tell(paths, arguments.paths)


def tell(paths, count):
    for depth, name, net in paths.longest()[:count]:
        print(f"    {depth} to {name}: {' > '.join(paths.path(net))}")


if __name__ == "__main__":
    main()
