"""What the WGSL specification accepts as the result of a floating-point operation: intervals, from section "Floating Point
Accuracy" (15.7.4; 15.7.3 for rounding) of https://www.w3.org/TR/WGSL/.

Sums, products and quotients are exact (fractions); the transcendental functions of the host have 53 bits, and their
intervals are widened by `HOST_ERROR`, far below what the specification leaves to f32. An interval of None accepts anything.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

# Relative error of the functions of the host's C library, with room.
HOST_ERROR = Fraction(1, 2**48)
Real = int | float | Fraction


@dataclass(frozen=True)
class Interval:
    low: Fraction
    high: Fraction


Accepted = Interval | None


@dataclass(frozen=True)
class Format:
    """A binary floating-point format: bits of precision with the hidden one, and the exponents of normal numbers."""

    name: str
    precision: int
    least_exponent: int
    most_exponent: int

    @property
    def most(self) -> Fraction:
        return (2 - Fraction(2) ** (1 - self.precision)) * Fraction(2) ** self.most_exponent

    @property
    def least_normal(self) -> Fraction:
        return Fraction(2) ** self.least_exponent

    def exponent(self, x: Fraction) -> int:
        """e with 2^e <= |x| < 2^(e+1), no smaller than that of the least normal number."""
        x = abs(x)
        if x < self.least_normal:
            return self.least_exponent
        e = x.numerator.bit_length() - x.denominator.bit_length()
        if Fraction(2) ** e > x:
            e -= 1
        return max(e, self.least_exponent)

    def spacing(self, x: Fraction) -> Fraction:
        return Fraction(2) ** (self.exponent(x) - self.precision + 1)

    def down(self, x: Fraction) -> Fraction:
        step = self.spacing(x)
        return (x / step).__floor__() * step

    def up(self, x: Fraction) -> Fraction:
        return -self.down(-x)

    def ulp(self, x: Fraction) -> Fraction:
        """The distance of two neighbours around x; below a power of two the smaller one counts."""
        x = min(abs(x), self.most)
        step = self.spacing(x)
        e = self.exponent(x)
        return step / 2 if x == Fraction(2) ** e and e > self.least_exponent else step

    def rounded(self, low: Fraction, high: Fraction) -> Accepted:
        """Results of which the exact value lies between the two: rounded either way, subnormals perhaps flushed."""
        low, high = self.down(low), self.up(high)
        if low < -self.most or high > self.most:
            return None
        if low < self.least_normal and high > -self.least_normal:
            if not (low == 0 and high == 0):
                if abs(low) < self.least_normal:
                    low = min(low, Fraction(0))
                if abs(high) < self.least_normal:
                    high = max(high, Fraction(0))
        return Interval(low, high)


BINARY16 = Format("f16", 11, -14, 15)
BINARY32 = Format("f32", 24, -126, 127)
BINARY64 = Format("f64", 53, -1022, 1023)
FORMATS = {f.name: f for f in (BINARY16, BINARY32, BINARY64)}


def hull(*parts: Accepted) -> Accepted:
    known = [p for p in parts if p is not None]
    if len(known) != len(parts):
        return None
    return Interval(min(p.low for p in known), max(p.high for p in known))


class Rules:
    """The table of the specification for one format. Arguments and results are intervals; `None` spreads."""

    def __init__(self, form: Format) -> None:
        self.form = form
        self.half = form.name == "f16"

    def point(self, x: Real) -> Accepted:
        if isinstance(x, float) and not math.isfinite(x):
            return None
        return Interval(Fraction(x), Fraction(x))

    def _corners(self, exact: Callable[..., Fraction], *arguments: Accepted) -> Accepted:
        """An operation that is correctly rounded and monotone in each argument."""
        lists: list[list[Fraction]] = [[]]
        for a in arguments:
            if a is None:
                return None
            lists = [[*row, x] for row in lists for x in (a.low, a.high)]
        values = [exact(*row) for row in lists]
        return self.form.rounded(min(values), max(values))

    # Correctly rounded.
    def add(self, x: Accepted, y: Accepted) -> Accepted:
        return self._corners(lambda a, b: a + b, x, y)

    def sub(self, x: Accepted, y: Accepted) -> Accepted:
        return self._corners(lambda a, b: a - b, x, y)

    def mul(self, x: Accepted, y: Accepted) -> Accepted:
        return self._corners(lambda a, b: a * b, x, y)

    def neg(self, x: Accepted) -> Accepted:
        return self._corners(lambda a: -a, x)

    def trunc(self, x: Accepted) -> Accepted:
        return self._corners(lambda a: Fraction(math.trunc(a)), x)

    def floor(self, x: Accepted) -> Accepted:
        return self._corners(lambda a: Fraction(math.floor(a)), x)

    def clamp(self, x: Accepted, low: Real, high: Real) -> Accepted:
        return self._corners(lambda a: min(max(a, Fraction(low)), Fraction(high)), x)

    # An error in ULP or absolute.
    def within_ulp(self, exact: Fraction, ulps: Real, host: bool = False) -> Accepted:
        """`ulps` around the exact value; `host` says that the value carries the host's error."""
        error = Fraction(ulps) * self.form.ulp(exact) + (abs(exact) * HOST_ERROR if host else 0)
        return self.form.rounded(exact - error, exact + error)

    def within_absolute(self, exact: Fraction, error: Real) -> Accepted:
        return self.form.rounded(exact - Fraction(error) - HOST_ERROR, exact + Fraction(error) + HOST_ERROR)

    def _ends(self, one: Callable[[Fraction], Accepted], x: Accepted) -> Accepted:
        """A monotone function on an interval, by its ends."""
        return None if x is None else hull(one(x.low), one(x.high))

    def div(self, x: Accepted, y: Accepted) -> Accepted:
        """2.5 ULP for |y| in [2^-126, 2^126] ([2^-14, 2^14] for f16)."""
        if x is None or y is None or y.low <= 0 <= y.high:
            return None
        limit = Fraction(2) ** (126 if self.form.name == "f32" else 14 if self.half else 1022)
        if min(abs(y.low), abs(y.high)) < 1 / limit or max(abs(y.low), abs(y.high)) > limit:
            return None
        return hull(*(self.within_ulp(a / b, 2.5) for a in (x.low, x.high) for b in (y.low, y.high)))

    def inverse_sqrt(self, x: Accepted) -> Accepted:
        """2 ULP."""
        if x is None or x.low <= 0:
            return None
        return self._ends(lambda a: self.within_ulp(1 / root(a), 2, host=True), x)

    def sqrt(self, x: Accepted) -> Accepted:
        """Inherited from 1.0 / inverseSqrt(x); the root of zero is taken to be zero."""
        if x is None or x.low < 0:
            return None
        if x.low == 0:
            rest = self.point(0) if x.high == 0 else self.sqrt(self.point(x.high))
            return hull(self.point(0), rest)
        return self.div(self.point(1), self.inverse_sqrt(x))

    def exp2(self, x: Accepted) -> Accepted:
        """3 + 2|x| ULP (f16: 1 + 2|x|)."""
        return self._exponential(lambda a: 2.0 ** float(a), x)

    def exp(self, x: Accepted) -> Accepted:
        """3 + 2|x| ULP (f16: 1 + 2|x|)."""
        return self._exponential(lambda a: math.exp(float(a)), x)

    def _exponential(self, function: Callable[[Fraction], float], x: Accepted) -> Accepted:
        def one(a: Fraction) -> Accepted:
            if abs(a) > 700:
                return None
            return self.within_ulp(Fraction(function(a)), (1 if self.half else 3) + 2 * abs(a), host=True)

        return self._ends(one, x)

    def log(self, x: Accepted) -> Accepted:
        """Absolute 2^-21 (f16: 2^-7) in [0.5, 2.0], 3 ULP elsewhere."""
        return self._logarithm(lambda a: log(a), x)

    def log2(self, x: Accepted) -> Accepted:
        """Absolute 2^-21 (f16: 2^-7) in [0.5, 2.0], 3 ULP elsewhere."""
        return self._logarithm(lambda a: Fraction(math.log2(a)), x)

    def _logarithm(self, function: Callable[[Fraction], Fraction], x: Accepted) -> Accepted:
        def one(a: Fraction) -> Accepted:
            value = function(a)
            if Fraction(1, 2) <= a <= 2:
                return self.within_absolute(value, Fraction(2) ** (-7 if self.half else -21))
            return self.within_ulp(value, 3, host=True)

        return None if x is None or x.low <= 0 else self._ends(one, x)

    def sin(self, x: Accepted) -> Accepted:
        """Absolute 2^-11 (f16: 2^-7) in [-pi, pi]."""
        return self._circular(math.sin, x)

    def cos(self, x: Accepted) -> Accepted:
        """Absolute 2^-11 (f16: 2^-7) in [-pi, pi]."""
        return self._circular(math.cos, x)

    def _circular(self, function: Callable[[float], float], x: Accepted) -> Accepted:
        if x is None or x.low != x.high or abs(x.low) > math.pi:
            return None
        return self.within_absolute(Fraction(function(float(x.low))), Fraction(2) ** (-7 if self.half else -11))

    def atan(self, x: Accepted) -> Accepted:
        """4096 ULP (f16: 5 ULP)."""
        return self._ends(lambda a: self.within_ulp(Fraction(math.atan(a)), 5 if self.half else 4096, host=True), x)

    def atan2(self, y: Accepted, x: Accepted) -> Accepted:
        """4096 ULP (f16: 5 ULP) for |x| in [2^-126, 2^126] ([2^-14, 2^14]) and y normal."""
        if y is None or x is None or x.low <= 0 <= x.high:
            return None
        limit = Fraction(2) ** (14 if self.half else 126)
        if any(not 1 / limit <= abs(a) <= limit for a in (x.low, x.high)) or (y.low < 0 < y.high and x.low < 0):
            return None
        ulps = 5 if self.half else 4096
        return hull(
            *(
                self.within_ulp(Fraction(math.atan2(b, a)), ulps, host=True)
                for a in (x.low, x.high)
                for b in (y.low, y.high)
            )
        )

    def worse(self, exact: float, absolute: float, inherited: Accepted) -> Accepted:
        """The worse of an absolute error and an inherited one; the absolute one alone where the other is undefined."""
        alone = self.within_absolute(Fraction(exact), absolute)
        return alone if inherited is None else hull(alone, inherited)


def root(x: Fraction) -> Fraction:
    """The square root to 2^-60 of its value."""
    shift = 2 * max(0, 64 - x.numerator.bit_length() // 2 + x.denominator.bit_length() // 2)
    return Fraction(math.isqrt((x.numerator << shift) // x.denominator), 1 << (shift // 2))


def log(x: Fraction) -> Fraction:
    # Near 1, where x in 53 bits is exact for every format here.
    return Fraction(math.log(x.numerator) - math.log(x.denominator)) if x > 2**1000 else Fraction(math.log(float(x)))
