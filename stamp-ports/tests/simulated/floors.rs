//! The contenders of the workloads on the simulator, through the drivers that ship, with warps that
//! hand the lock on: critical sections, and kernels written by hand for one workload, leave what
//! transactions must leave, in every schedule that lets each lane run in the end. The same work
//! without synchronisation is wrong in some, and so are the critical sections under a lock with a
//! seeded defect.

use stamp_ports::workloads::bank::Bank;
use stamp_ports::workloads::container::{List, Map, Ordered};
use stamp_ports::workloads::contender::ContenderKind;
use stamp_ports::workloads::eigenbench::Eigenbench;
use stamp_ports::workloads::genome::Genome;
use stamp_ports::workloads::ht::Ht;
use stamp_ports::workloads::kmeans::Kmeans;
use stamp_ports::workloads::labyrinth::{Claim, Labyrinth, Maze};
use stamp_ports::workloads::pool::Pool;
use stamp_ports::workloads::queue::Queue;
use stamp_ports::workloads::ra::Ra;
use stamp_ports::workloads::vacation::Vacation;
use stamp_ports::workloads::workload::Workload;
use stm_core::internal::observe::Mutant;
use stm_kernels::labyrinth::GridSize;
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
    /// The runs that left something wrong, and what that was first.
    wrong: u32,
    first: Option<String>,
    /// What a reader has to know about each run.
    notes: Vec<String>,
}

/// Runs the contenders of some kinds in each schedule and shape, with several seeds.
fn left<W: Workload>(of: &W, kinds: &[ContenderKind], defect: Option<Mutant>) -> Vec<Left> {
    let schedules = Schedule::named("lockstep its32 starve32 random pct3x500").repeat(2);
    let mut all = Vec::new();
    for contender in of.contenders::<Sim>() {
        if !kinds.contains(&contender.kind) {
            continue;
        }
        let mut left = Left {
            name: contender.name,
            kind: contender.kind,
            wrong: 0,
            first: None,
            notes: Vec::new(),
        };
        let runs = (0..).zip(&schedules);
        for ((width, shape), (seed, &schedule)) in SHAPES
            .iter()
            .flat_map(|&of| runs.clone().map(move |run| (of, run)))
        {
            // Under `pct` a lane that waits without a pause runs for 128 operations.
            let config = SimConfig::of(width, schedule).with_limits(8_000_000, 400_000);
            let mut config = config.with_stale(40).with_seed(seed);
            // PTX does not promise that votes order memory.
            config.votes_order = u64::is_multiple_of(seed, 2);
            let sim = Sim::new(config.with_mutant(defect));
            let mut data = contender.prepare(&sim, 7, TRANSACTIONS).expect("data");
            let transactions = data.transactions(TRANSACTIONS);
            // Without a lock, a link may lead in a circle.
            let what = match data.launch(&sim, shape, transactions) {
                Err(stopped) => Some(stopped.to_string()),
                Ok(_) => data.verify(transactions).expect("a verdict"),
            };
            if let Some(what) = what {
                left.wrong += 1;
                left.first.get_or_insert(format!("{config}: {what}"));
            }
            left.notes.extend(data.note().expect("a note"));
        }
        all.push(left);
    }
    all
}

/// Asserts that all contenders that synchronise are right; and returns what they left.
fn synchronised<W: Workload>(of: &W) -> Vec<Left> {
    let kinds = [
        ContenderKind::CriticalSection,
        ContenderKind::SpecialPurpose,
    ];
    let all = left(of, &kinds, None);
    for of_one in &all {
        assert_eq!(of_one.first, None, "{}", of_one.name);
    }
    assert!(all.iter().any(|left| left.kind == kinds[0]));
    all
}

/// Asserts that they are, and that others are wrong: without synchronisation, where there is such a
/// contender, in more runs than so many, which are not 0, and critical sections in some under a
/// lock without its fences.
fn right_and_wrong<W: Workload>(of: &W, more_than: u32) {
    synchronised(of);
    let open = left(of, &[ContenderKind::Unsynchronised], None);
    assert_eq!(open.is_empty(), more_than == 0, "{}", of.name());
    for open in open {
        assert!(open.wrong > more_than, "{}: {}", open.name, open.wrong);
    }
    for defect in [Mutant::LockNoAcquire, Mutant::LockNoRelease] {
        let sections = left(of, &[ContenderKind::CriticalSection], Some(defect));
        let wrong: u32 = sections.iter().map(|section| section.wrong).sum();
        assert_ne!(wrong, 0, "{}: {}", of.name(), defect.name());
    }
}

#[test]
fn ra_is_right_under_the_lock_and_wrong_without() {
    // More words than a batch.
    right_and_wrong(&Ra::of(40, 18, 17), 10);
}

#[test]
fn ht_is_right_under_the_lock_and_wrong_without() {
    // Six keys are more than a batch, and some share a bucket.
    right_and_wrong(&Ht::of(3, 6), 10);
}

#[test]
fn audits_of_the_bank_see_right_sums_under_the_lock_and_wrong_ones_beside_additions() {
    let bank = Bank::of(12, 40, 4);
    right_and_wrong(&bank, 3);
    for of_one in synchronised(&bank) {
        let additions = of_one.kind == ContenderKind::SpecialPurpose;
        let saw_wrong = |note: &&String| !note.starts_with("0 of");
        let wrong = of_one.notes.iter().filter(saw_wrong).count();
        assert_eq!(wrong > 3, additions, "{}: {wrong}", of_one.name);
    }
}

#[test]
fn eigenbench_is_right_under_the_lock_with_words_that_come_twice_and_without() {
    // Together, with a word twice, not of whole batches, and more than are drawn before.
    for (accesses, hot_words) in [(8, 1 << 12), (32, 1 << 14), (16, 20), (13, 64), (40, 100)] {
        let mut eigenbench = Eigenbench::of_hot_words(hot_words);
        (eigenbench.plan.hot.reads, eigenbench.plan.hot.writes) = (accesses, accesses);
        synchronised(&eigenbench);
    }
    right_and_wrong(&Eigenbench::of_hot_words(20), 10);
}

#[test]
fn the_queue_gives_values_in_the_order_of_their_positions() {
    let queue = Queue {
        places: 3,
        producers_percent: 55,
        operations: TRANSACTIONS as u32,
        ..Queue::default()
    };
    right_and_wrong(&queue, 0);
}

#[test]
fn kmeans_adds_every_point_once_by_every_rival() {
    let kmeans = Kmeans::drawn(2, (37, 1), 2);
    right_and_wrong(&kmeans, 10);
    let all = synchronised(&kmeans).into_iter();
    let rivals = all.filter(|left| left.kind == ContenderKind::SpecialPurpose);
    assert_eq!(rivals.count(), 3);
}

#[test]
fn containers_and_the_pool_are_right_under_the_lock_and_wrong_without_its_fences() {
    // Few keys, so that operations meet, and more digits than one of the radix tree.
    let (mut map, mut list, mut ordered) = (Map::default(), List::default(), Ordered::default());
    (map.keys, map.chains, list.keys, ordered.keys) = (20, 3, 20, 20);
    (
        map.lookups_percent,
        list.lookups_percent,
        ordered.lookups_percent,
    ) = (20, 20, 20);
    right_and_wrong(&map, 0);
    right_and_wrong(&list, 0);
    right_and_wrong(&ordered, 0);
    right_and_wrong(&Pool {}, 0);
}

#[test]
fn no_place_of_the_agency_is_made_or_lost() {
    // Few records, so that tasks meet, and many updates and deletions.
    let vacation = Vacation {
        relations: 6,
        queries: 5,
        range_percent: 100,
        users_percent: 60,
        transactions_max: TRANSACTIONS,
    };
    right_and_wrong(&vacation, 0);
}

#[test]
fn paths_claimed_under_the_lock_have_cells_of_their_own() {
    let size = GridSize { x: 10, y: 10, z: 1 };
    let labyrinth = Labyrinth {
        maze: Maze::generate(5, size, 24, 0).expect("a maze"),
        file: None,
        claim: Claim::Warp,
    };
    right_and_wrong(&labyrinth, 0);
}

#[test]
fn segments_are_inserted_once_and_linked_once() {
    let genome = Genome {
        bases: 60,
        segment: 12,
        segments: 90,
    };
    right_and_wrong(&genome, 10);
}
