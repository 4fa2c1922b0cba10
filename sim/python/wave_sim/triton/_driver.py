"""A driver for Triton: its kernels become PTX, and launches run on the simulator."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Callable, NamedTuple

from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase
from triton.backends.nvidia.compiler import CUDABackend

from .._kernel import Kernel
from ..cuda._memory import SPACE
from ..cuda._ptx import Entry, read

if TYPE_CHECKING:
    from ._device import Device

#: The version of PTX that Triton writes, times 10. Its default is that of the newest assembler.
_PTX_VERSION = 85


class Compiler(CUDABackend):  # type: ignore[misc]
    """Triton's compiler for NVIDIA's GPUs up to PTX, without NVIDIA's assembler."""

    def parse_options(self, opts: Any) -> Any:
        """Triton's options, with the version of PTX."""
        options = dict(opts)
        if options.get("ptx_version") is None:
            options["ptx_version"] = _PTX_VERSION
        return super().parse_options(options)

    def make_cubin(self, src: str, metadata: Any, opt: Any, capability: int) -> bytes:
        """The PTX, where a GPU needs its own code."""
        return src.encode()

    @functools.lru_cache()
    def hash(self) -> str:
        """Tells the results apart from those for a GPU in Triton's cache on disk."""
        return f"wave-sim-ptx{_PTX_VERSION}-{self.target.arch}"


class Loaded(NamedTuple):
    """A kernel that Triton has compiled."""

    name: str
    kernel: Kernel
    ptx: str
    entry: Entry


class Utils:
    """Answers to Triton's questions about a GPU."""

    def __init__(self, device: Callable[[], Device]):
        self._device = device

    def load_binary(self, name: str, binary: bytes, shared: int, device: Any) -> tuple[Any, ...]:
        """Makes a kernel of PTX: module, function, registers, spilled registers, most threads of a workgroup."""
        ptx = binary.decode() if isinstance(binary, bytes) else binary
        text = read(ptx, f"{name}.ptx")
        SPACE.reserve(text.variables_end, f"{name}.ptx")
        plain = "".join(letter for letter in name if letter.isalnum() or letter == "_")[:64]
        loaded = Loaded(name, Kernel.from_source(ptx, "ptx", plain), ptx, text.entries[name])
        return loaded, loaded, 0, 0, self.get_device_properties(device)["max_threads_per_block"]

    def unload_module(self, module: Any) -> None:
        """Nothing is loaded on a device."""

    def get_device_properties(self, device: Any = None) -> dict[str, int]:
        """Properties of the machine, under CUDA's names."""
        config = self._device().config
        core, l2 = config.to_dict()["core"], config.to_dict()["l2"]
        return {
            "max_shared_mem": core["local_memory_bytes"],
            "max_num_regs": core["register_file_bytes"] // 4,
            "max_threads_per_block": core["max_workgroup_size"],
            "multiprocessor_count": int(config.get("cores")),
            "warpSize": core["wave_width"],
            "sm_clock_rate": int(config.get("core_clock_mhz")) * 1000,
            "mem_clock_rate": int(config.get("dram.clock_mhz")) * 1000,
            "mem_bus_width": int(config.get("dram.bus_bits")) * int(config.get("dram.channels")),
            "l2_cache_size": l2["slice_bytes"] * l2["slices"],
        }


class Driver(DriverBase):  # type: ignore[misc]
    """The driver of the active device."""

    def __init__(self, device: Callable[[], Device], launcher: Any):
        self._device = device
        self.utils = Utils(device)
        self.launcher_cls = launcher

    @classmethod
    def is_active(cls) -> bool:
        """Triton never chooses it itself."""
        return False

    def map_python_to_cpp_type(self, ty: str) -> str:
        """The type itself: no code in C is made here."""
        return ty

    def get_current_target(self) -> Any:
        """The target of Triton's compiler."""
        return GPUTarget("cuda", self._device().arch, 32)

    def get_current_device(self) -> Any:
        """The key under which Triton keeps compiled kernels."""
        return self._device()._key

    def set_current_device(self, device: Any) -> None:
        """There is one device: the active one."""

    def get_current_stream(self, device: Any = None) -> int:
        """Launches run in order, in one stream."""
        return 0

    def get_device_capability(self, device: Any = None) -> tuple[int, int]:
        """The compute capability that Triton compiles for."""
        return divmod(self._device().arch, 10)

    def get_active_torch_device(self) -> Any:
        """The device for tensors of PyTorch: the host, whose memory a launch copies."""
        import torch

        return torch.device("cpu")

    def get_benchmarker(self) -> Callable[..., Any]:
        """The stopwatch of `triton.autotune`, which shows simulated time."""
        from ._device import benchmark

        return benchmark

    def get_empty_cache_for_benchmark(self) -> Any:
        """Nothing: caches are empty at the beginning of each launch."""
        return None

    def clear_cache(self, cache: Any) -> None:
        """Nothing: as above."""
