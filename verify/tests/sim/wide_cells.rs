//! Cells of 64-bit elements by both ways, version and value one after the other, and both at once where lanes have
//! atomics of 128 bits: which accesses each makes; random programs draw one of the two. And copies into cells and
//! back: the simulator knows every access that is wrong.
// The simulator checks each operation.
#![allow(clippy::undocumented_unsafe_blocks)]

use crate::prelude::*;
use stm_core::Layout;
use stm_core::host::{ForeignArray, Pod, TxArray};
use verify::sim::Op;
use verify::sim::SimErrorKind::{Misaligned, MixedWidth, OutOfBounds};

const TRANSACTIONS: u64 = 60;

/// Transfers between words of 64 bits, counted in one of 32; every eighth writes a word without a read.
fn mixed<A: Algorithm>(config: SimConfig) -> RunReport {
    let sim = Sim::new(config);
    let accounts = array::<A, u64, _>(&sim, &[1 << 63; 6], "accounts");
    let counter = array::<A, u32, _>(&sim, &[0], "counter");
    let (words, count) = (accounts.view::<A>(), counter.view::<A>());
    launched::<A>(&sim, Launch::new(2, 4), small(8, 8), |lane, stm| {
        stm.for_each(lane, 0..TRANSACTIONS, |tx, i| {
            let at = [i % 5, (i + 1) % 5];
            let [a, b] = tx.read_many(&words, at)?;
            tx.write_many(&words, at, [a - (i << 40), b + (i << 40)], 2)?;
            if i % 8 == 0 {
                tx.write(&words, 5, i)?;
            }
            let found = tx.read(&count, 0)?;
            tx.write(&count, 0, found + 1)
        });
    });
    sim.last_run().unwrap().0
}

#[test]
fn accesses_of_128_bits_are_made_where_lanes_have_them_and_by_cells_only() {
    let config = SimConfig::default().with_width(4);
    let wide_config = config.with_wide_atomics(true);
    let apart = mixed::<Fast>(config);
    let pairs = mixed::<Fast>(wide_config);
    let table = mixed::<FastTable>(wide_config);
    for op in [Op::LoadRelaxed128, Op::StoreRelaxed128, Op::CasRelaxed128] {
        assert_eq!((apart.count(op), table.count(op)), (0, 0), "{op}");
        // At least two cells a transaction.
        assert!(pairs.count(op) >= 2 * TRANSACTIONS, "{op}");
    }
    // F3 is left, and F4 of those that only read some words; cells of two words have F2 twice and F5 as well.
    let fences = |run: &RunReport| run.count(Op::Fence);
    assert!(fences(&pairs) * 2 < fences(&apart));
}

#[test]
fn a_word_of_128_bits_is_aligned_whole_and_of_one_width() {
    let sim = Sim::new(SimConfig::default().with_wide_atomics(true));
    let words = Buffer::<_, u64>::zeroed(&sim, 4, "words").unwrap();
    let run = |body: fn(&SimLane<'_>, *mut u64)| {
        let ran = sim.run(&Launch::new(1, 1), |lane| body(lane, words.as_mut_ptr()));
        ran.err().map(|error| error.kind)
    };
    let right = run(|lane, p| unsafe {
        lane.store_relaxed_128(p, [1, 2]);
        assert_eq!(lane.cas_relaxed_128(p, [1, 3], [9, 9]), [1, 2]);
        assert_eq!(lane.cas_relaxed_128(p, [1, 2], [3, 4]), [1, 2]);
        assert_eq!(lane.load_relaxed_128(p), [3, 4]);
        assert_eq!(lane.load_relaxed_64(p.wrapping_add(2)), 0);
    });
    assert_eq!(right, None);
    let wrong = [
        run(|lane, p| _ = unsafe { lane.load_relaxed_128(p.wrapping_add(1)) }),
        run(|lane, p| _ = unsafe { lane.load_relaxed_128(p.wrapping_add(4)) }),
        run(|lane, p| unsafe {
            lane.store_relaxed_128(p, [0, 0]);
            lane.load_relaxed_64(p.wrapping_add(1));
        }),
    ];
    assert_eq!(wrong, [Misaligned, OutOfBounds, MixedWidth].map(Some));
}

fn there_and_back<T: Pod + Element>(config: SimConfig, layout: Layout, len: usize) {
    let sim = Sim::new(config);
    // Values that differ in every bit, and edges; of 32-bit elements the upper half counts, too.
    let edges = [u64::MAX, 0, 1, 1 << 63, 1 << 31, 0x7FF0_0000_0000_0001];
    let more = (1..).map(|i: u64| i.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let value = |b| T::from_bits64(if T::WIDE { b } else { b ^ b >> 32 });
    let data: Vec<T> = edges.into_iter().chain(more).map(value).take(len).collect();
    let bits = |data: &[T]| data.iter().map(|v| v.to_bits64()).collect::<Vec<_>>();
    let mut buffer = Buffer::from_slice(&sim, &data, "a buffer").unwrap();
    let mut array = TxArray::<_, T>::zeroed(&sim, layout, len, "an array").unwrap();
    let from = ForeignArray::of_buffer(&mut buffer).unwrap();
    array.copy_from(&from).unwrap();
    assert_eq!(bits(&array.download().unwrap()), bits(&data), "{config}");
    let mut other = Buffer::<_, T>::zeroed(&sim, len, "another buffer").unwrap();
    let mut to = ForeignArray::of_buffer(&mut other).unwrap();
    array.copy_to(&mut to).unwrap();
    assert_eq!(bits(&other.download().unwrap()), bits(&data), "{config}");
}

#[test]
fn copies_stay_inside_of_their_arrays_and_miss_no_element() {
    for (warp_width, wide_atomics) in [(1, false), (4, false), (4, true), (32, true)] {
        let config = SimConfig::default().with_width(warp_width);
        let config = config.with_wide_atomics(wide_atomics);
        for layout in [Layout::Plain, Layout::Cells] {
            // Around a batch of all lanes, and more than one.
            let lanes = 8 * warp_width as usize;
            let batch = 4 * lanes;
            for len in [1, 2, lanes, batch - 1, batch, batch + 1, 9 * lanes] {
                of_each!(there_and_back(config, layout, len): u32, i32, f32, u64, i64, f64);
            }
        }
    }
}
