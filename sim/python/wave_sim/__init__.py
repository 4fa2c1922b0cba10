"""Cycle-level simulator of GPUs that run the WAVE instruction set.

    >>> import wave_sim
    >>> gpu = wave_sim.Config.load("gpu.ron").set({"core.l1.bytes": "32KiB"})
    >>> result = wave_sim.run("spmv", gpu, size="small")
    >>> result.cycles, result.verified, result.statistics["l1.hits"]
"""

import importlib as _importlib
import typing as _typing

from ._config import Config
from ._errors import Diagnostic, Error, Fault, InputWarning, Place, Stopped
from ._kernel import Kernel, suite
from ._machine import Machine
from ._observer import (
    Batch,
    CacheOutcome,
    CoreBatch,
    Issues,
    L2Accesses,
    Launch,
    LineAccesses,
    MemoryAccesses,
    Observer,
    Retirements,
)
from ._run import Result, run
from ._sweep import command, sweep
from ._wave_sim import __version__

if _typing.TYPE_CHECKING:
    from . import cuda, triton

__all__ = [
    "Batch",
    "CacheOutcome",
    "Config",
    "CoreBatch",
    "Diagnostic",
    "Error",
    "Fault",
    "InputWarning",
    "Issues",
    "Kernel",
    "L2Accesses",
    "Launch",
    "LineAccesses",
    "Machine",
    "MemoryAccesses",
    "Observer",
    "Place",
    "Result",
    "Retirements",
    "Stopped",
    "__version__",
    "command",
    "run",
    "suite",
    "sweep",
]


def __getattr__(name: str) -> _typing.Any:
    # These import NumPy, and everything else only once it is used.
    if name in ("cuda", "triton"):
        return _importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module `{__name__}` has no attribute `{name}`")
