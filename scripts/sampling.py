#!/usr/bin/env python3
"""Holds sampled runs against whole ones: true and estimated cycles, the interval, and the speed.

    python3 scripts/sampling.py                          # every kernel of the list, on gpu
    python3 scripts/sampling.py saxpy spmv               # some kernels
    python3 scripts/sampling.py --config a100 --config tiny
    python3 scripts/sampling.py --long                   # three kernels with very long loops: some minutes

The kernels are those of the suite with larger data, of over a million wave instructions each; SCALED and LONG have the
parameters. Each runs once in full and once with --sample, one after the other, with one thread. The result is a Markdown
table, with the means and how often the true value lies in the interval. The exit status is 1 if a result in memory is
wrong or the counts of instructions differ.
"""

import argparse
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
KERNELS = ROOT / "sim" / "kernels"

# Parameters in place of those of the launch files' full size.
SCALED = {
    "vector_add": {"n": 1 << 22},
    "saxpy": {"n": 1 << 23},
    "alu_loop": {"rounds": 4096},
    "transpose_naive": {"width": 4096, "height": 2048},
    "transpose_padded": {"width": 4096, "height": 3072},
    "reduction": {"n": 1 << 24},
    "compact": {"n": 1 << 22},
    "histogram": {"n": 1 << 24},
    "sgemm": {"m": 1024, "n": 1024, "k": 512},
    "hgemm": {"m": 1024, "n": 1024, "k": 256},
    "mma_gemm": {"m": 2048, "n": 2048, "k": 128},
    "mlp_layer": {"batch": 1024, "inputs": 256},
    "softmax": {"rows": 8192, "columns": 1024},
    "stencil2d": {"width": 2048, "height": 2048, "steps": 2},
    "nbody": {"n": 4096},
    "mandelbrot": {"width": 1024, "height": 768, "limit": 128},
    "monte_carlo_pi": {"points": 1024},
    "dot_f64": {"n": 1 << 22},
    "spmv": {"rows": 1 << 18, "entries": 1 << 22},
    "bfs": {"vertices": 1 << 19, "edges": 1 << 22, "levels": 16},
    "bitonic_sort": {"n": 1 << 19},
    "crc32": {"records": 1 << 18, "record_bytes": 128},
    "lcm": {"n": 1 << 20},
    "pointer_chase": {"hops": 8192},
}


# With --long: hundreds of millions of wave instructions.
LONG = {
    "alu_loop": {"rounds": 1 << 17},
    "sgemm": {"m": 1024, "n": 1024, "k": 4096},
    "pointer_chase": {"hops": 1 << 17},
}


def scaled(kernel, parameters, folder):
    """The launch file of a kernel with larger data."""
    text = (KERNELS / f"{kernel}.ron").read_text()
    for name, value in parameters.items():
        text, count = re.subn(rf"(\b{name}: )(?:\(full: \d+, small: \d+\)|\d+)(?=,)", rf"\g<1>{value}", text)
        if count != 1:
            sys.exit(f"{kernel}.ron: {count} parameters of the name {name}")
    source = re.search(r'source: "(.*?)"', text).group(1)
    text = text.replace(f'source: "{source}"', f'source: "{KERNELS / source}"')
    file = folder / f"{kernel}.ron"
    file.write_text(text)
    return file


def run(program, file, config, flags):
    """The run's document, and the host's seconds for the simulation."""
    command = [program, file, "--config", config, "--threads", "1", "--device-memory", "256M", "--format", "json", *flags]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stderr}")
    seconds = float(re.search(r"host: seconds=([\d.]+)", done.stderr).group(1))
    return json.loads(done.stdout)["runs"][0], seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernels", nargs="*", metavar="KERNEL")
    parser.add_argument("--config", action="append", help="a machine; gpu if none is given")
    parser.add_argument("--long", action="store_true", help="kernels with very long loops")
    parser.add_argument("--program", default=ROOT / "target" / "release" / "wave-sim")
    arguments = parser.parse_args()
    sizes = LONG if arguments.long else SCALED
    unknown = [kernel for kernel in arguments.kernels if kernel not in sizes]
    if unknown:
        parser.error(f"no kernel `{unknown[0]}`; there are {', '.join(sizes)}")
    print("| kernel | machine | wave instructions | cycles | estimated | error | interval | in it | in detail | times as fast |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    errors, inside, speeds, wrong = [], 0, [], False
    with tempfile.TemporaryDirectory() as folder:
        for kernel in arguments.kernels or sizes:
            file = scaled(kernel, sizes[kernel], pathlib.Path(folder))
            for config in arguments.config or ["gpu"]:
                whole, whole_seconds = run(arguments.program, file, config, [])
                sampled, seconds = run(arguments.program, file, config, ["--sample"])
                true, estimated = (r["total"]["statistics"] for r in (whole, sampled))
                wrong |= any(r["outcome"] != "verified" for r in (whole, sampled))
                wrong |= true["core.wave_instructions"] != estimated["core.wave_instructions"]
                how = sampled["sampled"]
                cycles, low, high = true["kernel.cycles"], *how["interval"]
                error = (estimated["kernel.cycles"] - cycles) / cycles
                is_inside = low <= cycles <= high
                if how["percent_simulated"] < 100:
                    errors.append(abs(error))
                    inside += is_inside
                    speeds.append(whole_seconds / seconds)
                print(
                    f"| {kernel} | {config} | {true['core.wave_instructions']} | {cycles} | "
                    f"{estimated['kernel.cycles']} | {100 * error:+.2f} % | ±{50 * (high - low) / cycles:.1f} % | "
                    f"{'yes' if is_inside else 'no'} | {how['percent_simulated']:.1f} % | {whole_seconds / seconds:.1f} |",
                    flush=True,
                )
    if errors:
        mean = 100 * sum(errors) / len(errors)
        speed = math.exp(sum(map(math.log, speeds)) / len(speeds))
        print(f"\n{len(errors)} runs with parts without timing: mean error {mean:.2f} %, largest {100 * max(errors):.2f} %, "
              f"true value in the interval in {inside}, {speed:.1f} times as fast in the geometric mean.")
    sys.exit(int(wrong or not errors))


if __name__ == "__main__":
    main()
