// Critical sections under libcu++'s binary semaphore: the peer of
// stm-kernels/src/sections.rs, with the same loop.
//
//     nvcc -std=c++17 -arch=sm_90 -O3 -ptx sections.cu
#include <cstdint>
#include <new>
#include <cuda/atomic>
#include <cuda/semaphore>

using semaphore = cuda::binary_semaphore<cuda::thread_scope_device>;

struct params {
    // 128 bytes; the first block makes the semaphore there.
    semaphore *lock;
    // 0 until the semaphore is made.
    uint32_t *ready;
    // The counter that the semaphore protects, 0 at first.
    uint32_t *counter;
    // The number of sections that each block has made.
    uint32_t *made;
    // The sections of all blocks.
    uint32_t sections;
};
static_assert(sizeof(semaphore) <= 128 && alignof(semaphore) <= 128);

extern "C" __global__ void sections_binary_semaphore(params p) {
    if (threadIdx.x != 0) return;
    cuda::atomic_ref<uint32_t, cuda::thread_scope_device> ready(*p.ready);
    if (blockIdx.x == 0) {
        new (p.lock) semaphore(1);
        ready.store(1, cuda::memory_order_release);
    }
    while (ready.load(cuda::memory_order_acquire) == 0) {}
    volatile uint32_t *counter = p.counter;
    uint32_t made = 0;
    bool more = true;
    while (more) {
        p.lock->acquire();
        uint32_t count = *counter;
        more = count < p.sections;
        if (more) *counter = count + 1;
        p.lock->release();
        made += more;
    }
    p.made[blockIdx.x] = made;
}
