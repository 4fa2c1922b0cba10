/* Uses what wave.h has, once. */
#include <math.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <wave.h>

struct shared { float tile[4][9]; float2 pairs[8]; uint4 fours[2]; unsigned bins[16]; unsigned char bytes[5]; };
KERNEL_LOCAL_MEMORY(everything, sizeof(struct shared));
KERNEL_WORKGROUP(everything, 8, 4, 1);

struct record { int words[40]; };

KERNEL void everything(float *values, unsigned *counts, struct record *records, unsigned n, double scale)
{
    LOCAL struct shared *shared = LOCAL_MEMORY(struct shared);
    unsigned x = thread_id_x(), y = thread_id_y(), i = global_id_x();
    if (i >= n) return;
    local_store(&shared->tile[y][x], values[i]);
    float2 pair = {values[i], 1.0f};
    local_store(&shared->pairs[x], pair);
    local_store(&shared->bytes[0], (unsigned char)x);
    barrier();
    float sum = local_load(&shared->tile[y][x ^ 1]) + local_load(&shared->pairs[x]).x;
    uint4 four = local_load(&shared->fours[0]);
    atomic_add(&shared->bins[x], four.w + local_load(&shared->bytes[0]));
    unsigned old = atomic_cas(&counts[x], 0u, 7u) + atomic_max(&counts[1], x);
    atomic_fetch_add((_Atomic unsigned *)&counts[2], old);
    sum = fmaf(sum, sqrtf(sum), sinf(sum)) + fminf(sum, expf(sum)) + floorf(sum);
    sum += wave_shuffle_xor(sum, 1) + (float)wave_shuffle_up(x, 1) + (float)imin((int)x, -3);
    if (wave_ballot(x == 0)) sum += (float)wave_reduce_add(x);
    memcpy(&records[i], &records[0], sizeof(struct record));
    memset(&records[0], 1, offsetof(struct record, words[30]));
    values[i] = sum * (float)scale + (float)(int32_t)sum;
}
