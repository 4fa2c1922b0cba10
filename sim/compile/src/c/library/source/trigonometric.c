/* Trigonometric functions of doubles. */
#include "real.h"

/* The bits of 2 / pi behind the point. */
static const uint64_t two_over_pi[20] = {
    0xa2f9836e4e441529ull, 0xfc2757d1f534ddc0ull, 0xdb6295993c439041ull, 0xfe5163abdebbc561ull, 0xb7246e3a424dd2e0ull,
    0x06492eea09d1921cull, 0xfe1deb1cb129a73eull, 0xe88235f52ebb4484ull, 0xe99c7026b45f7e41ull, 0x3991d639835339f4ull,
    0x9c845f8bbdf9283bull, 0x1ff897ffde05980full, 0xef2f118b5a0a6d1full, 0x6d367ecf27cb09b7ull, 0x4f463f669e5fea2dull,
    0x7527bac7ebe5f17bull, 0x3d0739f78a5292eaull, 0x6bfb5fb11f8d5d08ull, 0x56033046fc7b6babull, 0xf0cfbc209af4361dull};

OWN uint64_t word(int bit)
{
    int at = bit >> 6, by = bit & 63;
    return by ? two_over_pi[at] << by | two_over_pi[at + 1] >> (64 - by) : two_over_pi[at];
}

static uint64_t high_half(uint64_t a, uint64_t b)
{
    uint64_t low = (a & 0xffffffff) * (b & 0xffffffff), one = (a >> 32) * (b & 0xffffffff) + (low >> 32);
    uint64_t two = (a & 0xffffffff) * (b >> 32) + (one & 0xffffffff);
    return (a >> 32) * (b >> 32) + (one >> 32) + (two >> 32);
}

/* The distance of x from the nearest multiple of pi / 2, in two doubles, and that multiple modulo 4. */
static struct pair reduce(double x, int *quadrant)
{
    double a = fabs(x);
    if (a < 0x1.921fb54442d18p-1) {
        *quadrant = 0;
        return (struct pair){x, 0};
    }
    struct pair r;
    int n;
    if (a < 0x1p20) {
        /* Three parts of pi / 2 with 33 bits, whose products are exact, and the rest. */
        double k = rint(x * 0x1.45f306dc9c883p-1);
        double first = fused(-k, 0x1.921fb544p+0, x);
        struct pair second = product(-k, 0x1.0b4611a6p-34), third = product(-k, 0x1.3198a2e037073p-69);
        struct pair s = fabs(first) > fabs(second.high) ? sum(first, second.high) : sum(second.high, first);
        struct pair t = fabs(s.high) > fabs(third.high) ? sum(s.high, third.high) : sum(third.high, s.high);
        r = sum(t.high, t.low + s.low + third.low);
        n = (int)k;
    } else {
        int power;
        uint64_t m = (uint64_t)ldexp(frexp(a, &power), 53);
        /* x * 2 / pi modulo 4, as 2 bits and a fraction of 190: bits in front of these are multiples of 4. */
        int bit = power - 53 - 2;
        uint64_t w[4];
        for (int i = 0; i < 4; i++, bit += 64)
            w[i] = bit >= 0 ? word(bit) : bit > -64 ? two_over_pi[0] >> -bit : 0;
        uint64_t p2 = w[2] * m, p2_high = high_half(w[2], m), p3 = high_half(w[3], m);
        p2 += p3;
        p2_high += p2 < p3;
        uint64_t p1 = w[1] * m, p1_high = high_half(w[1], m);
        p1 += p2_high;
        p1_high += p1 < p2_high;
        uint64_t p0 = w[0] * m + p1_high;
        n = (int)(p0 >> 62);
        /* Bits behind the point; from a half on the next multiple is nearer. */
        uint64_t f0 = p0 << 2 | p1 >> 62, f1 = p1 << 2 | p2 >> 62;
        int is_below = f0 >> 63;
        if (is_below) {
            n++;
            f0 = ~f0;
            f1 = ~f1;
        }
        double high = (double)(f0 >> 11) * 0x1p-53, low = (double)((f0 & 2047) << 42 | f1 >> 22) * 0x1p-106;
        struct pair f = sum(high, low);
        if (is_below) f = (struct pair){-f.high, -f.low};
        r = times(f, (struct pair){0x1.921fb54442d18p+0, 0x1.1a62633145c06p-54});
        if (x < 0) {
            r = (struct pair){-r.high, -r.low};
            n = -n;
        }
    }
    *quadrant = n & 3;
    return r;
}

static double sine(struct pair r)
{
    double x = r.high, t = x * x, p = POLYNOMIAL(t, -0x1.5555555555555p-3, 0x1.1111111110babp-7, -0x1.a01a019e820aep-13,
                                                 0x1.71de37946ed6dp-19, -0x1.ae6008d114485p-26, 0x1.5e0a4fc16be59p-33);
    return x + fused(x * t, p, fused(-0.5 * t, r.low, r.low));
}

static double cosine(struct pair r)
{
    double x = r.high, t = x * x, p = POLYNOMIAL(t, 0x1.5555555555555p-5, -0x1.6c16c16c16963p-10, 0x1.a01a019f4ddfdp-16,
                                                 -0x1.27e4fa16cc2d1p-22, 0x1.1eeb67d026ec6p-29, -0x1.907cd8ff5ede7p-37);
    double half = 0.5 * t, first = 1 - half;
    double lost = 1 - first - half + -0.5 * fused(x, x, -t);
    return first + (lost + fused(t * t, p, -x * r.low));
}

LIBRARY double sin(double x)
{
    int quadrant;
    if (x == 0) return x;
    if (!(fabs(x) < INFINITY)) return x - x;
    struct pair r = reduce(x, &quadrant);
    double y = quadrant & 1 ? cosine(r) : sine(r);
    return quadrant & 2 ? -y : y;
}

LIBRARY double cos(double x)
{
    int quadrant;
    if (!(fabs(x) < INFINITY)) return x - x;
    struct pair r = reduce(x, &quadrant);
    double y = quadrant & 1 ? sine(r) : cosine(r);
    return quadrant == 1 || quadrant == 2 ? -y : y;
}

LIBRARY void sincos(double x, double *to_sine, double *to_cosine)
{
    *to_sine = sin(x);
    *to_cosine = cos(x);
}

LIBRARY double tan(double x)
{
    int quadrant;
    if (!(fabs(x) < INFINITY)) return x - x;
    struct pair r = reduce(x, &quadrant);
    if (x == 0) return x;
    double s = sine(r), c = cosine(r);
    return quadrant & 1 ? -c / s : s / c;
}

static const double half_pi = 0x1.921fb54442d18p+0, half_pi_low = 0x1.1a62633145c07p-54;

/* The arc tangent of 0 to 1 in two doubles; the argument has two as well. */
static struct pair arc(double x, double low)
{
    int is_large = x > 0x1.a827999fcef32p-2;
    struct pair y = {x, low};
    if (is_large) {
        /* (x - 1) / (x + 1) */
        struct pair bottom = sum(1, x);
        double top = x - 1, q = (top + low) / bottom.high;
        y = (struct pair){q, (fused(-q, bottom.high, top) + low - q * (bottom.low + low)) / bottom.high};
    }
    double t = y.high * y.high, p = POLYNOMIAL(t, -0x1.5555555555555p-2, 0x1.999999999934cp-3, -0x1.2492492436201p-3,
                                               0x1.c71c71853d7fap-4, -0x1.745d0b28a7e37p-4, 0x1.3b1263064f6b9p-4,
                                               -0x1.10fa77b1a6d57p-4, 0x1.dfe6497e96323p-5, -0x1.a0999c632b6edp-5,
                                               0x1.4162c02b1dda3p-5, -0x1.3a31b1c0fd3b7p-6);
    double small = fused(y.high * t, p, fused(-t, y.low, y.low));
    if (!is_large) return sum(y.high, small);
    struct pair r = sum(0.5 * half_pi, y.high);
    return sum(r.high, r.low + (small + 0.5 * half_pi_low));
}

/* The distance of two doubles from another number that is larger. */
static struct pair from(double high, double low, struct pair r)
{
    struct pair s = sum(high, -r.high);
    return sum(s.high, s.low + (low - r.low));
}

LIBRARY double atan(double x)
{
    double a = fabs(x);
    if (a != a) return x;
    if (a <= 1) return copysign(arc(a, 0).high, x);
    if (a > 0x1p60) return copysign(half_pi, x);
    double q = 1 / a, low = fused(-q, a, 1) / a;
    return copysign(from(half_pi, half_pi_low, arc(q, low)).high, x);
}

LIBRARY double atan2(double y, double x)
{
    if (x != x || y != y) return x + y;
    double a = fabs(x), b = fabs(y), small = a < b ? a : b, large = a < b ? b : a;
    /* Neither quotient nor its rest leaves the range. */
    if (large > 0x1p900 && large < INFINITY) small *= 0x1p-200, large *= 0x1p-200;
    if (large < 0x1p-800) small *= 0x1p200, large *= 0x1p200;
    double q = large == 0 ? 0 : small == large ? 1 : small / large;
    double rest = q > 0x1p-100 && q < 1 ? fused(-q, large, small) / large : 0;
    struct pair r = arc(q, rest);
    if (b > a) r = from(half_pi, half_pi_low, r);
    if (bits_of(x) >> 63) r = from(2 * half_pi, 2 * half_pi_low, r);
    return copysign(r.high, y);
}

/* The arc sine of -1/2 to 1/2 less its argument, for the square t of it. */
static double less(double x, double t)
{
    return x * t * POLYNOMIAL(t, 0x1.5555555555556p-3, 0x1.3333333332ecap-4, 0x1.6db6db6e31f13p-5, 0x1.f1c71c1db0623p-6,
                              0x1.6e8bb1c8209a2p-6, 0x1.1c4d35cf95421p-6, 0x1.c9cf07674736ap-7, 0x1.782651caa6547p-7,
                              0x1.52420b04b37bep-7, 0x1.65a9c4dfcf8b2p-8, 0x1.1d189408314eep-6, -0x1.e6aaa8a0a04ccp-7,
                              0x1.d72b2bc8155f8p-6);
}

/* The arc sine of the root of (1 - a) / 2, in two doubles. */
static struct pair of_root(double a)
{
    double t = fused(a, -0.5, 0.5), s = sqrt(t), rest = s > 0 ? fused(-s, s, t) / (2 * s) : 0;
    return sum(s, less(s, t) + rest);
}

LIBRARY double asin(double x)
{
    double a = fabs(x);
    if (a <= 0.5) return x + less(x, x * x);
    if (!(a <= 1)) return (x - x) / 0.0;
    struct pair r = of_root(a);
    return copysign(from(half_pi, half_pi_low, (struct pair){2 * r.high, 2 * r.low}).high, x);
}

LIBRARY double acos(double x)
{
    double a = fabs(x);
    if (a <= 0.5) return from(half_pi, half_pi_low, sum(x, less(x, x * x))).high;
    if (!(a <= 1)) return (x - x) / 0.0;
    struct pair r = of_root(a);
    if (x > 0) return 2 * (r.high + r.low);
    return from(2 * half_pi, 2 * half_pi_low, (struct pair){2 * r.high, 2 * r.low}).high;
}
