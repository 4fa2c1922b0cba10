// Bitonic sorting of keys of several types with their places: short distances in shared memory, long ones in launches.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <type_traits>
#include <vector>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        cudaError_t code = (call);                                                                                     \
        if (code != cudaSuccess) {                                                                                     \
            printf("FAILED: %s: %s\n", #call, cudaGetErrorString(code));                                               \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

constexpr unsigned BLOCK = 128;

// Orders of keys, as types.
struct Ascending {
    template <typename T> __device__ static bool swaps(T a, T b) { return b < a; }
};
struct Descending {
    template <typename T> __device__ static bool swaps(T a, T b) { return a < b; }
};

template <typename T> struct Item {
    T key;
    uint16_t place;
};

template <typename Order, typename T> __device__ void exchange(Item<T> &a, Item<T> &b, bool forwards) {
    if (forwards ? Order::swaps(a.key, b.key) : Order::swaps(b.key, a.key)) {
        Item<T> other = a;
        a = b;
        b = other;
    }
}

// Steps whose distance is within a block: all of the sizes from `size` on that fit, or the end of one size.
template <typename Order, typename T> __global__ void sort_near(Item<T> *items, unsigned size, unsigned last_size) {
    __shared__ Item<T> own[2 * BLOCK];
    unsigned first = blockIdx.x * 2 * BLOCK, thread = threadIdx.x;
    own[thread] = items[first + thread];
    own[thread + BLOCK] = items[first + thread + BLOCK];
    for (; size <= last_size; size *= 2) {
        for (unsigned distance = min(size / 2, BLOCK); distance > 0; distance /= 2) {
            __syncthreads();
            unsigned low = 2 * distance * (thread / distance) + thread % distance;
            exchange<Order>(own[low], own[low + distance], ((first + low) & size) == 0);
        }
    }
    __syncthreads();
    items[first + thread] = own[thread];
    items[first + thread + BLOCK] = own[thread + BLOCK];
}

template <typename Order, typename T> __global__ void sort_far(Item<T> *items, unsigned size, unsigned distance) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned low = 2 * distance * (i / distance) + i % distance;
    exchange<Order>(items[low], items[low + distance], (low & size) == 0);
}

template <typename Order, typename T> static int sort(Item<T> *items, unsigned count, cudaStream_t stream) {
    unsigned blocks = count / (2 * BLOCK);
    int launches = 1;
    sort_near<Order><<<blocks, BLOCK, 0, stream>>>(items, 2u, 2 * BLOCK);
    for (unsigned size = 4 * BLOCK; size <= count; size *= 2) {
        for (unsigned distance = size / 2; distance > BLOCK; distance /= 2, launches++)
            sort_far<Order><<<blocks, BLOCK, 0, stream>>>(items, size, distance);
        sort_near<Order><<<blocks, BLOCK, 0, stream>>>(items, size, size);
        launches++;
    }
    CHECK(cudaGetLastError());
    return launches;
}

template <typename Order, typename T> static bool test(const char *name, unsigned count, T (*key)(uint32_t)) {
    std::vector<Item<T>> items(count);
    std::vector<T> keys(count);
    uint32_t state = 12345;
    for (unsigned i = 0; i < count; i++) {
        state = state * 1103515245u + 12345u;
        keys[i] = key(state >> 8);
        items[i] = {keys[i], (uint16_t)i};
    }
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    Item<T> *on_device;
    CHECK(cudaMalloc(&on_device, count * sizeof(Item<T>)));
    CHECK(cudaMemcpyAsync(on_device, items.data(), count * sizeof(Item<T>), cudaMemcpyHostToDevice, stream));
    int launches = sort<Order>(on_device, count, stream);
    CHECK(cudaMemcpyAsync(items.data(), on_device, count * sizeof(Item<T>), cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(on_device));
    // In order, and each key once, with its place.
    std::vector<bool> seen(count);
    int wrong = 0;
    bool ascends = std::is_same<Order, Ascending>::value;
    for (unsigned i = 0; i < count; i++) {
        unsigned place = items[i].place;
        bool known = place < count && !seen[place] && keys[place] == items[i].key;
        if (known)
            seen[place] = true;
        bool ordered = i == 0 || (ascends ? !(items[i].key < items[i - 1].key) : !(items[i - 1].key < items[i].key));
        wrong += !known || !ordered;
    }
    printf("%s: %u keys in %d launches\n", name, count, launches);
    if (wrong)
        printf("FAILED: %d items of %s are wrong\n", wrong, name);
    return wrong == 0;
}

int main() {
    bool right = test<Ascending, int8_t>("int8_t", 1024, [](uint32_t bits) { return (int8_t)bits; });
    right &= test<Descending, uint16_t>("uint16_t", 512, [](uint32_t bits) { return (uint16_t)bits; });
    right &= test<Ascending, uint32_t>("uint32_t", 1024, [](uint32_t bits) { return bits; });
    right &= test<Ascending, int64_t>("int64_t", 512, [](uint32_t bits) { return ((int64_t)bits << 34) - bits; });
    right &= test<Descending, float>("float", 256, [](uint32_t bits) { return (float)bits - 8e6f; });
    right &= test<Descending, double>("double", 512, [](uint32_t bits) { return 1.0 / (bits + 1); });
    if (right)
        printf("PASSED\n");
    return !right;
}
