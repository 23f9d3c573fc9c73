//! Barriers: nobody leaves before all have come, what was written before is seen
//! after, and nothing has to be reset.

use crate::{config, of_each};
use std::marker::PhantomData;
use std::time::Duration;
use stm_core::algorithm::Fast;
use stm_core::host::{Buffer, Error, Launch, Stm, StmConfig, Watchdog};
use stm_core::observe::Mutant;
use stm_core::{Kernel, Lane, StmRef, TArray, TCells, View};
use stm_sync::Stop;
use stm_sync::barrier::{
    Chosen, Counted, Grouped, Kind, Led, Meeting, TBarrier, Tree, TwoStage, XiaoFeng,
};
use stm_sync::host::GridBarrier;
use verify::sim::{Sim, SimConfig};

/// Rounds of a launch, of two waits each.
const ROUNDS: u32 = 3;

/// In each round every thread stores the round's number in its own word, waits, reads
/// words of others, and waits again. Threads come at different times.
struct Phases<B>(PhantomData<B>);

#[repr(C)]
#[derive(Clone, Copy)]
struct Params<B> {
    barrier: TBarrier<B>,
    /// A word for each thread.
    words: TArray<u32>,
    /// What each thread has found wrong.
    wrong: TArray<u32>,
    /// The number of the first round.
    first: u32,
    /// A block that ends without waiting, if there is one.
    absent: u32,
}

impl<B: Meeting> Kernel for Phases<B> {
    const ENTRY: &'static str = "phases";
    type Params = Params<B>;

    fn run<L: Lane>(lane: &L, p: &Params<B>) {
        let mut grid = p.barrier.enter(lane);
        let me = lane.grid_thread();
        for round in p.first..p.first + ROUNDS {
            if lane.block_index() == p.absent {
                return;
            }
            if (me + u64::from(round)).is_multiple_of(3) {
                for _ in 0..(me + 5 * u64::from(round)) % 11 {
                    lane.pause(1);
                }
            }
            let Some(mine) = p.words.get(me) else { return };
            // SAFETY: live; every access to the words is one of these, and every thread
            // of a block makes the same waits.
            unsafe {
                lane.store_relaxed_32(mine, round);
                if grid.wait().is_err() {
                    return;
                }
                for k in 1..6 {
                    let other = (me + k * k * 7) % p.words.len();
                    let found = p.words.get(other).map(|word| lane.load_relaxed_32(word));
                    if found != Some(round)
                        && let Some(wrong) = p.wrong.get(me)
                    {
                        lane.private_store_32(wrong, round);
                    }
                }
                if grid.wait().is_err() {
                    return;
                }
            }
        }
    }
}

const SHAPES: [(u32, u32); 7] = [(1, 1), (1, 5), (2, 3), (5, 8), (9, 2), (37, 1), (70, 2)];

/// Runs two launches, and returns what went wrong.
fn run<B: Meeting>(
    config: SimConfig,
    make: impl Fn(&Sim, Launch, Stop) -> Result<GridBarrier<Sim, B>, Error>,
    (blocks, threads): (u32, u32),
) -> Result<(), String> {
    let sim = Sim::new(config);
    let mut watchdog = Watchdog::new(&sim, None).unwrap();
    let mut barrier = make(&sim, Launch::new(blocks, threads), watchdog.stop()).unwrap();
    let len = (blocks * threads) as usize;
    let words = Buffer::<_, u32>::zeroed(&sim, len, "words").unwrap();
    let wrong = Buffer::<_, u32>::zeroed(&sim, len, "wrong").unwrap();
    for launch in 0..2 {
        let params = Params {
            barrier: barrier.view(),
            words: words.tarray(),
            wrong: wrong.tarray(),
            first: 1 + launch * ROUNDS,
            absent: u32::MAX,
        };
        // SAFETY: all buffers and the barrier live in this simulator.
        let launched = unsafe { barrier.launch::<Phases<B>>(&mut watchdog, &params) };
        launched.map_err(|error| error.to_string())?;
    }
    let last = 2 * ROUNDS;
    if words.download().unwrap() != vec![last; len] {
        return Err("a thread did not come to the end".into());
    }
    match wrong
        .download()
        .unwrap()
        .iter()
        .position(|&round| round != 0)
    {
        None => Ok(()),
        Some(thread) => Err(format!("thread {thread} saw a word of another round")),
    }
}

fn is_right<B: Meeting>(runs: u64) {
    for k in 0..runs {
        for shape in SHAPES {
            if let Err(wrong) = run::<B>(config(k), GridBarrier::new, shape) {
                panic!("{}: {}: {shape:?}: {wrong}", B::NAME, config(k));
            }
        }
    }
}

/// The runs of each algorithm and shape: all schedules, widths and memories.
const RUNS: u64 = 84;

#[test]
fn every_algorithm_keeps_rounds_apart() {
    of_each!(is_right(RUNS): TwoStage, XiaoFeng, Tree, Counted, Grouped, Led);
}

#[test]
fn a_chosen_algorithm_does_what_its_type_does() {
    for (k, &kind) in (0..).zip(Kind::ALL) {
        for k in [k, k + 7, k + 30] {
            for shape in [(5, 8), (70, 2)] {
                let make = |sim: &_, shape, stop| GridBarrier::chosen(sim, kind, shape, stop);
                if let Err(wrong) = run::<Chosen>(config(k), make, shape) {
                    panic!("{}: {}: {shape:?}: {wrong}", kind.name(), config(k));
                }
            }
        }
    }
}

/// Runs with a seeded defect until one goes wrong, and returns its number and what
/// went wrong.
fn found<B: Meeting>(mutant: Mutant) -> Option<(u64, String)> {
    (0..400).find_map(|k| {
        let config = SimConfig {
            mutant: Some(mutant as u32),
            ..config(k)
        };
        let shape = [(5, 8), (9, 2), (70, 2)][(k % 3) as usize];
        let wrong = run::<B>(config, GridBarrier::new, shape).err()?;
        Some((k, wrong))
    })
}

/// Every missing fence makes a thread see a word of another round; a round that is not
/// counted does that, or keeps a thread waiting. `is_right` has the same runs without.
fn all_are_found<B: Meeting>(mutants: &[Mutant]) {
    for &mutant in mutants {
        let name = mutant.name();
        let Some((k, wrong)) = found::<B>(mutant) else {
            panic!("{name} survives in {}", B::NAME)
        };
        let seen = wrong.ends_with("another round");
        let kept = mutant == Mutant::BarrierRoundKept && wrong.contains("livelock");
        assert!(seen || kept, "{name}: {k}: {wrong}");
        println!("{}: {name}: run {k}: {wrong}", B::NAME);
    }
}

#[test]
fn a_missing_fence_and_a_round_that_is_not_counted_are_found() {
    use Mutant::{BarrierNoAcquire, BarrierNoRelease, BarrierNotPassedOn, BarrierRoundKept};
    let ends = [BarrierNoRelease, BarrierNoAcquire, BarrierRoundKept];
    all_are_found::<TwoStage>(&ends);
    all_are_found::<Counted>(&ends);
    let with_a_middle = [
        BarrierNoRelease,
        BarrierNoAcquire,
        BarrierNotPassedOn,
        BarrierRoundKept,
    ];
    of_each!(all_are_found(&with_a_middle): XiaoFeng, Tree, Grouped, Led);
}

/// In each round every thread adds 1 to all words by transactions, waits, and finds the
/// sums of all threads there.
struct Sums;

#[repr(C)]
#[derive(Clone, Copy)]
struct SumsParams {
    stm: StmRef<Fast>,
    words: TCells<u32>,
    barrier: TBarrier<Led>,
    wrong: TArray<u32>,
}

impl Kernel for Sums {
    const ENTRY: &'static str = "sums";
    type Params = SumsParams;

    fn run<L: Lane>(lane: &L, p: &SumsParams) {
        let mut grid = p.barrier.enter(lane);
        for round in 1..=ROUNDS {
            let threads = lane.grid_threads();
            p.stm.for_each(lane, 0..threads * p.words.len(), |tx, i| {
                let at = i % p.words.len();
                let found = tx.read(&p.words, at)?;
                tx.write(&p.words, at, found + 1)
            });
            // SAFETY: every thread of the grid makes the same waits; a live word.
            unsafe {
                if grid.wait().is_err() {
                    return;
                }
                for at in 0..p.words.len() {
                    if p.words.peek(lane, at) != Some(round * threads as u32)
                        && let Some(wrong) = p.wrong.get(0)
                    {
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

#[test]
fn transactions_before_a_wait_are_seen_after_it() {
    for k in 0..42 {
        let sim = Sim::new(config(k));
        let shape = Launch::new(3, 4);
        let mut stm = Stm::new(&sim, shape, StmConfig::default()).unwrap();
        let barrier = GridBarrier::new(&sim, shape, stm.stop()).unwrap();
        stm.reshape(barrier.shape()).unwrap();
        let words = stm.array("words", &[0u32; 2]).unwrap();
        let wrong = Buffer::<_, u32>::zeroed(&sim, 1, "wrong").unwrap();
        let params = SumsParams {
            stm: stm.handle(),
            words: words.view::<Fast>(),
            barrier: barrier.view(),
            wrong: wrong.tarray(),
        };
        // SAFETY: all of them live in this simulator.
        let launched = unsafe { stm.launch::<Sums>(&params) };
        assert_eq!(launched.map(|(_, statistics)| statistics.commits), Ok(72));
        assert_eq!(words.download().unwrap(), [36, 36], "{}", config(k));
        assert_eq!(wrong.download().unwrap(), [0], "{}", config(k));
    }
}

fn a_block_that_does_not_come_ends_the_launch<B: Meeting>() {
    for k in 0..SCHEDULES_RUN {
        let sim = Sim::new(SimConfig {
            idle_max: 2_000_000,
            ..config(k)
        });
        let limit = Duration::from_micros(400);
        let mut watchdog = Watchdog::new(&sim, Some(limit)).unwrap();
        let mut barrier =
            GridBarrier::<_, B>::new(&sim, Launch::new(6, 3), watchdog.stop()).unwrap();
        let words = Buffer::<_, u32>::zeroed(&sim, 18, "words").unwrap();
        let wrong = Buffer::<_, u32>::zeroed(&sim, 18, "wrong").unwrap();
        let mut launch = |absent| {
            let params = Params {
                barrier: barrier.view(),
                words: words.tarray(),
                wrong: wrong.tarray(),
                first: 1,
                absent,
            };
            // SAFETY: all buffers and the barrier live in this simulator.
            unsafe { barrier.launch::<Phases<B>>(&mut watchdog, &params) }
        };
        for absent in [0, 3] {
            let error = launch(absent).unwrap_err();
            assert_eq!(error, Error::StillWaiting { limit }, "{}", config(k));
            // It has been reset.
            launch(u32::MAX).unwrap();
        }
        assert_eq!(wrong.download().unwrap(), [0; 18]);
    }
}

/// Runs of the test above: each schedule at each width.
const SCHEDULES_RUN: u64 = 21;

#[test]
fn a_wait_for_a_block_that_has_ended_is_told_to_stop() {
    of_each!(
        a_block_that_does_not_come_ends_the_launch():
        TwoStage, XiaoFeng, Tree, Counted, Grouped, Led
    );
}

#[test]
fn a_launch_of_another_grid_is_refused_by_every_wait() {
    for blocks in [2, 3, 5, 40] {
        let sim = Sim::new(config(0));
        let mut watchdog = Watchdog::new(&sim, None).unwrap();
        let mut barrier =
            GridBarrier::<_, XiaoFeng>::new(&sim, Launch::new(4, 2), watchdog.stop()).unwrap();
        barrier.check().unwrap();
        let words = Buffer::<_, u32>::zeroed(&sim, 80, "words").unwrap();
        let wrong = Buffer::<_, u32>::zeroed(&sim, 80, "wrong").unwrap();
        let params = Params {
            barrier: barrier.view(),
            words: words.tarray(),
            wrong: wrong.tarray(),
            first: 1,
            absent: u32::MAX,
        };
        let other = Launch::new(blocks, 2);
        // SAFETY: all buffers and the barrier live in this simulator.
        unsafe { watchdog.launch::<Phases<XiaoFeng>>(&sim, &other, &params) }.unwrap();
        let other = Error::OtherGrid {
            made_for: 4,
            used_by: blocks,
        };
        assert_eq!(barrier.check(), Err(other.clone()));
        // It is reported once, and the barrier is usable.
        barrier.check().unwrap();
        let own = Buffer::<_, u32>::zeroed(&sim, 8, "words").unwrap();
        let params = Params {
            words: own.tarray(),
            ..params
        };
        // SAFETY: as above.
        unsafe { barrier.launch::<Phases<XiaoFeng>>(&mut watchdog, &params) }.unwrap();
        assert_eq!(own.download().unwrap(), [ROUNDS; 8]);
        assert_eq!(wrong.download().unwrap(), [0; 80]);
        // Or the next launch reports it, before it begins, and the one after that runs.
        let elsewhere = Launch::new(blocks, 2);
        // SAFETY: as above.
        unsafe {
            let launched = watchdog.launch::<Phases<XiaoFeng>>(&sim, &elsewhere, &params);
            launched.unwrap();
            let refused = barrier.launch::<Phases<XiaoFeng>>(&mut watchdog, &params);
            assert_eq!(refused, Err(other));
            let launched = barrier.launch::<Phases<XiaoFeng>>(&mut watchdog, &params);
            launched.unwrap();
        }
    }
}

#[test]
fn a_grid_that_is_not_resident_is_refused_with_the_number_of_blocks_that_would_be() {
    let sim = Sim::new(config(0));
    let mut watchdog = Watchdog::new(&sim, None).unwrap();
    let words = Buffer::<_, u32>::zeroed(&sim, 1, "words").unwrap();
    let mut barrier =
        GridBarrier::<_, Led>::new(&sim, Launch::new(9, 1024), watchdog.stop()).unwrap();
    let params = Params {
        barrier: barrier.view(),
        words: words.tarray(),
        wrong: words.tarray(),
        first: 1,
        absent: u32::MAX,
    };
    // SAFETY: all buffers and the barrier live in this simulator.
    let refused = unsafe { barrier.launch::<Phases<Led>>(&mut watchdog, &params) };
    let Err(Error::LaunchTooLarge { what, asked, limit }) = refused else {
        panic!("{refused:?}")
    };
    assert_eq!((what, asked, limit), ("blocks at the same time", 9, 8));
}
