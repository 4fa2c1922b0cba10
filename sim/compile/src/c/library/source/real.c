/* Functions of doubles that only look at their bits, and roots. */
#include "real.h"

LIBRARY double fma(double a, double b, double c) { return fused(a, b, c); }

LIBRARY double fmin(double a, double b)
{
    return a != a ? b : b != b ? a : a < b || (a == b && bits_of(a) >> 63) ? a : b;
}

LIBRARY double fmax(double a, double b)
{
    return a != a ? b : b != b ? a : a > b || (a == b && bits_of(b) >> 63) ? a : b;
}

LIBRARY double ldexp(double x, int n)
{
    /* Steps that are powers of two themselves; only the last one rounds. */
    if (n > 1023) {
        x *= 0x1p1023;
        n -= 1023;
        if (n > 1023) x *= 0x1p1023, n -= 1023;
        if (n > 1023) n = 1023;
    } else if (n < -1022) {
        x *= 0x1p-969;
        n += 969;
        if (n < -1022) x *= 0x1p-969, n += 969;
        if (n < -1022) n = -1022;
    }
    return x * of_bits((uint64_t)(n + 1023) << 52);
}

LIBRARY double frexp(double x, int *power)
{
    uint64_t bits = bits_of(x);
    int e = (int)(bits >> 52 & 2047);
    *power = 0;
    if (x == 0 || e == 2047) return x;
    if (e == 0) {
        bits = bits_of(x * 0x1p54);
        *power = -54;
        e = (int)(bits >> 52 & 2047);
    }
    *power += e - 1022;
    return of_bits((bits & 0x800fffffffffffffull) | 0x3fe0000000000000ull);
}

LIBRARY double modf(double x, double *whole)
{
    double t = trunc(x);
    *whole = t;
    return copysign(fabs(x) == INFINITY ? 0 : x - t, x);
}

LIBRARY int ilogb(double x)
{
    int power;
    if (x == 0) return FP_ILOGB0;
    if (!(fabs(x) < INFINITY)) return FP_ILOGBNAN;
    frexp(x, &power);
    return power - 1;
}

LIBRARY double logb(double x)
{
    if (x == 0) return -INFINITY;
    return fabs(x) < INFINITY ? ilogb(x) : x * x;
}

LIBRARY double nextafter(double x, double y)
{
    if (x != x || y != y) return x + y;
    if (x == y) return y;
    if (x == 0) return copysign(0x1p-1074, y);
    uint64_t bits = bits_of(x);
    return of_bits((x < y) == (x > 0) ? bits + 1 : bits - 1);
}

/* The integer that a double is a multiple of a power of two, and that power. */
static uint64_t parts(double x, int *power)
{
    uint64_t bits = bits_of(x) << 1 >> 1, e = bits >> 52;
    *power = e ? (int)e : 1;
    return (bits & 0xfffffffffffffull) | (uint64_t)(e > 0) << 52;
}

LIBRARY double fmod(double x, double y)
{
    int n, m;
    uint64_t a = parts(x, &n), b = parts(y, &m);
    if (x != x || y != y || fabs(x) == INFINITY || b == 0) return NAN;
    if (fabs(y) == INFINITY || n < m) return x;
    a %= b;
    /* Eight bits of the quotient at a time. */
    for (; n - m >= 8 && a; n -= 8) a = (a << 8) % b;
    if (a == 0) return copysign(0, x);
    a = (a << (n - m)) % b;
    if (a == 0) return copysign(0, x);
    int by = __builtin_clzll(a) - 11;
    if (by >= m) by = m - 1;
    a <<= by;
    uint64_t e = a >> 52 ? (uint64_t)(m - by) : 0;
    return copysign(of_bits(e << 52 | (a & 0xfffffffffffffull)), x);
}

LIBRARY double remainder(double x, double y)
{
    double b = fabs(y);
    if (y != y || !(fabs(x) < INFINITY)) return NAN;
    if (b == INFINITY) return x;
    double a = b < 0x1p1022 ? fabs(fmod(x, 2 * b)) : fabs(x);
    if (a != a) return a;
    if (b < 0x1p-1000) {
        if (a + a > b) {
            a -= b;
            if (a + a >= b) a -= b;
        }
    } else if (a > 0.5 * b) {
        a -= b;
        if (a >= 0.5 * b) a -= b;
    }
    return bits_of(x) >> 63 ? -a : a;
}

LIBRARY double hypot(double x, double y)
{
    double a = fabs(x), b = fabs(y), large = a > b ? a : b, scale = 1;
    if (a == INFINITY || b == INFINITY) return INFINITY;
    if (x != x || y != y) return x + y;
    if (large > 0x1p500) a *= 0x1p-600, b *= 0x1p-600, scale = 0x1p600;
    else if (large < 0x1p-450) a *= 0x1p600, b *= 0x1p600, scale = 0x1p-600;
    struct pair p = product(a, a), q = product(b, b), s = p.high > q.high ? sum(p.high, q.high) : sum(q.high, p.high);
    double low = s.low + p.low + q.low, root = sqrt(s.high);
    if (root > 0) root += (fused(-root, root, s.high) + low) / (2 * root);
    return root * scale;
}

LIBRARY double cbrt(double x)
{
    double a = fabs(x);
    if (a == 0 || !(a < INFINITY)) return x + x;
    int power;
    a = frexp(a, &power);
    /* A multiple of three, so that it has a third. */
    int third = (power + 3000) / 3 - 1000;
    a = ldexp(a, power - 3 * third);
    /* The root of a float, and two steps of Newton's; the difference of the second one is exact. */
    double y = wave_exp2(wave_log2((float)a) * 0x1.555556p-2f);
    y -= (y * y * y - a) / (3 * y * y);
    struct pair square = product(y, y);
    y -= (fused(square.high, y, -a) + square.low * y) / (3 * square.high);
    return copysign(ldexp(y, third), x);
}
