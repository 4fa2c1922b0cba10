/* Fast Fourier transform of rows of 256 complex numbers, one workgroup a row: eight steps of butterflies in local memory,
   from one buffer to the other and back, so that the result comes out in order (Stockham's form). */
#include <wave.h>

#define POINTS 256
#define PI 3.14159265f

struct buffers {
    float2 at[2][POINTS];
};
KERNEL_LOCAL_MEMORY(fft, sizeof(struct buffers));
KERNEL_WORKGROUP(fft, POINTS / 2, 1, 1);

/* Grid: x = rows. A complex number is its real and then its imaginary part. */
KERNEL void fft(const float2 *in, float2 *out)
{
    LOCAL struct buffers *buffers = LOCAL_MEMORY(struct buffers);
    unsigned t = thread_id_x(), now = 0;
    in += workgroup_id_x() * POINTS;
    out += workgroup_id_x() * POINTS;
    local_store(&buffers->at[0][t], in[t]);
    local_store(&buffers->at[0][t + POINTS / 2], in[t + POINTS / 2]);
#pragma unroll 1
    for (unsigned half = 1; half < POINTS; half *= 2) {
        barrier();
        unsigned inside = t & (half - 1);
        float angle = -PI * (float)inside / (float)half;
        float turn_real = cosf(angle), turn_imaginary = sinf(angle);
        float2 a = local_load(&buffers->at[now][t]), b = local_load(&buffers->at[now][t + POINTS / 2]);
        float real = fmaf(b.x, turn_real, -b.y * turn_imaginary);
        float imaginary = fmaf(b.x, turn_imaginary, b.y * turn_real);
        unsigned to = 2 * t - inside;
        now ^= 1;
        local_store(&buffers->at[now][to], (float2){a.x + real, a.y + imaginary});
        local_store(&buffers->at[now][to + half], (float2){a.x - real, a.y - imaginary});
    }
    barrier();
    out[t] = local_load(&buffers->at[now][t]);
    out[t + POINTS / 2] = local_load(&buffers->at[now][t + POINTS / 2]);
}
