// Entries into libcu++'s counting semaphore: the peer of `Entries` in
// stm-kernels/src/machine.rs and of `CheckedEntries` in stm-kernels/src/checked.rs,
// with the same loops.
//
//     nvcc -std=c++17 -arch=sm_90 -O3 -ptx semaphore.cu
#include <cstddef>
#include <cstdint>
#include <new>
#include <cuda/atomic>
#include <cuda/semaphore>

using semaphore = cuda::counting_semaphore<cuda::thread_scope_device>;
using word = cuda::atomic_ref<uint32_t, cuda::thread_scope_device>;

struct params {
    // 128 bytes; the first block makes the semaphore there.
    semaphore *place;
    // 0 until the semaphore is made.
    uint32_t *ready;
    // Two words, 0 at first, which only the checked loop uses: the threads inside, and
    // how often a thread has found the semaphore full.
    uint32_t *found;
    // How many threads may be inside.
    uint32_t count;
    // How often the first thread of each block enters.
    uint32_t times;
};
static_assert(sizeof(semaphore) <= 128 && alignof(semaphore) <= 128);

template <bool CHECKED>
static __device__ void enter(const params &p) {
    if (threadIdx.x != 0) return;
    word ready(*p.ready);
    if (blockIdx.x == 0) {
        new (p.place) semaphore(static_cast<ptrdiff_t>(p.count));
        ready.store(1, cuda::memory_order_release);
    }
    while (ready.load(cuda::memory_order_acquire) == 0) {}
    for (uint32_t k = 0; k < p.times; k++) {
        p.place->acquire();
        if constexpr (CHECKED) {
            word inside(p.found[0]), over(p.found[1]);
            if (inside.fetch_add(1, cuda::memory_order_relaxed) >= p.count)
                over.fetch_add(1, cuda::memory_order_relaxed);
            inside.fetch_sub(1, cuda::memory_order_relaxed);
        }
        p.place->release();
    }
}

extern "C" __global__ void entries_counting_semaphore(params p) { enter<false>(p); }

extern "C" __global__ void entries_counting_semaphore_checked(params p) { enter<true>(p); }
