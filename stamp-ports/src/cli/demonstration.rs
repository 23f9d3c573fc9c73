//! What keeps a run without arguments short.
//!
//! - Each run is launched with few transactions first, and then with as many as fit in
//!   [`RUN`], or all: so each row has the same share of the kernels' time, at most.
//!
//! And on a GPU:
//!
//! - Each workload has its share of the time, with what those before it have left. When that
//!   is spent, the variants that are left are skipped, and the end of the table names them.
//! - The variants come in an order in which those that tell most are first.
//! - Other threads have the driver compile the modules of the next runs while one runs.

use super::rows::Row;
use crate::devices::AnyDevice;
use crate::variants::AskedVariant;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;
use stm_core::algorithm::Variant;

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

/// Returns the variants, those first that tell most.
pub(super) fn variants() -> Vec<AskedVariant> {
    let mut all = AskedVariant::all();
    all.sort_by_key(|variant| match variant {
        AskedVariant::Algorithm(Variant::Cgl) => 0,
        AskedVariant::Algorithm(Variant::Fast) => 1,
        AskedVariant::Algorithm(Variant::HvSorting) => 2,
        // Its module is that of another one.
        AskedVariant::Optimized => 3,
        AskedVariant::Algorithm(Variant::FastTable) => 4,
        AskedVariant::Algorithm(_) => 5,
    });
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

/// The runs whose modules are compiled in other threads.
#[derive(Debug)]
pub(super) struct Ahead {
    /// The number of the run that is made, or nothing at the end.
    now: Mutex<Option<usize>>,
    moved: Condvar,
    /// The number of the next run to compile for.
    next: AtomicUsize,
    /// The threads: one for each core but that of the run, up to 16.
    threads: usize,
}

impl Ahead {
    pub(super) fn new() -> Self {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        Self {
            now: Mutex::new(Some(0)),
            moved: Condvar::new(),
            next: AtomicUsize::new(0),
            threads: (cores - 1).clamp(1, 16),
        }
    }

    /// Says which run is made now; `None` ends the compilation.
    pub(super) fn at(&self, run: Option<usize>) {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner) = run;
        self.moved.notify_all();
    }

    /// Ends the compilation when what it returns is dropped.
    pub(super) const fn ends(&self) -> Ends<'_> {
        Ends(self)
    }

    /// Waits until run `number` is one of the next few, and returns whether it is still to come.
    fn wants(&self, number: usize) -> Option<bool> {
        let now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        let most = AHEAD.max(self.threads);
        let far = |now: &mut Option<usize>| now.is_some_and(|now| number > now + most);
        let now = self.moved.wait_while(now, far);
        let now = *now.unwrap_or_else(PoisonError::into_inner);
        now.map(|now| number >= now)
    }

    /// Compiles the modules of the rows in their order, until the end. An error is left to the
    /// run, which meets it again.
    pub(super) fn compile(&self, device: &AnyDevice, rows: &[Row<'_>]) {
        thread::scope(|scope| {
            for _ in 0..self.threads {
                scope.spawn(|| {
                    loop {
                        // Only the number counts, and each is given out once.
                        let number = self.next.fetch_add(1, Ordering::Relaxed);
                        let Some((row, wanted)) = rows.get(number).zip(self.wants(number)) else {
                            return;
                        };
                        if wanted {
                            let _ = row.workload.compile(device, row.algorithm);
                        }
                    }
                });
            }
        });
    }
}

pub(super) struct Ends<'a>(&'a Ahead);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.at(None);
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
        assert_eq!(variants[..2], [Variant::Cgl.into(), Variant::Fast.into()]);
        assert!(AskedVariant::all().iter().all(|v| variants.contains(v)));
        assert_eq!(variants.len(), AskedVariant::all().len());
    }

    #[test]
    fn compilation_stays_a_few_runs_ahead_skips_what_is_past_and_ends() {
        let ahead = Ahead::new();
        let most = AHEAD.max(ahead.threads);
        assert_eq!(ahead.wants(most), Some(true));
        thread::scope(|scope| {
            let later = scope.spawn(|| ahead.wants(most + 3));
            ahead.at(Some(3));
            assert_eq!(later.join().expect("it ends"), Some(true));
        });
        assert_eq!(ahead.wants(2), Some(false));
        ahead.at(None);
        assert_eq!(ahead.wants(100), None);
    }
}
