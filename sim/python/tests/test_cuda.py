"""Kernels in PTX, called with arrays: `wave_sim.cuda`."""

import ctypes
import gc
import os
import unittest

import numpy as np
from common import ROOT, InFolder

import wave_sim as ws
from wave_sim import cuda
from wave_sim.cuda._memory import HostMemory, host_array

SUITE = ROOT / "sim/kernels/cuda"

#: A module around the body of one kernel.
MODULE = """\
.version 7.0
.target sm_75
.address_size 64
{variables}
.visible .entry kernel({parameters}){directives}
{{
    .reg .pred %p<4>;
    .reg .b16 %h<4>;
    .reg .b32 %r<9>;
    .reg .b64 %d<9>;
    .reg .f32 %f<9>;
{body}
    ret;
}}
"""


def module_of(parameters, body, config="tiny", directives="", variables="", **options):
    """A module with one kernel, `kernel`."""
    text = MODULE.format(parameters=parameters, body=body, directives=directives, variables=variables)
    return cuda.Module(text, config, **options)


#: Every thread stores the word at address `from` to `to`.
COPY = "    ld.param.u64 %d1, [from]; ld.param.u64 %d2, [to]; ld.global.u32 %r1, [%d1]; st.global.u32 [%d2], %r1;"


class Suite(unittest.TestCase):
    """Kernels of the suite in CUDA C++."""

    def test_arrays_in_and_out(self):
        module = cuda.Module(SUITE / "saxpy.ptx", "tiny")
        x, y = np.arange(1000, dtype=np.float32), np.ones(1000, np.float32)
        result = module.saxpy[4, 256](1000, 2.5, x, y)
        np.testing.assert_array_equal(y, 2.5 * np.arange(1000, dtype=np.float32) + 1)
        np.testing.assert_array_equal(x, np.arange(1000))
        self.assertIsInstance(result, ws.Result)
        self.assertGreater(result.cycles, 0)
        self.assertEqual(result.launches[0]["grid"], [4, 1, 1])
        self.assertGreater(result.statistics["l1.hits"] + result.statistics["l1.misses"], 0)

    def test_both_forms_of_a_call_take_the_same_cycles(self):
        f = cuda.Module(SUITE / "saxpy.ptx", "tiny")["saxpy"]
        cycles = set()
        for launch in (f[4, 256], f[(4, 1, 1), (256,)], lambda *words: f(4, 256, *words)):
            x, y = np.ones(1000, np.float32), np.zeros(1000, np.float32)
            cycles.add(launch(1000, 2, x, y).cycles)
            np.testing.assert_array_equal(y, 2)
        self.assertEqual(len(cycles), 1)

    def test_the_machine_of_a_launch(self):
        f = cuda.Module(SUITE / "saxpy.ptx").saxpy
        x, y = np.ones(1000, np.float32), np.zeros(1000, np.float32)
        self.assertEqual(f[4, 256](1000, 2, x, y).stats["config"]["name"], "gpu")
        self.assertEqual(f[4, 256](1000, 2, x, y, config="tiny").stats["config"]["name"], "tiny")
        result = f[4, 256](1000, 2, x, y, functional=True)
        self.assertIsNone(result.cycles)
        np.testing.assert_array_equal(y, 6)

    def test_arrays_that_stay_on_the_device(self):
        f = cuda.Module(SUITE / "saxpy.ptx", "tiny").saxpy
        x, y = cuda.to_device(np.arange(1000, dtype=np.float32)), cuda.empty(1000, np.float32)
        address = y.address
        for _ in range(3):
            f[4, 256](1000, 1, x, y)
        self.assertEqual(y.address, address)
        np.testing.assert_array_equal(y.copy_to_host(), 3 * np.arange(1000))
        out = np.zeros(1000, np.float32)
        self.assertIs(y.copy_to_host(out), out)
        np.testing.assert_array_equal(out, np.asarray(y))
        y.copy_to_device(np.ones(1000, np.float32))
        # Another module and another machine find it, too.
        sums = np.zeros(1, np.float64)
        cuda.Module(SUITE / "dot_f64.ptx").dot[1, 256](cuda.to_device(np.ones(1000)), cuda.to_device(np.ones(1000)), sums, 1000)
        self.assertEqual(sums[0], 1000)

    def test_kernels_with_shared_memory_and_several_launches(self):
        rng = np.random.default_rng(1)
        matrix = rng.uniform(-4, 4, (6, 200)).astype(np.float32)
        weights = np.zeros_like(matrix)
        cuda.Module(SUITE / "softmax.ptx").softmax[2, 128](matrix, weights, 6, 200)
        powers = np.exp(matrix - matrix.max(axis=1, keepdims=True))
        np.testing.assert_allclose(weights, powers / powers.sum(axis=1, keepdims=True), rtol=4e-6)
        values = rng.integers(0, 100, 1000, dtype=np.uint32)
        sums = np.zeros(4, np.uint32)
        cuda.Module(SUITE / "reduction.ptx").reduction[4, 256](values, sums, 1000)
        self.assertEqual(int(sums.sum()), int(values.sum()))


class Arguments(unittest.TestCase):
    """Numbers, structures and arrays as parameters of a kernel."""

    def test_numbers_have_the_types_of_the_parameters(self):
        for ty, dtype, value in (
            ("u8", np.uint8, 200),
            ("s8", np.int8, -3),
            ("u16", np.uint16, 60000),
            ("s16", np.int16, -300),
            ("u32", np.uint32, 2**32 - 1),
            ("u32", np.int32, -5),
            ("s64", np.int64, -(2**40)),
            ("u64", np.uint64, 2**63 + 1),
            ("b32", np.float32, 1.5),
            ("b32", np.uint32, 7),
            ("f32", np.float32, 2),
            ("f32", np.float32, 0.1),
            ("f32", np.float32, float("-inf")),
            ("f64", np.float64, 0.1),
            ("f64", np.float64, np.float32(0.1)),
            ("b16", np.float16, 0.1),
            ("u8", np.uint8, True),
        ):
            bits = int(ty[1:])
            register = {8: "%h1", 16: "%h1", 32: "%r1", 64: "%d1"}[bits]
            with self.subTest(type=ty, value=value):
                module = module_of(
                    f".param .{ty} value, .param .u64 to",
                    f"ld.param.b{bits} {register}, [value]; ld.param.u64 %d2, [to]; st.global.b{bits} [%d2], {register};",
                )
                out = np.zeros(1, dtype)
                module.kernel[1, 1](value, out)
                self.assertEqual(out[0].tobytes(), np.array(value).astype(dtype).tobytes())

    def test_structures(self):
        layout = np.dtype([("x", "<f4"), ("y", "<i4"), ("z", "<f8")])

        class Pair(ctypes.Structure):
            _fields_ = [("x", ctypes.c_float), ("y", ctypes.c_int32), ("z", ctypes.c_double)]

        module = module_of(
            ".param .align 8 .b8 pair[16], .param .u64 to",
            "ld.param.u64 %d1, [pair]; ld.param.u64 %d2, [pair+8]; ld.param.u64 %d3, [to];"
            "st.global.u64 [%d3], %d1; st.global.u64 [%d3+8], %d2;",
        )
        wanted = np.array([(1.5, -2, 0.25)], layout)
        for value in (wanted[0], wanted.tobytes(), Pair(1.5, -2, 0.25)):
            out = np.zeros(1, layout)
            module.kernel[1, 1](value, out)
            self.assertEqual(out, wanted)
        small = module_of(
            ".param .align 1 .b8 word[4], .param .u64 to",
            "ld.param.u32 %r1, [word]; ld.param.u64 %d1, [to]; st.global.u32 [%d1], %r1;",
        )
        out = np.zeros(4, np.uint8)
        small.kernel[1, 1](b"\1\2\3\4", out)
        self.assertEqual(out.tobytes(), b"\1\2\3\4")

    def test_arrays_that_share_bytes_share_them_on_the_device(self):
        module = module_of(".param .u64 from, .param .u64 to", COPY)
        x = np.arange(100, dtype=np.uint32)
        module.kernel[1, 1](x[7:9], x[50:])
        self.assertEqual(x[50], 7)
        module.kernel[1, 1](x[3:60], x[10:])
        self.assertEqual((x[10], x[50]), (3, 7))
        module.kernel[1, 1](x, x)
        np.testing.assert_array_equal(np.delete(x, (10, 50)), np.delete(np.arange(100), (10, 50)))

    def test_addresses_do_not_depend_on_the_host(self):
        x, y = (host_array(np.zeros(500, np.uint32), "x") for _ in range(2))
        for hosts in ([x, y], [y, x]):
            with HostMemory(hosts) as memory:
                self.assertLess(memory.address(hosts[0]), memory.address(hosts[1]))

    def test_a_read_only_array_is_read(self):
        module = module_of(".param .u64 from, .param .u64 to", COPY)
        x, y = np.array([5], np.uint32), np.zeros(1, np.uint32)
        x.flags.writeable = False
        module.kernel[1, 1](x, y)
        self.assertEqual(y[0], 5)
        with self.assertRaises(ws.Error) as caught:
            module.kernel[1, 1](np.array([6], np.uint32), x)
        self.assertIn("read-only", caught.exception.message)
        self.assertEqual(x[0], 5)

    def test_an_address_that_lies_in_memory(self):
        module = module_of(
            ".param .u64 table, .param .u64 to",
            "ld.param.u64 %d1, [table]; ld.global.u64 %d1, [%d1]; ld.param.u64 %d2, [to];"
            "ld.global.u32 %r1, [%d1]; st.global.u32 [%d2], %r1;",
        )
        hidden = cuda.to_device(np.array([77], np.uint32))
        table, out = np.array([hidden.address], np.uint64), np.zeros(1, np.uint32)
        module.kernel[1, 1](table, out)
        self.assertEqual(out[0], 77)

    def test_dynamic_shared_memory(self):
        module = module_of(
            ".param .u64 to",
            "mov.u32 %r1, %tid.x; mov.u32 %r2, bytes; shl.b32 %r3, %r1, 2; add.u32 %r2, %r2, %r3;"
            "st.shared.u32 [%r2], %r1; bar.sync 0; xor.b32 %r4, %r3, 252; mov.u32 %r5, bytes; add.u32 %r5, %r5, %r4;"
            "ld.shared.u32 %r6, [%r5]; ld.param.u64 %d1, [to]; cvt.u64.u32 %d2, %r3; add.u64 %d1, %d1, %d2;"
            "st.global.u32 [%d1], %r6;",
            "gpu",
            variables=".extern .shared .align 4 .b8 bytes[];",
        )
        for launch in (
            module.kernel[1, 64, 256],
            lambda out: module.kernel(1, 64, out, dynamic_shared=256),
            lambda out: module.kernel[1, 64](out, dynamic_shared=256),
        ):
            out = np.zeros(64, np.uint32)
            result = launch(out)
            np.testing.assert_array_equal(out, 63 - np.arange(64))
            self.assertEqual(result.launches[0]["local_memory_bytes"], 256)
        with self.assertRaises(ws.Fault):
            module.kernel[1, 64](out)

    def test_a_kernel_that_asks_for_the_bytes_of_dynamic_shared_memory(self):
        module = module_of(
            ".param .u64 to",
            "mov.u32 %r1, %dynamic_smem_size; ld.param.u64 %d1, [to]; st.global.u32 [%d1], %r1;",
            variables=".extern .shared .align 4 .b8 bytes[];",
        )
        out = np.zeros(1, np.uint32)
        for bytes_ in (64, 0, 1024):
            module.kernel[1, 1, bytes_](out)
            self.assertEqual(out[0], bytes_)

    def test_values_without_a_register_go_to_memory(self):
        count = 120
        names = [f"%v{number}" for number in range(count)]
        body = ["mov.u32 %r1, %tid.x; mul.wide.u32 %d3, %r1, 4; ld.param.u64 %d1, [from]; add.u64 %d1, %d1, %d3;"]
        body += [f".reg .b32 %v<{count}>;"]
        body += [f"ld.global.u32 {name}, [%d1+{4096 * number}];" for number, name in enumerate(names)]
        # All of them are alive at the barrier.
        body += ["bar.sync 0; mov.u32 %r2, 0;"]
        body += [f"mad.lo.u32 %r2, {name}, {number + 1}, %r2;" for number, name in enumerate(names)]
        body += ["ld.param.u64 %d2, [to]; add.u64 %d2, %d2, %d3; st.global.u32 [%d2], %r2;"]
        module = module_of(".param .u64 from, .param .u64 to", "\n".join(body), "gpu")
        values = np.random.default_rng(3).integers(0, 1000, (count, 1024), dtype=np.uint32)
        for threads, most in ((32, 255), (1024, 64)):
            out = np.zeros(1024, np.uint32)
            result = module.kernel[1, threads](values, out)
            wanted = (values * np.arange(1, count + 1, dtype=np.uint32)[:, None]).sum(axis=0, dtype=np.uint32)
            np.testing.assert_array_equal(out[:threads], wanted[:threads])
            self.assertLessEqual(result.launches[0]["registers"], most)
            self.assertEqual(result.launches[0]["registers"] > 64, threads == 32)

    def test_more_memory_than_the_configuration_has(self):
        module = module_of(".param .u64 from, .param .u64 to", COPY)
        large = cuda.empty(80 << 20, np.uint8)
        x, y = np.array([5], np.uint32), np.zeros(1, np.uint32)
        module.kernel[1, 1](x, y)
        self.assertEqual(y[0], 5)
        del large
        gc.collect()

    def test_threads_with_memory_of_their_own(self):
        # It lies at the top of device memory, which grows where arrays would meet it.
        module = module_of(
            ".param .u64 to",
            ".local .align 4 .b8 own[4096];"
            "mov.u64 %d3, own; cvta.local.u64 %d3, %d3; st.u32 [%d3+16], 9; ld.u32 %r1, [%d3+16];"
            "ld.param.u64 %d1, [to]; st.global.u32 [%d1], %r1;",
        )
        filling = cuda.empty(13 << 20, np.uint8)
        out = np.zeros(1, np.uint32)
        module.kernel[4, 256](out)
        self.assertEqual(out[0], 9)
        del filling


class Space(unittest.TestCase):
    """Addresses of arrays."""

    def test_arrays_do_not_meet_and_give_their_addresses_back(self):
        gc.collect()
        arrays = [cuda.empty(size, np.uint8) for size in (1, 256, 257, 1000)]
        ends = [(array.address, array.address + array.nbytes) for array in arrays]
        for (_, end), (start, _) in zip(ends, ends[1:]):
            self.assertLessEqual(end, start)
            self.assertEqual(start % 256, 0)
        again = arrays[1].address
        del arrays[1]
        gc.collect()
        self.assertEqual(cuda.empty(200, np.uint8).address, again)

    def test_variables_of_modules_lie_below(self):
        module = module_of(
            ".param .u64 from, .param .u64 to",
            COPY + "mov.u64 %d3, large; st.global.u32 [%d3], %r1;",
            variables=".global .align 16 .b8 large[3000000];\n.const .align 4 .u32 small[3] = {1, 2, 3};",
        )
        x, y = np.array([5], np.uint32), np.zeros(1, np.uint32)
        module.kernel[1, 1](x, y)
        self.assertEqual(y[0], 5)
        self.assertGreater(cuda.empty(1).address, 3000000)


@unittest.skipIf(os.environ.get("WAVE_SIM_SKIP_CLANG") == "1", "WAVE_SIM_SKIP_CLANG is set")
class Sources(InFolder):
    """Modules that clang makes of CUDA C++ and OpenCL C."""

    def test_cuda(self):
        file = self.write("scale.cu", "__global__ void scale(float *x) { x[threadIdx.x] *= FACTOR; }\n")
        x = np.ones(32, np.float32)
        module = cuda.Module(file, "tiny", clang=["-DFACTOR=3"])
        self.assertEqual(module.functions, ["scale"])
        result = module.scale[1, 32](x)
        np.testing.assert_array_equal(x, 3)
        self.assertEqual(result.name, "scale")
        with self.assertRaises(ws.Error) as caught:
            cuda.Module(file)
        self.assertIn("FACTOR", str(caught.exception))

    def test_opencl(self):
        file = self.write("scale.cl", "__kernel void scale(__global int *x, int by) { x[get_global_id(0)] *= by; }\n")
        x = np.arange(32, dtype=np.int32)
        cuda.Module(file, "tiny").scale[1, 32](x, -2)
        np.testing.assert_array_equal(x, -2 * np.arange(32))


class Modules(InFolder):
    def test_names(self):
        module = cuda.Module(SUITE / "scan.ptx")
        self.assertEqual(module.functions, ["scan_blocks", "add_offsets"])
        self.assertEqual(module["scan_blocks"].name, module.scan_blocks.name)
        self.assertIn("scan_blocks", dir(module))
        self.assertEqual([parameter.type for parameter in module.add_offsets.parameters], ["u64", "u64", "u32"])
        self.assertEqual(repr(module.add_offsets), "<Function add_offsets(u64, u64, u32)>")
        self.assertIn("scan.ptx on gpu: scan_blocks, add_offsets", repr(module))
        self.assertFalse(hasattr(module, "__wrapped__"))

    def test_declarations(self):
        text = (
            ".version 8.8\n.target sm_80\n.address_size 64\n"
            "/* .entry hidden(.param .u32 a) */ // .entry hidden()\n"
            ".common .global .align 8 .u64 environment;\n"
            ".visible .entry _ZN4name5innerEv(.param .u64 .ptr .global .align 16 a, .param .b32 b,\n"
            "    .param .align 16 .b8 c[32])\n.maxntid 64, 2, 1\n.minnctapersm 2\n{ ret; }\n"
            ".weak .entry none()\n.reqntid 32\n{ ret; }\n"
        )
        module = cuda.Module(text)
        self.assertEqual(module.functions, ["inner", "none"])
        a, b, c = module.inner.parameters
        self.assertEqual((a.type, a.bytes, b.type, c.type, c.bytes), ("u64", 8, "b32", "b8[32]", 32))
        self.assertEqual(module.none.parameters, ())
        module.none[2, 32]()

    def test_numba_passes_arrays_as_several_parameters(self):
        x = np.zeros((3, 5), np.float32)
        self.assertEqual(cuda.numba_arguments(x, 2)[:4], [0, 0, 15, 4])
        self.assertIs(cuda.numba_arguments(x, 2)[4], x)
        self.assertEqual(cuda.numba_arguments(x, 2)[5:], [3, 5, 20, 4, 2])
        device = cuda.to_device(x)
        self.assertEqual(cuda.numba_arguments(device)[5:], [3, 5, 20, 4])


if __name__ == "__main__":
    unittest.main()
