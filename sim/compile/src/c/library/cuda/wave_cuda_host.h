// What the host's half of a CUDA program calls: functions and structures of libcudart, as CUDA 12 has them.
#pragma once

enum cudaError { cudaSuccess = 0, cudaErrorInvalidValue = 1, cudaErrorMemoryAllocation = 2, cudaErrorNotReady = 600,
                 cudaErrorUnknown = 999 };
typedef enum cudaError cudaError_t;
enum cudaMemcpyKind { cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice,
                      cudaMemcpyDefault };
enum cudaFuncCache { cudaFuncCachePreferNone, cudaFuncCachePreferShared, cudaFuncCachePreferL1, cudaFuncCachePreferEqual };
enum cudaSharedMemConfig { cudaSharedMemBankSizeDefault, cudaSharedMemBankSizeFourByte, cudaSharedMemBankSizeEightByte };
enum cudaLimit { cudaLimitStackSize, cudaLimitPrintfFifoSize, cudaLimitMallocHeapSize };
enum cudaDeviceAttr { cudaDevAttrMaxThreadsPerBlock = 1, cudaDevAttrMultiProcessorCount = 16 };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
                         cudaFuncAttributePreferredSharedMemoryCarveout = 9 };
enum { cudaHostAllocDefault, cudaHostAllocPortable, cudaHostAllocMapped, cudaHostAllocWriteCombined = 4,
       cudaEventDefault = 0, cudaEventBlockingSync = 1, cudaEventDisableTiming = 2, cudaDeviceMapHost = 8,
       cudaStreamDefault = 0, cudaStreamNonBlocking = 1, cudaMemAttachGlobal = 1 };
typedef struct wave_cuda_stream *cudaStream_t;
typedef struct wave_cuda_event *cudaEvent_t;
struct cudaUUID_t { char bytes[16]; };
// As CUDA 12 has it.
struct cudaDeviceProp {
    char name[256];
    cudaUUID_t uuid;
    char luid[8];
    unsigned luidDeviceNodeMask;
    size_t totalGlobalMem, sharedMemPerBlock;
    int regsPerBlock, warpSize;
    size_t memPitch;
    int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate;
    size_t totalConstMem;
    int major, minor;
    size_t textureAlignment, texturePitchAlignment;
    int deviceOverlap, multiProcessorCount, kernelExecTimeoutEnabled, integrated, canMapHostMemory, computeMode,
        maxTexture1D, maxTexture1DMipmap, maxTexture1DLinear, maxTexture2D[2], maxTexture2DMipmap[2],
        maxTexture2DLinear[3], maxTexture2DGather[2], maxTexture3D[3], maxTexture3DAlt[3], maxTextureCubemap,
        maxTexture1DLayered[2], maxTexture2DLayered[3], maxTextureCubemapLayered[2], maxSurface1D, maxSurface2D[2],
        maxSurface3D[3], maxSurface1DLayered[2], maxSurface2DLayered[3], maxSurfaceCubemap, maxSurfaceCubemapLayered[2];
    size_t surfaceAlignment;
    int concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver, asyncEngineCount,
        unifiedAddressing, memoryClockRate, memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize,
        maxThreadsPerMultiProcessor, streamPrioritiesSupported, globalL1CacheSupported, localL1CacheSupported;
    size_t sharedMemPerMultiprocessor;
    int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID, hostNativeAtomicSupported,
        singleToDoublePrecisionPerfRatio, pageableMemoryAccess, concurrentManagedAccess, computePreemptionSupported,
        canUseHostPointerForRegisteredMem, cooperativeLaunch, cooperativeMultiDeviceLaunch;
    size_t sharedMemPerBlockOptin;
    int pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost, maxBlocksPerMultiProcessor,
        accessPolicyMaxWindowSize;
    size_t reservedSharedMemPerBlock;
    int hostRegisterSupported, rest[75];
};
static_assert(sizeof(cudaDeviceProp) == 1032 && __builtin_offsetof(cudaDeviceProp, multiProcessorCount) == 388 &&
                  __builtin_offsetof(cudaDeviceProp, maxBlocksPerMultiProcessor) == 712,
              "the layout is that of CUDA 12");
struct cudaFuncAttributes {
    size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
    int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA, maxDynamicSharedSizeBytes,
        preferredShmemCarveout, rest[24];
};
struct cudaPointerAttributes {
    int type, device;
    void *devicePointer, *hostPointer;
};
struct cudaExtent { size_t width, height, depth; };
struct cudaPitchedPtr { void *ptr; size_t pitch, xsize, ysize; };

extern "C" {
cudaError_t cudaConfigureCall(dim3, dim3, size_t = 0, cudaStream_t = 0);
unsigned __cudaPushCallConfiguration(dim3, dim3, size_t = 0, cudaStream_t = 0);
unsigned __cudaPopCallConfiguration(dim3 *, dim3 *, size_t *, void *);
cudaError_t cudaLaunchKernel(const void *, dim3, dim3, void **, size_t, cudaStream_t);
cudaError_t cudaLaunchCooperativeKernel(const void *, dim3, dim3, void **, size_t, cudaStream_t);
cudaError_t cudaLaunchHostFunc(cudaStream_t, void (*)(void *), void *);
cudaError_t cudaMalloc(void **, size_t);
cudaError_t cudaMallocHost(void **, size_t);
cudaError_t cudaMallocManaged(void **, size_t, unsigned);
cudaError_t cudaMallocPitch(void **, size_t *, size_t, size_t);
cudaError_t cudaHostAlloc(void **, size_t, unsigned);
cudaError_t cudaHostGetDevicePointer(void **, void *, unsigned);
cudaError_t cudaGetSymbolAddress(void **, const void *);
cudaError_t cudaGetSymbolSize(size_t *, const void *);
cudaError_t cudaMemcpyToSymbol(const void *, const void *, size_t, size_t, cudaMemcpyKind);
cudaError_t cudaMemcpyFromSymbol(void *, const void *, size_t, size_t, cudaMemcpyKind);
cudaError_t cudaFuncSetCacheConfig(const void *, cudaFuncCache);
cudaError_t cudaFuncSetAttribute(const void *, cudaFuncAttribute, int);
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *, const void *);
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *, const void *, int, size_t);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *, const void *);
cudaError_t cudaFree(void *);
cudaError_t cudaFreeHost(void *);
cudaError_t cudaMemcpy(void *, const void *, size_t, cudaMemcpyKind);
cudaError_t cudaMemcpyAsync(void *, const void *, size_t, cudaMemcpyKind, cudaStream_t = 0);
cudaError_t cudaMemcpy2D(void *, size_t, const void *, size_t, size_t, size_t, cudaMemcpyKind);
cudaError_t cudaMemset(void *, int, size_t);
cudaError_t cudaMemset2D(void *, size_t, int, size_t, size_t);
cudaError_t cudaMemsetAsync(void *, int, size_t, cudaStream_t = 0);
cudaError_t cudaMemGetInfo(size_t *, size_t *);
cudaError_t cudaMemPrefetchAsync(const void *, size_t, int, cudaStream_t = 0);
cudaError_t cudaHostRegister(void *, size_t, unsigned);
cudaError_t cudaHostUnregister(void *);
cudaError_t cudaGetLastError(void);
cudaError_t cudaPeekAtLastError(void);
const char *cudaGetErrorString(cudaError_t);
const char *cudaGetErrorName(cudaError_t);
cudaError_t cudaThreadSynchronize(void);
cudaError_t cudaThreadExit(void);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaDeviceReset(void);
cudaError_t cudaDeviceSetLimit(cudaLimit, size_t);
cudaError_t cudaDeviceGetAttribute(int *, cudaDeviceAttr, int);
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache);
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig);
cudaError_t cudaDriverGetVersion(int *);
cudaError_t cudaRuntimeGetVersion(int *);
cudaError_t cudaSetDevice(int);
cudaError_t cudaSetDeviceFlags(unsigned);
cudaError_t cudaGetDevice(int *);
cudaError_t cudaGetDeviceCount(int *);
#define cudaGetDeviceProperties cudaGetDeviceProperties_v2
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *, int);
cudaError_t cudaChooseDevice(int *, const cudaDeviceProp *);
cudaError_t cudaEventCreate(cudaEvent_t *);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *, unsigned);
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t = 0);
cudaError_t cudaEventSynchronize(cudaEvent_t);
cudaError_t cudaEventQuery(cudaEvent_t);
cudaError_t cudaEventElapsedTime(float *, cudaEvent_t, cudaEvent_t);
cudaError_t cudaEventDestroy(cudaEvent_t);
cudaError_t cudaStreamCreate(cudaStream_t *);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *, unsigned);
cudaError_t cudaStreamDestroy(cudaStream_t);
cudaError_t cudaStreamSynchronize(cudaStream_t);
cudaError_t cudaStreamQuery(cudaStream_t);
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned = 0);
cudaError_t cudaProfilerStart(void);
cudaError_t cudaProfilerStop(void);
}
#define WAVE_CUDA_HOST template <typename T> static inline __attribute__((unused)) cudaError_t
WAVE_CUDA_HOST cudaMalloc(T **p, size_t bytes) { return cudaMalloc((void **)p, bytes); }
WAVE_CUDA_HOST cudaMallocHost(T **p, size_t bytes, unsigned flags = 0) { return cudaHostAlloc((void **)p, bytes, flags); }
WAVE_CUDA_HOST cudaMallocManaged(T **p, size_t bytes, unsigned flags = 1) {
    return cudaMallocManaged((void **)p, bytes, flags);
}
WAVE_CUDA_HOST cudaMallocPitch(T **p, size_t *pitch, size_t width, size_t height) {
    return cudaMallocPitch((void **)p, pitch, width, height);
}
WAVE_CUDA_HOST cudaHostAlloc(T **p, size_t bytes, unsigned flags) { return cudaHostAlloc((void **)p, bytes, flags); }
WAVE_CUDA_HOST cudaHostGetDevicePointer(T **p, void *host, unsigned flags) {
    return cudaHostGetDevicePointer((void **)p, host, flags);
}
WAVE_CUDA_HOST cudaGetSymbolAddress(void **p, const T &symbol) { return cudaGetSymbolAddress(p, (const void *)&symbol); }
WAVE_CUDA_HOST cudaGetSymbolSize(size_t *bytes, const T &symbol) {
    return cudaGetSymbolSize(bytes, (const void *)&symbol);
}
WAVE_CUDA_HOST cudaMemcpyToSymbol(const T &symbol, const void *from, size_t bytes, size_t offset = 0,
                                  cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
    return cudaMemcpyToSymbol((const void *)&symbol, from, bytes, offset, kind);
}
WAVE_CUDA_HOST cudaMemcpyFromSymbol(void *to, const T &symbol, size_t bytes, size_t offset = 0,
                                    cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
    return cudaMemcpyFromSymbol(to, (const void *)&symbol, bytes, offset, kind);
}
WAVE_CUDA_HOST cudaFuncSetCacheConfig(T *kernel, cudaFuncCache mode) {
    return cudaFuncSetCacheConfig((const void *)kernel, mode);
}
WAVE_CUDA_HOST cudaFuncSetAttribute(T *kernel, cudaFuncAttribute attribute, int value) {
    return cudaFuncSetAttribute((const void *)kernel, attribute, value);
}
WAVE_CUDA_HOST cudaFuncGetAttributes(cudaFuncAttributes *attributes, T *kernel) {
    return cudaFuncGetAttributes(attributes, (const void *)kernel);
}
WAVE_CUDA_HOST cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, T *kernel, int threads, size_t bytes) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (const void *)kernel, threads, bytes);
}
WAVE_CUDA_HOST cudaOccupancyMaxPotentialBlockSize(int *grid, int *block, T kernel, size_t bytes = 0, int limit = 0) {
    cudaFuncAttributes of;
    int cores, best = 0;
    cudaError_t error = cudaFuncGetAttributes(&of, (const void *)kernel);
    if (error != cudaSuccess || (error = cudaDeviceGetAttribute(&cores, cudaDevAttrMultiProcessorCount, 0)) != cudaSuccess)
        return error;
    int most = limit > 0 && limit < of.maxThreadsPerBlock ? limit : of.maxThreadsPerBlock;
    *grid = *block = 0;
    for (int threads = most; threads > 0; threads -= 32) {
        int blocks;
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void *)kernel, threads, bytes);
        if (error != cudaSuccess) return error;
        if (blocks * threads > best) best = blocks * threads, *block = threads, *grid = blocks * cores;
    }
    return cudaSuccess;
}
WAVE_CUDA_HOST cudaLaunchKernel(T *kernel, dim3 grid, dim3 block, void **arguments, size_t bytes = 0,
                                cudaStream_t stream = 0) {
    return cudaLaunchKernel((const void *)kernel, grid, block, arguments, bytes, stream);
}
WAVE_CUDA_HOST cudaLaunchCooperativeKernel(T *kernel, dim3 grid, dim3 block, void **arguments, size_t bytes = 0,
                                           cudaStream_t stream = 0) {
    return cudaLaunchCooperativeKernel((const void *)kernel, grid, block, arguments, bytes, stream);
}
#undef WAVE_CUDA_HOST

// An assertion that fails stops the run.
extern "C" __device__ __attribute__((noreturn)) inline void __assert_fail(const char *, const char *, unsigned,
                                                                          const char *) {
    __builtin_trap();
}

// Refused by name where a kernel calls them.
extern "C" __device__ int printf(const char *, ...);
extern "C" __device__ void *malloc(size_t);
extern "C" __device__ void free(void *);
