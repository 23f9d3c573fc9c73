//! What a run left is judged, as it is and spoilt.

use super::*;
use stm_core::host::{Cpu, Launch, Stm, StmConfig};

const RA: Ra = Ra {
    words: 1000,
    reads: 8,
    writes: 6,
    form: Form::Dynamic,
};

/// Data as a right run of 50 transactions leaves it.
fn data_after(transactions: u64) -> RaData<Cpu> {
    let mut data = RA.prepare(&Cpu::new(), 7, transactions).unwrap();
    data.array
        .upload(&RA.replay(data.seed, transactions))
        .unwrap();
    data
}

#[test]
fn a_right_result_is_accepted_and_conserves_the_total() {
    let mut data = data_after(50);
    assert_eq!(RA.verify(&mut data, 50).unwrap(), None);
    let sum = |a: &[u32]| a.iter().fold(0u32, |s, w| s.wrapping_add(*w));
    let after = RA.replay(data.seed, 50);
    assert_eq!(sum(&RA.initial(data.seed)), sum(&after));
    assert_ne!(RA.initial(data.seed), after);
}

#[test]
fn one_word_off_by_one_is_refused() {
    let mut data = data_after(50);
    let mut array = data.array.download().unwrap();
    array[999] = array[999].wrapping_add(1);
    data.array.upload(&array).unwrap();
    let what = RA.verify(&mut data, 50).unwrap().unwrap();
    assert!(
        what.contains("word 999 is") && what.contains("0 more"),
        "{what}"
    );
    assert!(what.contains("the total is"), "{what}");
}

#[test]
fn an_amount_moved_between_two_words_is_refused_though_the_total_is_right() {
    let mut data = data_after(50);
    let mut array = data.array.download().unwrap();
    array[1] = array[1].wrapping_add(5);
    array[2] = array[2].wrapping_sub(5);
    data.array.upload(&array).unwrap();
    let what = RA.verify(&mut data, 50).unwrap().unwrap();
    assert!(what.contains("the total is right"), "{what}");
}

#[test]
fn one_transaction_too_few_is_refused() {
    let mut data = data_after(49);
    assert!(RA.verify(&mut data, 50).unwrap().is_some());
    // And the other way about, which also replaces the kept expectation.
    assert_eq!(RA.verify(&mut data, 49).unwrap(), None);
}

#[test]
fn checks_after_launches_cover_the_array() {
    let (cpu, mut data) = (Cpu::new(), data_after(1));
    let mut stm = Stm::new(&cpu, Launch::new(1, 1), StmConfig::default()).unwrap();
    for accessed in RA.accessed(&mut data) {
        accessed.watch(&mut stm);
    }
    for accessed in RA.accessed(&mut data) {
        accessed.watch(&mut stm);
    }
    assert_eq!(stm.watched(), 1);
    drop(data);
    assert_eq!(stm.watched(), 0);
}
