// Heat on a chip: each cell takes heat from its four neighbours, from its power and from the air around. A launch does two
// steps: the tile of a workgroup overlaps those of its neighbours, and its outer rings are wrong after each step.
#define SIDE 16
#define STEPS 2
#define INNER (SIDE - 2 * STEPS)
__global__ void hotspot(const float *from, const float *power, float *into, int width, int height, float rate, float rx,
                        float ry, float rz, float ambient) {
    __shared__ float tile[2][SIDE][SIDE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = (int)blockIdx.x * INNER + tx - STEPS, y = (int)blockIdx.y * INNER + ty - STEPS;
    bool is_cell = x >= 0 && x < width && y >= 0 && y < height;
    int at = y * width + x;
    float heat = 0.0f;
    if (is_cell) {
        tile[0][ty][tx] = from[at];
        heat = power[at];
    }
    __syncthreads();
    // Past the edge of the chip a cell is its own neighbour.
    int west = x > 0 ? tx - 1 : tx, east = x < width - 1 ? tx + 1 : tx;
    int north = y > 0 ? ty - 1 : ty, south = y < height - 1 ? ty + 1 : ty;
    for (int step = 0; step < STEPS; step++) {
        const float(*now)[SIDE] = tile[step & 1];
        int ring = step + 1;
        bool is_right = is_cell && tx >= ring && tx < SIDE - ring && ty >= ring && ty < SIDE - ring;
        if (is_right) {
            float own = now[ty][tx];
            float vertical = now[south][tx] + now[north][tx] - 2.0f * own;
            float horizontal = now[ty][east] + now[ty][west] - 2.0f * own;
            float change = heat + vertical * ry + horizontal * rx + (ambient - own) * rz;
            tile[~step & 1][ty][tx] = own + rate * change;
        }
        __syncthreads();
    }
    bool is_own = tx >= STEPS && tx < SIDE - STEPS && ty >= STEPS && ty < SIDE - STEPS;
    if (is_cell && is_own) into[at] = tile[STEPS & 1][ty][tx];
}
