//! Deferred actions on the CPU: each is executed once, after the end of the
//! attempt that it belongs to, under every algorithm, by lanes and by teams.
#![cfg(feature = "host")]

mod common;

use common::{assert_ends, under_all};
use stm_core::algorithm::Algorithm;
use stm_core::host::{Buffer, Capacity, Cpu, Error, Launch, Stm, StmConfig, TxArray};
use stm_core::{Action, Kernel, Lane, StmRef, TArray, View};

/// The transactions of a launch.
const TRANSACTIONS: u64 = 400;

#[derive(Clone, Copy, PartialEq, Debug)]
enum How {
    /// Each transaction adds to a counter and defers one action of each kind;
    /// every third one cancels itself.
    Count,
    /// The same by teams.
    Teams,
    /// Three actions on one word, after a commit or after an abort.
    Order,
    /// Two transactions release the same bit.
    Release,
    /// More actions than there is room for.
    Full,
    /// An action past the end of its array.
    Outside,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct P<A: Algorithm> {
    stm: StmRef<A>,
    counter: A::Array<u64>,
    /// 0: commits, 1: aborts, 2: commits told, 3: aborts told.
    counts: TArray<u64>,
    /// A 32-bit count, and the bits of an `f32`.
    small: TArray<u32>,
    float: TArray<f32>,
    how: How,
}

struct K<A>(std::marker::PhantomData<A>);

impl<A: Algorithm> Kernel for K<A> {
    const ENTRY: &'static str = "actions";
    type Params = P<A>;

    fn run<L: Lane>(lane: &L, p: &P<A>) {
        let tell = |i: u64, n: u64| {
            // SAFETY: an element of a live array, which lanes alone access.
            unsafe { lane.add_relaxed_64(p.counts.get(i).unwrap(), n) };
        };
        match p.how {
            How::Count => p.stm.for_each_with(
                lane,
                0..TRANSACTIONS,
                |tx, i| {
                    tx.at_abort(Action::add(&p.counts, 1, 1))?;
                    let old = tx.read(&p.counter, 0)?;
                    tx.at_commit(Action::add(&p.counts, 0, 1))?;
                    tx.at_commit(Action::add(&p.small, 0, 1))?;
                    tx.at_commit(Action::add(&p.float, 0, 0.5))?;
                    tx.write(&p.counter, 0, old + 1)?;
                    if i % 3 == 0 { tx.cancel() } else { Ok(2) }
                },
                |_, result| tell(2, result),
                |_, _| tell(3, 1),
            ),
            How::Teams => p.stm.for_each_team(lane, 0..TRANSACTIONS, |tx, i| {
                tx.at_abort(Some(Action::add(&p.counts, 1, 1)))?;
                let leads = tx.rank() == 0;
                let old = tx.read(&p.counter, leads.then_some(0))?;
                tx.at_commit(leads.then(|| Action::add(&p.counts, 0, 1)))?;
                tx.write(&p.counter, old.map(|old| (0, old + 1)))?;
                if i % 3 == 0 { tx.cancel() } else { Ok(()) }
            }),
            How::Order => p.stm.for_each(lane, 0..2, |tx, i| {
                for n in 1..=3 {
                    tx.at_commit(Action::store(&p.counts, 0, n))?;
                    tx.at_abort(Action::store(&p.counts, 1, n))?;
                }
                tx.at_commit(Action::set_bits(&p.counts, 2, 0b110))?;
                tx.at_commit(Action::clear_bits(&p.counts, 2, 0b010))?;
                if i == 1 { tx.cancel() } else { Ok(()) }
            }),
            How::Release => p.stm.for_each(lane, 0..2, |tx, i| {
                let old = tx.read(&p.counter, 0)?;
                tx.write(&p.counter, 0, old + 1)?;
                tx.at_commit(Action::release_bits(&p.counts, 0, 0b100, 70 + i))
            }),
            How::Full => p.stm.for_each(lane, 7..8, |tx, _| {
                for _ in 0..9 {
                    tx.at_commit(Action::add(&p.counts, 0, 1))?;
                }
                Ok(())
            }),
            How::Outside => p.stm.for_each(lane, 3..4, |tx, _| {
                tx.at_abort(Action::add(&p.counts, 1, 1))?;
                tx.at_commit(Action::add(&p.counts, 4, 1))
            }),
        }
    }
}

struct Done {
    counter: u64,
    counts: Vec<u64>,
    small: u32,
    float: f32,
    aborted: u64,
}

fn go<A: Algorithm>(how: How, before: u64) -> Result<Done, Error> {
    let cpu = Cpu::new();
    let config = StmConfig {
        capacity: Capacity {
            actions: 8,
            ..Capacity::DEFAULT
        },
        ..StmConfig::default()
    };
    let mut stm = Stm::new(&cpu, Launch::new(2, 2), config)?;
    let layout = <A::Array<u64> as View<u64>>::LAYOUT;
    let counter = TxArray::<_, u64>::zeroed(&cpu, layout, 1, "counter")?;
    let counts = Buffer::from_slice(&cpu, &[before, 0, 0, 0], "counts")?;
    let small = Buffer::<_, u32>::zeroed(&cpu, 1, "small")?;
    let float = Buffer::<_, f32>::zeroed(&cpu, 1, "float")?;
    let params = P {
        stm: stm.handle::<A>(),
        counter: counter.view::<A>(),
        counts: counts.tarray(),
        small: small.tarray(),
        float: float.tarray(),
        how,
    };
    // SAFETY: the buffers live, and are accessed as the kernel says.
    let (_, statistics) = unsafe { stm.launch::<K<A>>(&params)? };
    Ok(Done {
        counter: counter.download()?[0],
        counts: counts.download()?,
        small: small.download()?[0],
        float: float.download()?[0],
        aborted: statistics.aborted(),
    })
}

#[test]
fn every_commit_and_every_abort_executes_its_actions_once() {
    under_all!(A => {
        let done = go::<A>(How::Count, 0).unwrap();
        let commits = TRANSACTIONS - TRANSACTIONS.div_ceil(3);
        assert_eq!(done.counter, commits, "{}", A::NAME);
        assert_eq!(done.counts, [commits, done.aborted, 2 * commits, done.aborted], "{}", A::NAME);
        assert_eq!(u64::from(done.small), commits);
        assert_eq!(done.float.to_bits(), (commits as f32 / 2.0).to_bits());
    });
}

#[test]
fn teams_execute_the_actions_of_their_lanes() {
    under_all!(A => {
        if A::TEAMS {
            let done = go::<A>(How::Teams, 0).unwrap();
            let commits = TRANSACTIONS - TRANSACTIONS.div_ceil(3);
            assert_eq!((done.counter, done.counts[0]), (commits, commits));
            assert_eq!(done.counts[1], done.aborted);
        }
    });
}

#[test]
fn actions_of_a_commit_go_forwards_and_those_of_an_abort_backwards() {
    under_all!(A => {
        assert_eq!(go::<A>(How::Order, 0).unwrap().counts, [3, 1, 0b100, 0], "{}", A::NAME);
    });
}

#[test]
fn a_bit_released_twice_is_a_fault_that_names_its_subject() {
    under_all!(A => {
        let error = go::<A>(How::Release, 0b111).err();
        assert_ends!(error, Some(Error::FreedTwice { subject: 70 | 71, .. }));
    });
}

#[test]
fn a_full_log_of_actions_and_a_wrong_index_are_faults() {
    under_all!(A => {
        assert_eq!(go::<A>(How::Full, 0).err(), Some(Error::CapacityExceeded {
            set: "action log", limit: 8, transaction: 7,
        }));
        assert_eq!(go::<A>(How::Outside, 0).err(), Some(Error::OutOfRange {
            index: 4, len: 4, transaction: 3,
        }));
    });
}
