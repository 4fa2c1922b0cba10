// C = A B by tiles in shared memory, a value of C for each thread.
#define TILE 16
__global__ void sgemm(const float *a, const float *b, float *c, int n, int k) {
    __shared__ float left[TILE][TILE], right[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int at = 0; at < k; at += TILE) {
        left[threadIdx.y][threadIdx.x] = a[row * k + at + threadIdx.x];
        right[threadIdx.y][threadIdx.x] = b[(at + threadIdx.y) * n + column];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < TILE; i++) sum = fmaf(left[threadIdx.y][i], right[i][threadIdx.x], sum);
        __syncthreads();
    }
    c[row * n + column] = sum;
}
