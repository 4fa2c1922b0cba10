"""Wrong input: one exception, with its place and a hint."""

import unittest

import numpy as np
from common import DOUBLE, ROOT, InFolder

import wave_sim as ws

SHADER = ROOT / "sim/kernels/wgsl/saxpy.wgsl"


class WrongInput(InFolder):
    def check(self, act, message, hint=None, place=None):
        with self.assertRaises(ws.Error) as caught:
            act()
        error = caught.exception
        self.assertIsInstance(error, ValueError)
        self.assertEqual(error.message, message)
        self.assertEqual(error.hint, hint)
        self.assertEqual(error.place, place)
        self.assertIn(message.splitlines()[0], str(error))

    def test_configurations(self):
        self.check(
            lambda: ws.Config.load("gpuu"),
            "there is no file `gpuu`, and no preset of that name",
            "did you mean `gpu.ron`? presets: gpu.ron, tiny.ron, large.ron, t4.ron, v100.ron, a100.ron, h200.ron, mi300x.ron, m-series.ron, rtl.ron",
        )
        self.check(
            lambda: ws.Config.load().set({"core.l1.bites": 1}),
            "there is no parameter `core.l1.bites`",
            "did you mean `core.l1.bytes`?",
            ws.Place("--set", 1, 1),
        )
        self.check(
            lambda: ws.Config.load().get("core.l1.bites"),
            "there is no parameter `core.l1.bites`",
            "did you mean `core.l1.bytes`?",
        )
        with self.assertRaises(ws.Error) as caught:
            ws.Config.from_text("(\n    cores: 0,\n)", "mine.ron")
        self.assertEqual(caught.exception.place, ws.Place("mine.ron", 2, 12))
        with self.assertRaises(ws.Error) as caught:
            ws.Config.load().set({"core.l1.bytes": 1000, "cores": -1})
        self.assertIn("cores", str(caught.exception))

    def test_kernels(self):
        self.check(
            lambda: ws.run("spmw"),
            "`spmw` is no file, no kernel of the suite and no command",
            "did you mean `spmv`? it is a kernel of the suite",
        )
        with self.assertRaises(ws.Error) as caught:
            ws.run(ws.Kernel.from_source(".kernel k\n    iad r0, r1, r2\n    halt\n.end\n", name="mine"))
        self.assertEqual(caught.exception.place, ws.Place("mine.wave", 2, 5))
        # Nothing tells of the file that the text was in.
        self.assertNotIn("/", str(caught.exception))
        with self.assertRaises(ws.Error) as caught:
            ws.run(ws.Kernel.from_source("fn f( {", "wgsl"))
        self.assertEqual(caught.exception.place.file, "kernel.wgsl")
        self.check(
            lambda: ws.run(ws.Kernel.from_source("", name="../x")),
            "`../x.wave` is no file name",
        )

    def test_flags(self):
        self.check(
            lambda: ws.run("spmv", grid=3),
            "--grid is for a kernel file, and `spmv` states its own",
            "name its .wave or .wbin file instead, or change the launch file",
        )
        self.check(
            lambda: ws.run("spmv", size="tiny"),
            "invalid value 'tiny' for '--size <SIZE>'\n  [possible values: full, small]",
        )
        self.check(
            lambda: ws.run("spmv", flags=["--check-race"]),
            "unexpected argument '--check-race' found",
            "a similar argument exists: '--check-races'",
        )
        for flags in (["saxpy"], ["--config", "tiny"], ["--set", "cores=1"], ["asm", "x"], ["--dump-f32", "0:4"]):
            with self.subTest(flags=flags), self.assertRaises(ws.Error):
                ws.run("spmv", flags=flags)
        self.check(
            lambda: ws.run("spmv", "tiny", size="small", functional=True, max_cycles=5),
            "--functional has no timing, and --max-cycles needs it",
            "leave one of them out",
        )
        with self.assertRaises(TypeError):
            ws.run("spmv", gird=3)

    def test_buffers(self):
        def run(**buffers):
            return lambda: ws.run("spmv", "tiny", size="small", buffers=buffers)

        double = ws.Kernel.from_source(DOUBLE)
        self.check(
            lambda: ws.run(double, "tiny", buffers={0: b"1" * 64, 32: b"2" * 64}),
            "buffers: the data at 0x20 covers 0x20 to 0x60, and meets buffers: the data at 0x0, 0x0 to 0x40",
            "contents may lie inside earlier ones, but not half over them",
        )
        self.check(run(z=np.zeros(4)), "buffers: there is no buffer `z`", "did you mean `x` or `y`?")
        self.check(run(rows=8), "buffers: there is no buffer `rows`", "its buffers: offsets, columns, values, x, y")
        self.check(run(x=np.zeros(4)), "buffers: `x` has 2000 bytes, and 32 are given")
        self.check(
            lambda: ws.run("spmv", "tiny", size="small", buffers={0: b"1234"}),
            "buffers: `spmv` is a launch file, whose buffers have names",
            "its buffers: offsets, columns, values, x, y",
        )
        self.check(
            lambda: ws.run(SHADER, "tiny", buffers={"0.7": b"1234", "0.0": 16, "0.1": 16, "0.2": 4}),
            "--bind: kernel `saxpy` has no binding 0.7",
            "it has binding 0.0 (`x`), binding 0.1 (`y`), binding 0.2 (`factor`)",
        )
        self.check(
            lambda: ws.run(ws.Kernel.from_source(DOUBLE), "tiny", buffers={"x": b"1234"}),
            "buffers: `x` is no binding: it is written GROUP.BINDING",
            "a buffer of a shader is named by its binding, such as \"0.1\"; other kernel files have device memory, "
            "by address",
        )
        with self.assertRaises(ws.Error) as caught:
            ws.run(ws.Kernel.from_source(DOUBLE), "tiny", buffers={2**40: b"1234"})
        self.assertIn("past the end of device memory", caught.exception.message)
        with self.assertRaises(TypeError):
            run(x=np.array([object()]))()

    def test_results_and_machines(self):
        result = ws.run("spmv", "tiny", size="small")
        self.check(
            lambda: result.buffer("z"),
            "there is no buffer `z`; the run has offsets, columns, values, x, y",
        )
        machine = ws.Machine("spmv", "tiny", size="small")
        has = result.memory.nbytes
        self.check(
            lambda: machine.read(has - 4, 2, "u4"),
            f"8 bytes from address {has - 4} go past the end of device memory, which has {has}",
        )
        with self.assertRaises(ws.Error):
            machine.buffer("z")
        with self.assertRaises(ValueError):
            machine.step(-1)
        with self.assertRaises(ws.Error):
            machine.save(self.folder / "none" / "x.ckpt")

    def test_warnings_are_warnings(self):
        with self.assertWarns(ws.InputWarning) as caught:
            ws.run(ws.Kernel.from_source(DOUBLE), "tiny", grid=1)
        self.assertIn("reads registers that no instruction has written", str(caught.warning))
        self.assertEqual(caught.filename, __file__)


if __name__ == "__main__":
    unittest.main()
