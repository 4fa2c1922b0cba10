/* The library is compiled without the compiler's knowledge of functions: these are instructions all the same. */
#ifndef WAVE_INSTRUCTIONS_H
#define WAVE_INSTRUCTIONS_H
#include <math.h>
#define sqrtf(x) __builtin_sqrtf(x)
#define fabsf(x) __builtin_fabsf(x)
#define truncf(x) __builtin_truncf(x)
#define rintf(x) __builtin_rintf(x)
#define copysignf(x, y) __builtin_copysignf(x, y)
#define sqrt(x) __builtin_sqrt(x)
#define fabs(x) __builtin_fabs(x)
#define trunc(x) __builtin_trunc(x)
#define rint(x) __builtin_rint(x)
#define copysign(x, y) __builtin_copysign(x, y)
#endif
