// Forces between particles in boxes: those of a box and of its neighbours count, as a list of boxes says. A workgroup has a
// box, a thread a particle, and the particles of a neighbour pass through shared memory.
#define PARTICLES 32
struct Particle {
    float x, y, z, charge;
};
__global__ void lavamd(const Particle *particles, const int *neighbours, Particle *forces, float alpha) {
    __shared__ Particle others[PARTICLES];
    int tx = threadIdx.x, own = blockIdx.x * PARTICLES + tx;
    Particle me = particles[own];
    Particle sum = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int n = 0; n < 27; n++) {
        int box = neighbours[27 * blockIdx.x + n];
        if (box < 0) continue;
        others[tx] = particles[box * PARTICLES + tx];
        __syncthreads();
        for (int j = 0; j < PARTICLES; j++) {
            float dx = me.x - others[j].x, dy = me.y - others[j].y, dz = me.z - others[j].z;
            float square = fmaf(dx, dx, fmaf(dy, dy, dz * dz));
            float potential = others[j].charge * expf(-alpha * square);
            float force = 2.0f * potential;
            sum.x = fmaf(force, dx, sum.x);
            sum.y = fmaf(force, dy, sum.y);
            sum.z = fmaf(force, dz, sum.z);
            sum.charge += potential;
        }
        __syncthreads();
    }
    forces[own] = sum;
}
