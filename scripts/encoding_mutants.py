#!/usr/bin/env python3
"""Plants faults in the decoders of encodings, one at a time, and asks whether the tests of the encoding find them.

    scripts/encoding_mutants.py              # all encodings with a list: sim/compile/tests/ENCODING/mutants.toml
    scripts/encoding_mutants.py rwasm pica   # these
    scripts/encoding_mutants.py rwasm 3 7    # numbers 3 and 7 of one list

A fault replaces one text of a source file, which must be there once, by another. It is found if a test fails; one that does not
compile, or after which every test passes, is an error, and the exit code is 1. Source and build are in target/mutants/encodings;
the checkout stays as it is. A fault takes about a minute, most of it to compile.
"""

import pathlib
import shutil
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUT = ROOT / "target" / "mutants" / "encodings"
SOURCE, BUILD = OUT / "source", OUT / "build"
LISTS = "sim/compile/tests/*/mutants.toml"
# Of a run of the tests with a fault, compiling included, in seconds.
PATIENCE = 900


def fail(message):
    sys.exit(f"scripts/encoding_mutants.py: {message}")


def copy():
    """Copies what git knows of the checkout. A file that is the same keeps its time, so that little is compiled again."""
    names = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True
    ).stdout.decode().split("\0")
    names = {name for name in names if name and (ROOT / name).is_file()}
    for name in names:
        target = SOURCE / name
        if target.is_file() and target.read_bytes() == (ROOT / name).read_bytes():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, target)
    for target in [path for path in SOURCE.rglob("*") if path.is_file()]:
        if str(target.relative_to(SOURCE)) not in names:
            target.unlink()


def cargo(encoding, *more, patience=PATIENCE):
    command = ["cargo", "test", "--quiet", "-p", "wave-compile", "--test", encoding, "--target-dir", str(BUILD), *more]
    try:
        return subprocess.run(command, cwd=SOURCE, capture_output=True, text=True, timeout=patience).returncode
    except subprocess.TimeoutExpired:
        return None


def judge(encoding, mutant):
    """How the tests end with a fault: found, survived, or why neither."""
    path = SOURCE / "sim" / "compile" / mutant["file"]
    text = path.read_text()
    if text.count(mutant["from"]) != 1:
        return f"`{mutant['from']}` is there {text.count(mutant['from'])} times"
    path.write_text(text.replace(mutant["from"], mutant["to"]))
    try:
        if cargo(encoding, "--no-run") != 0:
            return "does not compile"
        ended = cargo(encoding)
        # Tests that do not end have found it, too.
        return "survived" if ended == 0 else "found"
    finally:
        path.write_text(text)


def main():
    lists = {path.parent.name: path for path in ROOT.glob(LISTS)}
    words = sys.argv[1:]
    numbers = {int(word) for word in words if word.isdigit()}
    names = [word for word in words if not word.isdigit()] or sorted(lists)
    if unknown := [name for name in names if name not in lists]:
        fail(f"{unknown[0]} has no list of faults; there are {', '.join(sorted(lists)) or 'none'}")
    if numbers and len(names) != 1:
        fail("numbers are those of one encoding: name it")
    copy()
    bad = judged = 0
    for name in names:
        mutants = tomllib.loads(lists[name].read_text())["mutant"]
        # The first time everything is compiled.
        print(f"{name:10} the tests without a fault", file=sys.stderr, flush=True)
        if cargo(name, "--no-run", patience=None) != 0 or cargo(name) != 0:
            fail(f"the tests of {name} fail without a fault")
        verdicts = []
        for number, mutant in enumerate(mutants, 1):
            if numbers and number not in numbers:
                continue
            verdict = judge(name, mutant)
            verdicts.append(verdict)
            print(f"{name:10} {number:3}  {verdict:10}  {mutant['file']}: {mutant['why']}", flush=True)
        found = verdicts.count("found")
        judged += len(verdicts)
        bad += len(verdicts) - found
        print(f"{name:10} {found} of {len(verdicts)} found")
    if bad or not judged:
        sys.exit(1)


main()
