// Products of matrices of several types and tiles, as templates. Occupancy tells the tile that is used.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        cudaError_t code = (call);                                                                                     \
        if (code != cudaSuccess) {                                                                                     \
            printf("FAILED: %s: %s\n", #call, cudaGetErrorString(code));                                               \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

constexpr int ROWS = 40, INNER = 35, COLUMNS = 50;

template <typename In, typename Sum, int TILE>
__global__ void __launch_bounds__(TILE *TILE) multiply(const In *a, const In *b, Sum *c, int3 sizes) {
    __shared__ In a_tile[TILE][TILE + 1], b_tile[TILE][TILE + 1];
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    Sum sum = 0;
    for (int first = 0; first < sizes.y; first += TILE) {
        int x = first + threadIdx.x, y = first + threadIdx.y;
        a_tile[threadIdx.y][threadIdx.x] = row < sizes.x && x < sizes.y ? a[row * sizes.y + x] : In(0);
        b_tile[threadIdx.y][threadIdx.x] = y < sizes.y && column < sizes.z ? b[y * sizes.z + column] : In(0);
        __syncthreads();
#pragma unroll
        for (int i = 0; i < TILE; i++)
            sum += Sum(a_tile[threadIdx.y][i]) * Sum(b_tile[i][threadIdx.x]);
        __syncthreads();
    }
    if (row < sizes.x && column < sizes.z)
        c[row * sizes.z + column] = sum;
}

template <typename T> __global__ void fill(T *values, int count, int factor) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        values[i] = T(i * factor % 23 - 11);
}

// The values of `fill` on the host.
template <typename T> static T value(int i, int factor) {
    return T(i * factor % 23 - 11);
}

// Fills an array with the grid that occupancy proposes.
template <typename T> static T *filled(int count, int factor) {
    T *values;
    int grid = 0, block = 0;
    CHECK(cudaMalloc(&values, count * sizeof(T)));
    CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, fill<T>, 0, 256));
    if (grid < 1 || block < 1 || block > 256) {
        printf("FAILED: a proposal of %d blocks of %d threads\n", grid, block);
        exit(1);
    }
    fill<T><<<grid, block>>>(values, count, factor);
    CHECK(cudaGetLastError());
    return values;
}

// Threads that a multiprocessor holds with this tile.
template <typename In, typename Sum, int TILE> static int threads() {
    int blocks = 0;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, multiply<In, Sum, TILE>, TILE * TILE, 0));
    return blocks * TILE * TILE;
}

template <typename In, typename Sum, int TILE> static void launch(const In *a, const In *b, Sum *c) {
    const dim3 grid((COLUMNS + TILE - 1) / TILE, (ROWS + TILE - 1) / TILE);
    multiply<In, Sum, TILE><<<grid, dim3(TILE, TILE, 1)>>>(a, b, c, make_int3(ROWS, INNER, COLUMNS));
    CHECK(cudaGetLastError());
}

template <typename In, typename Sum> static bool test(const char *name) {
    In *a = filled<In>(ROWS * INNER, 7), *b = filled<In>(INNER * COLUMNS, 5);
    Sum *c;
    CHECK(cudaMalloc(&c, ROWS * COLUMNS * sizeof(Sum)));
    int small = threads<In, Sum, 8>(), large = threads<In, Sum, 16>();
    bool right = small > 0 && large > 0;
    // The tile that keeps more threads busy, and then the other one.
    for (int turn = 0; turn < 2; turn++) {
        CHECK(cudaMemset(c, 0xff, ROWS * COLUMNS * sizeof(Sum)));
        bool is_large = (large >= small) == (turn == 0);
        if (is_large)
            launch<In, Sum, 16>(a, b, c);
        else
            launch<In, Sum, 8>(a, b, c);
        std::vector<Sum> found(ROWS * COLUMNS);
        CHECK(cudaMemcpy(found.data(), c, found.size() * sizeof(Sum), cudaMemcpyDeviceToHost));
        int wrong = 0;
        for (int row = 0; row < ROWS; row++) {
            for (int column = 0; column < COLUMNS; column++) {
                // All sums are whole numbers that every type holds.
                Sum sum = 0;
                for (int i = 0; i < INNER; i++)
                    sum += Sum(value<In>(row * INNER + i, 7)) * Sum(value<In>(i * COLUMNS + column, 5));
                wrong += found[row * COLUMNS + column] != sum;
            }
        }
        printf("%s, tile %d (%d threads at once): %s\n", name, is_large ? 16 : 8, is_large ? large : small,
               wrong ? "wrong" : "right");
        right &= !wrong;
    }
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    CHECK(cudaFree(c));
    return right;
}

int main() {
    bool right = test<float, float>("float");
    right &= test<int8_t, int32_t>("int8_t");
    right &= test<int16_t, int64_t>("int16_t");
    right &= test<double, double>("double");
    printf(right ? "PASSED\n" : "FAILED: products are wrong\n");
    return !right;
}
