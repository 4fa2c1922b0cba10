// Heat on a plate: steps of a stencil in pitched memory, with a tile in shared memory, until the change is small.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        cudaError_t code = (call);                                                                                     \
        if (code != cudaSuccess) {                                                                                     \
            printf("FAILED: %s: %s\n", #call, cudaGetErrorString(code));                                               \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

constexpr int WIDTH = 100, HEIGHT = 60, TILE = 16, STEPS_BETWEEN_CHECKS = 4, MOST_STEPS = 40;
constexpr float SMALL = 0.35f;

// A plate in memory: rows begin `pitch` bytes apart.
struct Plate {
    float *cells;
    size_t pitch;
    int width, height;

    __host__ __device__ float *row(int y) const { return (float *)((char *)cells + y * pitch); }
};

struct Material {
    float rate, outside;
};

__device__ int clamp(int value, int end) {
    return min(max(value, 0), end - 1);
}

__global__ void step(Plate from, Plate to, Material material) {
    __shared__ float tile[TILE + 2][TILE + 2];
    int first_x = blockIdx.x * TILE - 1, first_y = blockIdx.y * TILE - 1;
    // More cells than threads: the tile has a border.
    for (int cell = threadIdx.y * TILE + threadIdx.x; cell < (TILE + 2) * (TILE + 2); cell += TILE * TILE) {
        int x = first_x + cell % (TILE + 2), y = first_y + cell / (TILE + 2);
        bool inside = x >= 0 && x < from.width && y >= 0 && y < from.height;
        tile[cell / (TILE + 2)][cell % (TILE + 2)] =
            inside ? from.row(y)[x] : y < 0 ? material.outside : from.row(clamp(y, from.height))[clamp(x, from.width)];
    }
    __syncthreads();
    int x = first_x + 1 + threadIdx.x, y = first_y + 1 + threadIdx.y;
    if (x >= from.width || y >= from.height)
        return;
    int i = threadIdx.x + 1, j = threadIdx.y + 1;
    float around = tile[j][i - 1] + tile[j][i + 1] + (tile[j - 1][i] + tile[j + 1][i]);
    to.row(y)[x] = tile[j][i] + material.rate * (around - 4.0f * tile[j][i]);
}

// The greatest change of a cell. Floats that are not negative have the order of their bits.
__global__ void change(Plate before, Plate after, int *most) {
    __shared__ float largest[TILE * TILE];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    int thread = threadIdx.y * TILE + threadIdx.x;
    largest[thread] = x < after.width && y < after.height ? fabsf(after.row(y)[x] - before.row(y)[x]) : 0.0f;
    for (int half = TILE * TILE / 2; half > 0; half /= 2) {
        __syncthreads();
        if (thread < half)
            largest[thread] = fmaxf(largest[thread], largest[thread + half]);
    }
    if (thread == 0)
        atomicMax(most, __float_as_int(largest[0]));
}

static Plate plate() {
    Plate made = {nullptr, 0, WIDTH, HEIGHT};
    CHECK(cudaMallocPitch(&made.cells, &made.pitch, WIDTH * sizeof(float), HEIGHT));
    CHECK(cudaMemset2D(made.cells, made.pitch, 0xff, made.pitch, HEIGHT));
    return made;
}

static void step_on_host(const std::vector<float> &from, std::vector<float> &to, Material material) {
    for (int y = 0; y < HEIGHT; y++) {
        for (int x = 0; x < WIDTH; x++) {
            auto at = [&](int x, int y) {
                if (y < 0)
                    return material.outside;
                return from[std::min(y, HEIGHT - 1) * WIDTH + std::min(std::max(x, 0), WIDTH - 1)];
            };
            float here = at(x, y), around = at(x - 1, y) + at(x + 1, y) + (at(x, y - 1) + at(x, y + 1));
            to[y * WIDTH + x] = here + material.rate * (around - 4.0f * here);
        }
    }
}

int main() {
    std::vector<float> start(WIDTH * HEIGHT), found(WIDTH * HEIGHT, -1.0f);
    for (int cell = 0; cell < WIDTH * HEIGHT; cell++)
        start[cell] = (float)(cell * 37 % 101);
    Plate from = plate(), to = plate();
    if (from.pitch < WIDTH * sizeof(float) || from.pitch % sizeof(float4)) {
        printf("FAILED: a pitch of %zu\n", from.pitch);
        return 1;
    }
    const size_t row = WIDTH * sizeof(float);
    CHECK(cudaMemcpy2D(from.cells, from.pitch, start.data(), row, row, HEIGHT, cudaMemcpyHostToDevice));
    int *most;
    CHECK(cudaMalloc(&most, sizeof *most));
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));

    Material material = {0.2f, 50.0f};
    dim3 block(TILE, TILE), grid((WIDTH + TILE - 1) / TILE, (HEIGHT + TILE - 1) / TILE);
    int steps = 0;
    float largest = INFINITY;
    CHECK(cudaEventRecord(begin));
    while (largest > SMALL && steps < MOST_STEPS) {
        for (int i = 0; i < STEPS_BETWEEN_CHECKS; i++) {
            step<<<grid, block>>>(from, to, material);
            CHECK(cudaGetLastError());
            std::swap(from, to);
        }
        steps += STEPS_BETWEEN_CHECKS;
        CHECK(cudaMemset(most, 0, sizeof *most));
        change<<<grid, block>>>(to, from, most);
        CHECK(cudaMemcpy(&largest, most, sizeof largest, cudaMemcpyDeviceToHost));
    }
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    float milliseconds = 0.0f;
    CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
    CHECK(cudaMemcpy2D(found.data(), row, from.cells, from.pitch, row, HEIGHT, cudaMemcpyDeviceToHost));

    std::vector<float> before = start, after(WIDTH * HEIGHT);
    float expected = INFINITY;
    int expected_steps = 0;
    while (expected > SMALL && expected_steps < MOST_STEPS) {
        for (int i = 0; i < STEPS_BETWEEN_CHECKS; i++, expected_steps++) {
            step_on_host(before, after, material);
            std::swap(before, after);
        }
        expected = 0.0f;
        for (int cell = 0; cell < WIDTH * HEIGHT; cell++)
            expected = fmaxf(expected, fabsf(before[cell] - after[cell]));
    }
    int wrong = 0;
    for (int cell = 0; cell < WIDTH * HEIGHT; cell++)
        wrong += !(fabsf(found[cell] - before[cell]) <= 1e-4f);
    CHECK(cudaEventDestroy(begin));
    CHECK(cudaEventDestroy(end));
    CHECK(cudaFree(from.cells));
    CHECK(cudaFree(to.cells));
    CHECK(cudaFree(most));
    printf("%d steps, change %g, %g ms\n", steps, largest, milliseconds);
    if (wrong || steps != expected_steps || fabsf(largest - expected) > 1e-4f || !(milliseconds > 0.0f)) {
        printf("FAILED: %d cells differ; %d steps and a change of %g are expected\n", wrong, expected_steps, expected);
        return 1;
    }
    printf("PASSED\n");
    return 0;
}
