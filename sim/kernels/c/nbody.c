/* Forces between all pairs of charges: a_i = sum over j of q_j (p_j - p_i) / (|p_j - p_i|^2 + e)^1.5. The pairs of one i
   and a segment of the j belong to one thread; nbody_sum adds the segments. */
#include <wave.h>

/* x, y, z and the charge. */
typedef float4 body;

struct bodies {
    body at[256];
};
/* A body for each thread of a workgroup. */
KERNEL_LOCAL_MEMORY(nbody_partial, 64 * sizeof(body));
KERNEL_WORKGROUP(nbody_partial, 64, 1, 1);

/* n and the bodies of a segment are multiples of the workgroup's size. Grid: x covers n, y the segments. */
KERNEL void nbody_partial(const body *bodies, float4 *partial, unsigned n, unsigned in_segment, float softening)
{
    LOCAL struct bodies *shared = LOCAL_MEMORY(struct bodies);
    unsigned i = global_id_x(), t = thread_id_x(), size = workgroup_size_x(), segment = workgroup_id_y();
    body me = bodies[i];
    const body *next = bodies + segment * in_segment + t;
    float4 force = {0, 0, 0, 0};
    for (unsigned done = 0; done < in_segment; done += size) {
        body mine = *next;
        next += size;
        barrier(); /* nobody reads the last bodies any more */
        local_store(&shared->at[t], mine);
        barrier();
#pragma unroll 1
        for (unsigned j = 0; j < size; j++) {
            body other = local_load(&shared->at[j]); /* the same address in all threads */
            float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
            float square = fmaf(dz, dz, fmaf(dy, dy, fmaf(dx, dx, softening)));
            float inverse = rsqrtf(square);
            float scale = inverse * inverse * (other.w * inverse);
            force.x = fmaf(dx, scale, force.x);
            force.y = fmaf(dy, scale, force.y);
            force.z = fmaf(dz, scale, force.z);
        }
    }
    partial[segment * n + i] = force;
}

KERNEL_WORKGROUP(nbody_sum, 64, 1, 1);

KERNEL void nbody_sum(const float4 *partial, float4 *forces, unsigned n, unsigned segments)
{
    unsigned i = global_id_x();
    if (i >= n) return;
    float4 sum = {0, 0, 0, 0};
#pragma unroll 1
    for (unsigned segment = 0; segment < segments; segment++) {
        float4 part = partial[segment * n + i];
        sum.x += part.x;
        sum.y += part.y;
        sum.z += part.z;
    }
    forces[i] = sum;
}
