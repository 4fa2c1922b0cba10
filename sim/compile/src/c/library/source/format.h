/* Text that is made piece by piece. */
#ifndef WAVE_FORMAT_H
#define WAVE_FORMAT_H
#include "common.h"
#include <stdarg.h>

/* Where text goes: as much as there is room for. All of it is counted. */
struct wave_text {
    char *to;
    size_t room, count;
};

void wave_format(struct wave_text *text, const char *format, va_list arguments);
#endif
