// Cooperative groups of CUDA: the workgroup, and tiles of a warp.
#pragma once

namespace cooperative_groups {
struct thread_block {
    __device__ void sync() const { __syncthreads(); }
    __device__ unsigned size() const { return blockDim.x * blockDim.y * blockDim.z; }
    __device__ unsigned num_threads() const { return size(); }
    __device__ unsigned thread_rank() const {
        return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    }
    __device__ dim3 group_index() const { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
    __device__ dim3 thread_index() const { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
};
__device__ inline thread_block this_thread_block() { return thread_block(); }

template <unsigned Threads> struct thread_block_tile {
    static_assert(Threads <= 32 && (Threads & (Threads - 1)) == 0, "a tile has 1, 2, 4, 8, 16 or 32 threads");
    __device__ unsigned thread_rank() const { return this_thread_block().thread_rank() & (Threads - 1); }
    __device__ unsigned meta_group_rank() const { return this_thread_block().thread_rank() / Threads; }
    __device__ unsigned meta_group_size() const { return (this_thread_block().size() + Threads - 1) / Threads; }
    __device__ constexpr unsigned size() const { return Threads; }
    __device__ constexpr unsigned num_threads() const { return Threads; }
    __device__ void sync() const { __syncwarp(); }
    template <typename T> __device__ T shfl(T v, int lane) const { return __shfl_sync(~0u, v, lane, Threads); }
    template <typename T> __device__ T shfl_up(T v, int by) const { return __shfl_up_sync(~0u, v, by, Threads); }
    template <typename T> __device__ T shfl_down(T v, int by) const { return __shfl_down_sync(~0u, v, by, Threads); }
    template <typename T> __device__ T shfl_xor(T v, int by) const { return __shfl_xor_sync(~0u, v, by, Threads); }
    __device__ unsigned ballot(int p) const {
        unsigned first = (threadIdx.x & 31) & ~(Threads - 1);
        return __ballot_sync(~0u, p) >> first & (Threads == 32 ? ~0u : (1u << (Threads & 31)) - 1);
    }
    __device__ int any(int p) const { return ballot(p) != 0; }
    __device__ int all(int p) const { return ballot(!p) == 0; }
};
template <unsigned Threads> __device__ thread_block_tile<Threads> tiled_partition(const thread_block &) {
    return thread_block_tile<Threads>();
}
template <typename Group> __device__ void sync(const Group &group) { group.sync(); }
}
