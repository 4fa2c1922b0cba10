/* A small neural network: 16 inputs, a hidden layer of 32 with ReLU, 8 outputs. One sample a thread; the weights are in
   local memory, where all threads read the same word at once. */
#include <wave.h>

#define INPUTS 16
#define HIDDEN 32
#define OUTPUTS 8

struct network {
    float first[HIDDEN][INPUTS], first_bias[HIDDEN];
    float second[HIDDEN][OUTPUTS], second_bias[OUTPUTS];
};
KERNEL_LOCAL_MEMORY(mlp, sizeof(struct network));
KERNEL_WORKGROUP(mlp, 128, 1, 1);

/* The weights are row-major, a row for each input of the layer. */
KERNEL void mlp(const float *samples, const float *first, const float *first_bias, const float *second,
                const float *second_bias, float *results, unsigned count)
{
    LOCAL struct network *network = LOCAL_MEMORY(struct network);
    unsigned t = thread_id_x(), size = workgroup_size_x();
    for (unsigned i = t; i < INPUTS * HIDDEN; i += size)
        local_store(&network->first[i % HIDDEN][i / HIDDEN], first[i]);
    for (unsigned i = t; i < HIDDEN * OUTPUTS; i += size)
        local_store(&network->second[i / OUTPUTS][i % OUTPUTS], second[i]);
    if (t < HIDDEN) local_store(&network->first_bias[t], first_bias[t]);
    if (t < OUTPUTS) local_store(&network->second_bias[t], second_bias[t]);
    barrier();

    unsigned sample = global_id_x();
    if (sample >= count) return;
    float input[INPUTS], output[OUTPUTS];
#pragma unroll
    for (unsigned i = 0; i < INPUTS; i++) input[i] = samples[sample * INPUTS + i];
#pragma unroll
    for (unsigned i = 0; i < OUTPUTS; i++) output[i] = local_load(&network->second_bias[i]);
#pragma unroll 1
    for (unsigned h = 0; h < HIDDEN; h++) {
        float sum = local_load(&network->first_bias[h]);
#pragma unroll
        for (unsigned i = 0; i < INPUTS; i++) sum = fmaf(input[i], local_load(&network->first[h][i]), sum);
        sum = fmaxf(sum, 0.0f);
#pragma unroll
        for (unsigned i = 0; i < OUTPUTS; i++) output[i] = fmaf(sum, local_load(&network->second[h][i]), output[i]);
    }
#pragma unroll
    for (unsigned i = 0; i < OUTPUTS; i++) results[sample * OUTPUTS + i] = output[i];
}
