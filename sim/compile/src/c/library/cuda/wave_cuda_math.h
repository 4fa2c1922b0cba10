// Arithmetic of CUDA. A function of one instruction is that instruction; the others are in the device library, which
// wave-sim links with the PTX (`__nv_*`). docs/cuda.md has their accuracy.
#pragma once

#undef isnan
#undef isinf
#undef isfinite
#undef signbit

// Functions of one instruction.
#define WAVE_CUDA_ASM1(name, T, R, text)                                                                           \
    WAVE_CUDA_FN T name(T a) { T d; asm(text " %0, %1;" : "=" R(d) : R(a)); return d; }
WAVE_CUDA_ASM1(__fsqrt_rn, float, "f", "sqrt.rn.f32")
WAVE_CUDA_ASM1(__frcp_rn, float, "f", "rcp.rn.f32")
WAVE_CUDA_ASM1(__frsqrt_rn, float, "f", "rsqrt.approx.f32")
WAVE_CUDA_ASM1(rsqrtf, float, "f", "rsqrt.approx.f32")
WAVE_CUDA_ASM1(sqrtf, float, "f", "sqrt.rn.f32")
WAVE_CUDA_ASM1(__sinf, float, "f", "sin.approx.f32")
WAVE_CUDA_ASM1(__cosf, float, "f", "cos.approx.f32")
WAVE_CUDA_ASM1(exp2f, float, "f", "ex2.approx.f32")
WAVE_CUDA_ASM1(__log2f, float, "f", "lg2.approx.f32")
WAVE_CUDA_ASM1(log2f, float, "f", "lg2.approx.f32")
WAVE_CUDA_ASM1(floorf, float, "f", "cvt.rmi.f32.f32")
WAVE_CUDA_ASM1(ceilf, float, "f", "cvt.rpi.f32.f32")
WAVE_CUDA_ASM1(truncf, float, "f", "cvt.rzi.f32.f32")
WAVE_CUDA_ASM1(rintf, float, "f", "cvt.rni.f32.f32")
WAVE_CUDA_ASM1(nearbyintf, float, "f", "cvt.rni.f32.f32")
WAVE_CUDA_ASM1(fabsf, float, "f", "abs.f32")
WAVE_CUDA_ASM1(__saturatef, float, "f", "cvt.sat.f32.f32")
WAVE_CUDA_ASM1(sqrt, double, "d", "sqrt.rn.f64")
WAVE_CUDA_ASM1(__dsqrt_rn, double, "d", "sqrt.rn.f64")
WAVE_CUDA_ASM1(__drcp_rn, double, "d", "rcp.rn.f64")
WAVE_CUDA_ASM1(rsqrt, double, "d", "rsqrt.approx.f64")
WAVE_CUDA_ASM1(fabs, double, "d", "abs.f64")
WAVE_CUDA_ASM1(floor, double, "d", "cvt.rmi.f64.f64")
WAVE_CUDA_ASM1(ceil, double, "d", "cvt.rpi.f64.f64")
WAVE_CUDA_ASM1(trunc, double, "d", "cvt.rzi.f64.f64")
WAVE_CUDA_ASM1(rint, double, "d", "cvt.rni.f64.f64")
WAVE_CUDA_ASM1(nearbyint, double, "d", "cvt.rni.f64.f64")
WAVE_CUDA_ASM1(__brev, unsigned, "r", "brev.b32")
WAVE_CUDA_ASM1(__brevll, unsigned long long, "l", "brev.b64")
#undef WAVE_CUDA_ASM1

#define WAVE_CUDA_ASM2(name, T, R, text)                                                                           \
    WAVE_CUDA_FN T name(T a, T b) { T d; asm(text " %0, %1, %2;" : "=" R(d) : R(a), R(b)); return d; }
WAVE_CUDA_ASM2(fminf, float, "f", "min.f32")
WAVE_CUDA_ASM2(fmaxf, float, "f", "max.f32")
WAVE_CUDA_ASM2(fmin, double, "d", "min.f64")
WAVE_CUDA_ASM2(fmax, double, "d", "max.f64")
WAVE_CUDA_ASM2(__fadd_rn, float, "f", "add.rn.f32")
WAVE_CUDA_ASM2(__fsub_rn, float, "f", "sub.rn.f32")
WAVE_CUDA_ASM2(__fmul_rn, float, "f", "mul.rn.f32")
WAVE_CUDA_ASM2(__fdiv_rn, float, "f", "div.rn.f32")
WAVE_CUDA_ASM2(__fdividef, float, "f", "div.approx.f32")
WAVE_CUDA_ASM2(fdividef, float, "f", "div.approx.f32")
WAVE_CUDA_ASM2(__dadd_rn, double, "d", "add.rn.f64")
WAVE_CUDA_ASM2(__dsub_rn, double, "d", "sub.rn.f64")
WAVE_CUDA_ASM2(__dmul_rn, double, "d", "mul.rn.f64")
WAVE_CUDA_ASM2(__ddiv_rn, double, "d", "div.rn.f64")
WAVE_CUDA_ASM2(__mulhi, int, "r", "mul.hi.s32")
WAVE_CUDA_ASM2(__umulhi, unsigned, "r", "mul.hi.u32")
WAVE_CUDA_ASM2(__mul64hi, long long, "l", "mul.hi.s64")
WAVE_CUDA_ASM2(__umul64hi, unsigned long long, "l", "mul.hi.u64")
WAVE_CUDA_ASM2(__mul24, int, "r", "mul24.lo.s32")
WAVE_CUDA_ASM2(__umul24, unsigned, "r", "mul24.lo.u32")
#undef WAVE_CUDA_ASM2

#define WAVE_CUDA_ASM3(name, T, text)                                                                              \
    WAVE_CUDA_FN T name(T a, T b, T c) { T d; asm(text " %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); return d; }
WAVE_CUDA_ASM3(__byte_perm, unsigned, "prmt.b32")
WAVE_CUDA_ASM3(__funnelshift_l, unsigned, "shf.l.wrap.b32")
WAVE_CUDA_ASM3(__funnelshift_r, unsigned, "shf.r.wrap.b32")
WAVE_CUDA_ASM3(__funnelshift_lc, unsigned, "shf.l.clamp.b32")
WAVE_CUDA_ASM3(__funnelshift_rc, unsigned, "shf.r.clamp.b32")
WAVE_CUDA_ASM3(__usad, unsigned, "sad.u32")
WAVE_CUDA_ASM3(__dp4a, unsigned, "dp4a.u32.u32")
WAVE_CUDA_ASM3(__dp4a, int, "dp4a.s32.s32")
#undef WAVE_CUDA_ASM3

WAVE_CUDA_FN float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
WAVE_CUDA_FN float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
WAVE_CUDA_FN double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
WAVE_CUDA_FN double __fma_rn(double a, double b, double c) { return __builtin_fma(a, b, c); }
WAVE_CUDA_FN int __popc(unsigned a) { return __builtin_popcount(a); }
WAVE_CUDA_FN int __popcll(unsigned long long a) { return __builtin_popcountll(a); }
WAVE_CUDA_FN int __clz(int a) { int d; asm("clz.b32 %0, %1;" : "=r"(d) : "r"(a)); return d; }
WAVE_CUDA_FN int __clzll(long long a) { int d; asm("clz.b64 %0, %1;" : "=r"(d) : "l"(a)); return d; }
WAVE_CUDA_FN int __ffs(int a) { return a ? 32 - __clz(a & -a) : 0; }
WAVE_CUDA_FN int __ffsll(long long a) { return a ? 64 - __clzll(a & -a) : 0; }
WAVE_CUDA_FN float copysignf(float a, float b) { return __builtin_copysignf(a, b); }
WAVE_CUDA_FN double copysign(double a, double b) { return __builtin_copysign(a, b); }
WAVE_CUDA_FN float roundf(float x) { return truncf(x + copysignf(0x1.fffffep-2f, x)); }
WAVE_CUDA_FN double round(double x) { return trunc(x + copysign(0x1.fffffffffffffp-2, x)); }
WAVE_CUDA_FN float fdimf(float x, float y) { return x <= y ? 0.0f : x - y; }
WAVE_CUDA_FN double fdim(double x, double y) { return x <= y ? 0.0 : x - y; }

// Bits.
WAVE_CUDA_FN float __int_as_float(int a) { return __builtin_bit_cast(float, a); }
WAVE_CUDA_FN int __float_as_int(float a) { return __builtin_bit_cast(int, a); }
WAVE_CUDA_FN float __uint_as_float(unsigned a) { return __builtin_bit_cast(float, a); }
WAVE_CUDA_FN unsigned __float_as_uint(float a) { return __builtin_bit_cast(unsigned, a); }
WAVE_CUDA_FN double __longlong_as_double(long long a) { return __builtin_bit_cast(double, a); }
WAVE_CUDA_FN long long __double_as_longlong(double a) { return __builtin_bit_cast(long long, a); }
WAVE_CUDA_FN int __double2hiint(double a) { return (int)(__double_as_longlong(a) >> 32); }
WAVE_CUDA_FN int __double2loint(double a) { return (int)__double_as_longlong(a); }
WAVE_CUDA_FN double __hiloint2double(int high, int low) {
    return __longlong_as_double((long long)high << 32 | (unsigned)low);
}
WAVE_CUDA_FN int isnan(float x) { return x != x; }
WAVE_CUDA_FN int isnan(double x) { return x != x; }
WAVE_CUDA_FN int isinf(float x) { return fabsf(x) == __builtin_inff(); }
WAVE_CUDA_FN int isinf(double x) { return fabs(x) == __builtin_inf(); }
WAVE_CUDA_FN int isfinite(float x) { return fabsf(x) < __builtin_inff(); }
WAVE_CUDA_FN int isfinite(double x) { return fabs(x) < __builtin_inf(); }
WAVE_CUDA_FN int signbit(float x) { return __float_as_uint(x) >> 31; }
WAVE_CUDA_FN int signbit(double x) { return (unsigned long long)__double_as_longlong(x) >> 63; }

// Conversions with a stated rounding.
#define WAVE_CUDA_CONVERT(name, D, RD, S, RS, text)                                                                \
    WAVE_CUDA_FN D name(S a) { D d; asm("cvt." text " %0, %1;" : "=" RD(d) : RS(a)); return d; }
#define WAVE_CUDA_ROUNDINGS(name, D, RD, S, RS, i, text)                                                           \
    WAVE_CUDA_CONVERT(name##_rn, D, RD, S, RS, "rn" i "." text)                                                    \
    WAVE_CUDA_CONVERT(name##_rz, D, RD, S, RS, "rz" i "." text)                                                    \
    WAVE_CUDA_CONVERT(name##_rd, D, RD, S, RS, "rm" i "." text)                                                    \
    WAVE_CUDA_CONVERT(name##_ru, D, RD, S, RS, "rp" i "." text)
WAVE_CUDA_ROUNDINGS(__float2int, int, "r", float, "f", "i", "s32.f32")
WAVE_CUDA_ROUNDINGS(__float2uint, unsigned, "r", float, "f", "i", "u32.f32")
WAVE_CUDA_ROUNDINGS(__float2ll, long long, "l", float, "f", "i", "s64.f32")
WAVE_CUDA_ROUNDINGS(__double2int, int, "r", double, "d", "i", "s32.f64")
WAVE_CUDA_ROUNDINGS(__double2uint, unsigned, "r", double, "d", "i", "u32.f64")
WAVE_CUDA_ROUNDINGS(__double2ll, long long, "l", double, "d", "i", "s64.f64")
WAVE_CUDA_CONVERT(__int2float_rn, float, "f", int, "r", "rn.f32.s32")
WAVE_CUDA_CONVERT(__uint2float_rn, float, "f", unsigned, "r", "rn.f32.u32")
WAVE_CUDA_CONVERT(__double2float_rn, float, "f", double, "d", "rn.f32.f64")
WAVE_CUDA_FN double __int2double_rn(int a) { return a; }
#undef WAVE_CUDA_ROUNDINGS
#undef WAVE_CUDA_CONVERT
WAVE_CUDA_FN long lrintf(float x) { return __float2ll_rn(x); }
WAVE_CUDA_FN long lrint(double x) { return __double2ll_rn(x); }
WAVE_CUDA_FN long lroundf(float x) { return (long)roundf(x); }
WAVE_CUDA_FN long lround(double x) { return (long)round(x); }

// Functions of the device library. `WAVE_CUDA_LIBRARY1(name)` is one of a number, `WAVE_CUDA_LIBRARY2` one of two.
#define WAVE_CUDA_EXTERN extern "C" __device__ __attribute__((const, nothrow))
#define WAVE_CUDA_LIBRARY1(name)                                                                                   \
    WAVE_CUDA_EXTERN float __nv_##name##f(float);                                                                  \
    WAVE_CUDA_EXTERN double __nv_##name(double);                                                                   \
    WAVE_CUDA_FN float name##f(float x) { return __nv_##name##f(x); }                                              \
    WAVE_CUDA_FN double name(double x) { return __nv_##name(x); }                                                  \
    WAVE_CUDA_FN float name(float x) { return name##f(x); }
#define WAVE_CUDA_LIBRARY2(name)                                                                                   \
    WAVE_CUDA_EXTERN float __nv_##name##f(float, float);                                                           \
    WAVE_CUDA_EXTERN double __nv_##name(double, double);                                                           \
    WAVE_CUDA_FN float name##f(float x, float y) { return __nv_##name##f(x, y); }                                  \
    WAVE_CUDA_FN double name(double x, double y) { return __nv_##name(x, y); }                                     \
    WAVE_CUDA_FN float name(float x, float y) { return name##f(x, y); }
WAVE_CUDA_LIBRARY1(tan)
WAVE_CUDA_LIBRARY1(asin)
WAVE_CUDA_LIBRARY1(acos)
WAVE_CUDA_LIBRARY1(atan)
WAVE_CUDA_LIBRARY1(sinh)
WAVE_CUDA_LIBRARY1(cosh)
WAVE_CUDA_LIBRARY1(tanh)
WAVE_CUDA_LIBRARY1(expm1)
WAVE_CUDA_LIBRARY1(log1p)
WAVE_CUDA_LIBRARY1(cbrt)
WAVE_CUDA_LIBRARY1(logb)
WAVE_CUDA_LIBRARY1(erf)
WAVE_CUDA_LIBRARY1(erfc)
WAVE_CUDA_LIBRARY1(exp10)
WAVE_CUDA_LIBRARY2(atan2)
WAVE_CUDA_LIBRARY2(hypot)
WAVE_CUDA_LIBRARY2(fmod)
WAVE_CUDA_LIBRARY2(remainder)
WAVE_CUDA_LIBRARY2(nextafter)
WAVE_CUDA_LIBRARY2(pow)
#undef WAVE_CUDA_LIBRARY1
#undef WAVE_CUDA_LIBRARY2
WAVE_CUDA_EXTERN double __nv_exp(double);
WAVE_CUDA_EXTERN double __nv_exp2(double);
WAVE_CUDA_EXTERN double __nv_log(double);
WAVE_CUDA_EXTERN double __nv_log2(double);
WAVE_CUDA_EXTERN double __nv_log10(double);
WAVE_CUDA_EXTERN double __nv_sin(double);
WAVE_CUDA_EXTERN double __nv_cos(double);
WAVE_CUDA_EXTERN float __nv_ldexpf(float, int);
WAVE_CUDA_EXTERN double __nv_ldexp(double, int);
WAVE_CUDA_EXTERN int __nv_ilogbf(float);
WAVE_CUDA_EXTERN int __nv_ilogb(double);
#undef WAVE_CUDA_EXTERN
extern "C" __device__ float __nv_frexpf(float, int *);
extern "C" __device__ double __nv_frexp(double, int *);
extern "C" __device__ float __nv_modff(float, float *);
extern "C" __device__ double __nv_modf(double, double *);
WAVE_CUDA_FN double exp(double x) { return __nv_exp(x); }
WAVE_CUDA_FN double exp2(double x) { return __nv_exp2(x); }
WAVE_CUDA_FN double log(double x) { return __nv_log(x); }
WAVE_CUDA_FN double log2(double x) { return __nv_log2(x); }
WAVE_CUDA_FN double log10(double x) { return __nv_log10(x); }
WAVE_CUDA_FN double sin(double x) { return __nv_sin(x); }
WAVE_CUDA_FN double cos(double x) { return __nv_cos(x); }
WAVE_CUDA_FN void sincos(double x, double *s, double *c) { *s = sin(x); *c = cos(x); }
WAVE_CUDA_FN float ldexpf(float x, int n) { return __nv_ldexpf(x, n); }
WAVE_CUDA_FN double ldexp(double x, int n) { return __nv_ldexp(x, n); }
WAVE_CUDA_FN float scalbnf(float x, int n) { return __nv_ldexpf(x, n); }
WAVE_CUDA_FN double scalbn(double x, int n) { return __nv_ldexp(x, n); }
WAVE_CUDA_FN int ilogbf(float x) { return __nv_ilogbf(x); }
WAVE_CUDA_FN int ilogb(double x) { return __nv_ilogb(x); }
WAVE_CUDA_FN float frexpf(float x, int *n) { return __nv_frexpf(x, n); }
WAVE_CUDA_FN double frexp(double x, int *n) { return __nv_frexp(x, n); }
WAVE_CUDA_FN float modff(float x, float *whole) { return __nv_modff(x, whole); }
WAVE_CUDA_FN double modf(double x, double *whole) { return __nv_modf(x, whole); }

// Short functions of floats, in place. The second term of the exponential is the rest of the product.
WAVE_CUDA_FN float expf(float x) {
    float power = x * 0x1.715476p+0f;
    float rest = fmaf(x, 0x1.4ae0cp-26f, fmaf(x, 0x1.715476p+0f, -power));
    float result = exp2f(power);
    return power > -151.0f && power < 128.0f ? fmaf(result, rest * 0x1.62e43p-1f, result) : result;
}
WAVE_CUDA_FN float __expf(float x) { return exp2f(x * 0x1.715476p+0f); }
WAVE_CUDA_FN float __exp10f(float x) { return exp2f(x * 0x1.a934f1p+1f); }
WAVE_CUDA_FN float logf(float x) { return log2f(x) * 0x1.62e43p-1f; }
WAVE_CUDA_FN float __logf(float x) { return log2f(x) * 0x1.62e43p-1f; }
WAVE_CUDA_FN float log10f(float x) { return log2f(x) * 0x1.344134p-2f; }
WAVE_CUDA_FN float __log10f(float x) { return log2f(x) * 0x1.344134p-2f; }
WAVE_CUDA_FN float __powf(float x, float y) { return exp2f(y * log2f(x)); }
WAVE_CUDA_FN float sinf(float x) { return __sinf(x); }
WAVE_CUDA_FN float cosf(float x) { return __cosf(x); }
WAVE_CUDA_FN float __tanf(float x) { return __fdividef(__sinf(x), __cosf(x)); }
WAVE_CUDA_FN void sincosf(float x, float *s, float *c) { *s = sinf(x); *c = cosf(x); }
WAVE_CUDA_FN void __sincosf(float x, float *s, float *c) { *s = sinf(x); *c = cosf(x); }
WAVE_CUDA_FN float sinpif(float x) { return sinf((x - 2.0f * rintf(x * 0.5f)) * 0x1.921fb6p+1f); }
WAVE_CUDA_FN float cospif(float x) { return cosf((x - 2.0f * rintf(x * 0.5f)) * 0x1.921fb6p+1f); }
WAVE_CUDA_FN float rhypotf(float x, float y) { return rsqrtf(fmaf(x, x, y * y)); }
WAVE_CUDA_FN float norm3df(float x, float y, float z) { return sqrtf(fmaf(x, x, fmaf(y, y, z * z))); }

// C++ names of functions of floats, and least and greatest numbers.
#define WAVE_CUDA_FLOAT1(name) WAVE_CUDA_FN float name(float x) { return name##f(x); }
WAVE_CUDA_FLOAT1(sqrt) WAVE_CUDA_FLOAT1(rsqrt) WAVE_CUDA_FLOAT1(fabs) WAVE_CUDA_FLOAT1(floor) WAVE_CUDA_FLOAT1(ceil)
WAVE_CUDA_FLOAT1(trunc) WAVE_CUDA_FLOAT1(rint) WAVE_CUDA_FLOAT1(round) WAVE_CUDA_FLOAT1(exp) WAVE_CUDA_FLOAT1(exp2)
WAVE_CUDA_FLOAT1(log) WAVE_CUDA_FLOAT1(log2) WAVE_CUDA_FLOAT1(log10) WAVE_CUDA_FLOAT1(sin) WAVE_CUDA_FLOAT1(cos)
#undef WAVE_CUDA_FLOAT1
WAVE_CUDA_FN float fma(float a, float b, float c) { return fmaf(a, b, c); }
WAVE_CUDA_FN float fmin(float a, float b) { return fminf(a, b); }
WAVE_CUDA_FN float fmax(float a, float b) { return fmaxf(a, b); }
WAVE_CUDA_FN float copysign(float a, float b) { return copysignf(a, b); }
// An integer among the arguments makes them doubles, as in C++.
template <bool is, typename T> struct wave_cuda_if {};
template <typename T> struct wave_cuda_if<true, T> { typedef T type; };
template <typename T> struct wave_cuda_integer { static constexpr bool value = __is_integral(T); };
#define WAVE_CUDA_INTEGER1(name)                                                                                   \
    template <typename T> WAVE_CUDA_FN typename wave_cuda_if<wave_cuda_integer<T>::value, double>::type name(T x) {    \
        return name((double)x);                                                                                    \
    }
WAVE_CUDA_INTEGER1(sqrt) WAVE_CUDA_INTEGER1(fabs) WAVE_CUDA_INTEGER1(floor) WAVE_CUDA_INTEGER1(ceil)
WAVE_CUDA_INTEGER1(exp) WAVE_CUDA_INTEGER1(log) WAVE_CUDA_INTEGER1(log2) WAVE_CUDA_INTEGER1(log10)
WAVE_CUDA_INTEGER1(sin) WAVE_CUDA_INTEGER1(cos) WAVE_CUDA_INTEGER1(tan)
#undef WAVE_CUDA_INTEGER1
#define WAVE_CUDA_MIXED2(name)                                                                                     \
    WAVE_CUDA_FN double name(double x, float y) { return name(x, (double)y); }                                     \
    WAVE_CUDA_FN double name(float x, double y) { return name((double)x, y); }                                     \
    template <typename T> WAVE_CUDA_FN typename wave_cuda_if<wave_cuda_integer<T>::value, double>::type                \
    name(double x, T y) { return name(x, (double)y); }                                                             \
    template <typename T> WAVE_CUDA_FN typename wave_cuda_if<wave_cuda_integer<T>::value, double>::type                \
    name(T x, double y) { return name((double)x, y); }
WAVE_CUDA_MIXED2(fmin) WAVE_CUDA_MIXED2(fmax) WAVE_CUDA_MIXED2(fmod) WAVE_CUDA_MIXED2(pow) WAVE_CUDA_MIXED2(atan2)
#undef WAVE_CUDA_MIXED2
WAVE_CUDA_FN float pow(float x, int y) { return powf(x, (float)y); }
WAVE_CUDA_FN double pow(int x, int y) { return pow((double)x, (double)y); }
WAVE_CUDA_FN double pow(int x, float y) { return pow((double)x, (double)y); }

#define WAVE_CUDA_LEAST(T)                                                                                         \
    WAVE_CUDA_FN T min(T a, T b) { return a < b ? a : b; }                                                         \
    WAVE_CUDA_FN T max(T a, T b) { return a > b ? a : b; }
WAVE_CUDA_LEAST(int) WAVE_CUDA_LEAST(unsigned) WAVE_CUDA_LEAST(long) WAVE_CUDA_LEAST(unsigned long)
WAVE_CUDA_LEAST(long long) WAVE_CUDA_LEAST(unsigned long long)
#undef WAVE_CUDA_LEAST
WAVE_CUDA_FN unsigned min(int a, unsigned b) { return min((unsigned)a, b); }
WAVE_CUDA_FN unsigned min(unsigned a, int b) { return min(a, (unsigned)b); }
WAVE_CUDA_FN unsigned max(int a, unsigned b) { return max((unsigned)a, b); }
WAVE_CUDA_FN unsigned max(unsigned a, int b) { return max(a, (unsigned)b); }
WAVE_CUDA_FN float min(float a, float b) { return fminf(a, b); }
WAVE_CUDA_FN float max(float a, float b) { return fmaxf(a, b); }
WAVE_CUDA_FN double min(double a, double b) { return fmin(a, b); }
WAVE_CUDA_FN double max(double a, double b) { return fmax(a, b); }
WAVE_CUDA_FN double min(float a, double b) { return fmin((double)a, b); }
WAVE_CUDA_FN double min(double a, float b) { return fmin(a, (double)b); }
WAVE_CUDA_FN double max(float a, double b) { return fmax((double)a, b); }
WAVE_CUDA_FN double max(double a, float b) { return fmax(a, (double)b); }
WAVE_CUDA_FN int abs(int a) { return a < 0 ? -a : a; }
WAVE_CUDA_FN long abs(long a) { return a < 0 ? -a : a; }
WAVE_CUDA_FN long long abs(long long a) { return a < 0 ? -a : a; }
WAVE_CUDA_FN float abs(float a) { return fabsf(a); }
WAVE_CUDA_FN double abs(double a) { return fabs(a); }
// Those of the host, which has them from CUDA's headers too. They are no templates, so that they come before those of `std`.
#define WAVE_CUDA_LEAST(A, B, R)                                                                                   \
    static inline __attribute__((unused)) __host__ R min(A a, B b) { return (R)b < (R)a ? (R)b : (R)a; }           \
    static inline __attribute__((unused)) __host__ R max(A a, B b) { return (R)a < (R)b ? (R)b : (R)a; }
#define WAVE_CUDA_LEAST3(S, U)                                                                                     \
    WAVE_CUDA_LEAST(S, S, S) WAVE_CUDA_LEAST(U, U, U) WAVE_CUDA_LEAST(S, U, U) WAVE_CUDA_LEAST(U, S, U)
WAVE_CUDA_LEAST3(int, unsigned)
WAVE_CUDA_LEAST3(long, unsigned long)
WAVE_CUDA_LEAST3(long long, unsigned long long)
WAVE_CUDA_LEAST3(float, double)
#undef WAVE_CUDA_LEAST3
#undef WAVE_CUDA_LEAST
template <typename T> WAVE_CUDA_FN T __ldg(const T *p) { return *p; }
template <typename T> WAVE_CUDA_FN T __ldcg(const T *p) { return *p; }
template <typename T> WAVE_CUDA_FN T __ldcs(const T *p) { return *p; }
template <typename T> WAVE_CUDA_FN void __stcg(T *p, T v) { *p = v; }
template <typename T> WAVE_CUDA_FN void __stcs(T *p, T v) { *p = v; }
