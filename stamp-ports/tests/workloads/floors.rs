//! The contenders of the workloads on the simulator, through the drivers that ship, with warps that
//! hand the lock on: critical sections, and kernels written by hand for one workload, leave what
//! transactions must leave, in every schedule that lets each lane run in the end. The same work
//! without synchronisation is wrong in some, and so are the critical sections under a lock with a
//! seeded defect.

use crate::prelude::*;
use stamp_ports::workloads::contender::ContenderKind::{
    self, CriticalSection, Excluding, SpecialPurpose, Unsynchronised,
};
use stm_core::internal::observe::Mutant;
use verify::sim::{Schedule, Sim, SimConfig};

/// Transactions of a run.
const TRANSACTIONS: u64 = 40;

/// Warps of one lane, of four and of thirty-two, and launches of them; a block's last warp may be
/// short.
const SHAPES: [(u32, (u32, u32)); 5] = [
    (1, (4, 1)),
    (1, (2, 3)),
    (4, (1, 4)),
    (4, (2, 6)),
    (32, (2, 32)),
];

/// What a contender left in all simulations.
struct Left {
    name: &'static str,
    kind: ContenderKind,
    /// What was wrong in each run that left something wrong.
    wrong: Vec<String>,
    /// What a reader has to know about each run.
    notes: Vec<String>,
}

/// Runs the contenders of some kinds in each schedule and shape, with several seeds; with a defect, until something is
/// wrong.
fn left(line: &str, kinds: &[ContenderKind], defect: Option<Mutant>) -> Vec<Left> {
    let schedules =
        Schedule::named("lockstep its32 starve32 random pct3x500").repeat(times(1) as usize);
    let runs = |(width, shape)| {
        let seeded = (0_u64..).zip(&schedules);
        seeded.map(move |(seed, &schedule)| (width, shape, seed, schedule))
    };
    let is_shown = |wrong: &[String]| defect.is_some() && !wrong.is_empty();
    let workload = workload(line, 5);
    let contenders = workload.contenders::<Sim>().into_iter();
    let mut all: Vec<Left> = Vec::new();
    for contender in contenders.filter(|contender| kinds.contains(&contender.kind)) {
        let (mut wrong, mut notes) = (Vec::new(), Vec::new());
        for (width, shape, seed, schedule) in SHAPES.into_iter().flat_map(runs) {
            // Under `pct` a lane that waits without a pause runs for 128 operations.
            let config = SimConfig::of(width, schedule).with_limits(8_000_000, 400_000);
            let mut config = config.with_stale(40).with_seed(seed);
            // PTX does not promise that votes order memory.
            config.votes_order = seed.is_multiple_of(2);
            let sim = Sim::new(config.with_mutant(defect));
            let mut data = (contender.prepare)(&sim, 7, TRANSACTIONS).expect("data");
            let transactions = data.transactions(TRANSACTIONS);
            // Without a lock, a link may lead in a circle.
            let what = match data.launch(&sim, shape, transactions) {
                Err(stopped) => Some(stopped.to_string()),
                Ok(_) => data.verify(transactions).expect("a verdict"),
            };
            wrong.extend(what.map(|what| format!("{config}: {what}")));
            notes.extend(data.note().expect("a note"));
            if is_shown(&wrong) {
                break;
            }
        }
        let (name, kind) = (contender.name, contender.kind);
        all.push(Left {
            name,
            kind,
            wrong,
            notes,
        });
        if all.last().is_some_and(|left| is_shown(&left.wrong)) {
            break;
        }
    }
    all
}

/// Asserts that all contenders of a kind, and those written by hand, are right; and returns what they
/// left.
fn synchronised(line: &str, kind: ContenderKind) -> Vec<Left> {
    let all = left(line, &[kind, SpecialPurpose], None);
    for of_one in &all {
        assert_eq!(of_one.wrong.first(), None, "{line}: {}", of_one.name);
    }
    assert!(all.iter().any(|left| left.kind == kind));
    all
}

/// Asserts that contenders of a kind are wrong in some runs without their locks' fences.
fn wrong_without_fences(line: &str, kind: ContenderKind) {
    for defect in [Mutant::LockNoAcquire, Mutant::LockNoRelease] {
        let all = left(line, &[kind], Some(defect));
        let wrong = all.iter().any(|left| !left.wrong.is_empty());
        assert!(wrong, "{line}: {}", defect.name());
    }
}

const BANK: &str = "bank --accounts 12 --audit-share 40 --audit-range 4";
const KMEANS: &str = "kmeans --points 37 --dims 1 --centres 2 -t 0";

#[test]
fn workloads_are_right_under_the_lock_and_wrong_without_it_or_its_fences() {
    let words = [("BANK", BANK), ("KMEANS", KMEANS)];
    let workloads = table(include_str!("floors.txt"), &words);
    on_all_cores(&workloads, |(more_than, line)| {
        let more_than: usize = more_than.parse().expect("a number");
        synchronised(line, CriticalSection);
        let open = left(line, &[Unsynchronised], None);
        assert_eq!(open.is_empty(), more_than == 0, "{line}");
        for Left { name, wrong, .. } in open {
            assert!(wrong.len() > more_than, "{line}: {name}: {wrong:?}");
        }
        wrong_without_fences(line, CriticalSection);
    });
}

#[test]
fn audits_see_right_sums_under_the_lock_and_wrong_ones_beside_additions() {
    for of_one in synchronised(BANK, CriticalSection) {
        let additions = of_one.kind == SpecialPurpose;
        let saw_wrong = |note: &&String| !note.starts_with("0 of");
        let wrong = of_one.notes.iter().filter(saw_wrong).count();
        assert_eq!(wrong > 1, additions, "{}: {wrong}", of_one.name);
    }
}

#[test]
fn eigenbench_is_right_with_words_that_come_twice_and_without_and_kmeans_by_every_rival() {
    // Together, with a word twice, not of whole batches, and more than are drawn before.
    for (accesses, words) in [(8, 1 << 12), (32, 1 << 14), (16, 20), (13, 64), (40, 100)] {
        let hot = format!("--hot-reads {accesses} --hot-writes {accesses}");
        let line = format!("eigenbench --hot-words {words} {hot}");
        synchronised(&line, CriticalSection);
    }
    let rivals = synchronised(KMEANS, CriticalSection).into_iter();
    assert_eq!(rivals.filter(|left| left.kind == SpecialPurpose).count(), 3);
}

/// Tables of two buckets and lists of few keys, whose insertions meet, under a lock of each kind, by
/// combining and without locks: who has all keys in the end has seen all insertions before its own.
#[test]
fn tables_and_lists_have_every_key_under_each_lock_and_lack_some_without_its_fences() {
    let lines = [
        "ht --buckets 2 --keys-per-tx 1",
        "sorted --list-keys 24 --entry-points 4",
    ];
    on_all_cores(&lines, |&line| {
        let all = synchronised(line, Excluding);
        assert!(all.len() >= 10, "{line}");
        wrong_without_fences(line, Excluding);
    });
}
