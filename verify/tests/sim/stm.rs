//! The transactional memory itself on the simulator: its own kernels, every
//! algorithm, every schedule, weak memory.

use stm_core::Capacity;
use stm_core::RetryLimits;
use stm_core::algorithm::{Algorithm, Variant};
use stm_core::host::{Launch, Stm, StmConfig, TxArray};
use stm_core::kernel::Kernel;
use stm_core::{Lane, StmRef, View};
use verify::sim::{MemoryModel, Schedule, Sim, SimConfig};

/// Moves between accounts, and counts in one word that all share.
struct Bank<A>(std::marker::PhantomData<A>);

#[derive(Clone, Copy)]
struct Params<A: Algorithm> {
    stm: StmRef<A>,
    accounts: A::Array<u32>,
    counter: A::Array<u64>,
    transactions: u64,
}

impl<A: Algorithm> Kernel for Bank<A> {
    const ENTRY: &'static str = "bank";
    type Params = Params<A>;

    fn run<L: Lane>(lane: &L, params: &Params<A>) {
        params.stm.for_each(lane, 0..params.transactions, |tx, i| {
            let (from, to) = (
                i % params.accounts.len(),
                (i * 7 + 3) % params.accounts.len(),
            );
            let taken = tx.read(&params.accounts, from)?;
            tx.write(&params.accounts, from, taken - 1)?;
            let given = tx.read(&params.accounts, to)?;
            tx.write(&params.accounts, to, given + 1)?;
            if i % 4 == 0 {
                let count = tx.read(&params.counter, 0)?;
                tx.write(&params.counter, 0, count + 1)?;
            }
            Ok(())
        });
    }
}

const SCHEDULES: [Schedule; 6] = [
    Schedule::Lockstep,
    Schedule::Stack,
    Schedule::its(64),
    Schedule::starve(64),
    Schedule::Random,
    Schedule::pct(3, 4000),
];

const TRANSACTIONS: u64 = 40;

fn bank<A: Algorithm>(config: SimConfig, stripe_bytes: u64) -> u64 {
    let sim = Sim::new(config);
    let layout = <A::Array<u32> as View<u32>>::LAYOUT;
    let accounts = TxArray::from_slice(&sim, layout, &[100u32; 6], "accounts").unwrap();
    let counter = TxArray::<_, u64>::zeroed(&sim, layout, 1, "counter").unwrap();
    let sizes = StmConfig {
        locks: 64,
        stripe_bytes,
        capacity: Capacity {
            reads: 8,
            writes: 8,
            ..Capacity::DEFAULT
        },
        retry_limits: RetryLimits {
            read_polls: 16,
            acquire_tries: 4,
            retries_max: 0,
            ..RetryLimits::DEFAULT
        },
        ..StmConfig::default()
    };
    let mut stm = Stm::new(&sim, Launch::new(2, 4), sizes).unwrap();
    let params = Params {
        stm: stm.handle::<A>(),
        accounts: accounts.view::<A>(),
        counter: counter.view::<A>(),
        transactions: TRANSACTIONS,
    };
    // SAFETY: the buffers live, and only these transactions touch them.
    let (_, statistics) =
        unsafe { stm.launch::<Bank<A>>(&params) }.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(statistics.commits, TRANSACTIONS, "{config}");
    assert_eq!(
        accounts.download().unwrap().iter().sum::<u32>(),
        600,
        "{config}"
    );
    assert_eq!(counter.download().unwrap(), [TRANSACTIONS / 4], "{config}");
    let (run, _) = sim.last_run().unwrap();
    run.stale_loads
}

/// Returns how many loads were stale.
fn all_schedules<A: Algorithm>() -> u64 {
    let mut stale = 0;
    for schedule in SCHEDULES {
        for seed in 0..60 {
            for votes_order in [true, false] {
                let memory = MemoryModel::Weak {
                    stale_percent: 10 + seed as u32,
                };
                let config = SimConfig {
                    warp_width: 4,
                    schedule,
                    memory,
                    seed,
                    votes_order,
                    ..SimConfig::default()
                };
                stale += bank::<A>(config, 4 << (seed % 3));
            }
        }
    }
    stale
}

macro_rules! conserved {
    ($($variant:ident $entry:ident $name:literal $origin:ident $teams:ident $sums:ident;)*) => {
        $(
            #[test]
            fn $entry() {
                let stale = all_schedules::<stm_core::algorithm::$variant>();
                // Under the coarse lock no load has a choice.
                assert_eq!(stale == 0, Variant::$variant == Variant::Cgl);
            }
        )*
    };
}

/// One test for each algorithm of the registry.
mod money_is_conserved_by {
    use super::*;

    stm_core::for_each_algorithm!(conserved! {});
}
