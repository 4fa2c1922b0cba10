// The sum of many integers: in registers, in shared memory, and by one atomic addition of each block.
__global__ void reduction(const unsigned *values, unsigned *result, int n) {
    __shared__ unsigned sums[256];
    unsigned sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += values[i];
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(result, sums[0]);
}
