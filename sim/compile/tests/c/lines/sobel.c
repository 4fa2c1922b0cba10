// The filter is computed in front of the branch that takes it.
#include <wave.h>

KERNEL void sobel(const float *in, float *out, unsigned *count, int width, int height, float limit) {
    int x = (int)global_id_x();
    int y = (int)global_id_y();
    int left = x > 0 ? x - 1 : 0, right = x < width - 1 ? x + 1 : x;
    int above = y > 0 ? y - 1 : 0, below = y < height - 1 ? y + 1 : y;
    float a = in[above * width + left], b = in[above * width + x], c = in[above * width + right];
    float d = in[y * width + left], f = in[y * width + right];
    float g = in[below * width + left], h = in[below * width + x], i = in[below * width + right];
    float gx = c - a
             + 2.0f * (f - d)
             + i - g;
    float gy = g - a
             + 2.0f * (h - b)
             + i - c;
    float magnitude = sqrtf(gx * gx + gy * gy);
    if (x < width && y < height) {
        out[y * width + x] = magnitude;
        atomic_add(count, magnitude > limit);
    }
}
