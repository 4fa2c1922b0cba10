"""Command line of the campaign: builds the cases, runs them on the driver and on the simulator, prints what is covered,
and holds random shaders against the oracle."""

import argparse
import collections
import importlib
import json
import pathlib
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

from . import cases, chance, compare, known, oracle, simulator
from .cases import Case

# A file of cases for each module.
MODULES = (
    "numeric",
    "operators",
    "conversions",
    "matrices",
    "layouts",
    "memory",
    "control",
    "sharing",
    "subgroups",
    "programs",
)
RESULTS = cases.ROOT / "target" / "wgsl" / "results.json"


def build(_: argparse.Namespace) -> int:
    """Writes the cases that the driver confirms. What it refuses or gets wrong must be known."""
    faults = 0
    refused: collections.Counter[str] = collections.Counter()
    cases.FOLDER.mkdir(parents=True, exist_ok=True)
    for name in MODULES:
        made: list[Case] = importlib.import_module(f"wgsl.suite.{name}").cases()
        kept = []
        for case in made:
            try:
                got = oracle.run(case.wgsl, case.entry, case.grid, case.buffers, case.overrides)
            except oracle.Refused as error:
                reason = known.reason(known.REFUSED, case.name)
                if reason:
                    refused[reason] += 1
                else:
                    faults += 1
                    print(f"{case.name}: refused: {error}", file=sys.stderr)
                continue
            if case.basis == "driver":
                for buffer, data in zip(case.buffers, got):
                    buffer.output = data if buffer.output is not None else None
            mismatch = compare.compare(case, got)
            if mismatch and not known.reason(known.DRIVER, case.name):
                faults += 1
                print(f"{case.name}: {mismatch}", file=sys.stderr)
            kept.append(case)
        names = [case.name for case in kept]
        assert len(set(names)) == len(names), [n for n, c in collections.Counter(names).items() if c > 1]
        path = cases.FOLDER / f"{name}.jsonl"
        cases.write(path, kept)
        print(f"{path.name}: {len(kept)} cases, {path.stat().st_size // 1024} KiB")
    for reason, count in refused.items():
        print(f"{count} left out: {reason}")
    return 1 if faults else 0


@dataclass
class Outcome:
    name: str
    fault: str | None


def selected(options: argparse.Namespace) -> list[Case]:
    found = [c for c in cases.read_all() if not options.only or options.only in c.name]
    if not found:
        raise SystemExit(f"no case has {options.only!r} in its name")
    return found


def driver(options: argparse.Namespace) -> int:
    """The stored cases on the driver."""
    faults = 0
    chosen = selected(options)
    for case in chosen:
        try:
            mismatch = compare.compare(case, oracle.run(case.wgsl, case.entry, case.grid, case.buffers, case.overrides))
            fault = str(mismatch) if mismatch else None
        except oracle.Refused as error:
            fault = str(error)
        if fault:
            reason = known.reason(known.DRIVER, case.name)
            faults += reason is None
            print(f"{case.name}: {fault}{f' (known: {reason})' if reason else ''}")
    print(f"{len(chosen)} cases on {oracle.version_note()}: {faults} faults")
    return 1 if faults else 0


def on_simulator(program: pathlib.Path, options: tuple[str, ...], case: Case) -> Outcome:
    try:
        got = simulator.run(
            program, case.wgsl, case.entry, case.grid, case.buffers, case.overrides, case.wave_width, options
        )
    except simulator.Failed as error:
        return Outcome(case.name, str(error))
    mismatch = compare.compare(case, got)
    return Outcome(case.name, str(mismatch) if mismatch else None)


def run(options: argparse.Namespace) -> int:
    """The stored cases on the simulator; writes the results for the table."""
    chosen = selected(options)
    with ProcessPoolExecutor(options.jobs) as pool:
        more = tuple(options.option) or ("--functional",)
        outcomes = list(pool.map(on_simulator, *zip(*[(options.program, more, c) for c in chosen])))
    faults = [o for o in outcomes if o.fault]
    for outcome in faults:
        print(f"{outcome.name}: {(outcome.fault or '').splitlines()[0]}")
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    stored = json.loads(RESULTS.read_text()) if RESULTS.exists() and options.only else {}
    RESULTS.write_text(json.dumps(stored | {o.name: o.fault for o in outcomes}, indent=0))
    print(f"{len(outcomes)} cases on {options.program}: {len(faults)} differ")
    return 1 if faults else 0


def table(_: argparse.Namespace) -> int:
    """Built-in, types, and which of its cases hold on the simulator."""
    results: dict[str, str | None] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    rows: dict[str, list[Case]] = collections.defaultdict(list)
    all_cases = cases.read_all()
    for case in all_cases:
        for builtin in case.builtin.split(", "):
            rows[builtin].append(case)
    pairs = 0
    print(f"{'built-in':28} {'cases':>5} {'hold':>5}  types")
    for builtin in sorted(rows, key=str.lower):
        good = sum(1 for c in rows[builtin] if c.name in results and results[c.name] is None)
        types = sorted({t for c in rows[builtin] for t in c.types})
        pairs += len(types)
        print(f"{builtin:28} {len(rows[builtin]):5} {good:5}  {' '.join(types)}")
    held = sum(1 for fault in results.values() if fault is None)
    print(f"{len(rows)} built-ins, {pairs} pairs of built-in and type, {len(all_cases)} cases; {held} hold")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/wgsl-campaign.sh", description=__doc__)
    commands = parser.add_subparsers(required=True)
    functions = {"build": build, "driver": driver, "run": run, "table": table, "random": chance.random_shaders}
    for name, function in functions.items():
        command = commands.add_parser(name, help=(function.__doc__ or "").splitlines()[0])
        command.set_defaults(function=function)
        if name in ("driver", "run"):
            command.add_argument("--only", default="", help="cases with this in their names")
        if name == "random":
            command.add_argument("--count", type=int, default=2000)
            command.add_argument("--seed", type=int, default=0, help="of the first; the others follow")
            command.add_argument("--no-shrink", action="store_true")
            command.add_argument(
                "--oracle-only", action="store_true", help="whether the shaders are accepted and compute something"
            )
        if name in ("run", "random"):
            command.add_argument("--program", type=pathlib.Path, default=cases.ROOT / "target" / "release" / "wave-sim")
            command.add_argument("--jobs", type=int, default=2)
            command.add_argument("--option", action="append", default=[], help="for wave-sim instead of --functional")
    options = parser.parse_args()
    return int(options.function(options))


if __name__ == "__main__":
    sys.exit(main())
