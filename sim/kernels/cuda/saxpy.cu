// y = factor * x + y.
__global__ void saxpy(int n, float factor, const float *x, float *y) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        y[i] = factor * x[i] + y[i];
    }
}
