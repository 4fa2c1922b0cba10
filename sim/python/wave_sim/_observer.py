"""Observers of runs: classes with a method for each kind of event that they want."""

from __future__ import annotations

import difflib
import enum
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Iterable

from . import _wave_sim
from ._errors import Diagnostic, Error

if TYPE_CHECKING:
    import numpy
    import pandas
    from numpy.typing import NDArray


class CacheOutcome(enum.IntEnum):
    """What an access met in the L1 or the L2: the statistic of this name counts it. Values compare with arrays of
    `outcome`."""

    #: In the L1 a store, an uncached load, or an atomic that the L2 performs: it counts no outcome.
    NONE = 0
    HIT = 1
    MSHR_HIT = 2
    SECTOR_MISS = 3
    MISS = 4


@dataclass(frozen=True, eq=False)
class Launch:
    """The beginning of a launch."""

    #: Its number in the run, the first being 1.
    number: int
    #: Name of the kernel.
    kernel: str
    #: Workgroups, x, y, z.
    grid: tuple[int, int, int]
    #: Threads of a workgroup, x, y, z.
    workgroup: tuple[int, int, int]
    #: The cycle in which it begins.
    cycle: int
    #: The instructions of the kernel in assembly, by pc.
    instructions: dict[int, str]
    #: Lines of the source by pc, where the kernel has one.
    lines: dict[int, int]


@dataclass(frozen=True, eq=False, repr=False)
class Batch:
    """Events of one kind, as arrays of NumPy with a value for each row. Rows come in the order of cycles, in a cycle in
    the order of cores or slices. They are the same for any number of threads.
    """

    #: Number of the launch, the first being 1.
    launch: int
    #: Cycle of the run.
    cycle: NDArray[numpy.uint64]
    #: Core.
    core: NDArray[numpy.uint32]

    def columns(self) -> dict[str, NDArray[Any]]:
        """The arrays by name."""
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name != "launch"}

    def frame(self) -> pandas.DataFrame:
        """The rows as a frame of pandas."""
        import pandas

        return pandas.DataFrame(self.columns())

    def __len__(self) -> int:
        return len(self.cycle)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self)} rows, cycles {self.cycle[0]} to {self.cycle[-1]}>"


@dataclass(frozen=True, eq=False, repr=False)
class CoreBatch(Batch):
    """Events of instructions in cores."""

    #: Wave slot of the core.
    slot: NDArray[numpy.uint32]
    #: Number of the workgroup in the grid.
    workgroup: NDArray[numpy.uint32]
    #: Number of the wave in its workgroup.
    wave: NDArray[numpy.uint32]
    #: Byte of the instruction in the code, as in `Launch.instructions`.
    pc: NDArray[numpy.uint32]


@dataclass(frozen=True, eq=False, repr=False)
class Issues(CoreBatch):
    """Instructions that issue: a row for each wave instruction."""

    #: Position of the instruction in those of its wave.
    sequence: NDArray[numpy.uint64]
    #: Lanes that were active before it, as bits.
    active: NDArray[numpy.uint64]
    #: Lanes that take part, as bits.
    mask: NDArray[numpy.uint64]
    #: No lane takes part, and it is no control instruction with an active lane.
    squashed: NDArray[numpy.bool_]


@dataclass(frozen=True, eq=False, repr=False)
class Retirements(CoreBatch):
    """Instructions that retire: a row for each wave instruction."""

    #: Position of the instruction in those of its wave.
    sequence: NDArray[numpy.uint64]


@dataclass(frozen=True, eq=False, repr=False)
class MemoryAccesses(CoreBatch):
    """Memory instructions that begin in the load/store unit: a row for each lane that takes part, of a matrix tile one for
    each of its rows. All rows of an instruction are in one batch.
    """

    #: Position of the instruction in those of its wave.
    sequence: NDArray[numpy.uint64]
    #: Number of the memory instruction in the run: rows with the same number are lanes of one instruction.
    instruction: NDArray[numpy.uint64]
    #: Lane.
    lane: NDArray[numpy.uint8]
    #: Address of the first byte, in device or local memory.
    address: NDArray[numpy.uint32]
    #: Bytes that the lane accesses.
    bytes: NDArray[numpy.uint8]
    #: A store or an atomic.
    writes: NDArray[numpy.bool_]
    #: An atomic.
    atomic: NDArray[numpy.bool_]
    #: In local memory.
    local: NDArray[numpy.bool_]


@dataclass(frozen=True, eq=False, repr=False)
class LineAccesses(CoreBatch):
    """Accesses that the L1 has taken: a row for each line of a memory instruction."""

    #: Address of the line's first byte.
    line: NDArray[numpy.uint64]
    #: A store or an atomic.
    writes: NDArray[numpy.bool_]
    #: An atomic.
    atomic: NDArray[numpy.bool_]
    #: A value of `CacheOutcome`.
    outcome: NDArray[numpy.uint8]


@dataclass(frozen=True, eq=False, repr=False)
class L2Accesses(Batch):
    """Accesses that the slices of the L2 have taken. `core` has made the request; packets do not carry the wave."""

    #: Slice.
    slice: NDArray[numpy.uint32]
    #: Address of the line's first byte; of code if `code` is true.
    line: NDArray[numpy.uint64]
    #: Sectors wanted or touched, as bits.
    sectors: NDArray[numpy.uint8]
    #: A fetch of instructions.
    code: NDArray[numpy.bool_]
    #: A write or an atomic.
    writes: NDArray[numpy.bool_]
    #: An atomic.
    atomic: NDArray[numpy.bool_]
    #: A value of `CacheOutcome`.
    outcome: NDArray[numpy.uint8]


class Observer:
    """A base for observers. A subclass has a method for each event that it wants to be told, and is told no other:

        class Loads(wave_sim.Observer):
            def on_memory(self, batch):
                self.addresses.append(batch.address[~batch.writes])

    A method gets a batch of at least `batch_rows` rows; the rest comes at the end of a launch, and where a machine is
    stopped. The run waits for the method. An exception ends the run.
    """

    #: Rows of a batch.
    batch_rows: ClassVar[int] = 16_384

    def on_launch(self, launch: Launch) -> None:
        """A launch begins. The batches up to the next one are about it."""

    def on_issue(self, batch: Issues) -> None:
        """Instructions have issued."""

    def on_retire(self, batch: Retirements) -> None:
        """Instructions have retired."""

    def on_memory(self, batch: MemoryAccesses) -> None:
        """Memory instructions access device or local memory."""

    def on_line(self, batch: LineAccesses) -> None:
        """The L1s have taken accesses."""

    def on_l2(self, batch: L2Accesses) -> None:
        """The slices of the L2 have taken accesses."""


_BATCHES: dict[str, type[Batch]] = {
    "issue": Issues,
    "retire": Retirements,
    "memory": MemoryAccesses,
    "line": LineAccesses,
    "l2": L2Accesses,
}
_EVENTS = ("launch", *_BATCHES)


def _error(message: str, hint: str) -> Error:
    return Error([Diagnostic(message, hint=hint, text=f"{message}\n  hint: {hint}")])


def _events_of(observer: Observer) -> list[str]:
    """The events for which an observer has a method of its own."""
    name = type(observer).__name__
    if not isinstance(observer, Observer):
        message = f"observers: {observer!r} is no wave_sim.Observer"
        if isinstance(observer, type) and issubclass(observer, Observer):
            raise _error(message, f"it is the class: {observer.__name__}() makes one")
        raise _error(message, "derive its class from wave_sim.Observer, and give a list of them")
    methods = [f"on_{event}" for event in _EVENTS]
    for method in dir(observer):
        if method.startswith("on_") and method not in methods:
            near = difflib.get_close_matches(method, methods, 1)
            hint = f"did you mean `{near[0]}`?" if near else f"its methods may be {', '.join(methods)}"
            raise _error(f"observers: `{name}.{method}` is the method of no event", hint)
    own = [
        event
        for event, method in zip(_EVENTS, methods)
        if method in vars(observer) or getattr(type(observer), method) is not getattr(Observer, method)
    ]
    for event in own:
        if not callable(getattr(observer, f"on_{event}")):
            raise _error(f"observers: `{name}.on_{event}` is no method", "it is called with a batch")
    if not own:
        raise _error(f"observers: `{name}` has no method for an event", f"give it one of {', '.join(methods)}")
    if not isinstance(observer.batch_rows, int) or observer.batch_rows < 1:
        message = f"observers: `{name}.batch_rows` is {observer.batch_rows!r}"
        raise _error(message, "it is the number of rows of a batch, at least 1")
    return own


def asked_of(observers: Iterable[Observer]) -> list[_wave_sim.Asked]:
    """Observers as the extension module takes them."""
    if isinstance(observers, Observer):
        raise _error("observers: it is one observer", "give a list: observers=[...]")
    return [(_events_of(observer), min(observer.batch_rows, 2**62), _teller(observer)) for observer in observers]


def _teller(observer: Observer) -> Any:
    """The function that is called with the name of an event, the number of the launch, and the values."""

    def tell(event: str, number: int, values: dict[str, Any]) -> None:
        if event != "launch":
            getattr(observer, f"on_{event}")(_BATCHES[event](number, **values))
            return
        code = values["code"]
        launch = Launch(
            number=number,
            kernel=values["kernel"],
            grid=tuple(values["grid"]),
            workgroup=tuple(values["workgroup"]),
            cycle=values["cycle"],
            instructions={pc: text for pc, (text, _) in code.items()},
            lines={pc: line for pc, (_, line) in code.items() if line is not None},
        )
        observer.on_launch(launch)

    return tell
