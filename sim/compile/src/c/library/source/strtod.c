/* Real numbers in text. The first 19 digits count; the result is within one unit in the last place. */
#include "common.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <strings.h>

/* value * 10^power, in two doubles. */
static double scaled(uint64_t value, int power)
{
    double high = (double)value, low = (double)(int64_t)(value - (uint64_t)high);
    if (value == 0) return 0;
    /* The power of two is held apart, so that no step overflows. */
    int twos = 0;
    double step = 10, step_low = 0;
    for (unsigned rest = power < 0 ? -power : power; rest; rest >>= 1) {
        if (rest & 1) {
            if (power > 0) {
                double product = high * step;
                low = fma(high, step, -product) + high * step_low + low * step;
                high = product;
            } else {
                double quotient = high / step;
                double left = fma(-quotient, step, high) - quotient * step_low + low;
                high = quotient;
                low = left / step;
            }
            double sum = high + low;
            low -= sum - high;
            high = sum;
            int by;
            high = frexp(high, &by);
            low = ldexp(low, -by);
            twos += by;
        }
        double square = step * step;
        step_low = fma(step, step, -square) + 2 * step * step_low;
        step = square;
    }
    return ldexp(high + low, twos);
}

static int word(const char *text, const char *with)
{
    int length = 0;
    while (with[length] && tolower((unsigned char)text[length]) == with[length]) length++;
    return with[length] ? 0 : length;
}

LIBRARY double strtod(const char *restrict text, char **restrict end)
{
    const char *at = text;
    while (isspace((unsigned char)*at)) at++;
    int is_negative = *at == '-', length;
    if (*at == '-' || *at == '+') at++;
    double value = 0;
    if ((length = word(at, "infinity")) || (length = word(at, "inf"))) {
        value = INFINITY;
        text = at + length;
    } else if ((length = word(at, "nan"))) {
        value = NAN;
        text = at + length;
    } else {
        int is_hex = at[0] == '0' && (at[1] | 32) == 'x', base = is_hex ? 16 : 10, power = 0, digits = 0, point = 0;
        const char *first = at;
        uint64_t number = 0, most = is_hex ? 1ull << 59 : 1000000000000000000ull;
        if (is_hex) at += 2;
        for (;; at++) {
            if (*at == '.' && !point) {
                point = 1;
                continue;
            }
            int digit = 16;
            if (isdigit((unsigned char)*at)) digit = *at - '0';
            else if (isxdigit((unsigned char)*at)) digit = (*at | 32) - 'a' + 10;
            if (digit >= base) break;
            digits++;
            if (number < most) number = number * base + digit, power -= point;
            else power += !point;
        }
        if (digits == 0) {
            if (is_hex) text = first + 1;
        } else {
            text = at;
            if ((*at | 32) == (is_hex ? 'p' : 'e')) {
                const char *from = at + 1;
                int minus = *from == '-', exponent = 0;
                if (*from == '-' || *from == '+') from++;
                if (isdigit((unsigned char)*from)) {
                    for (; isdigit((unsigned char)*from); from++)
                        if (exponent < 100000) exponent = exponent * 10 + *from - '0';
                    text = from;
                    exponent = minus ? -exponent : exponent;
                    power = is_hex ? 4 * power + exponent : power + exponent;
                } else if (is_hex) {
                    power *= 4;
                }
            } else if (is_hex) {
                power *= 4;
            }
            if (is_hex) value = ldexp((double)number, power);
            else value = power < -400 ? 0 : power > 400 ? (number ? INFINITY : 0) : scaled(number, power);
        }
    }
    if (end) *end = (char *)text;
    return is_negative ? -value : value;
}

LIBRARY float strtof(const char *restrict text, char **restrict end)
{
    return (float)strtod(text, end);
}

LIBRARY double atof(const char *text)
{
    return strtod(text, NULL);
}
