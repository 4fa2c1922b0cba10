/* Integers of 128 bits: what compiled code calls for them. */
#include "common.h"

typedef unsigned __int128 wide;

LIBRARY wide __multi3(wide a, wide b)
{
    uint64_t x = (uint64_t)a, y = (uint64_t)b, mask = 0xffffffff;
    uint64_t low = (x & mask) * (y & mask);
    uint64_t middle = (x >> 32) * (y & mask) + (low >> 32);
    uint64_t other = (x & mask) * (y >> 32) + (middle & mask);
    uint64_t high = (x >> 32) * (y >> 32) + (middle >> 32) + (other >> 32);
    high += x * (uint64_t)(b >> 64) + (uint64_t)(a >> 64) * y;
    return (wide)high << 64 | (other << 32 | (low & mask));
}

/* Shifts by a number that is not known before. */
LIBRARY wide __ashlti3(wide a, int by)
{
    uint64_t low = (uint64_t)a, high = (uint64_t)(a >> 64);
    if (by >= 64) return (wide)(low << (by - 64)) << 64;
    if (by == 0) return a;
    return (wide)(high << by | low >> (64 - by)) << 64 | low << by;
}

LIBRARY wide __lshrti3(wide a, int by)
{
    uint64_t low = (uint64_t)a, high = (uint64_t)(a >> 64);
    if (by >= 64) return high >> (by - 64);
    if (by == 0) return a;
    return (wide)(high >> by) << 64 | low >> by | high << (64 - by);
}

LIBRARY __int128 __ashrti3(__int128 a, int by)
{
    return a < 0 ? ~(__int128)__lshrti3(~(wide)a, by) : (__int128)__lshrti3(a, by);
}

static wide divide(wide a, wide b, wide *rest)
{
    wide quotient = 0, left = 0;
    if (b == 0) __builtin_trap();
    for (int bits = 128; bits > 0; bits--) {
        left = left << 1 | a >> 127;
        a <<= 1;
        quotient <<= 1;
        if (left >= b) left -= b, quotient |= 1;
    }
    *rest = left;
    return quotient;
}

LIBRARY wide __udivti3(wide a, wide b)
{
    wide rest;
    return divide(a, b, &rest);
}

LIBRARY wide __umodti3(wide a, wide b)
{
    wide rest;
    divide(a, b, &rest);
    return rest;
}

LIBRARY __int128 __divti3(__int128 a, __int128 b)
{
    wide rest, quotient = divide(a < 0 ? -(wide)a : a, b < 0 ? -(wide)b : b, &rest);
    return (a < 0) != (b < 0) ? -quotient : quotient;
}

LIBRARY __int128 __modti3(__int128 a, __int128 b)
{
    wide rest;
    divide(a < 0 ? -(wide)a : a, b < 0 ? -(wide)b : b, &rest);
    return a < 0 ? -rest : rest;
}
