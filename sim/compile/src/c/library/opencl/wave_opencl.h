// OpenCL C for clang's PTX: types, the index space, synchronisation, atomic functions. Clang includes this file before a
// source. Functions have no debugging information of their own, so that their code has the line of the call.
#pragma once

#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define WAVE_CL static inline __attribute__((always_inline, nodebug, unused, overloadable))

typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef __UINTPTR_TYPE__ uintptr_t;
typedef __INTPTR_TYPE__ intptr_t;
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
#define WAVE_CL_VECTORS(T)                                                                                         \
    typedef T T##2 __attribute__((ext_vector_type(2)));                                                            \
    typedef T T##3 __attribute__((ext_vector_type(3)));                                                            \
    typedef T T##4 __attribute__((ext_vector_type(4)));                                                            \
    typedef T T##8 __attribute__((ext_vector_type(8)));                                                            \
    typedef T T##16 __attribute__((ext_vector_type(16)));
WAVE_CL_VECTORS(char)
WAVE_CL_VECTORS(uchar)
WAVE_CL_VECTORS(short)
WAVE_CL_VECTORS(ushort)
WAVE_CL_VECTORS(int)
WAVE_CL_VECTORS(uint)
WAVE_CL_VECTORS(long)
WAVE_CL_VECTORS(ulong)
WAVE_CL_VECTORS(float)
WAVE_CL_VECTORS(double)
#undef WAVE_CL_VECTORS

#define NULL ((void *)0)
#define CHAR_BIT 8
#define CHAR_MAX 127
#define CHAR_MIN (-128)
#define UCHAR_MAX 255
#define SHRT_MAX 32767
#define SHRT_MIN (-32768)
#define USHRT_MAX 65535
#define INT_MAX 2147483647
#define INT_MIN (-2147483647 - 1)
#define UINT_MAX 0xffffffffu
#define LONG_MAX 0x7fffffffffffffffl
#define LONG_MIN (-LONG_MAX - 1)
#define ULONG_MAX 0xfffffffffffffffful
#define FLT_MAX 0x1.fffffep127f
#define FLT_MIN 0x1p-126f
#define FLT_EPSILON 0x1p-23f
#define DBL_MAX 0x1.fffffffffffffp1023
#define DBL_MIN 0x1p-1022
#define DBL_EPSILON 0x1p-52
#define MAXFLOAT FLT_MAX
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define HUGE_VALF INFINITY
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_E 2.7182818284590452354
#define M_SQRT2 1.41421356237309504880
#define M_LN2 0.69314718055994530942
#define M_PI_F 0x1.921fb6p+1f
#define M_E_F 0x1.5bf0a8p+1f
#define CLK_LOCAL_MEM_FENCE 1
#define CLK_GLOBAL_MEM_FENCE 2
typedef uint cl_mem_fence_flags;

// The index space. An axis past the third has one item.
#define WAVE_CL_AXIS(name, register)                                                                               \
    WAVE_CL uint name(uint axis) {                                                                                 \
        return axis == 0   ? __nvvm_read_ptx_sreg_##register##_x()                                                 \
               : axis == 1 ? __nvvm_read_ptx_sreg_##register##_y()                                                 \
                           : __nvvm_read_ptx_sreg_##register##_z();                                                \
    }
WAVE_CL_AXIS(wave_cl_tid, tid)
WAVE_CL_AXIS(wave_cl_ntid, ntid)
WAVE_CL_AXIS(wave_cl_ctaid, ctaid)
WAVE_CL_AXIS(wave_cl_nctaid, nctaid)
#undef WAVE_CL_AXIS
WAVE_CL uint get_work_dim(void) { return 3; }
WAVE_CL size_t get_local_id(uint axis) { return axis < 3 ? wave_cl_tid(axis) : 0; }
WAVE_CL size_t get_local_size(uint axis) { return axis < 3 ? wave_cl_ntid(axis) : 1; }
WAVE_CL size_t get_group_id(uint axis) { return axis < 3 ? wave_cl_ctaid(axis) : 0; }
WAVE_CL size_t get_num_groups(uint axis) { return axis < 3 ? wave_cl_nctaid(axis) : 1; }
WAVE_CL size_t get_global_id(uint axis) {
    return axis < 3 ? wave_cl_ctaid(axis) * wave_cl_ntid(axis) + wave_cl_tid(axis) : 0;
}
WAVE_CL size_t get_global_size(uint axis) { return axis < 3 ? wave_cl_nctaid(axis) * wave_cl_ntid(axis) : 1; }
WAVE_CL size_t get_global_offset(uint axis) { return 0; }
WAVE_CL size_t get_local_linear_id(void) {
    return (wave_cl_tid(2) * wave_cl_ntid(1) + wave_cl_tid(1)) * wave_cl_ntid(0) + wave_cl_tid(0);
}
WAVE_CL size_t get_global_linear_id(void) {
    return (get_global_id(2) * get_global_size(1) + get_global_id(1)) * get_global_size(0) + get_global_id(0);
}

WAVE_CL __attribute__((convergent)) void barrier(cl_mem_fence_flags flags) {
    // For clang 14, the builtin function leaves local variables that only one file knows alone.
    __asm__ volatile("bar.sync 0;" ::: "memory");
    if (flags & CLK_GLOBAL_MEM_FENCE) __asm__ volatile("membar.cta;" ::: "memory");
}
WAVE_CL __attribute__((convergent)) void work_group_barrier(cl_mem_fence_flags flags) { barrier(flags); }
WAVE_CL void mem_fence(cl_mem_fence_flags flags) {
    if (flags & CLK_GLOBAL_MEM_FENCE)
        __asm__ volatile("membar.gl;" ::: "memory");
    else
        __asm__ volatile("membar.cta;" ::: "memory");
}
WAVE_CL void read_mem_fence(cl_mem_fence_flags flags) { mem_fence(flags); }
WAVE_CL void write_mem_fence(cl_mem_fence_flags flags) { mem_fence(flags); }
WAVE_CL void prefetch(const __global void *p, size_t n) {}

// Atomic functions of words, in the two spaces that have them; `atom_` is the older name.
#define WAVE_CL_ATOMIC_IN(space, place, name, T, R, text, expression)                                              \
    WAVE_CL T atomic_##name(volatile space T *p, T v) {                                                            \
        T d;                                                                                                       \
        __asm__ volatile("atom." place "." text " %0, [%1], %2;" : "=" R(d) : "l"(p), R(expression) : "memory");   \
        return d;                                                                                                  \
    }                                                                                                              \
    WAVE_CL T atom_##name(volatile space T *p, T v) { return atomic_##name(p, v); }
#define WAVE_CL_ATOMIC(name, T, R, text, expression)                                                               \
    WAVE_CL_ATOMIC_IN(__global, "global", name, T, R, text, expression)                                            \
    WAVE_CL_ATOMIC_IN(__local, "shared", name, T, R, text, expression)
WAVE_CL_ATOMIC(add, int, "r", "add.s32", v)
WAVE_CL_ATOMIC(add, uint, "r", "add.u32", v)
WAVE_CL_ATOMIC(sub, int, "r", "add.s32", -v)
WAVE_CL_ATOMIC(sub, uint, "r", "add.u32", -v)
WAVE_CL_ATOMIC(min, int, "r", "min.s32", v)
WAVE_CL_ATOMIC(min, uint, "r", "min.u32", v)
WAVE_CL_ATOMIC(max, int, "r", "max.s32", v)
WAVE_CL_ATOMIC(max, uint, "r", "max.u32", v)
WAVE_CL_ATOMIC(and, int, "r", "and.b32", v)
WAVE_CL_ATOMIC(and, uint, "r", "and.b32", v)
WAVE_CL_ATOMIC(or, int, "r", "or.b32", v)
WAVE_CL_ATOMIC(or, uint, "r", "or.b32", v)
WAVE_CL_ATOMIC(xor, int, "r", "xor.b32", v)
WAVE_CL_ATOMIC(xor, uint, "r", "xor.b32", v)
WAVE_CL_ATOMIC(xchg, int, "r", "exch.b32", v)
WAVE_CL_ATOMIC(xchg, uint, "r", "exch.b32", v)
WAVE_CL_ATOMIC(xchg, float, "f", "exch.b32", v)
#undef WAVE_CL_ATOMIC
#undef WAVE_CL_ATOMIC_IN
#define WAVE_CL_STEP(space, place, T)                                                                              \
    WAVE_CL T atomic_inc(volatile space T *p) { return atomic_add(p, (T)1); }                                      \
    WAVE_CL T atomic_dec(volatile space T *p) { return atomic_sub(p, (T)1); }                                      \
    WAVE_CL T atom_inc(volatile space T *p) { return atomic_inc(p); }                                              \
    WAVE_CL T atom_dec(volatile space T *p) { return atomic_dec(p); }                                              \
    WAVE_CL T atomic_cmpxchg(volatile space T *p, T expected, T v) {                                               \
        T d;                                                                                                       \
        __asm__ volatile("atom." place ".cas.b32 %0, [%1], %2, %3;"                                                \
                         : "=r"(d) : "l"(p), "r"(expected), "r"(v) : "memory");                                    \
        return d;                                                                                                  \
    }                                                                                                              \
    WAVE_CL T atom_cmpxchg(volatile space T *p, T expected, T v) { return atomic_cmpxchg(p, expected, v); }
WAVE_CL_STEP(__global, "global", int)
WAVE_CL_STEP(__global, "global", uint)
WAVE_CL_STEP(__local, "shared", int)
WAVE_CL_STEP(__local, "shared", uint)
#undef WAVE_CL_STEP

#include "wave_opencl_math.h"
