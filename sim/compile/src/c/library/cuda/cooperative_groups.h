// Cooperative groups of CUDA: the grid, the workgroup, and tiles of a warp.
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

// All workgroups of a grid that was launched cooperatively. The device keeps two words for it; two special registers have
// their address.
struct grid_group {
    __device__ bool is_valid() const { return true; }
    __device__ unsigned long long num_blocks() const { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
    __device__ unsigned long long block_rank() const {
        return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    }
    __device__ unsigned long long size() const { return num_blocks() * this_thread_block().size(); }
    __device__ unsigned long long num_threads() const { return size(); }
    __device__ unsigned long long thread_rank() const {
        return block_rank() * this_thread_block().size() + this_thread_block().thread_rank();
    }
    __device__ dim3 dim_blocks() const { return dim3(gridDim.x, gridDim.y, gridDim.z); }
    __device__ dim3 group_dim() const { return dim_blocks(); }
    __device__ dim3 block_index() const { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
    __device__ void sync() const {
        const unsigned turns = 1u << 31;
        __syncthreads();
        if (this_thread_block().thread_rank() == 0) {
            unsigned low, high;
            asm("mov.u32 %0, %%envreg2;" : "=r"(low));
            asm("mov.u32 %0, %%envreg1;" : "=r"(high));
            unsigned *barrier = (unsigned *)((unsigned long long)high << 32 | low) + 1;
            // The first workgroup adds so much that the topmost bit turns when the last one arrives.
            unsigned step = block_rank() == 0 ? turns - ((unsigned)num_blocks() - 1) : 1;
            __threadfence();
            unsigned before = atomicAdd(barrier, step);
            while (((*(volatile unsigned *)barrier ^ before) & turns) == 0) {}
            __threadfence();
        }
        __syncthreads();
    }
};
__device__ inline grid_group this_grid() { return grid_group(); }

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
