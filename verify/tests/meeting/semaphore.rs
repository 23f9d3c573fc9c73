//! Semaphores: never more than the count inside, everybody comes in, and a count of
//! one is mutual exclusion. `kernels.rs` has those whose kind is chosen at launch.

use crate::prelude::*;
use crate::{Ran, are_right, config, simulator};
use stm_sync::host::Semaphores;
use stm_sync::semaphore::{
    COUNT_MAX, Checked, Sleeping, Spin, SpinBackoff, TSemaphores, Tickets, Waiting,
};

const TIMES: u32 = 3;

#[derive(Clone, Copy, PartialEq, Debug)]
enum Form {
    With,
    WaitAndPost,
    WaitAlone,
}

/// Every thread comes in some times, counts who is inside, and adds 1 to a word by a load and a store.
struct Sections<S> {
    semaphores: TSemaphores<S>,
    form: Form,
    /// Whether the lanes of a warp come together.
    together: bool,
    /// The threads inside, and whether more were than may be.
    inside: Cell<u32>,
    excess: Cell<bool>,
    word: Buffer<Sim, u32>,
}

impl<S: Waiting> Sections<S> {
    fn new(sim: &Sim, semaphores: &Semaphores<Sim, S>, form: Form) -> Self {
        Self {
            semaphores: semaphores.view(),
            form,
            // A side of a divergence that waits never lets the other run there.
            together: sim.config().schedule == Schedule::Stack,
            inside: Cell::new(0),
            excess: Cell::new(false),
            word: Buffer::zeroed(sim, 1, "the word").unwrap(),
        }
    }

    fn run(&self, lane: &SimLane<'_>) {
        let semaphore = self.semaphores.get(self.semaphores.len() - 1).unwrap();
        let word = self.word.as_mut_ptr();
        let section = || {
            let before = self.inside.replace(self.inside.get() + 1);
            self.excess
                .set(self.excess.get() || before >= semaphore.count());
            // SAFETY: a live word, used with 32 bits only.
            let found = unsafe { lane.load_relaxed_32(word) };
            for _ in 0..=(lane.grid_thread() + u64::from(found)) % 3 {
                lane.pause(1);
            }
            // SAFETY: as above.
            unsafe { lane.store_relaxed_32(word, found + 1) };
            self.inside.set(self.inside.get() - 1);
        };
        for i in 0..TIMES {
            // Lanes of a warp come apart, too.
            if (lane.grid_thread() + u64::from(i)).is_multiple_of(3) {
                lane.pause(1);
            }
            if self.together {
                // SAFETY: all lanes of the warp come here as often.
                unsafe { lane.sync_warp(lane.warp_mask()) };
            }
            let entered = match self.form {
                Form::With => semaphore.with(lane, section),
                _ => semaphore.wait(lane).map(|()| section()),
            };
            if entered.is_err() {
                return;
            }
            if self.form == Form::WaitAndPost {
                semaphore.post(lane);
            }
        }
    }

    fn launch(&self, sim: &Sim, watchdog: &mut Watchdog<Sim>, shape: Launch) -> Result<(), Error> {
        // SAFETY: there are no parameters, and the semaphores and the word live.
        let launches = || unsafe { watchdog.launch::<Closure>(sim, &shape, &()) };
        sim.with_closure(|lane| self.run(lane), launches)
            .map(|_| ())
    }
}

fn run<S: Waiting>(
    config: SimConfig,
    (blocks, threads): (u32, u32),
    count: u32,
    form: Form,
) -> Ran {
    let (sim, mut watchdog) = simulator(config);
    let semaphores = Semaphores::<_, S>::new(&sim, 1, count, watchdog.stop()).unwrap();
    let sections = Sections::new(&sim, &semaphores, form);
    for _ in 0..2 {
        let launched = sections.launch(&sim, &mut watchdog, Launch::new(blocks, threads));
        launched.map_err(|error| error.to_string())?;
    }
    if sections.excess.get() || sections.inside.get() != 0 {
        return Err("one too many inside".into());
    }
    let word = sections.word.download().unwrap()[0];
    let all = 2 * TIMES * blocks * threads;
    if count == 1 && word != all {
        return Err(format!("the word is {word} after {all} additions"));
    }
    Ok(())
}

/// Whether waits in one place and posts in another end: lanes run independently, or warps have one.
fn runs_apart(config: SimConfig) -> bool {
    config.warp_width == 1 || !matches!(config.schedule, Schedule::Lockstep | Schedule::Stack)
}

#[test]
fn every_algorithm_lets_in_the_count_and_everybody_by_closures_and_by_waits_and_posts() {
    of_each!(S: Waiting in
        Spin, SpinBackoff, Sleeping, Tickets, Checked<Spin>, Checked<Sleeping>, Checked<Tickets> => {
        for (form, count, shapes) in [
            (Form::With, 1, &[(1, 1), (1, 9), (3, 4), (2, 33)][..]),
            (Form::With, 5, &[(1, 9), (3, 4), (2, 33)]),
            (Form::WaitAndPost, 1, &[(4, 2)]),
            (Form::WaitAndPost, 3, &[(2, 9)]),
        ] {
            are_right(&format!("{}: {form:?}, {count}", S::NAME), 84, |k| match config(k) {
                config if form == Form::With || runs_apart(config) => {
                    run::<S>(config, shapes[k as usize % shapes.len()], count, form)
                }
                _ => Ok(()),
            });
        }
    });
}

fn is_found<S: Waiting>(mutant: Mutant, how: &str) {
    crate::is_found(mutant, S::NAME, &[how], 600, |k| {
        let config = config(k).with_mutant(Some(mutant)).with_idle(20_000);
        let (count, shape) = [(1, (3, 2)), (1, (2, 5)), (2, (4, 3))][(k % 3) as usize];
        run::<S>(config, shape, count, Form::With)
    });
}

#[test]
fn a_missing_fence_a_lost_post_and_one_too_many_are_found() {
    of_each!(S: Waiting in Spin, SpinBackoff, Sleeping, Tickets => {
        is_found::<S>(Mutant::SemaphoreNoRelease, "the word is");
        is_found::<S>(Mutant::SemaphorePostLost, "livelock");
        is_found::<S>(Mutant::SemaphoreOneMore, "one too many inside");
    });
    is_found::<Sleeping>(Mutant::SemaphoreNoAcquire, "the word is");
    is_found::<Tickets>(Mutant::SemaphoreNoAcquire, "the word is");
}

#[test]
fn a_wait_for_a_post_that_does_not_come_is_asked_to_stop() {
    of_each!(S: Waiting in Spin, SpinBackoff, Sleeping, Tickets => {
        let sim = Sim::new(config(2).with_idle(2_000_000));
        let limit = Duration::from_micros(100);
        let mut watchdog = Watchdog::new(&sim, Some(limit)).unwrap();
        let mut semaphores = Semaphores::<_, S>::new(&sim, 1, 4, watchdog.stop()).unwrap();
        for (form, ends) in [(Form::WaitAlone, false), (Form::With, true)] {
            let sections = Sections::new(&sim, &semaphores, form);
            let launched = sections.launch(&sim, &mut watchdog, Launch::new(5, 2));
            let stopped = (!ends).then_some(Error::StillWaiting { limit });
            assert_eq!(launched.err(), stopped);
            semaphores.reset().unwrap();
        }
    });
}

#[test]
fn a_count_of_zero_or_above_the_largest_is_refused() {
    let (sim, watchdog) = simulator(config(0));
    for count in [0, COUNT_MAX + 1, u32::MAX] {
        let refused = Semaphores::<_, Sleeping>::new(&sim, 1, count, watchdog.stop());
        let said = format!("the count of a semaphore is {count}");
        assert_says(refused.err().unwrap(), &[&said, "1 to 1073741823"]);
    }
    for count in [1, COUNT_MAX] {
        let semaphores = Semaphores::<_, Spin>::new(&sim, 3, count, watchdog.stop()).unwrap();
        assert_eq!((semaphores.len(), semaphores.count()), (3, count));
        assert!(semaphores.view().get(3).is_none());
    }
}

/// What a checked semaphore finds if thread 4 posts so often before, or after, all threads wait and post.
fn posted<S: Waiting>(k: u64, (before, after): (u32, u32)) -> Result<(), Error> {
    let (sim, mut watchdog) = simulator(config(k));
    let mut semaphores = Semaphores::<_, Checked<S>>::new(&sim, 3, 1, watchdog.stop()).unwrap();
    let sections = Sections::new(&sim, &semaphores, Form::With);
    let post = |times| {
        let ran = sim.run(&Launch::new(6, 1), |lane| {
            let semaphore = sections.semaphores.get(2).unwrap();
            let times = if lane.grid_thread() == 4 { times } else { 0 };
            (0..times).for_each(|_| semaphore.post(lane));
        });
        ran.unwrap();
    };
    post(before);
    let launched = sections.launch(&sim, &mut watchdog, Launch::new(8, 1));
    launched.unwrap_or_else(|error| panic!("{}: {}: {error}", S::NAME, config(k)));
    // A post without a wait makes no room, and none is refused for it.
    let words = sections.word.download().unwrap();
    assert_eq!(words, [8 * TIMES], "{}", S::NAME);
    post(after);
    let found = semaphores.check();
    semaphores.reset().unwrap();
    semaphores.check().unwrap();
    found
}

#[test]
fn a_checked_semaphore_finds_a_post_without_a_wait_which_makes_no_room() {
    of_each!(S: Waiting in Spin, SpinBackoff, Sleeping, Tickets => {
        for k in 0..84 {
            assert_eq!(posted::<S>(k, (0, 0)), Ok(()), "{}", S::NAME);
            let (thread, semaphore) = (4, 2);
            let expected = Err(Error::PostWithoutWait { thread, semaphore });
            for posts in [(0, 1), (3, 0)] {
                assert_eq!(posted::<S>(k, posts), expected, "{}: {}", S::NAME, config(k));
            }
        }
    });
}

/// Two lanes come together, to two semaphores; the second is held until lane 0 has done with the first.
#[test]
fn lanes_of_a_warp_do_not_wait_for_those_at_other_semaphores() {
    of_each!(S: Waiting in Spin, SpinBackoff, Sleeping, Tickets => {
        // Lanes of a warp come together in lockstep; independently they come one by one.
        let schedules = Schedule::named("lockstep its64 starve16 random");
        for (k, &schedule) in (0..30).zip(schedules.iter().cycle()) {
            let config = SimConfig {
                schedule,
                ..config(k).with_width(4)
            };
            let (sim, watchdog) = simulator(config);
            let semaphores = Semaphores::<_, S>::new(&sim, 2, 1, watchdog.stop()).unwrap();
            let (held, done) = (Flag::new(&sim), Flag::new(&sim));
            let view = semaphores.view();
            sim.run(&Launch::new(2, 2), |lane| {
                let second = view.get(1).unwrap();
                if lane.block_index() == 1 {
                    if lane.thread_index() == 0 {
                        let ended = second.with(lane, || {
                            held.set(lane, 1);
                            done.wait_for(lane, 1);
                        });
                        assert_eq!(ended, Ok(()));
                    }
                    return;
                }
                held.wait_for(lane, 1);
                // SAFETY: both lanes come here.
                unsafe { lane.sync_warp(0b11) };
                let mine = view.get(u64::from(lane.thread_index())).unwrap();
                assert_eq!(mine.with(lane, || ()), Ok(()));
                if lane.thread_index() == 0 {
                    done.set(lane, 1);
                }
            })
            .unwrap_or_else(|error| panic!("{}: {config}: {error}", S::NAME));
        }
    });
}
