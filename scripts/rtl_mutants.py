#!/usr/bin/env python3
"""Mutation campaign of the RTL: measures how many small random faults the co-simulation finds.

    python3 scripts/rtl_mutants.py                 # makes the mutants, runs them, prints the table
    python3 scripts/rtl_mutants.py make GROUP...   # netlists only
    python3 scripts/rtl_mutants.py run GROUP...    # builds and runs what is made; --round N one round only
    python3 scripts/rtl_mutants.py table           # counts what has been run

yosys-slang turns each module of a group into a netlist. The yosys pass `mutate` picks faults in it: a bit of a cell's
port is inverted, made constant, or takes the value of another bit. The netlist contains all faults, and `+mutant=n`
enables one of them when the executable starts. The rest of the core is the original SystemVerilog, so one executable
per group holds all its mutants. `cargo test --test cosim` (core) and `--test rtl_units` (execution units) then run
their programs and operands against each mutant; the programs of the core run in rounds (sim/cli/tests/cosim/mutants.rs).
All files are in target/mutants/GROUP: netlist.sv, mutants.tsv, results.tsv. `run` resumes an interrupted campaign,
because each mutant gets its row in results.tsv as soon as it is judged. Runs of different groups or rounds may go on
at the same time.
"""

import argparse
import contextlib
import fcntl
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

from rtl_sources import PARAMETERS, ROOT, children, pyosys, slang_options, source, with_tools

OUT = ROOT / "target" / "mutants"
# Modules by group. Each group becomes one executable.
GROUPS = {
    "core": ["workgroup", "fetch", "decode", "decoder", "wave", "issue", "divergence", "special_registers", "releases",
             "memory_port", "dispatcher", "collector", "register_file", "execute", "writeback", "lsu", "coalesce",
             "local_memory", "l1", "l1_frames", "l1_replacement", "l1_requests", "l1_responses", "l1_waiters"],
    "integer": ["unit_int", "int_lane", "unit_int_mul", "int_mul_lane", "unit_convert", "convert_lane", "unit_wave"],
    "floating": ["unit_fp", "fp_lane", "fp_fma", "fp_simple"],
    "division": ["unit_int_div", "int_div_lane", "unit_fp_div", "fp_sqrt_lane", "fp_div_lane"],
    "special": ["unit_sfu", "sfu_lane"],
}
# Groups that the table adds up, by name of the sum.
TOGETHER = {"units": ["integer", "floating", "division", "special"], "core": ["core"]}
SELECT_BITS = 12
# Rounds of the core's programs (sim/cli/tests/cosim/mutants.rs). The last applies only to the modules of decoding.
ROUNDS = ["broad kernels", "four random programs", "short programs", "long programs", "illegal words"]


def is_unit(group):
    return group != "core"


class Header:
    """Name, imports, parameters and ports of a module, parsed from its source."""

    PORT = re.compile(r"^\s*(input|output)\s+(.*?)\s*\b(\w+)((?:\[[^\]]+\])*)\s*,?\s*$")

    def __init__(self, module):
        text = source(module).read_text()
        self.text = re.search(rf"^module {module}\b.*?^\);", text, re.M | re.S).group(0)
        self.ports = []  # (direction, type, name, unpacked dimensions)
        for line in self.text.splitlines():
            if port := self.PORT.match(line.split("//")[0]):
                direction, kind, name, dimensions = port.groups()
                self.ports.append((direction, kind, name, re.findall(r"\[([^\]]+)\]", dimensions)))
        self.imports = re.findall(r"^\s*import [^;]+;", self.text, re.M)
        self.parameters = re.findall(r"^\s*parameter (.*?),?\s*(?://.*)?$", self.text, re.M)


def flat_index(dimensions, name, index):
    """Part select of the flat vector `name` for one element of an unpacked array. Element 0 is leftmost."""
    place = "0"
    for size, i in zip(dimensions, index):
        place = f"({place}) * ({size}) + ({size}) - 1 - {i}"
    whole = " * ".join(f"({size})" for size in dimensions)
    width = f"($bits({name}) / ({whole}))"
    return f"{name}[({place}) * {width} +: {width}]"


def array_copy(direction, name, dimensions, flat, inward, kind=""):
    """Verilog that connects the unpacked array `name` with the vector `flat`; `inward` if the array drives the vector.
    `kind` is the element type if it is an enumeration, which needs a cast from a vector."""
    index = [f"i{k}" for k in range(len(dimensions))]
    loops = "".join(f"for (genvar {i} = 0; {i} < {size}; {i}++) " for i, size in zip(index, dimensions))
    element = name + "".join(f"[{i}]" for i in index)
    part = flat_index(dimensions, flat, index)
    left, right = (part, element) if inward else (element, f"{kind}'({part})" if kind else part)
    return f"  {loops}begin : gen_{name}\n    assign {left} = {right};\n  end\n"


def outer_wrapper(module, widths):
    """Wrapper with the original ports of the module around its netlist, whose ports are flat vectors."""
    header = Header(module)
    body, connections = "", []
    for direction, _, name, dimensions in header.ports:
        if dimensions:
            body += f"  logic [{widths[name] - 1}:0] flat_{name};\n"
            body += array_copy(direction, name, dimensions, f"flat_{name}", direction == "input")
            connections.append(f".{name}(flat_{name})")
        else:
            connections.append(f".{name}")
    return f"{header.text}\n{body}  {module}__net u_net ({', '.join(connections)});\nendmodule\n"


def is_named(kind):
    return kind.split()[0] != "logic"


def inner_wrapper(module, widths):
    """Wrapper with flat vectors as ports around an original module, for netlists that instantiate it."""
    header = Header(module)
    ports, body, connections = [], "", []
    for parameter in header.parameters:
        name = re.match(r"int (\w+)", parameter).group(1)
        value = PARAMETERS.get(module, {}).get(name)
        body += f"  localparam int {name} = {value};\n" if value else f"  localparam {parameter};\n"
    for direction, kind, name, dimensions in header.ports:
        ports.append(f"{direction} logic [{widths[name] - 1}:0] {name}")
        if dimensions:
            shape = "".join(f"[{size}]" for size in dimensions)
            body += f"  {kind} array_{name}{shape};\n"
            body += array_copy(direction, f"array_{name}", dimensions, name, direction == "output",
                               kind if is_named(kind) else "")
            connections.append(f".{name}(array_{name})")
        elif direction == "input" and is_named(kind):
            body += f"  {kind} typed_{name};\n  assign typed_{name} = {kind}'({name});\n"
            connections.append(f".{name}(typed_{name})")
        else:
            connections.append(f".{name}")
    overrides = PARAMETERS.get(module, {})
    own = f" #({', '.join(f'.{k}({v})' for k, v in overrides.items())})" if overrides else ""
    imports = "".join(line + "\n" for line in header.imports)
    return (f"module {module}__flat\n{imports}({', '.join(ports)});\n{body}"
            f"  {module}{own} u ({', '.join(connections)});\nendmodule\n")


SELECT = """// Which mutant runs: +mutant=n, 0 or nothing for none.
module mutant_select (output logic [11:0] number);
  initial if (!$value$plusargs("mutant=%d", number)) number = '0;
endmodule
"""


def index_by_shifts(yosys, net):
    """Replaces $bmux and $demux cells, which Verilog cannot express, by indexed part selects and shifts. yosys would
    write trees of multiplexers, and Verilator needs more than 8 GB for those of the large modules."""
    def port(cell, name):
        return cell.getPort(yosys.IdString(f"\\{name}"))

    for cell in list(net.cells_.values()):
        kind = cell.type.str()
        if kind not in ("$bmux", "$demux"):
            continue
        a, s, y = port(cell, "A"), port(cell, "S"), port(cell, "Y")
        size = y.size() if kind == "$bmux" else a.size()
        place = yosys.SigSpec(net.addWire(yosys.IdString(f"{cell.name.str()}_place"), 32))
        net.addMul(yosys.IdString(f"{cell.name.str()}_mul"), s, yosys.SigSpec(yosys.Const(size, 32)), place)
        name = yosys.IdString(f"{cell.name.str()}_shift")
        net.remove(cell)
        (net.addShiftx if kind == "$bmux" else net.addShl)(name, a, place, y)


def split_by_drivers(yosys, net, run):
    """Splits vectors that have one bit driven by a mutant and the others by the rest of the logic. Verilator 5.006
    computes some of them wrongly, mostly those whose bits depend on each other. An output port cannot be split, so a
    new internal vector drives it."""
    for wire in [w for w in net.wires_.values() if w.port_output]:
        port = net.addWire(yosys.IdString(f"{wire.name.str()}_port"), wire)
        wire.port_output = False
        net.swap_names(wire, port)
        net.connect(yosys.SigSpec(port), yosys.SigSpec(wire))
    net.fixup_ports()
    run("splitnets -driver")


def netlist(yosys, module, group, count, first, seed, directory):
    """Writes the netlist of a module with `count` mutants numbered from `first`. Returns its mutants and port widths.

    A mutant is (number, module, mode, cell type, port, bit, source)."""
    design = yosys.Design()

    def run(command):
        yosys.run_pass(command, design)

    black = children(module)
    boxes = [f"--blackboxed-module {c}" for c in black]
    run(" ".join(map(str, ["read_slang", "-DWAVE_MAX_WAVES=4", "--ignore-assertions", *boxes, *slang_options(module)])))
    run(f"hierarchy -top {module}")
    run("opt -full")
    run("wreduce")
    run("opt_clean -purge")
    net = next(m for m in design.modules_.values() if m.name.str() == f"\\{module}")
    widths = {c: {} for c in [module, *black]}
    for m in design.modules_.values():
        name = m.name.str()[1:]
        if name in widths:
            widths[name] = {w.name.str()[1:]: w.width for w in m.wires_.values() if w.port_id}
    kinds = {c.name.str().removeprefix("\\"): c.type.str().removeprefix("\\") for c in net.cells_.values()}
    script = directory / "mutate.ys"
    run(f"mutate -list {2 * count} -seed {seed} -o {script} {module}/c:* {module}/t:$meminit* %d")
    def is_logic(line):
        """True for faults of logic: not on clocks, and on memories only at address, data and write enable."""
        cell, port = re.search(r" -cell (\S+) -port (\S+) ", line).groups()
        of_memory = {"$memrd_v2": ["ADDR", "DATA"], "$memwr_v2": ["ADDR", "DATA", "EN"]}
        return "CLK" not in port and port in of_memory.get(kinds[cell], [port])

    candidates = [line for line in script.read_text().splitlines() if is_logic(line)]
    if not candidates:
        sys.exit(f"{module}: yosys lists no mutants")
    chosen = sorted(random.Random(seed).sample(candidates, min(count, len(candidates))))
    mutants = []
    for number, line in enumerate(chosen, first):
        field = dict(re.findall(r"-(\w+) (\S+)", line))
        where = ", ".join(re.findall(r"-src (\S+)", line))
        mode = field["mode"] + (f" with bit {field['ctrlbit']}" if "ctrlbit" in field else "")
        mutants.append((number, module, mode, kinds[field["cell"]], field["port"], field["portbit"],
                        re.sub(r"\S*/rtl/", "", where)))
        run(line.replace("mutate ", f"mutate -ctrl mutant {SELECT_BITS} {number} ", 1))
    select = next((w for w in net.wires_.values() if w.name.str() == "\\mutant"), None)
    if select:
        select.port_input = False
        net.fixup_ports()
        cell = net.addCell(yosys.IdString("\\u_mutant"), yosys.IdString("\\mutant_select"))
        cell.setPort(yosys.IdString("\\number"), yosys.SigSpec(select))
    for c in list(net.cells_.values()):
        name = c.type.str()[1:]
        if name in black:
            c.type = yosys.IdString(f"\\{name}__net" if name in GROUPS[group] else f"\\{name}__flat")
            # The blackboxed instance has its final values, and the list includes local parameters of the module.
            for parameter in list(c.parameters):
                c.unsetParam(parameter)
    run(f"rename {module} {module}__net")
    index_by_shifts(yosys, net)
    run("bwmuxmap")
    run("setundef -zero")
    split_by_drivers(yosys, net, run)
    run("opt_clean")
    run(f"write_verilog -noattr {directory / module}.v")
    return mutants, widths


REPEATED = re.compile(r"(?<=[{ ])(_\w+_(?:\[\d+\])?), (?:\1, )+(?=\S)")


def folded(text):
    """Writes repeated bits as replications and breaks long lines at commas: Verilator accepts at most 40,000 tokens
    per line."""
    def replication(match):
        return f"{{{match.group(0).count(',')}{{{match.group(1)}}}}}, "

    lines = (REPEATED.sub(replication, line) for line in text.splitlines(True))
    return "".join(line if len(line) < 5000 else line.replace(", ", ",\n") for line in lines)


def make(group, count, seed):
    """Writes the netlists of a group, their wrappers and the list of mutants."""
    yosys = pyosys()
    directory = OUT / group
    directory.mkdir(parents=True, exist_ok=True)
    modules = GROUPS[group]
    size = {m: len(source(m).read_text().splitlines()) for g in GROUPS.values() for m in g}
    share = count / sum(size.values())
    mutants, widths, text = [], {}, SELECT
    for module in modules:
        found, ports = netlist(yosys, module, group, max(8, round(size[module] * share)), len(mutants) + 1, seed,
                               directory)
        mutants += found
        widths |= ports
        text += folded((directory / f"{module}.v").read_text())
        (directory / f"{module}.v").unlink()
    inner = sorted({c for m in modules for c in children(m)} - set(modules))
    # Netlists replace the modules of the group. All other modules stay as they are.
    text += "".join(outer_wrapper(m, widths[m]) for m in modules)
    text += "".join(inner_wrapper(m, widths[m]) for m in inner)
    assert len(mutants) < 1 << SELECT_BITS
    (directory / "results.tsv").unlink(missing_ok=True)
    (directory / "netlist.sv").write_text(text)
    (directory / "modules.txt").write_text("".join(m + "\n" for m in modules))
    rows = ["\t".join(map(str, m)) + "\n" for m in mutants]
    (directory / "mutants.tsv").write_text("number\tmodule\tmode\tcell\tport\tbit\tsource\n" + "".join(rows))


def test_binaries(directory):
    """Builds and copies the two test programs, so that later builds do not affect a running campaign."""
    build = subprocess.run(["cargo", "test", "-p", "wave-sim", "--no-run", "--test", "cosim", "--test", "rtl_units"],
                           cwd=ROOT, stderr=subprocess.PIPE, text=True)
    if build.returncode:
        sys.exit(build.stderr)
    found = re.findall(r"tests/(\w+)/main\.rs \((.*?)\)", build.stderr)
    if {name for name, _ in found} != {"cosim", "rtl_units"}:
        sys.exit(f"cargo names other test programs than cosim and rtl_units: {build.stderr}")
    return {name: shutil.copy2(ROOT / path, directory / name) for name, path in found}


@contextlib.contextmanager
def alone(group, only):
    """Locks the group or round, so that no two runs judge the same mutants."""
    with open(OUT / group / ("lock" if only is None else f"lock-{only}"), "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sys.exit(f"{group}: another run is at it")
        yield


def run(groups, only):
    """Runs the mutants of each group that have no result yet, in all rounds or only in round `only`. If a group fails,
    the others still run."""
    broken = []
    for group in groups:
        if not (OUT / group / "mutants.tsv").exists():
            sys.exit(f"there are no mutants of {group} yet: scripts/rtl_mutants.py make {group}")
    with tempfile.TemporaryDirectory(prefix="run-", dir=OUT) as directory:
        binaries = test_binaries(pathlib.Path(directory))
        for group in groups:
            environment = os.environ | {"WAVE_SIM_MUTANTS": str(OUT / group)}
            if only is not None:
                environment["WAVE_SIM_ROUND"] = str(only)
            command = [binaries["rtl_units" if is_unit(group) else "cosim"], "mutants::campaign", "--exact", "--ignored",
                       "--nocapture"]
            # The working directory that cargo gives tests.
            with alone(group, only), open(OUT / group / "log", "a") as log:
                failed = subprocess.run(command, cwd=ROOT / "sim", env=environment, stdout=log, stderr=log).returncode
            if failed:
                broken.append(group)
            print(f"{group}: " + (f"failed, see {OUT / group / 'log'}" if failed else "done"), flush=True)
    if broken:
        sys.exit(1)


def rows(path):
    return [line.split("\t") for line in path.read_text().splitlines()] if path.exists() else []


def judged(group):
    """Verdict by mutant: (how it was found, what found it), or (`survived`, the rounds it ran in)."""
    results = {}
    for number, way, what in rows(OUT / group / "results.tsv"):
        before = results.get(number)
        if way != "survived":
            results[number] = (way, what)
        elif before is None or before[0] == "survived":
            results[number] = (way, sorted({*(before[1] if before else []), int(what)}))
    return results


def table():
    """Prints the verdicts per module as a Markdown table and writes the survivors to survivors.tsv."""
    ways = ["architectural", "cycle", "time-out", "crash", "survived"]
    print("| module | mutants | " + " | ".join(ways) + " |\n|---|" + "---|" * (len(ways) + 1))
    total = dict.fromkeys(ways, 0)
    survivors = ["group\tnumber\trounds\tmodule\tmode\tcell\tport\tbit\tsource"]

    def line(name, results):
        counts = [sum(way == w for w, _ in results) for way in ways]
        print(f"| {name} | {len(results)} | " + " | ".join(map(str, counts)) + " |")
        return counts

    for name, groups in TOGETHER.items():
        of_all = {}
        for group in groups:
            mutants = {row[0]: row for row in rows(OUT / group / "mutants.tsv")[1:]}
            results = judged(group)
            for module in GROUPS[group]:
                line(f"`{module}`", [results[n] for n, row in mutants.items() if row[1] == module and n in results])
            of_all |= {(group, n): result for n, result in results.items()}
            survivors += ["\t".join([group, n, ",".join(map(str, what)), *mutants[n][1:]])
                          for n, (way, what) in results.items() if way == "survived"]
        for way, count in zip(ways, line(name, list(of_all.values()))):
            total[way] += count
        left = [rounds for way, rounds in of_all.values() if way == "survived"]
        for number, what in enumerate(ROUNDS if name == "core" else []):
            met = sum(number in rounds for rounds in left)
            print(f"core, round {number}, {what}: {met} of {len(left)} survivors have met it", file=sys.stderr)
    print(f"| all | {sum(total.values())} | " + " | ".join(str(total[way]) for way in ways) + " |")
    (OUT / "survivors.tsv").write_text("".join(line + "\n" for line in survivors))


def make_apart(group, arguments):
    """Runs `make` in its own process, because yosys ends its process when it fails, and keeps its output in a log."""
    (OUT / group).mkdir(parents=True, exist_ok=True)
    log = OUT / group / "yosys.log"
    options = ["--count", str(arguments.count), "--seed", str(arguments.seed)]
    with open(log, "w") as output:
        failed = subprocess.run([sys.executable, __file__, "netlists", group, *options], stdout=output,
                                stderr=output).returncode
    if failed:
        sys.exit(f"{group}: {log.read_text().splitlines()[-1][:500]}\n(see {log})")
    print(f"{group}: {len(rows(OUT / group / 'mutants.tsv')) - 1} mutants of {', '.join(GROUPS[group])}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", nargs="?", choices=["all", "make", "run", "table", "netlists"], default="all")
    parser.add_argument("group", nargs="*", help=f"of {', '.join(GROUPS)}; all of them if none is named")
    parser.add_argument("--count", type=int, default=1500, help="mutants of all groups together, about")
    parser.add_argument("--seed", type=int, default=1, help="chooses the mutants")
    parser.add_argument("--round", type=int, choices=range(len(ROUNDS)), help="run this round of the core's programs only")
    arguments = parser.parse_args()
    groups = arguments.group or list(GROUPS)
    if unknown := [g for g in groups if g not in GROUPS]:
        parser.error(f"there is no group {unknown[0]}; the groups are {', '.join(GROUPS)}")
    with_tools()
    if arguments.step in ("all", "make"):
        for group in groups:
            make_apart(group, arguments)
    if arguments.step == "netlists":
        make(groups[0], arguments.count, arguments.seed)
        return
    if arguments.step in ("all", "run"):
        run(groups, arguments.round)
    if arguments.step != "make":
        table()


if __name__ == "__main__":
    main()
