/* Numbers in text, sorting, random numbers, the end of a thread. */
#include "common.h"
#include <ctype.h>
#include <stdlib.h>

LIBRARY div_t div(int a, int b) { return (div_t){a / b, a % b}; }
LIBRARY ldiv_t ldiv(long a, long b) { return (ldiv_t){a / b, a % b}; }
LIBRARY lldiv_t lldiv(long long a, long long b) { return (lldiv_t){a / b, a % b}; }

/* An integer in text: its digits, whether it has a sign, and what is behind it. */
struct number {
    unsigned long long value;
    const char *end;
    char negative, too_large;
};

static struct number number(const char *text, int base, unsigned long long most)
{
    struct number n = {0, text, 0, 0};
    while (isspace((unsigned char)*text)) text++;
    if (*text == '-' || *text == '+') n.negative = *text++ == '-';
    int is_hex = text[0] == '0' && (text[1] | 32) == 'x' && isxdigit((unsigned char)text[2]);
    if (is_hex && (base == 0 || base == 16)) text += 2, base = 16;
    if (base == 0) base = *text == '0' ? 8 : 10;
    for (;; text++) {
        unsigned digit = 99;
        if (isdigit((unsigned char)*text)) digit = *text - '0';
        else if (isalpha((unsigned char)*text)) digit = (*text | 32) - 'a' + 10;
        if (digit >= (unsigned)base) return n;
        if (n.value > (most - digit) / base) n.too_large = 1;
        n.value = n.value * base + digit;
        n.end = text + 1;
    }
}

static unsigned long long in_range(const char *text, char **end, int base, unsigned long long most, int is_signed)
{
    struct number n = number(text, base, most);
    if (end) *end = (char *)n.end;
    if (is_signed) {
        unsigned long long largest = most / 2 + (n.negative != 0);
        if (n.too_large || n.value > largest) n.value = largest;
    } else if (n.too_large) {
        return most;
    }
    return n.negative ? -n.value : n.value;
}

LIBRARY long strtol(const char *restrict text, char **restrict end, int base)
{
    return (long)in_range(text, end, base, 0xffffffff, 1);
}

LIBRARY unsigned long strtoul(const char *restrict text, char **restrict end, int base)
{
    return (unsigned long)in_range(text, end, base, 0xffffffff, 0);
}

LIBRARY long long strtoll(const char *restrict text, char **restrict end, int base)
{
    return (long long)in_range(text, end, base, ~0ull, 1);
}

LIBRARY unsigned long long strtoull(const char *restrict text, char **restrict end, int base)
{
    return in_range(text, end, base, ~0ull, 0);
}

LIBRARY int atoi(const char *text) { return (int)strtol(text, NULL, 10); }
LIBRARY long atol(const char *text) { return strtol(text, NULL, 10); }
LIBRARY long long atoll(const char *text) { return strtoll(text, NULL, 10); }

/* Exchanges two elements. */
static void exchange(char *a, char *b, size_t bytes)
{
    if ((((uintptr_t)a | (uintptr_t)b | bytes) & 3) == 0) {
        typedef unsigned __attribute__((may_alias)) word;
        for (size_t i = 0; i < bytes; i += 4) {
            word held = *(word *)(a + i);
            *(word *)(a + i) = *(word *)(b + i);
            *(word *)(b + i) = held;
        }
        return;
    }
    for (size_t i = 0; i < bytes; i++) {
        char held = a[i];
        a[i] = b[i];
        b[i] = held;
    }
}

/* A heap sort: no recursion, no memory, and no input for which it is slow. */
LIBRARY void qsort(void *base, size_t count, size_t bytes, int (*compare)(const void *, const void *))
{
    char *first = base;
    size_t left = count / 2, end = count;
    while (end > 1) {
        if (left > 0) {
            left--;
        } else {
            end--;
            exchange(first, first + end * bytes, bytes);
        }
        for (size_t root = left, child; (child = 2 * root + 1) < end; root = child) {
            if (child + 1 < end && compare(first + child * bytes, first + (child + 1) * bytes) < 0) child++;
            if (compare(first + root * bytes, first + child * bytes) >= 0) break;
            exchange(first + root * bytes, first + child * bytes, bytes);
        }
    }
}

LIBRARY void *bsearch(const void *key, const void *base, size_t count, size_t bytes,
                      int (*compare)(const void *, const void *))
{
    const char *first = base;
    while (count > 0) {
        const char *middle = first + count / 2 * bytes;
        int order = compare(key, middle);
        if (order == 0) return (void *)middle;
        if (order > 0) first = middle + bytes, count -= count / 2 + 1;
        else count /= 2;
    }
    return NULL;
}

THREAD_VARIABLE(__wave_random)

/* One step of xorshift32, whose result a multiplication mixes. */
OWN unsigned step(unsigned *state)
{
    unsigned x = *state ? *state : 0x9e3779b9;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    *state = x;
    return (x * 0x9e3779bbu) >> 1;
}

LIBRARY int rand(void)
{
    unsigned state = get___wave_random();
    int value = step(&state);
    set___wave_random(state);
    return value;
}

LIBRARY void srand(unsigned seed)
{
    /* Seeds side by side begin far apart. */
    set___wave_random((seed + 1) * 0x9e3779b1u);
}

LIBRARY int rand_r(unsigned *state)
{
    return step(state);
}

LIBRARY void abort(void)
{
    __builtin_trap();
}

LIBRARY void exit(int status)
{
    (void)status;
    __builtin_trap();
}
