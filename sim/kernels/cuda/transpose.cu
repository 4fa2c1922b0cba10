// The transpose of a matrix by way of tiles in shared memory, padded against bank conflicts.
#define TILE 32
__global__ void transpose(const unsigned *matrix, unsigned *transposed, int width, int height) {
    __shared__ unsigned tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int row = 0; row < TILE; row += blockDim.y) tile[threadIdx.y + row][threadIdx.x] = matrix[(y + row) * width + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int row = 0; row < TILE; row += blockDim.y)
        transposed[(y + row) * height + x] = tile[threadIdx.x][threadIdx.y + row];
}
