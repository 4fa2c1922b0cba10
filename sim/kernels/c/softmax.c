/* Softmax of each row of an f32 matrix: exp(x - m) / sum of exp(x - m), m the largest x of the row. One workgroup a row.
   The row stays in local memory between the passes; maximum and sum go across a wave with shuffles and across the
   workgroup through local memory. */
#include <wave.h>

#define MOST_COLUMNS 2048
#define MOST_WAVES 256

struct shared {
    float row[MOST_COLUMNS];
    float maxima[MOST_WAVES];
    float sums[MOST_WAVES];
};
KERNEL_LOCAL_MEMORY(softmax, sizeof(struct shared));
KERNEL_WORKGROUP(softmax, 128, 1, 1);

/* Grid: x = rows. The workgroup is a multiple of the wave width, so that every lane of a wave takes part. */
KERNEL void softmax(const float *scores, float *weights, unsigned columns)
{
    LOCAL struct shared *shared = LOCAL_MEMORY(struct shared);
    unsigned t = thread_id_x(), size = workgroup_size_x(), wave = wave_wave_id(), waves = wave_num_waves();
    unsigned half = wave_wave_width() / 2, lane = lane_id();
    scores += workgroup_id_x() * columns;
    weights += workgroup_id_x() * columns;

    float largest = -__builtin_inff();
#pragma unroll 1
    for (unsigned i = t; i < columns; i += size) {
        float x = scores[i];
        local_store(&shared->row[i], x);
        largest = fmaxf(largest, x);
    }
#pragma unroll 1
    for (unsigned distance = half; distance > 0; distance /= 2)
        largest = fmaxf(largest, wave_shuffle_xor(largest, distance));
    if (lane == 0) local_store(&shared->maxima[wave], largest);
    barrier();
#pragma unroll 1
    for (unsigned i = 0; i < waves; i++) largest = fmaxf(largest, local_load(&shared->maxima[i]));

    float sum = 0;
#pragma unroll 1
    for (unsigned i = t; i < columns; i += size) {
        float x = exp2f((local_load(&shared->row[i]) - largest) * 1.4426950408889634f);
        local_store(&shared->row[i], x);
        sum += x;
    }
#pragma unroll 1
    for (unsigned distance = half; distance > 0; distance /= 2) sum += wave_shuffle_xor(sum, distance);
    if (lane == 0) local_store(&shared->sums[wave], sum);
    barrier();
    sum = 0;
#pragma unroll 1
    for (unsigned i = 0; i < waves; i++) sum += local_load(&shared->sums[i]);

    float scale = rcpf(sum);
#pragma unroll 1
    for (unsigned i = t; i < columns; i += size) weights[i] = local_load(&shared->row[i]) * scale;
}
