"""Exceptions and warnings of wave_sim."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Iterable, NamedTuple, Optional, Sequence, Tuple

if TYPE_CHECKING:
    from ._run import Result

# Message, file, line, column, hint, and all of it for people.
Told = Tuple[str, Optional[str], Optional[int], Optional[int], Optional[str], str]


class Place(NamedTuple):
    """A place in a text file."""

    file: str
    line: int
    column: int


class Diagnostic:
    """What is wrong: a message, with a place and a hint where there are some."""

    def __init__(self, message: str, place: Place | None = None, hint: str | None = None, text: str | None = None):
        self.message = message
        self.place = place
        self.hint = hint
        self.text = text if text is not None else message

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Diagnostic({self.message!r}, {self.place!r}, {self.hint!r})"


def diagnostic(told: Told) -> Diagnostic:
    """What the extension module has told."""
    message, file, line, column, hint, text = told
    place = None if file is None or line is None or column is None else Place(file, line, column)
    return Diagnostic(message, place, hint, text)


class Error(ValueError):
    """The input is wrong: a configuration, a kernel, a flag, a file. Nothing has run."""

    def __init__(self, diagnostics: Sequence[Diagnostic] | str):
        if isinstance(diagnostics, str):
            diagnostics = [Diagnostic(diagnostics)]
        super().__init__("\n\n".join(map(str, diagnostics)))
        #: Everything that is wrong.
        self.diagnostics = tuple(diagnostics)
        first = diagnostics[0] if diagnostics else Diagnostic("the input is wrong")
        #: The first message.
        self.message = first.message
        #: Its place in a file, if it has one.
        self.place = first.place
        #: What may help.
        self.hint = first.hint


class Stopped(RuntimeError):
    """A run did not end: it stood still, or reached a bound."""

    def __init__(self, diagnostic: Diagnostic, result: Result | None = None):
        super().__init__(str(diagnostic))
        #: What happened.
        self.message = diagnostic.message
        #: What may help.
        self.hint = diagnostic.hint
        #: What the run has left, with the launches that ended. None for a machine, which can be looked at.
        self.result = result


class Fault(Stopped):
    """A kernel did something illegal."""

    def __init__(
        self,
        diagnostic: Diagnostic,
        result: Result | None = None,
        at: tuple[list[int], int, int, int, int | None] | None = None,
    ):
        super().__init__(diagnostic, result)
        #: The line of the source, and its file, where the kernel has one.
        self.line: int | None = diagnostic.place.line if diagnostic.place else None
        self.file: str | None = diagnostic.place.file if diagnostic.place else None
        #: Position of the workgroup in the grid.
        self.workgroup: tuple[int, ...] | None = None
        #: Number of the wave in its workgroup.
        self.wave: int | None = None
        #: Lanes that faulted.
        self.lanes: tuple[int, ...] | None = None
        #: Byte of the instruction in the code.
        self.pc: int | None = None
        #: Cycle; None without timing.
        self.cycle: int | None = None
        if at is not None:
            workgroup, self.wave, lanes, self.pc, self.cycle = at
            self.workgroup = tuple(workgroup)
            self.lanes = tuple(lane for lane in range(64) if lanes >> lane & 1)


class InputWarning(UserWarning):
    """A remark about a configuration or a kernel, which is accepted."""


def error_of(told: Iterable[Told]) -> Error:
    """The exception about these messages. The extension module calls it."""
    return Error([diagnostic(each) for each in told])


def warn(told: Iterable[Told], level: int = 3) -> None:
    """Issues warnings of whoever called the caller."""
    for each in told:
        warnings.warn(str(diagnostic(each)), InputWarning, stacklevel=level)


def raise_for(outcome: str, told: Told | None, at: object, result: Result | None) -> None:
    """Raises what a run that did not end stands for."""
    if outcome not in ("fault", "stopped") or told is None:
        return
    if outcome == "fault":
        raise Fault(diagnostic(told), result, at)  # type: ignore[arg-type]
    raise Stopped(diagnostic(told), result)
