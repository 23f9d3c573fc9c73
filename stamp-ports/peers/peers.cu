// The peers of the kernels that measure operations alone, by libcu++ and cooperative groups, with
// the same loops as ours: sections (stm-kernels/src/sections.rs), entries and waits
// (stm-kernels/src/machine.rs), and these with a check (stm-kernels/src/checked.rs).
//
//     nvcc -std=c++17 -arch=sm_90 -O3 -ptx peers.cu
#include <cooperative_groups.h>
#include <cstddef>
#include <cstdint>
#include <new>
#include <cuda/atomic>
#include <cuda/semaphore>

using word = cuda::atomic_ref<uint32_t, cuda::thread_scope_device>;
using binary = cuda::binary_semaphore<cuda::thread_scope_device>;
using counting = cuda::counting_semaphore<cuda::thread_scope_device>;

// What all of them take.
struct params {
    // 128 bytes; the first block makes the semaphore there.
    void *object;
    // 0 until the semaphore is made.
    uint32_t *ready;
    // All 0 at first. Of sections a word for each block, for the number that it has made; of checked
    // entries two: the threads inside, and how often a thread has found the semaphore full; of checked
    // waits one for each thread of the grid, and behind them the number of words that were wrong.
    uint32_t *words;
    // The counter that the binary semaphore protects, 0 at first.
    uint32_t *counter;
    // How many threads may be inside of the counting semaphore.
    uint32_t count;
    // The sections of all blocks, the entries of each block, or the waits of each thread.
    uint32_t times;
};

// Returns the semaphore, which the first block makes.
template <typename SEMAPHORE>
static __device__ SEMAPHORE *made(const params &p, uint32_t count) {
    static_assert(sizeof(SEMAPHORE) <= 128 && alignof(SEMAPHORE) <= 128);
    word ready(*p.ready);
    if (blockIdx.x == 0) {
        new (p.object) SEMAPHORE(static_cast<ptrdiff_t>(count));
        ready.store(1, cuda::memory_order_release);
    }
    while (ready.load(cuda::memory_order_acquire) == 0) {}
    return static_cast<SEMAPHORE *>(p.object);
}

extern "C" __global__ void sections_binary_semaphore(params p) {
    if (threadIdx.x != 0) return;
    binary *lock = made<binary>(p, 1);
    volatile uint32_t *counter = p.counter;
    uint32_t sections = 0;
    bool more = true;
    while (more) {
        lock->acquire();
        uint32_t count = *counter;
        more = count < p.times;
        if (more) *counter = count + 1;
        lock->release();
        sections += more;
    }
    p.words[blockIdx.x] = sections;
}

template <bool CHECKED>
static __device__ void enter(const params &p) {
    if (threadIdx.x != 0) return;
    counting *semaphore = made<counting>(p, p.count);
    for (uint32_t k = 0; k < p.times; k++) {
        semaphore->acquire();
        if constexpr (CHECKED) {
            word inside(p.words[0]), over(p.words[1]);
            if (inside.fetch_add(1, cuda::memory_order_relaxed) >= p.count)
                over.fetch_add(1, cuda::memory_order_relaxed);
            inside.fetch_sub(1, cuda::memory_order_relaxed);
        }
        semaphore->release();
    }
}

extern "C" __global__ void entries_counting_semaphore(params p) { enter<false>(p); }

extern "C" __global__ void entries_counting_semaphore_checked(params p) { enter<true>(p); }

// The launch must be cooperative.
extern "C" __global__ void meetings_grid_sync(params p) {
    auto grid = cooperative_groups::this_grid();
    for (uint32_t k = 0; k < p.times; k++) grid.sync();
}

extern "C" __global__ void meetings_grid_sync_checked(params p) {
    auto grid = cooperative_groups::this_grid();
    volatile uint32_t *words = p.words;
    const uint32_t threads = gridDim.x * blockDim.x;
    const uint32_t me = blockIdx.x * blockDim.x + threadIdx.x;
    const uint32_t step = threads > blockDim.x ? blockDim.x + 1 : 1;
    uint32_t other = me, wrong = 0;
    for (uint32_t k = 1; k <= p.times; k++) {
        words[me] = k;
        grid.sync();
        other += step;
        if (other >= threads) other -= threads;
        // The other one may have gone on to its next wait, but not past it.
        const uint32_t found = words[other];
        wrong += found != k && found != k + 1;
    }
    if (wrong != 0) atomicAdd(p.words + threads, wrong);
}
