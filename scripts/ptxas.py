#!/usr/bin/env python3
"""Prints the path of ptxas, the assembler of NVIDIA's GPUs, which checks the PTX of `wave-sim ptx`.

It is the file that PTXAS names, or that of a package from PyPI, which the first call installs in target/ptxas.
"""
import fcntl
import os
import pathlib
import subprocess
import sys

# The package of the compiler has ptxas in it.
PACKAGE = "nvidia-cuda-nvcc-cu12==12.9.86"
# Where it is installed.
ENVIRONMENT = pathlib.Path(__file__).resolve().parent.parent / "target" / "ptxas"


def main():
    named = os.environ.get("PTXAS")
    if named:
        if not os.access(named, os.X_OK):
            sys.exit(f"scripts/ptxas.py: PTXAS names {named}, which is no program")
        return print(named)
    stamp = ENVIRONMENT / "installed"
    ENVIRONMENT.mkdir(parents=True, exist_ok=True)
    with open(ENVIRONMENT / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not stamp.exists() or stamp.read_text() != PACKAGE:
            python = ENVIRONMENT / "bin" / "python"
            for command in [[sys.executable, "-m", "venv", ENVIRONMENT],
                            [python, "-m", "pip", "install", "-q", "--no-deps", PACKAGE]]:
                run = subprocess.run(command, capture_output=True, text=True)
                if run.returncode:
                    sys.exit(f"scripts/ptxas.py: {PACKAGE} cannot be installed in {ENVIRONMENT}; this needs python3-venv and a "
                             f"way to PyPI:\n{run.stdout}{run.stderr}")
            stamp.write_text(PACKAGE)
    found = sorted(ENVIRONMENT.glob("lib/python*/site-packages/nvidia/cuda_nvcc/bin/ptxas"))
    if not found:
        sys.exit(f"scripts/ptxas.py: no ptxas in {ENVIRONMENT}")
    # A wheel may lose the permission.
    found[0].chmod(0o755)
    print(found[0])


if __name__ == "__main__":
    main()
