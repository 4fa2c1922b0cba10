// The cheapest way through a grid from the first row to each place of the last: a step goes down, straight or to a side.
// A launch does several rows; the workgroups' parts overlap by as many places on each side.
#define THREADS 256
__global__ void pathfinder(const int *walls, const int *before, int *after, int columns, int first_row, int rows) {
    __shared__ int costs[2][THREADS];
    int tx = threadIdx.x, inner = THREADS - 2 * rows;
    int column = (int)blockIdx.x * inner + tx - rows;
    bool is_column = column >= 0 && column < columns;
    if (is_column) costs[0][tx] = before[column];
    __syncthreads();
    int left = column > 0 ? tx - 1 : tx, right = column < columns - 1 ? tx + 1 : tx;
    for (int row = 0; row < rows; row++) {
        if (is_column && tx > row && tx < THREADS - 1 - row) {
            const int *now = costs[row & 1];
            int least = min(min(now[left], now[tx]), now[right]);
            costs[~row & 1][tx] = least + walls[(first_row + row) * columns + column];
        }
        __syncthreads();
    }
    if (is_column && tx >= rows && tx < THREADS - rows) after[column] = costs[rows & 1][tx];
}
