/* Functions of a header: one that is inlined, one that calls it, and one that stays a function. */
static inline float least(float value, float bound) {
    if (value < bound)
        return bound;
    return value;
}

static inline float clamped(float value, float low, float high) {
    float raised = least(value, low);
    return raised > high ? high : raised;
}

__attribute__((noinline)) static float slope(float from, float to) {
    float step = to - from;
    return step / 3.0f;
}
