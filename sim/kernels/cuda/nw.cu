// Needleman and Wunsch's alignment of two sequences: a score needs those above, to the left and between. Tiles on one
// diagonal of the table are independent, and in a tile the places on one diagonal. A launch does a diagonal of tiles, a warp
// a tile.
#define TILE 32
__global__ void nw(const int *a, const int *b, int *scores, int length, int diagonal, int first, int gap, int match,
                   int mismatch) {
    __shared__ int tile[TILE + 1][TILE + 1];
    __shared__ int letters[TILE];
    int tx = threadIdx.x, width = length + 1;
    int tile_row = first + blockIdx.x, tile_column = diagonal - tile_row;
    int row = tile_row * TILE, column = tile_column * TILE;
    // The row above and the column to the left are there.
    tile[0][tx + 1] = scores[row * width + column + tx + 1];
    tile[tx + 1][0] = scores[(row + tx + 1) * width + column];
    if (tx == 0) tile[0][0] = scores[row * width + column];
    letters[tx] = a[row + tx];
    int letter = b[column + tx];
    __syncthreads();
    for (int step = 0; step < 2 * TILE - 1; step++) {
        int r = step - tx;
        if (r >= 0 && r < TILE) {
            int between = tile[r][tx] + (letters[r] == letter ? match : mismatch);
            int above = tile[r][tx + 1] - gap, left = tile[r + 1][tx] - gap;
            tile[r + 1][tx + 1] = max(between, max(above, left));
        }
        __syncthreads();
    }
    for (int r = 0; r < TILE; r++) scores[(row + r + 1) * width + column + tx + 1] = tile[r + 1][tx + 1];
}
