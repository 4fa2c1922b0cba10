"""Cases of the numeric built-in functions on floating-point numbers."""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction

from .. import functions
from ..accuracy import Accepted, Rules
from ..cases import Case
from ..layout import F16, F32, F64, Number, Scalar, type_name
from . import inputs
from .maps import Argument, Map, Row, componentwise, componentwise_intervals, in_rows

# Elements of a case: scalars get the whole list, vectors fewer.
COUNTS = {1: 36, 2: 16, 3: 12, 4: 12}
# Where a function is tested: an interval, and special values in it.
UNIT = (-1.0, 1.0, (0.0, 1.0, -1.0, 0.5, -0.5, 0.25, 0.75, -0.9990234375))
ANGLE = (-3.140625, 3.140625, (0.0, 0.5, -0.5, 1.0, -1.0, 1.5703125, -1.5703125, 3.140625, -3.140625, 2.0))
DOMAINS: dict[str, tuple[float, float, tuple[float, ...]]] = {
    "sqrt": (0.0, 1000.0, (0.0, 1.0, 4.0, 2.0, 0.25, 0.0001, 999.0)),
    "inverseSqrt": (0.001, 1000.0, (1.0, 4.0, 2.0, 0.25, 0.5, 100.0)),
    "sin": ANGLE,
    "cos": ANGLE,
    "tan": (-1.5, 1.5, (0.0, 0.5, -0.5, 1.0, -1.0, 1.5, -1.5)),
    "asin": UNIT,
    "acos": UNIT,
    "atan": (-100.0, 100.0, (0.0, 1.0, -1.0, 0.5, 1000.0, -0.001)),
    "sinh": (-4.0, 4.0, (0.0, 1.0, -1.0, 0.5, 4.0)),
    "cosh": (-4.0, 4.0, (0.0, 1.0, -1.0, 0.5, 4.0)),
    "tanh": (-6.0, 6.0, (0.0, 1.0, -1.0, 0.5, 6.0, -6.0)),
    "asinh": (0.0, 50.0, (0.0, 1.0, 0.5, 10.0)),
    "acosh": (1.0, 50.0, (1.0, 2.0, 1.5, 10.0)),
    "atanh": (-0.96, 0.96, (0.0, 0.5, -0.5, 0.25, 0.9)),
    "exp": (-8.0, 8.0, (0.0, 1.0, -1.0, 0.5, 10.0, -7.5)),
    "exp2": (-12.0, 12.0, (0.0, 1.0, -1.0, 0.5, 10.0, -12.0, 3.0)),
    "log": (0.01, 1000.0, (1.0, 2.0, 0.5, 4.0, 0.75, 1.25, 1000.0, 0.9990234375)),
    "log2": (0.01, 1000.0, (1.0, 2.0, 0.5, 4.0, 0.75, 1.25, 1000.0, 0.9990234375)),
    "degrees": (-400.0, 400.0, (0.0, 1.0, -1.0, 3.140625)),
    "radians": (-720.0, 720.0, (0.0, 1.0, -1.0, 180.0, 90.0)),
    "fract": (-500.0, 500.0, (0.0, 1.0, -1.0, 0.5, -0.5, 1.75, -1.75, 3.25)),
}
# Functions whose domain reaches further in f32.
WIDE = {"exp": (-80.0, 80.0), "exp2": (-120.0, 120.0), "sinh": (-40.0, 40.0), "cosh": (-40.0, 40.0)}


def sign(x: float) -> float:
    return float((x > 0) - (x < 0))


def to_even(x: float) -> float:
    return math.copysign(float(round(x)), x) if abs(x) < 2.0**53 else x


def keep_sign(function: Callable[[float], int]) -> Callable[[float], float]:
    return lambda x: math.copysign(float(function(x)), x) if math.isfinite(x) else x


# One result only, each a function of numbers.
EXACT_1: dict[str, Callable[[float], float]] = {
    "abs": abs,
    "ceil": keep_sign(math.ceil),
    "floor": keep_sign(math.floor),
    "round": lambda x: to_even(x) if math.isfinite(x) else x,
    "trunc": keep_sign(math.trunc),
    "sign": sign,
    "saturate": lambda x: min(max(x, 0.0), 1.0),
}
EXACT_2: dict[str, Callable[[float, float], float]] = {
    "min": min,
    "max": max,
    "step": lambda edge, x: 1.0 if edge <= x else 0.0,
}


def one_argument() -> Iterator[Map]:
    for scalar in (F32, F16):
        for width in (1, 2, 3, 4):
            kind = type_name(scalar.name, width)
            for name, exact in EXACT_1.items():
                values = inputs.for_width(inputs.floats(scalar, COUNTS[1], name + kind), width, name + kind)
                if name == "saturate":
                    # The sign of the zero that comes of a negative zero is open.
                    values = [v for v in values if v != 0 or math.copysign(1, v) > 0]
                argument = Argument(scalar.name, width, in_rows(values, width))
                yield Map(
                    f"{name} {kind}",
                    name,
                    [kind],
                    [argument],
                    f"{name}(x)",
                    scalar.name,
                    width,
                    exact=componentwise(exact),
                    rule="one result",
                )
            for name, (accepted, rule) in functions.ONE_ARGUMENT.items():
                low, high, special = DOMAINS[name]
                if scalar is F32 and name in WIDE:
                    low, high = WIDE[name]
                values = inputs.within(scalar, COUNTS[width], name + kind, low, high, special)
                argument = Argument(scalar.name, width, in_rows(values, width))
                yield Map(
                    f"{name} {kind}",
                    name,
                    [kind],
                    [argument],
                    f"{name}(x)",
                    scalar.name,
                    width,
                    accepted=componentwise_intervals(accepted),
                    rule=rule,
                )
        for name in ("abs", "ceil", "floor", "round", "trunc", "sign"):
            rows = in_rows([*inputs.INFINITIES], 1)
            yield Map(
                f"{name} {scalar.name} infinities",
                name,
                [scalar.name],
                [Argument(scalar.name, 1, rows)],
                f"{name}(x)",
                scalar.name,
                1,
                exact=componentwise(EXACT_1[name]),
                rule="one result",
                basis="ieee",
            )
    for width in (1, 2, 3, 4):
        kind = type_name("f32", width)
        values = inputs.floats(F32, COUNTS[width], "quantizeToF16" + kind, -2000, 2000)
        # Halves of the last place of f16, which round to even.
        values = [v for v in values if abs(v) < 65504 and (v == 0 or abs(v) > 7e-5)]
        values += [1.00048828125, 1.00146484375, 2049.0, 2051.0, 1.0009765625]
        yield Map(
            f"quantizeToF16 {kind}",
            "quantizeToF16",
            [kind],
            [Argument("f32", width, in_rows(values, width))],
            "quantizeToF16(x)",
            "f32",
            width,
            exact=componentwise(F16.round),
            rule="correctly rounded, to the nearest",
        )


def doubles() -> Iterator[Map]:
    """naga's extension."""
    values = inputs.spread(F64, 24, "doubles", -3, 60, True) + [0.5, -0.5, 1.5, -2.5, 0.25, 1.0]
    one = Argument("f64", 1, in_rows(values, 1))
    two = Argument("f64", 1, in_rows(inputs.paired(values, "doubles"), 1))
    for name in ("abs", "floor", "ceil", "trunc", "sign"):
        exact = componentwise(EXACT_1[name])
        yield Map(f"{name} f64", name, ["f64"], [one], f"{name}(x)", "f64", 1, exact=exact, rule="one result")
    for name in ("min", "max"):
        exact = componentwise(EXACT_2[name])
        yield Map(f"{name} f64", name, ["f64"], [one, two], f"{name}(x, y)", "f64", 1, exact=exact, rule="one result")


def several_arguments() -> Iterator[Map]:
    for scalar in (F32, F16):
        for width in (1, 2, 3, 4):
            yield from _several(scalar, width)


def _several(scalar: Scalar, width: int) -> Iterator[Map]:
    kind = type_name(scalar.name, width)
    count = COUNTS[width]

    def values(name: str, place: int, low: float, high: float, special: tuple[float, ...] = ()) -> list[Row]:
        return in_rows(inputs.within(scalar, count, f"{name}{kind}{place}", low, high, special), width)

    def argument(rows: list[Row]) -> Argument:
        return Argument(scalar.name, width, rows)

    def of(name: str, arguments: list[Argument], rule: str, accepted: Callable[..., Accepted], text: str = "") -> Map:
        call = text or f"{name}({', '.join('xyzw'[: len(arguments)])})"
        apply = componentwise_intervals(accepted)
        suffix = "" if not text or name == "ldexp" else " by scalar"
        return Map(
            f"{name} {kind}{suffix}", name, [kind], arguments, call, scalar.name, width, accepted=apply, rule=rule
        )

    all_values = inputs.floats(scalar, count, "two" + kind)
    plain = [v for v in all_values if v != 0 or math.copysign(1, v) > 0]
    for name, exact in EXACT_2.items():
        second = inputs.paired(plain, name)
        yield Map(
            f"{name} {kind}",
            name,
            [kind],
            [argument(in_rows(plain, width)), argument(in_rows(second, width))],
            f"{name}(x, y)",
            scalar.name,
            width,
            exact=componentwise(exact),
            rule="one result",
        )
    low, high = values("clamp", 1, -10, 0), values("clamp", 2, 0.5, 10)
    yield Map(
        f"clamp {kind}",
        "clamp",
        [kind],
        [argument(values("clamp", 0, -20, 20, (0.5, -10.0, 10.0, 1.0))), argument(low), argument(high)],
        "clamp(x, y, z)",
        scalar.name,
        width,
        exact=componentwise(lambda x, low, high: min(max(x, low), high)),
        rule="one result",
    )
    yield of(
        "pow",
        [
            argument(values("pow", 0, 0.1, 6, (1.0, 2.0, 0.5, 4.0))),
            argument(values("pow", 1, -4, 4, (2.0, 3.0, -1.0, 0.5))),
        ],
        "inherited from exp2(y * log2(x))",
        functions.power,
    )
    yield of(
        "atan2",
        [
            argument(values("atan2", 0, -20, 20, (1.0, -1.0, 1.0, -1.0, 0.5))),
            argument(
                in_rows(
                    [
                        x if abs(x) > 0.01 else 0.5
                        for x in inputs.within(scalar, count, "ax" + kind, -20, 20, (1.0, 1.0, -1.0, -1.0))
                    ],
                    width,
                )
            ),
        ],
        "4096 ULP (f16: 5 ULP)",
        lambda r, y, x: r.atan2(y, x),
    )
    yield of(
        "fma",
        [argument(values("fma", k, -30, 30, (1.0, 0.0, -2.0)[k:])) for k in range(3)],
        "inherited from x * y + z; fused too",
        functions.fma,
    )
    yield of(
        "mix",
        [
            argument(values("mix", 0, -30, 30, (1.0, 0.0, 2.0))),
            argument(values("mix", 1, -30, 30, (5.0, 4.0, -2.0))),
            argument(values("mix", 2, 0, 1, (0.0, 1.0, 0.5))),
        ],
        "inherited from x * (1.0 - z) + y * z",
        functions.mix,
    )
    yield of(
        "smoothstep",
        [
            argument(values("smoothstep", 0, -2, 0, (0.0, 0.0, -1.0))),
            argument(values("smoothstep", 1, 1, 3, (1.0, 1.0, 2.0))),
            argument(values("smoothstep", 2, -3, 4, (0.5, 0.0, 2.0))),
        ],
        "inherited from t * t * (3.0 - 2.0 * t), t = clamp((x - low) / (high - low), 0.0, 1.0)",
        functions.smoothstep,
    )
    exponents = Argument("i32", width, in_rows([0, 1, -1, 5, -5, 3, -3, 2], width))
    rows = len(exponents.rows)
    integers_type = type_name("i32", width)
    ldexp = of(
        "ldexp",
        [argument(values("ldexp", 0, -8, 8, (1.0, 0.0, -3.0))[:rows]), exponents],
        "correctly rounded",
        lambda r, x, y: (
            None if x is None else r.form.rounded(x.low * Fraction(2) ** y.low, x.low * Fraction(2) ** y.low)
        ),
        "ldexp(x, y)",
    )
    ldexp.types = [kind, integers_type]
    yield ldexp
    if width > 1:
        scalars = Argument(scalar.name, 1, in_rows(inputs.within(scalar, count, "mixs" + kind, 0, 1, (0.0, 1.0)), 1))
        begin, end = values("mixa", 0, -30, 30), values("mixb", 1, -30, 30)
        scalars.rows = scalars.rows[: len(begin)]

        def mixed(r: Rules, x: Row, y: Row, z: Row) -> list[Accepted]:
            return [functions.mix(r, r.point(a), r.point(b), r.point(z[0])) for a, b in zip(x, y)]

        yield Map(
            f"mix {kind} by scalar",
            "mix",
            [kind, scalar.name],
            [argument(begin), argument(end), scalars],
            "mix(x, y, z)",
            scalar.name,
            width,
            accepted=mixed,
            rule="inherited from x * (1.0 - z) + y * z",
        )


def geometry() -> Iterator[Map]:
    for scalar in (F32, F16):
        for width in (1, 2, 3, 4):
            yield from _geometry(scalar, width)


def _geometry(scalar: Scalar, width: int) -> Iterator[Map]:
    kind = type_name(scalar.name, width)
    reach = 6.0 if scalar is F16 else 50.0

    def vector(place: int, special: list[Row]) -> Argument:
        values = inputs.within(scalar, 5 * width, f"geometry{kind}{place}", 0.25, reach)
        flipped = [v if k % 3 != place else -v for k, v in enumerate(values)]
        return Argument(scalar.name, width, [list(row[:width]) for row in special] + list(in_rows(flipped, width)))

    x = vector(0, [[3, 4, 0, 0], [1, 2, 2, 4], [1, 0, 0, 0]])
    y = vector(1, [[4, -3, 1, 2], [2, 1, -2, 1], [0, 1, 0, 0]])

    def points(r: Rules, row: Row) -> list[Accepted]:
        return [r.point(v) for v in row]

    def of(
        name: str, arguments: list[Argument], result_width: int, rule: str, accepted: Callable[..., list[Accepted]]
    ) -> Map:
        call = f"{name}({', '.join('xyzw'[: len(arguments)])})"
        return Map(
            f"{name} {kind}", name, [kind], arguments, call, scalar.name, result_width, accepted=accepted, rule=rule
        )

    yield of("length", [x], 1, "inherited from sqrt(dot(x, x))", lambda r, a: [functions.length(r, points(r, a))])
    yield of(
        "distance",
        [x, y],
        1,
        "inherited from length(x - y)",
        lambda r, a, b: [functions.length(r, [r.sub(r.point(p), r.point(q)) for p, q in zip(a, b)])],
    )
    if width == 1:
        return
    yield of(
        "dot",
        [x, y],
        1,
        "inherited from the sum of x[i] * y[i]",
        lambda r, a, b: [functions.dot(r, points(r, a), points(r, b))],
    )
    yield of("normalize", [x], width, "inherited from x / length(x)", lambda r, a: functions.normalize(r, points(r, a)))
    if width == 3:
        yield of(
            "cross",
            [x, y],
            3,
            "inherited from x[i] * y[j] - x[j] * y[i]",
            lambda r, a, b: functions.cross(r, points(r, a), points(r, b)),
        )
    yield of(
        "reflect",
        [x, y],
        width,
        "inherited from x - 2.0 * dot(x, y) * y",
        lambda r, a, b: functions.reflect(r, points(r, a), points(r, b)),
    )
    z = vector(2, [[1, 0, 0, 0], [0, 1, 0, 0], [1, 1, 0, 0]])

    def forward(r: Rules, a: Row, b: Row, c: Row) -> list[Accepted]:
        along = functions.dot(r, points(r, c), points(r, b))
        if along is None or along.low < 0 <= along.high:
            return [None] * width
        return [r.point(v if along.low < 0 else -v) for v in a]

    yield of("faceForward", [x, y, z], width, "inherited from select(-x, x, dot(z, y) < 0.0)", forward)
    unit = Argument(scalar.name, width, [normal(row) for row in x.rows])
    surface = Argument(scalar.name, width, [normal(row) for row in y.rows])
    ratio = Argument(scalar.name, 1, [[(0.5, 0.9, 1.5, 0.75, 3.0)[k % 5]] for k in range(len(x.rows))])
    refract = of(
        "refract",
        [unit, surface, ratio],
        width,
        "inherited from z * x - (z * dot(y, x) + sqrt(k)) * y, k = 1.0 - z * z * (1.0 - dot(y, x) * dot(y, x))",
        lambda r, a, b, c: functions.refract(r, points(r, a), points(r, b), r.point(c[0])),
    )
    yield refract


def normal(row: Row) -> list[Number]:
    size = math.sqrt(sum(v * v for v in row))
    return [v / size for v in row]


def parts() -> Iterator[Map]:
    """modf and frexp, whose results are structures."""
    for scalar in (F32, F16):
        for width in (1, 2, 3, 4):
            kind = type_name(scalar.name, width)
            values = [v for v in inputs.floats(scalar, COUNTS[width], "parts" + kind) if v == 0 or abs(v) > 6.2e-5]
            argument = [Argument(scalar.name, width, in_rows(values, width))]
            # The sign of a fraction that is zero is open.
            yield Map(
                f"modf fract {kind}",
                "modf",
                [kind],
                argument,
                "abs(modf(x).fract)",
                scalar.name,
                width,
                exact=componentwise(lambda x: abs(math.modf(x)[0])),
                rule="one result",
            )
            yield Map(
                f"modf whole {kind}",
                "modf",
                [kind],
                argument,
                "modf(x).whole",
                scalar.name,
                width,
                accepted=componentwise_intervals(lambda r, x: r.trunc(x)),
                rule="one result, a zero of either sign",
            )
            if scalar is F16:
                # naga gives the exponent of f16 a type that its validator refuses.
                continue
            yield Map(
                f"frexp fract {kind}",
                "frexp",
                [kind],
                argument,
                "frexp(x).fract",
                scalar.name,
                width,
                exact=componentwise(lambda x: math.frexp(x)[0]),
                rule="one result",
            )
            yield Map(
                f"frexp exp {kind}",
                "frexp",
                [kind],
                argument,
                "frexp(x).exp",
                "i32",
                width,
                exact=componentwise(lambda x: math.frexp(x)[1]),
                rule="one result",
            )


def cases() -> list[Case]:
    return [m.case() for part in (one_argument, doubles, several_arguments, geometry, parts) for m in part()]
