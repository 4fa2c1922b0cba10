#!/usr/bin/env python3
"""How often the schedule of a core recurs: an upper bound of what remembered schedules could save.

    python3 scripts/recurrence.py                # kernels that compute, on gpu
    python3 scripts/recurrence.py nbody sgemm    # these

A simulator could remember what a core does from a state on, and repeat it when the state comes again, without simulating
it (Schnarr and Larus, "Fast out-of-order processor simulation using memoization", ASPLOS 1998). A state that comes again
is followed by the same instructions of the same wave slots in the same cycles. So the script asks the retirement trace,
for some lengths in cycles, which share of the instructions of two cores lie in a stretch that an earlier stretch
equals: in issue and retirement cycles, slots and places in the code. Where a stretch is not known, the next begins a
cycle later. "One scheduler" looks at the slots of each scheduler by themselves, and calls the slots of a stretch by the
order in which they issue: more than a simulator could do, as schedulers share units.
"""

import argparse
import bisect
import collections
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
KERNELS = ["alu_loop", "nbody", "stencil2d", "mandelbrot", "sgemm", "lcm", "crc32"]
LENGTHS = [16, 64, 256]
SCHEDULERS = 4  # of gpu.ron; slot mod 4 is that of a wave
RECORD = re.compile(r" *(\d+) core ([01]) slot (\d+) .*? 0x([0-9a-f]+) .*? I(\d+) ")


def issues(program, kernel):
    """The instructions of cores 0 and 1 in the order of issue: cycle, slot, pc, cycles until it retires."""
    found = collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder) / "trace.wvfi"
        launch = ROOT / "sim" / "kernels" / f"{kernel}.ron"
        subprocess.run([program, launch, "--config", "gpu.ron", "--wvfi", trace], check=True, capture_output=True)
        with subprocess.Popen([program, "trace", "show", trace], stdout=subprocess.PIPE, text=True) as shown:
            for match in filter(None, map(RECORD.match, shown.stdout)):
                retires, core, slot, issue = (int(match[i]) for i in (1, 2, 3, 5))
                found[core].append((issue, slot, int(match[4], 16), retires - issue))
    return [sorted(core) for core in found.values()]


def repeated(sequences, length, name):
    """Per cent of the instructions in stretches of a length that were seen before."""
    seen, hits = set(), 0
    for sequence in sequences:
        at = 0
        while at < len(sequence):
            begin = sequence[at][0]
            end = bisect.bisect_left(sequence, (begin + length,), at)
            names = {}
            stretch = hash(tuple(
                (issue - begin, names.setdefault(slot, len(names)) if name else slot, pc, takes)
                for issue, slot, pc, takes in sequence[at:end]))
            if stretch in seen:
                hits += end - at
                at = end
            else:
                seen.add(stretch)
                at = bisect.bisect_left(sequence, (begin + 1,), at)
    return 100 * hits / sum(map(len, sequences))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernels", nargs="*", metavar="KERNEL", default=KERNELS)
    parser.add_argument("--program", default=ROOT / "target" / "release" / "wave-sim")
    arguments = parser.parse_args()
    heads = [f"core, {n} cycles" for n in LENGTHS] + [f"one scheduler, {n}" for n in LENGTHS]
    print("| kernel | instructions | " + " | ".join(heads) + " |\n|---" + "|--:" * (1 + len(heads)) + "|")
    for kernel in arguments.kernels:
        cores = issues(arguments.program, kernel)
        if not any(cores):
            sys.exit(f"{kernel}: the trace has no record")
        alone = [[one for one in core if one[1] % SCHEDULERS == s] for core in cores for s in range(SCHEDULERS)]
        shares = [repeated(cores, n, False) for n in LENGTHS] + [repeated(alone, n, True) for n in LENGTHS]
        print(f"| {kernel} | {sum(map(len, cores))} | " + " | ".join(f"{share:.1f} %" for share in shares) + " |", flush=True)


if __name__ == "__main__":
    main()
