"""Locates the RTL modules, gives the front-end options that read each one on its own, and installs the front ends."""

import fcntl
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RTL = ROOT / "rtl-tests" / "rtl"
UNITS = RTL / "units"
PACKAGES = [RTL / "wave_isa_pkg.sv", RTL / "wave_core_pkg.sv", RTL / "l1_pkg.sv", UNITS / "wave_fp_pkg.sv",
            UNITS / "sfu_rom_pkg.sv"]
# Parameter values of the core where they differ from the defaults of the module; those of the longest of several.
PARAMETERS = {"unit_tags": {"LATENCY": 9}}

# Modules that belong to what instantiates them, with parameters that differ from one place to the next.
FLATTENED = ("unit_delay", "sram")


def source(module):
    """Source file of a module."""
    for file in (RTL / f"{module}.sv", UNITS / f"{module}.sv"):
        if file.exists():
            return file
    sys.exit(f"there is no module {module} in {RTL}")


def children(module):
    """Modules that `module` instantiates, without those that are part of it: shift registers and memories."""
    text = source(module).read_text()
    names = {f.stem for d in (RTL, UNITS) for f in d.glob("*.sv")} - {*FLATTENED, module}
    return sorted(n for n in names if re.search(rf"^\s+{n}\s+(#\(|\w+\s*\()", text, re.M))


def slang_options(module):
    """Arguments common to yosys-slang and slang."""
    parameters = [f"-G {name}={value}" for name, value in PARAMETERS.get(module, {}).items()]
    return [*parameters, "-I", RTL, "-I", UNITS, "-y", RTL, "-y", UNITS, "-Y", ".sv", "--top", module, *PACKAGES,
            source(module)]


# Versions that the figures of rtl-tests/README.md come from. pyosys 0.68 to 0.70 have no `abc -fast`. bitwuzla is the
# solver of rtl_proofs.py.
TOOLS = ["pyosys==0.67", "pyslang==12.1.0", "bitwuzla==0.9.1"]
# Where they are installed.
ENVIRONMENT = ROOT / "target" / "rtl-tools"


def with_tools():
    """Starts the script again with the Python that has the tools; the first call installs them."""
    if pathlib.Path(sys.prefix) == ENVIRONMENT:
        return
    python, stamp = ENVIRONMENT / "bin" / "python", ENVIRONMENT / "installed"
    ENVIRONMENT.mkdir(parents=True, exist_ok=True)
    with open(ENVIRONMENT / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not stamp.exists() or stamp.read_text().split() != TOOLS:
            for command in [[sys.executable, "-m", "venv", ENVIRONMENT], [python, "-m", "pip", "install", "-q", *TOOLS]]:
                run = subprocess.run(command, capture_output=True, text=True)
                if run.returncode:
                    sys.exit(f"{' '.join(TOOLS)} cannot be installed in {ENVIRONMENT}; this needs python3-venv and a way to "
                             f"PyPI:\n{run.stdout}{run.stderr}")
            stamp.write_text("\n".join(TOOLS))
    os.execv(python, [python, *sys.argv])


def pyosys():
    """The module `libyosys`."""
    from pyosys import libyosys
    return libyosys
