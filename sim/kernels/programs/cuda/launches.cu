// Launches an empty kernel again and again: what a launch costs, on the simulated machine and on its host. The argument is
// the number of launches, 1000 where there is none.
#include <cstdio>
#include <cstdlib>

__global__ void nothing() {}

__global__ void count(unsigned *launches) { *launches += 1; }

int main(int argc, char **argv)
{
    int launches = argc > 1 ? atoi(argv[1]) : 1000;
    unsigned *device, counted = 0;
    cudaMalloc(&device, sizeof counted);
    cudaMemset(device, 0, sizeof counted);
    for (int i = 0; i < launches; i++)
        nothing<<<1, 32>>>();
    // The last ones leave a trace, so that the program can tell whether they ran.
    for (int i = 0; i < 10; i++)
        count<<<1, 1>>>(device);
    cudaError_t ended = cudaDeviceSynchronize();
    cudaMemcpy(&counted, device, sizeof counted, cudaMemcpyDeviceToHost);
    bool right = ended == cudaSuccess && counted == 10;
    printf("%s: %d launches\n", right ? "PASSED" : "FAILED", launches);
    return right ? 0 : 1;
}
