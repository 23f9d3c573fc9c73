//! The critical sections on structures without versions (`stm_kernels::floor::plain`) in the
//! simulator: what the operations noted and what is in the structure fit together, in every
//! schedule that lets each lane run in the end. The same operations without the lock leave a
//! wrong state in some.

use super::critical::{TRANSACTIONS, Words, compare, guarded, runs, words};
use std::collections::BTreeMap;
use stm_core::Kernel;
use stm_core::host::Launch;
use stm_kernels::chain::{ChainPlan, INSERTED, Operation};
use stm_kernels::floor::chain::{List, Map, Ordered, Params};
use stm_kernels::floor::plain::Structure;
use stm_kernels::floor::plain::chains::{self, Chains};
use stm_kernels::floor::plain::nodes::{self, FREE_WORDS, Nodes};
use stm_kernels::floor::plain::radix::{Copied, Radix};
use stm_kernels::floor::plain::table::{self, Table};
use stm_kernels::floor::{Guarded, labyrinth, pool, vacation};
use stm_kernels::labyrinth::{
    CLOCK_WORDS, FREE, GridSize, RESERVED, RouterParams, SHARED_BYTES, UNROUTED, WALL, cell_of_path,
};
use stm_kernels::vacation::{
    CUSTOMERS, Note, Resource, TABLES, VacationPlan, record_key, record_of,
};
use verify::sim::Sim;

type LongWords = Words<u64>;

/// Different keys, few so that operations meet.
const KEYS: u64 = 10;

const PLAN: ChainPlan = ChainPlan {
    seed: 9,
    // More digits than one of the radix tree.
    keys: 10,
    lookups_percent: 20,
    alike: 1,
};

fn long_words(sim: &Sim, len: usize) -> LongWords {
    words(sim, &vec![0; len])
}

/// Free nodes.
struct OwnNodes(LongWords, Words);

impl OwnNodes {
    fn new(sim: &Sim, count: u64) -> Self {
        Self(
            long_words(sim, count as usize + 1),
            words(sim, &[0; FREE_WORDS]),
        )
    }

    fn view(&self) -> Nodes {
        Nodes {
            words: self.0.tarray(),
            free: self.1.tarray(),
        }
    }

    fn copied(&self) -> (Vec<u64>, Vec<u32>) {
        (self.0.download().unwrap(), self.1.download().unwrap())
    }
}

type Entries = Result<Vec<(u32, u32)>, String>;

/// A structure's memory.
trait Owned {
    type View: Structure;
    fn new(sim: &Sim) -> Self;
    fn view(&self) -> Self::View;
    fn entries(&self) -> Entries;
}

struct OwnTable(LongWords);

impl Owned for OwnTable {
    type View = Table;

    fn new(sim: &Sim) -> Self {
        Self(long_words(sim, table::slots_for(KEYS)))
    }

    fn view(&self) -> Table {
        Table {
            slots: self.0.tarray(),
        }
    }

    fn entries(&self) -> Entries {
        table::entries(&self.0.download().unwrap())
    }
}

struct OwnChains {
    heads: Words,
    nodes: OwnNodes,
    values: Words,
}

impl OwnChains {
    fn with(sim: &Sim, chains: usize, count: u64) -> Self {
        Self {
            heads: words(sim, &vec![0; chains]),
            nodes: OwnNodes::new(sim, count),
            values: words(sim, &vec![0; count as usize + 1]),
        }
    }

    fn lists(&self) -> Result<Vec<Vec<(u32, u32)>>, String> {
        let (words, free) = self.nodes.copied();
        let heads = self.heads.download().unwrap();
        chains::entries(&heads, (&words, &free), &self.values.download().unwrap())
    }
}

impl Owned for OwnChains {
    type View = Chains;

    fn new(sim: &Sim) -> Self {
        Self::with(sim, 1, KEYS)
    }

    fn view(&self) -> Chains {
        Chains {
            heads: self.heads.tarray(),
            nodes: self.nodes.view(),
            values: self.values.tarray(),
        }
    }

    fn entries(&self) -> Entries {
        Ok(self.lists()?.into_iter().flatten().collect())
    }
}

struct OwnRadix {
    root: Words,
    leaves: OwnNodes,
    branches: OwnNodes,
    links: Words,
}

impl Owned for OwnRadix {
    type View = Radix;

    fn new(sim: &Sim) -> Self {
        Self {
            root: words(sim, &[0]),
            leaves: OwnNodes::new(sim, KEYS),
            branches: OwnNodes::new(sim, KEYS),
            links: words(sim, &vec![0; 16 * (KEYS as usize + 1)]),
        }
    }

    fn view(&self) -> Radix {
        Radix {
            root: self.root.tarray(),
            leaves: self.leaves.view(),
            branches: self.branches.view(),
            links: self.links.tarray(),
        }
    }

    fn entries(&self) -> Entries {
        let (leaves, branches) = (self.leaves.copied(), self.branches.copied());
        let copied = Copied {
            root: self.root.download().unwrap()[0],
            leaves: (&leaves.0, &leaves.1),
            branches: (&branches.0, &branches.1),
            links: &self.links.download().unwrap(),
        };
        copied.entries()
    }
}

/// Compares what operations noted with the entries that are there: each value that was
/// inserted was removed once or is there.
fn judge(plan: &ChainPlan, results: &[u32], entries: Entries) -> Option<String> {
    let entries = match entries {
        Ok(entries) => entries,
        Err(wrong) => return Some(wrong),
    };
    let mut inserted = BTreeMap::new();
    let mut gone = entries.clone();
    for (i, &result) in (0..).zip(results) {
        match plan.operation(i) {
            (Operation::Insert, key) if result == INSERTED => {
                inserted.insert(ChainPlan::value(i), key);
            }
            (Operation::Remove, key) if result != 0 => gone.push((key, result)),
            (Operation::Insert, _) if result != 0 => return Some(format!("{i} noted {result}")),
            _ => {}
        }
    }
    for (i, &result) in (0..).zip(results) {
        let (operation, key) = plan.operation(i);
        let found = operation == Operation::Lookup && result != 0;
        if found && inserted.get(&result) != Some(&key) {
            return Some(format!("{i} found {result} at {key}"));
        }
    }
    let mut all: Vec<(u32, u32)> = inserted
        .into_iter()
        .map(|(value, key)| (key, value))
        .collect();
    gone.sort_unstable();
    all.sort_unstable();
    compare(&gone, &all)
}

/// Launches the critical sections of a structure.
type Section<S> = fn(&Sim, &Launch, Params<S>);

/// Runs operations on a structure, under the lock or without one.
fn operations<O: Owned>(
    sim: &Sim,
    shape: &Launch,
    section: Option<Section<O::View>>,
) -> Option<String> {
    let owned = O::new(sim);
    let results = words(sim, &[0; TRANSACTIONS as usize]);
    if let Some(section) = section {
        let params = Params {
            entries: owned.view(),
            results: results.tarray(),
            transactions: TRANSACTIONS,
            plan: PLAN,
        };
        section(sim, shape, params);
        return judge(&PLAN, &results.download().unwrap(), owned.entries());
    }
    let open = owned.view().open().unwrap();
    let noted = std::cell::RefCell::new(vec![0; TRANSACTIONS as usize]);
    let ran = sim.run(shape, |lane| {
        use stm_core::Lane;
        let mut i = lane.grid_thread();
        while i < TRANSACTIONS {
            let (operation, key) = PLAN.operation(i);
            let drawn = O::View::draw(&open, key);
            // SAFETY: none; the lock is missing, and the simulator says what comes of it.
            let noted_now =
                unsafe { O::View::apply(&open, lane, operation, drawn, ChainPlan::value(i)) };
            noted.borrow_mut()[i as usize] = noted_now;
            i += lane.grid_threads();
        }
    });
    match ran {
        // A link may lead in a circle.
        Err(stopped) => Some(stopped.to_string()),
        Ok(_) => judge(&PLAN, &noted.borrow(), owned.entries()),
    }
}

fn right_and_wrong<O: Owned, K: Kernel<Params = Guarded<Params<O::View>>>>() {
    let right = runs(|sim, shape| operations::<O>(sim, shape, Some(guarded::<K, _>)));
    assert_eq!(right, (0, None));
    assert!(runs(|sim, shape| operations::<O>(sim, shape, None)).0 > 10);
}

#[test]
fn the_map_the_list_and_the_ordered_map_are_right_under_the_lock_and_wrong_without() {
    right_and_wrong::<OwnTable, Map>();
    right_and_wrong::<OwnChains, List>();
    right_and_wrong::<OwnRadix, Ordered>();
}

#[test]
fn the_pool_gives_no_node_twice_and_loses_none() {
    let right = runs(|sim, shape| {
        let lanes = u64::from(shape.blocks * shape.threads);
        // Two for each lane are enough.
        let nodes = OwnNodes::new(sim, 2 * lanes);
        let work = pool::Params {
            nodes: nodes.view(),
            transactions: TRANSACTIONS,
        };
        guarded::<pool::CriticalSection, _>(sim, shape, work);
        let (words, free) = nodes.copied();
        match nodes::taken(&words, &free) {
            Ok(taken) => compare(&(taken.len() as u64), &TRANSACTIONS.min(lanes)),
            Err(wrong) => Some(wrong),
        }
    });
    assert_eq!(right, (0, None));
}

/// Returns the places of each record, by its first ones and what the updates noted.
fn places(plan: &VacationPlan, notes: &[u64]) -> Result<BTreeMap<u32, i64>, String> {
    let ids = |table| (1..=plan.relations()).map(move |id| (table, id));
    let first = |(table, id)| {
        let total = plan.initial(table, id).total();
        (record_key(table, id), i64::from(total))
    };
    let mut places: BTreeMap<u32, i64> = (0..TABLES).flat_map(ids).map(first).collect();
    for (i, &bits) in (0..).zip(notes) {
        let (me, note) = (plan.transaction(i), Note::from_bits(bits));
        if note == Note::DISAGREEMENT {
            return Err(format!("task {i} found a reservation of no record"));
        }
        let updates = matches!(me.task, stm_kernels::vacation::Task::Update);
        for k in 0..if updates { me.queries } else { 0 } {
            let query = me.query(k);
            let by = i64::from(note.updated(k)) * if query.adds { 1 } else { -1 };
            *places.entry(record_key(query.table, query.id)).or_default() += by;
        }
    }
    places.retain(|_, places| *places != 0);
    Ok(places)
}

#[test]
fn no_place_of_the_agency_is_made_or_lost() {
    // Few records, so that tasks meet, and many updates and deletions.
    let plan = VacationPlan::new(3, 6, 5, 100, 60);
    let ids = || 1..=plan.relations();
    let initial = |(table, id)| (record_key(table, id), plan.initial(table, id).bits());
    let all = (0..TABLES).flat_map(|table| ids().map(move |id| (table, id)));
    let records = all.clone().map(initial);
    let slots = table::filled(
        24,
        records.chain(ids().map(|id| (record_key(CUSTOMERS, id), 0))),
    );
    let right = runs(|sim, shape| {
        let tables = words(sim, &slots);
        let lists = OwnChains::with(sim, 6, 3 * TRANSACTIONS);
        let notes = long_words(sim, TRANSACTIONS as usize);
        let work = vacation::Params {
            tables: Table {
                slots: tables.tarray(),
            },
            lists: lists.view(),
            notes: notes.tarray(),
            transactions: TRANSACTIONS,
            plan,
        };
        guarded::<vacation::CriticalSection, _>(sim, shape, work);
        let (records, lists) = match (table::entries(&tables.download().unwrap()), lists.lists()) {
            (Ok(records), Ok(lists)) => (records, lists),
            (Err(wrong), _) | (_, Err(wrong)) => return Some(wrong),
        };
        let places = match places(&plan, &notes.download().unwrap()) {
            Ok(places) => places,
            Err(wrong) => return Some(wrong),
        };
        let mut held: BTreeMap<u32, u32> = BTreeMap::new();
        for &(key, _) in lists.iter().flatten() {
            *held.entry(key).or_default() += 1;
        }
        let records: Vec<(u32, u32)> = records
            .into_iter()
            .filter(|&(key, _)| record_of(key).0 != CUSTOMERS)
            .collect();
        let of = |key: u32, bits: u32| {
            let record = Resource::from_bits(bits);
            (key, i64::from(record.total()), record.used())
        };
        let mut found: Vec<_> = records
            .into_iter()
            .map(|(key, bits)| of(key, bits))
            .collect();
        found.sort_unstable();
        let expected = places.into_iter().map(|(key, places)| {
            let used = held.get(&key).copied().unwrap_or(0);
            (key, places, used)
        });
        compare(&found, &expected.collect())
    });
    assert_eq!(right, (0, None));
}

#[test]
fn paths_claimed_under_the_lock_have_cells_of_their_own() {
    const SIZE: GridSize = GridSize { x: 5, y: 5, z: 1 };
    let ends = [(0, 0, 4, 4), (4, 0, 0, 4), (2, 0, 2, 4), (0, 2, 4, 2)];
    let requests: Vec<u32> = (ends.iter())
        .flat_map(|&(ax, ay, bx, by)| [SIZE.index(ax, ay, 0), SIZE.index(bx, by, 0)])
        .collect();
    let cells = SIZE.cells() as usize;
    let mut initial = vec![WALL; cells];
    for y in 0..5 {
        for x in 0..5 {
            initial[SIZE.index(x, y, 0) as usize] = FREE;
        }
    }
    for &end in &requests {
        initial[end as usize] = RESERVED;
    }
    let right = runs(|sim, shape| {
        let blocks = shape.blocks as usize;
        let grid = words(sim, &initial);
        let ends = words(sim, &requests);
        let (results, next) = (words(sim, &[0; 4]), words(sim, &[0]));
        let paths = words(sim, &[0; 4 * 25]);
        let routers = words(sim, &vec![0; 2 * cells * blocks]);
        let clocks = long_words(sim, CLOCK_WORDS as usize * blocks);
        let work = labyrinth::Params {
            grid: grid.tarray(),
            work: RouterParams {
                requests: ends.tarray(),
                results: results.tarray(),
                paths: paths.tarray(),
                routers: routers.tarray(),
                next: next.tarray(),
                clocks: clocks.tarray(),
                count: 4,
                row: SIZE.row() as u32,
                plane: SIZE.plane() as u32,
                path_cells_max: 25,
            },
        };
        let shape = Launch {
            shared_bytes: SHARED_BYTES,
            ..*shape
        };
        guarded::<labyrinth::CriticalSection, _>(sim, &shape, work);
        let (results, paths) = (results.download().unwrap(), paths.download().unwrap());
        let mut expected = initial.clone();
        for (request, &result) in results.iter().enumerate() {
            if result == UNROUTED {
                continue;
            }
            if !(1..=25).contains(&result) {
                return Some(format!("request {request} has the result {result:#x}"));
            }
            for &cell in &paths[25 * request..][..result as usize] {
                let cell = &mut expected[cell as usize];
                if *cell != FREE && *cell != RESERVED {
                    return Some(format!("path {request} goes over {cell:#x}"));
                }
                *cell = cell_of_path(request as u32);
            }
        }
        // Two of the four cross the others, so all cannot be routed.
        let routed = results.iter().filter(|&&result| result != UNROUTED).count();
        let found = grid.download().unwrap();
        compare(&found, &expected).or_else(|| (routed == 0).then(|| "nothing is routed".into()))
    });
    assert_eq!(right, (0, None));
}
