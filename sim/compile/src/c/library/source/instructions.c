/* Functions that are an instruction each, for those who take their address. */
#include "common.h"
#include <math.h>

LIBRARY float sqrtf(float x) { return __builtin_sqrtf(x); }
LIBRARY float fabsf(float x) { return __builtin_fabsf(x); }
LIBRARY float floorf(float x) { return __builtin_floorf(x); }
LIBRARY float ceilf(float x) { return __builtin_ceilf(x); }
LIBRARY float truncf(float x) { return __builtin_truncf(x); }
LIBRARY float rintf(float x) { return __builtin_rintf(x); }
LIBRARY float copysignf(float x, float y) { return __builtin_copysignf(x, y); }
LIBRARY double sqrt(double x) { return __builtin_sqrt(x); }
LIBRARY double fabs(double x) { return __builtin_fabs(x); }
LIBRARY double floor(double x) { return __builtin_floor(x); }
LIBRARY double ceil(double x) { return __builtin_ceil(x); }
LIBRARY double trunc(double x) { return __builtin_trunc(x); }
LIBRARY double rint(double x) { return __builtin_rint(x); }
LIBRARY double copysign(double x, double y) { return __builtin_copysign(x, y); }
