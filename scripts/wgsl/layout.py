"""Scalar types of WGSL, their bytes, and vectors as they lie in buffers."""

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

Number = int | float


@dataclass(frozen=True)
class Scalar:
    """A scalar type that lies in buffers. `bool` does not; it lies there as `u32`, 0 or 1."""

    name: str
    size_bytes: int
    code: str  # of the module struct

    @property
    def is_float(self) -> bool:
        return self.name[0] == "f"

    @property
    def is_signed(self) -> bool:
        return self.name[0] == "i"

    @property
    def bits(self) -> int:
        return 8 * self.size_bytes

    def wrap(self, value: int) -> int:
        """The integer modulo 2^bits, in the range of the type."""
        value &= (1 << self.bits) - 1
        return value - (1 << self.bits) if self.is_signed and value >> (self.bits - 1) else value

    @property
    def least(self) -> int:
        return -(1 << (self.bits - 1)) if self.is_signed else 0

    @property
    def most(self) -> int:
        return (1 << (self.bits - 1)) - 1 if self.is_signed else (1 << self.bits) - 1

    def pack(self, value: Number) -> bytes:
        return struct.pack("<" + self.code, value)

    def unpack(self, data: bytes) -> list[Number]:
        count = len(data) // self.size_bytes
        return list(struct.unpack(f"<{count}{self.code}", data[: count * self.size_bytes]))

    def round(self, value: float) -> float:
        """The nearest value of a floating-point type (an infinity where it overflows)."""
        try:
            return float(struct.unpack("<" + self.code, struct.pack("<" + self.code, value))[0])
        except OverflowError:
            return float("inf") if value > 0 else float("-inf")


F16 = Scalar("f16", 2, "e")
F32 = Scalar("f32", 4, "f")
F64 = Scalar("f64", 8, "d")
I32 = Scalar("i32", 4, "i")
U32 = Scalar("u32", 4, "I")
I64 = Scalar("i64", 8, "q")
U64 = Scalar("u64", 8, "Q")
SCALARS = {s.name: s for s in (F16, F32, F64, I32, U32, I64, U64)}


def type_name(scalar: str, width: int) -> str:
    return scalar if width == 1 else f"vec{width}<{scalar}>"


def stride(scalar: Scalar, width: int) -> int:
    """Bytes from one element of an array of vectors to the next: `vec3` takes the room of `vec4`."""
    return scalar.size_bytes * {1: 1, 2: 2, 3: 4, 4: 4}[width]


def vectors(scalar: Scalar, rows: Iterable[Sequence[Number]]) -> bytes:
    """An array of vectors as it lies in a buffer, whose size is a multiple of four; padding is zero."""
    data = bytearray()
    for row in rows:
        piece = b"".join(scalar.pack(value) for value in row)
        data += piece.ljust(stride(scalar, len(row)), b"\0")
    return bytes(data.ljust(-(-len(data) // 4) * 4, b"\0"))


def bits_of(value: float) -> int:
    """The bits of an f32."""
    return int(struct.unpack("<I", struct.pack("<f", value))[0])


def float_of(bits: int) -> float:
    return float(struct.unpack("<f", struct.pack("<I", bits))[0])
