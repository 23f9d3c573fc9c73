//! Rounds in step: the warps of a block begin their attempts together.

use std::cell::RefCell;
use std::marker::PhantomData;
use stm_core::algorithm::{Algorithm, Fast, FastTable};
use stm_core::host::{Buffer, Launch, Stm, StmConfig, TxArray};
use stm_core::kernel::Kernel;
use stm_core::{Lane, StmRef, TArray, View};
use verify::sim::{MemoryModel, Schedule, Sim, SimConfig};

/// Transactions of a lane.
const EACH: u64 = 6;
const THREADS: u32 = 8;
const WIDTH: u32 = 2;

thread_local! {
    /// The largest difference between the rounds of two warps of a block.
    static APART: RefCell<u64> = const { RefCell::new(0) };
}

struct Params<A: Algorithm> {
    stm: StmRef<A>,
    words: A::Array<u32>,
    /// The attempts that each lane has begun.
    begun: TArray<u64>,
    transactions: u64,
    in_step: bool,
}

impl<A: Algorithm> Clone for Params<A> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<A: Algorithm> Copy for Params<A> {}

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
    let sim = Sim::new(SimConfig {
        warp_width: WIDTH,
        schedule: Schedule::Random,
        // What a lane loads is what the others have stored.
        memory: MemoryModel::Sequential,
        seed,
        ..SimConfig::default()
    });
    let layout = <A::Array<u32> as View<u32>>::LAYOUT;
    let words = vec![0u32; transactions as usize];
    let words = TxArray::from_slice(&sim, layout, &words, "words").unwrap();
    let launch = Launch::new(2, THREADS);
    let begun = Buffer::<_, u64>::zeroed(&sim, 2 * THREADS as usize, "begun").unwrap();
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
