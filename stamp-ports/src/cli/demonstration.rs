//! What keeps a run without arguments short. Each run is launched with few transactions first, and then with
//! as many as fit in [`RUN`], or all. On a GPU, each workload has its share of the time too, with what those
//! before it have left. When that is spent, the variants that are left are skipped, of which those that tell
//! most come first; and other threads have the driver compile the modules of the next runs while one runs.

use crate::prelude::*;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::mpsc::{Sender, channel};
use std::thread::Scope;

/// The time of all runs, so that with the last one the program ends in 45 seconds.
pub(super) const ALL: Duration = Duration::from_secs(38);

/// The time of the kernels of each run, at most, if the number of transactions is not of its input.
pub(super) const RUN: Duration = Duration::from_millis(250);

/// One in so many transactions are launched to see how long they take.
pub(super) const PROBE: u64 = 64;

/// Variants of each workload that run even if its share is spent.
pub(super) const ALWAYS: usize = 2;

/// Runs whose modules are compiled before their time comes, at least; with more cores as many more.
const AHEAD: usize = 4;

/// The variants that tell most. The module of `optimized` is that of the one before.
const FIRST: [&str; 5] = ["cgl", "fast", "hv-sorting", "optimized", "fast-table"];

pub(super) fn variants() -> Vec<AskedVariant> {
    let place = |variant: &AskedVariant| FIRST.iter().position(|name| *name == variant.name());
    let mut all = AskedVariant::all();
    all.sort_by_key(|variant| place(variant).unwrap_or(FIRST.len()));
    all
}

/// Returns the time by which workload `i` of `count` is to be done.
pub(super) fn share(all: Duration, i: usize, count: usize) -> Duration {
    all.mul_f64((i + 1) as f64 / count.max(1) as f64)
}

/// Returns how many of `all` transactions to launch in `share`, if so many of them took `time`.
pub(super) fn fill(share: Duration, all: u64, (probed, time): (u64, Duration)) -> u64 {
    let fit = probed as f64 * share.as_secs_f64() / time.as_secs_f64().max(1e-9);
    all.min((fit as u64).max(probed))
}

/// The other threads, which end when this is dropped.
pub(super) struct Ahead {
    next: Sender<usize>,
    now: Arc<AtomicUsize>,
    most: usize,
}

impl Ahead {
    /// Begins with the first runs, on a thread for each core but that of the runs, up to 16.
    pub(super) fn new<'s, F: Fn(usize) + Sync>(scope: &'s Scope<'s, '_>, compile: &'s F) -> Self {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let threads = (cores - 1).clamp(1, 16);
        let most = AHEAD.max(threads);
        let (next, numbers) = channel();
        let (now, numbers) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(numbers)));
        for _ in 0..threads {
            let (now, numbers) = (now.clone(), numbers.clone());
            scope.spawn(move || {
                let number = || (numbers.lock().unwrap_or_else(PoisonError::into_inner)).recv();
                while let Ok(number) = number() {
                    if number >= now.load(Ordering::Relaxed) {
                        compile(number);
                    }
                }
            });
        }
        for number in 0..most {
            let _ = next.send(number);
        }
        Self { next, now, most }
    }

    /// Says which run is made now.
    pub(super) fn at(&self, run: usize) {
        self.now.store(run, Ordering::Relaxed);
        let _ = self.next.send(run + self.most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_end_with_all_of_the_time_and_slow_runs_get_fewer_transactions() {
        let all = Duration::from_secs(32);
        assert_eq!(share(all, 0, 16), Duration::from_secs(2));
        assert_eq!(share(all, 15, 16), all);
        // And never less than were probed.
        let fill = |probed, ms| fill(RUN, 1 << 20, (probed, Duration::from_millis(ms)));
        assert_eq!(fill(1 << 14, 1), 1 << 20);
        assert_eq!(fill(16_000, 25), 160_000);
        assert_eq!(fill(16_000, 1000), 16_000);
    }

    #[test]
    fn the_variants_begin_with_the_baseline_and_none_is_left_out() {
        let variants = variants();
        let names = variants.iter().map(|variant| variant.name());
        assert!(names.take(FIRST.len()).eq(FIRST));
        assert!(AskedVariant::all().iter().all(|v| variants.contains(v)));
        assert_eq!(variants.len(), AskedVariant::all().len());
    }

    #[test]
    fn compilation_stays_a_few_runs_ahead_skips_what_is_past_and_ends() {
        let (sender, compiled) = channel();
        let gate = Mutex::new(());
        let compile = |number| {
            drop(gate.lock());
            sender.send(number).expect("a receiver");
        };
        thread::scope(|scope| {
            let closed = gate.lock();
            let ahead = Ahead::new(scope, &compile);
            let most = ahead.most;
            // All threads are at the gate with a number below `most`, or have none yet.
            for run in [1, 2, 1000] {
                ahead.at(run);
            }
            drop(closed);
            let last = compiled.iter().find(|number| *number >= most);
            assert_eq!(last, Some(1000 + most));
        });
        assert!(compiled.try_iter().all(|number| number < 16));
    }
}
