#!/usr/bin/env python3
"""Is every field of the machine's state missed if snapshots leave it out?

    scripts/capture_mutants.py [--machines N] [Type.field ...]

Builds the snapshot tests once with the feature `mutants` and runs them for each field of each `#[derive(Capture)]`
struct of `sim/machine`, or for the fields named, as if the field were marked `#[scratch]`. A field that no test misses
is printed. Exit code 1 if there is one that KNOWN does not explain.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Fields without which a run ends in the same bytes, and why.
KNOWN: dict[str, str] = {}


def fields() -> list[str]:
    """All fields that a derived `Capture` saves, as `Type.field`."""
    found = []
    for file in sorted((ROOT / "sim/machine/src").rglob("*.rs")):
        text = file.read_text()
        for derive in re.finditer(r"#\[derive\(([^)]*\bCapture\b[^)]*)\)\]", text):
            head = re.match(r"(?:\s|///.*\n|#\[.*\]\n)*(?:pub(?:\([^)]*\))? )?struct (\w+)[^;({]*([;({])", text[derive.end():])
            if not head:
                continue
            name, opening = head.groups()
            body = text[derive.end() + head.end():]
            if opening == "(":
                count = len([part for part in body[:body.index(")")].split(",") if part.strip()])
                found += [f"{name}.{place}" for place in range(count)]
            elif opening == "{":
                left_out = False
                for line in body[:re.search(r"^\s*\}", body, re.M).start()].split("\n"):
                    left_out |= line.strip() in ("#[spec]", "#[scratch]")
                    if field := re.match(r"\s+(?:pub(?:\([^)]*\))? )?(\w+):", line):
                        if not left_out:
                            found.append(f"{name}.{field[1]}")
                        left_out = False
    return found


def build() -> pathlib.Path:
    """The executable of the tests."""
    command = ["cargo", "test", "--no-run", "--message-format=json", "-p", "wave-machine", "--features", "mutants",
               "--test", "timing"]
    out = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True, text=True).stdout
    made = [json.loads(line) for line in out.splitlines()]
    return next(pathlib.Path(m["executable"]) for m in made if m.get("executable") and m["target"]["name"] == "timing")


def passes(tests: pathlib.Path, field: str, machines: int) -> bool:
    """True if the snapshot tests pass without this field."""
    variables = os.environ | {"WAVE_CAPTURE_OMIT": field, "WAVE_SIM_MACHINES": str(machines)}
    command = [tests, "--exact", "snapshots::a_saved_run_goes_on_in_another_process"]
    try:
        run = subprocess.run(command, cwd=ROOT / "sim/machine", env=variables, capture_output=True, timeout=900, text=True)
    except subprocess.TimeoutExpired:
        return False
    if "1 passed" not in run.stdout and "1 failed" not in run.stdout:
        sys.exit(f"no test ran: {run.stdout}{run.stderr}")
    return run.returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--machines", type=int, default=12, help="random machines for each field (12)")
    parser.add_argument("fields", nargs="*", help="only these, as Type.field")
    arguments = parser.parse_args()
    tests = build()
    if not passes(tests, "", arguments.machines):
        sys.exit("the tests fail as they are")
    chosen = arguments.fields or fields()
    if not chosen:
        sys.exit("no field found: has the form of the declarations changed?")
    missed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        verdicts = pool.map(lambda field: (field, passes(tests, field, arguments.machines)), chosen)
        survivors = []
        for field, passed in verdicts:
            missed += not passed
            if passed:
                survivors.append(field)
                print(f"not missed: {field}{'  (' + KNOWN[field] + ')' if field in KNOWN else ''}", flush=True)
    print(f"{missed} of {len(chosen)} fields are missed where they are left out")
    return any(field not in KNOWN for field in survivors)


if __name__ == "__main__":
    sys.exit(main())
