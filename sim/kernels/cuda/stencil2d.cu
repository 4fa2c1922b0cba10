// A Jacobi step: each value becomes the mean of its four neighbours; the border stays. The grid is read by way of a tile
// with a halo in shared memory.
#define X 32
#define Y 8
__global__ void jacobi(const float *from, float *into, int width, int height) {
    __shared__ float tile[Y + 2][X + 2];
    int x = blockIdx.x * X + threadIdx.x, y = blockIdx.y * Y + threadIdx.y;
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    int at = y * width + x;
    tile[ty][tx] = from[at];
    if (threadIdx.x == 0 && x > 0) tile[ty][0] = from[at - 1];
    if (threadIdx.x == X - 1 && x + 1 < width) tile[ty][X + 1] = from[at + 1];
    if (threadIdx.y == 0 && y > 0) tile[0][tx] = from[at - width];
    if (threadIdx.y == Y - 1 && y + 1 < height) tile[Y + 1][tx] = from[at + width];
    __syncthreads();
    bool is_inside = x > 0 && x + 1 < width && y > 0 && y + 1 < height;
    float sum = (tile[ty][tx - 1] + tile[ty][tx + 1]) + (tile[ty - 1][tx] + tile[ty + 1][tx]);
    into[at] = is_inside ? sum * 0.25f : tile[ty][tx];
}
