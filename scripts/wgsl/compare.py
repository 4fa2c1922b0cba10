"""Whether what a machine left in the buffers is what a case demands."""

import math
from dataclasses import dataclass

from .cases import Buffer, Case
from .layout import SCALARS


@dataclass
class Mismatch:
    """The first element that differs: where, and what was there in words."""

    group: int
    binding: int
    byte: int
    got: str
    wanted: str
    count: int

    def __str__(self) -> str:
        return (
            f"binding {self.group}.{self.binding} byte {self.byte}: {self.got} where {self.wanted} was due"
            f" ({self.count} differ)"
        )


def compare_buffer(buffer: Buffer, got: bytes) -> Mismatch | None:
    if buffer.output is not None:
        wanted = buffer.output
        if got == wanted:
            return None
        wrong = [i for i in range(0, max(len(got), len(wanted)), 4) if got[i : i + 4] != wanted[i : i + 4]]
        at = wrong[0]
        # Bytes of memory in the order in which one writes a number.
        text = [data[at : at + 4][::-1].hex() for data in (got, wanted)]
        return Mismatch(buffer.group, buffer.binding, at, text[0], text[1], len(wrong))
    if buffer.low is None or buffer.high is None:
        return None
    scalar = SCALARS[buffer.element]
    values, lows, highs = (scalar.unpack(data) for data in (got, buffer.low, buffer.high))
    wrong = [
        i for i, (v, low, high) in enumerate(zip(values, lows, highs)) if not (math.isnan(low) or low <= v <= high)
    ]
    if not wrong:
        return None
    i = wrong[0]
    return Mismatch(
        buffer.group, buffer.binding, i * scalar.size_bytes, repr(values[i]), f"[{lows[i]!r}, {highs[i]!r}]", len(wrong)
    )


def compare(case: Case, got: list[bytes]) -> Mismatch | None:
    for buffer, data in zip(case.buffers, got):
        mismatch = compare_buffer(buffer, data)
        if mismatch:
            return mismatch
    return None
