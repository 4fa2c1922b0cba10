// Numbers of 16 bits of CUDA. Sums, products and quotients are those of floats, rounded: 24 bits suffice for that.
#pragma once

#define WAVE_CUDA_HALF static __forceinline__ __attribute__((nodebug, unused)) __device__
struct __half {
    unsigned short bits;
    __half() = default;
    __device__ __attribute__((nodebug)) __half(float x) { asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x)); }
    __device__ __attribute__((nodebug)) operator float() const {
        float x;
        asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
        return x;
    }
};
struct __align__(4) __half2 { __half x, y; };
typedef __half half;
typedef __half2 half2;
WAVE_CUDA_HALF __half __float2half(float x) { return __half(x); }
WAVE_CUDA_HALF __half __float2half_rn(float x) { return __half(x); }
WAVE_CUDA_HALF float __half2float(__half x) { return x; }
WAVE_CUDA_HALF __half __hadd(__half a, __half b) { return (float)a + (float)b; }
WAVE_CUDA_HALF __half __hsub(__half a, __half b) { return (float)a - (float)b; }
WAVE_CUDA_HALF __half __hmul(__half a, __half b) { return (float)a * (float)b; }
WAVE_CUDA_HALF __half __hdiv(__half a, __half b) { return (float)a / (float)b; }
WAVE_CUDA_HALF __half __hneg(__half a) { return -(float)a; }
WAVE_CUDA_HALF __half __hfma(__half a, __half b, __half c) {
    __half d;
    asm("fma.rn.f16 %0, %1, %2, %3;" : "=h"(d.bits) : "h"(a.bits), "h"(b.bits), "h"(c.bits));
    return d;
}
WAVE_CUDA_HALF bool __hgt(__half a, __half b) { return (float)a > (float)b; }
WAVE_CUDA_HALF bool __hlt(__half a, __half b) { return (float)a < (float)b; }
WAVE_CUDA_HALF bool __heq(__half a, __half b) { return (float)a == (float)b; }
WAVE_CUDA_HALF __half hsqrt(__half a) { return sqrtf(a); }
WAVE_CUDA_HALF __half hexp(__half a) { return expf(a); }
WAVE_CUDA_HALF __half2 __floats2half2_rn(float a, float b) { return {__half(a), __half(b)}; }
WAVE_CUDA_HALF __half2 __halves2half2(__half a, __half b) { return {a, b}; }
WAVE_CUDA_HALF __half2 __float2half2_rn(float a) { return {__half(a), __half(a)}; }
WAVE_CUDA_HALF __half __low2half(__half2 a) { return a.x; }
WAVE_CUDA_HALF __half __high2half(__half2 a) { return a.y; }
WAVE_CUDA_HALF float2 __half22float2(__half2 a) { return {(float)a.x, (float)a.y}; }
WAVE_CUDA_HALF __half2 __hadd2(__half2 a, __half2 b) { return {__hadd(a.x, b.x), __hadd(a.y, b.y)}; }
WAVE_CUDA_HALF __half2 __hmul2(__half2 a, __half2 b) { return {__hmul(a.x, b.x), __hmul(a.y, b.y)}; }
WAVE_CUDA_HALF __half2 __hfma2(__half2 a, __half2 b, __half2 c) {
    return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}
#undef WAVE_CUDA_HALF
