/* A kernel: `KERNEL void name(float *data, unsigned n) { ... }`. Each thread of the grid calls it with the arguments
   of the launch. A pointer is an address in device memory. */
#ifdef __cplusplus
#define KERNEL extern "C" __attribute__((visibility("default"), used))
#define WAVE_EXTERN extern "C"
#define WAVE_STATIC_ASSERT static_assert
#else
#define KERNEL __attribute__((visibility("default"), used))
#define WAVE_EXTERN
#define WAVE_STATIC_ASSERT _Static_assert
#endif
/* The same under a name that the linker cannot change. */
#define WAVE_KERNEL(name) __attribute__((export_name(#name))) void name

/* What a kernel needs. A launch may say otherwise.
   KERNEL_LOCAL_MEMORY(name, bytes);    local memory of a workgroup
   KERNEL_WORKGROUP(name, x, y, z);     threads of a workgroup */
#define WAVE_STATE(what, kernel, value)                                                                           \
    WAVE_EXTERN __attribute__((export_name("wave_" #what "_" #kernel))) unsigned wave_##what##_##kernel(void)     \
    {                                                                                                             \
        return (value);                                                                                           \
    }
#define KERNEL_LOCAL_MEMORY(kernel, bytes)                                                                        \
    WAVE_STATE(local_memory, kernel, bytes)                                                                       \
    WAVE_STATIC_ASSERT((bytes) > 0, "local memory has at least one byte")
#define KERNEL_WORKGROUP(kernel, x, y, z)                                                                         \
    WAVE_STATE(workgroup_x, kernel, x)                                                                            \
    WAVE_STATE(workgroup_y, kernel, y)                                                                            \
    WAVE_STATE(workgroup_z, kernel, z)                                                                            \
    WAVE_STATIC_ASSERT((x) > 0 && (y) > 0 && (z) > 0, "a workgroup has at least one thread")

#ifdef __cplusplus
#define WAVE_HELPER static inline __attribute__((always_inline, nodebug, unused))
#else
#define WAVE_HELPER static inline __attribute__((overloadable, always_inline, nodebug, unused))
#endif

/* Where a thread is. */
WAVE_HELPER unsigned thread_id_x(void) { return wave_thread_id_x(); }
WAVE_HELPER unsigned thread_id_y(void) { return wave_thread_id_y(); }
WAVE_HELPER unsigned thread_id_z(void) { return wave_thread_id_z(); }
WAVE_HELPER unsigned workgroup_id_x(void) { return wave_workgroup_id_x(); }
WAVE_HELPER unsigned workgroup_id_y(void) { return wave_workgroup_id_y(); }
WAVE_HELPER unsigned workgroup_id_z(void) { return wave_workgroup_id_z(); }
WAVE_HELPER unsigned workgroup_size_x(void) { return wave_workgroup_size_x(); }
WAVE_HELPER unsigned workgroup_size_y(void) { return wave_workgroup_size_y(); }
WAVE_HELPER unsigned workgroup_size_z(void) { return wave_workgroup_size_z(); }
WAVE_HELPER unsigned grid_size_x(void) { return wave_grid_size_x(); }
WAVE_HELPER unsigned grid_size_y(void) { return wave_grid_size_y(); }
WAVE_HELPER unsigned grid_size_z(void) { return wave_grid_size_z(); }
WAVE_HELPER unsigned lane_id(void) { return wave_lane_id(); }
WAVE_HELPER unsigned wave_number(void) { return wave_wave_id(); }
/* The number of a thread in the whole grid, and the threads of the grid. */
WAVE_HELPER unsigned global_id_x(void) { return wave_workgroup_id_x() * wave_workgroup_size_x() + wave_thread_id_x(); }
WAVE_HELPER unsigned global_id_y(void) { return wave_workgroup_id_y() * wave_workgroup_size_y() + wave_thread_id_y(); }
WAVE_HELPER unsigned global_id_z(void) { return wave_workgroup_id_z() * wave_workgroup_size_z() + wave_thread_id_z(); }
WAVE_HELPER unsigned global_size_x(void) { return wave_grid_size_x() * wave_workgroup_size_x(); }
WAVE_HELPER unsigned global_size_y(void) { return wave_grid_size_y() * wave_workgroup_size_y(); }
WAVE_HELPER unsigned global_size_z(void) { return wave_grid_size_z() * wave_workgroup_size_z(); }

/* Waits for all threads of the workgroup, and orders their accesses. */
WAVE_HELPER __attribute__((convergent)) void barrier(void) { wave_barrier(); }

/* Several values side by side. */
typedef struct { float x, y; } float2;
typedef struct { float x, y, z, w; } float4;
typedef struct { int x, y; } int2;
typedef struct { int x, y, z, w; } int4;
typedef struct { unsigned x, y; } uint2;
typedef struct { unsigned x, y, z, w; } uint4;

/* Local memory, shared by the threads of a workgroup. A pointer to it says `LOCAL`, and is read and written with
   local_load() and local_store(): the compiler refuses `*pointer`. Say what it holds as a structure:
       struct tiles { float a[16][17]; };
       KERNEL_LOCAL_MEMORY(name, sizeof(struct tiles));
       ... LOCAL struct tiles *tiles = LOCAL_MEMORY(struct tiles);
       ... local_store(&tiles->a[y][x], 1.0f); */
#define LOCAL __attribute__((address_space(3), noderef))
#define LOCAL_MEMORY(type) ((LOCAL type *)0)
#define WAVE_LOCAL_ACCESS(type, load, store, raw)                                                                 \
    WAVE_HELPER type local_load(const LOCAL type *from) { return (type)wave_local_load_##load((unsigned)from); }  \
    WAVE_HELPER void local_store(LOCAL type *to, type value) { wave_local_store_##store((unsigned)to, (raw)value); }
WAVE_LOCAL_ACCESS(float, f32, f32, float)
WAVE_LOCAL_ACCESS(double, f64, f64, double)
WAVE_LOCAL_ACCESS(int, i32, i32, unsigned)
WAVE_LOCAL_ACCESS(unsigned, i32, i32, unsigned)
WAVE_LOCAL_ACCESS(long long, i64, i64, unsigned long long)
WAVE_LOCAL_ACCESS(unsigned long long, i64, i64, unsigned long long)
WAVE_LOCAL_ACCESS(char, i8, i8, unsigned)
WAVE_LOCAL_ACCESS(signed char, i8, i8, unsigned)
WAVE_LOCAL_ACCESS(unsigned char, u8, i8, unsigned)
WAVE_LOCAL_ACCESS(short, i16, i16, unsigned)
WAVE_LOCAL_ACCESS(unsigned short, u16, i16, unsigned)
#undef WAVE_LOCAL_ACCESS


/* The bits of a number, and the number of bits. */
WAVE_HELPER unsigned wave_bits(unsigned value) { return value; }
WAVE_HELPER unsigned wave_bits(int value) { return (unsigned)value; }
WAVE_HELPER unsigned wave_bits(float value)
{
    union { float value; unsigned bits; } both;
    both.value = value;
    return both.bits;
}
WAVE_HELPER float wave_float(unsigned bits)
{
    union { float value; unsigned bits; } both;
    both.bits = bits;
    return both.value;
}

/* Two words at once: one access to local memory if the address is a multiple of 8. Four words are two accesses. */
#define WAVE_LOCAL_PAIR(pair, four, from_bits)                                                                    \
    WAVE_HELPER pair local_load(const LOCAL pair *from)                                                           \
    {                                                                                                             \
        unsigned long long bits = wave_local_load_i64((unsigned)from);                                            \
        pair value = {from_bits((unsigned)bits), from_bits((unsigned)(bits >> 32))};                              \
        return value;                                                                                             \
    }                                                                                                             \
    WAVE_HELPER void local_store(LOCAL pair *to, pair value)                                                      \
    {                                                                                                             \
        wave_local_store_i64((unsigned)to, wave_bits(value.x) | (unsigned long long)wave_bits(value.y) << 32);    \
    }                                                                                                             \
    WAVE_HELPER four local_load(const LOCAL four *from)                                                           \
    {                                                                                                             \
        pair low = local_load((const LOCAL pair *)from), high = local_load((const LOCAL pair *)from + 1);         \
        four value = {low.x, low.y, high.x, high.y};                                                              \
        return value;                                                                                             \
    }                                                                                                             \
    WAVE_HELPER void local_store(LOCAL four *to, four value)                                                      \
    {                                                                                                             \
        pair low = {value.x, value.y}, high = {value.z, value.w};                                                 \
        local_store((LOCAL pair *)to, low);                                                                       \
        local_store((LOCAL pair *)to + 1, high);                                                                  \
    }
WAVE_LOCAL_PAIR(float2, float4, wave_float)
WAVE_LOCAL_PAIR(int2, int4, (int))
WAVE_LOCAL_PAIR(uint2, uint4, (unsigned))
#undef WAVE_LOCAL_PAIR

/* Atomic operations: on device memory, seen by the whole device, or with a `LOCAL` pointer on local memory, seen by the
   workgroup. They give the old value. atomic_min and atomic_max compare without a sign; atomic_cas replaces what is
   `expected`. `wave_atomic_add_workgroup` and the like have another scope. */
#define WAVE_ATOMIC(name, raw, type)                                                                              \
    WAVE_HELPER type atomic_##name(type *at, type value)                                                          \
    {                                                                                                             \
        return (type)wave_atomic_##raw##_device((unsigned)at, (unsigned)value);                                   \
    }                                                                                                             \
    WAVE_HELPER type atomic_##name(LOCAL type *at, type value)                                                    \
    {                                                                                                             \
        return (type)wave_local_atomic_##raw((unsigned)at, (unsigned)value);                                      \
    }
#define WAVE_ATOMIC_CAS(type)                                                                                     \
    WAVE_HELPER type atomic_cas(type *at, type expected, type value)                                              \
    {                                                                                                             \
        return (type)wave_atomic_cas_device((unsigned)at, (unsigned)expected, (unsigned)value);                   \
    }                                                                                                             \
    WAVE_HELPER type atomic_cas(LOCAL type *at, type expected, type value)                                        \
    {                                                                                                             \
        return (type)wave_local_atomic_cas((unsigned)at, (unsigned)expected, (unsigned)value);                    \
    }
WAVE_ATOMIC(add, add, unsigned)
WAVE_ATOMIC(add, add, int)
WAVE_ATOMIC(sub, sub, unsigned)
WAVE_ATOMIC(sub, sub, int)
WAVE_ATOMIC(min, min, unsigned)
WAVE_ATOMIC(max, max, unsigned)
WAVE_ATOMIC(and, and, unsigned)
WAVE_ATOMIC(or, or, unsigned)
WAVE_ATOMIC(xor, xor, unsigned)
WAVE_ATOMIC(swap, exchange, unsigned)
WAVE_ATOMIC(swap, exchange, int)
WAVE_ATOMIC_CAS(unsigned)
WAVE_ATOMIC_CAS(int)
#undef WAVE_ATOMIC
#undef WAVE_ATOMIC_CAS

/* Shuffles of floats; those of integers are above, under the same names. */
#define WAVE_SHUFFLE(name)                                                                                        \
    WAVE_HELPER __attribute__((convergent)) float name(float value, unsigned lanes)                               \
    {                                                                                                             \
        return wave_float(name(wave_bits(value), lanes));                                                         \
    }                                                                                                             \
    WAVE_HELPER __attribute__((convergent)) int name(int value, unsigned lanes)                                   \
    {                                                                                                             \
        return (int)name((unsigned)value, lanes);                                                                 \
    }
WAVE_SHUFFLE(wave_shuffle)
WAVE_SHUFFLE(wave_shuffle_up)
WAVE_SHUFFLE(wave_shuffle_down)
WAVE_SHUFFLE(wave_shuffle_xor)
WAVE_SHUFFLE(wave_broadcast)
#undef WAVE_SHUFFLE

/* Arithmetic that is an instruction each. */
WAVE_HELPER int imin(int a, int b) { return (int)wave_imin((unsigned)a, (unsigned)b); }
WAVE_HELPER int imax(int a, int b) { return (int)wave_imax((unsigned)a, (unsigned)b); }
WAVE_HELPER int iclamp(int a, int low, int high) { return imin(imax(a, low), high); }
WAVE_HELPER unsigned umin(unsigned a, unsigned b) { return wave_umin(a, b); }
WAVE_HELPER unsigned umax(unsigned a, unsigned b) { return wave_umax(a, b); }
WAVE_HELPER unsigned umul_high(unsigned a, unsigned b) { return wave_umul_high(a, b); }
WAVE_HELPER float rsqrtf(float x) { return wave_rsqrt(x); }
WAVE_HELPER float rcpf(float x) { return wave_rcp(x); }
WAVE_HELPER float clampf(float x, float low, float high) { return wave_fmin(wave_fmax(x, low), high); }

/* Functions of <math.h> that are an instruction or a few, and functions of <string.h> that the compiler calls by
   itself. docs/c.md has the greatest error of each. powf() and the rest of both headers are in the library of
   wave-sim. */
#ifdef __cplusplus
extern "C" {
#endif
float sqrtf(float);
float fabsf(float);
float floorf(float);
float ceilf(float);
float truncf(float);
float rintf(float);
float copysignf(float, float);
double sqrt(double);
double fabs(double);
double floor(double);
double ceil(double);
double trunc(double);
double rint(double);
double copysign(double, double);
float powf(float, float);
void *memcpy(void *, const void *, __SIZE_TYPE__);
void *memmove(void *, const void *, __SIZE_TYPE__);
void *memset(void *, int, __SIZE_TYPE__);
int memcmp(const void *, const void *, __SIZE_TYPE__);
#ifndef WAVE_LIBRARY_SOURCE
/* Inline here, and a function of the library where its address is taken. */
#define WAVE_MATH extern inline __attribute__((gnu_inline, always_inline, nodebug, unused))
WAVE_MATH float fmaf(float a, float b, float c) { return wave_fma(a, b, c); }
WAVE_MATH double fma(double a, double b, double c) { return wave_fma_f64(a, b, c); }
WAVE_MATH float fminf(float a, float b) { return wave_fmin(a, b); }
WAVE_MATH float fmaxf(float a, float b) { return wave_fmax(a, b); }
WAVE_MATH float sinf(float x) { return wave_sin(x); }
WAVE_MATH float cosf(float x) { return wave_cos(x); }
WAVE_MATH float tanf(float x) { return wave_sin(x) / wave_cos(x); }
WAVE_MATH float exp2f(float x) { return wave_exp2(x); }
WAVE_MATH float log2f(float x) { return wave_log2(x); }
WAVE_MATH float logf(float x) { return wave_log2(x) * 0x1.62e43p-1f; }
/* Two to the power of x / ln 2, whose rounding error corrects the result: it is large where x is. */
WAVE_MATH float expf(float x)
{
    float power = x * 0x1.715476p+0f;
    float rest = wave_fma(x, 0x1.715476p+0f, -power) + x * 0x1.4ae0cp-26f;
    float result = wave_exp2(power);
    return power > -151.0f && power < 128.0f ? wave_fma(result, rest * 0x1.62e43p-1f, result) : result;
}
#endif
#ifdef __cplusplus
}
#endif
