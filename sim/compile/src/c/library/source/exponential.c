/* Exponential functions, logarithms and powers of doubles. */
#include "real.h"

/* e to the power of the sum of two doubles, the second one much smaller. */
SHARED double wave_exp_of(double x, double low)
{
    if (x != x) return x;
    if (x > 710) return INFINITY;
    if (x < -746) return 0;
    double n = rint(x * 0x1.71547652b82fep+0), r = fused(n, -0x1.62e42feep-1, x);
    struct pair left = product(n, -0x1.a39ef35793c76p-33);
    struct pair reduced = sum(r, left.high);
    if (fabs(r) < fabs(left.high)) reduced = sum(left.high, r);
    low += reduced.low + left.low;
    r = reduced.high;
    double p = POLYNOMIAL(r, 0x1.0000000000000p-1, 0x1.5555555555557p-3, 0x1.5555555555556p-5, 0x1.11111111100bep-7,
                          0x1.6c16c16c162c3p-10, 0x1.a01a01abf85abp-13, 0x1.a01a01a6e1e2ap-16, 0x1.71de01fdbf9cap-19,
                          0x1.27e4db46cddd1p-22, 0x1.af4e554377204p-26, 0x1.1f7340dbc337ep-29);
    struct pair one = sum(1, r);
    /* The second part counts as often as the result. */
    double rest = one.low + r * r * p;
    double e = one.high + fused(low, one.high + rest, rest);
    return ldexp(e, (int)n);
}

LIBRARY double exp(double x)
{
    return wave_exp_of(x, 0);
}

LIBRARY double exp2(double x)
{
    if (!(fabs(x) < 1100)) return x > 0 ? INFINITY : x < 0 ? 0 : x;
    double n = rint(x);
    struct pair p = product(x - n, 0x1.62e42fefa39efp-1);
    return ldexp(wave_exp_of(p.high, fused(x - n, 0x1.abc9e3b39803fp-56, p.low)), (int)n);
}

/* e to the power of x, less 1, in two doubles; |x| is less than 40. */
static struct pair less_one(double x)
{
    double n = rint(x * 0x1.71547652b82fep+0), r = fused(n, -0x1.62e42feep-1, x);
    struct pair left = product(n, -0x1.a39ef35793c76p-33);
    struct pair reduced = fabs(r) < fabs(left.high) ? sum(left.high, r) : sum(r, left.high);
    double low = reduced.low + left.low;
    r = reduced.high;
    double p = POLYNOMIAL(r, 0x1.5555555555557p-3, 0x1.5555555555556p-5, 0x1.11111111100bep-7, 0x1.6c16c16c162c3p-10,
                          0x1.a01a01abf85abp-13, 0x1.a01a01a6e1e2ap-16, 0x1.71de01fdbf9cap-19, 0x1.27e4db46cddd1p-22,
                          0x1.af4e554377204p-26, 0x1.1f7340dbc337ep-29);
    struct pair square = product(r, r);
    struct pair e = sum(r, 0.5 * square.high);
    e.low += 0.5 * square.low + fused(square.high * r, p, fused(r + 0.5 * square.high, low, low));
    double scale = of_bits((uint64_t)((int)n + 1023) << 52);
    if (n == 0) return sum(e.high, e.low);
    /* scale - 1 + scale * e */
    struct pair whole = scale > 1 ? sum(scale, -1) : sum(-1, scale);
    double part = scale * e.high;
    struct pair all = fabs(whole.high) > fabs(part) ? sum(whole.high, part) : sum(part, whole.high);
    return sum(all.high, all.low + whole.low + scale * e.low);
}

LIBRARY double expm1(double x)
{
    if (x != x || x == 0) return x;
    if (x > 39) return x > 710 ? INFINITY : exp(x) - 1;
    if (x < -38) return -1 + 0x1p-1022;
    return less_one(x).high;
}

LIBRARY double sinh(double x)
{
    double a = fabs(x);
    if (a < 1) {
        double t = x * x, p = POLYNOMIAL(t, 0x1.5555555555555p-3, 0x1.1111111111111p-7, 0x1.a01a01a01a001p-13,
                                         0x1.71de3a556f96cp-19, 0x1.ae6456792a77fp-26, 0x1.612467ccb2260p-33,
                                         0x1.ae777c36fd5b6p-41, 0x1.99f0806c2628dp-49);
        return fused(x * t, p, x);
    }
    if (a > 39) {
        double less = a - 0x1.62e42fefa39efp-1;
        return copysign(wave_exp_of(less, a - less - 0x1.62e42fefa39efp-1 - 0x1.abc9e3b39803fp-56), x);
    }
    struct pair e = less_one(a);
    /* (e + e / (e + 1)) / 2 */
    return copysign(0.5 * (e.high + (e.low + e.high / (e.high + 1))), x);
}

LIBRARY double cosh(double x)
{
    double a = fabs(x);
    if (a > 700) {
        double less = a - 0x1.62e42fefa39efp-1;
        return wave_exp_of(less, a - less - 0x1.62e42fefa39efp-1 - 0x1.abc9e3b39803fp-56);
    }
    double e = exp(a);
    return 0.5 * e + 0.5 / e;
}

LIBRARY double tanh(double x)
{
    double a = fabs(x);
    if (a < 0.55) {
        double t = x * x, p = POLYNOMIAL(t, -0x1.5555555555555p-2, 0x1.1111111111032p-3, -0x1.ba1ba1b9fec84p-5,
                                         0x1.664f487713373p-6, -0x1.226e32f00cf0cp-7, 0x1.d6d339333f329p-9,
                                         -0x1.7d97cfd138c28p-10, 0x1.34c5a8a996cd4p-11, -0x1.ec1091436eb2ap-13,
                                         0x1.64fd88e9900a5p-14, -0x1.59a834187ce23p-16);
        return copysign(fused(x * t, p, x), x);
    }
    if (x != x) return x;
    return copysign(a > 22 ? 1 : 1 - 2 / (exp(2 * a) + 1), x);
}

/* The natural logarithm of x > 0, finite, in two doubles. */
SHARED struct pair wave_log(double x)
{
    int power = 0;
    if (x < 0x1p-1022) x *= 0x1p54, power = -54;
    /* From the root of a half to that of two. */
    uint64_t bits = bits_of(x) - 0x3fe6a09e667f3bcdull;
    power += (int)((int64_t)bits >> 52);
    double m = of_bits((bits & 0xfffffffffffffull) + 0x3fe6a09e667f3bcdull), e = power;
    /* Twice the area tangent of s = (m - 1) / (m + 1). */
    double top = m - 1;
    struct pair bottom = m > 1 ? sum(m, 1) : sum(1, m);
    double s = top / bottom.high;
    struct pair root = {s, (fused(-s, bottom.high, top) - s * bottom.low) / bottom.high};
    struct pair t = times(root, root);
    double tail = POLYNOMIAL(t.high, 2.0 / 5, 2.0 / 7, 2.0 / 9, 2.0 / 11, 2.0 / 13, 2.0 / 15, 2.0 / 17, 2.0 / 19,
                             2.0 / 21, 2.0 / 23, 2.0 / 25, 2.0 / 27);
    struct pair q = product(t.high, tail);
    struct pair c = sum(0x1.5555555555555p-1, q.high);
    c.low += q.low + t.low * tail + 0x1.5555555555555p-55;
    c = times(c, t);
    struct pair r = times(c, root);
    struct pair two = sum(2 * root.high, r.high);
    two.low += 2 * root.low + r.low;
    if (e == 0) return sum(two.high, two.low);
    /* The first part of ln 2 has 32 bits: its product with e is exact. */
    struct pair small = product(e, 0x1.a39ef35793c76p-33);
    struct pair all = sum(e * 0x1.62e42feep-1, two.high);
    double rest = all.low + two.low + small.low;
    struct pair more = sum(all.high, small.high);
    return sum(more.high, more.low + rest);
}

/* What is no positive finite number: gives true and the result. */
static int is_special(double *x)
{
    if (*x > 0 && *x < INFINITY) return 0;
    *x = *x == 0 ? -INFINITY : *x < 0 ? NAN : *x + *x;
    return 1;
}

LIBRARY double log(double x)
{
    return is_special(&x) ? x : wave_log(x).high;
}

LIBRARY double log2(double x)
{
    if (is_special(&x)) return x;
    int power;
    double m = frexp(x, &power);
    if (m < 0x1.6a09e667f3bcdp-1) m *= 2, power--;
    struct pair l = times(wave_log(m), (struct pair){0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56});
    if (power == 0) return l.high;
    struct pair all = sum(power, l.high);
    return all.high + (all.low + l.low);
}

LIBRARY double log10(double x)
{
    if (is_special(&x)) return x;
    return times(wave_log(x), (struct pair){0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57}).high;
}

LIBRARY double log1p(double x)
{
    if (fabs(x) < 0x1p-30) return fused(-0.5 * x, x, x);
    double u = 1 + x;
    if (is_special(&u)) return u;
    struct pair l = wave_log(u), s = fabs(x) > 1 ? sum(x, 1) : sum(1, x);
    return l.high + (l.low + s.low / u);
}

LIBRARY double pow(double x, double y)
{
    if (y == 0 || x == 1) return 1;
    if (x != x || y != y) return x + y;
    /* 1: an odd integer, 2: an even one. */
    int integer = trunc(y) != y ? 0 : fabs(y) < 0x1p53 && ((int64_t)y & 1) ? 1 : 2;
    double a = fabs(x), sign = bits_of(x) >> 63 && integer == 1 ? -1 : 1;
    if (a == 0) return y > 0 ? sign * 0.0 : sign * INFINITY;
    if (a == INFINITY) return y > 0 ? sign * INFINITY : sign * 0.0;
    if (fabs(y) == INFINITY) return a == 1 ? 1 : (a > 1) == (y > 0) ? INFINITY : 0;
    if (x < 0 && integer == 0) return NAN;
    struct pair l = wave_log(a);
    struct pair p = product(l.high, y);
    double low = fused(l.low, y, p.low);
    /* Out of range, where the second part may be no number. */
    if (!(fabs(p.high) < 800)) return p.high > 0 ? sign * INFINITY : sign * 0.0;
    return sign * wave_exp_of(p.high, low);
}
