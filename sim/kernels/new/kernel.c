/* y = a x + y, one element a thread. */
#include <wave.h>

KERNEL_WORKGROUP(saxpy, 128, 1, 1);

KERNEL void saxpy(const float *x, float *y, float a, unsigned n)
{
    unsigned i = global_id_x();
    /* The last workgroup may reach past the end. */
    if (i >= n) return;
    y[i] = fmaf(a, x[i], y[i]);
}
