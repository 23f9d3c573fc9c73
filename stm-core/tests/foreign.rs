//! Arrays over memory that somebody else owns, on the CPU: nothing is copied where the layout is plain, and no
//! neighbour is touched. That every bit of a copy arrives is a test of `verify/tests/sim/wide_cells.rs`.

use crate::common::prelude::*;
use stm_core::host::ForeignView;

#[kernel(all)]
fn raise(stm: &Stm, words: Cells<u32>, wide: Cells<u64>, by: u32) {
    stm.each(0..words.len(), |tx, i| {
        let word = tx.read(words, i)?;
        let other = tx.read(wide, i)?;
        tx.write(words, i, word.wrapping_add(by))?;
        tx.write(wide, i, other.wrapping_add(u64::from(by) << 40))
    });
}

#[test]
fn plain_algorithms_work_on_the_memory_itself() {
    fn run<A: Algorithm>() {
        let cpu = Cpu::new();
        let mut words: Vec<u32> = (0..300).map(|i: u32| i.wrapping_mul(0x9E37_79B9)).collect();
        let mut wide: Vec<u64> = words.iter().map(|&word| u64::from(word) << 32).collect();
        let (before, wide_before) = (words.clone(), wide.clone());
        let mut stm = Stm::on(&cpu).unwrap();
        // Some words in the middle, and the others stay.
        let a = cpu.borrow("words", &mut words[3..203]).unwrap();
        let b = cpu.borrow("wide words", &mut wide[50..250]).unwrap();
        let done = raise::launch_with::<A, _>(&mut stm, Launch::new(2, 4), &a, &b, 5).unwrap();
        assert_eq!(done.commits, 200);
        for i in 0..300 {
            let by = if (3..203).contains(&i) { 5 } else { 0 };
            assert_eq!(words[i], before[i].wrapping_add(by), "{i}");
            let by = if (50..250).contains(&i) { 5 << 40 } else { 0 };
            assert_eq!(wide[i], wide_before[i].wrapping_add(by), "{i}");
        }
    }
    run::<FastTable>();
    run::<HvSorting>();
}

#[test]
fn cells_take_new_values_between_the_launches_of_one_memory() {
    let cpu = Cpu::new();
    let mut stm = Stm::on(&cpu).unwrap();
    let mut words = stm.array("words", &[0u32; 100]).unwrap();
    let mut wide = stm.array("wide words", &[0u64; 100]).unwrap();
    for round in 1..=4 {
        // Versions are those of the launch before, and then those of a copy.
        let (mut data, mut wide_data) = (vec![round; 102], vec![u64::from(round); 102]);
        let mut a = cpu.borrow("words", &mut data[1..101]).unwrap();
        let mut b = cpu.borrow("wide words", &mut wide_data[2..]).unwrap();
        words.copy_from(&a).unwrap();
        wide.copy_from(&b).unwrap();
        for _ in 0..2 {
            let done = raise::launch(&mut stm, Launch::new(2, 4), &words, &wide, 10).unwrap();
            assert_eq!(done.commits, 100);
        }
        words.copy_to(&mut a).unwrap();
        wide.copy_to(&mut b).unwrap();
        assert_eq!(data[1..101], [round + 20; 100]);
        assert_eq!((data[0], data[101]), (round, round));
        assert_eq!(wide_data[..2], [u64::from(round); 2]);
        assert_eq!(wide_data[2..], [u64::from(round) + (20 << 40); 100]);
    }
    stm.check_in_full().unwrap();
}

#[test]
fn memory_that_cannot_be_an_array_is_refused_by_name() {
    let cpu = Cpu::new();
    let error = cpu.borrow::<u64>("nothing", &mut []).unwrap_err();
    assert_eq!(error, Error::NoMemory { what: "nothing" });
    let mut empty = Buffer::<_, u32>::zeroed(&cpu, 0, "a buffer").unwrap();
    let error = ForeignArray::of_buffer(&mut empty).unwrap_err();
    assert_eq!(error, Error::NoMemory { what: "a buffer" });
    let mut data = [0u64; 4];
    let raw = |start: *mut u64, len| {
        // SAFETY: what is not refused is inside of `data`, and not accessed.
        unsafe { ForeignArray::from_raw(&cpu, "raw", start, len) }
    };
    let none = raw(std::ptr::null_mut(), 4).unwrap_err();
    assert_eq!(none, Error::NoMemory { what: "raw" });
    let start = data.as_mut_ptr();
    for off in 1..8 {
        let address = start.wrapping_byte_add(off);
        let error = raw(address, 1).unwrap_err();
        let expected = Error::Misaligned {
            what: "raw",
            address: address.addr() as u64,
            align: 8,
        };
        assert_eq!(error, expected);
    }
    assert_eq!(raw(start.wrapping_add(1), 3).unwrap().len(), 3);
}

#[test]
fn a_copy_between_arrays_of_different_lengths_is_refused_and_changes_nothing() {
    let cpu = Cpu::new();
    let mut data = [9u32; 5];
    let mut array = TxArray::from_slice(&cpu, Layout::Cells, &[1u32, 2, 3, 4], "an array").unwrap();
    let mut other = cpu.borrow("data", &mut data).unwrap();
    let expected = Error::OtherLength {
        what: "an array",
        len: 4,
        other: "data",
        other_len: 5,
    };
    assert_eq!(array.copy_from(&other).unwrap_err(), expected);
    assert_eq!(array.copy_to(&mut other).unwrap_err(), expected);
    assert_eq!(array.download().unwrap(), [1, 2, 3, 4]);
    assert_eq!(data, [9; 5]);
}

#[test]
fn an_algorithm_with_cells_refuses_foreign_memory_and_says_what_to_do() {
    let cpu = Cpu::new();
    let (mut words, mut wide) = ([1u32; 8], [1u64; 8]);
    let mut stm = Stm::on(&cpu).unwrap();
    let a = cpu.borrow("words", &mut words).unwrap();
    let b = cpu.borrow("wide words", &mut wide).unwrap();
    let error = raise::launch(&mut stm, Launch::new(1, 1), &a, &b, 1).unwrap_err();
    assert!(matches!(error, Error::ForeignCells { what: "words", .. }));
    assert!(error.to_string().contains("copy it into an array of cells"));
    assert!(a.try_view::<Fast>().is_err());
    assert_eq!(a.try_view::<FastTable>().unwrap().len(), 8);
    assert_eq!((words, wide), ([1; 8], [1; 8]));
}
