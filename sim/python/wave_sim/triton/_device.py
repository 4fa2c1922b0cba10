"""The simulated machine that Triton's kernels run on."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Callable, NamedTuple, Sequence

import numpy

from .. import _wave_sim
from .._config import Config, config_of
from .._errors import Error
from .._kernel import Word
from .._run import Result
from ..cuda._errors import wrong
from ..cuda._launch import launch
from ..cuda._memory import DeviceArray, HostArray
from ..cuda._module import checked_options
from ..cuda._values import Value

if TYPE_CHECKING:
    from ._driver import Loaded

#: Words of the message about a kernel that a machine lacks resources for.
_TOO_LARGE = "cannot run"

#: The devices that are in use, the active one last.
_STACK: list[Device] = []


def active_device() -> Device:
    """The active device."""
    if not _STACK:
        hint = "`wave_sim.triton.use(\"a100\")`, or `with wave_sim.triton.device(...)`"
        raise wrong("no simulated device is active", hint)
    return _STACK[-1]


class _Kept(NamedTuple):
    """A run without device memory, so that many can be kept."""

    document: str
    calls: str | None
    outcome: str
    buffers: list[_wave_sim.Part]
    memory: numpy.ndarray[Any, Any]


def _kept(result: Result) -> Result:
    memory: numpy.ndarray[Any, Any] = numpy.empty(0, numpy.uint8)
    return Result(_Kept(result.document, None, result.outcome, [], memory))  # type: ignore[arg-type]


class _Trial:
    """Launches whose time is taken. At the end, arrays have what they had before."""

    def __init__(self) -> None:
        self.results: list[Result] = []
        self._saved: list[tuple[HostArray | DeviceArray, bytes]] = []

    def save(self, values: Sequence[Value]) -> None:
        """Remembers the contents of the arrays of a launch."""
        for value in values:
            if isinstance(value, HostArray):
                self._saved.append((value, ctypes.string_at(value.start, value.end - value.start)))
            elif isinstance(value, DeviceArray):
                self._saved.append((value, value._contents.tobytes()))

    def restore(self) -> None:
        """Puts the contents of the arrays back."""
        for array, contents in reversed(self._saved):
            if isinstance(array, DeviceArray):
                array._contents[...] = numpy.frombuffer(contents, numpy.uint8)
            elif array.is_writable:
                ctypes.memmove(array.start, contents, len(contents))


class Device:
    """A simulated machine for Triton. `device` and `use` make one.

    While it is active, each launch of a kernel of Triton runs on it, with arrays of NumPy, device arrays of
    `wave_sim.cuda`, or tensors of PyTorch in the memory of the host."""

    def __init__(self, config: Config | Word | None = None, *, arch: int = 75, **options: Any):
        #: The machine.
        self.config: Config = config_of(config)
        #: The compute capability that Triton compiles for, times 10.
        self.arch: int = arch
        #: The results of all launches, in order, without `memory`.
        self.results: list[Result] = []
        #: The results of the launches whose time `triton.autotune` and `do_bench` took.
        self.trials: list[Result] = []
        if not isinstance(arch, int) or not 70 <= arch < 200:
            raise wrong(f"arch is {arch!r}", "it is a compute capability times 10, such as 75 or 80")
        self._options = checked_options(options)
        self._key = f"wave-sim {self.config.hash} sm_{arch}"
        self._trial: _Trial | None = None

    @property
    def cycles(self) -> int:
        """Cycles of all launches together."""
        return sum(result.cycles or 0 for result in self.results)

    def milliseconds(self, results: Sequence[Result] | None = None) -> float:
        """Simulated time of launches, by default of all: their cycles at the clock of the cores."""
        cycles = self.cycles if results is None else sum(result.cycles or 0 for result in results)
        return cycles / (float(self.config.get("core_clock_mhz")) * 1000.0)

    def close(self) -> None:
        """Ends the use of this device. The one before becomes active, or the driver that Triton had."""
        if self in _STACK:
            _STACK.remove(self)
        if not _STACK:
            from ._patches import remove

            remove()

    def __enter__(self) -> Device:
        activate(self)
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        count = len(self.results)
        return f"<Device {self.config.name} for sm_{self.arch}: {count} launch{'' if count == 1 else 'es'}>"

    def _launch(
        self, loaded: Loaded, grid: tuple[int, int, int], threads: int, shared: int, values: Sequence[Value]
    ) -> None:
        """Runs a kernel, and keeps its result."""
        if len(values) != len(loaded.entry.parameters):
            message = f"Triton has compiled kernel `{loaded.name}` with {len(loaded.entry.parameters)} parameters"
            raise wrong(f"{message}, and {len(values)} are known here", "this version of Triton is not supported")
        if self._trial is not None:
            self._trial.save(values)
        result = launch(
            loaded.kernel,
            loaded.ptx,
            loaded.entry,
            self.config,
            grid,
            (threads, 1, 1),
            values,
            shared,
            self._options,
        )
        (self.results if self._trial is None else self._trial.results).append(_kept(result))

    def _time(self, act: Callable[[], Any]) -> float:
        """Milliseconds of the launches of a function. Arrays have what they had before."""
        if self._options.get("functional"):
            raise wrong("a run without timing has no time to measure", "make the device without `functional`")
        # The function may launch a kernel that `triton.autotune` tunes first. Those launches are not a part of its time.
        around, self._trial = self._trial, _Trial()
        trial = self._trial
        try:
            act()
        except Error as error:
            if _TOO_LARGE not in error.message:
                raise
            from triton.runtime.errors import OutOfResources

            raise OutOfResources(0, 0, error.message) from error
        finally:
            self._trial = around
            trial.restore()
            self.trials += trial.results
        return self.milliseconds(trial.results)


def activate(device: Device) -> None:
    """Makes a device the active one."""
    from ._patches import install

    install()
    _STACK.append(device)


def benchmark(
    fn: Callable[[], Any],
    *_: object,
    quantiles: Sequence[float] | None = None,
    return_mode: str = "mean",
    **__: object,
) -> Any:
    """`triton.testing.do_bench` in simulated time, ms. The function is called once, since further calls take the same
    time."""
    time = active_device()._time(fn)
    if quantiles is not None:
        return [time] * len(quantiles) if len(quantiles) > 1 else time
    return [time] if return_mode == "all" else time
