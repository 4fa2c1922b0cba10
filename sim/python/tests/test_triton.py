"""Kernels of Triton on the simulator. The tests need Triton: `PYTHON=env/bin/python scripts/test-python.sh`, where
`env/bin/pip install triton==3.9.*` has installed it."""

import importlib.util
import subprocess
import sys
import unittest

import numpy as np
from common import ROOT, InFolder, python

import wave_sim as ws
from wave_sim import cuda

HAS_TRITON = importlib.util.find_spec("triton") is not None
PAGE = ROOT / "docs/triton.md"

if HAS_TRITON:
    import triton
    import triton_kernels as kernels


@unittest.skipUnless(HAS_TRITON, "Triton is not installed: pip install triton")
class Kernels(InFolder):
    def setUp(self):
        super().setUp()
        self.device = ws.triton.Device("tiny", wave_width=32)
        self.device.__enter__()
        self.addCleanup(self.device.close)

    def test_arrays_of_numpy(self):
        x, y = np.arange(1000, dtype=np.float32), np.ones(1000, np.float32)
        compiled = kernels.saxpy[lambda meta: (triton.cdiv(1000, meta["BLOCK"]),)](x, y, 1000, 2.5, BLOCK=128)
        np.testing.assert_array_equal(y, 2.5 * x + 1)
        (result,) = self.device.results
        self.assertIsInstance(result, ws.Result)
        self.assertGreater(result.cycles, 0)
        self.assertEqual(self.device.cycles, result.cycles)
        self.assertEqual((result.launches[0]["grid"], result.launches[0]["workgroup"]), ([8, 1, 1], [128, 1, 1]))
        self.assertIn(".version", compiled.asm["ptx"])
        # The same again takes the same cycles, and other numbers of warps other ones.
        kernels.saxpy[(8,)](x, y, 1000, 2.5, BLOCK=128)
        kernels.saxpy[(8,)](x, y, 1000, 2.5, BLOCK=128, num_warps=2)
        self.assertEqual(self.device.results[1].cycles, result.cycles)
        self.assertEqual(self.device.results[2].launches[0]["workgroup"], [64, 1, 1])
        np.testing.assert_array_equal(y, 7.5 * x + 1)

    def test_an_empty_grid_runs_nothing(self):
        x = np.zeros(4, np.float32)
        kernels.saxpy[(0,)](x, x, 4, 1.0, BLOCK=32)
        self.assertEqual(self.device.results, [])

    def test_strides_views_and_specialised_arguments(self):
        x = np.arange(7 * 33, dtype=np.float32).reshape(7, 33)
        for view in (x, x.T, x[1:], x[:, 1:], x[::2, ::3], x[::-1, ::-1]):
            sums = np.zeros(view.shape[0], np.float32)
            row, column = (stride // 4 for stride in view.strides)
            kernels.row_sums[view.shape[:1]](view, sums, view.shape[1], row, column, BLOCK=32)
            np.testing.assert_array_equal(sums, view.sum(axis=1))

    def test_matrix_products_have_shared_memory(self):
        rng = np.random.default_rng(2)
        a, b = (rng.standard_normal((64, 64), dtype=np.float32) for _ in range(2))
        c = np.zeros_like(a)
        with ws.triton.device("gpu") as device:
            kernels.product[2, 2](a, b, c, 64, TILE=32)
        np.testing.assert_allclose(c, a @ b, rtol=1e-4, atol=1e-4)
        self.assertGreater(device.results[0].launches[0]["local_memory_bytes"], 0)

    def test_scalars(self):
        out = np.zeros(5)
        kernels.all_scalars[1,](out, 1, 2**20, 2**40, 0.1, True)
        np.testing.assert_array_equal(out, [1, 2**20, 2**40, np.float32(0.1), 1])
        kernels.all_scalars[1,](out, np.int32(16), np.int64(-5), -(2**50), np.float32(0.5), np.bool_(False))
        np.testing.assert_array_equal(out, [16, -5, -(2**50), 0.5, 0])

    def test_tuples(self):
        out = np.zeros(1, np.float32)
        kernels.pair_sum[1,]((np.array([2.0], np.float32), 3), out)
        self.assertEqual(out[0], 5)

    def test_device_arrays_and_addresses_in_memory(self):
        x, y = cuda.to_device(np.arange(64, dtype=np.float32)), cuda.empty(64, np.float32)
        for _ in range(3):
            kernels.saxpy[(2,)](x, y, 64, 1.0, BLOCK=32)
        np.testing.assert_array_equal(y.copy_to_host(), 3 * np.arange(64))
        arrays = [cuda.to_device(np.array([value], np.float32)) for value in (5, 7)]
        out = np.zeros(2, np.float32)
        kernels.through_a_table[1,](np.array([array.address for array in arrays]), out, COUNT=2)
        np.testing.assert_array_equal(out, [5, 7])

    def test_types_of_elements(self):
        for dtype in ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"):
            with self.subTest(dtype=dtype):
                x = np.arange(32).astype(dtype)
                y = np.zeros_like(x)
                kernels.half_precision[1,](x, y, BLOCK=32)
                np.testing.assert_array_equal(y, 2 * x)

    def test_atomic_accesses_and_heuristics(self):
        total = np.zeros(3, np.int32)
        kernels.count[(5,)](total, 3, BLOCK=64)
        np.testing.assert_array_equal(total, [110, 105, 105])
        x = np.zeros(50, np.float32)
        kernels.with_heuristics[1,](x, 50)
        np.testing.assert_array_equal(x, np.arange(50))

    def test_autotune_takes_the_fewest_cycles(self):
        x, y = np.ones(5000, np.float32), np.zeros(5000, np.float32)
        grid = lambda meta: (triton.cdiv(5000, meta["BLOCK"]),)  # noqa: E731
        kernels.tuned[grid](x, y, 5000, 1.0)
        # Trials leave no trace.
        np.testing.assert_array_equal(y, 1)
        trials = [result.cycles for result in self.device.trials]
        self.assertEqual(len(trials), 3)
        self.assertEqual(self.device.results[0].cycles, min(trials))
        self.assertEqual(kernels.tuned.best_config.kwargs["BLOCK"], (32, 256, 1024)[trials.index(min(trials))])
        kernels.tuned[grid](x, y, 5000, 1.0)
        self.assertEqual((len(self.device.trials), len(self.device.results)), (3, 2))
        # Another machine is tuned on its own.
        with ws.triton.device("gpu") as other:
            kernels.tuned[grid](x, y, 5000, 1.0)
            self.assertEqual(len(other.trials), 3)
        total = cuda.empty(4, np.int32)
        kernels.tuned_count[1,](total, 4)
        self.assertEqual(int(total.copy_to_host().sum()), kernels.tuned_count.best_config.kwargs["BLOCK"])

    def test_do_bench_takes_simulated_time(self):
        x, y = np.ones(500, np.float32), np.zeros(500, np.float32)
        act = lambda: kernels.saxpy[(4,)](x, y, 500, 1.0, BLOCK=128)  # noqa: E731
        time = triton.testing.do_bench(act)
        self.assertEqual(time, self.device.trials[0].cycles / (self.device.config.get("core_clock_mhz") * 1000))
        self.assertEqual(triton.testing.do_bench(act, quantiles=[0.5, 0.2, 0.8]), [time] * 3)
        self.assertEqual((y[0], self.device.results), (0, []))
        # The time of a kernel that is tuned first is that of its best configuration.
        x, y = np.ones(300, np.float32), np.zeros(300, np.float32)
        before = len(self.device.trials)
        time = triton.testing.do_bench(lambda: kernels.tuned[(10,)](x, y, 300, 1.0))
        trials = [result.cycles for result in self.device.trials[before:]]
        self.assertEqual(len(trials), 4)
        self.assertEqual(trials[3], min(trials[:3]))
        self.assertEqual((time, y[0]), (trials[3] / (self.device.config.get("core_clock_mhz") * 1000), 0))

    def test_properties(self):
        driver = triton.runtime.driver.active
        target = driver.get_current_target()
        self.assertEqual((target.backend, target.arch, target.warp_size), ("cuda", 75, 32))
        properties = driver.utils.get_device_properties(0)
        self.assertEqual(properties["multiprocessor_count"], self.device.config.get("cores"))

    def test_configurations_that_do_not_fit_are_left_out(self):
        a, c = np.ones((64, 64), np.float32), np.zeros((64, 64), np.float32)
        grid = lambda meta: (64 // meta["TILE"], 64 // meta["TILE"])  # noqa: E731
        kernels.tuned_product[grid](a, a, c, 64)
        np.testing.assert_array_equal(c, 64)
        # The large tile needs more shared memory than a core of `tiny` has.
        self.assertEqual(kernels.tuned_product.best_config.kwargs["TILE"], 16)
        self.assertEqual(len(self.device.trials), 1)

    def test_a_kernel_that_faults(self):
        with self.assertRaises(ws.Fault) as caught:
            kernels.through_a_table[1,](np.array([0xFFFF_0000]), np.zeros(1, np.float32), COUNT=1)
        self.assertIn("triton_kernels.py", caught.exception.file)
        self.assertEqual(self.device.results, [])

    def test_wrong_input(self):
        x = np.zeros(4, np.float32)
        with self.assertRaises(ws.Error) as caught:
            kernels.saxpy[(1,)](x, np.zeros(4, ">f4"), 4, 1.0, BLOCK=32)
        self.assertIn("bytes have another order", caught.exception.message)
        x.flags.writeable = False
        with self.assertRaises(ws.Error) as caught:
            kernels.saxpy[(1,)](x + 1, x, 4, 1.0, BLOCK=32)
        self.assertIn("read-only", caught.exception.message)
        with self.assertRaises(TypeError):
            kernels.saxpy[(1,)]([1.0], x, 4, 1.0, BLOCK=32)


@unittest.skipUnless(HAS_TRITON, "Triton is not installed: pip install triton")
class Devices(InFolder):
    def launch(self):
        x, y = np.ones(500, np.float32), np.zeros(500, np.float32)
        kernels.saxpy[(4,)](x, y, 500, 1.0, BLOCK=128)
        np.testing.assert_array_equal(y, 1)

    def test_blocks_inside_one_another(self):
        with ws.triton.device("gpu") as outer:
            self.launch()
            with ws.triton.device("t4", energy=False) as inner:
                self.launch()
            self.launch()
        self.assertEqual((len(outer.results), len(inner.results)), (2, 1))
        self.assertEqual(outer.results[0].cycles, outer.results[1].cycles)
        self.assertIsNone(inner.results[0].energy)
        self.assertEqual(repr(inner), "<Device t4 for sm_75: 1 launch>")
        self.assertEqual(inner.milliseconds(), inner.cycles / (inner.config.get("core_clock_mhz") * 1000))

    def test_use(self):
        first = ws.triton.use("gpu")
        self.launch()
        second = ws.triton.use("t4", functional=True)
        self.addCleanup(second.close)
        self.launch()
        self.assertEqual((len(first.results), len(second.results)), (1, 1))
        self.assertIsNone(second.results[0].cycles)
        with self.assertRaises(ws.Error) as caught:
            triton.testing.do_bench(self.launch)
        self.assertEqual(caught.exception.message, "a run without timing has no time to measure")
        second.close()
        # Triton is as it was.
        self.assertEqual(type(triton.runtime.driver._active).__module__.partition(".")[0] == "wave_sim", False)

    def test_another_target(self):
        with ws.triton.device("a100", arch=80) as device:
            self.launch()
        self.assertEqual(len(device.results), 1)
        for arch in ("sm_80", 7):
            with self.assertRaises(ws.Error) as caught:
                ws.triton.device(arch=arch)
            self.assertEqual(caught.exception.hint, "it is a compute capability times 10, such as 75 or 80")

    def test_versions_that_are_not_supported(self):
        text = "import triton, wave_sim.triton\ntriton.__version__ = '2.1.0'\n" + (
            "try:\n    wave_sim.triton.use()\nexcept wave_sim.Error as error:\n    print(error.message, '|', error.hint)\n"
        )
        said = python(text)
        self.assertEqual(said.strip(), "Triton 2.1.0 is not supported | the versions 3.6 to 3.9 are")

    @unittest.skipUnless(HAS_TRITON and triton.__version__.startswith("3.9."), "its cycles are those of Triton 3.9")
    def test_the_page(self):
        blocks = PAGE.read_text().split("```python\n")
        self.assertGreater(len(blocks), 1)
        script = self.write("page.py", "".join(block.split("```")[0] for block in blocks[1:]))
        printed = subprocess.run(
            [sys.executable, script], cwd=self.folder, capture_output=True, encoding="utf-8", stdin=subprocess.DEVNULL
        )
        self.assertEqual(printed.returncode, 0, printed.stderr)
        self.assertEqual(printed.stdout, PAGE.read_text().split("```text\n")[1].split("```")[0])


class WithoutTriton(unittest.TestCase):
    def test_a_device_asks_for_triton(self):
        text = "import sys\nsys.modules['triton'] = None\nimport wave_sim.triton\n" + (
            "try:\n    wave_sim.triton.use()\nexcept wave_sim.Error as error:\n    print(error.message, '|', error.hint)\n"
        )
        self.assertEqual(python(text).strip(), "Triton is not installed | pip install triton==3.9.*")


if __name__ == "__main__":
    unittest.main()
