//! The reduction of Li et al. 2015: the values that are expected, the memory that its schemes take, and
//! spans of times. `verify/tests/meeting/kernels.rs` runs all schemes, on the CPU as well.

use stm_kernels::reduction::{
    AtomLock, CountedBarr, Scheme, ShrdLock, Tagged, WarpBarr, WarpVote, expected, initial, spans,
};

/// The serial loop is Listing 10.
#[test]
fn the_expected_values_are_those_of_the_serial_loop() {
    let warps = 16;
    for width in [1, 32] {
        let mut a: Vec<u32> = (0..width).map(|lane| initial(9, lane)).collect();
        for i in 0..width * warps {
            a.push(a[i as usize].wrapping_add(i));
        }
        for (warp, lane) in (0..warps).flat_map(|warp| (0..width).map(move |lane| (warp, lane))) {
            let i = (width * (warp + 1) + lane) as usize;
            assert_eq!(a[i], expected(9, warp, lane, width));
        }
    }
}

/// Tables 1 and 2 have 2,048 bytes and 128 for `atom_lock`, 4 a warp for `shrd_lock` and `warp_vote`, or none.
#[test]
fn the_schemes_take_the_memory_of_the_papers_tables() {
    assert_eq!(AtomLock::cost_bytes(), (2048, 128));
    assert_eq!(ShrdLock::cost_bytes(), (64, 4));
    assert_eq!(WarpBarr::cost_bytes(), (0, 0));
    assert_eq!(WarpVote::cost_bytes(), (64, 4));
    assert_eq!(CountedBarr::cost_bytes(), (128, 8));
    assert_eq!(Tagged::cost_bytes(), (2048, 128));
    assert_eq!((WarpBarr::BARRIERS, Tagged::BARRIERS), (1, 0));
}

#[test]
fn a_span_is_from_the_earliest_start_to_the_latest_end() {
    let times = [10, 20, 12, 31, 100, 110, 90, 105];
    assert_eq!(spans(&times, 2), [21, 20]);
}
