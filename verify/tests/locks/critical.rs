//! The workloads' critical sections (`stm_kernels::floor`) in the simulator, with warps that
//! hand the lock on: the final state is what all transactions leave, in every schedule that
//! lets each lane run in the end. The same kernels without the lock are wrong in some.

use super::common::{FAIR, SHAPES, config};
use stm_core::Kernel;
use stm_core::host::{Buffer, Launch, Pod};
use stm_kernels::bank::{BankPlan, BankTransaction, FINDINGS, WRONG_SUMS};
use stm_kernels::eigenbench::{Accesses, EigenbenchPlan};
use stm_kernels::floor::{Guarded, bank, eigenbench, ht, kmeans, queue, ra};
use stm_kernels::ht::key_of_node;
use stm_kernels::kmeans::NOWHERE;
use stm_kernels::queue::{QueuePlan, Roles};
use stm_kernels::ra::RaPlan;
use stm_sync::host::Locks;
use verify::sim::{Schedule, Sim, SimConfig};

/// Transactions of a run.
pub(crate) const TRANSACTIONS: u64 = 40;

pub(crate) type Words<T = u32> = Buffer<Sim, T>;

pub(crate) fn words<T: Pod>(sim: &Sim, of: &[T]) -> Words<T> {
    Buffer::from_slice(sim, of, "words").unwrap()
}

/// Runs `check` in each schedule and shape with several seeds; the number of runs that
/// left a wrong state, and the first of these.
pub(crate) fn runs(check: impl Fn(&Sim, &Launch) -> Option<String>) -> (u32, Option<String>) {
    let (mut wrong, mut first) = (0, None);
    for (width, launch) in SHAPES {
        for (seed, schedule) in (0..).zip(Schedule::named(FAIR).repeat(2)) {
            let config: SimConfig = config(width, schedule, seed);
            if let Some(what) = check(&Sim::new(config), &launch) {
                wrong += 1;
                first.get_or_insert(format!("{config}: {what}"));
            }
        }
    }
    (wrong, first)
}

/// Launches a kernel, with shared memory.
fn launch<K: Kernel>(sim: &Sim, launch: &Launch, params: &K::Params) {
    sim.run(launch, |lane| K::run(lane, params)).unwrap();
}

/// Launches a critical section.
pub(crate) fn guarded<K, P>(sim: &Sim, shape: &Launch, work: P)
where
    K: Kernel<Params = Guarded<P>>,
{
    let users = u64::from(shape.blocks * shape.threads);
    let lock = Locks::new(sim, 1, users, "the lock").unwrap();
    let guarded = Guarded {
        lock: lock.view(),
        work,
    };
    launch::<K>(sim, shape, &guarded);
    lock.check().unwrap();
}

/// Launches a critical section, or the same work without the lock.
fn either<K, F>(sim: &Sim, shape: &Launch, work: F::Params, is_guarded: bool)
where
    F: Kernel,
    K: Kernel<Params = Guarded<F::Params>>,
{
    if is_guarded {
        guarded::<K, _>(sim, shape, work);
    } else {
        launch::<F>(sim, shape, &work);
    }
}

/// Asserts that work under the lock is right, and wrong without it in more runs than so many.
#[track_caller]
fn right_and_wrong(more_than: u32, check: impl Fn(&Sim, &Launch, bool) -> Option<String>) {
    assert_eq!(runs(|sim, shape| check(sim, shape, true)), (0, None));
    assert!(runs(|sim, shape| check(sim, shape, false)).0 > more_than);
}

/// Returns words to which all transactions have added: amounts by the places that they draw.
fn sums<I: IntoIterator<Item = (u32, u32)>>(len: u32, of: impl Fn(u64) -> I) -> Vec<u32> {
    let mut sums = vec![0u32; len as usize];
    for (word, amount) in (0..TRANSACTIONS).flat_map(of) {
        sums[word as usize] = sums[word as usize].wrapping_add(amount);
    }
    sums
}

/// Says what differs.
pub(crate) fn compare<T: PartialEq + std::fmt::Debug>(found: &T, expected: &T) -> Option<String> {
    (found != expected).then(|| format!("{found:?}, not {expected:?}"))
}

fn random_array(sim: &Sim, shape: &Launch, is_guarded: bool) -> Option<String> {
    const WORDS: u32 = 40;
    // More words than a batch.
    let plan = RaPlan::new(7, WORDS, 18, 17);
    let array = words(sim, &[0; WORDS as usize]);
    let params = ra::Params {
        words: array.tarray(),
        words_drawn: WORDS,
        reads: 18,
        writes: 17,
        transactions: TRANSACTIONS,
        plan,
    };
    either::<ra::CriticalSection, ra::Floor>(sim, shape, params, is_guarded);
    let expected = sums(WORDS, |i| {
        let of = plan.transaction(i);
        (0..17).map(move |k| (of.word(k), of.delta(k)))
    });
    compare(&array.download().unwrap(), &expected)
}

#[test]
fn ra_is_right_under_the_lock_and_wrong_without() {
    right_and_wrong(10, random_array);
}

fn hash_table(sim: &Sim, shape: &Launch, is_guarded: bool) -> Option<String> {
    // Six keys are more than a batch, and some share a bucket.
    const KEYS: u32 = 6;
    let nodes = TRANSACTIONS as u32 * KEYS;
    let keys: Vec<u32> = (0..nodes).map(|node| key_of_node(3, node)).collect();
    let (heads, nexts) = (words(sim, &[0; 3]), words(sim, &vec![0; nodes as usize]));
    let constant = words(sim, &keys);
    let params = ht::FloorParams {
        heads: heads.tarray(),
        nexts: nexts.tarray(),
        keys: constant.tarray(),
        transactions: TRANSACTIONS,
        keys_per_tx: KEYS,
    };
    either::<ht::CriticalSection, ht::Floor>(sim, shape, params, is_guarded);
    let nexts = nexts.download().unwrap();
    let mut found = Vec::new();
    for mut link in heads.download().unwrap() {
        while link != 0 && found.len() <= nodes as usize {
            found.push(link - 1);
            link = nexts[link as usize - 1];
        }
    }
    found.sort_unstable();
    compare(&found, &(0..nodes).collect())
}

#[test]
fn ht_is_right_under_the_lock_and_wrong_without() {
    right_and_wrong(10, hash_table);
}

fn accounts(sim: &Sim, shape: &Launch, is_guarded: bool) -> Option<String> {
    let plan = BankPlan::new(5, 12, 4, 40, true);
    let initial = vec![100i32; 12];
    let balances = words(sim, &initial);
    let sums: Vec<i32> = (0..plan.ranges())
        .map(|r| 100 * plan.len(r) as i32)
        .collect();
    let sums = words(sim, &sums);
    let tables = words::<u64>(sim, &[]);
    let findings = words(sim, &[0_u64; FINDINGS]);
    let params = bank::Params {
        accounts: balances.tarray(),
        sums: sums.tarray(),
        tables: tables.tarray(),
        findings: findings.tarray(),
        accounts_drawn: 12,
        transactions: TRANSACTIONS,
        plan,
    };
    either::<bank::CriticalSection, bank::Additions>(sim, shape, params, is_guarded);
    let mut expected = initial;
    for i in 0..TRANSACTIONS {
        if let BankTransaction::Transfer { from, to, amount } = plan.transaction(i, |_| 0) {
            expected[from as usize] -= amount;
            expected[to as usize] += amount;
        }
    }
    let wrong = findings.download().unwrap()[WRONG_SUMS as usize];
    compare(&(balances.download().unwrap(), wrong), &(expected, 0))
}

#[test]
fn audits_of_the_bank_see_right_sums_under_the_lock_and_wrong_ones_beside_additions() {
    right_and_wrong(3, accounts);
}

fn hot_words(
    sim: &Sim,
    shape: &Launch,
    (hot, len): (Accesses, u32),
    is_guarded: bool,
) -> Option<String> {
    let lanes = (shape.blocks * shape.threads) as usize;
    let none = Accesses {
        reads: 0,
        writes: 0,
    };
    let plan = EigenbenchPlan {
        seed: 3,
        hot_words: len,
        mild_words: 1,
        cold_words: 1,
        hot,
        mild: none,
        cold_inside: none,
        cold_outside: none,
        nops_inside: 0,
        nops_outside: 0,
        locality_percent: 0,
    };
    let array = words(sim, &vec![0; len as usize]);
    let (nothing, checksums) = (words(sim, &[]), words(sim, &vec![0; lanes]));
    let params = eigenbench::Params {
        hot: array.tarray(),
        mild: nothing.tarray(),
        cold: nothing.tarray(),
        checksums: checksums.tarray(),
        transactions: TRANSACTIONS,
        plan,
    };
    either::<eigenbench::CriticalSection, eigenbench::Floor>(sim, shape, params, is_guarded);
    let expected = sums(len, |i| {
        let of = plan.transaction(i).hot();
        (0..hot.writes).map(move |k| (of.word(k, len), of.amount(k)))
    });
    compare(&array.download().unwrap(), &expected)
}

#[test]
fn eigenbench_is_right_under_the_lock_with_words_that_come_twice_and_without() {
    let of = |n| Accesses {
        reads: n,
        writes: n,
    };
    // Together, with a word twice, not of whole batches, and more than are drawn before.
    for (accesses, len) in [(8, 1 << 12), (32, 1 << 14), (16, 20), (13, 64), (40, 100)] {
        let right = runs(|sim, shape| hot_words(sim, shape, (of(accesses), len), true));
        assert_eq!(right, (0, None), "{accesses} of {len}");
    }
    assert!(runs(|sim, shape| hot_words(sim, shape, (of(8), 20), false)).0 > 10);
}

fn ring(sim: &Sim, shape: &Launch) -> Option<String> {
    let plan = QueuePlan {
        seed: 11,
        transactions: TRANSACTIONS,
        producers_percent: 55,
        roles: Roles::Drawn,
    };
    let (counts, ring) = (words(sim, &[0; 2]), words(sim, &[0; 3]));
    let results = words(sim, &[0_u64; TRANSACTIONS as usize]);
    let params = queue::Params {
        counts: counts.tarray(),
        ring: ring.tarray(),
        results: results.tarray(),
        transactions: TRANSACTIONS,
        plan,
    };
    guarded::<queue::CriticalSection, _>(sim, shape, params);
    let results = results.download().unwrap();
    // What was done at each position, by producers and by consumers.
    let of = |producers: bool| {
        let all = (0..TRANSACTIONS).zip(&results);
        let of = all.filter(|(i, result)| **result != 0 && plan.is_producer(*i) == producers);
        let mut of: Vec<u64> = of.map(|(_, result)| *result).collect();
        of.sort_unstable();
        of
    };
    let (appended, taken) = (of(true), of(false));
    if !appended.starts_with(&taken) {
        return Some(format!("{taken:?} was taken of {appended:?}"));
    }
    let positions: Vec<u64> = appended.iter().map(|result| result >> 32).collect();
    compare(&positions, &(0..appended.len() as u64).collect()).or_else(|| {
        let found = counts.download().unwrap();
        compare(&found, &vec![taken.len() as u32, appended.len() as u32])
    })
}

#[test]
fn the_queue_gives_values_in_the_order_of_their_positions() {
    assert_eq!(runs(ring), (0, None));
}

/// Points of one coordinate, which is 1 for even ones and 100 for odd ones, and two
/// centres.
fn points(sim: &Sim, shape: &Launch, run: fn(&Sim, &Launch, kmeans::Params)) -> Option<String> {
    const POINTS: u64 = 37;
    let x = |i: u64| if i.is_multiple_of(2) { 1.0f32 } else { 100.0 };
    let all: Vec<f32> = (0..POINTS).map(x).collect();
    let coordinates = words(sim, &all);
    let centres = words(sim, &[0.0, 101.0]);
    let rows = words(sim, &[0; 4]);
    let members = words(sim, &vec![NOWHERE; POINTS as usize]);
    let ranks = words(sim, &vec![0; POINTS as usize]);
    let changed = words(sim, &[0_u64]);
    let params = kmeans::Params {
        points: coordinates.tarray(),
        centres: centres.tarray(),
        rows: rows.tarray(),
        members: members.tarray(),
        ranks: ranks.tarray(),
        changed: changed.tarray(),
        transactions: POINTS,
        clusters: 2,
        dims: 1,
    };
    let shape = Launch {
        shared_bytes: 16,
        ..*shape
    };
    run(sim, &shape, params);
    // Sums of whole numbers are exact in every order.
    let expected = vec![19, 19f32.to_bits(), 18, 1800f32.to_bits()];
    let changes = changed.download().unwrap();
    compare(
        &(rows.download().unwrap(), changes),
        &(expected, vec![POINTS]),
    )
}

#[test]
fn kmeans_adds_every_point_once_by_every_rival() {
    let by = |run: fn(&Sim, &Launch, kmeans::Params)| {
        runs(move |sim: &Sim, shape: &Launch| points(sim, shape, run))
    };
    assert_eq!(by(guarded::<kmeans::CriticalSection, _>), (0, None));
    let warps = by(|sim, shape, work| launch::<kmeans::WarpAPoint>(sim, shape, &work));
    assert_eq!(warps, (0, None));
    let privatised = by(|sim, shape, work| launch::<kmeans::Privatised>(sim, shape, &work));
    assert_eq!(privatised, (0, None));
    let without = by(|sim, shape, work| launch::<kmeans::Floor>(sim, shape, &work));
    assert!(without.0 > 10);
}
