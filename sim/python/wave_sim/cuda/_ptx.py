"""Kernels and their parameters, read from the text of a PTX module."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple, Optional

from .._errors import Place
from ._errors import wrong

#: Bytes of the types of PTX.
_BYTES = {f"{kind}{bits}": bits // 8 for kind in "busf" for bits in (8, 16, 32, 64)}
_BYTES.update({"b128": 16, "f16x2": 4, "bf16": 2, "bf16x2": 4, "tf32": 4, "pred": 1})

#: The first variable of a module in device memory, and room after the last one for the locks and the workspace.
_FIRST_VARIABLE = 1024
_RESERVED = 1024

_COMMENTS = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_ENTRY = re.compile(r"\.entry\s+([\w$%]+)\s*(?:\(([^)]*)\))?([^{;]*)")
_SIZES = re.compile(r"\.(reqntid|maxntid)\s+([\d\s,]+)")
_VARIABLE = re.compile(
    r"(?<!\S)\.(?:global|const)((?:\s+\.\w+(?:\s+\d+)?)*)\s+([\w$%]+)((?:\s*\[\s*\d*\s*\])*)([^;]*)"
)
_MANGLED = re.compile(r"_Z(N?)[rVK]*")


class Parameter(NamedTuple):
    """A parameter of a kernel."""

    #: Its name in the PTX.
    name: str
    #: Its type in the PTX, such as `u32` or `f32`; a structure that is passed by value is `b8[24]`.
    type: str
    #: Its bytes.
    bytes: int

    @property
    def is_structure(self) -> bool:
        """True for an array of bytes: a structure."""
        return self.type.endswith("]")


@dataclass(frozen=True)
class Entry:
    """The declaration of a kernel."""

    name: str
    parameters: tuple[Parameter, ...]
    #: The workgroup that `.reqntid` demands.
    required: Optional[tuple[int, int, int]]
    #: The most threads of a workgroup by `.maxntid`.
    most_threads: Optional[int]


@dataclass(frozen=True)
class Text:
    """A PTX module."""

    entries: dict[str, Entry]
    #: No variable of the module ends after this address.
    variables_end: int


def source_name(name: str) -> str:
    """The name of a function in its source: `saxpy` for `_Z5saxpyifPKfPf`."""
    mangled = _MANGLED.match(name)
    if mangled is None:
        return name
    at, found = mangled.end(), ""
    while digits := re.compile(r"\d+").match(name, at):
        at = digits.end() + int(digits[0])
        found = name[digits.end() : at]
        if not mangled[1]:
            break
    return found or name


def read(text: str, file: str) -> Text:
    """Reads the declarations of a module. `file` names it in messages."""
    version = re.search(r"^\s*\.version\s+\d", text, re.MULTILINE)
    if version is None:
        hint = "cuda.Module takes PTX, or the path of a .ptx, .cu or .cl file"
        raise wrong(f"`{file}` is no PTX: it has no `.version`", hint)
    address_size = re.search(r"^\s*\.address_size\s+(\d+)", text, re.MULTILINE)
    if address_size is None or address_size[1] != "64":
        at = version.start() if address_size is None else address_size.start(1)
        line = text.count("\n", 0, at) + 1
        column = 1 if address_size is None else at - text.rfind("\n", 0, at)
        place = Place(file, line, column)
        raise wrong(f"`{file}` has addresses of 32 bits", "compile it for 64 bits: `.address_size 64`", place)
    # Blanks keep the places of all other text.
    plain = _COMMENTS.sub(" ", text)
    entries = [_entry(*found.groups(default="")) for found in _ENTRY.finditer(plain)]
    end = _FIRST_VARIABLE + sum(_variable_bytes(*found.groups()) for found in _VARIABLE.finditer(plain)) + _RESERVED
    return Text({entry.name: entry for entry in entries}, end)


def _entry(name: str, parameters: str, directives: str) -> Entry:
    sizes = {kind: [int(size) for size in re.findall(r"\d+", text)] for kind, text in _SIZES.findall(directives)}
    required = sizes.get("reqntid")
    most = None
    if "maxntid" in sizes:
        most = 1
        for size in sizes["maxntid"]:
            most *= size
    return Entry(
        name,
        tuple(_parameter(words) for words in parameters.split(",") if words.strip()),
        None if required is None else (required + [1, 1, 1])[:3],  # type: ignore[arg-type]
        most,
    )


def _parameter(declaration: str) -> Parameter:
    """A parameter of `.param .align 8 .b8 name[24]` or `.param .u64 .ptr .global .align 4 name`."""
    length = re.search(r"\[\s*(\d+)\s*\]\s*$", declaration)
    words = re.sub(r"\[[^\]]*\]\s*$", "", declaration).split()
    types = [word[1:] for word in words[:-1] if word[1:] in _BYTES]
    ty = types[0] if types else "b64"
    bytes_ = _BYTES[ty]
    if length is None:
        return Parameter(words[-1], ty, bytes_)
    return Parameter(words[-1], f"{ty}[{length[1]}]", bytes_ * int(length[1]))


def _variable_bytes(modifiers: str, _name: str, lengths: str, initial: str) -> int:
    """The most bytes that a variable takes, with those that its alignment leaves free. 0 for a pointer of a parameter."""
    words = modifiers.split()
    types = [word[1:] for word in words if word[1:] in _BYTES]
    if not types:
        return 0
    bytes_ = _BYTES[types[0]] * (4 if ".v4" in words else 2 if ".v2" in words else 1)
    for length in re.findall(r"\[\s*(\d*)\s*\]", lengths):
        # An array without a length has as many elements as its initial value, in which each takes a letter.
        bytes_ *= int(length) if length else len(initial) + 1
    alignment = int(words[words.index(".align") + 1]) if ".align" in words else 16
    return bytes_ + alignment
