// Softmax of each row, a warp for each row: the maximum and the sum by shuffles.
__global__ void softmax(const float *scores, float *weights, int rows, int columns) {
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    const float *from = scores + (size_t)row * columns;
    float *into = weights + (size_t)row * columns;
    float most = -__builtin_huge_valf();
    for (int column = lane; column < columns; column += 32) most = fmaxf(most, from[column]);
    for (int by = 16; by > 0; by /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, by));
    float sum = 0.0f;
    for (int column = lane; column < columns; column += 32) sum += __expf(from[column] - most);
    for (int by = 16; by > 0; by /= 2) sum += __shfl_down_sync(0xffffffffu, sum, by);
    sum = __shfl_sync(0xffffffffu, sum, 0);
    float scale = 1.0f / sum;
    for (int column = lane; column < columns; column += 32) into[column] = __expf(from[column] - most) * scale;
}
