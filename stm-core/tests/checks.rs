//! Tests of the check after a launch: whatever a kernel leaves locked or half-added is found and
//! named, in part after each launch and in full after a fault or on request.

use crate::common::prelude::*;

#[derive(Clone, Copy, PartialEq)]
enum How {
    Once,
    Endless,
    Outside,
    Panic,
}

/// The word of a cell or row that is at work, whatever its version.
const OWNED_CELL: u64 = 1 << 32;
const PENDING_ROW: u64 = 1;

/// The elements of the array: several windows of cells.
const LEN: usize = 3 * 8192 + 5;

struct Memory {
    world: World<Fast>,
    array: TxArray<Cpu, u32>,
    sums: Sums<Cpu, u32>,
}

fn memory() -> Memory {
    let cpu = Cpu::new();
    let mut world = World::new(Launch::new(1, 1), |c| c.locks = 1 << 15);
    let mut array = TxArray::zeroed(&cpu, Layout::Plain, LEN, "an array").unwrap();
    let sums = Sums::zeroed(&cpu, 7, 3, "more sums").unwrap();
    world.stm.watch(&array);
    world.stm.watch_sums(&sums);
    world.stm.watch(&array);
    // What is watched is the array, whatever its layout becomes.
    array.arrange::<Fast>().unwrap();
    Memory { world, array, sums }
}

impl Memory {
    /// Runs one transaction, after a store that no transaction makes.
    fn once(&mut self, place: u64, word: u64) -> Result {
        self.launch(How::Once, place, word)
    }

    /// Adds one to the first word in each transaction, after a store of `word` at `place`, if that is one.
    fn launch(&mut self, how: How, place: u64, word: u64) -> Result {
        let limit = (how == How::Endless).then(|| Duration::from_millis(20));
        self.world.stm.set_time_limit(limit);
        let at = if how == How::Outside { WORDS } else { 0 };
        let transactions = if how == How::Endless { u64::MAX } else { 1 };
        self.world.launch(|lane, v| {
            if place != 0 {
                // SAFETY: the test gives a live word.
                unsafe { lane.store_relaxed_64(place as *mut u64, word) };
            }
            v.stm.for_each(lane, 0..transactions, |tx, _| {
                let old = tx.read(&v.words, at)?;
                tx.write(&v.words, at, old + 1)
            });
            assert!(how != How::Panic, "as asked");
        })?;
        Ok(())
    }

    fn check_in_full(&mut self) -> Result {
        self.world.stm.check_in_full()
    }
}

fn corrupt(found: Result) -> String {
    match found {
        Err(Error::Corrupt { what }) => what,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_cell_that_stays_owned_or_a_row_at_work_is_named_and_ends_the_memory() {
    for k in 0..3 {
        let mut m = memory();
        // An address of 64-bit words says so in its lowest bits; the header is before the row's elements.
        let (at, word, name) = [
            (m.array.word(3).bits(), OWNED_CELL, "cell 3 of an array"),
            (
                m.world.wide.word(8).bits() & !7,
                OWNED_CELL,
                "cell 8 of wide",
            ),
            (
                (m.sums.word(6, 0).bits() & !7) - 8,
                PENDING_ROW,
                "row 6 of more sums",
            ),
        ][k];
        let what = corrupt(m.once(at, word));
        assert!(what.contains(name), "{what}");
        assert_eq!(corrupt(m.once(0, 0)), what);
        assert_eq!(corrupt(m.check_in_full()), what);
    }
}

#[test]
fn a_few_launches_check_all_of_a_large_array() {
    let mut m = memory();
    let place = m.array.word(LEN - 1).bits();
    // Four windows: the last one is checked by the fourth launch.
    let found: Vec<_> = (0..4).map(|_| m.once(place, OWNED_CELL).is_err()).collect();
    assert_eq!(found, [false, false, false, true]);
}

#[test]
fn a_full_check_sees_at_once_what_a_window_does_not() {
    for how in [How::Once, How::Endless, How::Outside, How::Panic] {
        let mut m = memory();
        let place = m.array.word(LEN - 1).bits();
        let launched = m.launch(how, place, OWNED_CELL);
        let found = match (how, launched) {
            (How::Once, Ok(())) => m.check_in_full(),
            (How::Panic, Err(Error::Panicked { .. })) => m.once(0, 0),
            (_, launched) => launched,
        };
        assert_says(corrupt(found), &[&format!("cell {} of an array", LEN - 1)]);
    }
}

#[test]
fn what_nobody_watches_is_not_checked_and_a_dropped_array_is_forgotten() {
    let mut m = memory();
    let other = TxArray::<_, u32>::zeroed(&Cpu::new(), Layout::Cells, 4, "others").unwrap();
    let place = other.word(0).bits();
    m.once(place, OWNED_CELL).unwrap();
    m.check_in_full().unwrap();
    m.world.stm.watch(&other);
    assert!(corrupt(m.check_in_full()).contains("cell 0 of others"));
    let mut m = memory();
    m.world.stm.watch(&other);
    drop(other);
    m.check_in_full().unwrap();
}

#[test]
fn elements_without_versions_are_never_taken_for_cells() {
    let cpu = Cpu::new();
    let mut stm = Stm::new(&cpu, Launch::new(1, 1), StmConfig::default()).unwrap();
    let mut array = TxArray::from_slice(&cpu, Layout::Cells, &[u64::MAX; 8], "words").unwrap();
    array.arrange::<HvSorting>().unwrap();
    stm.watch(&array);
    stm.check_in_full().unwrap();
}
