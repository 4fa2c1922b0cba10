"""Modules of PTX, and the functions that launch their kernels."""

from __future__ import annotations

import inspect
import os
from pathlib import Path
from typing import Any, Iterable

from .. import _wave_sim
from .._config import Config, config_of
from .._errors import warn
from .._kernel import Dimensions, Kernel, Word
from .._run import Result, run
from ._errors import unknown_kernel, wrong
from ._launch import check_block, launch, sizes_of
from ._memory import SPACE
from ._ptx import Entry, Parameter, Text, read, source_name
from ._values import values_of

#: Options of `run` that a launch sets itself.
_OWN = {"kernel", "config", "args", "buffers", "grid", "workgroup", "entry", "device_memory", "size", "seed", "set_reg"}
_OPTIONS = set(inspect.signature(run).parameters) - _OWN - {"clang"}


def checked_options(options: dict[str, Any]) -> dict[str, Any]:
    for name in options:
        if name not in _OPTIONS:
            known = ", ".join(["config", "dynamic_shared", *sorted(_OPTIONS)])
            raise TypeError(f"a launch has no option `{name}`; it has {known}")
    return options


class Module:
    """Kernels in PTX, CUDA C++ or OpenCL C, as functions that are called with arrays.

        >>> module = wave_sim.cuda.Module("saxpy.cu", "t4")
        >>> result = module.saxpy[grid, block](n, 2.5, x, y)

    `source` is PTX, or the path of a `.ptx`, `.cu` or `.cl` file; clang compiles the latter, with the flags `clang`, or
    the nvcc that `cuda_compiler` names. `config` is the machine, and `options` are those of `wave_sim.run`, such as
    `functional=True`; a launch can set both anew.
    """

    def __init__(
        self,
        source: Word,
        config: Config | Word | None = None,
        *,
        clang: Iterable[str] = (),
        cuda_compiler: Word | None = None,
        **options: Any,
    ):
        self._kernel, self._file, ptx = _loaded(source, list(clang), cuda_compiler)
        #: The PTX.
        self.ptx: str = ptx
        #: The machine.
        self.config: Config = config_of(config)
        self._options = checked_options(options)
        self._text: Text = read(ptx, self._file)
        SPACE.reserve(self._text.variables_end, self._file)

    @property
    def functions(self) -> list[str]:
        """Names of the kernels in the source, or those of the PTX where two have the same."""
        names = [source_name(name) for name in self._text.entries]
        return [short if names.count(short) == 1 else name for short, name in zip(names, self._text.entries)]

    def __getitem__(self, name: str) -> Function:
        """The function of a kernel: its name in the PTX, or in the source if that is unique."""
        entries = self._text.entries
        if name in entries:
            return Function(self, entries[name])
        short = [entry for entry in entries.values() if source_name(entry.name) == name]
        if len(short) == 1:
            return Function(self, short[0])
        if short:
            names = ", ".join(entry.name for entry in short)
            raise wrong(f"`{self._file}` has {len(short)} kernels `{name}`", f"take the name of the PTX: {names}")
        raise unknown_kernel(self._file, name, self.functions)

    def __getattr__(self, name: str) -> Function:
        text = self.__dict__.get("_text")
        if text is None or name.startswith("_") and name not in text.entries:
            raise AttributeError(f"a Module has no attribute `{name}`")
        return self[name]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.functions]

    def __repr__(self) -> str:
        return f"<Module {self._file} on {self.config.name}: {', '.join(self.functions) or 'no kernel'}>"


class Function:
    """A kernel of a module. `f[grid, block](*arguments)` launches it, as does `f(grid, block, *arguments)`."""

    def __init__(self, module: Module, entry: Entry):
        self._module = module
        self._entry = entry

    @property
    def name(self) -> str:
        """Its name in the PTX."""
        return self._entry.name

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Its parameters."""
        return self._entry.parameters

    def __getitem__(self, sizes: Any) -> Configured:
        """The function with a grid, a workgroup, and the bytes of dynamic shared memory if there are any: the numbers of
        `<<<grid, block, bytes>>>`."""
        listed = sizes if isinstance(sizes, tuple) else (sizes,)
        if not 2 <= len(listed) <= 3:
            name = source_name(self.name)
            hint = f"`{name}[grid, block]`, or `{name}[grid, block, bytes]`"
            raise wrong(f"`{name}[...]` has {len(listed)} parts", hint)
        return Configured(self, *listed)

    def __call__(
        self,
        grid: Dimensions,
        block: Dimensions,
        *arguments: Any,
        dynamic_shared: int = 0,
        config: Config | Word | None = None,
        **options: Any,
    ) -> Result:
        """Launches the kernel and returns its result. An argument is an array of NumPy, which is copied to the device and
        back, a device array, a number, or the bytes of a structure. `dynamic_shared` is a number of bytes. `config`
        replaces the machine of the module, and `options` are those of `wave_sim.run`.

        Raises `Error` if an argument is wrong, and `Fault` or `Stopped` as `wave_sim.run`. Arrays then have their former
        contents.
        """
        module = self._module
        sizes = sizes_of(grid, "the grid"), sizes_of(block, "the workgroup")
        check_block(self._entry, sizes[1])
        values = values_of(self._entry, arguments)
        machine = module.config if config is None else config_of(config)
        merged = {**module._options, **checked_options(options)}
        return launch(module._kernel, module.ptx, self._entry, machine, *sizes, values, dynamic_shared, merged)

    def __repr__(self) -> str:
        types = ", ".join(parameter.type for parameter in self.parameters)
        return f"<Function {source_name(self.name)}({types})>"


class Configured:
    """A kernel with its grid and its workgroup: the parts of `f[grid, block]`."""

    def __init__(self, function: Function, grid: Dimensions, block: Dimensions, dynamic_shared: int = 0):
        self._function = function
        self._sizes = (grid, block)
        self._dynamic_shared = dynamic_shared

    def __call__(self, *arguments: Any, **options: Any) -> Result:
        """Launches the kernel, as `Function.__call__`."""
        return self._function(*self._sizes, *arguments, **{"dynamic_shared": self._dynamic_shared, **options})


def _loaded(source: Word, clang: list[str], cuda_compiler: Word | None) -> tuple[Kernel, str, str]:
    """The kernel file of a source, its name for messages, and its PTX."""
    word = os.fspath(source)
    if isinstance(source, str) and "\n" in source:
        entry = next(iter(read(source, "the PTX").entries), "module")
        name = "".join(letter for letter in source_name(entry) if letter.isalnum() or letter == "_")[:64] or "module"
        return Kernel.from_source(source, "ptx", name), f"{name}.ptx", source
    extension = Path(word).suffix
    if extension in (".cu", ".cl"):
        nvcc = None if cuda_compiler in (None, "clang") else os.fspath(cuda_compiler)
        ptx, warnings = _wave_sim.ptx(word, clang, nvcc)
        warn(warnings, 4)
        return Kernel.from_source(ptx, "ptx", Path(word).stem), word, ptx
    if extension != ".ptx":
        hint = "cuda.Module takes PTX, or the path of a .ptx, .cu or .cl file"
        raise wrong(f"`{word}` is neither PTX nor the path of a file with kernels", hint)
    try:
        return Kernel(word), word, Path(word).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise wrong(f"cannot read `{word}`: {error}") from error
