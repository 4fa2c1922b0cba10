// Stars that attract one another: structures as arguments and in shared memory, energy as a double, times of events.
#include <cmath>
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

constexpr int STARS = 160, TILE = 64, STEPS = 3;

struct Star {
    float3 place;
    float mass;
    float3 speed;
};

struct Universe {
    Star *stars;
    int count;
    struct {
        float time, softening;
        double gravity;
    } constants;
};

__host__ __device__ inline float3 operator-(float3 a, float3 b) {
    return make_float3(a.x - b.x, a.y - b.y, a.z - b.z);
}

__host__ __device__ inline float3 plus(float3 a, float3 b, float times) {
    return make_float3(a.x + b.x * times, a.y + b.y * times, a.z + b.z * times);
}

__host__ __device__ inline float square(float3 a) {
    return a.x * a.x + a.y * a.y + a.z * a.z;
}

__global__ void attract(const Universe universe, float3 *pull) {
    __shared__ Star near[TILE];
    int own = blockIdx.x * TILE + threadIdx.x;
    float3 place = own < universe.count ? universe.stars[own].place : make_float3(0, 0, 0);
    float3 sum = make_float3(0, 0, 0);
    for (int first = 0; first < universe.count; first += TILE) {
        __syncthreads();
        if (first + threadIdx.x < universe.count)
            near[threadIdx.x] = universe.stars[first + threadIdx.x];
        __syncthreads();
        for (int i = 0; i < min(TILE, universe.count - first); i++) {
            float3 way = near[i].place - place;
            float inverse = rsqrtf(square(way) + universe.constants.softening);
            sum = plus(sum, way, near[i].mass * inverse * inverse * inverse);
        }
    }
    if (own < universe.count)
        pull[own] = sum;
}

__global__ void move(Universe universe, const float3 *pull) {
    int own = blockIdx.x * blockDim.x + threadIdx.x;
    if (own >= universe.count)
        return;
    Star &star = universe.stars[own];
    star.speed = plus(star.speed, pull[own], (float)universe.constants.gravity * universe.constants.time);
    star.place = plus(star.place, star.speed, universe.constants.time);
}

// The energy of motion: doubles, added by a warp at a time.
__global__ void energy(Universe universe, double *sum) {
    int own = blockIdx.x * blockDim.x + threadIdx.x;
    double mine = 0.0;
    if (own < universe.count)
        mine = 0.5 * universe.stars[own].mass * square(universe.stars[own].speed);
    for (int by = warpSize / 2; by > 0; by /= 2)
        mine += __shfl_down_sync(0xffffffffu, mine, by);
    if (threadIdx.x % warpSize == 0)
        atomicAdd(sum, mine);
}

static void step_on_host(std::vector<Star> &stars, const Universe &universe) {
    std::vector<float3> pull(stars.size(), make_float3(0, 0, 0));
    for (size_t i = 0; i < stars.size(); i++) {
        for (const Star &other : stars) {
            float3 way = other.place - stars[i].place;
            float inverse = 1.0f / sqrtf(square(way) + universe.constants.softening);
            pull[i] = plus(pull[i], way, other.mass * inverse * inverse * inverse);
        }
    }
    for (size_t i = 0; i < stars.size(); i++) {
        stars[i].speed = plus(stars[i].speed, pull[i], (float)universe.constants.gravity * universe.constants.time);
        stars[i].place = plus(stars[i].place, stars[i].speed, universe.constants.time);
    }
}

int main() {
    std::vector<Star> stars(STARS), found(STARS);
    for (int i = 0; i < STARS; i++) {
        float angle = 0.37f * i, radius = 1.0f + 0.05f * i;
        stars[i] = {make_float3(radius * cosf(angle), radius * sinf(angle), 0.01f * (i % 13)), 1.0f + i % 4,
                    make_float3(-0.1f * sinf(angle), 0.1f * cosf(angle), 0.0f)};
    }
    Universe universe = {nullptr, STARS, {0.125f, 0.0625f, 0.01}};
    float3 *pull;
    double *sum, found_energy = -1.0, expected_energy = 0.0;
    CHECK(cudaMalloc(&universe.stars, STARS * sizeof(Star)));
    CHECK(cudaMalloc((void **)&pull, STARS * sizeof(float3)));
    CHECK(cudaMalloc(&sum, sizeof *sum));
    CHECK(cudaMemset(sum, 0, sizeof *sum));
    CHECK(cudaMemcpy(universe.stars, stars.data(), STARS * sizeof(Star), cudaMemcpyHostToDevice));
    cudaEvent_t events[STEPS + 1];
    for (cudaEvent_t &event : events)
        CHECK(cudaEventCreateWithFlags(&event, cudaEventBlockingSync));
    const int blocks = (STARS + TILE - 1) / TILE;
    CHECK(cudaEventRecord(events[0], 0));
    for (int step = 0; step < STEPS; step++) {
        attract<<<dim3(blocks), dim3(TILE)>>>(universe, pull);
        CHECK(cudaPeekAtLastError());
        move<<<blocks, TILE>>>(universe, pull);
        CHECK(cudaPeekAtLastError());
        CHECK(cudaEventRecord(events[step + 1], 0));
    }
    energy<<<blocks, TILE>>>(universe, sum);
    CHECK(cudaEventSynchronize(events[STEPS]));
    CHECK(cudaEventQuery(events[STEPS]));
    CHECK(cudaMemcpy(found.data(), universe.stars, STARS * sizeof(Star), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&found_energy, sum, sizeof found_energy, cudaMemcpyDeviceToHost));

    // The whole lasts as long as its parts.
    float whole, parts = 0.0f;
    bool ordered = true;
    CHECK(cudaEventElapsedTime(&whole, events[0], events[STEPS]));
    for (int step = 0; step < STEPS; step++) {
        float part;
        CHECK(cudaEventElapsedTime(&part, events[step], events[step + 1]));
        ordered &= part > 0.0f;
        parts += part;
    }
    for (cudaEvent_t event : events)
        CHECK(cudaEventDestroy(event));
    CHECK(cudaFree(universe.stars));
    CHECK(cudaFree(pull));
    CHECK(cudaFree(sum));

    for (int step = 0; step < STEPS; step++)
        step_on_host(stars, universe);
    int wrong = 0;
    for (int i = 0; i < STARS; i++) {
        wrong += !(sqrtf(square(found[i].place - stars[i].place)) < 1e-4f) || found[i].mass != stars[i].mass;
        expected_energy += 0.5 * stars[i].mass * square(stars[i].speed);
    }
    printf("%d stars, energy %.6f, %g ms a step\n", STARS, found_energy, whole / STEPS);
    if (wrong || !(fabs(found_energy - expected_energy) < 1e-4 * expected_energy) || !ordered ||
        fabsf(whole - parts) > 1e-3f * whole) {
        printf("FAILED: %d stars are elsewhere; energy %.6f; the steps last %g ms\n", wrong, expected_energy, parts);
        return 1;
    }
    printf("PASSED\n");
    return 0;
}
