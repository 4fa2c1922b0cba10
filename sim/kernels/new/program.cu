// A CUDA program: y = a x + y on the device, and the same on the host.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void saxpy(int n, float a, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}

int main()
{
    const int n = 4096;
    const size_t bytes = n * sizeof(float);
    static float x[n], y[n], result[n];
    for (int i = 0; i < n; i++) {
        x[i] = i;
        y[i] = n - i;
    }
    float *device_x, *device_y;
    cudaMalloc(&device_x, bytes);
    cudaMalloc(&device_y, bytes);
    cudaMemcpy(device_x, x, bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(device_y, y, bytes, cudaMemcpyHostToDevice);
    saxpy<<<n / 256, 256>>>(n, 2.0f, device_x, device_y);
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        printf("FAILED: %s\n", cudaGetErrorString(error));
        return 1;
    }
    cudaMemcpy(result, device_y, bytes, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++)
        if (result[i] != 2.0f * x[i] + y[i]) {
            printf("FAILED: y[%d] is %g\n", i, result[i]);
            return 1;
        }
    printf("PASSED\n");
    return 0;
}
