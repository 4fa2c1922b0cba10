// C++ with a template and LOCAL.
#include <wave.h>

struct Shared { float tile[64]; int2 pairs[4]; };
KERNEL_LOCAL_MEMORY(reverse, sizeof(Shared));
KERNEL_WORKGROUP(reverse, 64, 1, 1);

template <typename T> static T twice(T value) { return value + value; }

KERNEL void reverse(float *values)
{
    LOCAL Shared *shared = LOCAL_MEMORY(Shared);
    unsigned at = thread_id_x();
    local_store(&shared->tile[at], twice(values[at]));
    barrier();
    values[at] = local_load(&shared->tile[63 - at]) + float(local_load(&shared->pairs[0]).x & 0) + wave_shuffle(0.0f, 0);
}
