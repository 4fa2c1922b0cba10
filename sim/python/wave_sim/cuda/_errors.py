"""Messages of this package, in the form of those of the simulator."""

from __future__ import annotations

import difflib
from typing import Iterable

from .._errors import Diagnostic, Error, Place


def _diagnostic(message: str, hint: str | None, place: Place | None = None) -> Diagnostic:
    where = "" if place is None else f"\n --> {place.file}:{place.line}:{place.column}"
    help_ = "" if hint is None else f"\n  |\n  = help: {hint}"
    return Diagnostic(message, place, hint, f"error: {message}{where}{help_}")


def wrong(message: str, hint: str | None = None, place: Place | None = None) -> Error:
    """The error with this message."""
    return Error([_diagnostic(message, hint, place)])


class UnknownKernel(Error, AttributeError):
    """A module has no kernel of this name."""


def unknown_kernel(file: str, name: str, known: Iterable[str]) -> UnknownKernel:
    """The error about a name that no kernel has, with near names."""
    names = list(known)
    near = difflib.get_close_matches(name, names, n=2)
    if near:
        hint = f"did you mean {' or '.join(f'`{one}`' for one in near)}?"
    elif names:
        hint = f"its kernels: {', '.join(names)}"
    else:
        hint = "a kernel is an `.entry` of the PTX, and `__global__` in CUDA C++"
    return UnknownKernel([_diagnostic(f"`{file}` has no kernel `{name}`", hint)])
