//! Barriers across blocks and semaphores on the CPU, with real threads: short stress,
//! and what the host refuses.
#![cfg(feature = "host")]

use std::marker::PhantomData;
use std::time::Duration;
use stm_machine::host::{Buffer, Cpu, Device, Error, Launch, Watchdog};
use stm_machine::{Kernel, Lane, TArray};
use stm_sync::barrier::{
    Chosen, Counted, Grouped, Kind, Led, Meeting, TBarrier, Tree, TwoStage, XiaoFeng,
};
use stm_sync::host::{GridBarrier, Semaphores};
use stm_sync::semaphore::{Sleeping, Spin, SpinBackoff, TSemaphores, Tickets, Waiting};

/// Each thread stores the round in a word of its own, waits, and compares the words of
/// all; a second wait keeps the rounds apart.
struct Phases<B>(PhantomData<B>);

#[repr(C)]
struct PhasesParams<B> {
    barrier: TBarrier<B>,
    words: TArray<u32>,
    /// How often a word was of another round.
    wrong: TArray<u32>,
    rounds: u32,
    /// A thread that panics in the second round, if there is one.
    panics: u64,
}

impl<B> Clone for PhasesParams<B> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<B> Copy for PhasesParams<B> {}

impl<B: Meeting> Kernel for Phases<B> {
    const ENTRY: &'static str = "phases";
    type Params = PhasesParams<B>;

    fn run<L: Lane>(lane: &L, p: &PhasesParams<B>) {
        let mut grid = p.barrier.enter(lane);
        let me = lane.grid_thread();
        let (Some(mine), Some(wrong)) = (p.words.get(me), p.wrong.get(0)) else {
            return;
        };
        for round in 1..=p.rounds {
            assert!(round != 2 || me != p.panics, "thread {me} gives up");
            // SAFETY: live words, used with 32 bits only; every thread of a block makes
            // the same waits.
            unsafe {
                lane.store_relaxed_32(mine, round);
                if grid.wait().is_err() {
                    return;
                }
                for other in 0..p.words.len() {
                    let found = p.words.get(other).map(|word| lane.load_relaxed_32(word));
                    if found != Some(round) {
                        lane.fetch_add_relaxed_32(wrong, 1);
                    }
                }
                if grid.wait().is_err() {
                    return;
                }
            }
        }
    }
}

const ROUNDS: u32 = 200;

fn phases<B: Meeting>(
    mut barrier: GridBarrier<Cpu, B>,
    watchdog: &mut Watchdog<Cpu>,
    panics: u64,
) -> Result<(), Error> {
    let cpu = Cpu::new();
    let shape = barrier.shape();
    let len = (shape.blocks * shape.threads) as usize;
    let words = Buffer::<_, u32>::zeroed(&cpu, len, "words")?;
    let wrong = Buffer::<_, u32>::zeroed(&cpu, 1, "wrong")?;
    let params = PhasesParams {
        barrier: barrier.view(),
        words: words.tarray(),
        wrong: wrong.tarray(),
        rounds: ROUNDS,
        panics,
    };
    for _ in 0..2 {
        // SAFETY: the barrier and the buffers live until the launch has ended.
        unsafe { barrier.launch::<Phases<B>>(watchdog, &params) }?;
        assert_eq!(words.download()?, vec![ROUNDS; len], "{}", B::NAME);
        assert_eq!(wrong.download()?, [0], "{}", B::NAME);
    }
    Ok(())
}

fn watchdog() -> Watchdog<Cpu> {
    Watchdog::new(&Cpu::new(), Some(Duration::from_mins(1))).unwrap()
}

fn barrier_is_right<B: Meeting>() {
    for (blocks, threads) in [(1, 3), (4, 2), (9, 1), (66, 1)] {
        let mut watchdog = watchdog();
        let shape = Launch::new(blocks, threads);
        let barrier = GridBarrier::<_, B>::new(&Cpu::new(), shape, watchdog.stop()).unwrap();
        phases(barrier, &mut watchdog, u64::MAX).unwrap();
    }
}

#[test]
fn every_barrier_keeps_the_rounds_of_threads_apart() {
    barrier_is_right::<TwoStage>();
    barrier_is_right::<XiaoFeng>();
    barrier_is_right::<Tree>();
    barrier_is_right::<Counted>();
    barrier_is_right::<Grouped>();
    barrier_is_right::<Led>();
    for &kind in Kind::ALL {
        let mut watchdog = watchdog();
        let shape = Launch::new(5, 2);
        let barrier = GridBarrier::chosen(&Cpu::new(), kind, shape, watchdog.stop()).unwrap();
        phases::<Chosen>(barrier, &mut watchdog, u64::MAX).unwrap();
    }
}

#[test]
fn a_panic_in_one_block_ends_the_waits_of_the_others() {
    let mut watchdog = watchdog();
    let shape = Launch::new(4, 2);
    let barrier = GridBarrier::<_, Led>::new(&Cpu::new(), shape, watchdog.stop()).unwrap();
    let error = phases(barrier, &mut watchdog, 5).unwrap_err();
    let Error::Panicked { message, .. } = error else {
        panic!("{error}")
    };
    assert_eq!(message, "thread 5 gives up");
}

#[test]
fn a_grid_that_gets_too_few_threads_is_refused_with_the_number_of_blocks_that_fit() {
    let mut watchdog = watchdog();
    let shape = Launch::new(5, 1_000);
    let barrier = GridBarrier::<_, XiaoFeng>::new(&Cpu::new(), shape, watchdog.stop()).unwrap();
    assert_eq!(barrier.resident_blocks::<Phases<XiaoFeng>>(), Ok(4));
    let error = phases(barrier, &mut watchdog, u64::MAX).unwrap_err();
    assert_eq!(
        error,
        Error::LaunchTooLarge {
            what: "blocks at the same time",
            asked: 5,
            limit: 4
        }
    );
    for (blocks, threads) in [(0, 1), (1, 0), (1, 1025), (1 << 17, 1)] {
        let shape = Launch::new(blocks, threads);
        assert!(GridBarrier::<_, Led>::new(&Cpu::new(), shape, watchdog.stop()).is_err());
    }
}

/// Each thread adds to a word inside of a semaphore by a load and a store, and counts who
/// is inside.
struct Sections<S>(PhantomData<S>);

#[repr(C)]
struct SectionsParams<S> {
    semaphores: TSemaphores<S>,
    closure: bool,
    /// For each semaphore the threads inside, how often more were inside than may be, and
    /// the word.
    words: TArray<u32>,
    times: u32,
}

impl<S> Clone for SectionsParams<S> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<S> Copy for SectionsParams<S> {}

impl<S: Waiting> Kernel for Sections<S> {
    const ENTRY: &'static str = "sections";
    type Params = SectionsParams<S>;

    fn run<L: Lane>(lane: &L, p: &SectionsParams<S>) {
        for i in 0..p.times {
            let which = u64::from(i) % p.semaphores.len();
            let words = [0, 1, 2].map(|k| p.words.get(3 * which + k));
            let (Some(semaphore), [Some(inside), Some(excess), Some(word)]) =
                (p.semaphores.get(which), words)
            else {
                return;
            };
            // SAFETY: live words, used with 32 bits only.
            let section = || unsafe {
                if lane.fetch_add_relaxed_32(inside, 1) >= semaphore.count() {
                    lane.fetch_add_relaxed_32(excess, 1);
                }
                let found = lane.load_relaxed_32(word);
                if i.is_multiple_of(16) {
                    lane.pause(0);
                }
                lane.store_relaxed_32(word, found + 1);
                lane.fetch_add_relaxed_32(inside, u32::MAX);
            };
            if p.closure {
                if semaphore.with(lane, section).is_err() {
                    return;
                }
            } else {
                if semaphore.wait(lane).is_err() {
                    return;
                }
                section();
                semaphore.post(lane);
            }
        }
    }
}

fn semaphore_is_right<S: Waiting>() {
    let cpu = Cpu::new();
    let mut watchdog = watchdog();
    let times = 400;
    for count in [1, 2, 10] {
        for closure in [false, true] {
            let semaphores = Semaphores::<_, S>::new(&cpu, 2, count, watchdog.stop()).unwrap();
            let words = Buffer::<_, u32>::zeroed(&cpu, 6, "words").unwrap();
            let params = SectionsParams {
                semaphores: semaphores.view(),
                closure,
                words: words.tarray(),
                times,
            };
            let launch = Launch {
                cooperative: true,
                ..Launch::new(4, 3)
            };
            // SAFETY: the semaphores and the words live until the launch has ended.
            unsafe { watchdog.launch::<Sections<S>>(&cpu, &launch, &params) }.unwrap();
            for words in words.download().unwrap().chunks(3) {
                assert_eq!(words[..2], [0, 0], "{} with {count}", S::NAME);
                if count == 1 {
                    assert_eq!(words[2], times / 2 * 12, "{}", S::NAME);
                }
            }
        }
    }
}

#[test]
fn every_semaphore_lets_in_its_count_and_everybody() {
    semaphore_is_right::<Spin>();
    semaphore_is_right::<SpinBackoff>();
    semaphore_is_right::<Sleeping>();
    semaphore_is_right::<Tickets>();
}

/// Waits once and never posts.
struct WaitsAlone;

impl Kernel for WaitsAlone {
    const ENTRY: &'static str = "waits_alone";
    type Params = TSemaphores<Sleeping>;

    fn run<L: Lane>(lane: &L, semaphores: &TSemaphores<Sleeping>) {
        let _inside = semaphores.get(0).map(|semaphore| semaphore.wait(lane));
    }
}

#[test]
fn a_wait_for_a_post_that_does_not_come_ends_at_the_time_limit() {
    let cpu = Cpu::new();
    let limit = Duration::from_millis(30);
    let mut watchdog = Watchdog::new(&cpu, Some(limit)).unwrap();
    let mut semaphores = Semaphores::<_, Sleeping>::new(&cpu, 1, 3, watchdog.stop()).unwrap();
    let handle = semaphores.view();
    let mut launch = |blocks| {
        let launch = Launch {
            cooperative: true,
            ..Launch::new(blocks, 1)
        };
        // SAFETY: the semaphore lives until the launch has ended.
        unsafe { watchdog.launch::<WaitsAlone>(&cpu, &launch, &handle) }
    };
    assert_eq!(launch(4).unwrap_err(), Error::StillWaiting { limit });
    semaphores.reset().unwrap();
    launch(3).unwrap();
    assert_eq!(
        cpu.resident_blocks::<WaitsAlone>(&Launch::new(1, 64)),
        Ok(64)
    );
}
