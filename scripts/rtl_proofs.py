#!/usr/bin/env python3
"""Proves properties of blocks of the RTL, and shows that the proofs can fail.

    python3 scripts/rtl_proofs.py                         # every proof
    python3 scripts/rtl_proofs.py releases convert_lane   # blocks by name
    python3 scripts/rtl_proofs.py --quick                 # those that take about a minute in all
    python3 scripts/rtl_proofs.py --mutants               # each proof with a planted bug, which it has to refute

The first run installs pyosys and bitwuzla in target/rtl-tools, in fixed versions. The result is a Markdown table. The
exit status is 1 if a proof fails or gets no answer in its time, and the counterexample follows the table. It is 2 for a
name that is no block.

rtl-tests/proofs has the proofs: NAME.sv instantiates a control block, with assumptions about its inputs and assertions
about its outputs and registers; NAME.smt2 says in the theories of SMT-LIB what an arithmetic module computes. Comments
at the beginning of a file say how it is proven (rtl-tests/README.md, Proofs).
"""

import argparse
import atexit
import itertools
import os
import pathlib
import re
import resource
import shutil
import sys

from rtl_sources import ROOT, RTL, with_tools
from rtl_transition import bounded, equivalence, extract, extracted, induction, timed

PROOFS = ROOT / "rtl-tests" / "proofs"
# Of this process: several may run.
WORK = ROOT / "target" / "rtl-proofs" / str(os.getpid())
MEMORY_BYTES = 8 << 30


def operations():
    """Number of each operation, from the package."""
    text = (RTL / "wave_isa_pkg.sv").read_text()
    return {name: int(number) for name, number in re.findall(r"^\s+(OP_\w+) = 8'd(\d+)", text, re.M)}


def replace(file, old, new):
    text = file.read_text()
    if text.count(old) != 1:
        sys.exit(f"{file.name}: `{old}` is there {text.count(old)} times")
    file.write_text(text.replace(old, new))


def copy_of_sources(name):
    """A copy of the RTL in which yosys-slang finds no system function that it does not know."""
    folder = WORK / name
    shutil.copytree(RTL, folder)
    for file in folder.rglob("*.sv"):
        text = file.read_text()
        file.write_text(text.replace("$onehot0(", "1 >= $countones(").replace("$onehot(", "1 == $countones("))
    return folder


class Mutant:
    """A planted bug by its number, or a replacement in a file of the RTL."""

    count = itertools.count(1)

    def __init__(self, fields):
        self.name, self.number, self.change, self.case = " | ".join(fields), None, None, None
        if fields[0].isdigit():
            self.number, fields = int(fields[0]), fields[1:]
        else:
            self.change, fields = fields[:3], fields[3:]
        self.case = fields[0] if fields else None

    def sources(self):
        """A copy of the RTL with the bug."""
        folder = copy_of_sources(f"mutant-{next(Mutant.count)}")
        if self.number is not None:
            (folder / "bugs.svh").write_text(f"`define BUG(n) ((n) == {self.number})\n")
        else:
            file, old, new = self.change
            replace(folder / file, old, new)
        return folder


def misfits(proofs):
    """Mutants whose text is not in the sources, once."""
    sources = copy_of_sources("as-they-are")
    for proof in proofs:
        for mutant in proof.mutants:
            if mutant.change and (times := (sources / mutant.change[0]).read_text().count(mutant.change[1])) != 1:
                yield f"{proof.file.name}: `{mutant.change[1]}` is in {mutant.change[0]} {times} times"


def header(file):
    """The statements of the comments at the beginning of a proof: (key, text)."""
    mark = "//" if file.suffix == ".sv" else ";"
    statements = []
    for line in file.read_text().split("\n"):
        if not line.startswith(mark):
            break
        text = line[len(mark):]
        start = re.match(r" ([A-Z][a-z]+): (.*)", text)
        if start:
            statements.append([start[1], start[2]])
        elif statements and text.startswith("   "):
            statements[-1][1] += " " + text.strip()
    return statements


class Proof:
    """A row of the table."""

    def __init__(self, file, limit_s):
        self.file, self.block, self.limit_s = file, file.stem, limit_s
        statements = header(file)
        self.all = lambda key: [text for k, text in statements if k == key]
        self.mutants = [Mutant(text.split(" | ")) for text in self.all("Mutant")]
        self.limit_s = max([limit_s, *(int(text) for text in self.all("Limit"))])


class Harness(Proof):
    """A control block in a harness: induction, or all cycles up to a depth."""

    def __init__(self, file, limit_s, parameters):
        super().__init__(file, limit_s)
        self.words = self.all("Proves")[0]
        self.parameters = [tuple(p.split("=")) for p in parameters.split()]
        if parameters:
            self.words += f" ({parameters.replace('=', ' = ')})"
        method = dict(re.findall(r"(induction|bounded) (\d+)", self.all("Method")[0]))
        self.k, self.depth = int(method.get("induction", 0)), int(method["bounded"])
        self.separately = "separately" in self.all("Method")[0]
        stateless = "stateless" in self.all("Method")[0]
        self.quick = "quick" in self.all("Method")[0]
        self.method = (f"induction, k = {self.k}" if self.k else "all inputs; it has no state" if stateless
                       else f"BMC, {self.depth} cycles")

    def matches(self, mutant):
        return mutant.case is None or f"{mutant.case} " in " ".join(map("=".join, self.parameters)) + " "

    def run(self, rtl, search=False):
        """With `search`, assertions are looked at in each cycle up to the depth: a mutant has to fail in one."""
        top = f"prove_{self.block}"
        system = extracted(__file__, top, rtl, self.file, tuple(self.parameters), WORK / f"{top}.smt2")
        if not self.k or search:
            return bounded(system, self.depth, self.depth, self.limit_s)
        # The first k cycles, and then any cycle behind k others.
        outcome = bounded(system, self.depth, self.k, self.limit_s)
        if outcome.result == "proven":
            outcome = induction(system, self.k, self.limit_s, self.separately)
        return outcome


class Case(Proof):
    """An arithmetic module against its specification, for some operations."""

    def __init__(self, file, limit_s, text):
        super().__init__(file, limit_s)
        flags, names, self.assumption, self.claim, self.words = [field.strip() for field in re.split(r" \|(?= )", text)]
        self.quick = "quick" in flags
        limit = re.search(r"(\d+) s", flags)
        self.limit_s = max(limit_s, int(limit[1])) if limit else self.limit_s
        self.names = names.split() or [""]
        split = re.search(r"(\w+) (\d+)\.\.(\d+)", flags)
        self.split = (split[1], int(split[2]), int(split[3])) if split else None
        self.method = "equivalence" if self.assumption == "true" else "equivalence, on a condition"
        if split:
            self.method += f", {self.split[2] - self.split[1] + 2} cases"

    def cut(self, rtl, action):
        """Does something with the sources as the proof changes them: parts of the module are cut off."""
        kept = {}
        for text in self.all("Cut"):
            file, old, new = text.split(" | ")
            kept[rtl / file] = (rtl / file).read_text()
            replace(rtl / file, old, new)
        result = action()
        for file, text in kept.items():
            file.write_text(text)
        return result

    def cases(self):
        """Assumptions of which one always holds: each value of the split, and none of them."""
        if not self.split:
            return [self.assumption]
        name, first, last = self.split
        each = [f"({name} (_ bv{number} 16))" for number in range(first, last + 1)]
        none = " ".join(f"(not {case})" for case in each)
        return [f"(and {self.assumption} {case})" for case in [*each, none]]

    def matches(self, mutant):
        return mutant.case in self.names or self.words.startswith(mutant.case or "?")

    def run(self, rtl, search=False):
        module, clocks = self.all("Module")[0], int(self.all("Clocks")[0])
        harness = self.file.with_suffix(".sv") if module.startswith("prove_") else None
        system = self.cut(rtl, lambda: extracted(__file__, module, rtl, harness, (), WORK / f"{module}.smt2"))
        numbers = operations()
        spec = "\n".join((PROOFS / f"{name}.smt2").read_text() for name in " ".join(self.all("Uses")).split())
        constants = "".join(f"(define-fun {name} () (_ BitVec 8) #x{number:02x})\n" for name, number in numbers.items())
        spec = constants + spec + self.file.read_text()
        for name in self.names:
            fixed = {"op": f"#x{numbers[name]:02x}"} if name else {}
            # A mutant has to fail somewhere: outside of the split, or anywhere.
            for case in [self.cases()[-1], self.assumption] if search else self.cases():
                outcome = equivalence(system, spec, fixed, clocks, case, self.claim, self.limit_s)
                if outcome.result != "proven":
                    outcome.words = f"{name.lower()} {outcome.words}" + (f", case {case}" if self.split else "")
                    return outcome
        return outcome


def proofs_of(block, limit_s):
    """The proofs of a block, from its files."""
    found = []
    harness, spec = PROOFS / f"{block}.sv", PROOFS / f"{block}.smt2"
    if harness.exists() and any(key == "Method" for key, _ in header(harness)):
        sets = [text for key, text in header(harness) if key == "Parameters"] or [""]
        found += [Harness(harness, limit_s, parameters) for parameters in sets]
    if spec.exists():
        found += [Case(spec, limit_s, text) for key, text in header(spec) if key == "Case"]
    return found


def prove(proofs):
    """Prints a row for each block, property and method. True if all are proven."""
    print("| block | property | method | solver | result | seconds |\n|---|---|---|---|---|--:|")
    examples, good, rtl, rows = [], True, copy_of_sources("sources"), {}
    for proof in proofs:
        rows.setdefault((proof.block, proof.words, proof.method), []).append(proof)
    for (block, words, method), parts in rows.items():
        result, total = "proven", 0
        for proof in parts:
            outcome, seconds = timed(lambda: proof.run(rtl))
            total += seconds
            if outcome.result != "proven":
                result, good = f"**{outcome.result}**: {outcome.words}", False
                examples.append(f"\n{block}, {words}: {outcome.words}{outcome.example}\n")
        print(f"| `{block}` | {words} | {method} | bitwuzla | {result} | {total:.0f} |", flush=True)
    print("".join(examples), end="")
    return good


def refute(proofs):
    """Prints a row for each proof and planted bug. True if none is proven in spite of its bug."""
    print("| block | bug | result | seconds |\n|---|---|---|--:|")
    good, tried = True, {}
    for proof in proofs:
        for mutant in proof.mutants:
            key = (proof.file, mutant.name)
            tried.setdefault(key, False)
            if tried[key] or not proof.matches(mutant):
                continue
            tried[key] = True
            sources = mutant.sources()
            outcome, seconds = timed(lambda: proof.run(sources, search=True))
            refuted = outcome.result == "failed"
            good = good and refuted
            name = f"bug {mutant.name}" if mutant.number is not None else f"`{mutant.name}`"
            answer = f"refuted: {outcome.words}" if refuted else f"**{outcome.result}**: {outcome.words}"
            print(f"| `{proof.block}` | {name.replace('|', '→')} | {answer} | {seconds:.0f} |", flush=True)
    for (file, name), was in tried.items():
        if not was:
            print(f"{file.name}: no proof for the mutant {name}")
    return good and all(tried.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("blocks", nargs="*")
    parser.add_argument("--quick", action="store_true", help="only the proofs that take a few seconds")
    parser.add_argument("--mutants", action="store_true", help="each proof has to fail with its planted bugs")
    parser.add_argument("--limit", type=int, default=120, metavar="SECONDS", help="for a question to the solver")
    parser.add_argument("--extract", nargs="+", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    with_tools()
    if arguments.extract:
        top, rtl, harness, file, *values = arguments.extract
        return extract(top, pathlib.Path(rtl), harness, [value.split("=") for value in values], pathlib.Path(file))
    WORK.mkdir(parents=True)
    atexit.register(shutil.rmtree, WORK, ignore_errors=True)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    names = sorted({f.stem for f in PROOFS.iterdir() if proofs_of(f.stem, arguments.limit)})
    for name in arguments.blocks:
        if name not in names:
            print(f"there is no proof of {name}; there are: {', '.join(names)}", file=sys.stderr)
            sys.exit(2)
    proofs = [proof for name in arguments.blocks or names for proof in proofs_of(name, arguments.limit)]
    if stale := sorted(set(misfits(proofs))):
        sys.exit("\n".join(stale))
    if arguments.quick:
        proofs = [proof for proof in proofs if proof.quick]
    good = refute(proofs) if arguments.mutants else prove(proofs)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
