/* y = a x + y in f32, four elements at a time, in a grid-stride loop: the grid may have any size. n is a multiple of 4. */
#include <wave.h>

KERNEL_WORKGROUP(saxpy, 256, 1, 1);

KERNEL void saxpy(const float4 *x, float4 *y, float a, unsigned n)
{
    unsigned threads = global_size_x();
    for (unsigned i = global_id_x(); i < n / 4; i += threads) {
        float4 u = x[i], v = y[i];
        v.x = fmaf(a, u.x, v.x);
        v.y = fmaf(a, u.y, v.y);
        v.z = fmaf(a, u.z, v.z);
        v.w = fmaf(a, u.w, v.w);
        y[i] = v;
    }
}
