//! The kernels that measure a machine: they make as many accesses as they say, of the kind
//! that they say, inside of their memory, which stays zero.

use stm_core::host::{Buffer, Device, Launch};
use stm_kernels::machine::{
    Accesses, AccessesParams, Operation, RandomAccesses, RandomAccessesParams, Width,
};
use verify::sim::{Op, Sim, SimConfig};

/// Returns a simulator with accesses of 128 bits.
fn sim() -> Sim {
    let config = SimConfig::default().with_width(4);
    Sim::new(config.with_wide_atomics(true))
}

/// Returns how often the last launch executed an operation.
fn count(sim: &Sim, op: Op) -> u64 {
    sim.last_run().expect("a launch").0.count(op)
}

#[test]
fn the_first_thread_of_each_block_makes_the_accesses_and_nobody_else() {
    let (blocks, accesses) = (3, 40);
    for stride in [0, 64] {
        for (operation, op) in [
            (Operation::Load, Op::LoadRelaxed32),
            (Operation::Store, Op::StoreRelaxed32),
            (Operation::Add, Op::FetchAddRelaxed32),
            (Operation::Swap, Op::CasRelaxed32),
        ] {
            for after_atomic in [false, true] {
                let sim = sim();
                // As short as it may be.
                let len = 2 * stride as usize + 1;
                let words = Buffer::<_, u32>::zeroed(&sim, len, "words").unwrap();
                let results = Buffer::<_, u32>::zeroed(&sim, 3, "results").unwrap();
                let params = AccessesParams {
                    words: words.tarray(),
                    results: results.tarray(),
                    accesses,
                    stride,
                    operation,
                    after_atomic,
                    zero: 0,
                };
                let launch = Launch::new(blocks, 5);
                // SAFETY: the buffers live in this simulator.
                unsafe { sim.launch::<Accesses>(&launch, &params) }.unwrap();
                let made = u64::from(blocks * accesses);
                let result = u64::from(op == Op::StoreRelaxed32) * u64::from(blocks);
                let first = op == Op::FetchAddRelaxed32 && after_atomic;
                let first = u64::from(first) * u64::from(blocks);
                assert_eq!(count(&sim, op), made + result + first, "{operation:?}");
                assert_eq!(words.download().unwrap(), vec![0; len]);
            }
        }
    }
}

#[test]
fn random_accesses_of_each_width_stay_inside_and_reach_all_words() {
    use {Operation::Add, Operation::Load, Operation::Store, Operation::Swap};
    for (operation, width, op) in [
        (Load, Width::Bits32, Op::LoadRelaxed32),
        (Load, Width::Bits64, Op::LoadRelaxed64),
        (Load, Width::Bits128, Op::LoadRelaxed128),
        (Store, Width::Bits64, Op::StoreRelaxed64),
        (Store, Width::Bits128, Op::StoreRelaxed128),
        (Add, Width::Bits32, Op::FetchAddRelaxed32),
        (Add, Width::Bits64, Op::FetchAddRelaxed64),
        (Swap, Width::Bits32, Op::CasRelaxed32),
        (Swap, Width::Bits64, Op::CasRelaxed64),
        (Swap, Width::Bits128, Op::CasRelaxed128),
    ] {
        for len in [2, 16] {
            let sim = sim();
            let words = Buffer::<_, u64>::zeroed(&sim, len, "words").unwrap();
            let results = Buffer::<_, u32>::zeroed(&sim, 12, "results").unwrap();
            let mut params = RandomAccessesParams {
                words: words.tarray(),
                results: results.tarray(),
                accesses: 24,
                operation,
                width,
                zero: 0,
            };
            let launch = Launch::new(2, 6);
            // SAFETY: the buffers live in this simulator.
            unsafe { sim.launch::<RandomAccesses>(&launch, &params) }.unwrap();
            assert_eq!(count(&sim, op), 12 * 24, "{operation:?} {width:?}");
            assert_eq!(words.download().unwrap(), vec![0; len]);
            if operation == Store && width == Width::Bits64 {
                params.zero = 1;
                // SAFETY: as above.
                unsafe { sim.launch::<RandomAccesses>(&launch, &params) }.unwrap();
                assert_eq!(words.download().unwrap(), vec![1; len], "all are reached");
            }
        }
    }
}
