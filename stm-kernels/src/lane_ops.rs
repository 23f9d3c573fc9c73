//! Entry points that each contain one [`Lane`] method and nothing else.
//!
//! No program launches these. Their PTX is the text `lane/ops` of `ptx.archive`, in which `tests/golden_ptx.rs`
//! checks that each entry is the one instruction that the method stands for; those that need a newer GPU are
//! its text `lane/ops-wide`. An entry `lane_` and the method's name stores a result to `out`.

// The obligations are those of the method (`Lane`, "Safety of the memory
// methods"), and `out` must be valid for a store of the result.
#![allow(clippy::missing_safety_doc)]
// Nothing calls these entries, with arrays by value or otherwise.
#![allow(improper_ctypes_definitions)]

use stm_core::{Lane, internal::lane::gpu::GpuLane, internal::observe::Silent};

/// Makes entries that call one method with the entry's parameters.
macro_rules! entries {
    // The method's result goes to `out`.
    (@one $lane:ty, $(#[$doc:meta])* $entry:ident = $method:ident($($arg:ident: $ty:ty),*) -> $result:ty) => {
        $(#[$doc])*
        #[unsafe(no_mangle)]
        pub unsafe extern "ptx-kernel" fn $entry($($arg: $ty,)* out: *mut $result) {
            // SAFETY: launched as a kernel; the caller keeps the method's obligations.
            #[allow(unused_unsafe)]
            unsafe { out.write(<$lane>::current().$method($($arg),*)) }
        }
    };
    (@one $lane:ty, $(#[$doc:meta])* $entry:ident = $method:ident($($arg:ident: $ty:ty),*)) => {
        $(#[$doc])*
        #[unsafe(no_mangle)]
        pub unsafe extern "ptx-kernel" fn $entry($($arg: $ty),*) {
            // SAFETY: launched as a kernel; the caller keeps the method's obligations.
            #[allow(unused_unsafe)]
            unsafe { <$lane>::current().$method($($arg),*) }
        }
    };
    ($lane:ty: $($entry:ident = $method:ident($($arg:ident: $ty:ty),*) $(-> $result:ty)?;)*) => {
        $(entries! {
            @one $lane,
            #[doc = concat!("`Lane::", stringify!($method), "` alone.")]
            $entry = $method($($arg: $ty),*) $(-> $result)?
        })*
    };
}

/// The lane of a GPU without atomics of 128 bits.
type Narrow = GpuLane<Silent>;
/// The lane of a GPU with atomics of 128 bits.
type Wide = GpuLane<Silent, { u32::MAX }, true>;

entries! {
    Narrow:
    lane_thread_index = thread_index() -> u32;
    lane_block_index = block_index() -> u32;
    lane_block_dim = block_dim() -> u32;
    lane_grid_dim = grid_dim() -> u32;
    lane_warp_width = warp_width() -> u32;
    lane_lane_index = lane_index() -> u32;
    lane_warp_index = warp_index() -> u32;
    lane_grid_thread = grid_thread() -> u64;
    lane_grid_threads = grid_threads() -> u64;
    lane_lane_bit = lane_bit() -> u32;
    lane_warp_mask = warp_mask() -> u32;

    lane_load_relaxed_32 = load_relaxed_32(p: *const u32) -> u32;
    lane_load_relaxed_64 = load_relaxed_64(p: *const u64) -> u64;
    lane_load_acquire_32 = load_acquire_32(p: *const u32) -> u32;
    lane_load_acquire_64 = load_acquire_64(p: *const u64) -> u64;
    lane_store_relaxed_32 = store_relaxed_32(p: *mut u32, v: u32);
    lane_store_relaxed_64 = store_relaxed_64(p: *mut u64, v: u64);
    lane_store_release_32 = store_release_32(p: *mut u32, v: u32);
    lane_store_release_64 = store_release_64(p: *mut u64, v: u64);
    lane_cas_acquire_32 = cas_acquire_32(p: *mut u32, expected: u32, new: u32) -> u32;
    lane_cas_acquire_64 = cas_acquire_64(p: *mut u64, expected: u64, new: u64) -> u64;
    lane_cas_relaxed_32 = cas_relaxed_32(p: *mut u32, expected: u32, new: u32) -> u32;
    lane_cas_relaxed_64 = cas_relaxed_64(p: *mut u64, expected: u64, new: u64) -> u64;
    lane_exchange_acquire_32 = exchange_acquire_32(p: *mut u32, v: u32) -> u32;
    lane_fetch_add_relaxed_32 = fetch_add_relaxed_32(p: *mut u32, v: u32) -> u32;
    lane_fetch_add_relaxed_64 = fetch_add_relaxed_64(p: *mut u64, v: u64) -> u64;
    lane_fetch_or_relaxed_64 = fetch_or_relaxed_64(p: *mut u64, v: u64) -> u64;
    lane_fetch_and_relaxed_64 = fetch_and_relaxed_64(p: *mut u64, v: u64) -> u64;
    lane_add_relaxed_64 = add_relaxed_64(p: *mut u64, v: u64);
    lane_add_relaxed_f32 = add_relaxed_f32(p: *mut u32, v: f32);
    lane_load_relaxed_64_if = load_relaxed_64_if(on: bool, p: *const u64, otherwise: u64) -> u64;
    lane_store_relaxed_64_if = store_relaxed_64_if(on: bool, p: *mut u64, v: u64);
    lane_cas_relaxed_64_if = cas_relaxed_64_if(on: bool, p: *mut u64, idle: *mut u64, expected: u64, new: u64) -> u64;
    lane_fetch_or_relaxed_64_if = fetch_or_relaxed_64_if(on: bool, p: *mut u64, idle: *mut u64, v: u64) -> u64;
    lane_has_wide_atomics = has_wide_atomics() -> bool;
    lane_load_constant_32 = load_constant_32(p: *const u32) -> u32;
    lane_load_acquire_and_next_64 = load_acquire_and_next_64(p: *const u64) -> [u64; 2];
    lane_load_weak_64 = load_weak_64(p: *const u64) -> u64;
    lane_store_weak_64 = store_weak_64(p: *mut u64, v: u64);
    lane_fence = fence();
    lane_fence_block = fence_block();

    lane_private_load_32 = private_load_32(p: *const u32) -> u32;
    lane_private_load_64 = private_load_64(p: *const u64) -> u64;
    lane_private_store_32 = private_store_32(p: *mut u32, v: u32);
    lane_private_store_64 = private_store_64(p: *mut u64, v: u64);

    lane_shared_words = shared_words() -> u32;
    lane_shared_load_32 = shared_load_32(i: u32) -> u32;
    lane_shared_store_32 = shared_store_32(i: u32, v: u32);
    lane_shared_fetch_add_32 = shared_fetch_add_32(i: u32, v: u32) -> u32;
    lane_shared_cas_32 = shared_cas_32(i: u32, expected: u32, new: u32) -> u32;
    lane_shared_load_64 = shared_load_64(i: u32) -> u64;
    lane_shared_store_64 = shared_store_64(i: u32, v: u64);
    lane_shared_load_32x4 = shared_load_32x4(i: u32) -> [u32; 4];
    lane_shared_store_32x4 = shared_store_32x4(i: u32, v: [u32; 4]);
    lane_barrier = barrier();
    lane_barrier_any = barrier_any(predicate: bool) -> bool;
    lane_barrier_count = barrier_count(predicate: bool) -> u32;
    lane_barrier_named_sync = barrier_named_sync(id: u32, threads: u32);
    lane_barrier_named_arrive = barrier_named_arrive(id: u32, threads: u32);

    lane_ballot = ballot(mask: u32, predicate: bool) -> u32;
    lane_shuffle_32 = shuffle_32(mask: u32, v: u32, source: u32) -> u32;
    lane_match_any_32 = match_any_32(mask: u32, v: u32) -> u32;
    lane_match_any_64 = match_any_64(mask: u32, v: u64) -> u32;
    lane_sync_warp = sync_warp(mask: u32);
    lane_active_mask = active_mask() -> u32;

    lane_clock = clock() -> u64;
    lane_pause = pause(ns: u32);
}

entries! {
    Wide:
    lane_load_relaxed_128 = load_relaxed_128(p: *const u64) -> [u64; 2];
    lane_store_relaxed_128 = store_relaxed_128(p: *mut u64, v: [u64; 2]);
    lane_cas_relaxed_128 = cas_relaxed_128(p: *mut u64, expected: [u64; 2], new: [u64; 2]) -> [u64; 2];
    lane_load_relaxed_128_if = load_relaxed_128_if(on: bool, p: *const u64) -> [u64; 2];
    lane_store_relaxed_128_if = store_relaxed_128_if(on: bool, p: *mut u64, v: [u64; 2]);
    lane_cas_relaxed_128_if = cas_relaxed_128_if(on: bool, p: *mut u64, idle: *mut u64, expected: [u64; 2], new: [u64; 2]) -> [u64; 2];

    lane_cluster_size = cluster_size() -> u32;
    lane_cluster_rank = cluster_rank() -> u32;
    lane_cluster_load_64 = cluster_load_64(rank: u32, i: u32) -> u64;
    lane_cluster_store_64 = cluster_store_64(rank: u32, i: u32, v: u64);
    lane_cluster_barrier = cluster_barrier();
    lane_mbarrier_init = mbarrier_init(i: u32, count: u32);
    lane_mbarrier_arrive = mbarrier_arrive(i: u32);
    lane_mbarrier_try_wait = mbarrier_try_wait(i: u32, parity: u32) -> bool;
}
