// Arithmetic of OpenCL C: functions of numbers and, element by element, of vectors. Those that are no instruction are in
// the device library, which wave-sim links with the PTX (`__nv_*`).
#pragma once

#define WAVE_CL_ASM1(name, T, R, text)                                                                             \
    WAVE_CL T name(T a) { T d; __asm__(text " %0, %1;" : "=" R(d) : R(a)); return d; }
#define WAVE_CL_ASM2(name, T, R, text)                                                                             \
    WAVE_CL T name(T a, T b) { T d; __asm__(text " %0, %1, %2;" : "=" R(d) : R(a), R(b)); return d; }
#define WAVE_CL_LIBRARY1(name)                                                                                     \
    extern __attribute__((const, nothrow)) float __nv_##name##f(float);                                            \
    extern __attribute__((const, nothrow)) double __nv_##name(double);                                             \
    WAVE_CL float name(float x) { return __nv_##name##f(x); }                                                      \
    WAVE_CL double name(double x) { return __nv_##name(x); }
#define WAVE_CL_LIBRARY2(name)                                                                                     \
    extern __attribute__((const, nothrow)) float __nv_##name##f(float, float);                                     \
    extern __attribute__((const, nothrow)) double __nv_##name(double, double);                                     \
    WAVE_CL float name(float x, float y) { return __nv_##name##f(x, y); }                                          \
    WAVE_CL double name(double x, double y) { return __nv_##name(x, y); }
WAVE_CL_ASM1(sqrt, float, "f", "sqrt.rn.f32")
WAVE_CL_ASM1(sqrt, double, "d", "sqrt.rn.f64")
WAVE_CL_ASM1(rsqrt, float, "f", "rsqrt.approx.f32")
WAVE_CL_ASM1(rsqrt, double, "d", "rsqrt.approx.f64")
WAVE_CL_ASM1(fabs, float, "f", "abs.f32")
WAVE_CL_ASM1(fabs, double, "d", "abs.f64")
WAVE_CL_ASM1(floor, float, "f", "cvt.rmi.f32.f32")
WAVE_CL_ASM1(floor, double, "d", "cvt.rmi.f64.f64")
WAVE_CL_ASM1(ceil, float, "f", "cvt.rpi.f32.f32")
WAVE_CL_ASM1(ceil, double, "d", "cvt.rpi.f64.f64")
WAVE_CL_ASM1(trunc, float, "f", "cvt.rzi.f32.f32")
WAVE_CL_ASM1(trunc, double, "d", "cvt.rzi.f64.f64")
WAVE_CL_ASM1(rint, float, "f", "cvt.rni.f32.f32")
WAVE_CL_ASM1(rint, double, "d", "cvt.rni.f64.f64")
WAVE_CL_ASM1(native_sqrt, float, "f", "sqrt.approx.f32")
WAVE_CL_ASM1(native_rsqrt, float, "f", "rsqrt.approx.f32")
WAVE_CL_ASM1(native_recip, float, "f", "rcp.approx.f32")
WAVE_CL_ASM1(native_sin, float, "f", "sin.approx.f32")
WAVE_CL_ASM1(native_cos, float, "f", "cos.approx.f32")
WAVE_CL_ASM1(native_exp2, float, "f", "ex2.approx.f32")
WAVE_CL_ASM1(native_log2, float, "f", "lg2.approx.f32")
WAVE_CL_ASM1(sin, float, "f", "sin.approx.f32")
WAVE_CL_ASM1(cos, float, "f", "cos.approx.f32")
WAVE_CL_ASM1(exp2, float, "f", "ex2.approx.f32")
WAVE_CL_ASM1(log2, float, "f", "lg2.approx.f32")
WAVE_CL_ASM1(popcount, uint, "r", "popc.b32")
WAVE_CL_ASM1(clz, uint, "r", "clz.b32")
WAVE_CL_ASM2(fmin, float, "f", "min.f32")
WAVE_CL_ASM2(fmin, double, "d", "min.f64")
WAVE_CL_ASM2(fmax, float, "f", "max.f32")
WAVE_CL_ASM2(fmax, double, "d", "max.f64")
WAVE_CL_ASM2(native_divide, float, "f", "div.approx.f32")
WAVE_CL_ASM2(mul_hi, int, "r", "mul.hi.s32")
WAVE_CL_ASM2(mul_hi, uint, "r", "mul.hi.u32")
WAVE_CL_ASM2(mul24, int, "r", "mul24.lo.s32")
WAVE_CL_ASM2(mul24, uint, "r", "mul24.lo.u32")
WAVE_CL int popcount(int x) { return popcount((uint)x); }
WAVE_CL int clz(int x) { return clz((uint)x); }
WAVE_CL int mad24(int a, int b, int c) { return mul24(a, b) + c; }
WAVE_CL uint mad24(uint a, uint b, uint c) { return mul24(a, b) + c; }
WAVE_CL_LIBRARY1(tan)
WAVE_CL_LIBRARY1(asin)
WAVE_CL_LIBRARY1(acos)
WAVE_CL_LIBRARY1(atan)
WAVE_CL_LIBRARY1(sinh)
WAVE_CL_LIBRARY1(cosh)
WAVE_CL_LIBRARY1(tanh)
WAVE_CL_LIBRARY1(exp)
WAVE_CL_LIBRARY1(exp10)
WAVE_CL_LIBRARY1(expm1)
WAVE_CL_LIBRARY1(log)
WAVE_CL_LIBRARY1(log10)
WAVE_CL_LIBRARY1(log1p)
WAVE_CL_LIBRARY1(cbrt)
WAVE_CL_LIBRARY1(logb)
WAVE_CL_LIBRARY1(erf)
WAVE_CL_LIBRARY1(erfc)
WAVE_CL_LIBRARY2(atan2)
WAVE_CL_LIBRARY2(hypot)
WAVE_CL_LIBRARY2(fmod)
WAVE_CL_LIBRARY2(remainder)
WAVE_CL_LIBRARY2(nextafter)
WAVE_CL_LIBRARY2(pow)
extern __attribute__((const, nothrow)) double __nv_sin(double);
extern __attribute__((const, nothrow)) double __nv_cos(double);
extern __attribute__((const, nothrow)) double __nv_exp2(double);
extern __attribute__((const, nothrow)) double __nv_log2(double);
extern __attribute__((const, nothrow)) float __nv_ldexpf(float, int);
extern __attribute__((const, nothrow)) double __nv_ldexp(double, int);
WAVE_CL double sin(double x) { return __nv_sin(x); }
WAVE_CL double cos(double x) { return __nv_cos(x); }
WAVE_CL double exp2(double x) { return __nv_exp2(x); }
WAVE_CL double log2(double x) { return __nv_log2(x); }
WAVE_CL float ldexp(float x, int n) { return __nv_ldexpf(x, n); }
WAVE_CL double ldexp(double x, int n) { return __nv_ldexp(x, n); }
WAVE_CL float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
WAVE_CL double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
WAVE_CL float copysign(float a, float b) { return __builtin_copysignf(a, b); }
WAVE_CL double copysign(double a, double b) { return __builtin_copysign(a, b); }
WAVE_CL float round(float x) { return trunc(x + copysign(0x1.fffffep-2f, x)); }
WAVE_CL double round(double x) { return trunc(x + copysign(0x1.fffffffffffffp-2, x)); }
WAVE_CL float native_exp(float x) { return exp2(x * 0x1.715476p+0f); }
WAVE_CL float native_log(float x) { return log2(x) * 0x1.62e43p-1f; }
WAVE_CL float native_log10(float x) { return log2(x) * 0x1.344134p-2f; }
WAVE_CL float native_tan(float x) { return native_divide(sin(x), cos(x)); }
WAVE_CL float native_powr(float x, float y) { return exp2(y * log2(x)); }
WAVE_CL float powr(float x, float y) { return pow(x, y); }
WAVE_CL double powr(double x, double y) { return pow(x, y); }
WAVE_CL float pown(float x, int y) { return pow(x, (float)y); }
WAVE_CL double pown(double x, int y) { return pow(x, (double)y); }
WAVE_CL float sign(float x) { return x > 0 ? 1.0f : x < 0 ? -1.0f : 0.0f; }
WAVE_CL float degrees(float x) { return x * 0x1.ca5dc2p+5f; }
WAVE_CL float radians(float x) { return x * 0x1.1df46ap-6f; }
WAVE_CL int isnan(float x) { return x != x; }
WAVE_CL int isnan(double x) { return x != x; }
WAVE_CL int isinf(float x) { return fabs(x) == INFINITY; }
WAVE_CL int isfinite(float x) { return fabs(x) < INFINITY; }

// Least and greatest, of each type of numbers.
#define WAVE_CL_ORDERED(T)                                                                                         \
    WAVE_CL T min(T a, T b) { return b < a ? b : a; }                                                              \
    WAVE_CL T max(T a, T b) { return a < b ? b : a; }                                                              \
    WAVE_CL T clamp(T x, T low, T high) { return min(max(x, low), high); }
WAVE_CL_ORDERED(char) WAVE_CL_ORDERED(uchar) WAVE_CL_ORDERED(short) WAVE_CL_ORDERED(ushort) WAVE_CL_ORDERED(int)
WAVE_CL_ORDERED(uint) WAVE_CL_ORDERED(long) WAVE_CL_ORDERED(ulong) WAVE_CL_ORDERED(float) WAVE_CL_ORDERED(double)
#undef WAVE_CL_ORDERED
WAVE_CL uint abs(int x) { return x < 0 ? -(uint)x : (uint)x; }
WAVE_CL uint abs(uint x) { return x; }
WAVE_CL ulong abs(long x) { return x < 0 ? -(ulong)x : (ulong)x; }
WAVE_CL uint abs_diff(int a, int b) { return a > b ? (uint)a - b : (uint)b - a; }
WAVE_CL int rotate(int x, int n) { return (uint)x << (n & 31) | (uint)x >> (-n & 31); }
WAVE_CL uint rotate(uint x, uint n) { return x << (n & 31) | x >> (-n & 31); }
#define WAVE_CL_REAL(T)                                                                                            \
    WAVE_CL T mad(T a, T b, T c) { return fma(a, b, c); }                                                          \
    WAVE_CL T mix(T a, T b, T by) { return a + (b - a) * by; }                                                     \
    WAVE_CL T step(T edge, T x) { return x < edge ? (T)0 : (T)1; }                                                 \
    WAVE_CL T smoothstep(T a, T b, T x) { T t = clamp((x - a) / (b - a), (T)0, (T)1); return t * t * (3 - 2 * t); }\
    WAVE_CL T fract(T x) { return fmin(x - floor(x), (T)0x1.fffffep-1f); }                                         \
    WAVE_CL T fdim(T x, T y) { return x > y ? x - y : (T)0; }
WAVE_CL_REAL(float) WAVE_CL_REAL(double)
#undef WAVE_CL_REAL

// Vectors.
#define WAVE_CL_MAP1(T, f)                                                                                         \
    WAVE_CL T##2 f(T##2 a) { return (T##2)(f(a.x), f(a.y)); }                                                      \
    WAVE_CL T##3 f(T##3 a) { return (T##3)(f(a.x), f(a.y), f(a.z)); }                                              \
    WAVE_CL T##4 f(T##4 a) { return (T##4)(f(a.lo), f(a.hi)); }                                                    \
    WAVE_CL T##8 f(T##8 a) { return (T##8)(f(a.lo), f(a.hi)); }                                                    \
    WAVE_CL T##16 f(T##16 a) { return (T##16)(f(a.lo), f(a.hi)); }
#define WAVE_CL_MAP2(T, f)                                                                                         \
    WAVE_CL T##2 f(T##2 a, T##2 b) { return (T##2)(f(a.x, b.x), f(a.y, b.y)); }                                    \
    WAVE_CL T##3 f(T##3 a, T##3 b) { return (T##3)(f(a.x, b.x), f(a.y, b.y), f(a.z, b.z)); }                       \
    WAVE_CL T##4 f(T##4 a, T##4 b) { return (T##4)(f(a.lo, b.lo), f(a.hi, b.hi)); }                                \
    WAVE_CL T##8 f(T##8 a, T##8 b) { return (T##8)(f(a.lo, b.lo), f(a.hi, b.hi)); }                                \
    WAVE_CL T##16 f(T##16 a, T##16 b) { return (T##16)(f(a.lo, b.lo), f(a.hi, b.hi)); }
#define WAVE_CL_MAP3(T, f)                                                                                         \
    WAVE_CL T##2 f(T##2 a, T##2 b, T##2 c) { return (T##2)(f(a.x, b.x, c.x), f(a.y, b.y, c.y)); }                  \
    WAVE_CL T##3 f(T##3 a, T##3 b, T##3 c) { return (T##3)(f(a.xy, b.xy, c.xy), f(a.z, b.z, c.z)); }               \
    WAVE_CL T##4 f(T##4 a, T##4 b, T##4 c) { return (T##4)(f(a.lo, b.lo, c.lo), f(a.hi, b.hi, c.hi)); }            \
    WAVE_CL T##8 f(T##8 a, T##8 b, T##8 c) { return (T##8)(f(a.lo, b.lo, c.lo), f(a.hi, b.hi, c.hi)); }            \
    WAVE_CL T##16 f(T##16 a, T##16 b, T##16 c) { return (T##16)(f(a.lo, b.lo, c.lo), f(a.hi, b.hi, c.hi)); }
#define WAVE_CL_REAL1(f) WAVE_CL_MAP1(float, f) WAVE_CL_MAP1(double, f)
#define WAVE_CL_REAL2(f) WAVE_CL_MAP2(float, f) WAVE_CL_MAP2(double, f)
#define WAVE_CL_REAL3(f) WAVE_CL_MAP3(float, f) WAVE_CL_MAP3(double, f)
WAVE_CL_REAL1(sqrt) WAVE_CL_REAL1(rsqrt) WAVE_CL_REAL1(fabs) WAVE_CL_REAL1(floor) WAVE_CL_REAL1(ceil)
WAVE_CL_REAL1(trunc) WAVE_CL_REAL1(rint) WAVE_CL_REAL1(round) WAVE_CL_REAL1(sin) WAVE_CL_REAL1(cos) WAVE_CL_REAL1(tan)
WAVE_CL_REAL1(exp) WAVE_CL_REAL1(exp2) WAVE_CL_REAL1(log) WAVE_CL_REAL1(log2) WAVE_CL_REAL1(log10)
WAVE_CL_MAP1(float, native_sqrt) WAVE_CL_MAP1(float, native_rsqrt) WAVE_CL_MAP1(float, native_recip)
WAVE_CL_MAP1(float, native_exp) WAVE_CL_MAP1(float, native_log) WAVE_CL_MAP1(float, native_sin)
WAVE_CL_MAP1(float, native_cos)
WAVE_CL_REAL2(fmin) WAVE_CL_REAL2(fmax) WAVE_CL_REAL2(pow) WAVE_CL_REAL2(fmod) WAVE_CL_REAL2(atan2)
WAVE_CL_REAL3(fma) WAVE_CL_REAL3(mad) WAVE_CL_REAL3(mix)
#define WAVE_CL_ORDERED(T) WAVE_CL_MAP2(T, min) WAVE_CL_MAP2(T, max) WAVE_CL_MAP3(T, clamp)
WAVE_CL_ORDERED(char) WAVE_CL_ORDERED(uchar) WAVE_CL_ORDERED(short) WAVE_CL_ORDERED(ushort) WAVE_CL_ORDERED(int)
WAVE_CL_ORDERED(uint) WAVE_CL_ORDERED(long) WAVE_CL_ORDERED(ulong) WAVE_CL_ORDERED(float) WAVE_CL_ORDERED(double)
#undef WAVE_CL_ORDERED
#define WAVE_CL_GEOMETRY(T)                                                                                        \
    WAVE_CL T dot(T a, T b) { return a * b; }                                                                      \
    WAVE_CL T dot(T##2 a, T##2 b) { return fma(a.x, b.x, a.y * b.y); }                                             \
    WAVE_CL T dot(T##3 a, T##3 b) { return fma(a.x, b.x, fma(a.y, b.y, a.z * b.z)); }                              \
    WAVE_CL T dot(T##4 a, T##4 b) { return fma(a.x, b.x, fma(a.y, b.y, fma(a.z, b.z, a.w * b.w))); }               \
    WAVE_CL T##3 cross(T##3 a, T##3 b) { return a.yzx * b.zxy - a.zxy * b.yzx; }
WAVE_CL_GEOMETRY(float) WAVE_CL_GEOMETRY(double)
#undef WAVE_CL_GEOMETRY
#define WAVE_CL_LENGTH(V, T)                                                                                       \
    WAVE_CL T length(V a) { return sqrt(dot(a, a)); }                                                              \
    WAVE_CL T fast_length(V a) { return sqrt(dot(a, a)); }                                                         \
    WAVE_CL T distance(V a, V b) { return length(a - b); }                                                         \
    WAVE_CL V normalize(V a) { return a / length(a); }                                                             \
    WAVE_CL V fast_normalize(V a) { return a * rsqrt(dot(a, a)); }
WAVE_CL_LENGTH(float2, float) WAVE_CL_LENGTH(float3, float) WAVE_CL_LENGTH(float4, float)
#undef WAVE_CL_LENGTH

// Conversions of numbers and vectors; a saturating one keeps the ends of the range.
#define WAVE_CL_CONVERT(D, S)                                                                                      \
    WAVE_CL D convert_##D(S a) { return (D)a; }                                                                    \
    WAVE_CL D##2 convert_##D##2(S##2 a) { return __builtin_convertvector(a, D##2); }                               \
    WAVE_CL D##3 convert_##D##3(S##3 a) { return __builtin_convertvector(a, D##3); }                               \
    WAVE_CL D##4 convert_##D##4(S##4 a) { return __builtin_convertvector(a, D##4); }                               \
    WAVE_CL D##8 convert_##D##8(S##8 a) { return __builtin_convertvector(a, D##8); }                               \
    WAVE_CL D##16 convert_##D##16(S##16 a) { return __builtin_convertvector(a, D##16); }
#define WAVE_CL_CONVERT_TO(D)                                                                                      \
    WAVE_CL_CONVERT(D, char) WAVE_CL_CONVERT(D, uchar) WAVE_CL_CONVERT(D, short) WAVE_CL_CONVERT(D, ushort)        \
    WAVE_CL_CONVERT(D, int) WAVE_CL_CONVERT(D, uint) WAVE_CL_CONVERT(D, long) WAVE_CL_CONVERT(D, ulong)            \
    WAVE_CL_CONVERT(D, float) WAVE_CL_CONVERT(D, double)
WAVE_CL_CONVERT_TO(char) WAVE_CL_CONVERT_TO(uchar) WAVE_CL_CONVERT_TO(short) WAVE_CL_CONVERT_TO(ushort)
WAVE_CL_CONVERT_TO(int) WAVE_CL_CONVERT_TO(uint) WAVE_CL_CONVERT_TO(long) WAVE_CL_CONVERT_TO(ulong)
WAVE_CL_CONVERT_TO(float) WAVE_CL_CONVERT_TO(double)
#undef WAVE_CL_CONVERT_TO
#undef WAVE_CL_CONVERT
WAVE_CL uchar convert_uchar_sat(int x) { return (uchar)clamp(x, 0, 255); }
WAVE_CL uchar convert_uchar_sat(float x) { return (uchar)clamp(x, 0.0f, 255.0f); }
WAVE_CL uchar4 convert_uchar4_sat(float4 a) { return convert_uchar4(clamp(a, (float4)0.0f, (float4)255.0f)); }
WAVE_CL uchar4 convert_uchar4_sat(int4 a) { return convert_uchar4(clamp(a, (int4)0, (int4)255)); }
WAVE_CL int convert_int_rte(float x) { return (int)rint(x); }
WAVE_CL int convert_int_rtz(float x) { return (int)x; }
#define WAVE_CL_AS(D, S) WAVE_CL D as_##D(S a) { return __builtin_astype(a, D); }
WAVE_CL_AS(int, float) WAVE_CL_AS(uint, float) WAVE_CL_AS(float, int) WAVE_CL_AS(float, uint) WAVE_CL_AS(int, uint)
WAVE_CL_AS(uint, int) WAVE_CL_AS(long, double) WAVE_CL_AS(ulong, double) WAVE_CL_AS(double, long)
WAVE_CL_AS(double, ulong) WAVE_CL_AS(uint, uchar4) WAVE_CL_AS(uchar4, uint) WAVE_CL_AS(int4, float4)
WAVE_CL_AS(uint4, float4) WAVE_CL_AS(float4, int4) WAVE_CL_AS(float4, uint4)
#undef WAVE_CL_AS

// Choices: for a number the third one says which, for a vector its highest bits do.
#define WAVE_CL_SELECT(T, C)                                                                                       \
    WAVE_CL T select(T a, T b, C c) { return c ? b : a; }                                                          \
    WAVE_CL T##2 select(T##2 a, T##2 b, C##2 c) { return c < 0 ? b : a; }                                          \
    WAVE_CL T##4 select(T##4 a, T##4 b, C##4 c) { return c < 0 ? b : a; }
WAVE_CL_SELECT(int, int) WAVE_CL_SELECT(uint, int) WAVE_CL_SELECT(float, int)
#undef WAVE_CL_SELECT
WAVE_CL int any(int x) { return x < 0; }
WAVE_CL int all(int x) { return x < 0; }

// Vectors at an address of their elements.
#define WAVE_CL_MEMORY_IN(space, T, N)                                                                             \
    WAVE_CL T##N vload##N(size_t at, const space T *p) {                                                           \
        T##N v;                                                                                                    \
        for (int i = 0; i < N; i++) ((T *)&v)[i] = p[N * at + i];                                                  \
        return v;                                                                                                  \
    }
#define WAVE_CL_STORE_IN(space, T, N)                                                                              \
    WAVE_CL void vstore##N(T##N v, size_t at, space T *p) {                                                        \
        for (int i = 0; i < N; i++) p[N * at + i] = ((T *)&v)[i];                                                  \
    }
#define WAVE_CL_MEMORY(T, N)                                                                                       \
    WAVE_CL_MEMORY_IN(__global, T, N) WAVE_CL_MEMORY_IN(__local, T, N) WAVE_CL_MEMORY_IN(__constant, T, N)         \
    WAVE_CL_MEMORY_IN(__private, T, N) WAVE_CL_STORE_IN(__global, T, N) WAVE_CL_STORE_IN(__local, T, N)            \
    WAVE_CL_STORE_IN(__private, T, N)
#define WAVE_CL_MEMORY_OF(T)                                                                                       \
    WAVE_CL_MEMORY(T, 2) WAVE_CL_MEMORY(T, 3) WAVE_CL_MEMORY(T, 4) WAVE_CL_MEMORY(T, 8) WAVE_CL_MEMORY(T, 16)
WAVE_CL_MEMORY_OF(uchar) WAVE_CL_MEMORY_OF(int) WAVE_CL_MEMORY_OF(uint) WAVE_CL_MEMORY_OF(float)
WAVE_CL_MEMORY_OF(double)
#undef WAVE_CL_MEMORY_OF
#undef WAVE_CL_MEMORY
#undef WAVE_CL_MEMORY_IN
#undef WAVE_CL_STORE_IN
