// What threads store in shared memory before a barrier, others load behind it, in every turn of a loop: a compiler that takes
// the barrier for something that leaves memory alone drops such loads.
#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>

constexpr int THREADS = 128, STEPS = 9;

// A price at the beginning of a tree out of those at its end, as a binomial model of options has it.
__global__ void backwards(const float *ends, float *prices, int steps)
{
    __shared__ float price[THREADS + 1];
    float mine = ends[threadIdx.x];
    if (threadIdx.x == 0)
        price[THREADS] = 1;
    for (int step = steps; step > 0; step -= 2) {
        price[threadIdx.x] = mine;
        __syncthreads();
        mine = 0.5f * price[threadIdx.x + 1] + 0.25f * mine;
        __syncthreads();
        price[threadIdx.x] = mine;
        ::__syncthreads();
        mine = 0.5f * price[threadIdx.x + 1] + 0.25f * mine;
        __syncthreads();
    }
    prices[threadIdx.x] = mine;
}

// The same with barriers that also count, and a sum of what they have counted.
__global__ void counts(int *sums)
{
    __shared__ int next[THREADS];
    int mine = threadIdx.x, sum = 0;
    for (int turn = 0; turn < STEPS; turn++) {
        next[threadIdx.x] = mine;
        sum += __syncthreads_count(mine & 1);
        mine = next[(threadIdx.x + 1) % THREADS];
        sum += __syncthreads_or(mine == turn) + 2 * __syncthreads_and(mine < THREADS);
        next[threadIdx.x] = mine + THREADS;
        __syncthreads();
        mine = next[(threadIdx.x + 1) % THREADS] - THREADS;
        __syncthreads();
    }
    sums[threadIdx.x] = sum + 1000 * mine;
}

int main()
{
    float ends[THREADS], prices[THREADS], expected[THREADS + 1], *device_ends, *device_prices;
    for (int i = 0; i < THREADS; i++)
        expected[i] = ends[i] = (i * 37 % 101) / 8.0f;
    cudaMalloc(&device_ends, sizeof ends);
    cudaMalloc(&device_prices, sizeof prices);
    cudaMemcpy(device_ends, ends, sizeof ends, cudaMemcpyHostToDevice);
    backwards<<<1, THREADS>>>(device_ends, device_prices, STEPS);
    cudaMemcpy(prices, device_prices, sizeof prices, cudaMemcpyDeviceToHost);
    expected[THREADS] = 1;
    // Two turns of the tree for each of the loop.
    for (int turn = 0; turn < STEPS + 1; turn++)
        for (int i = 0; i < THREADS; i++)
            expected[i] = fmaf(0.25f, expected[i], 0.5f * expected[i + 1]);
    bool right = true;
    for (int i = 0; i < THREADS; i++)
        right = right && fabsf(prices[i] - expected[i]) <= 1e-5f * expected[i];

    int *device_sums, sums[THREADS];
    cudaMalloc(&device_sums, sizeof sums);
    counts<<<1, THREADS>>>(device_sums);
    cudaMemcpy(sums, device_sums, sizeof sums, cudaMemcpyDeviceToHost);
    for (int i = 0; i < THREADS; i++) {
        // Half of the threads have an odd number in each turn, one has that of the turn, and all are below THREADS.
        int wanted = STEPS * (THREADS / 2 + 1 + 2) + 1000 * ((i + 2 * STEPS) % THREADS);
        if (sums[i] != wanted) {
            printf("thread %d has %d, not %d\n", i, sums[i], wanted);
            right = false;
        }
    }
    printf("%s: barriers\n", right ? "PASSED" : "FAILED");
    return right ? 0 : 1;
}
