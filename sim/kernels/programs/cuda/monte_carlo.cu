// Points in a circle by random integers, in streams that write to mapped memory of the host, and functions of the host
// that a stream calls.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        cudaError_t code = (call);                                                                                     \
        if (code != cudaSuccess) {                                                                                     \
            printf("FAILED: %s: %s\n", #call, cudaGetErrorString(code));                                               \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

constexpr int STREAMS = 4, BLOCKS = 3, THREADS = 64, POINTS = 20;

struct Generator {
    uint64_t state;

    __host__ __device__ explicit Generator(uint64_t seed) : state(seed * 0x9e3779b97f4a7c15ull + 1) {}
    // The upper half of a multiplication, in turn.
    __host__ __device__ uint32_t next() {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        uint32_t mixed = (uint32_t)((state >> 18 ^ state) >> 27);
        int turn = (int)(state >> 59);
        return mixed >> turn | mixed << (-turn & 31);
    }
};

// True if a point of 16 bits in each direction is in the circle.
__host__ __device__ inline bool is_inside(uint32_t bits) {
    uint64_t x = bits & 0xffff, y = bits >> 16;
    return x * x + y * y < 1ull << 32;
}

// What a block has found, where the host sees it.
struct Found {
    unsigned inside;
    uint32_t mixed;
};

__global__ void count(Found *found, int points, uint64_t seed) {
    __shared__ unsigned inside, mixed;
    if (threadIdx.x == 0)
        inside = mixed = 0;
    __syncthreads();
    Generator generator(seed + blockIdx.x * blockDim.x + threadIdx.x);
    unsigned own = 0;
    uint32_t bits = 0;
    for (int i = 0; i < points; i++) {
        bits = generator.next();
        own += is_inside(bits);
    }
    atomicXor(&mixed, bits);
    atomicAdd(&inside, own);
    __syncthreads();
    if (threadIdx.x == 0)
        found[blockIdx.x] = {inside, mixed};
}

__global__ void add(const Found *found, int blocks, unsigned *total) {
    for (int i = threadIdx.x; i < blocks; i += blockDim.x)
        atomicAdd(total, found[i].inside);
}

// For the function of the host: it adds what one stream has found.
struct Note {
    const Found *found;
    unsigned inside;
    bool called;
};

static void CUDART_CB take(void *argument) {
    Note &note = *static_cast<Note *>(argument);
    note.inside = 0;
    for (int block = 0; block < BLOCKS; block++)
        note.inside += note.found[block].inside;
    note.called = true;
}

int main() {
    CHECK(cudaSetDeviceFlags(cudaDeviceMapHost));
    Found *found, *of_device;
    CHECK(cudaHostAlloc(&found, STREAMS * BLOCKS * sizeof(Found), cudaHostAllocMapped));
    CHECK(cudaHostGetDevicePointer(&of_device, found, 0));
    // Any place in mapped memory has an address for the device.
    Found *second;
    CHECK(cudaHostGetDevicePointer(&second, found + 1, 0));
    cudaPointerAttributes attributes;
    CHECK(cudaPointerGetAttributes(&attributes, found));
    if (second != of_device + 1 || attributes.type != cudaMemoryTypeHost || attributes.hostPointer != found) {
        printf("FAILED: attributes of mapped memory\n");
        return 1;
    }
    for (int i = 0; i < STREAMS * BLOCKS; i++)
        found[i] = {0xffffffffu, 0};
    unsigned *total, *total_of_host;
    CHECK(cudaMalloc(&total, sizeof *total));
    CHECK(cudaMallocHost(&total_of_host, sizeof *total_of_host));
    cudaStream_t streams[STREAMS], last;
    cudaEvent_t ended[STREAMS], begin, end;
    Note notes[STREAMS];
    CHECK(cudaStreamCreateWithFlags(&last, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    CHECK(cudaMemsetAsync(total, 0, sizeof *total, last));
    CHECK(cudaEventRecord(begin, last));
    for (int i = 0; i < STREAMS; i++) {
        CHECK(cudaStreamCreate(&streams[i]));
        CHECK(cudaEventCreateWithFlags(&ended[i], cudaEventDisableTiming));
        notes[i] = {found + i * BLOCKS, 0, false};
        count<<<BLOCKS, THREADS, 0, streams[i]>>>(of_device + i * BLOCKS, POINTS + i, 1000ull * i);
        CHECK(cudaGetLastError());
        CHECK(cudaLaunchHostFunc(streams[i], take, &notes[i]));
        CHECK(cudaEventRecord(ended[i], streams[i]));
        CHECK(cudaStreamWaitEvent(last, ended[i], 0));
    }
    add<<<1, 32, 0, last>>>(of_device, STREAMS * BLOCKS, total);
    CHECK(cudaMemcpyAsync(total_of_host, total, sizeof *total, cudaMemcpyDeviceToHost, last));
    CHECK(cudaEventRecord(end, last));
    CHECK(cudaStreamSynchronize(last));
    CHECK(cudaStreamQuery(last));
    for (int i = 0; i < STREAMS; i++) {
        CHECK(cudaStreamSynchronize(streams[i]));
        CHECK(cudaStreamDestroy(streams[i]));
        CHECK(cudaEventDestroy(ended[i]));
    }
    float milliseconds = 0.0f;
    CHECK(cudaEventElapsedTime(&milliseconds, begin, end));

    unsigned expected = 0, points = 0;
    int wrong = 0;
    for (int i = 0; i < STREAMS; i++) {
        unsigned of_stream = 0;
        for (int block = 0; block < BLOCKS; block++) {
            Found own = {0, 0};
            for (int thread = 0; thread < THREADS; thread++) {
                Generator generator(1000ull * i + block * THREADS + thread);
                uint32_t bits = 0;
                for (int point = 0; point < POINTS + i; point++, points++) {
                    bits = generator.next();
                    own.inside += is_inside(bits);
                }
                own.mixed ^= bits;
            }
            const Found &got = found[i * BLOCKS + block];
            wrong += got.inside != own.inside || got.mixed != own.mixed;
            of_stream += own.inside;
        }
        wrong += !notes[i].called || notes[i].inside != of_stream;
        expected += of_stream;
    }
    wrong += *total_of_host != expected || !(milliseconds > 0.0f);
    printf("%u of %u points are inside: pi is about %.3f; %g ms\n", *total_of_host, points, 4.0 * expected / points,
           milliseconds);
    CHECK(cudaStreamDestroy(last));
    CHECK(cudaEventDestroy(begin));
    CHECK(cudaEventDestroy(end));
    CHECK(cudaFreeHost(found));
    CHECK(cudaFreeHost(total_of_host));
    CHECK(cudaFree(total));
    if (wrong) {
        printf("FAILED: %d results differ; %u points are expected\n", wrong, expected);
        return 1;
    }
    printf("PASSED\n");
    return 0;
}
