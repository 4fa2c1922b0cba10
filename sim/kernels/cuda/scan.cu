// Exclusive prefix sums in three launches: blocks by shuffles, sums of blocks, offsets of blocks.
#define BLOCK 256

__device__ unsigned warp_scan(unsigned value) {
    for (int by = 1; by < 32; by *= 2) {
        unsigned below = __shfl_up_sync(0xffffffffu, value, by);
        if (threadIdx.x % 32 >= by) value += below;
    }
    return value;
}

// Sums within a block of 1024 values, and the sum of the block.
__global__ void scan_blocks(const unsigned *values, unsigned *scanned, unsigned *sums, int n) {
    __shared__ unsigned of_warps[BLOCK / 32];
    int first = (blockIdx.x * BLOCK + threadIdx.x) * 4;
    unsigned own[4], sum = 0;
    for (int i = 0; i < 4; i++) {
        own[i] = first + i < n ? values[first + i] : 0;
        sum += own[i];
    }
    unsigned up_to = warp_scan(sum);
    if (threadIdx.x % 32 == 31) of_warps[threadIdx.x / 32] = up_to;
    __syncthreads();
    unsigned before = 0, all = 0;
    for (int warp = 0; warp < BLOCK / 32; warp++) {
        before += warp < threadIdx.x / 32 ? of_warps[warp] : 0;
        all += of_warps[warp];
    }
    before += up_to - sum;
    for (int i = 0; i < 4; i++) {
        if (first + i < n) scanned[first + i] = before;
        before += own[i];
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = all;
}

__global__ void add_offsets(unsigned *scanned, const unsigned *offsets, int n) {
    int first = (blockIdx.x * BLOCK + threadIdx.x) * 4;
    for (int i = first; i < first + 4 && i < n; i++) scanned[i] += offsets[blockIdx.x];
}
