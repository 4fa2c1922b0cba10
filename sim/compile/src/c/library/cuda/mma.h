// Matrices of a warp: `nvcuda::wmma` for numbers of 16 bits. The fragments are registers of `wmma` instructions.
#pragma once
#include <cuda_fp16.h>

namespace nvcuda {
namespace wmma {
struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };

template <typename T, int N> struct wave_fragment {
    enum { num_elements = N };
    union {
        T x[N];
        unsigned words[N * sizeof(T) / 4];
    };
    __device__ wave_fragment() {}
};
template <typename Use, int m, int n, int k, typename T, typename Layout = void> struct fragment;

#define WAVE_WMMA static __forceinline__ __attribute__((nodebug, unused)) __device__
#define WAVE_WMMA_8(f, how) how(f.words[0]), how(f.words[1]), how(f.words[2]), how(f.words[3]), how(f.words[4]), \
    how(f.words[5]), how(f.words[6]), how(f.words[7])
#define WAVE_WMMA_4(f, how) how(f.words[0]), how(f.words[1]), how(f.words[2]), how(f.words[3])
#define WAVE_WMMA_OUT(word) "=r"(word)
#define WAVE_WMMA_IN(word) "r"(word)
#define WAVE_WMMA_0_7 "{%0,%1,%2,%3,%4,%5,%6,%7}"
#define WAVE_WMMA_0_3 "{%0,%1,%2,%3}"

// A and B of one shape in one layout.
#define WAVE_WMMA_FACTOR(name, use, shape, m, n, k, layout, major)                                                        \
    template <> struct fragment<use, m, n, k, __half, major> : wave_fragment<__half, 16> {};                               \
    WAVE_WMMA void load_matrix_sync(fragment<use, m, n, k, __half, major> &f, const __half *p, unsigned stride) {          \
        asm volatile("wmma.load." name ".sync.aligned." layout "." shape ".f16 " WAVE_WMMA_0_7 ", [%8], %9;"                \
                     : WAVE_WMMA_8(f, WAVE_WMMA_OUT) : "l"(p), "r"(stride) : "memory");                                    \
    }

// C and D of one shape and type.
#define WAVE_WMMA_SUM(shape, m, n, k, T, type, count, registers, address, number)                                         \
    template <> struct fragment<accumulator, m, n, k, T, void> : wave_fragment<T, 8> {};                                   \
    WAVE_WMMA void load_matrix_sync(fragment<accumulator, m, n, k, T> &f, const T *p, unsigned stride, layout_t layout) {  \
        if (layout == mem_row_major)                                                                                      \
            asm volatile("wmma.load.c.sync.aligned.row." shape "." type " " registers ", [" address "], " number ";"       \
                         : count(f, WAVE_WMMA_OUT) : "l"(p), "r"(stride) : "memory");                                      \
        else                                                                                                              \
            asm volatile("wmma.load.c.sync.aligned.col." shape "." type " " registers ", [" address "], " number ";"       \
                         : count(f, WAVE_WMMA_OUT) : "l"(p), "r"(stride) : "memory");                                      \
    }                                                                                                                     \
    WAVE_WMMA void store_matrix_sync(T *p, const fragment<accumulator, m, n, k, T> &f, unsigned stride, layout_t layout) { \
        if (layout == mem_row_major)                                                                                      \
            asm volatile("wmma.store.d.sync.aligned.row." shape "." type " [" address "], " registers ", " number ";"      \
                         : : count(f, WAVE_WMMA_IN), "l"(p), "r"(stride) : "memory");                                      \
        else                                                                                                              \
            asm volatile("wmma.store.d.sync.aligned.col." shape "." type " [" address "], " registers ", " number ";"      \
                         : : count(f, WAVE_WMMA_IN), "l"(p), "r"(stride) : "memory");                                      \
    }

// The product of one shape; the fragments of A and B do not depend on their layouts.
#define WAVE_WMMA_PRODUCT(shape, m, n, k, T, type, count, d, a, b, c)                                                     \
    template <typename A, typename B>                                                                                     \
    WAVE_WMMA void mma_sync(fragment<accumulator, m, n, k, T> &to, const fragment<matrix_a, m, n, k, __half, A> &x,        \
                            const fragment<matrix_b, m, n, k, __half, B> &y,                                              \
                            const fragment<accumulator, m, n, k, T> &from) {                                              \
        asm volatile("wmma.mma.sync.aligned.row.col." shape "." type "." type " " d ", " a ", " b ", " c ";"               \
                     : count(to, WAVE_WMMA_OUT)                                                                           \
                     : WAVE_WMMA_8(x, WAVE_WMMA_IN), WAVE_WMMA_8(y, WAVE_WMMA_IN), count(from, WAVE_WMMA_IN));             \
    }

#define WAVE_WMMA_SHAPE(shape, m, n, k)                                                                                   \
    WAVE_WMMA_FACTOR("a", matrix_a, shape, m, n, k, "row", row_major)                                                     \
    WAVE_WMMA_FACTOR("a", matrix_a, shape, m, n, k, "col", col_major)                                                     \
    WAVE_WMMA_FACTOR("b", matrix_b, shape, m, n, k, "row", row_major)                                                     \
    WAVE_WMMA_FACTOR("b", matrix_b, shape, m, n, k, "col", col_major)                                                     \
    WAVE_WMMA_SUM(shape, m, n, k, float, "f32", WAVE_WMMA_8, WAVE_WMMA_0_7, "%8", "%9")                                   \
    WAVE_WMMA_SUM(shape, m, n, k, __half, "f16", WAVE_WMMA_4, WAVE_WMMA_0_3, "%4", "%5")                                  \
    WAVE_WMMA_PRODUCT(shape, m, n, k, float, "f32", WAVE_WMMA_8, WAVE_WMMA_0_7, "{%8,%9,%10,%11,%12,%13,%14,%15}",         \
                      "{%16,%17,%18,%19,%20,%21,%22,%23}", "{%24,%25,%26,%27,%28,%29,%30,%31}")                           \
    WAVE_WMMA_PRODUCT(shape, m, n, k, __half, "f16", WAVE_WMMA_4, WAVE_WMMA_0_3, "{%4,%5,%6,%7,%8,%9,%10,%11}",            \
                      "{%12,%13,%14,%15,%16,%17,%18,%19}", "{%20,%21,%22,%23}")

WAVE_WMMA_SHAPE("m16n16k16", 16, 16, 16)
WAVE_WMMA_SHAPE("m32n8k16", 32, 8, 16)
WAVE_WMMA_SHAPE("m8n32k16", 8, 32, 16)

template <typename Use, int m, int n, int k, typename T, typename Layout, typename V>
WAVE_WMMA void fill_fragment(fragment<Use, m, n, k, T, Layout> &f, const V &value) {
    for (int i = 0; i < f.num_elements; i++) f.x[i] = value;
}

#undef WAVE_WMMA
#undef WAVE_WMMA_8
#undef WAVE_WMMA_4
#undef WAVE_WMMA_OUT
#undef WAVE_WMMA_IN
#undef WAVE_WMMA_0_7
#undef WAVE_WMMA_0_3
#undef WAVE_WMMA_FACTOR
#undef WAVE_WMMA_SUM
#undef WAVE_WMMA_PRODUCT
#undef WAVE_WMMA_SHAPE
} // namespace wmma
} // namespace nvcuda
