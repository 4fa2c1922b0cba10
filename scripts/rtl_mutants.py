#!/usr/bin/env python3
"""Mutation campaign of the RTL: measures how many small random faults the co-simulation finds.

    python3 scripts/rtl_mutants.py          # makes the mutants, runs them, prints the table
    python3 scripts/rtl_mutants.py make     # draws them and writes the sources
    python3 scripts/rtl_mutants.py run      # builds the executable and runs what has no verdict yet
    python3 scripts/rtl_mutants.py table    # counts what has been run
    python3 scripts/rtl_mutants.py show 12  # a mutant's place; `survivors` for all that nothing finds
    python3 scripts/rtl_mutants.py prove    # proves of those that are not found that they are the original

A mutant is a line of the source and its change, such as `a < b` for `a <= b` (scripts/rtl_mutate.py). One executable of
the core of 4 wave slots has them all, and `+mutant=n` chooses. `cargo test --test cosim` runs its programs against
each mutant, in rounds, up to the first that differs (sim/cli/tests/cosim/campaign.rs). In target/mutants are
mutants.tsv, results.tsv and the sources. `run` goes on with a campaign that was broken off, because each mutant gets
its row in results.tsv as soon as it is judged.

rtl-tests/mutants.tsv says of each survivor why nothing finds it. The exit status of `table` is 1 if a survivor has no
reason there, or if a reason is given for a mutant that is found or is no longer made.
"""

import argparse
import fcntl
import os
import re
import shutil
import subprocess
import sys

from rtl_mutate import HEADER, drawn, files, rewritten
from rtl_proofs import copy_of_sources
from rtl_sources import PARAMETERS, ROOT, RTL, UNITS, source, with_tools
from rtl_transition import Solver, extracted

OUT = ROOT / "target" / "mutants"
SOURCE = OUT / "source"
REASONS = ROOT / "rtl-tests" / "mutants.tsv"
# How a mutant is found, and what becomes of the others.
WAYS = ["architectural", "cycle", "time-out", "assertion", "crash"]
CLASSES = ["proven", "equivalent", "unreachable", "hole"]
UNIT_MODULES = {file.stem for file in UNITS.glob("*.sv")}


def rows(path):
    return [line.split("\t") for line in path.read_text().splitlines()] if path.exists() else []


def make(count, seed):
    """Writes the list of mutants, and the sources that hold those which are not found yet: the fewer, the faster."""
    walk, mutants = drawn(count, seed)
    lines = ["\t".join([str(m.number), m.module, str(m.line), m.text, m.change]) + "\n" for m in mutants]
    listed = OUT / "mutants.tsv"
    if not listed.exists() or listed.read_text() != "".join(lines):
        OUT.mkdir(parents=True, exist_ok=True)
        (OUT / "results.tsv").unlink(missing_ok=True)
        listed.write_text("".join(lines))
    left = Campaign().not_found(mutants)
    shutil.rmtree(SOURCE, ignore_errors=True)
    shutil.copytree(RTL.parent / "bench", SOURCE / "bench")
    shutil.copytree(RTL, SOURCE / "rtl")
    (SOURCE / "rtl" / "mutants.svh").write_text(HEADER)
    for file in files():
        text = rewritten(walk.texts[file.stem], [m for m in left if m.module == file.stem])
        (SOURCE / file.relative_to(RTL.parent)).write_text(text, "latin-1")
    print(f"{len(mutants)} of {len(walk.found)} mutants, {len(left)} of them not found")


def run(jobs):
    """Runs the mutants that have no verdict yet."""
    command = ["cargo", "test", "--no-run", "--test", "cosim"]
    build = subprocess.run(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    if build.returncode:
        sys.exit(build.stderr)
    # Those that have a reason not to be found run last.
    reasoned = [n for n, name in Campaign().names.items() if name in Campaign().reasons]
    (OUT / "reasoned.txt").write_text("".join(f"{n}\n" for n in reasoned))
    with open(OUT / "lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sys.exit("another run is at it")
        # A copy, so that later builds do not affect a running campaign.
        binary = shutil.copy2(ROOT / re.search(r"tests/cosim/main\.rs \((.*?)\)", build.stderr)[1], OUT / "cosim")
        command = [binary, "campaign::mutants_are_found", "--exact", "--ignored", "--nocapture"]
        environment = os.environ | {"WAVE_SIM_MUTANTS": str(OUT), "WAVE_SIM_JOBS": str(jobs)}
        with open(OUT / "log", "a") as log:
            # The working directory that cargo gives tests.
            if subprocess.run(command, cwd=ROOT / "sim" / "cli", env=environment, stdout=log, stderr=log).returncode:
                sys.exit(f"failed, see {OUT / 'log'}")


def prove(campaign, walk, mutants, limit_s=60):
    """Gives those that nothing has found the verdict `equivalent` if bitwuzla proves them to be the original, module by
    module."""
    open_ones = campaign.not_found(mutants)
    sources = copy_of_sources("mutants")
    (sources / "mutants.svh").write_text("`define MUTANT(n) (mutant_number == 12'(n))\n")
    for module in sorted({m.module for m in open_ones if not m.module.endswith("_pkg")}):
        file = sources / source(module).relative_to(RTL)
        original = file.read_text()
        of_module = [m for m in open_ones if m.module == module]
        text = rewritten(walk.texts[module], of_module).encode("latin-1").decode()
        text = text.replace("$onehot0(", "1 >= $countones(").replace("$onehot(", "1 == $countones(")
        # The number is the first port.
        port = r"(input logic [11:0] mutant_number,\1"
        file.write_text(re.sub(r"\((\s*\n(\s*//[^\n]*\n)*\s*input\b)", port, text, count=1))
        parameters = tuple(PARAMETERS.get(module, {}).items())
        script, target = ROOT / "scripts" / "rtl_proofs.py", OUT / f"{module}.smt2"
        system = extracted(script, module, sources, None, parameters, target)
        file.write_text(original)
        for mutant in of_module:
            answer = unchanged(system, mutant.number, limit_s)
            print(mutant.number, answer, campaign.shown(str(mutant.number)), flush=True)
            if answer == "unsat":
                with open(OUT / "results.tsv", "a") as results:
                    results.write(f"{mutant.number}\tequivalent\tproven\n")


def unchanged(system, number, limit_s):
    """`unsat` if the mutant has the outputs and the next state of the original, whatever the state and the inputs."""
    solver = Solver(limit_s)
    chosen = system.net_of_input("mutant_number")
    solver.define(system.cycle(0, {chosen: "#b" + "0" * 12}))
    # The other one shares all that nothing computes.
    for name, sort in system.declared.items():
        value = f"(_ bv{number} 12)" if name == chosen else f"|{name}@0|"
        solver.define(f"(define-fun |{name}@1| () {sort} {value})")
    for name, sort, body in system.defined:
        solver.define(f"(define-fun |{name}@1| () {sort} {system.at(body, 1)})")
    pairs = [[system.port(name, cycle) for cycle in (0, 1)] for name in system.outputs]
    pairs += [[system.at(body, cycle) for cycle in (0, 1)] for body in system.next.values()]
    return solver.ask("(or false " + " ".join(f"(distinct {a} {b})" for a, b in pairs) + ")")


class Campaign:
    """The mutants, what became of them, and the reasons of those that survived."""

    def __init__(self):
        self.mutants = {row[0]: row[1:] for row in rows(OUT / "mutants.tsv")}
        # What a reason is given for: module, line and change, whatever the number.
        self.names = {n: (module, text, change) for n, (module, _, text, change) in self.mutants.items()}
        # A mutant that several rounds have met has several rows. It survives unless one of them says otherwise.
        self.verdicts = {}
        for number, way, what, *_ in rows(OUT / "results.tsv"):
            if way != "survived" or number not in self.verdicts:
                self.verdicts[number] = (way, what)
        self.reasons = {tuple(row[:3]): row[3] for row in rows(REASONS)[1:]}
        self.survivors = [n for n, (way, _) in self.verdicts.items() if way == "survived"]

    def not_found(self, mutants):
        """Those of the mutants that nothing has found yet, whether they have met a program or not."""
        return [m for m in mutants if self.verdicts.get(str(m.number), ("survived",))[0] == "survived"]

    def fate(self, number):
        way = self.verdicts[number][0]
        if way == "equivalent":
            return "proven"
        return way if way != "survived" else self.reasons.get(self.names[number], "no reason")

    def line(self, name, numbers):
        """A row of the table. The share is that of the mutants that differ from the core."""
        fates = [self.fate(n) for n in numbers]
        counts = [fates.count(f) for f in (*WAYS, *CLASSES)]
        found, different = sum(counts[:len(WAYS)]), len(fates) - fates.count("equivalent") - fates.count("proven")
        share = f"{100 * found / different:.1f} %" if different else "–"
        print(f"| {name} | {len(fates)} | " + " | ".join(map(str, counts)) + f" | {share} |")

    def table(self):
        print("| module | mutants | " + " | ".join([*WAYS, *CLASSES, "found"]) + " |\n|---" + "|--:" * 11 + "|")
        judged = sorted(self.verdicts, key=int)
        for module in dict.fromkeys(row[0] for row in self.mutants.values()):
            self.line(f"`{module}`", [n for n in judged if self.mutants[n][0] == module])
        self.line("units", [n for n in judged if self.mutants[n][0] in UNIT_MODULES])
        self.line("all others", [n for n in judged if self.mutants[n][0] not in UNIT_MODULES])
        self.line("all", judged)

    def complaints(self):
        """Survivors without a reason, and reasons that are of no use."""
        surviving = {self.names[n] for n in self.survivors}
        yield from (f"no verdict: {n}" for n in self.mutants if n not in self.verdicts)
        yield from (f"no reason: {n} {self.shown(n)}" for n in self.survivors if self.names[n] not in self.reasons)
        yield from (f"no survivor: {': '.join(name)}" for name in self.reasons if name not in surviving)
        yield from (f"`{kind}` is none of {CLASSES[1:]}" for kind in {*self.reasons.values()} - {*CLASSES[1:]})

    def shown(self, number):
        module, line, text, change = self.mutants[number]
        return f"{module}.sv:{line}: {change}\n    {text}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", nargs="?", choices=["all", "make", "run", "table", "show", "prove"], default="all")
    parser.add_argument("mutant", nargs="*", help="numbers, or `survivors`")
    parser.add_argument("--count", type=int, default=1500, help="mutants, about")
    parser.add_argument("--seed", type=int, default=1, help="chooses the mutants")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="mutants that run at a time")
    arguments = parser.parse_args()
    with_tools()
    if arguments.step in ("all", "make"):
        make(arguments.count, arguments.seed)
    if arguments.step in ("all", "run"):
        run(arguments.jobs)
    campaign = Campaign()
    if arguments.step == "show":
        for number in campaign.survivors if arguments.mutant == ["survivors"] else arguments.mutant:
            print(number, campaign.shown(number), *campaign.verdicts.get(number, ()), sep="\n    ")
    elif arguments.step == "prove":
        prove(campaign, *drawn(arguments.count, arguments.seed))
    elif arguments.step != "make":
        campaign.table()
        complaints = list(campaign.complaints())
        print(*complaints, sep="\n", file=sys.stderr)
        sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
