//! What a run left is judged, as it is and spoilt.

use super::*;
use stm_core::host::Cpu;
use stm_kernels::eigenbench::Accesses;

const fn accesses(reads: u32, writes: u32) -> Accesses {
    Accesses { reads, writes }
}

const EIGENBENCH: Eigenbench = Eigenbench {
    plan: EigenbenchPlan {
        seed: 0,
        hot_words: 100,
        mild_words: 10,
        cold_words: 12,
        hot: accesses(6, 4),
        mild: accesses(3, 5),
        cold_inside: accesses(2, 1),
        cold_outside: accesses(1, 3),
        nops_inside: 2,
        nops_outside: 1,
        locality_percent: 25,
    },
};
const LANES: u64 = 3;
const TRANSACTIONS: u64 = 50;

/// Data as a right run leaves it, but for what `spoil` does.
fn data_after(spoil: impl FnOnce(&mut Arrays)) -> EigenbenchData<Cpu> {
    let cpu = Cpu::new();
    let mut data = EIGENBENCH.prepare(&cpu, 7, TRANSACTIONS).unwrap();
    EIGENBENCH.fit(&cpu, &mut data, LANES).unwrap();
    let mut arrays = Arrays::replay(&data.plan, LANES, TRANSACTIONS);
    spoil(&mut arrays);
    data.hot.upload(&arrays.hot).unwrap();
    data.mild.upload(&arrays.mild).unwrap();
    data.cold.upload(&arrays.cold).unwrap();
    data.checksums.upload(&arrays.checksums).unwrap();
    data
}

fn verdict(spoil: impl FnOnce(&mut Arrays)) -> Option<String> {
    let mut data = data_after(spoil);
    EIGENBENCH.verify(&mut data, TRANSACTIONS).unwrap()
}

fn refusal(spoil: impl FnOnce(&mut Arrays)) -> String {
    verdict(spoil).expect("a refusal")
}

#[test]
fn a_right_result_is_accepted_and_each_addition_counts() {
    assert_eq!(verdict(|_| ()), None);
    let plan = EigenbenchPlan {
        seed: 7,
        ..EIGENBENCH.plan
    };
    let sum = |words: &[u32]| words.iter().fold(0u32, |s, w| s.wrapping_add(*w));
    let (before, after) = (
        Arrays::initial(&plan, LANES),
        Arrays::replay(&plan, LANES, TRANSACTIONS),
    );
    let added = (0..TRANSACTIONS)
        .flat_map(|i| (0..4).map(move |k| plan.transaction(i).hot().amount(k)))
        .sum::<u32>();
    assert_eq!(sum(&after.hot), sum(&before.hot).wrapping_add(added));
    assert!(before.mild != after.mild && before.cold != after.cold);
}

#[test]
fn a_lost_addition_is_refused_in_either_array() {
    let what = refusal(|arrays| arrays.hot[99] = arrays.hot[99].wrapping_sub(3));
    assert!(
        what.contains("hot word 99 is") && what.contains("lacks 3"),
        "{what}"
    );
    let what = refusal(|arrays| arrays.mild[29] = arrays.mild[29].wrapping_sub(3));
    assert!(what.contains("mild word 9 of lane 2 is"), "{what}");
}

#[test]
fn an_addition_to_a_wrong_word_is_refused_though_the_sum_is_right() {
    let what = refusal(|arrays| {
        arrays.hot[1] = arrays.hot[1].wrapping_add(5);
        arrays.hot[2] = arrays.hot[2].wrapping_sub(5);
    });
    assert!(what.contains("1 more differ; the sum is right"), "{what}");
}

#[test]
fn a_wrong_cold_word_and_a_wrong_read_are_refused() {
    let what = refusal(|arrays| arrays.cold[13] ^= 1);
    assert!(what.contains("cold word 1 of lane 1 is"), "{what}");
    let what = refusal(|arrays| arrays.checksums[2] ^= 1);
    assert!(what.contains("read by lane 2 is"), "{what}");
}

#[test]
fn one_transaction_too_few_and_other_lanes_are_refused() {
    let mut data = data_after(|_| ());
    let verify = |data: &mut _, n| EIGENBENCH.verify(data, n).unwrap();
    assert!(verify(&mut data, TRANSACTIONS - 1).is_some());
    assert_eq!(verify(&mut data, TRANSACTIONS), None);
    let plan = data.plan;
    let other = Arrays::replay(&plan, LANES + 1, TRANSACTIONS);
    assert!(
        other
            .difference(data.expected.after(TRANSACTIONS, || unreachable!()))
            .is_some()
    );
}

#[test]
fn data_that_was_made_for_no_lanes_is_refused() {
    let mut data = EIGENBENCH.prepare(&Cpu::new(), 7, 1).unwrap();
    assert!(EIGENBENCH.verify(&mut data, 1).unwrap().is_some());
}
