/* What compiled code calls without being asked. */
#include "common.h"
typedef uintptr_t address;
typedef unsigned __attribute__((may_alias)) word;

/* Words where both ends are words, so that a copy of a structure takes a quarter of the accesses. */
static int in_words(const void *a, const void *b, size_t bytes)
{
    return (((address)a | (address)b | bytes) & 3) == 0;
}

LIBRARY void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
    if (in_words(to, from, bytes)) {
        for (size_t i = 0; i < bytes / 4; i++) ((word *)to)[i] = ((const word *)from)[i];
    } else {
        for (size_t i = 0; i < bytes; i++) ((char *)to)[i] = ((const char *)from)[i];
    }
    return to;
}

LIBRARY void *memmove(void *to, const void *from, size_t bytes)
{
    if ((address)to - (address)from >= bytes) return memcpy(to, from, bytes);
    for (size_t i = bytes; i > 0; i--) ((char *)to)[i - 1] = ((const char *)from)[i - 1];
    return to;
}

LIBRARY void *memset(void *to, int value, size_t bytes)
{
    if (in_words(to, to, bytes)) {
        unsigned word_value = (unsigned char)value * 0x01010101u;
        for (size_t i = 0; i < bytes / 4; i++) ((word *)to)[i] = word_value;
    } else {
        for (size_t i = 0; i < bytes; i++) ((char *)to)[i] = (char)value;
    }
    return to;
}

LIBRARY int memcmp(const void *a, const void *b, size_t bytes)
{
    const unsigned char *x = a, *y = b;
    for (size_t i = 0; i < bytes; i++)
        if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
    return 0;
}

LIBRARY int bcmp(const void *a, const void *b, size_t bytes)
{
    return memcmp(a, b, bytes);
}
