#!/usr/bin/env python3
"""Copies the sources into a folder and removes all code that serves observers.

    scripts/without_observers.py FOLDER

Observers are traces, reports and explanations. scripts/trace-cost.sh compares the real program with the result. The
script removes every statement whose condition tests for an observer from the core, the memory hierarchy and the run
loop. Setting the conditions to false would not be enough: dead code can still change the compiler's choices.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Files and folders that the build reads.
PARTS = ["Cargo.toml", "Cargo.lock", "sim", "configs", "traces", "rtl-tests", "docs", "README.md"]
# Conditions that test for an observer, or for state kept only for one.
ASKS = re.compile(
    r"\bP::ON\b|\bprobe\.wants\(|\bprobe\.observer\(\)|self\.hops\.is_some\(\)|= &mut self\.hops\b"
    r"|let Some\(atomics\) = &mut self\.atomics\b|let Some\(\(before, lost\)\) = before\b"
)
# Events that are told.
TELLS = re.compile(r"\bprobe\.tell\(")
# Observer code outside conditions, and its replacement.
VALUES = [
    (re.compile(r"\n *let before =\s*probe\.wants\([^;]*;"), ""),
    # Code that runs only without an observer stays.
    (re.compile(r"(!P::ON|probe\.settles_early\(\))\s*&& "), ""),
]
# What is asked elsewhere than in an `if`, and the answer of a run without an observer.
ANSWERS = [
    (re.compile(r"\bprobe\.wants(_any)?\([^()]*\)"), "false"),
    (re.compile(r"\bprobe\.observer\(\)"), "None::<&mut dyn crate::core::probe::Observer>"),
]
LEFT = re.compile(r"P::ON\b|\bprobe\.|\bhops\.push|= &mut self\.atomics\b")


def closing(text, at):
    """Position just after the brace or parenthesis that closes the one at `at`."""
    opens, closes = text[at], {"{": "}", "(": ")"}[text[at]]
    depth = 0
    for place in range(at, len(text)):
        depth += {opens: 1, closes: -1}.get(text[place], 0)
        if depth == 0:
            return place + 1
    raise ValueError(f"a {opens} is not closed")


def without(text):
    """The source text without the statements for observers, and the number of statements removed."""
    taken = 0
    for pattern, by in VALUES:
        text, n = pattern.subn(by, text)
        taken += n
    at = 0
    while found := re.compile(r"\bif ").search(text, at):
        start, block = found.start(), text.find("{", found.end())
        at = found.end()
        # The last words of a file may be a comment.
        if block < 0 or not ASKS.search(text[found.end():block]):
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
    while found := TELLS.search(text):
        end = closing(text, found.end() - 1)
        # A statement, or the value of a closure.
        text = text[:found.start()] + ("" if text[end] == ";" else "()") + text[end + (text[end] == ";"):]
        taken += 1
    for pattern, by in ANSWERS:
        text, n = pattern.subn(by, text)
        taken += n
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
        if place.parts[:3] == ("sim", "machine", "src") and place.parts[3] in ("core", "gpu", "memory") and place.suffix == ".rs":
            text, n = without(contents.decode())
            if "probe" not in place.parts and (found := LEFT.search(text)):
                sys.exit(f"{place}: `{found.group()}` is still there")
            contents = text.encode()
            taken += n
        copy = folder / place
        copies.add(copy)
        # An unchanged file keeps its modification time, so that cargo rebuilds little.
        if not copy.exists() or copy.read_bytes() != contents:
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(contents)
    for stale in {file for part in PARTS for file in (folder / part).rglob("*") if file.is_file()} - copies:
        stale.unlink()
    if not taken:
        sys.exit("no statement for observers was found: there is nothing to compare with")
    print(f"{taken} statements for observers taken out")


main()
