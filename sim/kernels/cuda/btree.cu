// Searches in a B+ tree of nodes with 16 keys, a thread for each. The nodes lie anywhere, and each level's place depends on
// the keys of the one above.
#define KEYS 16
__global__ void btree(const int *keys, const int *children, const int *wanted, int *found, int levels, int searches) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= searches) return;
    int key = wanted[i], node = 0, result = -1;
    for (int level = 0; level < levels; level++) {
        const int *own = keys + node * KEYS;
        // The last key that is not greater; the first one if all are.
        int slot = 0;
        while (slot + 1 < KEYS && own[slot + 1] <= key) slot++;
        int child = children[node * KEYS + slot];
        if (level + 1 < levels)
            node = child;
        else if (own[slot] == key)
            result = child;
    }
    found[i] = result;
}
