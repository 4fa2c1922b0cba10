#!/usr/bin/env python3
"""Mutation campaign of the simulator: do its tests find small faults that nobody chose?

    cargo install cargo-mutants --locked
    python3 -m venv /tmp/sim && /tmp/sim/bin/pip install tree-sitter tree-sitter-rust
    /tmp/sim/bin/python scripts/sim_mutants.py                        # makes the mutants, runs them, prints the score
    /tmp/sim/bin/python scripts/sim_mutants.py make --count N --seed N  # chooses and builds only
    /tmp/sim/bin/python scripts/sim_mutants.py build                  # builds again, with the tests as they are now
    /tmp/sim/bin/python scripts/sim_mutants.py run [NUMBER...]        # judges those without a verdict, or these again
    /tmp/sim/bin/python scripts/sim_mutants.py table                  # prints what has been judged

`cargo mutants --list` names every mutant of the core, the memory hierarchy and the lane arithmetic; a seeded sample of them is
judged. A build for each would take hours, so all of the sample are in one: where a mutant differs, the source asks whether it is the
one that the environment chooses, and goes on as cargo-mutants would have it or as it was. A mutant that does not compile there is
left out as unviable; one inside a constant, which cannot ask, is counted apart.

The tests that judge are in JUDGES, the quickest first; the first that fails ends a mutant. Everything goes to target/mutants/sim:
source, build, mutants.tsv, results.tsv. A campaign that is broken off goes on with `run`.
"""

import argparse
import json
import os
import pathlib
import random
import re
import resource
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUT = ROOT / "target" / "mutants" / "sim"
SOURCE, BUILD = OUT / "source", OUT / "build"
# What the build reads.
PARTS = ["Cargo.toml", "Cargo.lock", "README.md", "ARCHITECTURE.md", "sim", "configs", "traces", "rtl-tests", "docs"]
TESTS = ["Cargo.lock", "sim/machine/tests", "sim/observe/tests", "sim/verify/tests", "sim/testing"]
# The machine, and the crates with tests that judge it.
PACKAGES = ["-p", "wave-machine", "-p", "wave-observe", "-p", "wave-verify", "-p", "wave-sim"]
MUTATED = ["sim/machine/src/core/**", "sim/machine/src/memory/**", "sim/machine/src/alu/**"]
VARIABLE = "WAVE_SIM_MUTANT"
# Target of the build, and which of its tests.
JUDGES = [
    ("lib", ["alu::"]),
    ("lib", ["memory::", "core::", "clock::", "gpu::"]),
    ("pipeline_rules", []),
    ("corner_programs", []),
    ("timing", []),
    ("hierarchy", ["sweep::"]),
    ("random_programs", ["on_the_smallest_machine", "with_"]),
    ("traces", ["golden_traces::", "oracle::", "queues::"]),
    ("dram", []),
]
# Of the processor's time that a judge takes without a mutant; and seconds besides.
PATIENCE, SLACK, MEMORY = 3, 10, 6 << 30
SWITCH = f"""
/// True if the mutant of this number runs: scripts/sim_mutants.py put it in.
#[inline]
pub fn mutant(number: u32) -> bool {{
    static RUNS: std::sync::LazyLock<u32> =
        std::sync::LazyLock::new(|| std::env::var("{VARIABLE}").map_or(0, |text| text.parse().expect("a number")));
    *RUNS == number
}}
"""


def fail(message):
    sys.exit(f"scripts/sim_mutants.py: {message}")


def parser():
    try:
        import tree_sitter
        import tree_sitter_rust
    except ImportError:
        fail("tree-sitter is missing: python3 -m venv /tmp/sim && /tmp/sim/bin/pip install tree-sitter "
             "tree-sitter-rust, then start this script with /tmp/sim/bin/python")
    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_rust.language()))


def listed():
    """Every mutant that cargo-mutants makes of the modules."""
    command = ["cargo", "mutants", "--list", "--json"] + [word for part in MUTATED for word in ("-f", part)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if run.returncode:
        fail(f"cargo-mutants: {run.stderr.strip()}")
    mutants = json.loads(run.stdout)
    for part in MUTATED:
        if not any(m["file"].startswith(part.removesuffix("**")) for m in mutants):
            fail(f"cargo-mutants finds nothing to change in {part}")
    return mutants


class Text:
    """A source file, its syntax, and the mutants that belong to nodes of it."""

    def __init__(self, parser, path):
        self.bytes = path.read_bytes()
        self.lines = self.bytes.split(b"\n")
        self.tree = parser.parse(self.bytes)
        if self.tree.root_node.has_error:
            fail(f"{path}: tree-sitter cannot parse it")
        # By the bytes and the kind of a node: numbers and how each changes its text.
        self.changes = {}

    def byte(self, place):
        """Columns of cargo-mutants count characters from 1."""
        line = self.lines[place["line"] - 1].decode()
        before = sum(len(line) + 1 for line in self.lines[:place["line"] - 1])
        return before + len(line[:place["column"] - 1].encode())

    def original(self, node):
        return self.bytes[node.start_byte:node.end_byte].decode()

    def node(self, start, end, fits):
        """The innermost node around these bytes that fits."""
        node = self.tree.root_node.descendant_for_byte_range(start, end)
        while node is not None and not fits(node):
            node = node.parent
        return node

    def add(self, mutant):
        """Notes a mutant; false if its place has no form that can ask."""
        start, end = self.byte(mutant["span"]["start"]), self.byte(mutant["span"]["end"])
        genre, number, by = mutant["genre"], mutant["number"], mutant["replacement"]
        asks = f"crate::mutant({number})"
        if genre == "BinaryOperator":
            def is_operation(node):
                operator = node.child_by_field_name("operator") or (node.child(1) if node.child_count > 1 else None)
                return operator is not None and (operator.start_byte, operator.end_byte) == (start, end)
            node = self.node(start, end, is_operation)
            if node is None or node.type not in ("binary_expression", "compound_assignment_expr"):
                return False
            changed = self.bytes[node.start_byte:start].decode() + by + self.bytes[end:node.end_byte].decode()
            change = lambda text: f"(if {asks} {{ {changed} }} else {{ {text} }})"
        elif genre == "UnaryOperator":
            node = self.node(start, end, lambda node: node.type == "unary_expression" and node.start_byte == start)
            if node is None:
                return False
            changed = by + self.bytes[end:node.end_byte].decode()
            change = lambda text: f"(if {asks} {{ {changed} }} else {{ {text} }})"
        elif genre == "FnValue":
            node = self.node(start, end, lambda node: node.type == "block" and node.parent.type == "function_item")
            if node is None:
                return False
            change = lambda text: f"{{ if {asks} {{ return {by}; }} {text[1:]}"
        elif genre == "MatchArmGuard":
            node = self.node(start, end, lambda node: (node.start_byte, node.end_byte) == (start, end))
            if node is None:
                return False
            change = lambda text: f"(if {asks} {{ {by} }} else {{ {text} }})"
        elif genre == "MatchArm":
            arm = self.node(start, end, lambda node: node.type == "match_arm")
            if arm is None:
                return False
            node = arm.child_by_field_name("pattern")
            guard = node.child_by_field_name("condition")
            if guard is not None:
                node = guard
                change = lambda text: f"!{asks} && ({text})"
            else:
                change = lambda text: f"{text} if !{asks}"
        else:
            return False
        self.changes.setdefault((node.start_byte, node.end_byte, node.type), []).append(change)
        return True

    def render(self, node):
        """The text of a node with its mutants."""
        text, at = "", node.start_byte
        for child in node.children:
            text += self.bytes[at:child.start_byte].decode() + self.render(child)
            at = child.end_byte
        text += self.bytes[at:node.end_byte].decode()
        for change in self.changes.get((node.start_byte, node.end_byte, node.type), []):
            text = change(text)
        return text

    def text(self):
        root = self.tree.root_node
        return (self.bytes[:root.start_byte] + self.render(root).encode() + self.bytes[root.end_byte:]).decode()


def put_in(mutants):
    """Writes the sources with these mutants; gives those that have no place in them."""
    syntax, without = parser(), []
    by_file = {}
    for mutant in mutants:
        by_file.setdefault(mutant["file"], []).append(mutant)
    for place in bring(PARTS):
        if str(place) in by_file:
            text = Text(syntax, ROOT / place)
            without += [m for m in by_file[str(place)] if not text.add(m)]
            write(SOURCE / place, text.text().encode())
        elif str(place) == "sim/machine/src/lib.rs":
            write(SOURCE / place, (ROOT / place).read_bytes() + SWITCH.encode())
        else:
            write(SOURCE / place, (ROOT / place).read_bytes())
    return without


def bring(parts):
    """The files of the repository under these places; copies of others are taken away."""
    files = [file for part in parts for file in [ROOT / part, *sorted((ROOT / part).rglob("*"))] if file.is_file()]
    places = [file.relative_to(ROOT) for file in files]
    for part in parts:
        for stale in [file for file in (SOURCE / part).rglob("*") if file.is_file()]:
            if stale.relative_to(SOURCE) not in set(places):
                stale.unlink()
    return places


def write(file, contents):
    """What is as it was keeps its time, so that a second build has little to do."""
    if not file.exists() or file.read_bytes() != contents:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(contents)


def cargo(*words):
    """Runs cargo on the sources with the mutants; gives its status and its messages."""
    environment = os.environ | {"CARGO_PROFILE_DEV_DEBUG": "0", "CARGO_TARGET_DIR": str(BUILD)}
    run = subprocess.run(["cargo", *words, "--message-format=json", *PACKAGES], cwd=SOURCE, env=environment,
                         capture_output=True, text=True)
    messages = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]
    return run.returncode, messages, run.stderr


def blamed(message):
    """Numbers of the mutants at the places of an error."""
    numbers = set()
    for span in message["spans"]:
        if not span["is_primary"]:
            continue
        text = (SOURCE / span["file_name"]).read_text()
        lines = text.splitlines()
        found = re.findall(r"crate::mutant\((\d+)\)", "\n".join(lines[span["line_start"] - 1:span["line_end"]]))
        if not found:
            before = re.findall(r"crate::mutant\((\d+)\)", "\n".join(lines[:span["line_end"]]))
            found = before[-1:]
        numbers |= set(map(int, found))
    return numbers


def make(count, seed, within):
    """Chooses the mutants, puts them into the sources and builds the judges."""
    every = [mutant for mutant in listed() if re.search(within, mutant["name"])]
    if not every:
        fail(f"no mutant has a name with {within} in it")
    chosen = sorted(random.Random(seed).sample(range(len(every)), min(count, len(every))))
    mutants = [every[i] | {"number": number, "state": "viable"} for number, i in enumerate(chosen, 1)]
    OUT.mkdir(parents=True, exist_ok=True)
    (OUT / "results.tsv").unlink(missing_ok=True)
    while True:
        left = [m for m in mutants if m["state"] == "viable"]
        for mutant in put_in(left):
            mutant["state"] = "apart"
        status, messages, said = cargo("check", "--lib")
        if status == 0:
            break
        errors = [m["message"] for m in messages if m["reason"] == "compiler-message" and m["message"]["level"] == "error"]
        wrong = {}
        for error in errors:
            for number in blamed(error):
                code = (error["code"] or {}).get("code")
                wrong[number] = "apart" if code in ("E0015", "E0658") else "unviable"
        if not wrong:
            fail(f"the sources do not compile, and no mutant is to blame: {said}")
        for mutant in mutants:
            mutant["state"] = wrong.get(mutant["number"], mutant["state"])
        print(f"{len(wrong)} mutants do not compile", flush=True)
    rows = [f"{m['number']}\t{m['state']}\t{m['genre']}\t{m['name']}\n" for m in mutants]
    (OUT / "mutants.tsv").write_text(f"# {len(chosen)} of {len(every)} mutants, seed {seed}\n" + "".join(rows))
    build()


def build():
    """Builds the judges, with the tests beside the sources as they are now, and keeps where they are."""
    if not SOURCE.exists():
        fail("there are no mutants yet: scripts/sim_mutants.py make")
    for place in bring(TESTS):
        write(SOURCE / place, (ROOT / place).read_bytes())
    targets = [word for name in sorted({name for name, _ in JUDGES})
               for word in (["--lib"] if name == "lib" else ["--test", name])]
    status, messages, said = cargo("test", "--no-run", *targets)
    if status:
        fail(f"the judges do not build: {said}")
    # Targets of their own, and the executable that some tests start.
    built = [m for m in messages if m["reason"] == "compiler-artifact" and m["executable"] and m["profile"]["test"]]
    found = {m["target"]["name"]: m["executable"] for m in built}
    found["lib"] = found.pop("wave_machine")
    missing = {name for name, _ in JUDGES} - set(found)
    if missing:
        fail(f"the build has no {missing}")
    (OUT / "judges.json").write_text(json.dumps(found))


def limits(seconds):
    def set_them():
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 5))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        os.nice(5)
    return set_them


def judge(number, executable, filters, seconds):
    """How a judge finds a mutant and by which test, or nothing; and the processor's seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = os.environ | {VARIABLE: str(number), "RUST_BACKTRACE": "0"}
    process = subprocess.Popen([executable, "--test-threads=1", *filters], cwd=SOURCE / "sim", env=environment,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, preexec_fn=limits(seconds))
    found, passed, running, ended = None, 0, "", ""
    for line in process.stdout:
        if match := re.match(r"test (\S+).* \.\.\. (?:.*)(ok|FAILED|ignored)", line):
            running, verdict = match.group(1), match.group(2)
            passed += verdict == "ok"
            if verdict == "FAILED":
                found = ("failed", running)
                process.kill()
                break
        ended = line.strip() or ended
    process.stdout.close()
    status = process.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if found is None and status != 0:
        late = status in (-signal.SIGXCPU, -signal.SIGKILL)
        found = ("time-out" if late else "crash", ended[:100])
    if found is None and passed == 0:
        fail(f"{executable} {filters}: no test ran")
    return found, used


def rows(name):
    path = OUT / name
    return [line.split("\t") for line in path.read_text().splitlines() if not line.startswith("#")] if path.exists() else []


def run(numbers, only):
    """Judges the mutants that have no verdict, in an order that has nothing to do with what they are."""
    if not (OUT / "judges.json").exists():
        fail("nothing is built yet: scripts/sim_mutants.py make")
    executables = json.loads((OUT / "judges.json").read_text())
    judges = []
    for name, filters in [judge for judge in JUDGES if only in (None, judge[0])]:
        found, used = judge(0, executables[name], filters, 600)
        if found:
            fail(f"{name} {filters} fails without a mutant: {found}")
        judges.append((name, filters, PATIENCE * used + SLACK))
        print(f"{name} {' '.join(filters)}: {used:.1f} s", flush=True)
    done = {int(row[0]) for row in rows("results.tsv")}
    viable = [int(row[0]) for row in rows("mutants.tsv") if row[1] == "viable"]
    left = numbers or [number for number in viable if number not in done]
    random.Random(0).shuffle(left)
    for number in left:
        start, verdict = time.monotonic(), ("survived", "")
        for name, filters, seconds in judges:
            found, _ = judge(number, executables[name], filters, seconds)
            if found:
                verdict = (found[0], f"{name} {found[1]}")
                break
        with open(OUT / "results.tsv", "a") as results:
            results.write(f"{number}\t{verdict[0]}\t{verdict[1]}\n")
        print(f"{number}\t{verdict[0]}\t{verdict[1]}\t{time.monotonic() - start:.0f} s", flush=True)


def table():
    """The score, by module, and every survivor. The last verdict of a mutant counts."""
    mutants = {int(row[0]): row for row in rows("mutants.tsv")}
    if not mutants:
        fail("there are no mutants yet: scripts/sim_mutants.py make")
    verdicts = {int(row[0]): row for row in rows("results.tsv")}
    print((OUT / "mutants.tsv").read_text().splitlines()[0].removeprefix("# "))
    print("| part | chosen | not viable | in constants | judged | found | score |\n|---|---|---|---|---|---|---|")
    for part in ["core", "memory", "alu", ""]:
        of = {number: row for number, row in mutants.items() if row[3].startswith(f"sim/machine/src/{part}")}
        judged = [verdicts[number] for number, row in of.items() if number in verdicts and row[1] == "viable"]
        found = sum(row[1] != "survived" for row in judged)
        states = [sum(row[1] == state for row in of.values()) for state in ("unviable", "apart")]
        score = f"{100 * found / len(judged):.1f} %" if judged else "–"
        print(f"| {part or 'all'} | {len(of)} | {states[0]} | {states[1]} | {len(judged)} | {found} | {score} |")
    for number, row in sorted(verdicts.items()):
        if row[1] == "survived":
            print(f"{number}: {mutants[number][3]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", nargs="?", choices=["all", "make", "build", "run", "table"], default="all")
    parser.add_argument("numbers", nargs="*", type=int, help="mutants to judge again")
    parser.add_argument("--count", type=int, default=240, help="mutants of the sample")
    parser.add_argument("--seed", type=int, default=1, help="which sample")
    parser.add_argument("--within", metavar="REGEX", default="", help="mutants whose place and name match, of which to make it")
    parser.add_argument("--judge", choices=sorted({name for name, _ in JUDGES}), help="run this one only")
    arguments = parser.parse_args()
    if arguments.step in ("all", "make"):
        make(arguments.count, arguments.seed, arguments.within)
    if arguments.step == "build":
        build()
    if arguments.step in ("all", "run"):
        run(arguments.numbers, arguments.judge)
    if arguments.step in ("all", "run", "table"):
        table()


if __name__ == "__main__":
    main()
