// Forces between all pairs of charges: positions and charges of a block of bodies in shared memory.
#define BLOCK 64
__global__ void nbody(const float4 *bodies, float4 *forces, int n, float softening) {
    __shared__ float4 near[BLOCK];
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float4 own = bodies[i];
    float x = 0.0f, y = 0.0f, z = 0.0f;
    for (int first = 0; first < n; first += BLOCK) {
        near[threadIdx.x] = bodies[first + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < BLOCK; j++) {
            float4 other = near[j];
            float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
            float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening);
            float factor = other.w * inverse * inverse * inverse;
            x += factor * dx;
            y += factor * dy;
            z += factor * dz;
        }
        __syncthreads();
    }
    forces[i] = make_float4(x, y, z, 0.0f);
}
