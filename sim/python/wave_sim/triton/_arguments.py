"""Arguments of Triton's kernels as values for the parameters of their PTX. Nothing here needs Triton itself."""

from __future__ import annotations

from numbers import Real
from typing import Any, Iterable, Iterator, Sequence

import numpy

from ..cuda._errors import wrong
from ..cuda._memory import DeviceArray, host_array, is_host_array
from ..cuda._values import Value, float_bytes, number

#: Bytes of Triton's types of floats.
_FLOATS = {"fp16": 2, "f16": 2, "fp32": 4, "f32": 4, "fp64": 8, "f64": 8}


def flattened(signature: Iterable[Any], arguments: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    """The types of a signature with their arguments, those of tuples one by one, without constants of compile time."""
    for ty, argument in zip(signature, arguments):
        if isinstance(ty, tuple):
            yield from flattened(ty, argument)
        elif ty != "constexpr":
            yield ty, argument


def values_of(signature: Sequence[Any], arguments: Sequence[Any], names: Sequence[str], kernel: str) -> list[Value]:
    """The arguments of a launch. `names` are those of the parameters, for messages."""
    values: list[Value] = []
    for name, ty, argument in zip(names, signature, arguments):
        what = f"argument `{name}` of kernel `{kernel}`"
        values += [_value(part, one, what) for part, one in flattened([ty], [argument])]
    return values


def _value(ty: str, argument: Any, what: str) -> Value:
    if ty.startswith("tensordesc"):
        raise wrong(f"{what} is a tensor descriptor of the host", "make it in the kernel: `tl.make_tensor_descriptor`")
    if ty.startswith("*"):
        return _pointer(argument, what)
    if not isinstance(argument, (Real, numpy.bool_)):
        raise wrong(f"{what} is of the type {type(argument).__name__}, and the kernel takes {ty}", "pass a number")
    if ty in _FLOATS:
        return float_bytes(float(argument), _FLOATS[ty])
    if ty == "bf16":
        return _bf16(float(argument))
    # A truth value has a byte, as every type of less than 8 bits.
    return number(f"{'u' if ty[0] == 'u' else 's'}{max(int(ty[1:]), 8)}", argument, what)


def _bf16(value: float) -> bytes:
    """The upper half of an f32, rounded to nearest even."""
    bits = int.from_bytes(float_bytes(value, 4), "little")
    if value == value:
        bits += 0x7FFF + (bits >> 16 & 1)
    return (bits >> 16 & 0xFFFF).to_bytes(2, "little")


def _pointer(argument: Any, what: str) -> Value:
    # `triton.reinterpret` gives the array with another type of elements.
    while hasattr(argument, "base") and hasattr(argument, "data_ptr") and not is_host_array(argument):
        argument = argument.base
    if isinstance(argument, DeviceArray):
        return argument
    if is_host_array(argument):
        return host_array(argument, what)
    if argument is None:
        return bytes(8)
    if isinstance(argument, (int, numpy.integer)):
        return number("u64", argument, what)
    message = f"{what} is of the type {type(argument).__name__}, and the kernel takes an address"
    raise wrong(message, "pass an array of NumPy")


class Pointer:
    """An array as Triton specialises a kernel for it: the type of its elements, and the alignment that it has on the
    device."""

    def __init__(self, array: Any):
        #: The type of its elements.
        self.dtype = array.dtype
        host = host_array(array, "an argument")
        self._address = host.pointer - host.root

    def data_ptr(self) -> int:
        """An address with the alignment of the array's."""
        return self._address


def specialised(argument: Any) -> Any:
    """An argument as Triton's binder takes it."""
    if is_host_array(argument):
        return Pointer(argument)
    if isinstance(argument, numpy.generic):
        return argument.item()
    if isinstance(argument, tuple):
        parts = [specialised(part) for part in argument]
        return type(argument)(*parts) if hasattr(argument, "_fields") else tuple(parts)
    return argument
