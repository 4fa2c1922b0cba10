"""Kernels in PTX, CUDA C++ and OpenCL C, launched with arrays of NumPy.

    >>> from wave_sim import cuda
    >>> module = cuda.Module("saxpy.cu", "t4")
    >>> result = module.saxpy[4, 256](1024, 2.5, x, y)
    >>> result.cycles
"""

from ._memory import DeviceArray, empty, to_device
from ._module import Configured, Function, Module
from ._ptx import Parameter
from ._values import numba_arguments

__all__ = [
    "Configured",
    "DeviceArray",
    "Function",
    "Module",
    "Parameter",
    "empty",
    "numba_arguments",
    "to_device",
]
