// Distances in a graph, level by level. Graph, distances and frontiers are in managed memory, which the host reads
// between launches.
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <vector>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        cudaError_t code = (call);                                                                                     \
        if (code != cudaSuccess) {                                                                                     \
            printf("FAILED: %s: %s\n", #call, cudaGetErrorString(code));                                               \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

constexpr int NODES = 1500, THREADS = 64, UNKNOWN = -1;

// The kernel finds the arrays through this structure, which is in managed memory too.
struct Graph {
    int *first, *targets, *distances;
    struct Frontier {
        int *nodes, count;
    } frontiers[2];
    unsigned long long *visits;
};

__global__ void advance(Graph *graph, int level) {
    const Graph::Frontier &from = graph->frontiers[level % 2];
    Graph::Frontier &to = graph->frontiers[(level + 1) % 2];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= from.count)
        return;
    int node = from.nodes[i];
    atomicAdd(graph->visits, (unsigned long long)(graph->first[node + 1] - graph->first[node]));
    for (int edge = graph->first[node]; edge < graph->first[node + 1]; edge++) {
        int target = graph->targets[edge];
        if (atomicCAS(&graph->distances[target], UNKNOWN, level + 1) == UNKNOWN)
            to.nodes[atomicAdd(&to.count, 1)] = target;
    }
}

// Memory for the host and the device.
template <typename T> static T *shared(size_t count) {
    T *made = nullptr;
    CHECK(cudaMallocManaged(&made, count * sizeof(T)));
    return made;
}

int main() {
    int device, managed = 0;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&managed, cudaDevAttrManagedMemory, device));
    if (!managed) {
        printf("FAILED: no managed memory\n");
        return 1;
    }
    // Rings of 50 nodes with bridges, and some nodes that nothing leads to.
    std::vector<std::vector<int>> edges(NODES);
    size_t count = 0;
    for (int node = 0; node < NODES; node++) {
        if (node % 97 != 13) {
            edges[node].push_back(node % 50 == 49 ? node - 49 : node + 1);
            for (int i = 0; i < node % 4; i++)
                edges[node].push_back((node * 31 + i * 577) % NODES);
        }
        count += edges[node].size();
    }
    auto *graph = shared<Graph>(1);
    graph->first = shared<int>(NODES + 1);
    graph->targets = shared<int>(count);
    graph->distances = shared<int>(NODES);
    for (auto &frontier : graph->frontiers)
        frontier = {shared<int>(NODES), 0};
    graph->visits = shared<unsigned long long>(1);
    graph->first[0] = 0;
    for (int node = 0, at = 0; node < NODES; node++) {
        for (int target : edges[node])
            graph->targets[at++] = target;
        graph->first[node + 1] = at;
        graph->distances[node] = UNKNOWN;
    }
    *graph->visits = 0;
    CHECK(cudaMemAdvise(graph->targets, count * sizeof(int), cudaMemAdviseSetReadMostly, device));
    CHECK(cudaMemPrefetchAsync(graph->targets, count * sizeof(int), device, 0));
    cudaPointerAttributes attributes;
    CHECK(cudaPointerGetAttributes(&attributes, graph->targets));
    if (attributes.type != cudaMemoryTypeManaged || attributes.devicePointer != graph->targets) {
        printf("FAILED: attributes of managed memory\n");
        return 1;
    }

    const int start = 7;
    graph->distances[start] = 0;
    graph->frontiers[0].nodes[0] = start;
    graph->frontiers[0].count = 1;
    int level = 0;
    while (graph->frontiers[level % 2].count > 0) {
        graph->frontiers[(level + 1) % 2].count = 0;
        int blocks = (graph->frontiers[level % 2].count + THREADS - 1) / THREADS;
        advance<<<blocks, THREADS>>>(graph, level);
        CHECK(cudaGetLastError());
        // Until then managed memory is the kernel's.
        CHECK(cudaDeviceSynchronize());
        level++;
    }

    std::vector<int> expected(NODES, UNKNOWN);
    std::deque<int> queue = {start};
    unsigned long long visits = 0;
    int reached = 1, last = 0, wrong = 0;
    expected[start] = 0;
    while (!queue.empty()) {
        int node = queue.front();
        queue.pop_front();
        last = expected[node];
        visits += edges[node].size();
        for (int target : edges[node]) {
            if (expected[target] == UNKNOWN) {
                expected[target] = expected[node] + 1;
                queue.push_back(target);
                reached++;
            }
        }
    }
    for (int node = 0; node < NODES; node++)
        wrong += graph->distances[node] != expected[node];
    bool right = !wrong && *graph->visits == visits && level == last + 1;
    printf("%d of %d nodes in %d levels, %llu visits\n", reached, NODES, level, *graph->visits);
    for (void *memory : {(void *)graph->first, (void *)graph->targets, (void *)graph->distances,
                         (void *)graph->frontiers[0].nodes, (void *)graph->frontiers[1].nodes, (void *)graph->visits,
                         (void *)graph})
        CHECK(cudaFree(memory));
    if (right)
        printf("PASSED\n");
    else
        printf("FAILED: %d distances are wrong; %d levels and %llu visits are expected\n", wrong, last + 1, visits);
    return !right;
}
