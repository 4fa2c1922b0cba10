"""Arguments of Triton's kernels: what the launcher makes of them. Triton is not needed."""

import struct
import unittest

import numpy as np

import wave_sim as ws
from wave_sim import cuda
from wave_sim.cuda._memory import HostArray, HostMemory, host_array
from wave_sim.triton._arguments import Pointer, flattened, specialised, values_of


class Packing(unittest.TestCase):
    def pack(self, ty, argument):
        (value,) = values_of([ty], [argument], ["a"], "k")
        return value

    def test_numbers(self):
        for ty, argument, wanted in (
            ("i1", True, b"\1"),
            ("u1", np.bool_(False), b"\0"),
            ("i8", -1, b"\xff"),
            ("i16", -2, struct.pack("<h", -2)),
            ("i32", np.int64(7), struct.pack("<i", 7)),
            ("i64", 2**40, struct.pack("<q", 2**40)),
            ("u64", 2**63, struct.pack("<Q", 2**63)),
            ("fp16", 0.1, np.float16(0.1).tobytes()),
            ("bf16", 1.0, b"\x80\x3f"),
            ("bf16", 1.00390625, b"\x80\x3f"),
            ("bf16", 1.01171875, b"\x82\x3f"),
            ("bf16", float("inf"), b"\x80\x7f"),
            ("fp32", 2, struct.pack("<f", 2)),
            ("fp32", 0.1, struct.pack("<f", 0.1)),
            ("fp64", 0.1, struct.pack("<d", 0.1)),
        ):
            with self.subTest(type=ty, argument=argument):
                self.assertEqual(self.pack(ty, argument), wanted)

    def test_constants_of_compile_time_are_left_out_and_tuples_are_flat(self):
        signature = ["i32", "constexpr", ("constexpr", "i32", ("fp32",)), "*fp32"]
        arguments = [1, 128, (2, 3, (4.0,)), None]
        self.assertEqual(list(flattened(signature, arguments)), [("i32", 1), ("i32", 3), ("fp32", 4.0), ("*fp32", None)])
        values = values_of(signature, arguments, ["a", "b", "c", "d"], "k")
        self.assertEqual([len(value) for value in values], [4, 4, 4, 8])

    def test_arrays(self):
        array = np.zeros((4, 6), np.float32)
        self.assertIsInstance(self.pack("*fp32", array), HostArray)
        device = cuda.empty(4)
        self.assertIs(self.pack("*fp64", device), device)
        self.assertEqual(self.pack("*fp64", device.address), struct.pack("<Q", device.address))
        self.assertEqual(self.pack("*fp64", None), bytes(8))
        # Strides are arguments of their own, so that an array need not be contiguous.
        self.assertIsInstance(self.pack("*fp32", array.T[::2]), HostArray)

    def test_parts_of_an_array_lie_as_on_the_host(self):
        array = np.arange(48, dtype=np.float32).reshape(6, 8)
        parts = [array, array[1:], array[::-1], array.T[3]]
        hosts = [host_array(part, "x") for part in parts]
        with HostMemory(hosts) as memory:
            first = memory.address(hosts[0])
            self.assertEqual(first % 256, 0)
            self.assertEqual([memory.address(host) - first for host in hosts], [0, 32, 160, 12])
            self.assertEqual(len(memory.regions), 1)
        # A part alone has the alignment that it has inside the whole.
        part = array[1:]
        with HostMemory([host_array(part, "x")]) as memory:
            self.assertEqual(memory.address(host_array(part, "x")) % 256, 32)
            self.assertEqual(memory.regions[0].end - memory.regions[0].start, part.nbytes)
        self.assertEqual(Pointer(part).data_ptr() % 256, 32)

    def test_what_the_binder_sees(self):
        array = np.zeros(4, np.float16)
        self.assertEqual((specialised(array).dtype, specialised(array).data_ptr()), (np.float16, 0))
        self.assertEqual(type(specialised(np.int32(3))), int)
        self.assertEqual(type(specialised(np.float32(3))), float)
        self.assertEqual(specialised("text"), "text")
        first, (second, third) = specialised((np.int8(1), (array, 2)))
        self.assertEqual((first, type(second), third), (1, Pointer, 2))

    def test_wrong_input(self):
        for ty, argument, message, hint in (
            ("i32", "x", "argument `a` of kernel `k` is of the type str, and the kernel takes i32", "pass a number"),
            (
                "*fp32",
                [1.0],
                "argument `a` of kernel `k` is of the type list, and the kernel takes an address",
                "pass an array of NumPy",
            ),
            (
                "tensordesc<fp32[16, 16]>",
                None,
                "argument `a` of kernel `k` is a tensor descriptor of the host",
                "make it in the kernel: `tl.make_tensor_descriptor`",
            ),
            (
                "*fp32",
                np.array([object()]),
                "argument `a` of kernel `k` is an array with objects of Python, and not numbers",
                "convert it: `astype`",
            ),
        ):
            with self.subTest(message=message), self.assertRaises(ws.Error) as caught:
                self.pack(ty, argument)
            self.assertEqual((caught.exception.message, caught.exception.hint), (message, hint))


if __name__ == "__main__":
    unittest.main()
