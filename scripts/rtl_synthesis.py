#!/usr/bin/env python3
"""Gate count and depth of RTL modules, and lint by a second front end.

    python3 -m venv /tmp/rtl && /tmp/rtl/bin/pip install pyosys pyslang
    /tmp/rtl/bin/python scripts/rtl_synthesis.py            # the lanes of the execution units
    /tmp/rtl/bin/python scripts/rtl_synthesis.py fp_fma     # modules by name

Each module is read with yosys-slang, checked (`check -assert`, no latches), flattened and mapped by abc to two-input
gates and multiplexers. A row gives those gates, flip-flops, and the longest path between registers or ports in
gates. slang reports warnings about the same files first; any of them ends the run with status 1.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

RTL = pathlib.Path(__file__).resolve().parent.parent / "rtl-tests" / "rtl"
UNITS = RTL / "units"
PACKAGES = [RTL / "wave_isa_pkg.sv", UNITS / "wave_fp_pkg.sv", UNITS / "sfu_rom_pkg.sv"]
# A unit is its lanes and a few registers; whole units take abc long.
MODULES = [
    "int_lane", "int_mul_lane", "convert_lane", "unit_wave", "int_div_lane", "fp_simple", "fp_fma", "fp_lane",
    "fp_sqrt_lane", "fp_div_lane", "sfu_lane",
]


def options(top):
    """Arguments that yosys-slang and slang both take."""
    files = PACKAGES + [UNITS / f"{top}.sv"]
    return ["-I", RTL, "-I", UNITS, "-y", UNITS, "-Y", ".sv", "--top", top, *files]


def lint(top):
    """True if slang has nothing to say about the module; it prints what it has."""
    import pyslang
    driver = pyslang.driver.Driver()
    driver.addStandardArgs()
    warnings = ["-Wextra", "-Wsign-compare", "-Warith-op-mismatch", "-Wbitwise-op-mismatch", "-Werror"]
    driver.parseCommandLine(" ".join(map(str, ["slang", *warnings, *options(top)])))
    return driver.processOptions() and driver.parseAllSources() and driver.runFullCompilation(True)


def synthesize(top):
    """(gates, flip-flops, longest path in gates) of the flattened module."""
    from pyosys import libyosys as yosys
    design = yosys.Design()
    with tempfile.TemporaryDirectory() as directory:
        log = pathlib.Path(directory) / "log"
        for command in [
            "read_slang " + " ".join(map(str, options(top))),
            f"hierarchy -check -top {top}",
            "proc",
            "check -assert",
            "flatten",
            "opt -full",
            f"synth -top {top}",
            "abc -g AND,NAND,OR,NOR,XOR,XNOR,MUX",
            "opt_clean -purge",
            "check -assert",
            "select -assert-none t:$dlatch t:$_DLATCH* t:$dlatchsr %u",
            f"tee -q -o {log} stat",
        ]:
            yosys.run_pass(f"tee -q {command}" if not command.startswith("tee") else command, design)
        text = log.read_text()
        yosys.run_pass(f"tee -q -o {log} ltp -noff", design)
        depth = int(re.search(r"length=(\d+)", log.read_text()).group(1))
    cells = {kind: int(count) for count, kind in re.findall(r"^\s*(\d+)\s+(\$_\w+_)$", text, re.M)}
    flops = sum(count for kind, count in cells.items() if "DFF" in kind)
    return sum(cells.values()) - flops, flops, depth


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--one":
        print(*synthesize(sys.argv[2]))
        return
    modules = sys.argv[1:] or MODULES
    if not all([lint(top) for top in modules]):
        sys.exit(1)
    print(f"{'module':14}{'gates':>9}{'flops':>8}{'depth':>7}")
    for top in modules:
        # A process each: yosys ends the whole process when a check fails.
        run = subprocess.run([sys.executable, __file__, "--one", top], capture_output=True, text=True)
        if run.returncode:
            sys.exit(f"{top}: {run.stdout}{run.stderr}")
        gates, flops, depth = run.stdout.split()[-3:]
        print(f"{top:14}{gates:>9}{flops:>8}{depth:>7}", flush=True)


if __name__ == "__main__":
    main()
