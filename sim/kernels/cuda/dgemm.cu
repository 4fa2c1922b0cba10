// C = A B in f64, a value of C for each thread.
__global__ void dgemm(const double *a, const double *b, double *c, int n, int k) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    double sum = 0.0;
    for (int i = 0; i < k; i++) sum = fma(a[row * k + i], b[i * n + column], sum);
    c[row * n + column] = sum;
}
