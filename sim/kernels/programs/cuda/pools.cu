// Memory pools: allocations in the order of a stream, what a pool tells of them, and wrong requests.
#include <cstdio>

__global__ void fill(int *p, int value) { p[threadIdx.x] = value; }

static int wrong = 0;

static void expect(const char *what, unsigned long long found, unsigned long long expected)
{
    if (found != expected) {
        printf("FAILED: %s is %llu, not %llu\n", what, found, expected);
        wrong++;
    }
}

static unsigned long long attribute(cudaMemPool_t pool, cudaMemPoolAttr which)
{
    unsigned long long value = 0;
    expect("the code of an attribute", cudaMemPoolGetAttribute(pool, which, &value), cudaSuccess);
    return value;
}

int main()
{
    cudaMemPool_t pool, current;
    int supported = 0;
    cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, 0);
    expect("the support of pools", supported, 1);
    expect("a default pool", cudaDeviceGetDefaultMemPool(&pool, 0), cudaSuccess);
    expect("the current pool", cudaDeviceGetMemPool(&current, 0), cudaSuccess);
    expect("the current pool", current == pool, 1);

    int *a, *b, h[64];
    cudaMallocAsync((void **)&a, 1024, 0);
    cudaMallocFromPoolAsync((void **)&b, 256, pool, 0);
    expect("the bytes in use", attribute(pool, cudaMemPoolAttrUsedMemCurrent), 1280);
    fill<<<1, 64>>>(a, 7);
    cudaMemcpyAsync(h, a, sizeof h, cudaMemcpyDeviceToHost, 0);
    cudaFreeAsync(a, 0);
    cudaStreamSynchronize(0);
    expect("a value", h[63], 7);
    expect("the bytes in use", attribute(pool, cudaMemPoolAttrUsedMemCurrent), 256);
    expect("the most bytes in use", attribute(pool, cudaMemPoolAttrUsedMemHigh), 1280);
    unsigned long long zero = 0, threshold = 4096;
    expect("a reset", cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &zero), cudaSuccess);
    expect("the most bytes in use", attribute(pool, cudaMemPoolAttrUsedMemHigh), 256);
    cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold);
    expect("the threshold", attribute(pool, cudaMemPoolAttrReleaseThreshold), 4096);
    cudaFree(b);
    expect("the bytes in use", attribute(pool, cudaMemPoolAttrUsedMemCurrent), 0);

    cudaMemPoolProps properties = {};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    cudaMemPool_t own;
    expect("a pool", cudaMemPoolCreate(&own, &properties), cudaSuccess);
    expect("a change of the pool", cudaDeviceSetMemPool(0, own), cudaSuccess);
    cudaMallocAsync((void **)&a, 512, 0);
    expect("the bytes of the new pool", attribute(own, cudaMemPoolAttrUsedMemCurrent), 512);
    cudaFreeAsync(a, 0);
    expect("a trim", cudaMemPoolTrimTo(own, 0), cudaSuccess);
    expect("the end of a pool", cudaMemPoolDestroy(own), cudaSuccess);
    expect("the end of it once more", cudaMemPoolDestroy(own), cudaErrorInvalidValue);
    expect("the end of the default pool", cudaMemPoolDestroy(pool), cudaErrorInvalidValue);
    expect("a pool of no device", cudaDeviceGetDefaultMemPool(&pool, 3), cudaErrorInvalidDevice);
    if (!wrong)
        printf("PASSED\n");
    return wrong != 0;
}
