// Waits at the barrier of a grid of cooperative groups: the peer of `Meetings` in
// stm-kernels/src/machine.rs and of `CheckedMeetings` in stm-kernels/src/checked.rs,
// with the same loops. The launch must be cooperative.
//
//     nvcc -std=c++17 -arch=sm_90 -O3 -ptx barrier.cu
#include <cooperative_groups.h>
#include <cstdint>

struct params {
    // A word for each thread of the grid, 0 at first, and behind them the number of words
    // found that were wrong. Only the checked loop uses them.
    uint32_t *words;
    // How often each thread waits.
    uint32_t waits;
};

extern "C" __global__ void meetings_grid_sync(params p) {
    auto grid = cooperative_groups::this_grid();
    for (uint32_t k = 0; k < p.waits; k++) grid.sync();
}

extern "C" __global__ void meetings_grid_sync_checked(params p) {
    auto grid = cooperative_groups::this_grid();
    volatile uint32_t *words = p.words;
    const uint32_t threads = gridDim.x * blockDim.x;
    const uint32_t me = blockIdx.x * blockDim.x + threadIdx.x;
    const uint32_t step = threads > blockDim.x ? blockDim.x + 1 : 1;
    uint32_t other = me, wrong = 0;
    for (uint32_t k = 1; k <= p.waits; k++) {
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
