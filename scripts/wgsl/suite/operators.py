"""Cases of the operators on scalars and vectors, and of the built-in functions on integers and booleans."""

import math
import operator
from collections.abc import Callable, Iterator

from .. import functions
from ..accuracy import Accepted, Rules
from ..cases import Case
from ..layout import F16, F32, F64, I32, I64, U32, U64, Number, Scalar, type_name
from . import inputs
from .maps import Argument, Map, Row, componentwise, componentwise_intervals, in_rows

COUNTS = {1: 36, 2: 12, 3: 12, 4: 12}
INTEGERS = (I32, U32, I64, U64)
COMPARISONS: dict[str, Callable[[Number, Number], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
BITWISE: dict[str, Callable[[int, int], int]] = {"&": operator.and_, "|": operator.or_, "^": operator.xor}


def quotient(scalar: Scalar, x: int, y: int) -> int:
    """Towards zero; x where the divisor is zero or the quotient overflows."""
    if y == 0 or (x == scalar.least and y == -1):
        return x
    size = abs(x) // abs(y)
    return size if (x < 0) == (y < 0) else -size


def remainder(scalar: Scalar, x: int, y: int) -> int:
    """With the sign of x; 0 where the divisor is zero or the quotient overflows."""
    if y == 0 or (scalar.is_signed and y == -1):
        return 0
    return x - y * quotient(scalar, x, y)


def arithmetic(scalar: Scalar) -> dict[str, Callable[[int, int], int]]:
    return {
        "+": lambda x, y: scalar.wrap(x + y),
        "-": lambda x, y: scalar.wrap(x - y),
        "*": lambda x, y: scalar.wrap(x * y),
        "/": lambda x, y: quotient(scalar, x, y),
        "%": lambda x, y: remainder(scalar, x, y),
        **BITWISE,
    }


def widths(scalar: Scalar) -> tuple[int, ...]:
    # Long integers and doubles are naga's extensions; vectors of them show nothing new beyond two widths.
    return (1, 2, 3, 4) if scalar.size_bytes < 8 else (1, 3)


def integers(scalar: Scalar, width: int, seed: str) -> list[Number]:
    return inputs.for_width(inputs.integers(scalar, COUNTS[1], seed), width, seed)


def integer_operators() -> Iterator[Map]:
    for scalar in INTEGERS:
        for width in widths(scalar):
            kind = type_name(scalar.name, width)
            for sign, function in arithmetic(scalar).items():
                left, right = operands(scalar, width, sign + kind)
                yield Map(
                    f"{kind} {sign} {kind}",
                    sign,
                    [kind],
                    [left, right],
                    f"x {sign} y",
                    scalar.name,
                    width,
                    exact=componentwise(function),
                )
                if width == 3 or (width == 2 and scalar is U32):
                    if sign in BITWISE:
                        continue  # mixed operands are for arithmetic only
                    yield from mixed(scalar, width, sign, function)
            yield comparisons(kind, width, operands(scalar, width, "compare" + kind))
            yield from shifts(scalar, width)
            yield from negations(scalar, width)


def comparisons(kind: str, width: int, pair: tuple[Argument, Argument], suffix: str = "", basis: str = "wgsl") -> Map:
    """All six in one number for each component."""
    word = type_name("u32", width)
    text = " + ".join(f"{1 << k}u * {word}(x {sign} y)" for k, sign in enumerate(COMPARISONS))

    def exact(x: Number, y: Number) -> int:
        return sum(compared(x, y) << k for k, compared in enumerate(COMPARISONS.values()))

    name = f"comparisons of {kind}{suffix}"
    apply = componentwise(exact)
    return Map(name, ", ".join(COMPARISONS), [kind], list(pair), text, "u32", width, exact=apply, basis=basis)


def negations(scalar: Scalar, width: int) -> Iterator[Map]:
    kind = type_name(scalar.name, width)
    one = Argument(scalar.name, width, in_rows(integers(scalar, width, "one" + kind), width))
    table: dict[str, Callable[[int], int]] = {"~": lambda x: scalar.wrap(~x)}
    if scalar.is_signed:
        table["-"] = lambda x: scalar.wrap(-x)
    for sign, negation in table.items():
        exact = componentwise(negation)
        yield Map(f"{sign}{kind}", sign, [kind], [one], f"{sign}x", scalar.name, width, exact=exact)


def operands(scalar: Scalar, width: int, seed: str) -> tuple[Argument, Argument]:
    values = integers(scalar, width, seed)
    second = inputs.paired(values, seed)
    # A quotient that overflows, a division by zero, equal operands, whatever the order.
    values[:3], second[:3] = [scalar.least, scalar.most, 5], [scalar.wrap(-1), 0, 5]
    return Argument(scalar.name, width, in_rows(values, width)), Argument(scalar.name, width, in_rows(second, width))


def mixed(scalar: Scalar, width: int, sign: str, function: Callable[[int, int], int]) -> Iterator[Map]:
    """A vector and a scalar, both ways round."""
    kind = type_name(scalar.name, width)
    vector, other = operands(scalar, width, sign + kind + "mixed")
    single = Argument(scalar.name, 1, [[row[0]] for row in other.rows])
    yield Map(
        f"{kind} {sign} {scalar.name}",
        sign,
        [kind, scalar.name],
        [vector, single],
        f"x {sign} y",
        scalar.name,
        width,
        exact=lambda x, y: [function(int(a), int(y[0])) for a in x],
    )
    yield Map(
        f"{scalar.name} {sign} {kind}",
        sign,
        [scalar.name, kind],
        [single, vector],
        f"x {sign} y",
        scalar.name,
        width,
        exact=lambda x, y: [function(int(x[0]), int(b)) for b in y],
    )


def shifts(scalar: Scalar, width: int) -> Iterator[Map]:
    """The amount counts modulo the width of the type."""
    kind = type_name(scalar.name, width)
    values = Argument(scalar.name, width, in_rows(integers(scalar, width, "shift" + kind), width))
    last = scalar.bits - 1
    amounts: list[Number] = [0, 1, last, last - 1, 31, 5, 7, 16, last + 1, last + 5, 0xFFFFFFFF, 3]
    amounts = [amounts[(k * 5 + 1) % len(amounts)] for k in range(len(values.rows) * width)]
    # A constant amount must be below the width; one at run time is taken modulo it.
    by = Argument("u32", width, in_rows(amounts, width))
    left: Callable[[int, int], int] = lambda x, n: scalar.wrap(x << (n % scalar.bits))  # noqa: E731
    right: Callable[[int, int], int] = lambda x, n: scalar.wrap(x >> (n % scalar.bits))  # noqa: E731
    for sign, function in (("<<", left), (">>", right)):
        yield Map(
            f"{kind} {sign} {type_name('u32', width)}",
            sign,
            [kind],
            [values, by],
            f"x {sign} y",
            scalar.name,
            width,
            exact=componentwise(function),
        )
        amount = "13u" if width == 1 else f"vec{width}<u32>({', '.join(('13u', '0u', '31u', '1u')[:width])})"
        amounts_of = (13, 0, 31, 1) if width > 1 else (13,)
        yield Map(
            f"{kind} {sign} constant",
            sign,
            [kind],
            [values],
            f"x {sign} {amount}",
            scalar.name,
            width,
            exact=lambda x, f=function, n=amounts_of: [f(int(a), b) for a, b in zip(x, n)],
        )


def boolean_operators() -> Iterator[Map]:
    for width in (1, 2, 3, 4):
        kind = type_name("bool", width)
        # All true and all false among them.
        edges: list[Number] = [*([1] * width), *([0] * width)]
        values = [Argument("bool", width, in_rows(edges + inputs.booleans(16, f"{kind}{k}"), width)) for k in range(2)]
        table: dict[str, Callable[[int, int], bool]] = {
            "&": lambda x, y: bool(x and y),
            "|": lambda x, y: bool(x or y),
            "==": operator.eq,
            "!=": operator.ne,
        }
        if width == 1:
            table |= {"&&": table["&"], "||": table["|"]}
        for sign, function in table.items():
            yield Map(
                f"{kind} {sign} {kind}",
                sign,
                [kind],
                values[:2],
                f"(x) {sign} (y)",
                "bool",
                width,
                exact=componentwise(function),
            )
        yield Map(f"!{kind}", "!", [kind], values[:1], "!(x)", "bool", width, exact=componentwise(operator.not_))
        yield Map(f"all {kind}", "all", [kind], values[:1], "all(x)", "bool", 1, exact=lambda x: [all(x)])
        yield Map(f"any {kind}", "any", [kind], values[:1], "any(x)", "bool", 1, exact=lambda x: [any(x)])


def select() -> Iterator[Map]:
    for scalar in (F32, F16, I32, U32, I64, U64):
        for width in widths(scalar):
            kind = type_name(scalar.name, width)
            count = COUNTS[width]
            if scalar.is_float:
                values = inputs.floats(scalar, count, "select" + kind)
            else:
                values = integers(scalar, width, "select" + kind)
            pair = [Argument(scalar.name, width, in_rows(v, width)) for v in (values, inputs.paired(values, kind))]
            flags = Argument("bool", width, in_rows(inputs.booleans(count, "flags" + kind), width))
            yield Map(
                f"select {kind}",
                "select",
                [kind],
                [*pair, flags],
                "select(x, y, z)",
                scalar.name,
                width,
                exact=componentwise(lambda x, y, z: y if z else x),
            )
            if width > 1:
                one = Argument("bool", 1, [[row[0]] for row in flags.rows])
                yield Map(
                    f"select {kind} by one bool",
                    "select",
                    [kind, "bool"],
                    [*pair, one],
                    "select(x, y, z)",
                    scalar.name,
                    width,
                    exact=lambda x, y, z: y if z[0] else x,
                )
    three = [Argument("bool", 2, in_rows(inputs.booleans(16, f"bools{k}"), 2)) for k in range(3)]
    yield Map(
        "select vec2<bool>",
        "select",
        ["vec2<bool>"],
        three,
        "select(x, y, z)",
        "bool",
        2,
        exact=componentwise(lambda x, y, z: y if z else x),
    )


def float_operators() -> Iterator[Map]:
    for scalar in (F32, F16, F64):
        for width in widths(scalar):
            yield from _float_operators(scalar, width)


def _float_operators(scalar: Scalar, width: int) -> Iterator[Map]:
    kind = type_name(scalar.name, width)
    count = COUNTS[width]
    # Results stay normal: the exponents of the operands are bounded.
    reach = {"f16": 5, "f32": 40, "f64": 300}[scalar.name]
    left = inputs.spread(scalar, count, "left" + kind, -reach, reach, True)
    right = inputs.spread(scalar, count, "right" + kind, -reach, reach, True)
    # Near each other, where sums cancel.
    for k in range(0, count, 2):
        right[k] = scalar.round(-left[k] * (1 + k / 64))
    left[:4], right[:4] = [1.0, 3.0, 0.0, 1.5], [0.0, 3.0, 1.0, -0.5]
    pair = [Argument(scalar.name, width, in_rows(v, width)) for v in (left, right)]
    table: dict[str, Callable[[float, float], float]] = {
        "+": lambda x, y: scalar.round(x + y),
        "-": lambda x, y: scalar.round(x - y),
        "*": lambda x, y: scalar.round(x * y),
    }
    for sign, function in table.items():
        exact = componentwise(function)
        yield Map(
            f"{kind} {sign} {kind}",
            sign,
            [kind],
            pair,
            f"x {sign} y",
            scalar.name,
            width,
            exact=exact,
            rule="correctly rounded, to the nearest",
        )
        if width == 3:
            single = Argument(scalar.name, 1, [[row[0]] for row in pair[1].rows])
            yield Map(
                f"{kind} {sign} {scalar.name}",
                sign,
                [kind, scalar.name],
                [pair[0], single],
                f"x {sign} y",
                scalar.name,
                width,
                exact=lambda x, y, f=function: [f(a, y[0]) for a in x],
                rule="correctly rounded, to the nearest",
            )
            yield Map(
                f"{scalar.name} {sign} {kind}",
                sign,
                [scalar.name, kind],
                [single, pair[0]],
                f"x {sign} y",
                scalar.name,
                width,
                exact=lambda x, y, f=function: [f(x[0], b) for b in y],
                rule="correctly rounded, to the nearest",
            )
    divisors = in_rows([v if v else 7.0 for v in right], width)
    yield Map(
        f"{kind} / {kind}",
        "/",
        [kind],
        [pair[0], Argument(scalar.name, width, divisors)],
        "x / y",
        scalar.name,
        width,
        accepted=componentwise_intervals(lambda r, x, y: r.div(x, y)),
        rule="2.5 ULP",
    )
    dividend = inputs.within(scalar, count, "dividend" + kind, -200, 200, (5.0, -5.0, 7.5, 0.75))
    divisor = inputs.within(scalar, count, "divisor" + kind, 0.5, 20, (3.0, 3.0, 0.75, 5.0))
    divisor = [-v if k % 3 == 1 else v for k, v in enumerate(divisor)]

    def modulo(r: Rules, x: Accepted, y: Accepted) -> Accepted:
        return functions.remainder(r, x, y)

    yield Map(
        f"{kind} % {kind}",
        "%",
        [kind],
        [Argument(scalar.name, width, in_rows(v, width)) for v in (dividend, divisor)],
        "x % y",
        scalar.name,
        width,
        accepted=componentwise_intervals(modulo),
        rule="inherited from x - y * trunc(x / y)",
    )
    yield Map(
        f"-{kind}",
        "-",
        [kind],
        pair[:1],
        "-x",
        scalar.name,
        width,
        exact=componentwise(operator.neg),
        rule="one result",
    )
    ordered = inputs.floats(scalar, count, "ordered" + kind) if scalar is not F64 else left
    other = inputs.paired(ordered, kind)
    first, second = (Argument(scalar.name, width, in_rows(v, width)) for v in (ordered, other))
    yield comparisons(kind, width, (first, second))
    if width == 1:
        yield from beyond(scalar)


def beyond(scalar: Scalar) -> Iterator[Map]:
    """Infinities and NaN, where WGSL lets an implementation assume that there are none."""
    special = [math.inf, -math.inf, 1.0, -2.0, 0.0]
    pairs = [(x, y) for x in special for y in special]
    arguments = [Argument(scalar.name, 1, [[p[k]] for p in pairs]) for k in (0, 1)]
    yield comparisons(scalar.name, 1, (arguments[0], arguments[1]), " infinities", "ieee")
    for name, function in (("min", min), ("max", max)):
        yield Map(
            f"{name} {scalar.name} infinities",
            name,
            [scalar.name],
            arguments,
            f"{name}(x, y)",
            scalar.name,
            1,
            exact=componentwise(function),
            basis="ieee",
        )


def integer_functions() -> Iterator[Map]:
    for scalar in INTEGERS:
        for width in widths(scalar):
            yield from _integer_functions(scalar, width)


def _integer_functions(scalar: Scalar, width: int) -> Iterator[Map]:
    kind = type_name(scalar.name, width)
    bits = scalar.bits
    values = integers(scalar, width, "functions" + kind)
    arguments = [
        Argument(scalar.name, width, in_rows(v, width))
        for v in (values, inputs.paired(values, kind), inputs.paired(values, kind + "third"))
    ]

    def unsigned(x: int) -> int:
        return x & ((1 << bits) - 1)

    def leading(x: int) -> int:
        """The highest bit that differs from the sign."""
        x = ~x if x < 0 else x
        return scalar.wrap(x.bit_length() - 1)

    one: dict[str, Callable[[int], int]] = {"abs": lambda x: scalar.wrap(abs(x))}
    if scalar.is_signed:
        one["sign"] = lambda x: (x > 0) - (x < 0)
    if bits == 32:
        one |= {
            "countLeadingZeros": lambda x: bits - unsigned(x).bit_length(),
            "countTrailingZeros": lambda x: (unsigned(x) & -unsigned(x)).bit_length() - 1 if x else bits,
            "countOneBits": lambda x: unsigned(x).bit_count(),
            "reverseBits": lambda x: scalar.wrap(int(f"{unsigned(x):0{bits}b}"[::-1], 2)),
            "firstLeadingBit": leading,
            "firstTrailingBit": lambda x: scalar.wrap((unsigned(x) & -unsigned(x)).bit_length() - 1),
        }
    for name, function in one.items():
        yield Map(
            f"{name} {kind}",
            name,
            [kind],
            arguments[:1],
            f"{name}(x)",
            scalar.name,
            width,
            exact=componentwise(function),
        )
    for name, pick in (("min", min), ("max", max)):
        yield Map(
            f"{name} {kind}",
            name,
            [kind],
            arguments[:2],
            f"{name}(x, y)",
            scalar.name,
            width,
            exact=componentwise(pick),
        )
    bounds: list[list[Row]] = [
        [[f(a, b) for a, b in zip(x, y)] for x, y in zip(arguments[1].rows, arguments[2].rows)] for f in (min, max)
    ]
    yield Map(
        f"clamp {kind}",
        "clamp",
        [kind],
        [arguments[0], *(Argument(scalar.name, width, rows) for rows in bounds)],
        "clamp(x, y, z)",
        scalar.name,
        width,
        exact=componentwise(lambda x, low, high: min(max(x, low), high)),
    )
    if width > 1:
        yield Map(
            f"dot {kind}",
            "dot",
            [kind],
            arguments[:2],
            "dot(x, y)",
            scalar.name,
            1,
            exact=lambda x, y: [scalar.wrap(sum(int(a) * int(b) for a, b in zip(x, y)))],
        )
    if bits == 32:
        yield from fields(scalar, width)


def fields(scalar: Scalar, width: int) -> Iterator[Map]:
    """extractBits and insertBits; offset and count are cut to the width of the type."""
    kind = type_name(scalar.name, width)
    places: list[Row] = [
        [0, 32],
        [0, 0],
        [31, 1],
        [32, 0],
        [0, 1],
        [4, 8],
        [16, 16],
        [5, 27],
        [24, 20],
        [40, 3],
        [8, 0],
        [7, 13],
    ]
    values = inputs.integers(scalar, len(places) * width, "fields" + kind)
    x = Argument(scalar.name, width, in_rows(values, width))
    y = Argument(scalar.name, width, in_rows(inputs.paired(values, kind), width))
    where = Argument("u32", 2, places)

    def cut(offset: int, count: int) -> tuple[int, int]:
        start = min(offset, 32)
        return start, min(count, 32 - start)

    def extract(value: int, offset: int, count: int) -> int:
        start, size = cut(offset, count)
        piece = ((value & 0xFFFFFFFF) >> start) & ((1 << size) - 1)
        return piece - (1 << size) if scalar.is_signed and size and piece >> (size - 1) else piece

    def insert(value: int, new: int, offset: int, count: int) -> int:
        start, size = cut(offset, count)
        mask = ((1 << size) - 1) << start
        return scalar.wrap((value & ~mask) | ((new << start) & mask))

    yield Map(
        f"extractBits {kind}",
        "extractBits",
        [kind],
        [x, where],
        "extractBits(x, y.x, y.y)",
        scalar.name,
        width,
        exact=lambda x, p: [extract(int(a), int(p[0]), int(p[1])) for a in x],
    )
    yield Map(
        f"insertBits {kind}",
        "insertBits",
        [kind],
        [x, y, where],
        "insertBits(x, y, z.x, z.y)",
        scalar.name,
        width,
        exact=lambda x, y, p: [insert(int(a), int(b), int(p[0]), int(p[1])) for a, b in zip(x, y)],
    )


def packed_products() -> Iterator[Map]:
    def split(x: int, signed: bool) -> list[int]:
        parts = [(x >> (8 * k)) & 255 for k in range(4)]
        return [p - 256 if signed and p > 127 else p for p in parts]

    values = inputs.integers(U32, 40, "packed")
    pair = [Argument("u32", 1, in_rows(v, 1)) for v in (values, inputs.paired(values, "packed"))]
    for name, scalar in (("dot4U8Packed", U32), ("dot4I8Packed", I32)):
        signed = scalar.is_signed
        yield Map(
            name,
            name,
            ["u32"],
            pair,
            f"{name}(x, y)",
            scalar.name,
            1,
            exact=lambda x, y, s=signed: [sum(a * b for a, b in zip(split(int(x[0]), s), split(int(y[0]), s)))],
        )


PARTS = (integer_operators, boolean_operators, select, float_operators, integer_functions, packed_products)


def cases() -> list[Case]:
    return [m.case() for part in PARTS for m in part()]
