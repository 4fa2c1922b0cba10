// Prefix sums of numbers of several types: blocks in dynamic shared memory, the sums of blocks, and both added.
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

// Dynamic shared memory has one type in a source; kernels of several types convert its address.
extern __shared__ __align__(16) unsigned char dynamic[];

// Exclusive sums within a block of twice as many numbers as threads: up a tree of sums, and down again.
template <typename In, typename Sum>
__global__ void scan_blocks(const In *numbers, Sum *sums, Sum *totals, int count) {
    Sum *tree = reinterpret_cast<Sum *>(dynamic);
    int size = 2 * blockDim.x, first = blockIdx.x * size, thread = threadIdx.x;
    for (int i = thread; i < size; i += blockDim.x)
        tree[i] = first + i < count ? Sum(numbers[first + i]) : Sum(0);
    int step = 1;
    for (int pairs = blockDim.x; pairs > 0; pairs /= 2, step *= 2) {
        __syncthreads();
        if (thread < pairs)
            tree[step * (2 * thread + 2) - 1] += tree[step * (2 * thread + 1) - 1];
    }
    __syncthreads();
    if (thread == 0) {
        totals[blockIdx.x] = tree[size - 1];
        tree[size - 1] = Sum(0);
    }
    for (int pairs = 1; pairs <= blockDim.x; pairs *= 2) {
        step /= 2;
        __syncthreads();
        if (thread < pairs) {
            int left = step * (2 * thread + 1) - 1, right = step * (2 * thread + 2) - 1;
            Sum sum = tree[left];
            tree[left] = tree[right];
            tree[right] += sum;
        }
    }
    __syncthreads();
    for (int i = thread; i < size; i += blockDim.x)
        if (first + i < count)
            sums[first + i] = tree[i];
}

template <typename Sum> __global__ void add_totals(Sum *sums, const Sum *before, int count) {
    int first = blockIdx.x * 2 * blockDim.x;
    for (int i = threadIdx.x; i < 2 * blockDim.x; i += blockDim.x)
        if (first + i < count)
            sums[first + i] += before[blockIdx.x];
}

// Sums on the device, which calls itself for the sums of blocks. Returns the number of launches.
template <typename In, typename Sum> static int scan(const In *numbers, Sum *sums, int count, int threads) {
    int blocks = (count + 2 * threads - 1) / (2 * threads);
    Sum *totals;
    CHECK(cudaMalloc(&totals, blocks * sizeof(Sum)));
    scan_blocks<In, Sum><<<blocks, threads, 2 * threads * sizeof(Sum)>>>(numbers, sums, totals, count);
    CHECK(cudaGetLastError());
    int launches = 1;
    if (blocks > 1) {
        launches += scan<Sum, Sum>(totals, totals, blocks, threads);
        add_totals<<<blocks, threads>>>(sums, totals, count);
        CHECK(cudaGetLastError());
        launches++;
    }
    CHECK(cudaFree(totals));
    return launches;
}

template <typename In, typename Sum> static bool test(const char *name, int count, int threads, int expected_launches) {
    std::vector<In> numbers(count);
    std::vector<Sum> found(count), expected(count);
    uint32_t state = 1;
    Sum sum = 0;
    for (int i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        numbers[i] = static_cast<In>(static_cast<int32_t>(state) >> 12);
        expected[i] = sum;
        sum += static_cast<Sum>(numbers[i]);
    }
    In *from;
    Sum *to;
    CHECK(cudaMalloc(&from, count * sizeof(In)));
    CHECK(cudaMalloc(&to, count * sizeof(Sum)));
    CHECK(cudaMemcpy(from, numbers.data(), count * sizeof(In), cudaMemcpyHostToDevice));
    int launches = scan<In, Sum>(from, to, count, threads);
    CHECK(cudaMemcpy(found.data(), to, count * sizeof(Sum), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(from));
    CHECK(cudaFree(to));
    int wrong = 0;
    for (int i = 0; i < count; i++)
        wrong += found[i] != expected[i];
    printf("%s: %d numbers in %d launches\n", name, count, launches);
    if (wrong || launches != expected_launches)
        printf("FAILED: %d sums of %s are wrong, and %d launches are expected\n", wrong, name, expected_launches);
    return !wrong && launches == expected_launches;
}

int main() {
    bool right = test<uint8_t, uint32_t>("uint8_t", 5000, 128, 3);
    right &= test<int16_t, int32_t>("int16_t", 1000, 32, 3);
    right &= test<int32_t, int64_t>("int32_t", 3001, 16, 5);
    // Sums of whole numbers are exact.
    right &= test<int32_t, double>("double", 2048, 64, 3);
    right &= test<uint64_t, uint64_t>("uint64_t", 77, 64, 1);
    if (right)
        printf("PASSED\n");
    return !right;
}
