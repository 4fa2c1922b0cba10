// How often classes of bytes occur. A table in constant memory tells the class; blocks count in shared memory.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        cudaError_t code = (call);                                                                                     \
        if (code != cudaSuccess) {                                                                                     \
            printf("FAILED: %s: %s\n", #call, cudaGetErrorString(code));                                               \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

constexpr int CLASSES = 48, BYTES = 20000, THREADS = 128;

__constant__ uint8_t class_of[256];
__constant__ int weights[CLASSES] = {7, -3, 5};
// Set by the host before, and by the kernels.
__device__ unsigned long long checksum = 1000;
__device__ unsigned blocks_that_ended;
__device__ struct {
    int most, least;
} extremes = {-1, 256};

__global__ void count(const uint8_t *data, int bytes, unsigned *bins) {
    __shared__ unsigned own[CLASSES];
    for (int bin = threadIdx.x; bin < CLASSES; bin += blockDim.x)
        own[bin] = 0;
    __syncthreads();
    unsigned long long sum = 0;
    int most = -1, least = 256;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < bytes; i += gridDim.x * blockDim.x) {
        atomicAdd(&own[class_of[data[i]]], 1u);
        sum += (unsigned long long)data[i] << (i % 32);
        most = max(most, (int)data[i]);
        least = min(least, (int)data[i]);
    }
    // One addition for each warp.
    for (int by = 16; by > 0; by /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, by);
    if (threadIdx.x % 32 == 0)
        atomicAdd(&checksum, sum);
    atomicMax(&extremes.most, most);
    atomicMin(&extremes.least, least);
    __syncthreads();
    for (int bin = threadIdx.x; bin < CLASSES; bin += blockDim.x)
        if (own[bin])
            atomicAdd(&bins[bin], own[bin]);
    if (threadIdx.x == 0)
        atomicInc(&blocks_that_ended, 0xffffffffu);
}

// The weighted sum of the counts, by one warp, and the classes that occur as bits.
__global__ void weigh(const unsigned *bins, int *sum, unsigned long long *occurring) {
    int mine = 0;
    for (int bin = threadIdx.x; bin < CLASSES; bin += 32) {
        mine += (int)bins[bin] * weights[bin];
        if (bins[bin])
            atomicOr(occurring, 1ull << bin);
    }
    for (int by = 16; by > 0; by /= 2)
        mine += __shfl_down_sync(0xffffffffu, mine, by);
    if (threadIdx.x == 0)
        *sum = mine;
}

int main() {
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    int blocks = std::min(2 * device.multiProcessorCount, (BYTES + THREADS - 1) / THREADS);
    if (device.warpSize != 32 || device.maxThreadsPerBlock < THREADS || device.totalConstMem < 256 || blocks < 1) {
        printf("FAILED: properties of %s\n", device.name);
        return 1;
    }
    std::vector<uint8_t> data(BYTES), table(256);
    for (int i = 0; i < BYTES; i++)
        data[i] = (uint8_t)((i * 2654435761u >> 13) % 251 + 2);
    for (int byte = 0; byte < 256; byte++)
        table[byte] = (uint8_t)(byte * 7 % (CLASSES - 1));

    // The table goes in two parts; of the weights only some change.
    CHECK(cudaMemcpyToSymbol(class_of, table.data(), 100));
    CHECK(cudaMemcpyToSymbol(class_of, table.data() + 100, 156, 100));
    const int other[] = {11, -13};
    CHECK(cudaMemcpyToSymbol(weights, other, sizeof other, 4 * sizeof(int), cudaMemcpyHostToDevice));
    const unsigned long long start = 1ull << 40;
    CHECK(cudaMemcpyToSymbol(checksum, &start, sizeof start));
    uint8_t *bytes;
    unsigned *bins;
    int *sum;
    unsigned long long *occurring;
    CHECK(cudaMalloc(&bytes, BYTES));
    CHECK(cudaMalloc(&bins, CLASSES * sizeof *bins));
    CHECK(cudaMalloc(&sum, sizeof *sum));
    CHECK(cudaMalloc(&occurring, sizeof *occurring));
    CHECK(cudaMemcpy(bytes, data.data(), BYTES, cudaMemcpyHostToDevice));
    CHECK(cudaMemsetAsync(bins, 0, CLASSES * sizeof *bins, 0));
    CHECK(cudaMemset(occurring, 0, sizeof *occurring));
    count<<<blocks, THREADS>>>(bytes, BYTES, bins);
    weigh<<<1, 32>>>(bins, sum, occurring);
    CHECK(cudaDeviceSynchronize());

    unsigned found[CLASSES], expected[CLASSES] = {}, ended = 0;
    unsigned long long found_checksum, expected_checksum = start, found_bits, expected_bits = 0;
    int found_sum, expected_sum = 0, found_extremes[2];
    CHECK(cudaMemcpy(found, bins, sizeof found, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&found_sum, sum, sizeof found_sum, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&found_bits, occurring, sizeof found_bits, cudaMemcpyDefault));
    CHECK(cudaMemcpyFromSymbol(&found_checksum, checksum, sizeof found_checksum));
    CHECK(cudaMemcpyFromSymbol(&found_extremes[1], extremes, sizeof(int), sizeof(int)));
    CHECK(cudaMemcpyFromSymbol(&found_extremes[0], extremes, sizeof(int)));
    void *place;
    size_t size;
    CHECK(cudaGetSymbolAddress(&place, blocks_that_ended));
    CHECK(cudaGetSymbolSize(&size, blocks_that_ended));
    CHECK(cudaMemcpy(&ended, place, size, cudaMemcpyDeviceToHost));

    for (int i = 0; i < BYTES; i++) {
        expected[table[data[i]]]++;
        expected_checksum += (unsigned long long)data[i] << (i % 32);
    }
    const int expected_weights[CLASSES] = {7, -3, 5, 0, 11, -13};
    for (int bin = 0; bin < CLASSES; bin++) {
        expected_sum += (int)expected[bin] * expected_weights[bin];
        expected_bits |= (unsigned long long)(expected[bin] != 0) << bin;
    }
    auto [least, most] = std::minmax_element(data.begin(), data.end());
    bool right = !memcmp(found, expected, sizeof found) && found_checksum == expected_checksum &&
                 found_sum == expected_sum && found_bits == expected_bits && found_extremes[0] == *most &&
                 found_extremes[1] == *least && size == sizeof ended && ended == (unsigned)blocks;
    for (void *memory : {(void *)bytes, (void *)bins, (void *)sum, (void *)occurring})
        CHECK(cudaFree(memory));
    printf("%d blocks on %s, weighted sum %d, checksum %llx\n", blocks, device.name, found_sum, found_checksum);
    if (right)
        printf("PASSED\n");
    else
        printf("FAILED: weighted sum %d, checksum %llx, %d to %d are expected\n", expected_sum, expected_checksum,
               *least, *most);
    return !right;
}
