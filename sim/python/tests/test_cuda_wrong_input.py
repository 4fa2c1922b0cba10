"""Wrong input of `wave_sim.cuda`: one exception, with a hint."""

import unittest

import numpy as np
from common import ROOT, InFolder
from test_cuda import COPY, module_of

import wave_sim as ws
from wave_sim import cuda

SUITE = ROOT / "sim/kernels/cuda"


class WrongInput(InFolder):
    @classmethod
    def setUpClass(cls):
        cls.saxpy = cuda.Module(SUITE / "saxpy.ptx", "tiny").saxpy
        cls.x = np.ones(100, np.float32)

    def check(self, act, message, hint, place=None):
        with self.assertRaises(ws.Error) as caught:
            act()
        error = caught.exception
        self.assertEqual((error.message, error.hint, error.place), (message, hint, place))
        self.assertIn(message, str(error))
        self.assertIn(hint, str(error))

    def launch(self, *arguments, grid=1, block=32):
        return lambda: self.saxpy[grid, block](*arguments)

    def test_numbers_of_arguments(self):
        self.check(
            self.launch(100, 2.0, self.x),
            "kernel `saxpy` takes 4 arguments (u32, f32, u64, u64), and 3 are given",
            "a kernel of numba takes an array as several parameters: `f[grid, block](*cuda.numba_arguments(...))`",
        )
        self.check(
            self.launch(1, 2, 3, 4, 5),
            "kernel `saxpy` takes 4 arguments (u32, f32, u64, u64), and 5 are given",
            "an argument is an array, a number, or the bytes of a structure",
        )
        one = module_of(".param .u32 only", "").kernel
        self.check(
            lambda: one[1, 1](),
            "kernel `kernel` takes 1 argument (u32), and 0 are given",
            "an argument is an array, a number, or the bytes of a structure",
        )

    def test_types_of_arguments(self):
        x = self.x
        self.check(
            self.launch(1.5, 2.0, x, x),
            "argument 1 of kernel `saxpy` is the float 1.5, and the parameter has the type u32",
            "pass an integer: `int(...)`",
        )
        self.check(
            self.launch(2**32, 2.0, x, x),
            "argument 1 of kernel `saxpy` is 4294967296, and the parameter has the type u32",
            "u32 holds -2147483648 to 4294967295",
        )
        self.check(
            self.launch(100, x, x, x),
            "argument 2 of kernel `saxpy` is an array, and the parameter has the type f32",
            "a pointer has 64 bits; pass a number here",
        )
        self.check(
            self.launch(100, cuda.empty(1), x, x),
            "argument 2 of kernel `saxpy` is an array, and the parameter has the type f32",
            "a pointer has 64 bits; pass a number here",
        )
        self.check(
            self.launch(100, "2", x, x),
            "argument 2 of kernel `saxpy` is of the type str, and the parameter has the type f32",
            "pass a number, an array of NumPy, or a device array",
        )
        self.check(
            self.launch(100, 2.0, [1.0], x),
            "argument 3 of kernel `saxpy` is of the type list, and the parameter has the type u64",
            "pass a number, an array of NumPy, or a device array",
        )
        self.check(
            lambda: module_of(".param .b8 only", "").kernel[1, 1](1.5),
            "argument 1 of kernel `kernel` is a float, and the parameter has the type b8",
            "pass an integer",
        )

    def test_arrays(self):
        x = self.x
        self.check(
            self.launch(50, 2.0, x[::2], x),
            "argument 3 of kernel `saxpy` is an array whose elements are not contiguous",
            "`numpy.ascontiguousarray` copies it; what the kernel writes is in the copy then",
        )
        self.check(
            self.launch(50, 2.0, np.array([object()]), x),
            "argument 3 of kernel `saxpy` is an array with objects of Python, and not numbers",
            "convert it: `astype`",
        )
        self.check(
            self.launch(50, 2.0, x.astype(">f4"), x),
            "argument 3 of kernel `saxpy` is an array of >f4, whose bytes have another order",
            "convert it: `astype`",
        )

    def test_structures(self):
        module = module_of(".param .align 8 .b8 pair[16]", "")
        self.check(
            lambda: module.kernel[1, 1](b"1234"),
            "argument 1 of kernel `kernel` has 4 bytes, and the parameter b8[16] has 16",
            "a structure has the layout of C, with the bytes that its alignment leaves free",
        )
        self.check(
            lambda: module.kernel[1, 1](5),
            "argument 1 of kernel `kernel` is of the type int, and the parameter is a structure of 16 bytes",
            "pass its bytes, a scalar of a structured dtype, or a ctypes.Structure",
        )

    def test_sizes_of_a_launch(self):
        x, hint = self.x, "it has one to three sizes, which are integers from 1 on"
        for grid in (0, (1, -1), (1, 1, 1, 1), 1.5, ()):
            with self.subTest(grid=grid):
                self.check(self.launch(100, 2.0, x, x, grid=grid), f"the grid is {grid!r}", hint)
        self.check(self.launch(100, 2.0, x, x, block="x"), "the workgroup is 'x'", hint)
        for sizes in (1, (1, 2, 3, 4)):
            with self.subTest(sizes=sizes):
                self.check(
                    lambda: self.saxpy[sizes],
                    f"`saxpy[...]` has {len(sizes) if isinstance(sizes, tuple) else 1} parts",
                    "`saxpy[grid, block]`, or `saxpy[grid, block, bytes]`",
                )
        self.check(
            lambda: module_of("", "", directives="\n.reqntid 64, 2\n").kernel[1, 128](),
            "kernel `kernel` needs workgroups of (64, 2, 1) threads, and (128, 1, 1) are asked for",
            "the kernel states the size: `.reqntid`",
        )
        self.check(
            lambda: module_of("", "", directives="\n.maxntid 64\n").kernel[1, 65](),
            "kernel `kernel` takes workgroups of 64 threads at most, and 65 are asked for",
            "the kernel states the limit: `.maxntid`, which is `__launch_bounds__` in CUDA C++",
        )
        with self.assertRaises(TypeError) as caught:
            self.saxpy[1, 32](100, 2.0, x, x, sahred=1)
        self.assertIn("a launch has no option `sahred`; it has config, dynamic_shared, energy", str(caught.exception))

    def test_kernels(self):
        module = cuda.Module(SUITE / "scan.ptx")
        name = SUITE / "scan.ptx"
        for act in (lambda: module.scan_block, lambda: module["scan_block"]):
            self.check(act, f"`{name}` has no kernel `scan_block`", "did you mean `scan_blocks`?")
        self.check(lambda: module.x, f"`{name}` has no kernel `x`", "its kernels: scan_blocks, add_offsets")
        self.assertFalse(hasattr(module, "scan_block"))
        two = ".version 7.0\n.target sm_75\n.address_size 64\n.entry _Z1fi(.param .u32 a) { ret; }\n.entry _Z1ff(.param .f32 a) { ret; }\n"
        self.check(
            lambda: cuda.Module(two).f,
            "`f.ptx` has 2 kernels `f`",
            "take the name of the PTX: _Z1fi, _Z1ff",
        )

    def test_modules(self):
        self.check(
            lambda: cuda.Module("nothing\n"),
            "`the PTX` is no PTX: it has no `.version`",
            "cuda.Module takes PTX, or the path of a .ptx, .cu or .cl file",
        )
        self.check(
            lambda: cuda.Module("saxpy"),
            "`saxpy` is neither PTX nor the path of a file with kernels",
            "cuda.Module takes PTX, or the path of a .ptx, .cu or .cl file",
        )
        narrow = self.write("narrow.ptx", ".version 7.0\n.target sm_75\n.address_size 32\n")
        self.check(
            lambda: cuda.Module(narrow),
            f"`{narrow}` has addresses of 32 bits",
            "compile it for 64 bits: `.address_size 64`",
            ws.Place(str(narrow), 3, 15),
        )
        self.check(
            lambda: cuda.Module(self.write("old.ptx", ".version 7.0\n.target sm_75\n")),
            f"`{self.folder / 'old.ptx'}` has addresses of 32 bits",
            "compile it for 64 bits: `.address_size 64`",
            ws.Place(str(self.folder / "old.ptx"), 1, 1),
        )
        with self.assertRaises(ws.Error) as caught:
            cuda.Module("missing.ptx")
        self.assertIn("cannot read `missing.ptx`", caught.exception.message)
        # The front end refuses what a kernel does, with its place.
        wrong = module_of("", "    tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [t, {%f1, %f2}];")
        with self.assertRaises(ws.Error) as caught:
            wrong.kernel[1, 1]()
        self.assertEqual(caught.exception.place.file, "kernel.ptx")
        with self.assertRaises(TypeError):
            cuda.Module(SUITE / "scan.ptx", gird=1)

    def test_device_memory(self):
        self.check(
            lambda: cuda.empty(5 << 30, np.uint8),
            f"{5 << 30} bytes do not fit into device memory: {cuda._memory.END - cuda._memory.SPACE._first} of its 4 GiB are free",
            "addresses have 32 bits; delete device arrays, or use less data",
        )
        self.check(
            lambda: cuda.empty(3, object),
            "a device array holds numbers, and not objects of Python",
            "choose another dtype",
        )
        array = cuda.empty(3, np.float32)
        for act in (lambda: array.copy_to_device(np.zeros(4, np.float32)), lambda: array.copy_to_host(np.zeros(4, np.float32))):
            self.check(
                act,
                "the device array has the shape (3,) of float32, and the array (4,) of float32",
                "a copy does not convert: use `astype` and `reshape` first",
            )
        with self.assertRaises(ws.Error) as caught:
            module_of("", "", variables=f".global .align 4 .b8 large[{array.address + 4096}];")
        self.assertIn("take device memory up to", caught.exception.message)
        self.assertEqual(caught.exception.hint, "make the module before the first array, or delete the arrays")

    def test_a_kernel_that_faults(self):
        module = module_of(".param .u64 from, .param .u64 to", COPY)
        x, y = np.array([5], np.uint32), np.zeros(1, np.uint32)
        with self.assertRaises(ws.Fault) as caught:
            module.kernel[1, 1](x, 0xFFFF_FF00)
        self.assertEqual(caught.exception.file, "kernel.ptx")
        # Addresses of the launch that failed are free again.
        module.kernel[1, 1](x, y)
        self.assertEqual(y[0], 5)


if __name__ == "__main__":
    unittest.main()
