//! Locks on the CPU's threads: a short storm for each kind.
#![cfg(feature = "host")]

use std::sync::atomic::{AtomicU32, Ordering};
use stm_machine::Lane;
use stm_machine::host::{Buffer, Cpu, Device, Error, Launch};
use stm_machine::kernel::Kernel;
use stm_sync::host::{Combiners, Locks};
use stm_sync::{
    Anderson, Checked, Cohort, Combined, FetchAdd, LockFault, LockKind, Mcs, Mcs2, Reserving, Ring,
    Step, TCombiners, TLocks, Tas, TasBackoff, Ticket, TicketHandoff, Timeout, TryLock, Ttas,
};

/// The threads of a launch, and how often each takes a lock.
const THREADS: u32 = 4;
const TIMES: u32 = 2_000;

struct Storm<K>(std::marker::PhantomData<K>);

struct Params<K> {
    locks: TLocks<K>,
    counters: *mut u32,
    /// Whether only locks that are free at once are taken.
    tries: bool,
}

impl<K> Clone for Params<K> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<K> Copy for Params<K> {}
// SAFETY: the pointer is followed through a lane only, while the buffer lives.
unsafe impl<K> Send for Params<K> {}
// SAFETY: as above.
unsafe impl<K> Sync for Params<K> {}

/// How many threads are in a section of each lock.
static INSIDE: [AtomicU32; 2] = [AtomicU32::new(0), AtomicU32::new(0)];

fn section<L: Lane>(lane: &L, counter: *mut u32, inside: &AtomicU32) {
    assert_eq!(
        inside.fetch_add(1, Ordering::Relaxed),
        0,
        "two threads inside"
    );
    // SAFETY: a live word; the lock is held.
    unsafe { lane.store_relaxed_32(counter, lane.load_relaxed_32(counter) + 1) };
    inside.fetch_sub(1, Ordering::Relaxed);
}

impl<K: TryLock> Kernel for Storm<K> {
    const ENTRY: &'static str = "storm";
    type Params = Params<K>;

    fn run<L: Lane>(lane: &L, params: &Params<K>) {
        let mut done = 0;
        while done < TIMES {
            let lock = (done % 2) as usize;
            let counter = params.counters.wrapping_add(lock);
            let section = || section(lane, counter, &INSIDE[lock]);
            if params.tries {
                let tried = params.locks.try_with(lane, lock as u64, section);
                match tried.unwrap() {
                    Some(()) => done += 1,
                    None => lane.pause(100),
                }
            } else {
                params.locks.with(lane, lock as u64, section).unwrap();
                done += 1;
            }
        }
    }
}

/// Kinds that cannot be tried run the same without.
struct Waits<K>(std::marker::PhantomData<K>);

impl<K: LockKind> Kernel for Waits<K> {
    const ENTRY: &'static str = "waits";
    type Params = Params<K>;

    fn run<L: Lane>(lane: &L, params: &Params<K>) {
        // SAFETY: all threads of the block call it.
        unsafe { params.locks.set_up_block(lane) };
        for k in 0..TIMES {
            let lock = (k % 2) as usize;
            let counter = params.counters.wrapping_add(lock);
            let done = params
                .locks
                .with(lane, lock as u64, || section(lane, counter, &INSIDE[lock]));
            done.unwrap();
        }
    }
}

fn shape() -> Launch {
    let mut launch = Launch::new(THREADS, 1);
    // All blocks at the same time, on threads of their own.
    launch.cooperative = true;
    launch
}

fn storm<K: LockKind, S: Kernel<Params = Params<K>>>(tries: bool) {
    // Blocks of one thread, and of two.
    storm_of::<K, S>(tries, 1);
    storm_of::<K, S>(tries, 2);
}

fn storm_of<K: LockKind, S: Kernel<Params = Params<K>>>(tries: bool, threads: u32) {
    let device = Cpu::new();
    let locks = Locks::<_, K>::new(&device, 2, THREADS.into(), "locks").unwrap();
    let counters = Buffer::<_, u32>::zeroed(&device, 2, "counters").unwrap();
    let params = Params {
        locks: locks.view(),
        counters: counters.as_mut_ptr(),
        tries,
    };
    let shape = Launch {
        shared_bytes: locks.shared_bytes() as u32,
        ..Launch::new(THREADS / threads, threads)
    };
    let shape = Launch {
        cooperative: true,
        ..shape
    };
    // SAFETY: the locks and the counters live until the launch has ended.
    unsafe { device.launch::<S>(&shape, &params) }.unwrap();
    locks.check().unwrap();
    assert_eq!(
        counters.download().unwrap(),
        [THREADS * TIMES / 2; 2],
        "{}",
        K::NAME
    );
}

fn storms<K: TryLock>() {
    storm::<K, Storm<K>>(false);
    storm::<K, Storm<K>>(true);
}

/// The storms share the flags of who is inside, so they are one test.
#[test]
fn threads_of_the_cpu_exclude_each_other_with_every_kind() {
    storms::<Tas>();
    storms::<Ttas>();
    storms::<TasBackoff>();
    storms::<Ticket>();
    storms::<TicketHandoff>();
    storms::<FetchAdd>();
    storms::<Mcs>();
    storms::<Mcs2>();
    storms::<Reserving<1>>();
    storms::<Reserving<64>>();
    storms::<Checked<Mcs>>();
    storms::<Checked<Ticket>>();
    storms::<Timeout<Tas, { 1 << 36 }>>();
    storm::<Anderson, Waits<Anderson>>(false);
    storm::<Ring, Waits<Ring>>(false);
    storm::<Cohort<1>, Waits<Cohort<1>>>(false);
    storm::<Cohort<8>, Waits<Cohort<8>>>(false);
}

/// What the kernel `Asks` asks for, and the answer that it expects.
#[derive(Clone, Copy)]
struct Asks<K> {
    locks: TLocks<K>,
    lock: u64,
    expected: Result<(), LockFault>,
}

impl<K: LockKind> Kernel for Asks<K> {
    const ENTRY: &'static str = "asks";
    type Params = Self;

    fn run<L: Lane>(lane: &L, params: &Self) {
        if lane.grid_thread() + 1 == lane.grid_threads() {
            assert_eq!(params.locks.with(lane, params.lock, || ()), params.expected);
        }
    }
}

fn asks<K: LockKind>(users: u64, lock: u64, expected: Result<(), LockFault>) -> Result<(), Error> {
    let device = Cpu::new();
    let locks = Locks::<_, K>::new(&device, 3, users, "locks").unwrap();
    let params = Asks {
        locks: locks.view(),
        lock,
        expected,
    };
    // SAFETY: the locks live until the launch has ended.
    unsafe { device.launch::<Asks<K>>(&shape(), &params) }.unwrap();
    locks.check()
}

#[test]
fn a_lock_past_the_end_is_an_error_of_the_kernel_and_of_the_host() {
    asks::<Tas>(4, 2, Ok(())).unwrap();
    let error = asks::<Tas>(4, 3, Err(LockFault::OutOfRange)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "thread 3 asked for a lock past the end of the array (lock 3 of locks)"
    );
}

#[test]
fn a_thread_without_a_node_is_an_error_of_the_kernel_and_of_the_host() {
    asks::<Mcs>(4, 0, Ok(())).unwrap();
    for error in [
        asks::<Mcs>(3, 0, Err(LockFault::TooManyUsers)).unwrap_err(),
        asks::<Ring>(3, 0, Err(LockFault::TooManyUsers)).unwrap_err(),
    ] {
        assert_eq!(
            error.to_string(),
            "thread 3 is not below the number of users that the locks have (lock 0 of locks)"
        );
    }
    // These have no nodes.
    asks::<Ticket>(1, 0, Ok(())).unwrap();
    asks::<Anderson>(1, 0, Ok(())).unwrap();
}

#[test]
fn locks_without_locks_or_without_users_are_refused() {
    let device = Cpu::new();
    for (count, users) in [(0, 1), (1, 0), (1, 1 << 29)] {
        let error = Locks::<_, Tas>::new(&device, count, users, "locks").unwrap_err();
        assert!(matches!(error, Error::BadConfig { .. }), "{error}");
    }
}

/// A walk of each thread over a row of locks.
#[derive(Clone, Copy)]
struct Walks {
    locks: TLocks<Mcs2>,
    counters: *mut u32,
}
// SAFETY: the pointer is followed through a lane only, while the buffer lives.
unsafe impl Send for Walks {}
// SAFETY: as above.
unsafe impl Sync for Walks {}

impl Kernel for Walks {
    const ENTRY: &'static str = "walks";
    type Params = Self;

    fn run<L: Lane>(lane: &L, params: &Self) {
        for _ in 0..TIMES / 4 {
            let end = params.locks.walk(lane, 0, |behind, here| {
                for i in behind.into_iter().chain([here]) {
                    let p = params.counters.wrapping_add(i as usize);
                    // SAFETY: a live word; its lock is held.
                    unsafe { lane.store_relaxed_32(p, lane.load_relaxed_32(p) + 1) };
                }
                if here < 3 {
                    Step::Next(here + 1)
                } else {
                    Step::Done(())
                }
            });
            end.unwrap();
        }
    }
}

#[test]
fn threads_of_the_cpu_walk_hand_over_hand() {
    let device = Cpu::new();
    let locks = Locks::<_, Mcs2>::dense(&device, 4, THREADS.into(), "a row").unwrap();
    let counters = Buffer::<_, u32>::zeroed(&device, 4, "counters").unwrap();
    let params = Walks {
        locks: locks.view(),
        counters: counters.as_mut_ptr(),
    };
    // SAFETY: the locks and the counters live until the launch has ended.
    unsafe { device.launch::<Walks>(&shape(), &params) }.unwrap();
    let walks = THREADS * TIMES / 4;
    assert_eq!(
        counters.download().unwrap(),
        [2 * walks, 2 * walks, 2 * walks, walks]
    );
}

/// A counter that combiner 0 protects; a request adds a number and gets the sum
/// before.
#[derive(Clone, Copy)]
struct Counter(*mut u32);

impl Combined<1> for Counter {
    type State = u32;
    const ORDERED: bool = false;

    fn begin<L: Lane>(&self, lane: &L) -> u32 {
        // SAFETY: a live word, which the combiner protects.
        unsafe { lane.load_relaxed_32(self.0) }
    }
    fn apply<L: Lane>(&self, _lane: &L, sum: &mut u32, [number]: [u32; 1]) -> u32 {
        std::mem::replace(sum, *sum + number)
    }
    fn end<L: Lane>(&self, lane: &L, sum: u32) {
        // SAFETY: as above.
        unsafe { lane.store_relaxed_32(self.0, sum) };
    }
}

/// Counts by requests; each thread notes that its responses grow.
#[derive(Clone, Copy)]
struct Counts<const BOUND: u32> {
    combiners: TCombiners<1, BOUND>,
    counter: Counter,
}
// SAFETY: the pointer is followed through a lane only, while the buffer lives.
unsafe impl<const BOUND: u32> Send for Counts<BOUND> {}
// SAFETY: as above.
unsafe impl<const BOUND: u32> Sync for Counts<BOUND> {}

impl<const BOUND: u32> Kernel for Counts<BOUND> {
    const ENTRY: &'static str = "counts";
    type Params = Self;

    fn run<L: Lane>(lane: &L, params: &Self) {
        let mut least = 0;
        for _ in 0..TIMES {
            let response = params.combiners.apply(lane, 0, &params.counter, [1]);
            let response = response.unwrap();
            assert!(response >= least, "{response} after {least}");
            least = response + 1;
        }
    }
}

fn counts<const BOUND: u32>() {
    let device = Cpu::new();
    let combiners = Combiners::<_, 1, BOUND>::new(&device, 1, THREADS.into(), "counter").unwrap();
    let sum = Buffer::<_, u32>::zeroed(&device, 1, "sum").unwrap();
    let params = Counts {
        combiners: combiners.view(),
        counter: Counter(sum.as_mut_ptr()),
    };
    // SAFETY: the combiner and the sum live until the launch has ended.
    unsafe { device.launch::<Counts<BOUND>>(&shape(), &params) }.unwrap();
    combiners.check().unwrap();
    assert_eq!(sum.download().unwrap(), [THREADS * TIMES]);
}

#[test]
fn threads_of_the_cpu_combine_their_requests() {
    counts::<4096>();
    counts::<1>();
}
