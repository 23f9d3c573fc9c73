//! A panic in a section on the CPU ends the launch, and not with the others waiting.
#![cfg(feature = "host")]

use stm_machine::Lane;
use stm_machine::host::{Cpu, Device, Error, Launch};
use stm_machine::kernel::Kernel;
use stm_sync::host::{Combiners, Locks};
use stm_sync::{
    Anderson, Checked, Cohort, Combined, FetchAdd, LockFault, LockKind, Mcs, Mcs2, Reserving, Ring,
    TCombiners, TLocks, Tas, TasBackoff, Ticket, TicketHandoff, Timeout, Ttas,
};

const THREADS: u32 = 4;

/// All threads on OS threads of their own.
fn shape(shared_bytes: u64) -> Launch {
    Launch {
        cooperative: true,
        shared_bytes: shared_bytes as u32,
        ..Launch::new(THREADS / 2, 2)
    }
}

/// Thread 2 panics in its tenth section; the others make sections until they are refused.
struct Sections<K>(std::marker::PhantomData<K>);

impl<K: LockKind> Kernel for Sections<K> {
    const ENTRY: &'static str = "sections";
    type Params = TLocks<K>;

    fn run<L: Lane>(lane: &L, locks: &TLocks<K>) {
        // SAFETY: all threads of the block call it.
        unsafe { locks.set_up_block(lane) };
        if lane.grid_thread() == 2 {
            let mut left = 10;
            let done = locks.with_many(lane, 0, 3, || {
                left -= 1;
                assert!(left != 0, "a section fails");
                true
            });
            unreachable!("{done:?}");
        }
        let refused = loop {
            if let Err(fault) = locks.with(lane, 0, || ()) {
                break fault;
            }
        };
        assert_eq!(refused, LockFault::HolderFailed);
    }
}

/// Returns what the launch said, if it was the panic.
fn message(launched: Result<std::time::Duration, Error>) -> String {
    match launched {
        Err(Error::Panicked { message, .. }) => message,
        other => panic!("{other:?}"),
    }
}

fn ends<K: LockKind>() {
    let device = Cpu::new();
    let mut locks = Locks::<_, K>::new(&device, 1, THREADS.into(), "locks").unwrap();
    for _ in 0..3 {
        let shape = shape(locks.shared_bytes());
        // SAFETY: the locks live until the launch has ended.
        let launched = unsafe { device.launch::<Sections<K>>(&shape, &locks.view()) };
        assert_eq!(message(launched), "a section fails", "{}", K::NAME);
        let error = locks.check().unwrap_err().to_string();
        assert_eq!(
            error,
            "thread 2 panicked in a section, so that the lock is never given up (lock 0 of locks)"
        );
        locks.reset().unwrap();
        locks.check().unwrap();
    }
}

#[test]
fn a_panic_in_a_section_ends_the_waits_of_the_others_with_every_kind() {
    ends::<Tas>();
    ends::<Ttas>();
    ends::<TasBackoff>();
    ends::<Ticket>();
    ends::<TicketHandoff>();
    ends::<FetchAdd>();
    ends::<Anderson>();
    ends::<Ring>();
    ends::<Mcs>();
    ends::<Mcs2>();
    ends::<Cohort<3>>();
    ends::<Reserving<3>>();
    ends::<Checked<Mcs>>();
    ends::<Timeout<Ticket, { 1 << 38 }>>();
}

/// Adds, until a sum that it does not like.
#[derive(Clone, Copy)]
struct Until(u32);

impl Combined<1> for Until {
    type State = u32;
    const ORDERED: bool = false;

    fn begin<L: Lane>(&self, _lane: &L) -> u32 {
        0
    }

    fn apply<L: Lane>(&self, _lane: &L, sum: &mut u32, [number]: [u32; 1]) -> u32 {
        *sum += number;
        assert!(*sum < self.0, "an operation fails");
        *sum
    }

    fn end<L: Lane>(&self, _lane: &L, _sum: u32) {}
}

/// Each thread asks until it is refused. Whoever holds the combiner panics.
struct Requests;

impl Kernel for Requests {
    const ENTRY: &'static str = "requests";
    type Params = TCombiners<1>;

    fn run<L: Lane>(lane: &L, combiners: &TCombiners<1>) {
        let refused = loop {
            if let Err(fault) = combiners.apply(lane, 0, &Until(3), [1]) {
                break fault;
            }
        };
        assert_eq!(refused, LockFault::HolderFailed);
    }
}

#[test]
fn a_panic_in_a_combined_operation_ends_the_waits_of_the_others() {
    let device = Cpu::new();
    let combiners = Combiners::<_, 1>::new(&device, 1, THREADS.into(), "combiner").unwrap();
    // SAFETY: the combiner lives until the launch has ended.
    let launched = unsafe { device.launch::<Requests>(&shape(0), &combiners.view()) };
    assert_eq!(message(launched), "an operation fails");
    let error = combiners.check().unwrap_err().to_string();
    assert!(error.contains("panicked in a section"), "{error}");
}
