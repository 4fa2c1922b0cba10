"""Cases of the conversions, bitcasts, and packing."""

import math
import struct
from collections.abc import Callable, Iterator
from fractions import Fraction

from ..accuracy import Accepted, Rules
from ..cases import Case
from ..layout import (
    F16,
    F32,
    F64,
    I32,
    I64,
    SCALARS,
    U32,
    U64,
    Number,
    Scalar,
    type_name,
)
from . import inputs
from .maps import Argument, Map, Row, componentwise, in_rows

COUNT = 24
NAMES = ("f32", "f16", "i32", "u32", "bool")
LONG_NAMES = ("i64", "u64", "f64")


def arguments_of(name: str, target: str) -> list[Number]:
    if name == "bool":
        return inputs.booleans(COUNT, target)
    scalar = SCALARS[name]
    if not scalar.is_float:
        values = inputs.integers(scalar, COUNT + 16, name + target)
        # Halves of the last place of f32, and a number that rounds up to the next power of two.
        values += [scalar.wrap(x) for x in (0x1000001, 0x1000003, 0x1FFFFFF, 0x7FFFFFC0)]
        if target == "f16":
            # What overflows may become an infinity or the largest number.
            values = [v for v in values if abs(v) < 65504]
            values += [2049, 2051, 65503, 4098]
        return values
    values = inputs.floats(scalar, COUNT + 16, name + target) if name != "f64" else [float(v) for v in inputs.FLOATS]
    values += [0.999755859375, -0.99951171875, 1.9990234375, 32767.5 if name != "f16" else 32752.0]
    if target == "f16":
        values = [v for v in values if abs(v) < 65504 and (v == 0 or abs(v) > 7e-5)]
        values += [1.00048828125, 1.00146484375, 2049.0, 2051.0] if name != "f16" else []
    if target in ("i32", "u32") and name != "f16":
        values += [2147483520.0, -2147483648.0, 4294967040.0, 4294967296.0, 3e9, -1e10, 1e20]
    if target == "f32" and name == "f64":
        values += [1.00000001, 1.0 + 2.0**-24, 1.0 + 3 * 2.0**-24, 1e-30, 1e30, math.pi]
    if target in ("i64", "u64", "f64"):
        values = [v for v in values if abs(v) < 2.0**62]
    return values


def converted(source: str, target: str, x: Number) -> Number:
    if target == "bool":
        return int(x != 0)
    scalar = SCALARS[target]
    if scalar.is_float:
        return nearest(scalar, x)
    if source == "bool" or not SCALARS[source].is_float:
        return scalar.wrap(int(x))
    return clamped(SCALARS[source], scalar, float(x))


def nearest(scalar: Scalar, x: Number) -> float:
    """An integer to the nearest number, with one rounding."""
    if isinstance(x, int) and abs(x) > 2**53 and scalar is F32:
        shift = abs(x).bit_length() - 26
        kept = (abs(x) >> shift) | (1 if abs(x) & ((1 << shift) - 1) else 0)
        return math.copysign(F32.round(float(kept)) * 2.0**shift, x)
    return scalar.round(float(x))


def clamped(source: Scalar, target: Scalar, x: float) -> int:
    """Towards zero; what is out of range becomes the nearest limit that the source can say."""
    low, high = float(target.least), source.round(float(target.most))
    if high > target.most:
        bits = {"f16": 11, "f32": 24, "f64": 53}[source.name]
        high = float(target.most + 1 - (1 << (target.bits - int(target.is_signed) - bits)))
    return math.trunc(min(max(x, low), high))


def between_scalars() -> Iterator[Map]:
    for source in (*NAMES, *LONG_NAMES):
        for target in (*NAMES, *LONG_NAMES):
            long = source in LONG_NAMES or target in LONG_NAMES
            for width in (1, 3) if long else (1, 2, 3, 4):
                if "f16" in (source, target) and long:
                    continue  # no driver at hand has both
                from_kind, to_kind = type_name(source, width), type_name(target, width)
                values = arguments_of(source, target)
                yield Map(
                    f"{to_kind}({from_kind})",
                    "conversion",
                    [from_kind, to_kind],
                    [Argument(source, width, in_rows(inputs.for_width(values, width, to_kind), width))],
                    f"{to_kind}(x)",
                    target,
                    width,
                    exact=componentwise(lambda x, s=source, t=target: converted(s, t, x)),
                    rule="to the nearest, clamped",
                )


def bitcasts() -> Iterator[Map]:
    for source in (F32, I32, U32):
        for target in (F32, I32, U32):
            for width in (1, 2, 3, 4):
                from_kind, to_kind = type_name(source.name, width), type_name(target.name, width)
                yield bitcast(source, width, target, width, from_kind, to_kind)
    for scalar in (F32, I32, U32):
        yield bitcast(scalar, 1, F16, 2, scalar.name, "vec2<f16>")
        yield bitcast(F16, 2, scalar, 1, "vec2<f16>", scalar.name)
        yield bitcast(scalar, 2, F16, 4, f"vec2<{scalar.name}>", "vec4<f16>")
        yield bitcast(F16, 4, scalar, 2, "vec4<f16>", f"vec2<{scalar.name}>")
    for width in (1, 2):
        yield bitcast(F16, width, F16, width, type_name("f16", width), type_name("f16", width))
    for source in (I64, U64, F64):
        for target in (I64, U64, F64):
            yield bitcast(source, 1, target, 1, source.name, target.name)


def bitcast(source: Scalar, width: int, target: Scalar, out_width: int, from_kind: str, to_kind: str) -> Map:
    # Normal numbers only: a driver may change subnormals and NaN on the way.
    floats = source.is_float or target.is_float
    least = F16 if F16 in (source, target) else F64 if F64 in (source, target) else F32
    if floats:
        reach = {"f16": 13, "f32": 120, "f64": 1000}[least.name]
        whole = width * source.size_bytes // least.size_bytes
        values = [1.0, -0.0, *inputs.spread(least, 6 * whole - 2, from_kind + to_kind, -reach, reach, True)]
        data = b"".join(least.pack(v) for v in values)
        numbers = source.unpack(data)
    else:
        numbers = inputs.integers(source, 6 * width, from_kind + to_kind)

    def exact(x: Row) -> list[Number]:
        return target.unpack(b"".join(source.pack(v) for v in x))

    return Map(
        f"bitcast<{to_kind}>({from_kind})",
        "bitcast",
        [from_kind, to_kind],
        [Argument(source.name, width, in_rows(numbers, width))],
        f"bitcast<{to_kind}>(x)",
        target.name,
        out_width,
        exact=exact,
    )


def packing() -> Iterator[Map]:
    """Floor(0.5 + scale * clamped): halves do not occur among the arguments, where the rounding of a driver is open."""
    for name, width, scale, low in (
        ("pack4x8snorm", 4, 127, -1.0),
        ("pack4x8unorm", 4, 255, 0.0),
        ("pack2x16snorm", 2, 32767, -1.0),
        ("pack2x16unorm", 2, 65535, 0.0),
    ):
        values = [v for v in inputs.floats(F32, 48, name, -1.5, 1.5) if far_from_half(float(v) * scale)]
        bits = 32 // width

        def pack(x: Row, low: float = low, scale: int = scale, bits: int = bits) -> list[int]:
            parts = [math.floor(Fraction(1, 2) + scale * Fraction(min(max(v, low), 1.0))) for v in x]
            return [sum((p & ((1 << bits) - 1)) << (bits * k) for k, p in enumerate(parts))]

        kind = type_name("f32", width)
        yield Map(
            name, name, [kind], [Argument("f32", width, in_rows(values, width))], f"{name}(x)", "u32", 1, exact=pack
        )
    values = inputs.floats(F32, 48, "pack2x16float", -2000, 2000)
    values = [v for v in values if abs(v) <= 65504 and (v == 0 or abs(v) > 7e-5)] + [2049.0, 2051.0]
    yield Map(
        "pack2x16float",
        "pack2x16float",
        ["vec2<f32>"],
        [Argument("f32", 2, in_rows(values, 2))],
        "pack2x16float(x)",
        "u32",
        1,
        exact=lambda x: [struct.unpack("<I", b"".join(F16.pack(v) for v in x))[0]],
        rule="to the nearest",
    )
    for name, scalar, clamps in (
        ("pack4xI8", I32, False),
        ("pack4xU8", U32, False),
        ("pack4xI8Clamp", I32, True),
        ("pack4xU8Clamp", U32, True),
    ):
        numbers = inputs.integers(scalar, 32, name) + [127, 128, 129, 255, 256, 300, 100, 50]
        if scalar is I32:
            numbers += [-127, -128, -129, -300]
        limits = (-128, 127) if scalar is I32 else (0, 255)

        def pack_bytes(x: Row, clamps: bool = clamps, limits: tuple[int, int] = limits) -> list[int]:
            parts = [min(max(int(v), limits[0]), limits[1]) if clamps else int(v) for v in x]
            return [sum((p & 255) << (8 * k) for k, p in enumerate(parts))]

        kind = type_name(scalar.name, 4)
        argument = Argument(scalar.name, 4, in_rows(numbers, 4))
        yield Map(name, name, [kind], [argument], f"{name}(x)", "u32", 1, exact=pack_bytes)


def far_from_half(x: float) -> bool:
    return abs(abs(x) % 1 - 0.5) > 0.01


def unpacking() -> Iterator[Map]:
    words = [*inputs.integers(U32, 24, "unpack"), 0x80808080, 0x80008000, 0x81FF7F00, 0x80017FFF]
    argument = [Argument("u32", 1, in_rows(words, 1))]

    def parts(x: Row, bits: int, signed: bool) -> list[int]:
        found = [(int(x[0]) >> (bits * k)) & ((1 << bits) - 1) for k in range(32 // bits)]
        return [p - (1 << bits) if signed and p >> (bits - 1) else p for p in found]

    for name, bits, scale, signed in (
        ("unpack4x8snorm", 8, 127, True),
        ("unpack4x8unorm", 8, 255, False),
        ("unpack2x16snorm", 16, 32767, True),
        ("unpack2x16unorm", 16, 65535, False),
    ):

        def accepted(r: Rules, x: Row, bits: int = bits, scale: int = scale, signed: bool = signed) -> list[Accepted]:
            return [r.within_ulp(max(Fraction(p, scale), Fraction(-1)), 3) for p in parts(x, bits, signed)]

        width = 32 // bits
        yield Map(
            name, name, [type_name("f32", width)], argument, f"{name}(x)", "f32", width, accepted=accepted, rule="3 ULP"
        )
    rng = inputs.spread(F16, 32, "unpack2x16float", -13, 14, True)
    halves = [0.0, -0.0, 65504.0, 1.0, *rng]
    pairs = [struct.unpack("<I", F16.pack(a) + F16.pack(b))[0] for a, b in zip(halves, reversed(halves))]
    yield Map(
        "unpack2x16float",
        "unpack2x16float",
        ["vec2<f32>"],
        [Argument("u32", 1, in_rows(pairs, 1))],
        "unpack2x16float(x)",
        "f32",
        2,
        exact=lambda x: F16.unpack(struct.pack("<I", int(x[0]))),
    )
    for name, result, signed in (("unpack4xI8", "i32", True), ("unpack4xU8", "u32", False)):

        def exact(x: Row, signed: bool = signed) -> list[int]:
            return parts(x, 8, signed)

        yield Map(name, name, [type_name(result, 4)], argument, f"{name}(x)", result, 4, exact=exact)


def constructors() -> Iterator[Map]:
    """Vectors from mixed parts, splats, swizzles, zero values."""
    for scalar in (F32, F16, I32, U32):
        name = scalar.name
        values = (
            inputs.floats(scalar, 32, "parts" + name)
            if scalar.is_float
            else inputs.integers(scalar, 32, "parts" + name)
        )
        x = Argument(name, 4, in_rows(values, 4))
        table: dict[str, tuple[str, Callable[[Row], list[Number]]]] = {
            "of scalars": (f"vec4<{name}>(x.w, x.x, x.z, x.y)", lambda x: [x[3], x[0], x[2], x[1]]),
            "of vec2 and scalars": (f"vec4<{name}>(x.zw, x.x, x.y)", lambda x: [x[2], x[3], x[0], x[1]]),
            "of scalar and vec3": ("vec4(x.y, x.wzx)", lambda x: [x[1], x[3], x[2], x[0]]),
            "of two vec2": ("vec4(x.wx, x.yy)", lambda x: [x[3], x[0], x[1], x[1]]),
            "splat": (f"vec4<{name}>(x.z)", lambda x: [x[2]] * 4),
            "zero value": (f"vec4(x.xy, vec2<{name}>())", lambda x: [x[0], x[1], 0, 0]),
            "swizzle of swizzle": ("x.wzyx.xxzy.rgba", lambda x: [x[3], x[3], x[1], x[2]]),
        }
        for title, (text, exact) in table.items():
            yield Map(f"vec4<{name}> {title}", "vec4", [f"vec4<{name}>"], [x], text, name, 4, exact=exact)


PARTS = (between_scalars, bitcasts, packing, unpacking, constructors)


def cases() -> list[Case]:
    return [m.case() for part in PARTS for m in part()]
