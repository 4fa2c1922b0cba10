// A sparse matrix in compressed rows times a vector, a thread for each row.
__global__ void spmv(const unsigned *offsets, const unsigned *columns, const float *values, const float *x, float *y,
                     int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0.0f;
    for (unsigned at = offsets[row]; at < offsets[row + 1]; at++) sum = fmaf(values[at], x[columns[at]], sum);
    y[row] = sum;
}
