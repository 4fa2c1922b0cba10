/* Functions of CUDA's device library that the C library lacks. Each has the prefix nv_ here, since some have names of
   functions that clang or math.h knows. */
#include "common.h"
#include <math.h>
#include <wave.h>
#include "instructions.h"

LIBRARY float nv_rsqrtf(float x) { return wave_rsqrt(x); }
LIBRARY double nv_rsqrt(double x)
{
    if (x == 0) return copysign(INFINITY, x);
    if (x == INFINITY) return 0;
    /* A step of Newton takes away the two roundings. */
    double y = 1 / sqrt(x), p = x * y, low = __builtin_fma(x, y, -p);
    return y + 0.5 * y * __builtin_fma(-low, y, __builtin_fma(-p, y, 1));
}
LIBRARY float nv_roundf(float x) { return truncf(x + copysignf(0x1.fffffep-2f, x)); }
LIBRARY double nv_round(double x) { return trunc(x + copysign(0x1.fffffffffffffp-2, x)); }
LIBRARY float nv_nearbyintf(float x) { return rintf(x); }
LIBRARY double nv_nearbyint(double x) { return rint(x); }
LIBRARY float nv_fdimf(float x, float y) { return x <= y ? 0 : x - y; }
LIBRARY double nv_fdim(double x, double y) { return x <= y ? 0 : x - y; }
LIBRARY float nv_scalbnf(float x, int n) { return ldexpf(x, n); }
LIBRARY double nv_scalbn(double x, int n) { return ldexp(x, n); }
LIBRARY float nv_exp10f(float x) { return powf(10, x); }
LIBRARY double nv_exp10(double x) { return pow(10, x); }
LIBRARY float nv_powif(float x, int n) { return powf(x, (float)n); }
LIBRARY double nv_powi(double x, int n) { return pow(x, n); }
LIBRARY void nv_sincosf(float x, float *sine, float *cosine) { *sine = wave_sin(x), *cosine = wave_cos(x); }

/* x modulo 2, between -1 and 1, times pi. */
OWN float half_turns(float x) { return (x - 2 * rintf(0.5f * x)) * 0x1.921fb6p+1f; }
LIBRARY float nv_sinpif(float x) { return wave_sin(half_turns(x)); }
LIBRARY float nv_cospif(float x) { return wave_cos(half_turns(x)); }

/* 2 / sqrt(pi) * exp(-x * x) * the sum of 2^n x^(2n + 1) / (1 * 3 * ... * (2n + 1)): no term is negative. */
OWN double error_series(double x)
{
    double term = x, sum = x, square = 2 * x * x;
    for (int n = 3; term > sum * 0x1p-56; n += 2) {
        term *= square / n;
        sum += term;
    }
    return 0x1.20dd750429b6dp+0 * exp(-x * x) * sum;
}

/* The continued fraction of the complement, from its end. */
OWN double error_fraction(double x)
{
    double low = __builtin_fma(x, x, -(x * x)), rest = x;
    for (int n = 24 + (int)(160 / (x * x)); n > 0; n--) rest = x + 0.5 * n / rest;
    double power = exp(-(x * x));
    return __builtin_fma(-low, power, power) * 0x1.20dd750429b6dp-1 / rest;
}

LIBRARY double nv_erfc(double x)
{
    if (x != x) return x;
    double a = fabs(x);
    if (a < 0.9) return 1 - (x < 0 ? -error_series(a) : error_series(a));
    if (a > 27.3) return x < 0 ? 2 : 0;
    return x < 0 ? 2 - error_fraction(a) : error_fraction(a);
}

LIBRARY double nv_erf(double x)
{
    double a = fabs(x);
    if (x != x || x == 0) return x;
    if (a > 6) return copysign(1, x);
    return copysign(a < 1.5 ? error_series(a) : 1 - error_fraction(a), x);
}

LIBRARY float nv_erff(float x) { return (float)nv_erf(x); }
LIBRARY float nv_erfcf(float x) { return (float)nv_erfc(x); }
LIBRARY float nv_normcdff(float x) { return (float)(0.5 * nv_erfc(-0x1.6a09e667f3bcdp-1 * x)); }
LIBRARY double nv_normcdf(double x) { return 0.5 * nv_erfc(-0x1.6a09e667f3bcdp-1 * x); }

/* Those that are an instruction: quotients and exponentials that CUDA's fast arithmetic has. */
#define FAST(name, text) LIBRARY float nv_fast_##name(float x) { return text; }
FAST(sinf, wave_sin(x))
FAST(cosf, wave_cos(x))
FAST(tanf, wave_sin(x) / wave_cos(x))
FAST(expf, wave_exp2(x * 0x1.715476p+0f))
FAST(exp10f, wave_exp2(x * 0x1.a934f0p+1f))
FAST(logf, wave_log2(x) * 0x1.62e43p-1f)
FAST(log2f, wave_log2(x))
FAST(log10f, wave_log2(x) * 0x1.344134p-2f)
LIBRARY float nv_fast_powf(float x, float y) { return wave_exp2(y * wave_log2(x)); }
LIBRARY float nv_fast_fdividef(float x, float y) { return x / y; }
LIBRARY float nv_fdividef(float x, float y) { return x / y; }
LIBRARY float nv_fsqrt_rn(float x) { return sqrtf(x); }
LIBRARY double nv_dsqrt_rn(double x) { return sqrt(x); }
LIBRARY float nv_saturatef(float x) { return x > 0 ? x < 1 ? x : 1 : 0; }
LIBRARY float nv_fmaf_rn(float a, float b, float c) { return wave_fma(a, b, c); }
LIBRARY double nv_fma_rn(double a, double b, double c) { return wave_fma_f64(a, b, c); }
#define ARITHMETIC(name, sign)                                                                                     \
    LIBRARY float nv_f##name##_rn(float a, float b) { return a sign b; }                                              \
    LIBRARY double nv_d##name##_rn(double a, double b) { return a sign b; }
ARITHMETIC(add, +)
ARITHMETIC(sub, -)
ARITHMETIC(mul, *)
ARITHMETIC(div, /)

/* Properties and bits. */
LIBRARY int nv_isnanf(float x) { return x != x; }
LIBRARY int nv_isnand(double x) { return x != x; }
LIBRARY int nv_isinff(float x) { return fabsf(x) == INFINITY; }
LIBRARY int nv_isinfd(double x) { return fabs(x) == INFINITY; }
LIBRARY int nv_finitef(float x) { return fabsf(x) < INFINITY; }
LIBRARY int nv_isfinited(double x) { return fabs(x) < INFINITY; }
LIBRARY int nv_float_as_int(float x) { return (int)wave_bits(x); }
LIBRARY unsigned nv_float_as_uint(float x) { return wave_bits(x); }
LIBRARY float nv_int_as_float(int x) { return wave_float((unsigned)x); }
LIBRARY float nv_uint_as_float(unsigned x) { return wave_float(x); }
LIBRARY int nv_signbitf(float x) { return (int)(wave_bits(x) >> 31); }

/* Integers. */
LIBRARY int nv_abs(int x) { return x < 0 ? (int)-(unsigned)x : x; }
LIBRARY long long nv_llabs(long long x) { return x < 0 ? (long long)-(unsigned long long)x : x; }
LIBRARY int nv_min(int a, int b) { return a < b ? a : b; }
LIBRARY int nv_max(int a, int b) { return a > b ? a : b; }
LIBRARY unsigned nv_umin(unsigned a, unsigned b) { return a < b ? a : b; }
LIBRARY unsigned nv_umax(unsigned a, unsigned b) { return a > b ? a : b; }
LIBRARY long long nv_llmin(long long a, long long b) { return a < b ? a : b; }
LIBRARY long long nv_llmax(long long a, long long b) { return a > b ? a : b; }
LIBRARY unsigned long long nv_ullmin(unsigned long long a, unsigned long long b) { return a < b ? a : b; }
LIBRARY unsigned long long nv_ullmax(unsigned long long a, unsigned long long b) { return a > b ? a : b; }
LIBRARY int nv_mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
LIBRARY unsigned nv_umulhi(unsigned a, unsigned b) { return (unsigned)((unsigned long long)a * b >> 32); }
LIBRARY int nv_popc(unsigned x) { return __builtin_popcount(x); }
LIBRARY int nv_popcll(unsigned long long x) { return __builtin_popcountll(x); }
LIBRARY int nv_clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
LIBRARY int nv_clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
LIBRARY int nv_ffs(int x) { return __builtin_ffs(x); }
LIBRARY unsigned nv_brev(unsigned x) { return __builtin_bitreverse32(x); }
