/* Functions of real numbers. docs/c.md has the greatest error of each. */
#ifndef WAVE_MATH_H
#define WAVE_MATH_H
#include <wave_library.h>
typedef float float_t;
typedef double double_t;
#define HUGE_VAL __builtin_huge_val()
#define HUGE_VALF __builtin_huge_valf()
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define FP_NAN 0
#define FP_INFINITE 1
#define FP_ZERO 2
#define FP_SUBNORMAL 3
#define FP_NORMAL 4
#define FP_ILOGB0 (-0x7fffffff - 1)
#define FP_ILOGBNAN 0x7fffffff
#define fpclassify(x) __builtin_fpclassify(FP_NAN, FP_INFINITE, FP_NORMAL, FP_SUBNORMAL, FP_ZERO, x)
#define isnan(x) __builtin_isnan(x)
#define isinf(x) __builtin_isinf_sign(x)
#define isfinite(x) __builtin_isfinite(x)
#define isnormal(x) __builtin_isnormal(x)
#define signbit(x) (sizeof(x) == sizeof(float) ? __builtin_signbitf(x) : __builtin_signbit(x))
#define isgreater(x, y) __builtin_isgreater(x, y)
#define isgreaterequal(x, y) __builtin_isgreaterequal(x, y)
#define isless(x, y) __builtin_isless(x, y)
#define islessequal(x, y) __builtin_islessequal(x, y)
#define islessgreater(x, y) __builtin_islessgreater(x, y)
#define isunordered(x, y) __builtin_isunordered(x, y)
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
WAVE_BEGIN
#define WAVE_UNARY(name) float name##f(float); double name(double);
#define WAVE_BINARY(name) float name##f(float, float); double name(double, double);
WAVE_UNARY(sqrt) WAVE_UNARY(fabs) WAVE_UNARY(floor) WAVE_UNARY(ceil) WAVE_UNARY(trunc) WAVE_UNARY(rint)
WAVE_UNARY(sin) WAVE_UNARY(cos) WAVE_UNARY(tan) WAVE_UNARY(exp) WAVE_UNARY(exp2) WAVE_UNARY(log) WAVE_UNARY(log2)
WAVE_UNARY(asin) WAVE_UNARY(acos) WAVE_UNARY(atan) WAVE_UNARY(sinh) WAVE_UNARY(cosh) WAVE_UNARY(tanh)
WAVE_UNARY(expm1) WAVE_UNARY(log10) WAVE_UNARY(log1p) WAVE_UNARY(cbrt) WAVE_UNARY(logb)
WAVE_BINARY(atan2) WAVE_BINARY(hypot) WAVE_BINARY(fmod) WAVE_BINARY(remainder) WAVE_BINARY(nextafter)
WAVE_BINARY(pow) WAVE_BINARY(fmin) WAVE_BINARY(fmax) WAVE_BINARY(copysign)
float fmaf(float, float, float);
double fma(double, double, double);
#undef WAVE_UNARY
#undef WAVE_BINARY
void sincos(double, double *, double *);
float ldexpf(float, int);
double ldexp(double, int);
float frexpf(float, int *);
double frexp(double, int *);
float modff(float, float *);
double modf(double, double *);
int ilogbf(float);
int ilogb(double);
WAVE_INLINE void sincosf(float x, float *sine, float *cosine) { *sine = sinf(x); *cosine = cosf(x); }
WAVE_INLINE float scalbnf(float x, int n) { return ldexpf(x, n); }
WAVE_INLINE double scalbn(double x, int n) { return ldexp(x, n); }
WAVE_INLINE float scalblnf(float x, long n) { return ldexpf(x, (int)n); }
WAVE_INLINE double scalbln(double x, long n) { return ldexp(x, (int)n); }
WAVE_INLINE float nearbyintf(float x) { return rintf(x); }
WAVE_INLINE double nearbyint(double x) { return rint(x); }
/* Halves away from zero: the largest number below a half keeps those below it from being rounded up. */
WAVE_INLINE float roundf(float x) { return truncf(x + copysignf(0x1.fffffep-2f, x)); }
WAVE_INLINE double round(double x) { return trunc(x + copysign(0x1.fffffffffffffp-2, x)); }
WAVE_INLINE long lroundf(float x) { return (long)roundf(x); }
WAVE_INLINE long lround(double x) { return (long)round(x); }
WAVE_INLINE long long llroundf(float x) { return (long long)roundf(x); }
WAVE_INLINE long long llround(double x) { return (long long)round(x); }
WAVE_INLINE long lrintf(float x) { return (long)rintf(x); }
WAVE_INLINE long lrint(double x) { return (long)rint(x); }
WAVE_INLINE long long llrintf(float x) { return (long long)rintf(x); }
WAVE_INLINE long long llrint(double x) { return (long long)rint(x); }
WAVE_INLINE float fdimf(float x, float y) { return x <= y ? 0 : x - y; }
WAVE_INLINE double fdim(double x, double y) { return x <= y ? 0 : x - y; }
WAVE_INLINE float nanf(const char *text) { (void)text; return NAN; }
WAVE_INLINE double nan(const char *text) { (void)text; return NAN; }
WAVE_END
#endif
