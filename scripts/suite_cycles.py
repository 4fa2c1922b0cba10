#!/usr/bin/env python3
"""Cycles of the compiled suites with two executables: before and after a change of the compiler or the machine.

    scripts/suite_cycles.py OLD NEW [--config gpu.ron] [--suite c --suite wgsl ...] [--size small]

OLD and NEW are executables of wave-sim. Prints a row for each kernel whose cycles differ, the geometric mean of each suite,
and that of all. Exit code 1 if a kernel is not verified, or if one is slower by more than 3 %.
"""

import argparse
import json
import math
import subprocess
import sys


def runs(executable: str, suite: str, config: str, size: str) -> dict[str, tuple[int, int]]:
    """Cycles and registers of each kernel of a suite."""
    words = [executable, "--suite", suite, "--config", config, "--size", size, "--format", "json"]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)}: exit code {done.returncode}\n{done.stderr}")
    found = {}
    for run in json.loads(done.stdout)["runs"]:
        if run["outcome"] != "verified":
            sys.exit(f"{suite}/{run['name']} with {executable}: {run['outcome']}")
        registers = max(launch["registers"] for launch in run["launches"])
        found[run["name"]] = (run["total"]["statistics"]["kernel.cycles"], registers)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description="Cycles of the compiled suites with two executables.")
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--config", default="gpu.ron")
    parser.add_argument("--suite", action="append")
    parser.add_argument("--size", default="full", choices=["full", "small"])
    given = parser.parse_args()
    every, slower = [], []
    print(f"{'kernel':28} {'old':>10} {'new':>10} {'ratio':>6}  registers")
    for suite in given.suite or ["c", "wgsl", "cuda"]:
        old, new = (runs(one, suite, given.config, given.size) for one in (given.old, given.new))
        ratios = []
        for name, (cycles, registers) in old.items():
            if name not in new:
                sys.exit(f"{suite}/{name} is not in the suite of {given.new}")
            ratio = new[name][0] / cycles
            ratios.append(math.log(ratio))
            if ratio != 1:
                print(f"{suite + '/' + name:28} {cycles:10} {new[name][0]:10} {ratio:6.3f}  {registers} {new[name][1]}")
            if ratio > 1.03:
                slower.append(f"{suite}/{name}")
        print(f"{suite}: geometric mean of {len(ratios)} kernels {math.exp(sum(ratios) / len(ratios)):.3f}")
        every += ratios
    print(f"all: geometric mean of {len(every)} kernels {math.exp(sum(every) / len(every)):.3f}")
    if slower:
        print(f"slower by more than 3 %: {', '.join(slower)}", file=sys.stderr)
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
