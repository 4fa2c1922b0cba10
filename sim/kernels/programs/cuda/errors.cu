// Errors that a program provokes, each with the code that it expects. The last one, an access out of bounds, loses the
// device.
#include <cstdint>
#include <cstdio>
#include <cstring>

static int wrong = 0;

static void expect(const char *what, cudaError_t found, cudaError_t expected) {
    printf("%-58s %s\n", what, cudaGetErrorName(found));
    if (found != expected) {
        printf("FAILED: %s is expected\n", cudaGetErrorName(expected));
        wrong++;
    }
}

static void expect_true(const char *what, bool holds) {
    printf("%-58s %s\n", what, holds ? "true" : "false");
    if (!holds) {
        printf("FAILED: true is expected\n");
        wrong++;
    }
}

__device__ int counter[4];
__constant__ float factor = 2.0f;
extern __shared__ int dynamic[];

__global__ void increment(int *values) {
    values[blockIdx.x * blockDim.x + threadIdx.x]++;
}

__global__ void reverse(int *values) {
    dynamic[threadIdx.x] = values[threadIdx.x];
    __syncthreads();
    values[threadIdx.x] = dynamic[blockDim.x - 1 - threadIdx.x];
}

__global__ void far(int *values, long index) {
    values[index] = 1;
}

static void no_kernel(int *) {}

static cudaError_t launch(dim3 grid, dim3 block, int *values, size_t shared = 0) {
    reverse<<<grid, block, shared>>>(values);
    return cudaGetLastError();
}

// The value of the first number, after an increment: the device works.
static void works(int *values) {
    static int increments = 0;
    int found = -1;
    increment<<<1, 1>>>(values);
    cudaError_t code = cudaMemcpy(&found, values, sizeof found, cudaMemcpyDeviceToHost);
    if (code != cudaSuccess || found != ++increments)
        expect("a launch that is right", code, cudaSuccess), wrong++;
}

static void memory(int *values) {
    int *made = nullptr, host[64] = {};
    size_t pitch;
    expect("cudaMalloc of a petabyte", cudaMalloc(&made, 1ull << 50), cudaErrorMemoryAllocation);
    expect_true("no pointer was made", made == nullptr);
    expect("cudaPeekAtLastError", cudaPeekAtLastError(), cudaErrorMemoryAllocation);
    expect("a call that is right", cudaMemset(values, 0, 64), cudaSuccess);
    expect("cudaGetLastError, which is still there", cudaGetLastError(), cudaErrorMemoryAllocation);
    expect("cudaGetLastError again", cudaGetLastError(), cudaSuccess);
    works(values);
    expect("cudaMallocPitch of a petabyte", cudaMallocPitch(&made, &pitch, 1ull << 20, 1ull << 30),
           cudaErrorMemoryAllocation);
    expect("cudaMallocManaged of a petabyte", cudaMallocManaged(&made, 1ull << 50), cudaErrorMemoryAllocation);
    expect("cudaMallocManaged of nothing", cudaMallocManaged(&made, 0), cudaErrorInvalidValue);
    expect("cudaMalloc without a place for the pointer", cudaMalloc((void **)nullptr, 4), cudaErrorInvalidValue);
    expect("cudaFree of no pointer", cudaFree(nullptr), cudaSuccess);
    expect("cudaFree of an array of the host", cudaFree(host), cudaErrorInvalidValue);
    expect("cudaMalloc", cudaMalloc(&made, 256), cudaSuccess);
    expect("cudaFree", cudaFree(made), cudaSuccess);
    expect("cudaFree again", cudaFree(made), cudaErrorInvalidValue);
    expect("cudaFreeHost of an array", cudaFreeHost(host), cudaErrorInvalidValue);
    expect("cudaHostGetDevicePointer of an array", cudaHostGetDevicePointer(&made, host, 0), cudaErrorInvalidValue);
    expect("cudaMemcpy without a source",
           cudaMemcpy(values, nullptr, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    expect("cudaMemcpy of nothing", cudaMemcpy(values, host, 0, cudaMemcpyHostToDevice), cudaSuccess);
    expect("cudaMemcpy in no direction",
           cudaMemcpy(values, host, 4, (cudaMemcpyKind)9), cudaErrorInvalidMemcpyDirection);
    expect("cudaMemcpy of more than there is",
           cudaMemcpy(values, values, 1 << 20, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
    expect("cudaMemset of more than there is", cudaMemset(values, 0, 1 << 20), cudaErrorInvalidValue);
    expect("cudaMemcpy2D of rows longer than the pitch",
           cudaMemcpy2D(values, 16, host, 32, 24, 2, cudaMemcpyHostToDevice), cudaErrorInvalidPitchValue);
}

static void symbols() {
    static float other;
    float number = 3.0f;
    int host[5] = {};
    void *place;
    expect("cudaMemcpyToSymbol", cudaMemcpyToSymbol(factor, &number, sizeof number), cudaSuccess);
    expect("cudaMemcpyToSymbol of no symbol",
           cudaMemcpyToSymbol(other, &number, sizeof number), cudaErrorInvalidSymbol);
    expect("cudaMemcpyToSymbol of too much", cudaMemcpyToSymbol(counter, host, sizeof host), cudaErrorInvalidValue);
    expect("cudaMemcpyFromSymbol beyond the end",
           cudaMemcpyFromSymbol(host, counter, 8, 12), cudaErrorInvalidValue);
    expect("cudaGetSymbolAddress of no symbol", cudaGetSymbolAddress(&place, other), cudaErrorInvalidSymbol);
}

static void devices() {
    cudaDeviceProp properties;
    int value, count = 0;
    expect("cudaGetDeviceCount", cudaGetDeviceCount(&count), cudaSuccess);
    expect("cudaSetDevice of one too many", cudaSetDevice(count), cudaErrorInvalidDevice);
    expect("cudaGetDeviceProperties of one too many",
           cudaGetDeviceProperties(&properties, count), cudaErrorInvalidDevice);
    expect("cudaDeviceGetAttribute of one too many",
           cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, count), cudaErrorInvalidDevice);
    expect("cudaDeviceGetAttribute of no attribute",
           cudaDeviceGetAttribute(&value, (cudaDeviceAttr)0, 0), cudaErrorInvalidValue);
    expect("cudaGetDevice without a place", cudaGetDevice(nullptr), cudaErrorInvalidValue);
}

static void launches(int *values) {
    cudaDeviceProp properties;
    expect("cudaGetDeviceProperties", cudaGetDeviceProperties(&properties, 0), cudaSuccess);
    const unsigned most = properties.maxThreadsPerBlock;
    expect("a launch of too many threads", launch(1, most + 1, values, 64), cudaErrorInvalidConfiguration);
    works(values);
    expect("a launch of no threads", launch(1, 0, values), cudaErrorInvalidConfiguration);
    expect("a launch of no blocks", launch(0, 32, values), cudaErrorInvalidConfiguration);
    expect("a launch of a block that is too deep",
           launch(1, dim3(1, 1, properties.maxThreadsDim[2] + 1), values, 1024), cudaErrorInvalidConfiguration);
    expect("a launch of a grid that is too high",
           launch(dim3(1, properties.maxGridSize[1] + 1), 1, values, 64), cudaErrorInvalidConfiguration);
    expect("a launch with too much shared memory",
           launch(1, 16, values, properties.sharedMemPerBlockOptin + 4), cudaErrorInvalidValue);
    works(values);
    expect("a launch that is right", launch(1, 16, values, 16 * sizeof(int)), cudaSuccess);
    expect("the same again, which puts all in order", launch(1, 16, values, 16 * sizeof(int)), cudaSuccess);
    cudaFuncAttributes attributes;
    int blocks;
    void *arguments[] = {&values};
    expect("cudaFuncGetAttributes of no kernel", cudaFuncGetAttributes(&attributes, no_kernel),
           cudaErrorInvalidDeviceFunction);
    expect("cudaLaunchKernel of no kernel", cudaLaunchKernel(no_kernel, dim3(1), dim3(1), arguments),
           cudaErrorInvalidDeviceFunction);
    expect("occupancy of no threads", cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, increment, 0, 0),
           cudaErrorInvalidValue);
    expect("cudaFuncSetAttribute of too much shared memory",
           cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 30), cudaErrorInvalidValue);
}

static void streams_and_events() {
    cudaEvent_t first, second, untimed;
    cudaStream_t stream;
    float milliseconds;
    expect("cudaStreamCreateWithFlags of no flags", cudaStreamCreateWithFlags(&stream, 0x77), cudaErrorInvalidValue);
    expect("cudaEventCreateWithFlags of no flags", cudaEventCreateWithFlags(&first, 0x77), cudaErrorInvalidValue);
    expect("cudaEventCreate", cudaEventCreate(&first), cudaSuccess);
    expect("cudaEventCreate", cudaEventCreate(&second), cudaSuccess);
    expect("cudaEventCreateWithFlags", cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming), cudaSuccess);
    expect("cudaEventQuery of an event that was not recorded", cudaEventQuery(first), cudaSuccess);
    expect("cudaEventElapsedTime of events that were not recorded",
           cudaEventElapsedTime(&milliseconds, first, second), cudaErrorInvalidResourceHandle);
    expect("cudaEventRecord", cudaEventRecord(first), cudaSuccess);
    expect("cudaEventRecord", cudaEventRecord(second), cudaSuccess);
    expect("cudaEventRecord", cudaEventRecord(untimed), cudaSuccess);
    expect("cudaEventElapsedTime", cudaEventElapsedTime(&milliseconds, first, second), cudaSuccess);
    expect("cudaEventElapsedTime of an event without time",
           cudaEventElapsedTime(&milliseconds, first, untimed), cudaErrorInvalidResourceHandle);
    expect("cudaEventElapsedTime without a place",
           cudaEventElapsedTime(nullptr, first, second), cudaErrorInvalidValue);
    expect("cudaEventRecord of no event", cudaEventRecord(nullptr), cudaErrorInvalidResourceHandle);
    expect("cudaEventDestroy", cudaEventDestroy(first), cudaSuccess);
    expect("cudaEventDestroy", cudaEventDestroy(second), cudaSuccess);
    expect("cudaEventDestroy", cudaEventDestroy(untimed), cudaSuccess);
}

// After an access out of bounds nothing works any more.
static void lost(int *values) {
    int *made;
    int host;
    size_t free, total;
    cudaStream_t stream;
    cudaEvent_t event;
    far<<<1, 1>>>(values, 1l << 29);
    expect("an access out of bounds", cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    expect("cudaGetLastError", cudaGetLastError(), cudaErrorIllegalAddress);
    expect("cudaGetLastError again", cudaGetLastError(), cudaErrorIllegalAddress);
    expect("cudaMalloc", cudaMalloc(&made, 4), cudaErrorIllegalAddress);
    expect("cudaMemcpy", cudaMemcpy(&host, values, 4, cudaMemcpyDeviceToHost), cudaErrorIllegalAddress);
    expect("cudaMemset", cudaMemset(values, 0, 4), cudaErrorIllegalAddress);
    expect("cudaMemGetInfo", cudaMemGetInfo(&free, &total), cudaErrorIllegalAddress);
    expect("cudaStreamCreate", cudaStreamCreate(&stream), cudaErrorIllegalAddress);
    expect("cudaEventCreate", cudaEventCreate(&event), cudaErrorIllegalAddress);
    increment<<<1, 1>>>(values);
    expect("a launch", cudaGetLastError(), cudaErrorIllegalAddress);
    expect("cudaFree", cudaFree(values), cudaErrorIllegalAddress);
    expect("cudaDeviceSynchronize", cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

int main() {
    int *values;
    expect("cudaMalloc", cudaMalloc(&values, 64 * sizeof(int)), cudaSuccess);
    expect("cudaMemset", cudaMemset(values, 0, 64 * sizeof(int)), cudaSuccess);
    memory(values);
    symbols();
    devices();
    launches(values);
    streams_and_events();
    cudaGetLastError();
    works(values);
    lost(values);
    expect_true("the name of no code", !strcmp(cudaGetErrorName((cudaError_t)12345), "unrecognized error code"));
    expect_true("the text of a code",
                !strcmp(cudaGetErrorString(cudaErrorIllegalAddress), "an illegal memory access was encountered"));
    if (wrong)
        printf("FAILED: %d calls\n", wrong);
    else
        printf("PASSED\n");
    return wrong != 0;
}
