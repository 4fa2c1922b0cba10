"""Kernels, and what a launch gives them."""

from __future__ import annotations

import os
from numbers import Integral
from pathlib import Path
from typing import Any, Iterable, Mapping, Sequence, Tuple, Union

from . import _wave_sim
from ._errors import Error

Word = Union[str, "os.PathLike[str]"]
Dimensions = Union[int, Sequence[int]]
Bytes = Union[int, str]
Buffers = Mapping[Union[str, int], Any]
#: A kernel as the extension module takes it.
Source = Union[str, Tuple[str, str, bytes]]


class Kernel:
    """A kernel: a file, a name of the suite, or a text."""

    def __init__(self, name: Word):
        self._source: Source = os.fspath(name)

    @classmethod
    def from_source(cls, text: str | bytes, language: str = "wave", name: str = "kernel") -> Kernel:
        """A kernel that is in no file. `language` is `wave` (assembly), `wgsl`, `c`, `cpp`, `wat`, `pica`, `ir`, or for
        bytes `wbin`, `wasm`, `spv` and so on: the extension that its file would have. `name` stands for the file in
        reports and messages."""
        file = f"{name}.{language}"
        if Path(file).name != file or file.startswith("."):
            raise Error(f"`{file}` is no file name")
        kernel = object.__new__(cls)
        kernel._source = (name, language, text.encode() if isinstance(text, str) else bytes(text))
        return kernel

    @property
    def name(self) -> str:
        """The path, the name in the suite, or the name of a text."""
        return self._source if isinstance(self._source, str) else self._source[0]

    def __repr__(self) -> str:
        if isinstance(self._source, str):
            return f"Kernel({self._source!r})"
        name, language, text = self._source
        return f"<Kernel {name!r}: {len(text)} bytes of {language}>"

    def _word(self, folder: str) -> str:
        """The word that names it on a command line; a text becomes a file in the folder."""
        if isinstance(self._source, str):
            return self._source
        name, language, text = self._source
        file = Path(folder) / f"{name}.{language}"
        file.write_bytes(text)
        return str(file)


def kernel_of(kernel: Kernel | Word) -> Kernel:
    """A kernel, or that of a name."""
    return kernel if isinstance(kernel, Kernel) else Kernel(kernel)


def suite(language: str = "wave") -> list[str]:
    """Names of the kernel suite in WAVE assembly, in `c`, or in `wgsl`."""
    if language not in ("wave", "c", "wgsl"):
        raise ValueError(f"there is no suite in `{language}`, but in wave, c and wgsl")
    return _wave_sim.suite(language)


def _dimensions(sizes: Dimensions) -> str:
    if isinstance(sizes, (int, str)) or not isinstance(sizes, Iterable):
        return str(sizes)
    return ",".join(map(str, sizes))


#: Types of arguments for types of NumPy.
_TYPES = {
    "float32": "f32:",
    "float16": "f16:",
    "int32": "i32:",
    "int16": "i16:",
    "int8": "i8:",
    "uint32": "u32:",
    "uint16": "u16:",
    "uint8": "u8:",
}


def _argument(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(int(value))
    # Scalars of NumPy say which type they are. Those of 64 bits are what NumPy makes of any number, and say nothing.
    kind = _TYPES.get(getattr(getattr(value, "dtype", None), "name", ""), "")
    return kind + (str(int(value)) if isinstance(value, Integral) else repr(float(value)))


def _number(value: Any) -> str:
    if isinstance(value, str):
        return value
    return str(int(value)) if isinstance(value, Integral) else repr(float(value))


def words_of(
    *,
    args: Iterable[Any] = (),
    set_reg: Mapping[int | str, int | float | str] | None = None,
    grid: Dimensions | None = None,
    workgroup: Dimensions | None = None,
    energy: bool | str = False,
    functional: bool = False,
    flags: Iterable[str] = (),
    clang: Iterable[str] = (),
    **others: object,
) -> list[str]:
    """Options as flags of the command line; `clang` are those after `--`, and of `others` the value is the text of the
    flag's."""
    words = [f"--param={_argument(value)}" for value in args]
    words += [f"--set-reg={register}:{_number(value)}" for register, value in (set_reg or {}).items()]
    for name, sizes in (("grid", grid), ("workgroup", workgroup)):
        if sizes is not None:
            words.append(f"--{name}={_dimensions(sizes)}")
    words += [f"--{name.replace('_', '-')}={value}" for name, value in others.items() if value is not None]
    if functional:
        words.append("--functional")
    elif energy:
        words.append("--energy" if energy is True else f"--energy={energy}")
    words += [str(flag) for flag in flags]
    of_clang = [str(flag) for flag in clang]
    return words + (["--", *of_clang] if of_clang else [])


def given_of(buffers: Buffers | None) -> list[tuple[int | str, int | bytes]]:
    """Data of buffers as the extension module takes it."""
    given: list[tuple[int | str, int | bytes]] = []
    for place, contents in (buffers or {}).items():
        key = int(place) if isinstance(place, Integral) else str(place)
        if isinstance(contents, Integral):
            given.append((key, int(contents)))
        elif isinstance(contents, (bytes, bytearray, memoryview)):
            given.append((key, bytes(contents)))
        else:
            import numpy

            array = numpy.ascontiguousarray(contents)
            if array.dtype.hasobject:
                raise TypeError(f"buffers: the array of {place!r} holds objects of Python, and not numbers")
            given.append((key, array.tobytes()))
    return given
