//! Transfers under every algorithm, every schedule and weak memory; and cells of 64-bit elements
//! by both ways: version and value one after the other, and both at once where lanes have
//! atomics of 128 bits.
//!
//! The fuzzer (`program`) draws one of the two for each of its runs and checks
//! them for opacity, as the mutants `pair-*` are; here is what it does not say:
//! which accesses each way makes, and that the two leave the same.
//!
//! And copies into cells and back on the simulator, which knows every access out of
//! bounds, of another width, or to a word that nobody has written.

use crate::asserts::array;
use crate::recorded::{every, launched, small};
use crate::under_all;
use stm_core::algorithm::{Algorithm, Fast, FastTable, Variant};
use stm_core::host::{Buffer, ForeignArray, Launch, Pod, StmConfig, TxArray};
use stm_core::{Element, Lane, Layout};
use stm_kernels::cells::transfer;
use verify::program::{Case, Widths, run};
use verify::sim::{Op, RunReport, Sim, SimConfig, SimErrorKind};

const ACCOUNTS: u32 = 5;
const TRANSACTIONS: u64 = 60;
const SEED: u64 = 11;

/// Transfers between 64-bit accounts, each counted in a 32-bit word; every eighth writes its number
/// into an account that it does not read. Returns the accounts after the run, and what it did.
fn mixed<A: Algorithm>(config: SimConfig) -> (Vec<u64>, RunReport) {
    let sim = Sim::new(config);
    let accounts = array::<A, u64, _>(&sim, &[1 << 63; ACCOUNTS as usize + 1], "accounts");
    let counter = array::<A, u32, _>(&sim, &[0], "counter");
    let sizes = StmConfig {
        capacity: small(8, 8).capacity,
        locks: 64,
        stripe_bytes: 4 << (config.seed % 3),
        ..StmConfig::default()
    };
    let (words, count) = (accounts.view::<A>(), counter.view::<A>());
    let done = launched::<A>(&sim, Launch::new(2, 4), sizes, |lane, stm| {
        stm.for_each(lane, 0..TRANSACTIONS, |tx, i| {
            let (from, to, amount) = transfer(SEED, i, ACCOUNTS);
            let at = [u64::from(from), u64::from(to)];
            let [a, b] = tx.read_many(&words, at)?;
            tx.write(&words, at[0], a.wrapping_sub(amount << 40))?;
            tx.write(&words, at[1], b.wrapping_add(amount << 40))?;
            if i % 8 == 0 {
                tx.write(&words, u64::from(ACCOUNTS), i)?;
            }
            let found = tx.read(&count, 0)?;
            tx.write(&count, 0, found + 1)
        });
    });
    assert_eq!(done.commits, TRANSACTIONS, "{config}");
    let counted = counter.download().unwrap();
    assert_eq!(counted, [TRANSACTIONS as u32], "{config}");
    let (run, _) = sim.last_run().unwrap();
    (accounts.download().unwrap(), run)
}

fn expected() -> Vec<u64> {
    let mut accounts = vec![1u64 << 63; ACCOUNTS as usize];
    for i in 0..TRANSACTIONS {
        let (from, to, amount) = transfer(SEED, i, ACCOUNTS);
        for (account, change) in [(from, amount.wrapping_neg()), (to, amount)] {
            let account = &mut accounts[account as usize];
            *account = account.wrapping_add(change << 40);
        }
    }
    accounts
}

fn configurations() -> impl Iterator<Item = SimConfig> {
    let all = every(
        "lockstep stack its64 starve16 random pct3x4000",
        [1, 2, 4],
        24,
    );
    all.map(|config| SimConfig {
        votes_order: config.seed % 2 == 0,
        ..config.with_stale(10 + 2 * config.seed as u32)
    })
}

/// Accesses of 128 bits in a run.
fn wide(run: &RunReport) -> u64 {
    [Op::LoadRelaxed128, Op::StoreRelaxed128, Op::CasRelaxed128]
        .iter()
        .map(|&op| run.count(op))
        .sum()
}

#[test]
fn every_algorithm_leaves_what_a_replay_leaves_on_every_schedule_and_fast_by_both_ways() {
    let expected = expected();
    under_all!(A => {
        let mut stale = 0;
        // Others make no accesses of 128 bits.
        let ways = if A::NAME == "fast" { &[false, true][..] } else { &[false] };
        for config in configurations() {
            for &wide_atomics in ways {
                let config = config.with_wide_atomics(wide_atomics);
                let (accounts, run) = mixed::<A>(config);
                assert_eq!(accounts[..ACCOUNTS as usize], expected, "{config}");
                assert!(accounts[ACCOUNTS as usize].is_multiple_of(8), "{config}");
                stale += run.stale_loads;
            }
        }
        // Under the coarse lock only lanes that wait for others as the loop begins have a choice.
        assert!(stale != 0 || A::NAME == "cgl");
    });
}

#[test]
fn accesses_of_128_bits_are_made_where_lanes_have_them_and_by_cells_only() {
    let config = SimConfig::default().with_width(4);
    let wide_config = config.with_wide_atomics(true);
    let (_, apart) = mixed::<Fast>(config);
    let (_, pairs) = mixed::<Fast>(wide_config);
    let (_, table) = mixed::<FastTable>(wide_config);
    assert_eq!(wide(&apart), 0);
    assert_eq!(wide(&table), 0);
    for op in [Op::LoadRelaxed128, Op::StoreRelaxed128, Op::CasRelaxed128] {
        // At least two cells a transaction.
        assert!(pairs.count(op) >= 2 * TRANSACTIONS, "{op}");
    }
    // F3 and, of those that only read some words, F4 are left: for a cell of two
    // words there are F2 twice and F5 as well.
    let fences = |run: &RunReport| run.count(Op::Fence);
    assert!(
        fences(&pairs) * 2 < fences(&apart),
        "{} and {} fences",
        fences(&pairs),
        fences(&apart)
    );
}

#[test]
fn half_of_the_random_cases_have_wide_atomics_and_a_line_says_so() {
    let cases =
        (0..400u64).map(|seed| verify::program::generate::case(Variant::Fast, None, seed * 7919));
    let (wide, narrow): (Vec<Case>, Vec<Case>) = cases.partition(|case| case.sim.wide_atomics);
    assert!(wide.len() > 120 && narrow.len() > 120);
    let mut of_64_bits = 0;
    for case in wide
        .iter()
        .filter(|case| case.program.widths == Widths::Wide)
    {
        assert!(case.to_string().contains(",atomics=128,"), "{case}");
        assert_eq!(case.to_string().parse::<Case>().unwrap(), *case);
        run(case).unwrap_or_else(|failure| panic!("{failure}\n{}", case.command()));
        of_64_bits += 1;
    }
    assert!(of_64_bits > 40);
}

#[test]
fn a_word_of_128_bits_is_aligned_whole_and_of_one_width() {
    let sim = Sim::new(SimConfig::default().with_wide_atomics(true));
    let words = Buffer::<_, u64>::zeroed(&sim, 4, "words").unwrap();
    let at = words.as_mut_ptr();
    let launch = Launch::new(1, 1);
    let run = |body: fn(&verify::sim::SimLane<'_>, *mut u64)| {
        let ran = sim.run(&launch, |lane| body(lane, at));
        ran.err().map(|error| error.kind)
    };
    // SAFETY: the simulator checks every access.
    let right = run(|lane, p| unsafe {
        lane.store_relaxed_128(p, [1, 2]);
        assert_eq!(lane.cas_relaxed_128(p, [1, 3], [9, 9]), [1, 2]);
        assert_eq!(lane.cas_relaxed_128(p, [1, 2], [3, 4]), [1, 2]);
        assert_eq!(lane.load_relaxed_128(p), [3, 4]);
        assert_eq!(lane.load_relaxed_64(p.wrapping_add(2)), 0);
    });
    assert_eq!(right, None);
    // SAFETY: as above.
    let odd = run(|lane, p| _ = unsafe { lane.load_relaxed_128(p.wrapping_add(1)) });
    assert_eq!(odd, Some(SimErrorKind::Misaligned));
    // SAFETY: as above.
    let past = run(|lane, p| _ = unsafe { lane.load_relaxed_128(p.wrapping_add(4)) });
    assert_eq!(past, Some(SimErrorKind::OutOfBounds));
    // SAFETY: as above.
    let mixed = run(|lane, p| unsafe {
        lane.store_relaxed_128(p, [0, 0]);
        lane.load_relaxed_64(p.wrapping_add(1));
    });
    assert_eq!(mixed, Some(SimErrorKind::MixedWidth));
}

/// Copies elements in, and others back over them.
fn there_and_back<T: Pod + Element>(config: SimConfig, layout: Layout, len: usize) {
    let sim = Sim::new(config);
    let value = |i: usize| T::from_bits64((i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let data: Vec<T> = (0..len).map(value).collect();
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
            for len in [
                1,
                2,
                lanes,
                4 * lanes - 1,
                4 * lanes,
                4 * lanes + 1,
                9 * lanes,
            ] {
                there_and_back::<i32>(config, layout, len);
                there_and_back::<f64>(config, layout, len);
            }
        }
    }
}
