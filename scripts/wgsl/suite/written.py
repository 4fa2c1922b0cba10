"""Shaders that are written out, with what they must leave in the last buffer: from the host where a line computes it, else
from the driver."""

import struct
from collections.abc import Sequence

from ..cases import Buffer, Case


def words(values: Sequence[int]) -> bytes:
    """Integers as 32-bit words."""
    return struct.pack(f"<{len(values)}I", *(v & 0xFFFFFFFF for v in values))


def reals(values: Sequence[float]) -> bytes:
    return struct.pack(f"<{len(values)}f", *values)


def shader(
    name: str,
    builtin: str,
    types: str,
    wgsl: str,
    inputs: Sequence[bytes],
    results: int | bytes,
    expected: bytes | None = None,
    *,
    grid: tuple[int, int, int] = (1, 1, 1),
    overrides: dict[str, float] | None = None,
    requires: Sequence[str] = (),
    wave_width: int | None = None,
    entry: str = "main",
    rule: str = "exact",
) -> Case:
    """The inputs lie at bindings 0, 1, ..., the results (a size in bytes or the contents before) at the one after them.
    Without `expected` the driver gives the results."""
    before = bytes(results) if isinstance(results, int) else results
    basis = "driver" if expected is None else "wgsl"
    buffers = [Buffer(k, data) for k, data in enumerate(inputs)]
    # The driver's results replace the placeholder when the cases are built.
    buffers.append(Buffer(len(inputs), before, output=before if expected is None else expected))
    text = "\n".join(line.rstrip() for line in wgsl.strip().splitlines()) + "\n"
    return Case(
        name,
        builtin,
        types.split(),
        text,
        buffers,
        entry,
        grid,
        overrides or {},
        list(requires),
        wave_width,
        rule,
        basis,
    )
