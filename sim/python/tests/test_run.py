"""Runs: the same results as those of the executable, and what Python makes of them."""

import os
import threading
import unittest

import numpy as np
from common import DOUBLE, ENDLESS, FAULT, ROOT, InFolder, wave_sim

import wave_sim as ws

WGSL = ROOT / "sim/kernels/wgsl/saxpy.wgsl"
C = """\
#include <wave.h>
KERNEL void scale(float *x, float factor) {
    x[global_id_x()] *= factor;
}
"""


class SameAsTheProgram(InFolder):
    def check(self, kernel, config, words, python_kernel=None, **options):
        """Runs both. Documents and all of device memory have the same bytes."""
        bytes_ = ws.Config.load(config).get("device_memory_bytes")
        saved = self.folder / "memory"
        code, out, err = wave_sim(
            kernel, "--config", config, *words, "--energy", "--format", "json", "--save", f"0:{bytes_}:{saved}"
        )
        self.assertEqual(code, 0, err)
        result = ws.run(python_kernel or kernel, config, **options)
        self.assertEqual(result.document, out)
        self.assertEqual(result.memory.tobytes(), saved.read_bytes())
        return result

    def test_kernels_of_the_suite(self):
        for kernel in ("saxpy", "spmv", "bfs", "wgsl/histogram"):
            with self.subTest(kernel=kernel):
                result = self.check(kernel, "tiny", ["--size", "small"], size="small")
                self.assertIs(result.verified, True)

    def test_seed_and_threads(self):
        words = ["--size", "small", "--seed", "7"]
        result = self.check("histogram", "tiny", words, size="small", seed=7, threads=2)
        self.assertEqual(result.outcome, "verified")

    def test_settings(self):
        words = ["--size", "small", "--set", "core.l1.bytes=4KiB", "--set", "cores=1"]
        _, out, _ = wave_sim("saxpy", "--config", "tiny", *words, "--energy", "--format", "json")
        config = ws.Config.load("tiny").set({"core.l1.bytes": "4KiB"}, cores=1)
        self.assertEqual(ws.run("saxpy", config, size="small").document, out)

    def test_kernel_file_with_data_at_addresses(self):
        x = np.arange(64, dtype=np.float32) / 2
        file, data = self.write("double.wave", DOUBLE), self.write("x.bin", x.tobytes())
        words = ["--grid", "2", "--set-reg", "0:0", "--set-reg", "1:4096", "--arg", f"0:{data}"]
        options = dict(grid=2, set_reg={0: 0, "r1": 4096}, buffers={0: x})
        result = self.check(file, "tiny", words, **options)
        np.testing.assert_array_equal(result.memory[4096 : 4096 + 256].view(np.float32), x * 2)
        # The same kernel from a string.
        self.check(file, "tiny", words, ws.Kernel.from_source(DOUBLE, name="double"), **options)

    def test_shader_with_bindings(self):
        x, y = np.arange(256, dtype="<f4"), np.ones(256, dtype="<f4")
        files = [self.write(name, data.tobytes()) for name, data in (("x", x), ("y", y), ("f", np.float32(3)))]
        words = [word for number, file in enumerate(files) for word in ("--bind", f"0.{number}={file}")]
        options = dict(buffers={"0.0": x, "0.1": y, "0.2": np.float32(3)})
        result = self.check(WGSL, "tiny", words, **options)
        np.testing.assert_array_equal(result.buffer("0.1", "<f4"), 3 * x + 1)
        text = ws.Kernel.from_source(WGSL.read_text(), "wgsl", "saxpy")
        self.check(WGSL, "tiny", words, text, **options)

    @unittest.skipIf(os.environ.get("WAVE_SIM_SKIP_CLANG") == "1", "WAVE_SIM_SKIP_CLANG is set")
    def test_kernel_in_c(self):
        x = np.arange(64, dtype=np.float32)
        file, data = self.write("scale.c", C), self.write("x.bin", x.tobytes())
        words = ["--grid", "2", "--arg", f"4096:{data}", "--param", "4096", "--param", "1.5"]
        options = dict(grid=2, args=[4096, np.float32(1.5)], buffers={4096: x})
        result = self.check(file, "tiny", words, ws.Kernel.from_source(C, "c", "scale"), **options)
        np.testing.assert_array_equal(result.memory[4096:4352].view(np.float32), x * np.float32(1.5))

    def test_without_timing(self):
        code, out, _ = wave_sim("saxpy", "--size", "small", "--functional", "--format", "json")
        result = ws.run("saxpy", size="small", functional=True)
        self.assertEqual((code, result.document), (0, out))
        self.assertEqual((result.cycles, result.energy, result.verified), (None, None, True))

    def test_other_flags(self):
        words = ["--check-races", "--by-buffer"]
        _, out, _ = wave_sim("saxpy", "--size", "small", "--energy", "--format", "json", *words)
        result = ws.run("saxpy", size="small", flags=words)
        self.assertEqual(result.document, out)
        self.assertIn("by_buffer", result.launches[0])


class Results(InFolder):
    @classmethod
    def setUpClass(cls):
        cls.result = ws.run("spmv", "tiny", size="small")

    def test_memory_is_not_copied(self):
        memory = self.result.memory
        # The array has no bytes of its own: they are those of the vector that the simulator had, where they were.
        self.assertFalse(memory.flags.owndata)
        self.assertEqual(memory.ctypes.data, self.result._finished.address)
        self.assertEqual(type(memory.base).__name__, "PySliceContainer")
        self.assertEqual(memory.nbytes, ws.Config.load("tiny").get("device_memory_bytes"))
        y = self.result.buffer("y")
        start, bytes_ = self.result.buffers["y"]
        self.assertTrue(np.shares_memory(y, memory))
        self.assertEqual(y.ctypes.data, memory.ctypes.data + start)
        self.assertEqual((y.dtype, y.nbytes), (np.dtype("<f4"), bytes_))
        # It outlives the result.
        other = ws.run("spmv", "tiny", size="small").buffer("y")
        np.testing.assert_array_equal(other, y)

    def test_statistics(self):
        result = self.result
        self.assertEqual(result.stats["config"]["name"], "tiny")
        self.assertEqual(result.cycles, result.statistics["kernel.cycles"])
        self.assertGreater(result.figures["figure.ipc"], 0)
        self.assertGreater(result.energy["joules"], 0)
        self.assertGreater(result.area["mm2"], 0)
        self.assertEqual(repr(result), f"<Result of spmv: verified, {result.cycles} cycles>")

    def test_frame_has_a_row_a_launch(self):
        result = ws.run("bfs", "tiny", size="small")
        frame = result.frame()
        self.assertGreater(len(frame), 1)
        self.assertEqual(len(frame), len(result.launches))
        self.assertEqual(frame["kernel.cycles"].sum(), result.cycles)
        self.assertEqual(list(frame["launch"]), list(range(1, len(frame) + 1)))

    def test_data_for_a_launch_file(self):
        x = self.result.buffer("x")
        other = ws.run("spmv", "tiny", size="small", buffers={"x": x * 2})
        np.testing.assert_array_equal(other.buffer("y"), self.result.buffer("y") * 2)
        # What the file expects is about other data.
        self.assertEqual((other.outcome, other.verified), ("ended", None))

    def test_a_wrong_result_is_no_exception(self):
        self.write("double.wave", DOUBLE)
        file = self.write(
            "wrong.ron",
            """(
                source: "double.wave",
                buffers: (x: (type: f32, length: 32, contents: uniform(1, 2)), y: (type: f32, length: 32)),
                steps: [run(grid: 1, workgroup: 32, arguments: ["x", "y"])],
                expect: (y: (equals: each("3 * x[i]"))),
            )""",
        )
        code, out, _ = wave_sim(file, "--config", "tiny", "--energy", "--format", "json")
        self.assertEqual(code, 1, out)
        result = ws.run(file, "tiny")
        self.assertEqual(result.document, out)
        self.assertEqual((result.outcome, result.verified), ("failed", False))
        self.assertEqual(result.mismatches[0]["buffer"], "y")

    def test_instances_of_a_module(self):
        module = ROOT / "sim/kernels/examples/collatz.wat"
        result = ws.run(module, "tiny", args=[27], workgroup=1, flags=["--function", "steps"])
        words = ["--function", "steps", "--param", "27", "--workgroup", "1", "--format", "json"]
        _, out, _ = wave_sim(module, "--config", "tiny", *words)
        self.assertEqual(result._finished.calls, out)
        self.assertEqual(result.calls["instances"][0]["results"][0]["value"], 111)


class Endings(unittest.TestCase):
    def test_a_fault_says_where(self):
        for functional in (False, True):
            with self.subTest(functional=functional), self.assertRaises(ws.Fault) as caught:
                ws.run(ws.Kernel.from_source(FAULT, name="wild"), "tiny", functional=functional)
            fault = caught.exception
            self.assertEqual(fault.workgroup, (0, 0, 0))
            # The waves of `tiny` have 8 lanes, so threads 36 to 39 are lanes 4 to 7 of wave 4.
            self.assertIn((fault.wave, fault.lanes), [(4, (4, 5, 6, 7)), *[(n, tuple(range(8))) for n in (5, 6, 7)]])
            self.assertEqual((fault.file, fault.line), ("wild.wave", 11))
            self.assertEqual(fault.cycle is None, functional)
            self.assertIn(f"pc 0x{fault.pc:x}", fault.message)
            self.assertEqual(fault.result.outcome, "fault")

    def test_a_bound_stops(self):
        with self.assertRaises(ws.Stopped) as caught:
            ws.run(ws.Kernel.from_source(ENDLESS), "tiny", max_cycles=1000)
        self.assertNotIsInstance(caught.exception, ws.Fault)
        self.assertIn("has not ended after 1000 cycles", caught.exception.message)
        self.assertEqual(caught.exception.result.outcome, "stopped")

    def test_runs_at_the_same_time(self):
        alone = ws.run("saxpy", "tiny", size="small").document
        documents = [None] * 4

        def one(number):
            documents[number] = ws.run("saxpy", "tiny", size="small").document

        threads = [threading.Thread(target=one, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(documents, [alone] * 4)


if __name__ == "__main__":
    unittest.main()
