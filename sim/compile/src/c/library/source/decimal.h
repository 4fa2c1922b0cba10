/* The decimal digits of a double, exactly. */
#ifndef WAVE_DECIMAL_H
#define WAVE_DECIMAL_H
#include "common.h"

/* A number whose digits are given one after the other, from the first one that is not 0. */
struct wave_decimal {
    /* The fraction that is left: words [low, high), the last of which is right behind the point. */
    uint32_t fraction[35];
    int low, high;
    /* The integer part in groups of nine digits, the first of which is the last one here. */
    uint32_t group[35];
    int groups;
    /* Digits of the group under way. */
    uint32_t now, unit;
};

/* How the digits of a number are rounded. */
struct wave_rounding {
    /* Power of ten of the first digit. */
    int exponent;
    /* The last digit that is not 0; 0 if there is none. */
    int last;
    /* Digits from here on are nines that become zeros, and that before them is one more. */
    int carry;
    int up, at;
};

/* Begins with the number that has these bits, without its sign. */
SHARED void wave_begin(struct wave_decimal *, uint64_t bits);
/* Finds out how to round to so many digits: from the first on, or behind the point. */
SHARED void wave_round(struct wave_rounding *, struct wave_decimal *, uint64_t bits, int digits, int from_first);
/* The next digit as rounded, after wave_begin(). */
SHARED char wave_digit(struct wave_rounding *, struct wave_decimal *);
#endif
