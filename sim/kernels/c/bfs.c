/* Breadth-first search, one level a launch. The neighbours of v are columns[offsets[v]..offsets[v + 1]]. A launch takes
   the vertices of one level from a queue, gives every neighbour that has no depth the next one, and puts it into the
   queue of the next level. Only atomics touch a depth, and a compare-and-swap decides which thread discovers a vertex. */
#include <wave.h>

#define NONE 0xFFFFFFFFu

KERNEL_WORKGROUP(bfs, 256, 1, 1);

/* sizes[0] is the size of this queue, sizes[1] that of the next one. */
KERNEL void bfs(const unsigned *offsets, const unsigned *columns, unsigned *depths, const unsigned *queue,
                unsigned *next_queue, unsigned *sizes, unsigned next_depth)
{
    unsigned size = sizes[0], threads = global_size_x();
    for (unsigned i = global_id_x(); i < size; i += threads) {
        unsigned vertex = queue[i];
        unsigned end = offsets[vertex + 1];
        for (unsigned edge = offsets[vertex]; edge < end; edge++) {
            unsigned neighbour = columns[edge];
            if (atomic_cas(&depths[neighbour], NONE, next_depth) == NONE)
                next_queue[atomic_add(&sizes[1], 1u)] = neighbour;
        }
    }
}
