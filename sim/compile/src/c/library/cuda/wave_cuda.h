// CUDA's names for clang without NVIDIA's headers: types, indices, instructions, atomic functions, operations of a warp.
//
// Clang includes this file before a source. A function of one instruction is that instruction. Functions have no debugging
// information of their own, so that their code has the line of the call.
#pragma once

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __align__(n) __attribute__((aligned(n)))
#define __inline__ inline
#ifdef __CUDA_ARCH__
#define __managed__ __attribute__((device))
#else
#define __managed__ __attribute__((device, unavailable("managed variables are not supported: use cudaMallocManaged")))
#endif
#define __grid_constant__
#define __device_builtin__
#define __builtin_align__(n) __align__(n)
#define CUDARTAPI
#define CUDART_VERSION 11000
#define CUDA_VERSION 11000

#define WAVE_CUDA_FN static __forceinline__ __attribute__((nodebug, unused)) __device__
// <cmath> has constant expressions, which clang takes for functions of the device too. Those of the device are in `std`
// before, so that `std::sqrt` is one of them.
#define WAVE_CUDA_STD1(name)                                                                                       \
    WAVE_CUDA_FN float name(float);                                                                                \
    WAVE_CUDA_FN double name(double);                                                                              \
    namespace std { using ::name; }
#define WAVE_CUDA_STD2(name)                                                                                       \
    WAVE_CUDA_FN float name(float, float);                                                                         \
    WAVE_CUDA_FN double name(double, double);                                                                      \
    namespace std { using ::name; }
WAVE_CUDA_STD1(fabs) WAVE_CUDA_STD1(floor) WAVE_CUDA_STD1(ceil) WAVE_CUDA_STD1(trunc) WAVE_CUDA_STD1(rint)
WAVE_CUDA_STD1(round) WAVE_CUDA_STD1(sqrt) WAVE_CUDA_STD1(cbrt) WAVE_CUDA_STD1(exp) WAVE_CUDA_STD1(exp2)
WAVE_CUDA_STD1(expm1) WAVE_CUDA_STD1(log) WAVE_CUDA_STD1(log2) WAVE_CUDA_STD1(log10) WAVE_CUDA_STD1(log1p)
WAVE_CUDA_STD1(logb) WAVE_CUDA_STD1(sin) WAVE_CUDA_STD1(cos) WAVE_CUDA_STD1(tan) WAVE_CUDA_STD1(asin)
WAVE_CUDA_STD1(acos) WAVE_CUDA_STD1(atan) WAVE_CUDA_STD1(sinh) WAVE_CUDA_STD1(cosh) WAVE_CUDA_STD1(tanh)
WAVE_CUDA_STD1(erf) WAVE_CUDA_STD1(erfc)
WAVE_CUDA_STD2(pow) WAVE_CUDA_STD2(atan2) WAVE_CUDA_STD2(hypot) WAVE_CUDA_STD2(fmod) WAVE_CUDA_STD2(remainder)
WAVE_CUDA_STD2(nextafter) WAVE_CUDA_STD2(fmin) WAVE_CUDA_STD2(fmax) WAVE_CUDA_STD2(copysign)
WAVE_CUDA_FN int abs(int);
WAVE_CUDA_FN long abs(long);
WAVE_CUDA_FN long long abs(long long);
WAVE_CUDA_STD1(abs)
#undef WAVE_CUDA_STD1
#undef WAVE_CUDA_STD2

#if __has_include(<math.h>)
#include <math.h>
#endif
#if __has_include(<stdlib.h>)
#include <stdlib.h>
#endif
#if __has_include(<string.h>)
#include <string.h>
#endif
#if __has_include(<time.h>)
#include <time.h>
#endif
#if __has_include(<stdint.h>)
#include <stdint.h>
#endif
// It names an attribute as CUDA names a macro.
#if __has_include(<memory>)
#include <memory>
#endif
#undef __noinline__
#define __noinline__ __attribute__((noinline))

typedef __SIZE_TYPE__ size_t;
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;

#define WAVE_CUDA_VECTOR(T, N)                                                                                     \
    struct N##1 { T x; };                                                                                          \
    struct __align__(2 * sizeof(T)) N##2 { T x, y; };                                                              \
    struct N##3 { T x, y, z; };                                                                                    \
    struct __align__(4 * sizeof(T) < 16 ? 4 * sizeof(T) : 16) N##4 { T x, y, z, w; };                             \
    static __forceinline__ __attribute__((nodebug, unused)) __host__ __device__ N##1 make_##N##1(T x) { return {x}; }                              \
    static __forceinline__ __attribute__((nodebug, unused)) __host__ __device__ N##2 make_##N##2(T x, T y) { return {x, y}; }                      \
    static __forceinline__ __attribute__((nodebug, unused)) __host__ __device__ N##3 make_##N##3(T x, T y, T z) { return {x, y, z}; }              \
    static __forceinline__ __attribute__((nodebug, unused)) __host__ __device__ N##4 make_##N##4(T x, T y, T z, T w) { return {x, y, z, w}; }

WAVE_CUDA_VECTOR(signed char, char)
WAVE_CUDA_VECTOR(unsigned char, uchar)
WAVE_CUDA_VECTOR(short, short)
WAVE_CUDA_VECTOR(unsigned short, ushort)
WAVE_CUDA_VECTOR(int, int)
WAVE_CUDA_VECTOR(unsigned int, uint)
WAVE_CUDA_VECTOR(long, long)
WAVE_CUDA_VECTOR(unsigned long, ulong)
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
    static __forceinline__ __attribute__((nodebug)) __device__ unsigned int get_##name() { return builtin; }                               \
    __declspec(property(get = get_##name)) unsigned int name;
#define WAVE_CUDA_INDEX(variable, register)                                                                        \
    struct wave_cuda_##variable {                                                                                  \
        WAVE_CUDA_FIELD(x, __nvvm_read_ptx_sreg_##register##_x())                                                  \
        WAVE_CUDA_FIELD(y, __nvvm_read_ptx_sreg_##register##_y())                                                  \
        WAVE_CUDA_FIELD(z, __nvvm_read_ptx_sreg_##register##_z())                                                  \
        __device__ __attribute__((nodebug)) operator uint3() const { return {get_x(), get_y(), get_z()}; }                                  \
        __device__ __attribute__((nodebug)) operator dim3() const { return {get_x(), get_y(), get_z()}; }                                   \
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
WAVE_CUDA_FN void __threadfence() { asm volatile("membar.gl;" ::: "memory"); }
WAVE_CUDA_FN void __threadfence_block() { asm volatile("membar.cta;" ::: "memory"); }
WAVE_CUDA_FN void __threadfence_system() { asm volatile("membar.sys;" ::: "memory"); }
// For clang 14, the builtin functions of barriers leave shared variables that only one file knows alone: a load behind a
// barrier then gives what was there before it.
WAVE_CUDA_FN void wave_cuda_memory() { asm volatile("" ::: "memory"); }
WAVE_CUDA_FN void wave_cuda_syncthreads() { asm volatile("bar.sync 0;" ::: "memory"); }
#define __syncthreads wave_cuda_syncthreads
#define WAVE_CUDA_BARRIER(name, builtin)                                                                           \
    WAVE_CUDA_FN int name(int p) {                                                                                 \
        wave_cuda_memory();                                                                                        \
        int all = builtin(p);                                                                                      \
        wave_cuda_memory();                                                                                        \
        return all;                                                                                                \
    }
WAVE_CUDA_BARRIER(__syncthreads_count, __nvvm_bar0_popc)
WAVE_CUDA_BARRIER(__syncthreads_and, __nvvm_bar0_and)
WAVE_CUDA_BARRIER(__syncthreads_or, __nvvm_bar0_or)
#undef WAVE_CUDA_BARRIER
WAVE_CUDA_FN void __syncwarp(unsigned mask = 0xffffffffu) { asm volatile("bar.warp.sync %0;" ::"r"(mask) : "memory"); }

#include "wave_cuda_math.h"

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
WAVE_CUDA_ATOMIC(atomicMin, long long, "l", "min.s64")
WAVE_CUDA_ATOMIC(atomicMin, unsigned long long, "l", "min.u64")
WAVE_CUDA_ATOMIC(atomicMax, long long, "l", "max.s64")
WAVE_CUDA_ATOMIC(atomicMax, unsigned long long, "l", "max.u64")
WAVE_CUDA_ATOMIC(atomicAnd, unsigned long long, "l", "and.b64")
WAVE_CUDA_ATOMIC(atomicOr, unsigned long long, "l", "or.b64")
WAVE_CUDA_ATOMIC(atomicXor, unsigned long long, "l", "xor.b64")
WAVE_CUDA_ATOMIC(atomicExch, unsigned long long, "l", "exch.b64")
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
WAVE_CUDA_CAS(unsigned short, "h", "b16")
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
#define WAVE_CUDA_MATCH(T, R, type)                                                                                \
    WAVE_CUDA_FN unsigned __match_any_sync(unsigned mask, T v) {                                                   \
        unsigned d;                                                                                                \
        asm volatile("match.any.sync." type " %0, %1, %2;" : "=r"(d) : R(v), "r"(mask));                           \
        return d;                                                                                                  \
    }                                                                                                              \
    WAVE_CUDA_FN unsigned __match_all_sync(unsigned mask, T v, int *all) {                                         \
        unsigned d;                                                                                                \
        asm volatile("{ .reg .pred q; match.all.sync." type " %0|q, %2, %3; selp.s32 %1, 1, 0, q; }"               \
                     : "=r"(d), "=r"(*all) : R(v), "r"(mask));                                                     \
        return d;                                                                                                  \
    }
WAVE_CUDA_MATCH(int, "r", "b32")
WAVE_CUDA_MATCH(unsigned, "r", "b32")
WAVE_CUDA_MATCH(long long, "l", "b64")
WAVE_CUDA_MATCH(unsigned long long, "l", "b64")
#undef WAVE_CUDA_MATCH
WAVE_CUDA_FN unsigned __activemask() {
    unsigned d;
    asm volatile("activemask.b32 %0;" : "=r"(d));
    return d;
}
#include "wave_cuda_host.h"
#undef WAVE_CUDA_FN
