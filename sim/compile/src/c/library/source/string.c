/* Strings. */
#include "common.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

LIBRARY void *memchr(const void *in, int value, size_t bytes)
{
    const unsigned char *at = in;
    for (; bytes > 0; at++, bytes--)
        if (*at == (unsigned char)value) return (void *)at;
    return NULL;
}

LIBRARY size_t strlen(const char *text)
{
    const char *end = text;
    while (*end) end++;
    return end - text;
}

LIBRARY size_t strnlen(const char *text, size_t most)
{
    size_t length = 0;
    while (length < most && text[length]) length++;
    return length;
}

LIBRARY int strcmp(const char *a, const char *b)
{
    while (*a && *a == *b) a++, b++;
    return (unsigned char)*a - (unsigned char)*b;
}

LIBRARY int strncmp(const char *a, const char *b, size_t most)
{
    for (; most > 0; a++, b++, most--)
        if (*a != *b || !*a) return (unsigned char)*a - (unsigned char)*b;
    return 0;
}

LIBRARY int strcoll(const char *a, const char *b)
{
    return strcmp(a, b);
}

LIBRARY int strcasecmp(const char *a, const char *b)
{
    while (*a && tolower((unsigned char)*a) == tolower((unsigned char)*b)) a++, b++;
    return tolower((unsigned char)*a) - tolower((unsigned char)*b);
}

LIBRARY int strncasecmp(const char *a, const char *b, size_t most)
{
    for (; most > 0; a++, b++, most--) {
        int x = tolower((unsigned char)*a), y = tolower((unsigned char)*b);
        if (x != y || !x) return x - y;
    }
    return 0;
}

LIBRARY char *stpcpy(char *restrict to, const char *restrict from)
{
    while ((*to = *from)) to++, from++;
    return to;
}

LIBRARY char *strcpy(char *restrict to, const char *restrict from)
{
    stpcpy(to, from);
    return to;
}

LIBRARY char *strncpy(char *restrict to, const char *restrict from, size_t bytes)
{
    size_t i = 0;
    for (; i < bytes && from[i]; i++) to[i] = from[i];
    for (; i < bytes; i++) to[i] = 0;
    return to;
}

LIBRARY char *strcat(char *restrict to, const char *restrict from)
{
    stpcpy(to + strlen(to), from);
    return to;
}

LIBRARY char *strncat(char *restrict to, const char *restrict from, size_t most)
{
    char *end = to + strlen(to);
    for (; most > 0 && *from; most--) *end++ = *from++;
    *end = 0;
    return to;
}

LIBRARY char *strchr(const char *text, int value)
{
    for (;; text++) {
        if (*text == (char)value) return (char *)text;
        if (!*text) return NULL;
    }
}

LIBRARY char *strrchr(const char *text, int value)
{
    const char *found = NULL;
    for (;; text++) {
        if (*text == (char)value) found = text;
        if (!*text) return (char *)found;
    }
}

LIBRARY char *strstr(const char *text, const char *part)
{
    size_t length = strlen(part);
    for (; strncmp(text, part, length) != 0; text++)
        if (!*text) return NULL;
    return (char *)text;
}

LIBRARY size_t strspn(const char *text, const char *accepted)
{
    size_t length = 0;
    while (text[length] && strchr(accepted, text[length])) length++;
    return length;
}

LIBRARY size_t strcspn(const char *text, const char *rejected)
{
    size_t length = 0;
    while (text[length] && !strchr(rejected, text[length])) length++;
    return length;
}

LIBRARY char *strpbrk(const char *text, const char *accepted)
{
    text += strcspn(text, accepted);
    return *text ? (char *)text : NULL;
}

LIBRARY char *strtok_r(char *restrict text, const char *restrict separators, char **restrict rest)
{
    if (!text) text = *rest;
    text += strspn(text, separators);
    *rest = text;
    if (!*text) return NULL;
    char *end = text + strcspn(text, separators);
    *rest = *end ? end + 1 : end;
    *end = 0;
    return text;
}

LIBRARY char *strdup(const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = malloc(bytes);
    return copy ? memcpy(copy, text, bytes) : NULL;
}
