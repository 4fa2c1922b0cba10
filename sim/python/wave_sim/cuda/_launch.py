"""Launches of kernels in PTX: arguments, device memory, the run, and the copies back."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Mapping, Sequence

import numpy

from .._config import Config
from .._errors import Error
from .._kernel import Kernel
from .._run import Result, run
from ._errors import wrong
from ._memory import END, SPACE, HostArray, HostMemory, rounded
from ._ptx import Entry, source_name
from ._values import Value, words_of

#: Device memory grows in steps of so many bytes.
_STEP = 1 << 20
#: The special register with the bytes of dynamic shared memory. A launch knows the number.
_DYNAMIC_SHARED = "%dynamic_smem_size"
#: Words of the messages about too little room for the private memory of threads, which lies at the top.
_NO_ROOM = "private memory"


def sizes_of(sizes: Any, what: str) -> tuple[int, int, int]:
    """Sizes of a grid or a workgroup in three dimensions."""
    listed = list(sizes) if isinstance(sizes, (tuple, list)) else [sizes]
    whole = [size for size in listed if isinstance(size, (int, numpy.integer)) and size > 0]
    if not 1 <= len(listed) <= 3 or len(whole) < len(listed):
        raise wrong(f"{what} is {sizes!r}", "it has one to three sizes, which are integers from 1 on")
    x, y, z = ([int(size) for size in whole] + [1, 1])[:3]
    return x, y, z


def check_block(entry: Entry, block: tuple[int, int, int]) -> None:
    """Checks a workgroup against what the kernel declares."""
    name, threads = source_name(entry.name), block[0] * block[1] * block[2]
    if entry.required is not None and block != tuple(entry.required):
        needs = ", ".join(map(str, entry.required))
        message = f"kernel `{name}` needs workgroups of ({needs}) threads, and {block} are asked for"
        raise wrong(message, "the kernel states the size: `.reqntid`")
    if entry.most_threads is not None and threads > entry.most_threads:
        most = entry.most_threads
        message = f"kernel `{name}` takes workgroups of {most} threads at most, and {threads} are asked for"
        raise wrong(message, "the kernel states the limit: `.maxntid`, which is `__launch_bounds__` in CUDA C++")


def launch(
    kernel: Kernel,
    ptx: str,
    entry: Entry,
    config: Config,
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    values: Sequence[Value],
    dynamic_shared: int,
    options: Mapping[str, Any],
) -> Result:
    """Runs a kernel. Arrays of the host are copied to the device before and back afterwards. All device arrays are in
    device memory, since a kernel may find the address of one in another."""
    kernel = _with_dynamic_shared(kernel, ptx, dynamic_shared)
    with HostMemory(value for value in values if isinstance(value, HostArray)) as memory:
        words = words_of(entry, values, memory)
        arrays = SPACE.arrays()
        buffers: dict[str | int, Any] = {region.address: region.bytes() for region in memory.regions}
        buffers.update({array.address: array._contents for array in arrays if array.nbytes})
        result = _run(kernel, entry, config, grid, block, words, buffers, dynamic_shared, options)
        for array in arrays:
            array._contents[...] = result.memory[array.address : array.address + array.nbytes]
        for region in memory.regions:
            contents = result.memory[region.address : region.address + region.end - region.start]
            if region.is_writable:
                region.bytes()[...] = contents
            elif not numpy.array_equal(region.bytes(), contents):
                message = f"kernel `{source_name(entry.name)}` has written an array that is read-only on the host"
                raise wrong(message, "pass a copy of the array")
    return result


def _with_dynamic_shared(kernel: Kernel, ptx: str, bytes_: int) -> Kernel:
    """The kernel with a number in place of the special register, which kernels of numba read."""
    if _DYNAMIC_SHARED not in ptx:
        return kernel
    return Kernel.from_source(ptx.replace(_DYNAMIC_SHARED, str(bytes_)), "ptx", Path(kernel.name).stem)


def _run(
    kernel: Kernel,
    entry: Entry,
    config: Config,
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    words: list[str],
    buffers: Mapping[str | int, Any],
    dynamic_shared: int,
    options: Mapping[str, Any],
) -> Result:
    """Runs a kernel on a machine with enough memory: that of the configuration, or more if arrays need it."""
    given = {**options, "flags": [f"--dynamic-local={dynamic_shared}", *options.get("flags", ())]}
    own = int(config.get("device_memory_bytes"))
    need = max(own, rounded(SPACE.end(), _STEP))
    while True:
        try:
            return run(
                kernel,
                config,
                entry=entry.name,
                args=words,
                buffers=buffers,
                grid=grid,
                workgroup=block,
                device_memory=None if need == own else need,
                **given,
            )
        except Error as error:
            if _NO_ROOM not in error.message or 2 * need > END:
                raise
            need = rounded(2 * need, _STEP)
