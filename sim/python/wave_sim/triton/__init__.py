"""Kernels of Triton on the simulator, without a GPU.

    >>> import wave_sim.triton
    >>> with wave_sim.triton.device("a100") as device:
    ...     kernel[grid](x, y, n, BLOCK=128)
    >>> device.results[-1].cycles

`kernel` is a function with `@triton.jit`, and `x` and `y` are arrays of NumPy. Triton is not a part of this package:
`pip install triton`.
"""

from __future__ import annotations

from typing import Any

from .._config import Config
from .._kernel import Word
from ._device import _STACK, Device, activate

__all__ = ["Device", "device", "use"]


def device(config: Config | Word | None = None, *, arch: int = 75, **options: Any) -> Device:
    """A device for a `with` block: kernels that Triton launches there run on this machine.

    `arch` is the compute capability that Triton compiles for, times 10. With 75, matrix products are products and sums of
    the lanes. `options` are those of `wave_sim.run` for every launch, such as `functional=True`."""
    return Device(config, arch=arch, **options)


_used: list[Device] = []


def use(config: Config | Word | None = None, *, arch: int = 75, **options: Any) -> Device:
    """Makes a device active until its `close`, or until the next `use`. Its parameters are those of `device`."""
    made = Device(config, arch=arch, **options)
    activate(made)
    while _used:
        before = _used.pop()
        if before in _STACK:
            _STACK.remove(before)
    _used.append(made)
    return made
