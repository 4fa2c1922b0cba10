#!/usr/bin/env python3
"""Copies the sources into a folder, without anything that tells an observer something or keeps something for one.

    scripts/without_observers.py FOLDER

What is left is the simulator as if there had never been traces, reports or explanations: scripts/trace-cost.sh compares
the program with it. Every statement under a condition that asks for an observer is taken out of the core, the memory
hierarchy and the run loop, not only made false, so that not even the compiler's choices depend on it.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# What the build reads.
PARTS = ["Cargo.toml", "Cargo.lock", "sim", "configs", "traces", "rtl-tests", "docs", "README.md"]
# Conditions that ask for an observer, or for what is only kept for one.
ASKS = re.compile(
    r"P::ON\b|self\.hops\.is_some\(\)|= &mut self\.hops\b|let Some\(atomics\) = &mut self\.atomics\b"
    r"|let Some\(before\) = before\b"
)
# The same, where it is no condition.
VALUES = [
    (re.compile(r"\n *let before = \(P::ON && probe\.wants_account\(\)\)\.then\([^;]*;"), ""),
    # What is only done without an observer stays.
    (re.compile(r"!P::ON\s*&& "), ""),
    (re.compile(r"= P::ON && [^;]*;"), "= false;"),
    (re.compile(r"self\.memory\.record_(atomics|hops)\([^;]*\);"), r"self.memory.record_\1(false);"),
]
LEFT = re.compile(r"P::ON\b|\bprobe\.|\bhops\.push|= &mut self\.atomics\b")


def closing(text, at):
    """The place behind the brace that closes the one at `at`."""
    depth = 0
    for place in range(at, len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if depth == 0:
            return place + 1
    raise ValueError("a brace is not closed")


def without(text):
    """A source text without the statements for observers, and how many they were."""
    taken = 0
    for pattern, by in VALUES:
        text, n = pattern.subn(by, text)
        taken += n
    at = 0
    while found := re.compile(r"\bif ").search(text, at):
        start, block = found.start(), text.index("{", found.end())
        at = found.end()
        if not ASKS.search(text[found.end():block]):
            continue
        end = closing(text, block)
        rest = re.match(r"\s*else\s*\{", text[end:])
        kept = ""
        if rest:
            opening = end + rest.end() - 1
            end = closing(text, opening)
            kept = text[opening:end]
        text = text[:start] + kept + text[end:]
        at = start
        taken += 1
    return text, taken


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    taken = 0
    copies = set()
    for file in (file for part in PARTS for file in [ROOT / part, *sorted((ROOT / part).rglob("*"))]):
        if not file.is_file():
            continue
        place = file.relative_to(ROOT)
        contents = file.read_bytes()
        if place.parts[:2] == ("sim", "src") and place.parts[2] in ("core", "gpu", "memory") and place.suffix == ".rs":
            text, n = without(contents.decode())
            if place.name != "probe.rs" and (found := LEFT.search(text)):
                sys.exit(f"{place}: `{found.group()}` is still there")
            contents = text.encode()
            taken += n
        copy = folder / place
        copies.add(copy)
        # What is as it was keeps its time, so that a second build has little to do.
        if not copy.exists() or copy.read_bytes() != contents:
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(contents)
    for stale in {file for part in PARTS for file in (folder / part).rglob("*") if file.is_file()} - copies:
        stale.unlink()
    print(f"{taken} statements for observers taken out")


main()
