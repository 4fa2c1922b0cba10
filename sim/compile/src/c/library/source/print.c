/* Text that threads print. Each call makes a record in a buffer that all threads share. The host sorts the records by
   workgroup and thread; those of a thread are in the order of its calls. */
#include "format.h"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wave.h>

#ifndef WAVE_OUTPUT_BYTES
#define WAVE_OUTPUT_BYTES (256 * 1024)
#endif

/* No text begins so. */
#define RECORD 0xfef8c1aau

struct record {
    unsigned mark, workgroup, thread, bytes;
};

/* The host reads it. */
__attribute__((visibility("default"), used)) struct {
    /* Bytes that were asked for, calls that found no room, bytes that there are. */
    unsigned next, lost, bytes, unused;
    unsigned char records[(WAVE_OUTPUT_BYTES + 15) / 16 * 16];
} __wave_output = {0, 0, (WAVE_OUTPUT_BYTES + 15) / 16 * 16, 0, {0}};

/* Room for so many bytes of text; NULL if there is none, or no text. */
static char *record(size_t bytes)
{
    unsigned size = sizeof(struct record) + ((bytes + 3) & ~3u), at = __wave_output.bytes;
    if (bytes == 0) return NULL;
    /* What is full stays so, and its count does not wrap. */
    if (bytes < __wave_output.bytes && __atomic_load_n(&__wave_output.next, __ATOMIC_RELAXED) < __wave_output.bytes)
        at = __atomic_fetch_add(&__wave_output.next, size, __ATOMIC_RELAXED);
    if (at > __wave_output.bytes - size || size > __wave_output.bytes) {
        __atomic_fetch_add(&__wave_output.lost, 1, __ATOMIC_RELAXED);
        return NULL;
    }
    struct record *record = (struct record *)(__wave_output.records + at);
    unsigned x = workgroup_size_x(), y = workgroup_size_y();
    record->workgroup = workgroup_id_x() + grid_size_x() * (workgroup_id_y() + grid_size_y() * workgroup_id_z());
    record->thread = thread_id_x() + x * (thread_id_y() + y * thread_id_z());
    record->bytes = bytes;
    record->mark = RECORD;
    return (char *)(record + 1);
}

static int print(const char *text, size_t bytes)
{
    char *to = record(bytes);
    if (to) memcpy(to, text, bytes);
    return (int)bytes;
}

LIBRARY int vprintf(const char *restrict format, va_list arguments)
{
    /* Most lines are short, and are made once. */
    char line[96];
    struct wave_text text = {line, sizeof line, 0};
    va_list again;
    va_copy(again, arguments);
    wave_format(&text, format, arguments);
    if (text.count <= sizeof line) {
        print(line, text.count);
    } else {
        struct wave_text all = {record(text.count), text.count, 0};
        if (all.to) wave_format(&all, format, again);
    }
    va_end(again);
    return (int)text.count;
}

LIBRARY int vfprintf(FILE *restrict file, const char *restrict format, va_list arguments)
{
    (void)file;
    return vprintf(format, arguments);
}

LIBRARY int printf(const char *restrict format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int count = vprintf(format, arguments);
    va_end(arguments);
    return count;
}

LIBRARY int fprintf(FILE *restrict file, const char *restrict format, ...)
{
    (void)file;
    va_list arguments;
    va_start(arguments, format);
    int count = vprintf(format, arguments);
    va_end(arguments);
    return count;
}

LIBRARY int putchar(int c)
{
    char text = (char)c;
    print(&text, 1);
    return (unsigned char)c;
}

LIBRARY int putc(int c, FILE *file)
{
    (void)file;
    return putchar(c);
}

LIBRARY int fputc(int c, FILE *file)
{
    (void)file;
    return putchar(c);
}

LIBRARY int fputs(const char *restrict text, FILE *restrict file)
{
    (void)file;
    return print(text, strlen(text));
}

LIBRARY int puts(const char *text)
{
    size_t bytes = strlen(text);
    char *to = record(bytes + 1);
    if (to) {
        memcpy(to, text, bytes);
        to[bytes] = '\n';
    }
    return (int)bytes + 1;
}

LIBRARY size_t fwrite(const void *restrict from, size_t bytes, size_t count, FILE *restrict file)
{
    (void)file;
    print(from, bytes * count);
    return count;
}

LIBRARY int fflush(FILE *file)
{
    (void)file;
    return 0;
}

LIBRARY void perror(const char *text)
{
    puts(text);
}

LIBRARY void wave_assertion(const char *condition, const char *file, int line, const char *function)
{
    printf("%s:%d: %s: assertion `%s` failed\n", file, line, function, condition);
    __builtin_trap();
}
