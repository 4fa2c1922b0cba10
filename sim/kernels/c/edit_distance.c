/* The edit distance (Levenshtein) of pairs of strings, one pair a thread: the least number of letters that are inserted,
   deleted or replaced to turn one into the other. One row of the table at a time, in local memory. */
#include <wave.h>

#define THREADS 64
#define LONGEST 48

/* A column for each thread, so that they are in different banks. */
struct rows {
    unsigned at[LONGEST][THREADS];
};
KERNEL_LOCAL_MEMORY(edit_distance, sizeof(struct rows));
KERNEL_WORKGROUP(edit_distance, THREADS, 1, 1);

/* length is at most 48. */
KERNEL void edit_distance(const unsigned char *a, const unsigned char *b, unsigned *distances, unsigned length,
                          unsigned pairs)
{
    LOCAL struct rows *rows = LOCAL_MEMORY(struct rows);
    unsigned pair = global_id_x(), t = thread_id_x();
    if (pair >= pairs) return;
    a += pair * length;
    b += pair * length;
    for (unsigned j = 0; j < length; j++) local_store(&rows->at[j][t], j + 1);
    unsigned distance = length;
    for (unsigned i = 0; i < length; i++) {
        unsigned letter = a[i], diagonal = i, left = i + 1;
#pragma unroll 1
        for (unsigned j = 0; j < length; j++) {
            unsigned above = local_load(&rows->at[j][t]);
            unsigned replaced = diagonal + (letter != b[j]);
            left = umin(umin(above, left) + 1, replaced);
            diagonal = above;
            local_store(&rows->at[j][t], left);
        }
        distance = left;
    }
    distances[pair] = distance;
}
