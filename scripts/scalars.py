#!/usr/bin/env python3
"""Writes the numbers that the tests of literals are held to: `type literal bits`, or `type literal -` for a number that
the type does not have. The arithmetic is that of exact fractions, and shares nothing with the simulator.

    scripts/scalars.py > sim/isa/src/scalar/vectors.txt
"""

import random
from fractions import Fraction

INTEGERS = {f"{sign}{bits}": (sign == "i", bits) for bits in (8, 16, 32, 64) for sign in "ui"}
# Bits of the significand with the leading one, bits of the exponent.
FLOATS = {"f16": (11, 5), "bf16": (8, 8), "f32": (24, 8), "f64": (53, 11)}


def integer(value, signed, bits):
    least, most = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    return value % (1 << bits) if least <= value <= most else None


def rounded(value, negative, precision, exponent_bits):
    """The bits of the nearest number, the even one of two; None if it is too large."""
    least = 2 - (1 << exponent_bits - 1)
    sign = negative << precision - 1 + exponent_bits
    value = abs(value)
    exponent = least
    while value >= Fraction(2) ** (exponent + 1):
        exponent += 1
    unit = Fraction(2) ** (exponent - precision + 1)
    # Python rounds halves of a fraction to even.
    count = round(value / unit)
    if count == 1 << precision:
        count, exponent = count // 2, exponent + 1
    if exponent > 1 - least:
        return None
    normal = count >= 1 << precision - 1
    return sign | (exponent - least + 1 << precision - 1) + count - (1 << precision - 1) if normal else sign | count


def value_of(text):
    """The exact value and the sign of a literal, and whether it is an integer."""
    plain = text.replace("_", "").lower()
    negative, digits = plain.startswith("-"), plain.lstrip("+-")
    if "p" in digits:
        mantissa, power = digits[2:].split("p")
        whole, _, fraction = mantissa.partition(".")
        value = Fraction(int(whole + fraction, 16), 16 ** len(fraction)) * Fraction(2) ** int(power)
        kind = False
    elif digits.startswith(("0x", "0b")):
        value, kind = Fraction(int(digits, 0)), True
    else:
        value, kind = Fraction(digits), not set(digits) & set(".e")
    return -value if negative else value, negative, kind


def bits(ty, text):
    value, negative, is_integer = value_of(text)
    if ty in INTEGERS:
        return integer(int(value), *INTEGERS[ty]) if is_integer else None
    return rounded(value, negative, *FLOATS[ty])


def edges():
    """Literals at the ends of the types."""
    yield from ("0", "-0", "0.0", "-0.0", "1", "-1", "+7", "1.", ".5", "1e0", "1e300", "-1e300", "1e39", "1e-50", "0b1010")
    yield from ("0x10", "-0x10", "0x1p3", "0x1.8p-1", "-0x0p0", "0x.8p0", "0x1p-1074", "0x1p-1075", "0x3p-1075")
    yield from ("0x1p-149", "0x1p-150", "0x1.000001p-150", "0x1p1023", "0x1p1024", "0x1.fffffep127", "0x1.ffffffp127")
    yield from ("0x1.00000100000000000000000000000000000001p0", "0x1.000001p0", "1_000_000", "16777217", "33554435")
    yield from ("9007199254740993", "18446744073709551616", "340282366920938463463374607431768211456", "1" + "0" * 60)
    yield from ("1.00000005960464477540", "1.00000005960464477539062500000000000000000000000001", "65519", "65520", "65504")
    yield from ("5e-324", "2.4703282292062327e-324", "2.4703282292062328e-324", "1.7976931348623157e308", "1.7976931348623159e308")
    for bits_ in (7, 8, 15, 16, 31, 32, 63, 64):
        for value in (1 << bits_, (1 << bits_) - 1, -(1 << bits_), -(1 << bits_) - 1):
            yield str(value)
            yield f"{'-' if value < 0 else ''}0x{abs(value):x}"


def exact(value):
    """A fraction whose denominator is a power of two, as a decimal literal."""
    places = value.denominator.bit_length() - 1
    digits = str(abs(value.numerator) * 5**places).rjust(places + 1, "0")
    text = f"{digits[:-places]}.{digits[-places:]}" if places else f"{digits}.0"
    return ("-" if value < 0 else "") + text


def between(source, ty):
    """Literals where two numbers of a type meet, and a little beside it, also by less than an f64 tells."""
    precision, exponent_bits = FLOATS[ty]
    least = 2 - (1 << exponent_bits - 1)
    # Long texts of small numbers show nothing else.
    exponent = source.choice([least, least + 1, 0, source.randint(max(least, -40), min(-least, 60))])
    if ty == "f64":
        exponent = source.randint(-30, 60)
    count = source.randrange(1 << precision)
    middle = Fraction(2 * count + 1, 2) * Fraction(2) ** (exponent - precision + 1)
    text = exact(source.choice([1, -1]) * middle)
    yield text
    if len(text) < 200:
        yield text + "0" * 12 + "1"
        lower = exact(middle - Fraction(1, 2 ** 90) * middle.limit_denominator(1)) if middle > 1 else text
        yield lower


def literals():
    source = random.Random(44)
    for text in edges():
        for ty in (*INTEGERS, *FLOATS):
            yield ty, text
    for ty in FLOATS:
        for _ in range(60):
            for text in between(source, ty):
                yield ty, text
    for _ in range(400):
        digits = "".join(source.choices("0123456789", k=source.randint(1, 25)))
        point = source.randint(0, len(digits) - 1)
        text = f"{source.choice(['', '-', '+'])}{digits[:point] or '0'}.{digits[point:]}e{source.randint(-60, 50)}"
        yield source.choice(list(FLOATS)), text
        digits = "".join(source.choices("0123456789abcdef", k=source.randint(1, 40)))
        text = f"{source.choice(['', '-'])}0x{digits[:1]}.{digits[1:] or '0'}p{source.randint(-160, 130)}"
        yield source.choice(list(FLOATS)), text
        yield source.choice(list(INTEGERS)), str(source.randint(-(1 << source.randint(0, 65)), 1 << source.randint(0, 65)))


if __name__ == "__main__":
    for ty, text in dict.fromkeys(literals()):
        found = bits(ty, text)
        print(ty, text, "-" if found is None else f"{found:x}")
