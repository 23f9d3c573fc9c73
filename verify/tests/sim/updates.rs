//! Static updates beside dynamic transactions: recorded, judged, and replayed.

use std::marker::PhantomData;
use stm_core::algorithm::{Algorithm, Variant};
use stm_core::host::{Cpu, Error, Launch, Pod, RetryLimits, Stm, StmConfig, TxArray};
use stm_core::kernel::Kernel;
use stm_core::observe::Mutant;
use stm_core::{Element, Lane, StmRef, View, with_algorithm};
use stm_kernels::draw::{below, draw};
use verify::program::directed::Directed;
use verify::program::{Case, Op, run as run_case};
use verify::recording::{Recording, words_needed};
use verify::sim::{MemoryModel, Schedule, Sim, SimConfig};

/// Numbers from 0 to 255 in an element.
trait Small: Element + Pod + PartialEq {
    fn small(self) -> u64;
    fn of(n: u64) -> Self;
}

impl Small for u32 {
    fn small(self) -> u64 {
        u64::from(self)
    }
    fn of(n: u64) -> Self {
        n as Self
    }
}

// Both halves matter.
impl Small for u64 {
    fn small(self) -> u64 {
        self % 256
    }
    fn of(n: u64) -> Self {
        n << 40 | n
    }
}

#[derive(Clone, Copy, Debug)]
struct Params<A: Algorithm, T: Small> {
    stm: StmRef<A>,
    words: A::Array<T>,
    seed: u64,
    transactions: u64,
}

/// The words of transaction `i`, of which some are named twice.
fn at<const N: usize>(seed: u64, i: u64, len: u64) -> [u64; N] {
    std::array::from_fn(|k| u64::from(below(draw(seed, i, k as u32), len as u32)))
}

/// What is written to word `k`.
fn new<T: Small, const N: usize>(seed: u64, i: u64, k: usize, old: [T; N]) -> T {
    let sum: u64 = old.iter().map(|old| old.small()).sum();
    T::of((sum + draw(seed, i, 9 + k as u32)) % 256)
}

/// Dynamic transactions, then static updates, then dynamic ones: of different warps, all at the same
/// time.
struct Both<A, T, const N: usize, const W: usize>(PhantomData<(A, T)>);

impl<A: Algorithm, T: Small, const N: usize, const W: usize> Kernel for Both<A, T, N, W> {
    const ENTRY: &'static str = "both";
    type Params = Params<A, T>;

    fn run<L: Lane>(lane: &L, p: &Params<A, T>) {
        let (n, len, seed) = (p.transactions, p.words.len(), p.seed);
        let dynamic = |first: u64| {
            p.stm.for_each(lane, 0..n, |tx, i| {
                let i = first + i;
                let [from, to] = at::<2>(seed, i, len);
                let old = [tx.read(&p.words, from)?, tx.read(&p.words, to)?];
                tx.write(&p.words, from, new(seed, i, 0, old))?;
                if !i.is_multiple_of(3) {
                    tx.write(&p.words, to, new(seed, i, 1, old))?;
                }
                Ok(())
            });
        };
        dynamic(0);
        p.stm.update_each(
            lane,
            0..n,
            &p.words,
            |i| at::<N>(seed, n + i, len),
            |i, old: [T; N]| {
                let i = n + i;
                (!i.is_multiple_of(5))
                    .then(|| std::array::from_fn::<T, W, _>(|k| new(seed, i, k, old)))
            },
        );
        dynamic(2 * n);
    }
}

fn run<A: Algorithm, T: Small, const N: usize, const W: usize>(config: SimConfig, len: usize) {
    let sim = Sim::new(config);
    let what = format!("{} N={N} W={W} {len} words {config}", A::NAME);
    let layout = <A::Array<T> as View<T>>::LAYOUT;
    let words = TxArray::from_slice(&sim, layout, &vec![T::of(7); len], "words").unwrap();
    let shape = Launch::new(2, 2 * config.warp_width);
    let mut stm = Stm::new(&sim, shape, StmConfig::default()).unwrap();
    let transactions = 24;
    // A lane has few of them, and many attempts.
    let room = words_needed(600, N as u64 + 8);
    let mut recording = Recording::new(&sim, &shape, room).unwrap();
    recording.name(&words).unwrap();
    stm.observe(recording.probe());
    let params = Params {
        stm: stm.handle::<A>(),
        words: words.view::<A>(),
        seed: config.seed,
        transactions,
    };
    // SAFETY: the buffers live, and only these transactions touch them.
    let launched = unsafe { stm.launch::<Both<A, T, N, W>>(&params) };
    let (_, done) = launched.unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(done.commits, 3 * transactions, "{what}");
    let judged = recording
        .judge(A::NAME, "both")
        .unwrap_or_else(|e| panic!("{what}: {e}"));
    assert!(judged.is_opaque(), "{what}: {judged}");
    assert_eq!(judged.difference(&words).unwrap(), None, "{what}");
}

fn configurations(seeds: u64) -> impl Iterator<Item = SimConfig> {
    let schedules = [
        Schedule::Lockstep,
        Schedule::Stack,
        Schedule::starve(64),
        Schedule::Random,
    ];
    schedules.into_iter().flat_map(move |schedule| {
        [1, 2, 4].into_iter().flat_map(move |warp_width| {
            (0..seeds).map(move |seed| SimConfig {
                warp_width,
                schedule,
                seed,
                memory: MemoryModel::Weak { stale_percent: 50 },
                wide_atomics: seed % 2 == 0,
                version_bits: 3 + seed as u32 % 6,
                ..SimConfig::default()
            })
        })
    })
}

#[test]
fn updates_beside_transactions_are_opaque_with_every_variant() {
    for &variant in Variant::ALL {
        with_algorithm!(variant, A => {
            for config in configurations(if A::NAME == "fast" { 30 } else { 3 }) {
                run::<A, u32, 4, 3>(config, 5);
                run::<A, u32, 2, 2>(config, 3);
                run::<A, u64, 3, 2>(config, 4);
                run::<A, u64, 2, 2>(config, 3);
            }
        });
    }
}

#[test]
fn thirty_two_words_at_once() {
    for config in configurations(3) {
        run::<stm_core::algorithm::Fast, u32, 32, 32>(config, 40);
        run::<stm_core::algorithm::Fast, u64, 32, 16>(config, 40);
        run::<stm_core::algorithm::Fast, u32, 1, 0>(config, 2);
    }
}

struct Past<A, const N: usize>(PhantomData<A>);

impl<A: Algorithm, const N: usize> Kernel for Past<A, N> {
    const ENTRY: &'static str = "past";
    type Params = Params<A, u32>;

    fn run<L: Lane>(lane: &L, p: &Params<A, u32>) {
        let at = |i: u64| std::array::from_fn::<u64, N, _>(|k| if i == 3 { 90 } else { k as u64 });
        p.stm
            .update_each(lane, 0..p.transactions, &p.words, at, |_, v: [u32; N]| {
                Some(v)
            });
    }
}

#[test]
fn an_index_past_the_end_is_named_and_nothing_stays_owned() {
    for &variant in Variant::ALL {
        with_algorithm!(variant, A => {
            let sim = Sim::new(SimConfig::default());
            let layout = <<A as Algorithm>::Array<u32> as View<u32>>::LAYOUT;
            let words = TxArray::from_slice(&sim, layout, &[7u32; 5], "words").unwrap();
            let config = StmConfig { retry_limits: RetryLimits::DEFAULT, ..StmConfig::default() };
            let mut stm = Stm::new(&sim, Launch::new(1, 2), config).unwrap();
            let params = Params { stm: stm.handle::<A>(), words: words.view::<A>(), seed: 0, transactions: 9 };
            // SAFETY: as above.
            let end = unsafe { stm.launch::<Past<A, 3>>(&params) };
            assert!(matches!(end, Err(Error::OutOfRange { index: 90, len: 5, .. })), "{}: {end:?}", A::NAME);
            let again = Params { transactions: 3, ..params };
            // SAFETY: as above.
            let (_, done) = unsafe { stm.launch::<Past<A, 3>>(&again) }.unwrap();
            assert_eq!(done.commits, 3, "{}", A::NAME);
        });
    }
}

/// Panics while it holds words.
struct Panics<A>(PhantomData<A>);

impl<A: Algorithm> Kernel for Panics<A> {
    const ENTRY: &'static str = "panics";
    type Params = Params<A, u32>;

    fn run<L: Lane>(lane: &L, p: &Params<A, u32>) {
        let change = |i, [a, b]: [u32; 2]| {
            assert_ne!(i, p.seed, "the closure panics");
            Some([a - 1, b + 1])
        };
        p.stm
            .update_each(lane, 0..p.transactions, &p.words, |i| [i % 3, 3], change);
    }
}

#[test]
fn a_closure_that_panics_leaves_nothing_owned() {
    for &variant in Variant::ALL {
        with_algorithm!(variant, A => {
            if !<A as Algorithm>::OWNS {
                continue; // `cgl` holds its lock, and the memory is lost, as in any transaction
            }
            let cpu = Cpu::new();
            let layout = <<A as Algorithm>::Array<u32> as View<u32>>::LAYOUT;
            let words = TxArray::from_slice(&cpu, layout, &[50u32; 4], "words").unwrap();
            let mut stm = Stm::new(&cpu, Launch::new(1, 2), StmConfig::default()).unwrap();
            let params = Params { stm: stm.handle::<A>(), words: words.view::<A>(), seed: 7, transactions: 9 };
            // SAFETY: as above.
            let end = unsafe { stm.launch::<Panics<A>>(&params) };
            assert!(matches!(end, Err(Error::Panicked { .. })), "{}: {end:?}", A::NAME);
            // The memory is lost, as after any panic; but nobody waits for its words.
            // SAFETY: as above.
            let again = unsafe { stm.launch::<Panics<A>>(&params) };
            let Err(Error::Corrupt { what }) = again else {
                panic!("{}: {again:?}", A::NAME);
            };
            assert!(what.contains("no lock is held"), "{}: {what}", A::NAME);
        });
    }
}

/// Returns a directed program whose transactions other than static updates only read, with a
/// defect.
fn beside_readers(name: &str, mutant: Mutant, seed: u64) -> Case {
    let program = Directed::named(name).unwrap();
    let mut case = program.case(Variant::Fast, Some(mutant), seed);
    let updates = case.program.updates(0);
    for ops in &mut case.program.transactions[updates..] {
        ops.retain(|op| matches!(op, Op::Read(_)));
    }
    case
}

/// No other commit stores anything in these programs.
#[test]
fn an_update_needs_each_of_its_fences() {
    for mutant in [Mutant::NoF2Value, Mutant::NoF3, Mutant::NoF5] {
        for name in ["update-beside", "update-restored"] {
            let mut cases = (0..1000).map(|seed| beside_readers(name, mutant, seed));
            let found = cases.any(|case| run_case(&case).is_err());
            assert!(found, "{} survives in {name}", mutant.name());
        }
    }
}
