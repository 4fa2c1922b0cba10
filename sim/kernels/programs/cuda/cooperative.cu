// A grid whose workgroups wait for one another: each phase reads what another workgroup has written in the one before. A
// grid that does not fit on the device is refused.
#include <cooperative_groups.h>
#include <cstdio>

namespace cg = cooperative_groups;

static const int phases = 5, blocks = 6, threads = 64;

__global__ void rotate(int *values, int *others)
{
    cg::grid_group grid = cg::this_grid();
    int all = grid.size(), self = grid.thread_rank();
    for (int phase = 0; phase < phases; phase++) {
        int from = (self + threads) % all;
        others[self] = values[from] + 1;
        grid.sync();
        int *swap = values;
        values = others;
        others = swap;
    }
}

int main()
{
    const int all = blocks * threads;
    int *values, *others, h[all], wrong = 0;
    for (int i = 0; i < all; i++)
        h[i] = 1000 * i;
    cudaMalloc(&values, sizeof h);
    cudaMalloc(&others, sizeof h);
    cudaMemcpy(values, h, sizeof h, cudaMemcpyHostToDevice);
    void *arguments[] = {&values, &others};
    // Twice: the barrier is as new after a launch.
    for (int i = 0; i < 2; i++) {
        cudaError_t code = cudaLaunchCooperativeKernel((const void *)rotate, dim3(blocks), dim3(threads), arguments, 0, 0);
        if (code != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess) {
            printf("FAILED: launch %d: %s\n", i, cudaGetErrorName(code));
            return 1;
        }
        int *swap = values;
        values = others;
        others = swap;
    }
    cudaMemcpy(h, values, sizeof h, cudaMemcpyDeviceToHost);
    for (int i = 0; i < all; i++)
        wrong += h[i] != 1000 * ((i + 2 * phases * threads) % all) + 2 * phases;
    cudaError_t large = cudaLaunchCooperativeKernel((const void *)rotate, dim3(1 << 20), dim3(threads), arguments, 0, 0);
    if (large != cudaErrorCooperativeLaunchTooLarge) {
        printf("FAILED: a grid that is too large: %s\n", cudaGetErrorName(large));
        return 1;
    }
    printf("%s: %d wrong\n", wrong ? "FAILED" : "PASSED", wrong);
    return wrong != 0;
}
