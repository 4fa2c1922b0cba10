#!/usr/bin/env python3
"""Reports gate count and logic depth of the RTL, and lints it with a second front end.

    python3 -m venv /tmp/rtl && /tmp/rtl/bin/pip install pyosys pyslang
    /tmp/rtl/bin/python scripts/rtl_synthesis.py                 # every module and the whole machine
    /tmp/rtl/bin/python scripts/rtl_synthesis.py fp_fma lsu      # modules by name
    /tmp/rtl/bin/python scripts/rtl_synthesis.py --waves 4       # of the small core

First slang lints the machine; any warning ends the run with status 1. Then yosys-slang reads each module on its own,
with its submodules as black boxes. The module is checked (`check -assert`, no latches) and mapped by abc to two-input
gates and multiplexers. A row gives the gates, the flip-flops, the bits of memory (memories are not mapped to gates) and
the depth: the longest path, in gates, between registers, ports, memories and black boxes. The last row is the total of
the machine; it counts each module once per instance. A module that takes longer than --minutes is skipped.
"""

import argparse
import collections
import pathlib
import re
import subprocess
import sys
import tempfile

from rtl_sources import children, pyosys, slang_options

TOP = "wave_top"


def lint(top, waves):
    """True if slang reports nothing about the module. slang prints its own messages."""
    try:
        import pyslang
    except ImportError:
        sys.exit("pyslang is missing: python3 -m venv /tmp/rtl && /tmp/rtl/bin/pip install pyosys pyslang, "
                 "then start this script with /tmp/rtl/bin/python")
    driver = pyslang.driver.Driver()
    driver.addStandardArgs()
    warnings = ["--error-limit=0", "-Wextra", "-Wsign-compare", "-Warith-op-mismatch", "-Wbitwise-op-mismatch", "-Werror"]
    arguments = ["slang", *warnings, f"-DWAVE_MAX_WAVES={waves}", *slang_options(top)]
    driver.parseCommandLine(" ".join(map(str, arguments)))
    return driver.processOptions() and driver.parseAllSources() and driver.runFullCompilation(True)


def synthesize(top, waves):
    """Prints gates, flip-flops, bits of memory and longest path in gates, then the instance count of each black box."""
    yosys = pyosys()
    design = yosys.Design()
    black = children(top)

    def run(command):
        yosys.run_pass(command if command.startswith("tee") else f"tee -q {command}", design)

    with tempfile.TemporaryDirectory() as directory:
        log = pathlib.Path(directory) / "log"
        boxes = [f"--blackboxed-module {child}" for child in black]
        read = ["read_slang", "--ignore-assertions", f"-DWAVE_MAX_WAVES={waves}", *boxes, *slang_options(top)]
        for command in [
            " ".join(map(str, read)),
            f"hierarchy -check -top {top}",
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
        ]:
            run(command)
        run(f"tee -q -o {log} ltp -noff")
        log_text = log.read_text()
        path = re.search(r"length=(\d+)", log_text)
    module = next(m for m in design.modules_.values() if m.name.str() == f"\\{top}")
    kinds = collections.Counter(cell.type.str().removeprefix("\\") for cell in module.cells_.values())
    bits = sum(c.getParam(yosys.IdString("\\SIZE")).as_int() * c.getParam(yosys.IdString("\\WIDTH")).as_int()
               for c in module.cells_.values() if c.type.str() == "$mem_v2")
    flops = sum(count for kind, count in kinds.items() if "DFF" in kind)
    if not path:
        sys.exit(f"ltp says no path: {log_text[-500:]}")
    gates = sum(count for kind, count in kinds.items() if re.fullmatch(r"\$_\w+_", kind)) - flops
    print("figures", gates, flops, bits, path.group(1),
          *[f"{child}={kinds[child]}" for child in black])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", nargs="*")
    parser.add_argument("--waves", type=int, default=32, help="wave slots of the core")
    parser.add_argument("--minutes", type=float, default=30, help="longest time for a module")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        return synthesize(arguments.modules[0], arguments.waves)
    if not all([lint(top, arguments.waves) for top in arguments.modules or [TOP]]):
        sys.exit(1)
    # In depth-first order: a module comes after its submodules.
    modules, figures = arguments.modules or [], {}
    if not modules:
        def visit(module):
            for child in children(module):
                visit(child)
            if module not in modules:
                modules.append(module)
        visit(TOP)
    print("| module | gates | flip-flops | bits of memory | depth |\n|---|---|---|---|---|")
    missing = []
    for top in modules:
        # One process per module: yosys ends the whole process when a check fails.
        try:
            command = [sys.executable, __file__, "--one", "--waves", str(arguments.waves), top]
            run = subprocess.run(command, capture_output=True, text=True, timeout=60 * arguments.minutes)
        except subprocess.TimeoutExpired:
            missing.append(top)
            continue
        found = re.search(r"^figures (\d+) (\d+) (\d+) (\d+)(.*)", run.stdout, re.M)
        if run.returncode or not found:
            sys.exit(f"{top}: {run.stdout[-2000:]}{run.stderr[-2000:]}")
        inside = {child: int(count) for child, count in (word.split("=") for word in found.group(5).split())}
        figures[top] = ([int(n) for n in found.groups()[:4]], inside)
        print(f"| `{top}` | " + " | ".join(f"{n:,}" for n in figures[top][0]) + " |", flush=True)
    if TOP in modules and not missing:
        def total(module):
            own, inside = figures[module]
            parts = [(own, 1)] + [(total(child), count) for child, count in inside.items()]
            return [sum(p[i] * n for p, n in parts) for i in range(3)] + [max(p[3] for p, _ in parts)]
        print("| the machine | " + " | ".join(f"{n:,}" for n in total(TOP)) + " |")
    if missing:
        sys.exit(f"not within {arguments.minutes} minutes: {', '.join(missing)}")


if __name__ == "__main__":
    main()
