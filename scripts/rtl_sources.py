"""Locates the RTL modules and gives the front-end options that read each one on its own."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RTL = ROOT / "rtl-tests" / "rtl"
UNITS = RTL / "units"
PACKAGES = [RTL / "wave_isa_pkg.sv", RTL / "wave_core_pkg.sv", RTL / "l1_pkg.sv", UNITS / "wave_fp_pkg.sv",
            UNITS / "sfu_rom_pkg.sv"]
# Parameter values of the core where they differ from the module's defaults.
PARAMETERS = {"issue": {"PRED_PORTS": 11}, "wave": {"RETIRE_PORTS": 13}}


def source(module):
    """Source file of a module."""
    for file in (RTL / f"{module}.sv", UNITS / f"{module}.sv"):
        if file.exists():
            return file
    sys.exit(f"there is no module {module} in {RTL}")


def children(module):
    """Modules that `module` instantiates, without `unit_delay`: shift registers are small and are flattened."""
    text = source(module).read_text()
    names = {f.stem for d in (RTL, UNITS) for f in d.glob("*.sv")} - {"unit_delay", module}
    return sorted(n for n in names if re.search(rf"^\s+{n}\s+(#\(|\w+\s*\()", text, re.M))


def slang_options(module):
    """Arguments common to yosys-slang and slang."""
    parameters = [f"-G {name}={value}" for name, value in PARAMETERS.get(module, {}).items()]
    return [*parameters, "-I", RTL, "-I", UNITS, "-y", RTL, "-y", UNITS, "-Y", ".sv", "--top", module, *PACKAGES,
            source(module)]


def pyosys():
    """Imports `libyosys`, or exits with the command that installs it."""
    try:
        from pyosys import libyosys
    except ImportError:
        sys.exit("pyosys is missing: python3 -m venv /tmp/rtl && /tmp/rtl/bin/pip install pyosys pyslang, "
                 "then start this script with /tmp/rtl/bin/python")
    return libyosys
