"""Runs from beginning to end."""

from __future__ import annotations

import json
import os
from functools import cached_property
from typing import TYPE_CHECKING, Any, Iterable, Mapping

from . import _wave_sim
from ._config import Config, config_of
from ._errors import Error, raise_for, warn
from ._kernel import Buffers, Bytes, Dimensions, Kernel, Word, given_of, kernel_of, words_of
from ._observer import Observer, asked_of

if TYPE_CHECKING:
    import numpy
    import pandas

#: Types of elements of launch files in NumPy. It has no bf16: two bytes of an element are a `uint16`.
_DTYPES = {
    "u8": "<u1",
    "u16": "<u2",
    "u32": "<u4",
    "u64": "<u8",
    "i8": "<i1",
    "i16": "<i2",
    "i32": "<i4",
    "i64": "<i8",
    "f16": "<f2",
    "bf16": "<u2",
    "f32": "<f4",
    "f64": "<f8",
}


def part_of(memory: Any, buffers: list[_wave_sim.Part], name: str, dtype: Any) -> Any:
    """The buffer of this name as a view of memory, whose first byte is that of the buffers' addresses."""
    for known, start, end, element in buffers:
        if known == name:
            found = _DTYPES.get(element or "u8") if dtype is None else dtype
            return memory[start:end].view(found)
    names = ", ".join(part[0] for part in buffers) or "none"
    raise Error(f"there is no buffer `{name}`; the run has {names}")


class Result:
    """What a run came to."""

    def __init__(self, finished: _wave_sim.Finished):
        self._finished = finished
        #: Device memory after the run, bytes, as a NumPy array. It is the memory of the machine itself, not a copy.
        self.memory: numpy.ndarray[Any, Any] = finished.memory

    @property
    def document(self) -> str:
        """What `wave-sim --format json` prints of this run, as text."""
        return self._finished.document

    @cached_property
    def stats(self) -> dict[str, Any]:
        """The same as dictionaries and lists: `config`, `area`, and `runs` with one run."""
        return json.loads(self.document)

    @property
    def _run(self) -> dict[str, Any]:
        return self.stats["runs"][0]

    @property
    def name(self) -> str:
        """Name of the kernel file or launch file."""
        return self._run["name"]

    @property
    def outcome(self) -> str:
        """`verified`, `ended` (nothing is expected), `failed` (a wrong result), `fault` or `stopped`."""
        return self._finished.outcome

    @property
    def verified(self) -> bool | None:
        """Whether the result is that which the launch file expects; None if nothing is expected, or if it did not end."""
        return {"verified": True, "failed": False}.get(self.outcome)

    @property
    def printed(self) -> str:
        """What threads have printed with printf(), by launch, workgroup and thread."""
        return self._run.get("printed", {}).get("text", "")

    @property
    def mismatches(self) -> list[dict[str, Any]]:
        """The first values of a wrong result: buffer, index, expected, got."""
        return self._run.get("verification", {}).get("first_wrong", [])

    @property
    def statistics(self) -> dict[str, int]:
        """Counters of all launches together, such as `l1.hits`."""
        return self._run.get("total", {}).get("statistics", {})

    @property
    def figures(self) -> dict[str, float]:
        """Figures of all launches together, such as `figure.ipc`."""
        return self._run.get("total", {}).get("figures", {})

    @property
    def cycles(self) -> int | None:
        """Cycles of all launches together; None without timing."""
        return self.statistics.get("kernel.cycles")

    @property
    def energy(self) -> dict[str, Any] | None:
        """`joules`, bounds of it, `watts`, and `blocks`; None if it was not asked for."""
        return self._run.get("energy")

    @property
    def area(self) -> dict[str, Any] | None:
        """Area of the machine: `mm2`, bounds of it, and `blocks`; None if energy was not asked for."""
        return self.stats.get("area")

    @property
    def launches(self) -> list[dict[str, Any]]:
        """Each launch that ended: kernel, grid, occupancy, figures, statistics."""
        return self._run["launches"]

    @cached_property
    def calls(self) -> dict[str, Any] | None:
        """For instances of a WebAssembly module: what their calls returned."""
        return None if self._finished.calls is None else json.loads(self._finished.calls)

    @property
    def buffers(self) -> dict[str, tuple[int, int]]:
        """Named parts of memory: first byte, and number of bytes."""
        return {name: (start, end - start) for name, start, end, _ in self._finished.buffers}

    def buffer(self, name: str, dtype: Any = None) -> numpy.ndarray[Any, Any]:
        """A buffer as a view of `memory`: one of the launch file by its name, one of a shader by its binding, such as
        `0.1`. `dtype` is that of the launch file, else bytes."""
        return part_of(self.memory, self._finished.buffers, name, dtype)

    def frame(self) -> pandas.DataFrame:
        """A row for each launch, with its figures and statistics."""
        import pandas

        rows = []
        for number, launch in enumerate(self.launches):
            row: dict[str, Any] = {"launch": number + 1, "kernel": launch["kernel"]}
            for sizes in ("grid", "workgroup"):
                row.update({f"{sizes}.{axis}": size for axis, size in zip("xyz", launch[sizes])})
            row.update({key: launch[key] for key in ("registers", "local_memory_bytes")})
            rows.append({**row, **launch["figures"], **launch["statistics"]})
        return pandas.DataFrame(rows)

    def __repr__(self) -> str:
        took = "" if self.cycles is None else f", {self.cycles} cycles"
        return f"<Result of {self.name}: {self.outcome}{took}>"


def run(
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
    functional: bool = False,
    energy: bool | str = True,
    observers: Iterable[Observer] = (),
    flags: Iterable[str] = (),
    clang: Iterable[str] = (),
) -> Result:
    """Runs a kernel file, a launch file or a kernel of the suite.

    The options are the flags of `wave-sim`: `grid` is `--grid`, `args` are `--param`, and so on; `flags` has others as
    words, such as `["--check-races"]`, and `clang` those of clang for a kernel in C, such as `["-DN=4"]`. `buffers` gives
    data: for a launch file by the names of its buffers, for a shader by bindings, such as `"0.1"`, for other kernel files by
    addresses. A number in place of data stands for so many zeros.

    `observers` are told of events while the kernel runs: see `Observer`. An exception of theirs ends the run.

    Raises `Error` if the input is wrong, `Fault` if the kernel faults, `Stopped` if it stands still or reaches a bound. A
    wrong result raises nothing: see `Result.verified`.
    """
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
        functional=functional,
        energy=energy,
        flags=flags,
        clang=clang,
    )
    inner = config_of(config)._inner
    asked = asked_of(observers)
    finished = _wave_sim.run(kernel_of(kernel)._source, inner, words, given_of(buffers), asked)
    warn(finished.warnings)
    result = Result(finished)
    raise_for(finished.outcome, finished.problem, finished.fault, result)
    return result
