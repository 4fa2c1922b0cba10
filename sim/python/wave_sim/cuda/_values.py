"""Arguments of a launch as the bytes that the parameters of a kernel take."""

from __future__ import annotations

import ctypes
import struct
from numbers import Integral, Real
from typing import Any, Sequence, Union

import numpy

from ._errors import wrong
from ._memory import DeviceArray, HostArray, HostMemory, host_array, is_host_array
from ._ptx import Entry, Parameter, source_name

#: The bytes of a value, an array, or an address on the device.
Value = Union[bytes, HostArray, DeviceArray]

_FLOATS = {2: "<e", 4: "<f", 8: "<d"}


def values_of(entry: Entry, arguments: Sequence[Any]) -> list[Value]:
    """The arguments of a launch, in the types of the kernel's parameters."""
    name = source_name(entry.name)
    if len(arguments) != len(entry.parameters):
        raise wrong(_wrong_number(entry, name, len(arguments)), _hint_of_number(entry, arguments))
    return [
        _value(parameter, argument, f"argument {number + 1} of kernel `{name}`")
        for number, (parameter, argument) in enumerate(zip(entry.parameters, arguments))
    ]


def _wrong_number(entry: Entry, name: str, given: int) -> str:
    types = ", ".join(parameter.type for parameter in entry.parameters)
    count = len(entry.parameters)
    takes = f"{count} argument{'' if count == 1 else 's'}{f' ({types})' if types else ''}"
    return f"kernel `{name}` takes {takes}, and {given} {'is' if given == 1 else 'are'} given"


def _hint_of_number(entry: Entry, arguments: Sequence[Any]) -> str:
    has_arrays = any(is_host_array(argument) or isinstance(argument, DeviceArray) for argument in arguments)
    if has_arrays and len(entry.parameters) > len(arguments):
        return "a kernel of numba takes an array as several parameters: `f[grid, block](*cuda.numba_arguments(...))`"
    return "an argument is an array, a number, or the bytes of a structure"


def _value(parameter: Parameter, argument: Any, what: str) -> Value:
    if isinstance(argument, DeviceArray):
        _check_pointer(parameter, what)
        return argument
    if isinstance(argument, (bytes, bytearray, memoryview, numpy.void, ctypes.Structure)):
        return _structure(parameter, argument, what)
    if is_host_array(argument):
        array = host_array(argument, what)
        _check_pointer(parameter, what)
        if not array.is_contiguous:
            hint = "`numpy.ascontiguousarray` copies it; what the kernel writes is in the copy then"
            raise wrong(f"{what} is an array whose elements are not contiguous", hint)
        return array
    if parameter.is_structure:
        kind, size = type(argument).__name__, parameter.bytes
        message = f"{what} is of the type {kind}, and the parameter is a structure of {size} bytes"
        raise wrong(message, "pass its bytes, a scalar of a structured dtype, or a ctypes.Structure")
    return number(parameter.type, argument, what)


def _check_pointer(parameter: Parameter, what: str) -> None:
    if parameter.type not in ("u64", "s64", "b64"):
        message = f"{what} is an array, and the parameter has the type {parameter.type}"
        raise wrong(message, "a pointer has 64 bits; pass a number here")


def _structure(parameter: Parameter, value: Any, what: str) -> bytes:
    contents = bytes(value)
    if len(contents) != parameter.bytes:
        message = f"{what} has {len(contents)} bytes, and the parameter {parameter.type} has {parameter.bytes}"
        raise wrong(message, "a structure has the layout of C, with the bytes that its alignment leaves free")
    return contents


def number(ty: str, value: Any, what: str) -> bytes:
    """A number in a type of PTX, such as `u32`."""
    kind, bits = ty[0], int(ty[1:])
    if isinstance(value, (bool, numpy.bool_)):
        value = int(value)
    is_float = isinstance(value, Real) and not isinstance(value, Integral)
    if not isinstance(value, Real):
        message = f"{what} is of the type {type(value).__name__}, and the parameter has the type {ty}"
        raise wrong(message, "pass a number, an array of NumPy, or a device array")
    if kind == "f" or kind == "b" and is_float:
        if bits // 8 not in _FLOATS:
            raise wrong(f"{what} is a float, and the parameter has the type {ty}", "pass an integer")
        return float_bytes(float(value), bits // 8)
    if is_float:
        message = f"{what} is the float {float(value)!r}, and the parameter has the type {ty}"
        raise wrong(message, "pass an integer: `int(...)`")
    exact: Any = value
    whole = int(exact)
    least, most = -(1 << bits - 1), (1 << bits) - 1
    if not least <= whole <= most:
        raise wrong(f"{what} is {whole}, and the parameter has the type {ty}", f"{ty} holds {least} to {most}")
    return int.to_bytes(whole & most, bits // 8, "little")


def float_bytes(value: float, size: int) -> bytes:
    """A float of so many bytes, rounded to nearest; infinite if it is too large."""
    with numpy.errstate(over="ignore"):
        rounded = {2: numpy.float16, 4: numpy.float32, 8: numpy.float64}[size](value)
    return struct.pack(_FLOATS[size], rounded)


def words_of(entry: Entry, values: Sequence[Value], memory: HostMemory) -> list[str]:
    """Values as `--param` takes them."""
    words = []
    for parameter, value in zip(entry.parameters, values):
        if isinstance(value, DeviceArray):
            words.append(f"u64:{value.address}")
        elif isinstance(value, HostArray):
            words.append(f"u64:{memory.address(value)}")
        elif parameter.is_structure and len(value) > 4:
            # More than a word: the bytes in the order of memory.
            words.append(f"hex:{value.hex()}")
        else:
            words.append(f"hex:{int.from_bytes(value, 'little'):x}")
    return words


def numba_arguments(*arguments: Any) -> list[Any]:
    """Arguments for the PTX of a kernel that numba has compiled. An array is seven parameters there or more, among them
    the number of its elements, its shape and its strides.

        ptx, _ = numba.cuda.compile_ptx(kernel, signature, cc=(7, 5))
        f = wave_sim.cuda.Module(ptx).kernel
        f[grid, block](*wave_sim.cuda.numba_arguments(x, y, 2.5))
    """
    flat: list[Any] = []
    for argument in arguments:
        if isinstance(argument, (numpy.ndarray, DeviceArray)):
            item = argument.dtype.itemsize
            strides = getattr(argument, "strides", None)
            if strides is None:
                strides = [item] * argument.ndim
                for axis in range(argument.ndim - 2, -1, -1):
                    strides[axis] = strides[axis + 1] * argument.shape[axis + 1]
            flat += [0, 0, argument.size, item, argument, *argument.shape, *strides]
        else:
            flat.append(argument)
    return flat
