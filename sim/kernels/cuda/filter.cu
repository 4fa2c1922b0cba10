// A filter of 17 coefficients in constant memory over a signal of 64-bit positions, with a switch on the border's kind.
__constant__ float coefficients[17] = {0.01f, 0.02f, 0.03f, 0.05f, 0.07f, 0.08f, 0.09f, 0.1f, 0.1f,
                                       0.1f,  0.09f, 0.08f, 0.07f, 0.05f, 0.03f, 0.02f, 0.01f};
__device__ __noinline__ float at(const float *signal, long place, long n, int border) {
    if (place >= 0 && place < n) return signal[place];
    switch (border) {
    case 0: return 0.0f;
    case 1: return signal[place < 0 ? 0 : n - 1];
    case 2: return signal[(place % n + n) % n];
    default: return signal[place < 0 ? -place - 1 : 2 * n - 1 - place];
    }
}
__global__ void filter(const float *signal, float *filtered, long n, int border) {
    long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0.0f;
    for (int j = 0; j < 17; j++) sum = fmaf(coefficients[j], at(signal, i + j - 8, n, border), sum);
    filtered[i] = sum;
}
