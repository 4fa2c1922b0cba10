"""Commands in processes of their own: sweeps, which are many machines at once, and all others."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterable, Mapping, Sequence

from ._config import Config, Value, config_of, text_of
from ._errors import Diagnostic, Error, Stopped
from ._kernel import Bytes, Dimensions, Kernel, Word, kernel_of, words_of

if TYPE_CHECKING:
    import pandas

#: Columns that are text, whatever they look like: a hash may look like a number.
_TEXT = ("kernel", "outcome", "message", "config", "result")


def command(*words: str | os.PathLike[str]) -> str:
    """Runs a command of `wave-sim` in a process of its own: `command("compare", "spmv", "--with", "cores=8")`. Gives what it
    prints on standard output. Many commands print JSON with `--format json`.

    Raises `Error` if the input is wrong, and `Stopped` if a kernel faults or does not end.
    """
    code, out, err = _process([os.fspath(word) for word in words])
    if code == 2:
        raise Error(err.strip().removeprefix("error: "))
    if code not in (0, 1):
        raise Stopped(Diagnostic(err.strip() or f"exit code {code}"))
    return out


def _process(words: Sequence[str]) -> tuple[int, str, str]:
    """Runs `wave-sim` with these words. Gives exit code, standard output, standard error."""
    package = Path(__file__).resolve().parent.parent
    folders = [str(package), os.environ.get("PYTHONPATH", "")]
    programs = [str(Path(sys.executable).parent), os.environ.get("PATH", "")]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, folders)),
        "PATH": os.pathsep.join(filter(None, programs)),
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "wave_sim", *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        encoding="utf-8",
    )
    try:
        out, err = process.communicate()
    except BaseException:
        # It keeps what it has, and ends the processes that it has started.
        process.send_signal(signal.SIGINT)
        process.wait()
        raise
    return process.returncode, out, err


def _axis(key: str, values: Value | Iterable[Value]) -> str:
    if isinstance(values, (str, bool, int)):
        return f"{key}={text_of(values)}"
    return f"{key}={','.join(map(text_of, values))}"


def _config_words(config: Config, folder: str) -> list[str]:
    if config._inner.origin is not None:
        return [f"--config={config._inner.origin}", *(f"--set={word}" for word in config._inner.settings)]
    file = Path(folder) / "config.ron"
    file.write_text(config.text, encoding="utf-8")
    return [f"--config={file}"]


def sweep(
    kernels: Kernel | Word | Iterable[Kernel | Word],
    config: Config | Word | None = None,
    set: Mapping[str, Value | Iterable[Value]] | None = None,
    *,
    where: str | Iterable[str] = (),
    random: int | None = None,
    latin_hypercube: int | None = None,
    sample_seed: int | None = None,
    seeds: str | None = None,
    size: str | None = None,
    max_cycles: int | None = None,
    max_instructions: int | None = None,
    jobs: int | None = None,
    store: str | os.PathLike[str] = "sweep-results",
    out: str | os.PathLike[str] | None = None,
    backend: str = "local",
    scheduler: str | None = None,
    args: Iterable[Any] = (),
    grid: Dimensions | None = None,
    workgroup: Dimensions | None = None,
    set_reg: Mapping[int | str, int | float | str] | None = None,
    registers: int | None = None,
    local_memory: Bytes | None = None,
    stack_bytes: Bytes | None = None,
    heap_bytes: Bytes | None = None,
    entry: str | None = None,
    flags: Iterable[str] = (),
    clang: Iterable[str] = (),
) -> pandas.DataFrame:
    """Runs kernels on many machines: `wave-sim sweep`. Gives its table, a row for each point and kernel.

    `set` has the values of each parameter: a list, or a text such as `"8..64*2"`. Results are kept in the folder `store`;
    what is there does not run again. `out` also writes the tables and the page, as `--out` does. `backend` is `local`, for
    processes on this host, or `dask`. `flags` has other flags as words.

    Raises `Error` if the input is wrong, and `Stopped` if runs are missing. What faults has a row that says so.
    """
    with tempfile.TemporaryDirectory(prefix="wave-sim-") as folder:
        listed = [kernels] if isinstance(kernels, (Kernel, str, os.PathLike)) else list(kernels)
        # In front: behind `--` are flags of clang.
        names = (kernel_of(kernel)._word(folder) for kernel in listed)
        words = ["sweep", *(f".{os.sep}{name}" if name.startswith("-") else name for name in names)]
        words += _config_words(config_of(config), folder)
        words += [f"--set={_axis(key, values)}" for key, values in (set or {}).items()]
        words += [f"--where={formula}" for formula in ([where] if isinstance(where, str) else where)]
        name = Path(folder) / "sweep" if out is None else Path(out)
        words += words_of(
            args=args,
            set_reg=set_reg,
            grid=grid,
            workgroup=workgroup,
            registers=registers,
            local_memory=local_memory,
            stack_bytes=stack_bytes,
            heap_bytes=heap_bytes,
            kernel=entry,
            random=random,
            latin_hypercube=latin_hypercube,
            sample_seed=sample_seed,
            seeds=seeds,
            size=size,
            max_cycles=max_cycles,
            max_instructions=max_instructions,
            jobs=jobs,
            store=os.fspath(store),
            out=name,
            backend=backend,
            scheduler=scheduler,
            flags=flags,
            clang=clang,
        )
        code, _, err = _process(words)
        message = err.replace(f"{folder}{os.sep}", "").strip()
        if code == 2:
            raise Error(message.removeprefix("error: "))
        table = name.with_name(f"{name.name}.csv")
        # Tables are written when every run is there.
        if "did not run; what is done is in" in err or not table.exists():
            raise Stopped(Diagnostic(message or f"the sweep ended with exit code {code}"))
        return _table(table)


def _table(file: Path) -> pandas.DataFrame:
    import pandas

    with file.open(encoding="utf-8") as lines:
        heading = lines.readline().rstrip("\n").split(",")
    return pandas.read_csv(file, dtype={name: str for name in _TEXT if name in heading})
