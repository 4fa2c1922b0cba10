"""The floating-point built-in functions by the rules of `accuracy`: for each, what is accepted for given arguments.
The specification's expression stands where an accuracy is inherited."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from .accuracy import Accepted, Interval, Rules, hull

Vector = Sequence[Accepted]
# Sums of products may be added in any order, and fused; every order is accepted that a machine may choose: left to right,
# right to left, in pairs.


def total(r: Rules, terms: Sequence[Accepted]) -> Accepted:
    if len(terms) == 1:
        return terms[0]
    forwards, backwards = terms[0], terms[-1]
    for term in terms[1:]:
        forwards = r.add(forwards, term)
    for term in reversed(terms[:-1]):
        backwards = r.add(backwards, term)
    orders = [forwards, backwards]
    if len(terms) == 4:
        orders.append(r.add(r.add(terms[0], terms[1]), r.add(terms[2], terms[3])))
        orders.append(r.add(r.add(terms[0], terms[2]), r.add(terms[1], terms[3])))
    if len(terms) == 3:
        orders.append(r.add(r.add(terms[0], terms[2]), terms[1]))
    return hull(*orders)


def dot(r: Rules, x: Vector, y: Vector) -> Accepted:
    rounded = total(r, [r.mul(a, b) for a, b in zip(x, y)])
    # Fused: the product itself is not rounded.
    exact = [product(a, b) for a, b in zip(x, y)]
    return hull(rounded, total(r, exact)) if len(exact) > 1 else rounded


def product(x: Accepted, y: Accepted) -> Accepted:
    if x is None or y is None:
        return None
    corners = [a * b for a in (x.low, x.high) for b in (y.low, y.high)]
    return Interval(min(corners), max(corners))


def length(r: Rules, x: Vector) -> Accepted:
    """sqrt(dot(x, x)); in the scalar case sqrt(x * x), or the absolute value itself."""
    if len(x) == 1:
        a = x[0]
        if a is None or a.low != a.high:
            return r.sqrt(r.mul(a, a))
        return hull(r.sqrt(r.mul(a, a)), r.point(abs(a.low)))
    squares = dot(r, x, x)
    return None if squares is None else r.sqrt(Interval(max(squares.low, Fraction(0)), squares.high))


def normalize(r: Rules, x: Vector) -> list[Accepted]:
    """x / length(x), or x * inverseSqrt(dot(x, x))."""
    size = length(r, x)
    squares = dot(r, x, x)
    inverse = r.inverse_sqrt(squares)
    return [hull(r.div(a, size), r.mul(a, inverse)) for a in x]


def fract(r: Rules, x: Accepted) -> Accepted:
    return r.sub(x, r.floor(x))


def remainder(r: Rules, x: Accepted, y: Accepted) -> Accepted:
    """x - y * trunc(x / y)."""
    quotient = r.trunc(r.div(x, y))
    return r.sub(x, r.mul(y, quotient))


def fma(r: Rules, x: Accepted, y: Accepted, z: Accepted) -> Accepted:
    return hull(r.add(r.mul(x, y), z), r.add(product(x, y), z))


def mix(r: Rules, x: Accepted, y: Accepted, z: Accepted) -> Accepted:
    """x * (1.0 - z) + y * z; x + (y - x) * z is what Vulkan's drivers may compute, and as accurate where it is in range."""
    one = r.sub(r.point(1), z)
    first = hull(r.add(r.mul(x, one), r.mul(y, z)), r.add(product(x, one), r.mul(y, z)), fma(r, y, z, r.mul(x, one)))
    return hull(first, fma(r, r.sub(y, x), z, x))


def smoothstep(r: Rules, low: Accepted, high: Accepted, x: Accepted) -> Accepted:
    t = r.clamp(r.div(r.sub(x, low), r.sub(high, low)), 0, 1)
    rest = r.sub(r.point(3), r.mul(r.point(2), t))
    return hull(r.mul(r.mul(t, t), rest), r.mul(t, r.mul(t, rest)))


def power(r: Rules, x: Accepted, y: Accepted) -> Accepted:
    return r.exp2(r.mul(y, r.log2(x)))


def degrees(r: Rules, x: Accepted) -> Accepted:
    return r.mul(x, r.form.rounded(Fraction("57.295779513082322865"), Fraction("57.295779513082322865")))


def radians(r: Rules, x: Accepted) -> Accepted:
    return r.mul(x, r.form.rounded(Fraction("0.017453292519943295474"), Fraction("0.017453292519943295474")))


def scalar_of(x: Accepted) -> float:
    assert x is not None
    return float(x.low)


def acos(r: Rules, x: Accepted) -> Accepted:
    rest = r.sqrt(r.sub(r.point(1), r.mul(x, x)))
    return r.worse(math.acos(scalar_of(x)), 3.91e-3 if r.half else 6.77e-5, r.atan2(rest, x))


def asin(r: Rules, x: Accepted) -> Accepted:
    rest = r.sqrt(r.sub(r.point(1), r.mul(x, x)))
    return r.worse(math.asin(scalar_of(x)), 3.91e-3 if r.half else 6.81e-5, r.atan2(x, rest))


def tanh(r: Rules, x: Accepted) -> Accepted:
    inherited = r.div(sinh(r, x), cosh(r, x))
    return r.worse(math.tanh(scalar_of(x)), 1e-5, inherited)


def sinh(r: Rules, x: Accepted) -> Accepted:
    return r.mul(r.sub(r.exp(x), r.exp(r.neg(x))), r.point(0.5))


def cosh(r: Rules, x: Accepted) -> Accepted:
    return r.mul(r.add(r.exp(x), r.exp(r.neg(x))), r.point(0.5))


def asinh(r: Rules, x: Accepted) -> Accepted:
    return r.log(r.add(x, r.sqrt(fma(r, x, x, r.point(1)))))


def acosh(r: Rules, x: Accepted) -> Accepted:
    squares = fma(r, x, x, r.point(-1))
    if squares is not None and squares.low < 0:
        squares = Interval(Fraction(0), squares.high)
    return r.log(r.add(x, r.sqrt(squares)))


def atanh(r: Rules, x: Accepted) -> Accepted:
    return r.mul(r.log(r.div(r.add(r.point(1), x), r.sub(r.point(1), x))), r.point(0.5))


def tan(r: Rules, x: Accepted) -> Accepted:
    return r.div(r.sin(x), r.cos(x))


def cross(r: Rules, x: Vector, y: Vector) -> list[Accepted]:
    def one(i: int, j: int) -> Accepted:
        left, right = r.mul(x[i], y[j]), r.mul(x[j], y[i])
        return hull(r.sub(left, right), r.sub(product(x[i], y[j]), right), r.sub(left, product(x[j], y[i])))

    return [one(1, 2), one(2, 0), one(0, 1)]


def reflect(r: Rules, x: Vector, y: Vector) -> list[Accepted]:
    """x - 2.0 * dot(x, y) * y."""
    twice = r.mul(r.point(2), dot(r, x, y))
    return [hull(r.sub(a, r.mul(twice, b)), r.sub(a, product(twice, b))) for a, b in zip(x, y)]


def refract(r: Rules, x: Vector, y: Vector, z: Accepted) -> list[Accepted]:
    along = dot(r, y, x)
    k = r.sub(r.point(1), r.mul(r.mul(z, z), r.sub(r.point(1), r.mul(along, along))))
    if k is None or k.low < 0 <= k.high:
        return [None] * len(x)
    if k.high < 0:
        return [r.point(0)] * len(x)
    scale = fma(r, z, along, r.sqrt(k))
    return [hull(r.sub(r.mul(z, a), r.mul(scale, b)), r.sub(r.mul(z, a), product(scale, b))) for a, b in zip(x, y)]


ONE_ARGUMENT: dict[str, tuple[Callable[[Rules, Accepted], Accepted], str]] = {
    "sqrt": (lambda r, x: r.sqrt(x), "inherited from 1.0 / inverseSqrt(x)"),
    "inverseSqrt": (lambda r, x: r.inverse_sqrt(x), "2 ULP"),
    "sin": (lambda r, x: r.sin(x), "absolute 2^-11 (f16: 2^-7) in [-pi, pi]"),
    "cos": (lambda r, x: r.cos(x), "absolute 2^-11 (f16: 2^-7) in [-pi, pi]"),
    "tan": (tan, "inherited from sin(x) / cos(x)"),
    "asin": (asin, "the worse of absolute 6.81e-5 (f16: 3.91e-3) and atan2(x, sqrt(1 - x * x))"),
    "acos": (acos, "the worse of absolute 6.77e-5 (f16: 3.91e-3) and atan2(sqrt(1 - x * x), x)"),
    "atan": (lambda r, x: r.atan(x), "4096 ULP (f16: 5 ULP)"),
    "sinh": (sinh, "inherited from (exp(x) - exp(-x)) * 0.5"),
    "cosh": (cosh, "inherited from (exp(x) + exp(-x)) * 0.5"),
    "tanh": (tanh, "the worse of absolute 1.0e-5 and sinh(x) / cosh(x)"),
    "asinh": (asinh, "inherited from log(x + sqrt(x * x + 1.0))"),
    "acosh": (acosh, "inherited from log(x + sqrt(x * x - 1.0))"),
    "atanh": (atanh, "inherited from log((1.0 + x) / (1.0 - x)) * 0.5"),
    "exp": (lambda r, x: r.exp(x), "3 + 2|x| ULP (f16: 1 + 2|x|)"),
    "exp2": (lambda r, x: r.exp2(x), "3 + 2|x| ULP (f16: 1 + 2|x|)"),
    "log": (lambda r, x: r.log(x), "absolute 2^-21 (f16: 2^-7) in [0.5, 2.0], 3 ULP elsewhere"),
    "log2": (lambda r, x: r.log2(x), "absolute 2^-21 (f16: 2^-7) in [0.5, 2.0], 3 ULP elsewhere"),
    "degrees": (degrees, "inherited from x * 57.295779513082322865"),
    "radians": (radians, "inherited from x * 0.017453292519943295474"),
    "fract": (fract, "inherited from x - floor(x)"),
}
