/* The functions of wave.h that the sources of the library use, as instructions of PTX. */
#ifndef WAVE_H
#define WAVE_H
#define WAVE_ONE(name, text)                                                                                       \
    static inline float name(float x)                                                                              \
    {                                                                                                              \
        float y;                                                                                                   \
        __asm__(text ".f32 %0, %1;" : "=f"(y) : "f"(x));                                                           \
        return y;                                                                                                  \
    }
WAVE_ONE(wave_sin, "sin.approx")
WAVE_ONE(wave_cos, "cos.approx")
WAVE_ONE(wave_exp2, "ex2.approx")
WAVE_ONE(wave_log2, "lg2.approx")
WAVE_ONE(wave_rsqrt, "rsqrt.approx")
static inline float wave_fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
static inline double wave_fma_f64(double a, double b, double c) { return __builtin_fma(a, b, c); }
static inline float wave_fmin(float a, float b) { return __builtin_fminf(a, b); }
static inline float wave_fmax(float a, float b) { return __builtin_fmaxf(a, b); }
static inline unsigned wave_bits(float x) { union { float value; unsigned bits; } both = {x}; return both.bits; }
static inline float wave_float(unsigned x) { union { unsigned bits; float value; } both = {x}; return both.value; }
#endif
