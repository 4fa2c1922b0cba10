"""Device memory: addresses, arrays that stay on the device, and the bytes of arrays of the host."""

from __future__ import annotations

import ctypes
import sys
import threading
import weakref
from dataclasses import dataclass
from typing import Any, Iterable

import numpy

from ._errors import wrong

#: Allocations begin at multiples of so many bytes, as CUDA promises.
ALIGNMENT = 256
#: Addresses of WAVE have 32 bits.
END = 1 << 32
#: The variables of modules lie below this address, unless one needs more.
FIRST = 1 << 20


def rounded(bytes_: int, unit: int = ALIGNMENT) -> int:
    """The next multiple of a unit."""
    return -(-bytes_ // unit) * unit


class Space:
    """The addresses that are taken. All launches of the process share them: an array has one address on every machine."""

    def __init__(self) -> None:
        # Reentrant: the collector may delete an array while addresses are taken.
        self._lock = threading.RLock()
        self._first = FIRST
        self._taken: dict[int, int] = {}
        self._arrays: weakref.WeakValueDictionary[int, DeviceArray] = weakref.WeakValueDictionary()

    def reserve(self, end: int, file: str) -> None:
        """Keeps addresses up to an end for the variables of a module."""
        with self._lock:
            end = rounded(end)
            if self._taken and min(self._taken) < end:
                message = f"the variables of `{file}` take device memory up to 0x{end:x}, where arrays lie"
                raise wrong(message, "make the module before the first array, or delete the arrays")
            self._first = max(self._first, end)

    def allocate(self, bytes_: int) -> int:
        """Takes the lowest addresses where there is room."""
        with self._lock:
            size, at = rounded(max(bytes_, 1)), self._first
            for start, length in sorted(self._taken.items()):
                if start - at >= size:
                    break
                at = max(at, start + length)
            if at + size > END:
                free = END - self._first - sum(list(self._taken.values()))
                message = f"{bytes_} bytes do not fit into device memory: {free} of its 4 GiB are free"
                raise wrong(message, "addresses have 32 bits; delete device arrays, or use less data")
            self._taken[at] = size
            return at

    def release(self, address: int) -> None:
        """Gives addresses back."""
        with self._lock:
            del self._taken[address]

    def end(self) -> int:
        """The end of the last addresses that are taken."""
        with self._lock:
            return max((start + size for start, size in list(self._taken.items())), default=self._first)

    def keep(self, array: DeviceArray) -> None:
        """Remembers an array as long as it lives."""
        self._arrays[array.address] = array

    def arrays(self) -> list[DeviceArray]:
        """The arrays that live, by address."""
        return [array for _, array in sorted(self._arrays.items())]


#: The addresses of this process.
SPACE = Space()


class DeviceArray:
    """An array that stays in device memory over launches, at one address, until Python deletes it. Launches on every
    machine see the array. `to_device` and `empty` make one."""

    def __init__(self, shape: int | Iterable[int], dtype: Any):
        #: The type of its elements.
        self.dtype: numpy.dtype[Any] = numpy.dtype(dtype)
        if self.dtype.hasobject:
            raise wrong("a device array holds numbers, and not objects of Python", "choose another dtype")
        #: Its length in each dimension.
        self.shape: tuple[int, ...] = (shape,) if isinstance(shape, int) else tuple(int(size) for size in shape)
        #: The number of its elements.
        self.size: int = 1
        for length in self.shape:
            self.size *= length
        #: Its bytes.
        self.nbytes: int = self.size * self.dtype.itemsize
        #: Where it lies in device memory.
        self.address: int = SPACE.allocate(self.nbytes)
        weakref.finalize(self, SPACE.release, self.address).atexit = False
        #: Its contents between launches.
        self._contents: numpy.ndarray[Any, Any] = numpy.zeros(self.nbytes, numpy.uint8)
        SPACE.keep(self)

    @property
    def ndim(self) -> int:
        """The number of its dimensions."""
        return len(self.shape)

    def _view(self) -> numpy.ndarray[Any, Any]:
        return self._contents.view(self.dtype).reshape(self.shape)

    def copy_to_host(self, out: numpy.ndarray[Any, Any] | None = None) -> numpy.ndarray[Any, Any]:
        """A copy as an array of NumPy, or into `out`, which it returns then."""
        if out is None:
            return self._view().copy()
        self._check_like(out)
        out[...] = self._view()
        return out

    def copy_to_device(self, source: Any) -> None:
        """Fills it with an array of the same shape and type."""
        array = source.copy_to_host() if isinstance(source, DeviceArray) else numpy.asarray(source)
        self._check_like(array)
        self._view()[...] = array

    def _check_like(self, array: numpy.ndarray[Any, Any]) -> None:
        if array.shape != self.shape or array.dtype != self.dtype:
            message = (
                f"the device array has the shape {self.shape} of {self.dtype}, "
                f"and the array {array.shape} of {array.dtype}"
            )
            raise wrong(message, "a copy does not convert: use `astype` and `reshape` first")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> numpy.ndarray[Any, Any]:
        array = self.copy_to_host()
        return array if dtype is None else array.astype(dtype)

    def data_ptr(self) -> int:
        """Its address, under the name that PyTorch and Triton have for it."""
        return self.address

    def zero_(self) -> DeviceArray:
        """Fills it with zeros. The name is PyTorch's: Triton's `reset_to_zero` calls it."""
        self._contents[...] = 0
        return self

    def clone(self) -> DeviceArray:
        """Another device array with the same contents. The name is PyTorch's: Triton's `restore_value` calls it."""
        other = DeviceArray(self.shape, self.dtype)
        other._contents[...] = self._contents
        return other

    def copy_(self, source: Any) -> DeviceArray:
        """`copy_to_device` under PyTorch's name."""
        self.copy_to_device(source)
        return self

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<DeviceArray {self.shape} of {self.dtype} at 0x{self.address:x}>"


def to_device(array: Any) -> DeviceArray:
    """A device array with the contents of an array of NumPy, or of anything that becomes one."""
    host = numpy.asarray(array)
    made = DeviceArray(host.shape, host.dtype)
    made.copy_to_device(host)
    return made


def empty(shape: int | Iterable[int], dtype: Any = "float64") -> DeviceArray:
    """A device array of zeros: the simulated memory begins with them."""
    return DeviceArray(shape, dtype)


@dataclass(frozen=True)
class HostArray:
    """The bytes of an array of the host."""

    #: The address of its first element.
    pointer: int
    #: Where its bytes begin and end.
    start: int
    end: int
    #: Where the allocation begins that it is a part of.
    root: int
    is_writable: bool
    is_contiguous: bool
    #: The object that keeps the bytes alive.
    owner: Any


def is_tensor(value: Any) -> bool:
    """True for a tensor of PyTorch, which need not be installed."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def is_host_array(value: Any) -> bool:
    """True for what `host_array` takes."""
    return isinstance(value, numpy.ndarray) or is_tensor(value)


def host_array(value: Any, what: str) -> HostArray:
    """The bytes of an array of NumPy, or of a tensor of PyTorch in the memory of the host. `what` names it in messages."""
    if is_tensor(value):
        if value.device.type != "cpu":
            raise wrong(f"{what} is a tensor on `{value.device}`", "the simulator takes tensors of the host: `.cpu()`")
        pointer, item = value.data_ptr(), value.element_size()
        last = sum((size - 1) * step for size, step in zip(value.shape, value.stride())) if value.numel() else -1
        root, end = value.untyped_storage().data_ptr(), pointer + (last + 1) * item
        return HostArray(pointer, pointer, end, root, True, value.is_contiguous(), value)
    if value.dtype.hasobject:
        raise wrong(f"{what} is an array with objects of Python, and not numbers", "convert it: `astype`")
    if not value.dtype.isnative:
        message = f"{what} is an array of {value.dtype.str}, whose bytes have another order"
        raise wrong(message, "convert it: `astype`")
    pointer = value.ctypes.data
    reach = [(size - 1) * step for size, step in zip(value.shape, value.strides)] if value.size else []
    start = pointer + sum(step for step in reach if step < 0)
    end = pointer + sum(step for step in reach if step > 0) + (value.itemsize if value.size else 0)
    root = value
    while isinstance(root.base, numpy.ndarray):
        root = root.base
    begins = min(root.ctypes.data, start)
    return HostArray(pointer, start, end, begins, value.flags.writeable, value.flags.c_contiguous, value)


class HostMemory:
    """The copy in device memory of the arrays of the host that a launch takes. Arrays that share bytes share them there,
    too. Parts of an array keep their distance from its beginning."""

    def __init__(self, arrays: Iterable[HostArray]):
        self.arrays = [array for array in arrays if array.end > array.start]
        self.regions: list[_Region] = []
        for number, array in sorted(enumerate(self.arrays), key=lambda one: one[1].start):
            last = self.regions[-1] if self.regions else None
            if last is not None and array.start < last.end:
                last.end = max(last.end, array.end)
                last.is_writable |= array.is_writable
                last.number = min(last.number, number)
            else:
                self.regions.append(_Region(array.start, array.end, array.root, array.is_writable, number))
        # Addresses on the device, and so the cycles, follow from the arguments and not from addresses of the host.
        self.regions.sort(key=lambda region: region.number)

    def __enter__(self) -> HostMemory:
        try:
            for region in self.regions:
                # The distance from the beginning of the allocation says how the address is aligned.
                skipped = (region.start - region.root) % ALIGNMENT
                region.allocated = SPACE.allocate(skipped + region.end - region.start)
                region.address = region.allocated + skipped
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for region in self.regions:
            if region.allocated:
                SPACE.release(region.allocated)

    def address(self, array: HostArray) -> int:
        """Where the first element of an array lies; of an empty one, an address that nothing has."""
        for region in self.regions:
            if region.start <= array.start < region.end and array.end > array.start:
                return region.address + array.pointer - region.start
        return 0


@dataclass
class _Region:
    """Bytes of the host, and where they lie in device memory."""

    start: int
    end: int
    root: int
    is_writable: bool
    #: The first array that lies here.
    number: int
    allocated: int = 0
    address: int = 0

    def bytes(self) -> numpy.ndarray[Any, Any]:
        """Its bytes on the host, not copied."""
        block = (ctypes.c_char * (self.end - self.start)).from_address(self.start)
        found: numpy.ndarray[Any, Any] = numpy.frombuffer(memoryview(block).cast("B"), numpy.uint8)
        return found
