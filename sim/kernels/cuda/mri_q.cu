// The matrix Q of a reconstruction of magnetic resonance images: for each voxel a sum of waves over all samples of the
// k-space, which pass through shared memory.
#define SAMPLES 128
struct Sample {
    float x, y, z, weight;
};
__global__ void mri_q(const Sample *samples, const float *x, const float *y, const float *z, float *real, float *imaginary,
                      int count) {
    __shared__ Sample some[SAMPLES];
    int voxel = blockIdx.x * blockDim.x + threadIdx.x;
    float own_x = x[voxel], own_y = y[voxel], own_z = z[voxel];
    float re = 0.0f, im = 0.0f;
    for (int first = 0; first < count; first += SAMPLES) {
        some[threadIdx.x] = samples[first + threadIdx.x];
        __syncthreads();
        for (int i = 0; i < SAMPLES; i++) {
            float angle = 6.2831853f * fmaf(some[i].x, own_x, fmaf(some[i].y, own_y, some[i].z * own_z));
            re = fmaf(some[i].weight, __cosf(angle), re);
            im = fmaf(some[i].weight, __sinf(angle), im);
        }
        __syncthreads();
    }
    real[voxel] = re;
    imaginary[voxel] = im;
}
