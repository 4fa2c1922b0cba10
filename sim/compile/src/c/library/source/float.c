/* Functions of floats. Sine, cosine, powers and logarithms of two are instructions. */
#include "common.h"
#include <math.h>
#define WAVE_LIBRARY_SOURCE
#include <wave.h>
#include "instructions.h"

OWN unsigned bits_of(float x)
{
    return wave_bits(x);
}

OWN float of_bits(unsigned bits)
{
    return wave_float(bits);
}

LIBRARY float sinf(float x) { return wave_sin(x); }
LIBRARY float cosf(float x) { return wave_cos(x); }
LIBRARY float tanf(float x) { return wave_sin(x) / wave_cos(x); }
LIBRARY float exp2f(float x) { return wave_exp2(x); }
LIBRARY float log2f(float x) { return wave_log2(x); }
LIBRARY float logf(float x) { return wave_log2(x) * 0x1.62e43p-1f; }
LIBRARY float log10f(float x) { return wave_log2(x) * 0x1.344134p-2f; }
LIBRARY float fmaf(float a, float b, float c) { return wave_fma(a, b, c); }
LIBRARY float fminf(float a, float b) { return wave_fmin(a, b); }
LIBRARY float fmaxf(float a, float b) { return wave_fmax(a, b); }

/* As in wave.h. */
OWN float exp_of(float x)
{
    float power = x * 0x1.715476p+0f;
    float rest = wave_fma(x, 0x1.715476p+0f, -power) + x * 0x1.4ae0cp-26f;
    float result = wave_exp2(power);
    return power > -151.0f && power < 128.0f ? wave_fma(result, rest * 0x1.62e43p-1f, result) : result;
}

LIBRARY float expf(float x) { return exp_of(x); }

LIBRARY float ldexpf(float x, int n)
{
    /* Steps that are powers of two themselves; only the last one rounds. */
    if (n > 127) {
        x *= 0x1p127f;
        n -= 127;
        if (n > 127) x *= 0x1p127f, n -= 127;
        if (n > 127) n = 127;
    } else if (n < -126) {
        x *= 0x1p-102f;
        n += 102;
        if (n < -126) x *= 0x1p-102f, n += 102;
        if (n < -126) n = -126;
    }
    return x * of_bits((unsigned)(n + 127) << 23);
}

/* The logarithm to base 2 in two floats, for x > 0 that is finite: its rounding error is about 2^-44 of it. */
OWN float log2_of(float x, float *low)
{
    int power = 0;
    if (x < 0x1p-126f) x *= 0x1p24f, power = -24;
    /* From the root of a half to that of two. */
    unsigned bits = bits_of(x) - 0x3f3504f3u;
    power += (int)bits >> 23;
    float m = of_bits((bits & 0x7fffffu) + 0x3f3504f3u), e = (float)power;
    /* The area tangent of s = (m - 1) / (m + 1), in two floats. */
    float top = m - 1, bottom = m + 1, bottom_low = m - (bottom - 1);
    float s = top / bottom, s_low = (fmaf(-s, bottom, top) - s * bottom_low) / bottom;
    float t = s * s, t_low = fmaf(s, s, -t) + 2 * s * s_low;
    float series = 0x1.0c9a84p-2f;
    series = fmaf(series, t, 0x1.484b14p-2f);
    series = fmaf(series, t, 0x1.a61762p-2f);
    series = fmaf(series, t, 0x1.2776c6p-1f);
    /* The first two coefficients have two floats too. */
    float p = fmaf(series, t, 0x1.ec709cp-1f), p_low = fmaf(series, t, 0x1.ec709cp-1f - p) + 0x1.c3a04p-25f;
    float q = p * t, q_low = fmaf(p, t, -q) + p * t_low + p_low * t;
    float c = 0x1.715476p+1f + q, c_low = 0x1.715476p+1f - c + q + 0x1.4ae0cp-25f + q_low;
    float r = c * s, r_low = fmaf(c, s, -r) + c * s_low + c_low * s;
    float high = e + r, left = e == 0 ? 0 : e - high + r;
    left += r_low;
    float sum = high + left;
    *low = high - sum + left;
    return sum;
}

LIBRARY float powf(float x, float y)
{
    unsigned y_bits = bits_of(y) << 1;
    if (y_bits == 0 || x == 1) return 1;
    if (x != x || y != y) return x + y;
    /* 1: an odd integer, 2: an even one. */
    int integer = truncf(y) != y ? 0 : fabsf(y) < 0x1p24f && ((int)y & 1) ? 1 : 2;
    float a = fabsf(x), sign = x < 0 && integer == 1 ? -1.0f : 1.0f;
    if (bits_of(x) == 0x80000000u && integer == 1) sign = -1.0f;
    if (a == 0) return y > 0 ? sign * 0.0f : sign * INFINITY;
    if (a == INFINITY) return y > 0 ? sign * INFINITY : sign * 0.0f;
    if (fabsf(y) == INFINITY) return a == 1 ? 1.0f : (a > 1) == (y > 0) ? INFINITY : 0.0f;
    if (x < 0 && integer == 0) return NAN;
    float low, high = log2_of(a, &low);
    float p = high * y, p_low = fmaf(high, y, -p) + low * y;
    if (!(p < 130)) return sign * INFINITY;
    if (!(p > -160)) return sign * 0.0f;
    float n = rintf(p), f = p - n, result = wave_exp2(f);
    result = fmaf(result, p_low * 0x1.62e43p-1f, result);
    return sign * ldexpf(result, (int)n);
}

LIBRARY float expm1f(float x)
{
    if (x == 0) return x;
    if (!(x < 88.8f)) return x > 0 ? INFINITY : x;
    if (x < -18) return -1.0f + 0x1p-126f;
    float n = rintf(x * 0x1.715476p+0f), r = fmaf(n, -0x1.62e4p-1f, x);
    r = fmaf(n, -0x1.7f7cp-20f, r);
    r = fmaf(n, -0x1.1cf8p-36f, r);
    float p = 0x1.a1256cp-13f;
    p = fmaf(p, r, 0x1.6d43bp-10f);
    p = fmaf(p, r, 0x1.1110e0p-7f);
    p = fmaf(p, r, 0x1.5554e8p-5f);
    p = fmaf(p, r, 0x1.555556p-3f);
    p = fmaf(p, r, 0.5f);
    float e = fmaf(r * r, p, r);
    if (n == 0) return e;
    if (n == 128) return (0.5f + e * 0.5f) * 0x1p127f * 4.0f;
    float scale = of_bits((unsigned)((int)n + 127) << 23);
    return fmaf(scale, e, scale - 1);
}

LIBRARY float log1pf(float x)
{
    float u = 1 + x;
    if (fabsf(x) < 0x1p-12f) return fmaf(x * x, fmaf(x, 0x1.555556p-2f, -0.5f), x);
    if (!(u > 0) || u == INFINITY) return u == 0 ? -INFINITY : logf(u);
    /* What the sum has lost. */
    float lost = u > 2 ? 1 - (u - x) : x - (u - 1), low, high = log2_of(u, &low);
    return fmaf(high, 0x1.62e43p-1f, fmaf(low, 0x1.62e43p-1f, lost / u));
}

/* Half of e to the power of x, for 88 to 90: the first part of ln 2 is taken from x without error. */
OWN float half_exp(float x)
{
    float e = exp_of(x - 0x1.62e4p-1f);
    return e < INFINITY ? fmaf(e, -0x1.7f7d1cp-20f, e) : e;
}

LIBRARY float sinhf(float x)
{
    float a = fabsf(x);
    if (a < 1) {
        float t = x * x, p = 0x1.78a70ep-19f;
        p = fmaf(p, t, 0x1.a00900p-13f);
        p = fmaf(p, t, 0x1.11111ep-7f);
        p = fmaf(p, t, 0x1.555556p-3f);
        return fmaf(x * t, p, x);
    }
    if (a > 88) {
        return copysignf(half_exp(a), x);
    }
    float e = exp_of(a);
    return copysignf(fmaf(0.5f, e, -0.5f / e), x);
}

LIBRARY float coshf(float x)
{
    float a = fabsf(x);
    if (a > 88) {
        return half_exp(a);
    }
    float e = exp_of(a);
    return fmaf(0.5f, e, 0.5f / e);
}

LIBRARY float tanhf(float x)
{
    float a = fabsf(x);
    if (a < 0.55f) {
        float t = x * x, p = -0x1.b13538p-8f;
        p = fmaf(p, t, 0x1.5d220ep-6f);
        p = fmaf(p, t, -0x1.b9a044p-5f);
        p = fmaf(p, t, 0x1.110feap-3f);
        p = fmaf(p, t, -0x1.555548p-2f);
        return copysignf(fmaf(x * t, p, x), x);
    }
    return copysignf(a > 10 ? 1 : 1 - 2 / (exp_of(2 * a) + 1), x);
}

/* The arc tangent of 0 to 1 and a small number, in two floats. */
OWN float atan_of(float x, float low, float *rest)
{
    /* Up to the tangent of an eighth of pi, or as the distance from a quarter. */
    int is_large = x > 0x1.a8279ap-2f;
    float y = x;
    if (is_large) {
        float top = x - 1, bottom = x + 1, lost = x - (bottom - 1);
        y = top / bottom;
        low = (fmaf(-y, bottom, top) + low - y * (lost + low)) / bottom;
    }
    float t = y * y, p = -0x1.08455ep-4f;
    p = fmaf(p, t, 0x1.b81030p-4f);
    p = fmaf(p, t, -0x1.242036p-3f);
    p = fmaf(p, t, 0x1.999730p-3f);
    p = fmaf(p, t, -0x1.555554p-2f);
    float z = fmaf(y * t, p, fmaf(-t, low, low));
    if (!is_large) {
        *rest = z;
        return y;
    }
    float sum = 0x1.921fb6p-1f + y;
    *rest = 0x1.921fb6p-1f - sum + y + (z - 0x1.777a5cp-26f);
    return sum;
}

/* The distance from a larger number, in two floats. */
OWN float from(float number, float low, float *rest, float x)
{
    float sum = number - x;
    *rest = number - sum - x + (low - *rest);
    return sum;
}

LIBRARY float atanf(float x)
{
    float a = fabsf(x), rest, q = a, low = 0;
    if (a > 1) {
        q = 1 / a;
        low = a < 0x1p60f ? fmaf(-q, a, 1) / a : 0;
    }
    float r = atan_of(q, low, &rest);
    if (a > 1) r = from(0x1.921fb6p+0f, -0x1.777a5cp-25f, &rest, r);
    return copysignf(r + rest, x);
}

LIBRARY float atan2f(float y, float x)
{
    if (x != x || y != y) return x + y;
    float a = fabsf(x), b = fabsf(y), small = fminf(a, b), large = fmaxf(a, b), rest;
    float q = large == 0 ? 0 : small == large ? 1 : small / large;
    float low = small > 0x1p-100f && large < 0x1p100f ? fmaf(-q, large, small) / large : 0;
    float r = atan_of(q, low, &rest);
    if (b > a) r = from(0x1.921fb6p+0f, -0x1.777a5cp-25f, &rest, r);
    if (bits_of(x) >> 31) r = from(0x1.921fb6p+1f, -0x1.777a5cp-24f, &rest, r);
    return copysignf(r + rest, y);
}

/* The arc sine of -1/2 to 1/2 less x, for its square t. */
OWN float asin_of(float x, float t)
{
    float p = 0x1.13fed4p-5f;
    p = fmaf(p, t, 0x1.18f91ep-6f);
    p = fmaf(p, t, 0x1.fd8da2p-6f);
    p = fmaf(p, t, 0x1.6d5bbap-5f);
    p = fmaf(p, t, 0x1.333430p-4f);
    p = fmaf(p, t, 0x1.555554p-3f);
    return x * t * p;
}

LIBRARY float asinf(float x)
{
    float a = fabsf(x);
    if (a <= 0.5f) return x + asin_of(x, x * x);
    float t = fmaf(a, -0.5f, 0.5f), s = sqrtf(t), rest = s > 0 ? fmaf(-s, s, t) / (2 * s) : 0;
    float r = 0x1.921fb6p+0f - (2 * (s + (asin_of(s, t) + rest)) + 0x1.777a5cp-25f);
    return copysignf(r, x);
}

LIBRARY float acosf(float x)
{
    float a = fabsf(x);
    if (a <= 0.5f) return 0x1.921fb6p+0f - (x + (asin_of(x, x * x) + 0x1.777a5cp-25f));
    float t = fmaf(a, -0.5f, 0.5f), s = sqrtf(t), rest = s > 0 ? fmaf(-s, s, t) / (2 * s) : 0;
    float r = asin_of(s, t) + rest;
    return x > 0 ? 2 * (s + r) : 0x1.921fb6p+1f - 2 * (s + (r + 0x1.777a5cp-25f));
}

LIBRARY float cbrtf(float x)
{
    float a = fabsf(x);
    if (a == 0 || !(a < INFINITY)) return x + x;
    float scale = 1;
    if (a < 0x1p-100f) a *= 0x1p72f, scale = 0x1p-24f;
    float y = wave_exp2(wave_log2(a) * 0x1.555556p-2f);
    /* A step of Newton's, whose difference is exact. */
    float square = y * y, low = fmaf(y, y, -square);
    y -= (fmaf(square, y, -a) + low * y) / (3 * square);
    return copysignf(y * scale, x);
}

LIBRARY float hypotf(float x, float y)
{
    float a = fabsf(x), b = fabsf(y), large = fmaxf(a, b), scale = 1;
    if (a == INFINITY || b == INFINITY) return INFINITY;
    if (x != x || y != y) return x + y;
    if (large > 0x1p60f) a *= 0x1p-70f, b *= 0x1p-70f, scale = 0x1p70f;
    else if (large < 0x1p-50f) a *= 0x1p75f, b *= 0x1p75f, scale = 0x1p-75f;
    float square = a * a, low = fmaf(a, a, -square), other = b * b;
    float high = square + other;
    low += fmaf(b, b, -other) + (square > other ? square - high + other : other - high + square);
    float root = sqrtf(high);
    if (root > 0) root += (fmaf(-root, root, high) + low) / (2 * root);
    return root * scale;
}

/* The integer that a float is a multiple of a power of two, and that power. */
OWN unsigned parts(float x, int *power)
{
    unsigned bits = bits_of(x) & 0x7fffffff, e = bits >> 23;
    *power = e ? (int)e : 1;
    return (bits & 0x7fffff) | (unsigned)(e > 0) << 23;
}

LIBRARY float fmodf(float x, float y)
{
    int n, m;
    unsigned a = parts(x, &n), b = parts(y, &m);
    if (x != x || y != y || fabsf(x) == INFINITY || b == 0) return NAN;
    if (fabsf(y) == INFINITY || n < m) return x;
    a %= b;
    /* Eight bits of the quotient at a time. */
    for (; n - m >= 8; n -= 8) a = (a << 8) % b;
    a = (a << (n - m)) % b;
    if (a == 0) return copysignf(0, x);
    int by = __builtin_clz(a) - 8;
    if (by >= m) by = m - 1;
    a <<= by;
    unsigned e = a >> 23 ? (unsigned)(m - by) : 0;
    return copysignf(of_bits(e << 23 | (a & 0x7fffff)), x);
}

LIBRARY float remainderf(float x, float y)
{
    float b = fabsf(y);
    if (y != y || !(fabsf(x) < INFINITY)) return NAN;
    if (b == INFINITY) return x;
    float a = b < 0x1p126f ? fabsf(fmodf(x, 2 * b)) : fabsf(x);
    if (a != a) return a;
    /* Doubled, without overflow and without loss. */
    if (b < 0x1p-120f) {
        if (a + a > b) {
            a -= b;
            if (a + a >= b) a -= b;
        }
    } else if (a > 0.5f * b) {
        a -= b;
        if (a >= 0.5f * b) a -= b;
    }
    return bits_of(x) >> 31 ? -a : a;
}

LIBRARY float frexpf(float x, int *power)
{
    unsigned bits = bits_of(x), e = bits >> 23 & 255;
    *power = 0;
    if (x == 0 || e == 255) return x;
    if (e == 0) {
        x *= 0x1p24f;
        bits = bits_of(x);
        *power = -24;
        e = bits >> 23 & 255;
    }
    *power += (int)e - 126;
    return of_bits((bits & 0x807fffff) | 0x3f000000);
}

LIBRARY float modff(float x, float *whole)
{
    float t = truncf(x);
    *whole = t;
    return copysignf(fabsf(x) == INFINITY ? 0 : x - t, x);
}

LIBRARY int ilogbf(float x)
{
    int power;
    if (x == 0) return FP_ILOGB0;
    if (!(fabsf(x) < INFINITY)) return FP_ILOGBNAN;
    frexpf(x, &power);
    return power - 1;
}

LIBRARY float logbf(float x)
{
    if (x == 0) return -INFINITY;
    return fabsf(x) < INFINITY ? (float)ilogbf(x) : x * x;
}

LIBRARY float nextafterf(float x, float y)
{
    if (x != x || y != y) return x + y;
    if (x == y) return y;
    if (x == 0) return copysignf(0x1p-149f, y);
    unsigned bits = bits_of(x);
    return of_bits((x < y) == (x > 0) ? bits + 1 : bits - 1);
}
