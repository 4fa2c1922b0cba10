// How often each byte occurs: one histogram of each block in dynamic shared memory, added up by device atomics.
__global__ void histogram(const unsigned char *data, unsigned *bins, int n) {
    extern __shared__ unsigned local[];
    for (int bin = threadIdx.x; bin < 256; bin += blockDim.x) local[bin] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&local[data[i]], 1u);
    __syncthreads();
    for (int bin = threadIdx.x; bin < 256; bin += blockDim.x) atomicAdd(&bins[bin], local[bin]);
}
