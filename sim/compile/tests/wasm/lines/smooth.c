/* A kernel with functions of a header, and with one of its own that is inlined. */
#include "clamp.h"

__attribute__((import_module("wave"), import_name("thread_id_x"))) unsigned thread(void);

#define TWICE(x) ((x) + (x))

float unused(float value) {
    return value * 17.0f;
}

static inline float *at(float *values, unsigned index) {
    return values + TWICE(index);
}

__attribute__((export_name("smooth"))) void smooth(float *values, float low, float high) {
    unsigned index = thread();
    float *place = at(values, index);
    float value = clamped(*place, low, high);
    value = value + slope(low, value);
    for (unsigned turn = 0; turn < index; turn++)
        value = least(value * value,
                      low);
    *place = value;
}
