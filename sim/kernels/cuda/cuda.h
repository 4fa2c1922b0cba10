// CUDA's names for clang without NVIDIA's headers: `clang++ -x cuda -nocudainc -nocudalib -include cuda.h`.
//
// Functions of one instruction are that instruction. The others are short sequences; their accuracy stands beside them.
#pragma once

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __align__(n) __attribute__((aligned(n)))

typedef __SIZE_TYPE__ size_t;
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long int64_t;
typedef unsigned long uint64_t;
typedef unsigned char uchar;
typedef unsigned int uint;

#define WAVE_CUDA_VECTOR(T, N)                                                                                     \
    struct N##1 { T x; };                                                                                          \
    struct __align__(2 * sizeof(T)) N##2 { T x, y; };                                                              \
    struct N##3 { T x, y, z; };                                                                                    \
    struct __align__(4 * sizeof(T) < 16 ? 4 * sizeof(T) : 16) N##4 { T x, y, z, w; };                             \
    static __forceinline__ __host__ __device__ N##1 make_##N##1(T x) { return {x}; }                              \
    static __forceinline__ __host__ __device__ N##2 make_##N##2(T x, T y) { return {x, y}; }                      \
    static __forceinline__ __host__ __device__ N##3 make_##N##3(T x, T y, T z) { return {x, y, z}; }              \
    static __forceinline__ __host__ __device__ N##4 make_##N##4(T x, T y, T z, T w) { return {x, y, z, w}; }

WAVE_CUDA_VECTOR(signed char, char)
WAVE_CUDA_VECTOR(unsigned char, uchar)
WAVE_CUDA_VECTOR(short, short)
WAVE_CUDA_VECTOR(unsigned short, ushort)
WAVE_CUDA_VECTOR(int, int)
WAVE_CUDA_VECTOR(unsigned int, uint)
WAVE_CUDA_VECTOR(long long, longlong)
WAVE_CUDA_VECTOR(unsigned long long, ulonglong)
WAVE_CUDA_VECTOR(float, float)
WAVE_CUDA_VECTOR(double, double)
#undef WAVE_CUDA_VECTOR

struct dim3 {
    unsigned int x, y, z;
    __host__ __device__ constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1)
        : x(x), y(y), z(z) {}
    __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    __host__ __device__ constexpr operator uint3() const { return {x, y, z}; }
};

#define WAVE_CUDA_FIELD(name, builtin)                                                                             \
    static __forceinline__ __device__ unsigned int get_##name() { return builtin; }                               \
    __declspec(property(get = get_##name)) unsigned int name;
#define WAVE_CUDA_INDEX(variable, register)                                                                        \
    struct wave_cuda_##variable {                                                                                  \
        WAVE_CUDA_FIELD(x, __nvvm_read_ptx_sreg_##register##_x())                                                  \
        WAVE_CUDA_FIELD(y, __nvvm_read_ptx_sreg_##register##_y())                                                  \
        WAVE_CUDA_FIELD(z, __nvvm_read_ptx_sreg_##register##_z())                                                  \
        __device__ operator uint3() const { return {get_x(), get_y(), get_z()}; }                                  \
        __device__ operator dim3() const { return {get_x(), get_y(), get_z()}; }                                   \
    };                                                                                                             \
    extern const __device__ __attribute__((weak)) wave_cuda_##variable variable;

WAVE_CUDA_INDEX(threadIdx, tid)
WAVE_CUDA_INDEX(blockIdx, ctaid)
WAVE_CUDA_INDEX(blockDim, ntid)
WAVE_CUDA_INDEX(gridDim, nctaid)
#undef WAVE_CUDA_FIELD
#undef WAVE_CUDA_INDEX
static const __device__ int warpSize = 32;

// Instructions.
#define WAVE_CUDA_FN static __forceinline__ __device__

WAVE_CUDA_FN void __threadfence() { asm volatile("membar.gl;" ::: "memory"); }
WAVE_CUDA_FN void __threadfence_block() { asm volatile("membar.cta;" ::: "memory"); }
WAVE_CUDA_FN void __threadfence_system() { asm volatile("membar.sys;" ::: "memory"); }
WAVE_CUDA_FN void __syncwarp(unsigned mask = 0xffffffffu) { asm volatile("bar.warp.sync %0;" ::"r"(mask) : "memory"); }

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
WAVE_CUDA_ASM1(fabsf, float, "f", "abs.f32")
WAVE_CUDA_ASM1(sqrt, double, "d", "sqrt.rn.f64")
WAVE_CUDA_ASM1(fabs, double, "d", "abs.f64")
WAVE_CUDA_ASM1(floor, double, "d", "cvt.rmi.f64.f64")
WAVE_CUDA_ASM1(ceil, double, "d", "cvt.rpi.f64.f64")
WAVE_CUDA_ASM1(__brev, unsigned, "r", "brev.b32")
WAVE_CUDA_FN float sqrt(float a) { return sqrtf(a); }
WAVE_CUDA_FN float fabs(float a) { return fabsf(a); }
WAVE_CUDA_FN float floor(float a) { return floorf(a); }
WAVE_CUDA_FN float ceil(float a) { return ceilf(a); }
WAVE_CUDA_FN float abs(float a) { return fabsf(a); }
WAVE_CUDA_FN double abs(double a) { return fabs(a); }
WAVE_CUDA_FN int abs(int a) { return a < 0 ? -a : a; }
WAVE_CUDA_FN int __popc(unsigned a) { return __builtin_popcount(a); }
WAVE_CUDA_FN int __clz(int a) { int d; asm("clz.b32 %0, %1;" : "=r"(d) : "r"(a)); return d; }
WAVE_CUDA_FN int __ffs(int a) { return a ? 32 - __clz(a & -a) : 0; }

#define WAVE_CUDA_ASM2(name, T, R, text)                                                                           \
    WAVE_CUDA_FN T name(T a, T b) { T d; asm(text " %0, %1, %2;" : "=" R(d) : R(a), R(b)); return d; }
WAVE_CUDA_ASM2(fminf, float, "f", "min.f32")
WAVE_CUDA_ASM2(fmaxf, float, "f", "max.f32")
WAVE_CUDA_ASM2(fmin, double, "d", "min.f64")
WAVE_CUDA_ASM2(fmax, double, "d", "max.f64")
WAVE_CUDA_ASM2(__fadd_rn, float, "f", "add.rn.f32")
WAVE_CUDA_ASM2(__fmul_rn, float, "f", "mul.rn.f32")
WAVE_CUDA_ASM2(__fdividef, float, "f", "div.approx.f32")
WAVE_CUDA_ASM2(__mulhi, int, "r", "mul.hi.s32")
WAVE_CUDA_ASM2(__umulhi, unsigned, "r", "mul.hi.u32")
WAVE_CUDA_ASM2(__mul24, int, "r", "mul24.lo.s32")
WAVE_CUDA_ASM2(__umul24, unsigned, "r", "mul24.lo.u32")
WAVE_CUDA_FN float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
WAVE_CUDA_FN double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
WAVE_CUDA_FN int min(int a, int b) { return a < b ? a : b; }
WAVE_CUDA_FN int max(int a, int b) { return a > b ? a : b; }
WAVE_CUDA_FN unsigned min(unsigned a, unsigned b) { return a < b ? a : b; }
WAVE_CUDA_FN unsigned max(unsigned a, unsigned b) { return a > b ? a : b; }
WAVE_CUDA_FN float min(float a, float b) { return fminf(a, b); }
WAVE_CUDA_FN float max(float a, float b) { return fmaxf(a, b); }
WAVE_CUDA_FN double min(double a, double b) { return fmin(a, b); }
WAVE_CUDA_FN double max(double a, double b) { return fmax(a, b); }
WAVE_CUDA_FN float __int_as_float(int a) { return __builtin_bit_cast(float, a); }
WAVE_CUDA_FN int __float_as_int(float a) { return __builtin_bit_cast(int, a); }
WAVE_CUDA_FN float __uint_as_float(unsigned a) { return __builtin_bit_cast(float, a); }
WAVE_CUDA_FN unsigned __float_as_uint(float a) { return __builtin_bit_cast(unsigned, a); }
template <typename T> WAVE_CUDA_FN T __ldg(const T *p) { return *p; }

// Exponentials: 2^x of the special-function unit, at a sum of two parts of the exponent (3 ULP for expf).
WAVE_CUDA_FN float expf(float x) {
    float whole = rintf(x * 1.44269504f);
    float rest = fmaf(whole, -0.693359375f, x);
    rest = fmaf(whole, 2.12194440e-4f, rest);
    return exp2f(rest * 1.44269504f) * exp2f(whole);
}
WAVE_CUDA_FN float __expf(float x) { return exp2f(x * 1.44269504f); }
WAVE_CUDA_FN float logf(float x) { return log2f(x) * 0.693147182f; }
WAVE_CUDA_FN float __logf(float x) { return log2f(x) * 0.693147182f; }
WAVE_CUDA_FN float log10f(float x) { return log2f(x) * 0.301029996f; }
WAVE_CUDA_FN float powf(float x, float y) {
    float power = exp2f(y * log2f(fabsf(x)));
    bool is_odd = floorf(y) == y && floorf(y * 0.5f) * 2.0f != y;
    return x < 0.0f && is_odd ? -power : power;
}
WAVE_CUDA_FN float __powf(float x, float y) { return exp2f(y * log2f(x)); }
WAVE_CUDA_FN float fmodf(float x, float y) { return x - y * truncf(x / y); }
WAVE_CUDA_FN float sinf(float x) { return __sinf(x); }
WAVE_CUDA_FN float cosf(float x) { return __cosf(x); }
WAVE_CUDA_FN void sincosf(float x, float *s, float *c) { *s = sinf(x); *c = cosf(x); }
WAVE_CUDA_FN float tanhf(float x) {
    float d;
    asm("tanh.approx.f32 %0, %1;" : "=f"(d) : "f"(x));
    return d;
}
WAVE_CUDA_FN float exp(float x) { return expf(x); }
WAVE_CUDA_FN float log(float x) { return logf(x); }
WAVE_CUDA_FN float pow(float x, float y) { return powf(x, y); }
WAVE_CUDA_FN float pow(float x, int y) { return powf(x, (float)y); }
WAVE_CUDA_FN float sin(float x) { return sinf(x); }
WAVE_CUDA_FN float cos(float x) { return cosf(x); }
// Exponential and logarithm in binary64, by their series (2 ULP).
WAVE_CUDA_FN double exp(double x) {
    if (x > 709.8) return __builtin_huge_val();
    if (x < -708.0) return 0.0;
    double whole = floor(x * 1.4426950408889634 + 0.5);
    double rest = fma(whole, -6.93147180369123816490e-01, x);
    rest = fma(whole, -1.90821492927058770002e-10, rest);
    double sum = 1.0;
    for (int n = 13; n > 0; n--) sum = fma(sum * rest, 1.0 / n, 1.0);
    return sum * __builtin_bit_cast(double, (long)((int)whole + 1023) << 52);
}
WAVE_CUDA_FN double log(double x) {
    if (x <= 0.0) return x == 0.0 ? -__builtin_huge_val() : __builtin_nan("");
    long bits = __builtin_bit_cast(long, x);
    int exponent = (int)(bits >> 52) - 1023;
    double mantissa = __builtin_bit_cast(double, (bits & 0xfffffffffffffl) | 0x3ff0000000000000l);
    if (mantissa > 1.4142135623730951) { mantissa *= 0.5; exponent++; }
    double s = (mantissa - 1.0) / (mantissa + 1.0), square = s * s, sum = 0.0;
    for (int n = 21; n > 0; n -= 2) sum = fma(sum, square, 1.0 / n);
    return fma((double)exponent, 0.6931471805599453, 2.0 * s * sum);
}
WAVE_CUDA_FN double pow(double x, double y) {
    double power = exp(y * log(fabs(x)));
    bool is_odd = floor(y) == y && floor(y * 0.5) * 2.0 != y;
    return x < 0.0 && is_odd ? -power : power;
}
WAVE_CUDA_FN double pow(double x, int y) { return pow(x, (double)y); }

// Atomic functions.
#define WAVE_CUDA_ATOMIC(name, T, R, operation)                                                                    \
    WAVE_CUDA_FN T name(T *p, T v) {                                                                               \
        T d;                                                                                                       \
        asm volatile("atom." operation " %0, [%1], %2;" : "=" R(d) : "l"(p), R(v) : "memory");                     \
        return d;                                                                                                  \
    }
WAVE_CUDA_ATOMIC(atomicAdd, int, "r", "add.s32")
WAVE_CUDA_ATOMIC(atomicAdd, unsigned, "r", "add.u32")
WAVE_CUDA_ATOMIC(atomicAdd, unsigned long long, "l", "add.u64")
WAVE_CUDA_ATOMIC(atomicAdd, float, "f", "add.f32")
WAVE_CUDA_ATOMIC(atomicAdd, double, "d", "add.f64")
WAVE_CUDA_ATOMIC(atomicMin, int, "r", "min.s32")
WAVE_CUDA_ATOMIC(atomicMin, unsigned, "r", "min.u32")
WAVE_CUDA_ATOMIC(atomicMax, int, "r", "max.s32")
WAVE_CUDA_ATOMIC(atomicMax, unsigned, "r", "max.u32")
WAVE_CUDA_ATOMIC(atomicAnd, int, "r", "and.b32")
WAVE_CUDA_ATOMIC(atomicAnd, unsigned, "r", "and.b32")
WAVE_CUDA_ATOMIC(atomicOr, int, "r", "or.b32")
WAVE_CUDA_ATOMIC(atomicOr, unsigned, "r", "or.b32")
WAVE_CUDA_ATOMIC(atomicXor, int, "r", "xor.b32")
WAVE_CUDA_ATOMIC(atomicXor, unsigned, "r", "xor.b32")
WAVE_CUDA_ATOMIC(atomicExch, int, "r", "exch.b32")
WAVE_CUDA_ATOMIC(atomicExch, unsigned, "r", "exch.b32")
WAVE_CUDA_ATOMIC(atomicExch, float, "f", "exch.b32")
WAVE_CUDA_ATOMIC(atomicInc, unsigned, "r", "inc.u32")
WAVE_CUDA_ATOMIC(atomicDec, unsigned, "r", "dec.u32")
#undef WAVE_CUDA_ATOMIC
WAVE_CUDA_FN int atomicSub(int *p, int v) { return atomicAdd(p, -v); }
WAVE_CUDA_FN unsigned atomicSub(unsigned *p, unsigned v) { return atomicAdd(p, 0u - v); }
#define WAVE_CUDA_CAS(T, R, type)                                                                                  \
    WAVE_CUDA_FN T atomicCAS(T *p, T expected, T v) {                                                              \
        T d;                                                                                                       \
        asm volatile("atom.cas." type " %0, [%1], %2, %3;" : "=" R(d) : "l"(p), R(expected), R(v) : "memory");     \
        return d;                                                                                                  \
    }
WAVE_CUDA_CAS(int, "r", "b32")
WAVE_CUDA_CAS(unsigned, "r", "b32")
WAVE_CUDA_CAS(unsigned long long, "l", "b64")
#undef WAVE_CUDA_CAS

// Operations of a warp.
#define WAVE_CUDA_SHUFFLE(name, mode, clamp)                                                                       \
    template <typename T> WAVE_CUDA_FN T name(unsigned mask, T v, int by, int width = 32) {                        \
        static_assert(sizeof(T) == 4 || sizeof(T) == 8, "a shuffle moves 4 or 8 bytes");                           \
        unsigned c = ((32 - width) << 8) | (clamp);                                                                \
        if constexpr (sizeof(T) == 4) {                                                                            \
            unsigned a = __builtin_bit_cast(unsigned, v), d;                                                       \
            asm volatile("shfl.sync." mode ".b32 %0, %1, %2, %3, %4;" : "=r"(d) : "r"(a), "r"(by), "r"(c), "r"(mask)); \
            return __builtin_bit_cast(T, d);                                                                       \
        } else {                                                                                                   \
            unsigned long a = __builtin_bit_cast(unsigned long, v);                                                \
            unsigned low = name(mask, (unsigned)a, by, width), high = name(mask, (unsigned)(a >> 32), by, width);  \
            return __builtin_bit_cast(T, (unsigned long)high << 32 | low);                                         \
        }                                                                                                          \
    }
WAVE_CUDA_SHUFFLE(__shfl_sync, "idx", 31)
WAVE_CUDA_SHUFFLE(__shfl_up_sync, "up", 0)
WAVE_CUDA_SHUFFLE(__shfl_down_sync, "down", 31)
WAVE_CUDA_SHUFFLE(__shfl_xor_sync, "bfly", 31)
#undef WAVE_CUDA_SHUFFLE
WAVE_CUDA_FN unsigned __ballot_sync(unsigned mask, int p) {
    unsigned d;
    asm volatile("{ .reg .pred q; setp.ne.s32 q, %1, 0; vote.sync.ballot.b32 %0, q, %2; }" : "=r"(d) : "r"(p), "r"(mask));
    return d;
}
WAVE_CUDA_FN int __any_sync(unsigned mask, int p) { return __ballot_sync(mask, p) != 0; }
WAVE_CUDA_FN int __all_sync(unsigned mask, int p) { return __ballot_sync(mask, !p) == 0; }
WAVE_CUDA_FN unsigned __activemask() {
    unsigned d;
    asm volatile("activemask.b32 %0;" : "=r"(d));
    return d;
}
#undef WAVE_CUDA_FN
