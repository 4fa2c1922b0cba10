#!/usr/bin/env python3
"""Measures what a sweep costs beside its simulations, and what processes and workers of Dask give.

    scripts/sweep_speed.py [--program wave-sim] [--points 1000] [--dask]

Sweeps 1,000 small machines with one kernel: on one process, on two, and once more with all results there; with --dask on
two workers of Dask, and again while one of them is killed. All tables must have the same bytes. Overhead is the time of the
sweep beside that of the simulations, a point. With --dask, run it with a Python that has `distributed`.
"""

import argparse
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", default="target/release/wave-sim", type=pathlib.Path)
    parser.add_argument("--points", default=1000, type=int)
    parser.add_argument("--kernel", default="reduction")
    parser.add_argument("--dask", action="store_true")
    args = parser.parse_args()
    program = args.program.resolve()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="wave-sim-sweep-"))
    environment = dict(os.environ, PATH=os.pathsep.join([str(pathlib.Path(sys.executable).parent), os.environ["PATH"]]))
    # Delays change little of how long a simulation takes, so the points are alike.
    plan = f"""(config: "tiny.ron", size: small, kernels: ["{args.kernel}"],
        axes: {{"core.l1.hit_latency_cycles": "1..100", "l2.hit_latency_cycles": "1..{-(-args.points // 100)}"}})"""
    (folder / "plan.ron").write_text(plan)

    def sweep(name, *flags, meanwhile=None):
        command = [program, "sweep", "--plan", "plan.ron", "--out", name, *flags]
        start = time.monotonic()
        process = subprocess.Popen(command, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True,
                                   stdout=subprocess.DEVNULL)
        if meanwhile:
            threading.Thread(target=meanwhile, args=(process,), daemon=True).start()
        _, errors = process.communicate()
        seconds = time.monotonic() - start
        line = next((line for line in errors.splitlines() if line.startswith("host: ")), None)
        if process.returncode != 0 or line is None:
            sys.exit(f"{name}: exit code {process.returncode}\n{errors}")
        simulated = float(line.rsplit("=", 1)[1])
        tables = [(folder / f"{name}.{kind}").read_bytes() for kind in ("csv", "parquet", "html")]
        runs = tables[0].count(b"\n") - 1
        print(f"{name:24} {seconds:8.2f} s, simulated {simulated:8.2f} s  {line.split(';')[0][6:]}", flush=True)
        return seconds, simulated, tables, runs

    one, simulated, tables, runs = sweep("one", "--jobs", "1", "--store", "s1")
    overhead = 1000 * (one - simulated) / runs
    print(f"  overhead {overhead:.2f} ms a point")
    again, _, same, _ = sweep("again", "--jobs", "1", "--store", "s1")
    print(f"  with all results there {1000 * again / runs:.2f} ms a point")
    assert same == tables, "the tables differ"
    two, _, same, _ = sweep("two", "--jobs", "2", "--store", "s2")
    print(f"  two processes {one / two:.2f} times as fast as one")
    assert same == tables, "the tables differ"
    if not args.dask:
        return
    dask, _, same, _ = sweep("dask", "--backend", "dask", "--jobs", "2", "--store", "s3")
    print(f"  two workers of Dask {one / dask:.2f} times as fast as one process")
    assert same == tables, "the tables differ"

    def kill_a_worker(process):
        """Kills a process of Dask that has a process of wave-sim, once some results are there."""
        results = folder / "s4"
        while sum(1 for _ in results.glob("*/*.json")) < runs // 3:
            time.sleep(0.01)
        listing = subprocess.run(["ps", "-eo", "pid,ppid,args"], capture_output=True, text=True).stdout
        for line in listing.splitlines():
            pid, parent, command = line.split(None, 2)
            if "--worker" in command and str(folder / "s4") in command:
                os.kill(int(parent), signal.SIGKILL)
                print(f"  killed the worker {parent}")
                return

    killed, _, same, _ = sweep("dask, one killed", "--backend", "dask", "--jobs", "2", "--store", str(folder / "s4"),
                               meanwhile=kill_a_worker)
    print(f"  {one / killed:.2f} times as fast as one process")
    assert same == tables, "the tables differ"


if __name__ == "__main__":
    main()
