"""Arguments for the cases: special values first, then random ones from a seed that is the name of the case."""

import math
import random

from ..layout import F16, Number, Scalar

# Where nothing else is said: no subnormals (drivers may flush them), no NaN (its results are open), and no infinities,
# which get cases of their own.
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 0.25, 3.0, -3.75, 10.0, 100.5, -1000.25]
FLOATS_F32 = [
    8388607.5,
    -8388607.5,
    16777216.0,
    3.4028234663852886e38,
    1.1754943508222875e-38,
    1e-20,
    -1e20,
    2147483648.0,
]
FLOATS_F16 = [1023.5, 2048.0, 65504.0, -65504.0, 6.103515625e-05, 0.0999755859375]
INFINITIES = [math.inf, -math.inf]


def floats(scalar: Scalar, count: int, seed: str, low: float = -64.0, high: float = 64.0) -> list[Number]:
    """Special values, then uniform ones and ones of many magnitudes."""
    rng = random.Random(seed)
    special = FLOATS + (FLOATS_F16 if scalar is F16 else FLOATS_F32)
    values: list[Number] = [*special[:count]]
    while len(values) < count:
        values.append(ordinary(scalar, rng, low, high))
    return values


def ordinary(scalar: Scalar, rng: random.Random, low: float, high: float) -> float:
    while True:
        if rng.random() < 0.6:
            x = rng.uniform(low, high)
        else:
            x = rng.choice((-1, 1)) * math.ldexp(rng.uniform(1, 2), rng.randint(-8, 8))
        x = scalar.round(min(max(x, low), high))
        if x == 0 or abs(x) > 2.0**-13:
            return x


def within(
    scalar: Scalar, count: int, seed: str, low: float, high: float, special: tuple[float, ...] = ()
) -> list[Number]:
    """Uniform values of an interval after the special ones that lie in it."""
    rng = random.Random(seed)
    values: list[Number] = [scalar.round(x) for x in special if low <= x <= high][:count]
    while len(values) < count:
        x = scalar.round(rng.uniform(low, high))
        if low <= x <= high:
            values.append(x)
    return values


def spread(scalar: Scalar, count: int, seed: str, least: int, most: int, signed: bool) -> list[Number]:
    """Values of many magnitudes: 2^least to 2^most."""
    rng = random.Random(seed)
    values: list[Number] = []
    while len(values) < count:
        x = math.ldexp(rng.uniform(1, 2), rng.randint(least, most - 1))
        values.append(scalar.round(x * (rng.choice((-1, 1)) if signed else 1)))
    return values


def integers(scalar: Scalar, count: int, seed: str) -> list[Number]:
    """0, 1, -1, limits, their neighbours, powers of two, then random ones of every length in bits."""
    rng = random.Random(seed)
    most = scalar.most
    special = [
        0,
        1,
        -1,
        2,
        -2,
        most,
        scalar.least,
        most - 1,
        0x80000000,
        0x7FFFFFFF,
        255,
        0x8000,
        -128,
        3,
        7,
        0x00010000,
    ]
    values: list[Number] = [scalar.wrap(x) for x in special[:count]]
    while len(values) < count:
        x = rng.getrandbits(rng.randint(1, scalar.bits))
        values.append(scalar.wrap(x if rng.random() < 0.5 else -x))
    return values


def for_width(values: list[Number], width: int, seed: str) -> list[Number]:
    """All of them for scalars; for vectors, whose components behave like scalars, a dozen, chosen by the seed."""
    return values if width == 1 else random.Random(seed).sample(values, 12)


def booleans(count: int, seed: str) -> list[Number]:
    rng = random.Random(seed)
    return [rng.randint(0, 1) for _ in range(count)]


def paired(values: list[Number], seed: str) -> list[Number]:
    """The same values in another order, so that special ones meet special ones."""
    values = values.copy()
    random.Random(seed).shuffle(values)
    return values
