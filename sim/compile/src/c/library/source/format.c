/* Formatted text: wave_format(), and what writes into memory of the caller. Numbers are exact to the last digit. */
#include "format.h"
#include "decimal.h"
#include <stdio.h>
#include <string.h>

enum { LEFT = 1, PLUS = 2, BLANK = 4, OTHER = 8, ZEROS = 16, UPPER = 32 };

/* A conversion: its flags, its least width, and its precision, or -1. */
struct conversion {
    unsigned flags;
    int width, precision;
    char letter;
};

static void put(struct wave_text *text, char c)
{
    if (text->count < text->room) text->to[text->count] = c;
    text->count++;
}

static void repeat(struct wave_text *text, char c, int count)
{
    for (; count > 0; count--) put(text, c);
}

/* Puts what stands before a number, and blanks or zeros for `bytes` bytes that follow. Gives the blanks behind it. */
static int begin(struct wave_text *text, const struct conversion *c, const char *prefix, int bytes)
{
    int blanks = c->width - bytes - (int)strlen(prefix);
    if (!(c->flags & (LEFT | ZEROS))) repeat(text, ' ', blanks);
    while (*prefix) put(text, *prefix++);
    if ((c->flags & (LEFT | ZEROS)) == ZEROS) repeat(text, '0', blanks);
    return c->flags & LEFT ? blanks : 0;
}

static const char *sign(const struct conversion *c, int is_negative)
{
    return is_negative ? "-" : c->flags & PLUS ? "+" : c->flags & BLANK ? " " : "";
}

static void integer(struct wave_text *text, struct conversion *c, unsigned long long value, const char *prefix,
                    unsigned base)
{
    char digits[22];
    int count = 0, is_zero = value == 0;
    const char *names = c->flags & UPPER ? "0123456789ABCDEF" : "0123456789abcdef";
    /* Divisions of 32 bits are shorter. */
    for (; value >> 32; value /= base) digits[count++] = names[value % base];
    for (unsigned rest = (unsigned)value; rest; rest /= base) digits[count++] = names[rest % base];
    if (c->precision >= 0) c->flags &= ~ZEROS;
    if (is_zero && c->precision != 0) digits[count++] = '0';
    if (base == 8 && c->flags & OTHER && c->precision <= count && !(is_zero && c->precision)) c->precision = count + 1;
    int zeros = c->precision > count ? c->precision - count : 0;
    int behind = begin(text, c, prefix, count + zeros);
    repeat(text, '0', zeros);
    while (count > 0) put(text, digits[--count]);
    repeat(text, ' ', behind);
}

static void string(struct wave_text *text, struct conversion *c, const char *from, size_t bytes)
{
    c->flags &= ~ZEROS;
    int behind = begin(text, c, "", (int)bytes);
    for (size_t i = 0; i < bytes; i++) put(text, from[i]);
    repeat(text, ' ', behind);
}

/* The exponent of two or ten of a number, with its sign. */
static void exponent(struct wave_text *text, char letter, int value, int least)
{
    char digits[4];
    int count = 0;
    put(text, letter);
    put(text, value < 0 ? '-' : '+');
    if (value < 0) value = -value;
    while (value || count < least) digits[count++] = '0' + value % 10, value /= 10;
    while (count > 0) put(text, digits[--count]);
}

static int exponent_length(int value, int least)
{
    if (value < 0) value = -value;
    int count = value < 10 ? 1 : value < 100 ? 2 : value < 1000 ? 3 : 4;
    return 2 + (count < least ? least : count);
}

/* In the digits of base 16: %a. */
static void hexadecimal(struct wave_text *text, struct conversion *c, uint64_t bits)
{
    const char *names = c->flags & UPPER ? "0123456789ABCDEF" : "0123456789abcdef";
    uint64_t fraction = bits & 0xfffffffffffffull;
    int power = (int)(bits >> 52 & 2047), whole = power > 0;
    power = bits << 1 ? (power ? power - 1023 : -1022) : 0;
    int digits = 13;
    if (c->precision >= 0 && c->precision < 13) {
        int dropped = 4 * (13 - c->precision);
        uint64_t all = (uint64_t)whole << 52 | fraction, half = 1ull << (dropped - 1);
        uint64_t rest = all & ((1ull << dropped) - 1);
        all >>= dropped;
        all += rest > half || (rest == half && all & 1);
        all <<= dropped;
        whole = (int)(all >> 52);
        fraction = all & 0xfffffffffffffull;
        digits = c->precision;
    } else if (c->precision < 0) {
        while (digits > 0 && !(fraction >> (4 * (13 - digits)) & 15)) digits--;
    }
    int zeros = c->precision > digits ? c->precision - digits : 0, point = digits + zeros > 0 || c->flags & OTHER;
    char prefix[4];
    char *end = stpcpy(prefix, sign(c, bits >> 63));
    *end++ = '0';
    *end++ = c->flags & UPPER ? 'X' : 'x';
    *end = 0;
    int behind = begin(text, c, prefix, 1 + point + digits + zeros + exponent_length(power, 1));
    put(text, '0' + whole);
    if (point) put(text, '.');
    for (int i = 0; i < digits; i++) put(text, names[fraction >> (48 - 4 * i) & 15]);
    repeat(text, '0', zeros);
    exponent(text, c->flags & UPPER ? 'P' : 'p', power, 1);
    repeat(text, ' ', behind);
}

static void real(struct wave_text *text, struct conversion *c, double value)
{
    union { double value; uint64_t bits; } both = {value};
    int is_negative = (int)(both.bits >> 63);
    if ((both.bits >> 52 & 2047) == 2047) {
        c->flags &= ~ZEROS;
        int behind = begin(text, c, sign(c, is_negative), 3);
        const char *word = both.bits << 12 ? c->flags & UPPER ? "NAN" : "nan" : c->flags & UPPER ? "INF" : "inf";
        while (*word) put(text, *word++);
        repeat(text, ' ', behind);
        return;
    }
    if (c->letter == 'a') {
        hexadecimal(text, c, both.bits);
        return;
    }
    if (c->precision < 0) c->precision = 6;
    int is_general = c->letter == 'g', strip = is_general && !(c->flags & OTHER);
    if (is_general && c->precision == 0) c->precision = 1;
    struct wave_decimal decimal;
    struct wave_rounding rounding;
    int style = c->letter, after = c->precision;
    if (is_general) {
        wave_round(&rounding, &decimal, both.bits, c->precision, 1);
        int power = rounding.exponent;
        style = power < -4 || power >= c->precision ? 'e' : 'f';
        after = style == 'e' ? c->precision - 1 : c->precision - 1 - power;
        if (strip) {
            /* Digits from the first one to the last that is not 0. */
            int kept = rounding.last + 1 - (style == 'e' ? 1 : power + 1);
            after = kept < 0 ? 0 : kept < after ? kept : after;
        }
    } else {
        wave_round(&rounding, &decimal, both.bits, style == 'e' ? after + 1 : after, style == 'e');
    }
    /* Digits before the point, of which those in front of the first one of the number are zeros. */
    int power = rounding.exponent, before = style == 'e' || power < 0 ? 1 : power + 1;
    int point = after > 0 || c->flags & OTHER, e = style == 'e' ? exponent_length(power, 2) : 0;
    int behind = begin(text, c, sign(c, is_negative), before + point + after + e);
    wave_begin(&decimal, both.bits);
    int skip = style == 'e' ? 0 : power;
    for (int i = 0; i < before + after; i++) {
        if (i == before && point) put(text, '.');
        put(text, skip < 0 ? '0' : wave_digit(&rounding, &decimal));
        if (skip < 0) skip++;
    }
    if (point && after == 0) put(text, '.');
    if (e) exponent(text, c->flags & UPPER ? 'E' : 'e', power, 2);
    repeat(text, ' ', behind);
}

static int value_of(const char **format)
{
    int value = 0;
    for (; **format >= '0' && **format <= '9'; ++*format) value = value * 10 + **format - '0';
    return value;
}

static const char *flags_of(struct conversion *c, const char *format)
{
    for (;; format++) {
        switch (*format) {
        case '-': c->flags |= LEFT; break;
        case '+': c->flags |= PLUS; break;
        case ' ': c->flags |= BLANK; break;
        case '#': c->flags |= OTHER; break;
        case '0': c->flags |= ZEROS; break;
        default: return format;
        }
    }
}

SHARED void wave_format(struct wave_text *text, const char *format, va_list arguments)
{
    for (; *format; format++) {
        if (*format != '%') {
            put(text, *format);
            continue;
        }
        const char *start = format;
        struct conversion c = {0, 0, -1, 0};
        format = flags_of(&c, format + 1);
        if (*format == '*') {
            c.width = va_arg(arguments, int);
            if (c.width < 0) c.flags |= LEFT, c.width = -c.width;
            format++;
        } else {
            c.width = value_of(&format);
        }
        if (*format == '.') {
            format++;
            if (*format == '*') c.precision = va_arg(arguments, int), format++;
            else c.precision = value_of(&format);
        }
        /* How large an integer is: 1 is long long, -1 short, -2 char. */
        int size = 0;
        for (;; format++) {
            if (*format == 'l') size += format[1] == 'l', format += format[1] == 'l';
            else if (*format == 'j') size = 1;
            else if (*format == 'h') size--;
            else if (*format != 'z' && *format != 't') break;
        }
        c.letter = *format;
        if (c.letter >= 'A' && c.letter <= 'Z') c.flags |= UPPER, c.letter |= 32;
        switch (c.letter) {
        case 'd':
        case 'i': {
            long long value = size > 0 ? va_arg(arguments, long long) : va_arg(arguments, int);
            if (size == -1) value = (short)value;
            if (size < -1) value = (signed char)value;
            integer(text, &c, value < 0 ? -(unsigned long long)value : value, sign(&c, value < 0), 10);
            break;
        }
        case 'u':
        case 'o':
        case 'x': {
            unsigned long long value = size > 0 ? va_arg(arguments, unsigned long long) : va_arg(arguments, unsigned);
            if (size == -1) value = (unsigned short)value;
            if (size < -1) value = (unsigned char)value;
            const char *prefix = c.letter == 'x' && value && c.flags & OTHER ? c.flags & UPPER ? "0X" : "0x" : "";
            integer(text, &c, value, prefix, c.letter == 'u' ? 10 : c.letter == 'o' ? 8 : 16);
            break;
        }
        case 'p':
            c.precision = -1;
            integer(text, &c, va_arg(arguments, uintptr_t), "0x", 16);
            break;
        case 'c': {
            char value = (char)va_arg(arguments, int);
            string(text, &c, &value, 1);
            break;
        }
        case 's': {
            const char *from = va_arg(arguments, const char *);
            if (!from) from = "(null)";
            string(text, &c, from, c.precision < 0 ? strlen(from) : strnlen(from, c.precision));
            break;
        }
        case 'f':
        case 'e':
        case 'g':
        case 'a':
            real(text, &c, va_arg(arguments, double));
            break;
        case '%':
            put(text, '%');
            break;
        default:
            /* Not known: as it stands. */
            for (; start < format; start++) put(text, *start);
            if (!*format) return;
            put(text, *format);
        }
    }
}

LIBRARY int vsnprintf(char *restrict to, size_t bytes, const char *restrict format, va_list arguments)
{
    struct wave_text text = {to, bytes ? bytes - 1 : 0, 0};
    wave_format(&text, format, arguments);
    if (bytes) to[text.count < bytes ? text.count : bytes - 1] = 0;
    return (int)text.count;
}

LIBRARY int vsprintf(char *restrict to, const char *restrict format, va_list arguments)
{
    return vsnprintf(to, (size_t)-1 - (uintptr_t)to, format, arguments);
}

LIBRARY int snprintf(char *restrict to, size_t bytes, const char *restrict format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int count = vsnprintf(to, bytes, format, arguments);
    va_end(arguments);
    return count;
}

LIBRARY int sprintf(char *restrict to, const char *restrict format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int count = vsprintf(to, format, arguments);
    va_end(arguments);
    return count;
}
