/* How often each byte value occurs. Each workgroup counts into 256 bins in local memory, with local atomics, and adds its
   bins to those in device memory at the end: 256 device atomics a workgroup, not one a byte. */
#include <wave.h>

#define BINS 256

struct bins {
    unsigned count[BINS];
};
KERNEL_LOCAL_MEMORY(histogram, sizeof(struct bins));
KERNEL_WORKGROUP(histogram, 256, 1, 1);

/* n, the number of bytes, is a multiple of 16. */
KERNEL void histogram(const uint4 *data, unsigned *result, unsigned n)
{
    LOCAL struct bins *bins = LOCAL_MEMORY(struct bins);
    unsigned t = thread_id_x(), size = workgroup_size_x(), threads = global_size_x();
    for (unsigned bin = t; bin < BINS; bin += size) local_store(&bins->count[bin], 0u);
    barrier();
    for (unsigned i = global_id_x(); i < n / 16; i += threads) {
        uint4 bytes = data[i];
        for (unsigned byte = 0; byte < 4; byte++) {
            atomic_add(&bins->count[bytes.x & 255], 1u);
            atomic_add(&bins->count[bytes.y & 255], 1u);
            atomic_add(&bins->count[bytes.z & 255], 1u);
            atomic_add(&bins->count[bytes.w & 255], 1u);
            bytes.x >>= 8;
            bytes.y >>= 8;
            bytes.z >>= 8;
            bytes.w >>= 8;
        }
    }
    barrier(); /* all threads of the workgroup have counted */
    for (unsigned bin = t; bin < BINS; bin += size) {
        unsigned count = local_load(&bins->count[bin]);
        if (count != 0) atomic_add(&result[bin], count);
    }
}
