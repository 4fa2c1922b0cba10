/* The decimal digits of a double: an integer part that is divided, and a fraction that is multiplied. */
#include "decimal.h"

#define GROUP 1000000000u

static void next_group(struct wave_decimal *d)
{
    d->unit = GROUP / 10;
    if (d->groups > 0) {
        d->now = d->group[--d->groups];
        return;
    }
    uint64_t carry = 0;
    for (int i = d->low; i < d->high; i++) {
        carry += (uint64_t)d->fraction[i] * GROUP;
        d->fraction[i] = (uint32_t)carry;
        carry >>= 32;
    }
    while (d->low < d->high && !d->fraction[d->low]) d->low++;
    d->now = (uint32_t)carry;
}

static unsigned next(struct wave_decimal *d)
{
    if (!d->unit) next_group(d);
    unsigned digit = d->now / d->unit;
    d->now -= digit * d->unit;
    d->unit /= 10;
    return digit;
}

static int is_over(const struct wave_decimal *d)
{
    if (d->unit && d->now) return 0;
    for (int i = 0; i < d->groups; i++)
        if (d->group[i]) return 0;
    return d->low == d->high;
}

/* Splits the integer part, of so many words, into groups. */
static void split(struct wave_decimal *d, uint32_t *words, int count)
{
    d->groups = 0;
    while (count > 0 && !words[count - 1]) count--;
    while (count > 0) {
        uint64_t rest = 0;
        for (int i = count - 1; i >= 0; i--) {
            rest = rest << 32 | words[i];
            words[i] = (uint32_t)(rest / GROUP);
            rest -= (uint64_t)words[i] * GROUP;
        }
        d->group[d->groups++] = (uint32_t)rest;
        while (count > 0 && !words[count - 1]) count--;
    }
}

/* Power of ten of the first digit; -1 or less is in the fraction. Leaves the digits from it on. */
static int to_first(struct wave_decimal *d)
{
    int exponent = 9 * d->groups - 1;
    d->unit = 0;
    if (is_over(d)) return 0;
    while (!d->unit || !d->now) {
        if (d->unit) exponent -= 9;
        next_group(d);
    }
    while (d->now < d->unit) d->unit /= 10, exponent--;
    return exponent;
}

static int begin(struct wave_decimal *d, uint64_t bits)
{
    int power = (int)(bits >> 52 & 2047);
    uint64_t value = (bits & 0xfffffffffffffull) | (uint64_t)(power > 0) << 52;
    power = (power ? power : 1) - 1075;
    for (int i = 0; i < 35; i++) d->fraction[i] = 0;
    d->low = d->high = 0;
    if (power >= 0) {
        int word = power >> 5, by = power & 31;
        d->fraction[word] = (uint32_t)(value << by);
        d->fraction[word + 1] = (uint32_t)(value << by >> 32);
        d->fraction[word + 2] = by ? (uint32_t)(value >> 32 >> (32 - by)) : 0;
        split(d, d->fraction, word + 3);
        return to_first(d);
    }
    uint64_t whole = power > -64 ? value >> -power : 0;
    uint32_t words[2] = {(uint32_t)whole, (uint32_t)(whole >> 32)};
    split(d, words, 2);
    if (power > -64) value &= (1ull << -power) - 1;
    /* The fraction is `value` times this power of two: its last bit is in this word. */
    d->high = (-power + 31) >> 5;
    int by = 32 * d->high + power;
    d->fraction[0] = (uint32_t)(value << by);
    d->fraction[1] = (uint32_t)(value << by >> 32);
    if (by) d->fraction[2] = (uint32_t)(value >> 32 >> (32 - by));
    while (d->low < d->high && !d->fraction[d->low]) d->low++;
    return to_first(d);
}

SHARED void wave_begin(struct wave_decimal *d, uint64_t bits)
{
    begin(d, bits);
}

SHARED void wave_round(struct wave_rounding *r, struct wave_decimal *d, uint64_t bits, int digits, int from_first)
{
    r->exponent = begin(d, bits);
    r->at = r->last = r->up = 0;
    r->carry = -1;
    int count = from_first ? digits : digits + r->exponent + 1;
    if (!(bits << 1)) {
        r->carry = 0x7fffffff;
        return;
    }
    unsigned odd = 0;
    int not_nine = -1;
    if (count >= 0) {
        for (int i = 0; i < count; i++) {
            unsigned digit = next(d);
            if (digit) r->last = i;
            if (digit != 9) not_nine = i;
            odd = digit & 1;
            /* Only zeros follow. */
            if (!d->now && is_over(d)) {
                r->carry = 0x7fffffff;
                return;
            }
        }
        unsigned digit = next(d);
        r->up = digit > 5 || (digit == 5 && (!is_over(d) || odd));
    }
    if (!r->up) {
        r->carry = 0x7fffffff;
        /* All digits are cut off. */
        if (count <= 0) r->carry = 0, r->exponent = from_first ? r->exponent : -digits;
        return;
    }
    r->carry = not_nine + 1;
    r->last = not_nine < 0 ? 0 : not_nine;
    if (not_nine < 0) {
        /* One more digit in front: a 1, with zeros behind it. */
        r->exponent = count <= 0 ? -digits : r->exponent + 1;
        r->carry = 0;
    }
}

SHARED char wave_digit(struct wave_rounding *r, struct wave_decimal *d)
{
    int i = r->at++;
    if (r->carry == 0) return i == 0 && r->up ? '1' : '0';
    if (i >= r->carry) return '0';
    return (char)('0' + next(d) + (r->up && i == r->carry - 1));
}
