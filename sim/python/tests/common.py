"""What the tests share: the executable `wave-sim`, kernels, folders for files."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

#: The executable that the package is compared with.
PROGRAM = os.environ["WAVE_SIM"]
#: The root of the repository.
ROOT = Path(__file__).resolve().parents[3]

#: y[i] = 2 * x[i] in f32: r0 has the address of x, r1 that of y.
DOUBLE = """\
.kernel double
.registers 8
.workgroup_size 32, 1, 1
    mov_sr  r2, sr_workgroup_id_x
    mov_sr  r3, sr_workgroup_size_x
    mov_sr  r4, sr_thread_id_x
    imad    r2, r2, r3, r4
    mov_imm r3, 2
    shl     r2, r2, r3
    iadd    r3, r0, r2
    device_load_u32 r4, r3
    fadd    r4, r4, r4
    iadd    r3, r1, r2
    device_store_u32 r3, r4
    halt
.end
"""

#: It never ends, and every wave changes a register for ever.
ENDLESS = """\
.kernel endless
.registers 4
.workgroup_size 32, 1, 1
    mov_imm r0, 1
    mov_imm r1, 0
    loop
    iadd    r1, r1, r0
    endloop
    halt
.end
"""

#: Lanes 4 and above of the second wave store past the end of device memory.
FAULT = """\
.kernel wild
.registers 6
.workgroup_size 64, 1, 1
    mov_sr  r0, sr_thread_id_x
    mov_imm r1, 36
    mov_imm r3, 0
    ucmp_ge p1, r0, r1
    if      p1
    mov_imm r3, 0xfffffff0
    endif
    device_store_u32 r3, r0
    halt
.end
"""


def wave_sim(*words, cwd=None):
    """Runs the executable. Gives the exit code, standard output and standard error."""
    done = subprocess.run(
        [PROGRAM, *map(str, words)], cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8"
    )
    return done.returncode, done.stdout, done.stderr


def python(text, *words, cwd=None):
    """Runs a program in Python, in a process of its own. Gives its standard output."""
    done = subprocess.run(
        [sys.executable, "-c", text, *map(str, words)],
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=300,
    )
    if done.returncode != 0:
        raise AssertionError(f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


class InFolder(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, name, contents):
        """Writes a file. Gives its path."""
        path = self.folder / name
        path.write_bytes(contents.encode() if isinstance(contents, str) else contents)
        return path
