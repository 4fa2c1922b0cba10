// A level of a breadth-first search: each vertex of the last level puts its neighbours that nobody has seen into the next.
__global__ void bfs(const unsigned *offsets, const unsigned *columns, unsigned *depths, const unsigned *queue,
                    unsigned *next, unsigned *sizes, unsigned depth) {
    unsigned size = sizes[0];
    for (unsigned at = blockIdx.x * blockDim.x + threadIdx.x; at < size; at += gridDim.x * blockDim.x) {
        unsigned vertex = queue[at];
        for (unsigned edge = offsets[vertex]; edge < offsets[vertex + 1]; edge++) {
            unsigned neighbour = columns[edge];
            if (atomicCAS(&depths[neighbour], 0xffffffffu, depth) == 0xffffffffu) next[atomicAdd(&sizes[1], 1u)] = neighbour;
        }
    }
}
