"""Machines that are stepped."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Iterable, Mapping

from . import _wave_sim
from ._config import Config, config_of
from ._errors import raise_for, warn
from ._kernel import Buffers, Bytes, Dimensions, Kernel, Word, given_of, kernel_of, words_of
from ._observer import Observer, asked_of
from ._run import Result, part_of

if TYPE_CHECKING:
    import numpy

_END = 2**64 - 1


class Machine:
    """A machine with a kernel, at the beginning of the first launch. It is stepped cycle by cycle, or runs up to a cycle.
    Where it is stopped leaves no trace: cycles, statistics and results are those of `run`.

    The arguments are those of `run`, without those that are for a run as a whole. Observers have all events up to the
    cycle of a stop. A checkpoint does not hold what they have seen.
    """

    def __init__(
        self,
        kernel: Kernel | Word,
        config: Config | Word | None = None,
        *,
        args: Iterable[Any] = (),
        buffers: Buffers | None = None,
        grid: Dimensions | None = None,
        workgroup: Dimensions | None = None,
        set_reg: Mapping[int | str, int | float | str] | None = None,
        registers: int | None = None,
        local_memory: Bytes | None = None,
        stack_bytes: Bytes | None = None,
        heap_bytes: Bytes | None = None,
        entry: str | None = None,
        size: str | None = None,
        seed: int | None = None,
        device_memory: Bytes | None = None,
        wave_width: int | None = None,
        max_cycles: int | None = None,
        max_instructions: int | None = None,
        threads: int | None = None,
        energy: bool | str = True,
        observers: Iterable[Observer] = (),
        clang: Iterable[str] = (),
    ):
        words = words_of(
            args=args,
            set_reg=set_reg,
            grid=grid,
            workgroup=workgroup,
            registers=registers,
            local_memory=local_memory,
            stack_bytes=stack_bytes,
            heap_bytes=heap_bytes,
            kernel=entry,
            size=size,
            seed=seed,
            device_memory=device_memory,
            wave_width=wave_width,
            max_cycles=max_cycles,
            max_instructions=max_instructions,
            threads=threads,
            energy=energy,
            clang=clang,
        )
        inner = config_of(config)._inner
        asked = asked_of(observers)
        self._machine = _wave_sim.Machine(kernel_of(kernel)._source, inner, words, given_of(buffers), asked)
        warn(self._machine.warnings)

    @classmethod
    def restore(
        cls, path: str | os.PathLike[str], kernel: Kernel | Word, config: Config | Word | None = None, **options: Any
    ) -> Machine:
        """The machine in the state of a checkpoint: one that `save` or `wave-sim --checkpoint` has written, of the same
        kernel, configuration and data."""
        machine = cls(kernel, config, **options)
        machine._machine.restore(os.fspath(path))
        return machine

    @property
    def now(self) -> int:
        """Cycles simulated, of all launches."""
        return self._machine.now

    @property
    def done(self) -> bool:
        """True if all launches have ended."""
        return self._machine.done

    @property
    def launch(self) -> int | None:
        """Number of the launch that runs, the first being 1; None if all have ended."""
        ended, launches = self._machine.launches
        return ended + 1 if ended < launches else None

    def step(self, cycles: int = 1) -> bool:
        """Simulates so many cycles, or up to the end. Gives whether there is more to simulate.

        Raises `Fault` and `Stopped` as `run`."""
        if cycles < 0:
            raise ValueError(f"a machine does not go back: step({cycles})")
        return self.run_to(self.now + cycles)

    def run_to(self, cycle: int) -> bool:
        """Simulates up to a cycle: it is the first that is not simulated. Otherwise as `step`."""
        ended = self._machine.advance(min(cycle, _END))
        if ended is not None:
            raise_for(*ended, result=None)
        return not self.done

    def run(self) -> Result:
        """Simulates the rest, and gives the result."""
        self.run_to(_END)
        return self.result()

    def result(self) -> Result:
        """What the launches that have ended came to. Its memory is a copy, since the machine goes on with its own."""
        return Result(self._machine.result())

    def counters(self) -> dict[str, int]:
        """What the launch that runs has counted so far, as `Result.statistics`; empty if none runs."""
        return dict(self._machine.totals())

    def read(self, address: int, count: int, dtype: Any = "uint8") -> numpy.ndarray[Any, Any]:
        """A copy of elements of device memory. While a launch runs, it lacks what caches have not written back."""
        import numpy

        kind = numpy.dtype(dtype)
        return self._machine.read(address, count * kind.itemsize).view(kind)

    def buffer(self, name: str, dtype: Any = None) -> numpy.ndarray[Any, Any]:
        """A copy of a buffer, as `read`; names and types are those of `Result.buffer`."""
        for known, start, end, element in self._machine.buffers:
            if known == name:
                bytes_ = self._machine.read(start, end - start)
                return part_of(bytes_, [(known, 0, end - start, element)], name, dtype)
        return part_of(None, self._machine.buffers, name, dtype)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a checkpoint. `restore` and `wave-sim --resume` go on from it."""
        self._machine.save(os.fspath(path))

    def __repr__(self) -> str:
        return f"<Machine in cycle {self.now}{', done' if self.done else ''}>"
