//! Rounds in step: the warps of a block begin their attempts together.

use crate::assert_is;
use std::cell::RefCell;
use std::marker::PhantomData;
use stm_core::algorithm::{Algorithm, Fast, FastTable};
use stm_core::host::{Buffer, Error, Launch, Stm, StmConfig, TxArray};
use stm_core::kernel::Kernel;
use stm_core::{Lane, RetryLimits, StmRef, TArray, View};
use verify::sim::{MemoryModel, Schedule, Sim, SimConfig};

/// Transactions of a lane.
const EACH: u64 = 6;
const THREADS: u32 = 8;

thread_local! {
    /// The largest difference between the rounds of two warps of a block.
    static APART: RefCell<u64> = const { RefCell::new(0) };
}

#[derive(Clone, Copy)]
struct Params<A: Algorithm> {
    stm: StmRef<A>,
    words: A::Array<u32>,
    /// The attempts that each lane has begun.
    begun: TArray<u64>,
    transactions: u64,
    in_step: bool,
}

/// Transactions on words of their own, so that each needs one attempt.
struct Paces<A>(PhantomData<A>);

impl<A: Algorithm> Kernel for Paces<A> {
    const ENTRY: &'static str = "paces";
    type Params = Params<A>;

    fn run<L: Lane>(lane: &L, p: &Params<A>) {
        let block = u64::from(lane.block_index() * lane.block_dim());
        let at = |lane| p.begun.get(lane).unwrap();
        p.stm.in_step_if(p.in_step).for_each_then(
            lane,
            0..p.transactions,
            |tx, i| {
                // SAFETY: an element of a live array, which lanes alone access.
                unsafe { lane.add_relaxed_64(at(lane.grid_thread()), 1) };
                let word = tx.read(&p.words, i)?;
                tx.write(&p.words, i, word + 1)
            },
            |_| {
                let begun = |k| {
                    // SAFETY: as above.
                    unsafe { lane.load_relaxed_64(at(block + u64::from(k))) }
                };
                let all = || (0..lane.block_dim()).map(begun);
                let apart = all().max().unwrap() - all().min().unwrap();
                APART.with_borrow_mut(|most| *most = apart.max(*most));
            },
        );
    }
}

/// Returns how many rounds two warps of a block were apart at most.
fn apart<A: Algorithm>(in_step: bool, transactions: u64, seed: u64) -> u64 {
    paces::<A>(in_step, (THREADS, 2), transactions, seed)
}

/// The same with blocks of so many threads in warps of so many lanes.
fn paces<A: Algorithm>(
    in_step: bool,
    (threads, width): (u32, u32),
    transactions: u64,
    seed: u64,
) -> u64 {
    let sim = Sim::new(SimConfig {
        warp_width: width,
        schedule: Schedule::Random,
        // What a lane loads is what the others have stored.
        memory: MemoryModel::Sequential,
        seed,
        ..SimConfig::default()
    });
    let layout = <A::Array<u32> as View<u32>>::LAYOUT;
    let words = vec![0u32; transactions as usize];
    let words = TxArray::from_slice(&sim, layout, &words, "words").unwrap();
    let launch = Launch::new(2, threads);
    let begun = Buffer::<_, u64>::zeroed(&sim, 2 * threads as usize, "begun").unwrap();
    let mut stm = Stm::new(&sim, launch, StmConfig::default()).unwrap();
    let params = Params::<A> {
        stm: stm.handle::<A>(),
        words: words.view::<A>(),
        begun: begun.tarray(),
        transactions,
        in_step,
    };
    APART.set(0);
    // SAFETY: the buffers live, and are accessed as the kernel says.
    let (_, done) = unsafe { stm.launch::<Paces<A>>(&params) }.unwrap();
    assert_eq!(done.commits, transactions);
    assert!(words.download().unwrap().iter().all(|&word| word == 1));
    APART.take()
}

#[test]
fn warps_in_step_are_never_two_rounds_apart_and_free_ones_are() {
    let all = u64::from(2 * THREADS) * EACH;
    for seed in 0..40 {
        assert!(apart::<Fast>(true, all, seed) <= 1, "seed {seed}");
        assert!(apart::<FastTable>(true, all, seed) <= 1, "seed {seed}");
    }
    let free = (0..40).map(|seed| apart::<Fast>(false, all, seed)).max();
    assert!(free > Some(1), "the schedules keep free warps together");
}

#[test]
fn a_block_leaves_the_step_where_the_transactions_do_not_suffice() {
    // Blocks without a transaction for each lane, and ranges that end inside of a
    // warp, of a block and of a round.
    for transactions in [1, 2, 7, 9, 15, 16, 17, 23, 24, 31, 33, 47, 49] {
        for seed in 0..10 {
            apart::<Fast>(true, transactions, seed);
            apart::<FastTable>(true, transactions, seed);
        }
    }
}

#[test]
fn blocks_whose_last_warp_is_short_go_in_step() {
    for shape in [(7, 2), (7, 4), (5, 4), (3, 2)] {
        let all = u64::from(2 * shape.0) * EACH;
        for seed in 0..20 {
            assert!(paces::<Fast>(true, shape, all, seed) <= 1, "{shape:?}");
            paces::<Fast>(true, shape, all + 1, seed);
        }
    }
}

/// What the transactions of [`Crowd`] do.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Does {
    /// All change one word.
    Contend,
    /// The same, and one reads past the end.
    Fault,
}

#[derive(Clone, Copy)]
struct CrowdParams<A: Algorithm> {
    stm: StmRef<A>,
    words: A::Array<u32>,
    range: (u64, u64),
    does: Does,
}

/// Transactions in step on one word.
struct Crowd<A>(PhantomData<A>);

impl<A: Algorithm> Kernel for Crowd<A> {
    const ENTRY: &'static str = "crowd";
    type Params = CrowdParams<A>;

    fn run<L: Lane>(lane: &L, p: &CrowdParams<A>) {
        let (from, to) = p.range;
        p.stm.in_step().for_each(lane, from..to, |tx, i| {
            let past = p.does == Does::Fault && i == from + 20;
            let word = tx.read(&p.words, u64::from(past))?;
            tx.write(&p.words, 0, word + 1)
        });
    }
}

/// Makes a launch of [`Crowd`], and returns its commits and the word.
fn crowd<A: Algorithm>(does: Does, range: (u64, u64), seed: u64) -> Result<(u64, u32), Error> {
    let sim = Sim::new(SimConfig {
        warp_width: [2, 4][seed as usize % 2],
        schedule: [Schedule::Random, Schedule::Lockstep][seed as usize / 2 % 2],
        seed,
        ..SimConfig::default()
    });
    let layout = <A::Array<u32> as View<u32>>::LAYOUT;
    let words = TxArray::from_slice(&sim, layout, &[0u32], "the word")?;
    let config = StmConfig {
        retry_limits: RetryLimits {
            // Tickets are drawn all the time.
            queue_after: 1,
            ..RetryLimits::DEFAULT
        },
        ..StmConfig::default()
    };
    let mut stm = Stm::new(&sim, Launch::new(2, THREADS), config)?;
    let params = CrowdParams::<A> {
        stm: stm.handle::<A>(),
        words: words.view::<A>(),
        range,
        does,
    };
    // SAFETY: the buffers live, and are accessed as the kernel says.
    let (_, done) = unsafe { stm.launch::<Crowd<A>>(&params) }?;
    Ok((done.commits, words.download()?[0]))
}

#[test]
fn transactions_in_step_that_all_conflict_end_through_the_queue() {
    for seed in 0..40 {
        let done = crowd::<Fast>(Does::Contend, (0, 48), seed).unwrap();
        assert_eq!(done, (48, 48), "seed {seed}");
        let done = crowd::<FastTable>(Does::Contend, (0, 48), seed).unwrap();
        assert_eq!(done, (48, 48), "seed {seed}");
    }
}

#[test]
fn a_fault_in_one_warp_ends_the_launch_of_blocks_in_step() {
    for seed in 0..40 {
        let error = crowd::<Fast>(Does::Fault, (0, 48), seed).unwrap_err();
        assert_is!(error, Error::OutOfRange { .. });
    }
}

#[test]
fn a_range_that_ends_at_the_last_number_is_not_too_long_for_its_block() {
    for seed in 0..20 {
        let done = crowd::<Fast>(Does::Contend, (u64::MAX - 5, u64::MAX), seed).unwrap();
        assert_eq!(done, (5, 5), "seed {seed}");
    }
}
