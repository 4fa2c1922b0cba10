// The dot product of two f64 vectors: in registers, by shuffles, in shared memory, and by atomic additions.
__global__ void dot(const double *x, const double *y, double *result, int n) {
    __shared__ double sums[8];
    double sum = 0.0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum = fma(x[i], y[i], sum);
    for (int by = 16; by > 0; by /= 2) sum += __shfl_down_sync(0xffffffffu, sum, by);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int warp = 1; warp < blockDim.x / 32; warp++) sum += sums[warp];
        atomicAdd(result, sum);
    }
}
