//! Tests of what the module does alone.

use super::*;
use stm_core::host::Cpu;
use stm_kernels::bank::BankTransaction;

const BANK: Bank = Bank {
    accounts: 1000,
    zipf_thousandths: 990,
    audit_percent: 20,
    audit_range: 48,
    adds_row: None,
    form: Form::Dynamic,
};

/// Data as a right run of so many transactions leaves it.
fn data_after(transactions: u64) -> BankData<Cpu> {
    let mut data = BANK.prepare(&Cpu::new(), 7, transactions).unwrap();
    let initial = BANK.initial(data.seed);
    let (accounts, audits) = Bank::replay(&data.plan, &data.tables_host, initial, transactions);
    data.accounts.upload(&accounts).unwrap();
    data.findings.upload(&[audits, 0, 0]).unwrap();
    data
}

fn verdict(mut data: BankData<Cpu>) -> String {
    BANK.verify(&mut data, 500).unwrap().expect("a refusal")
}

#[test]
fn a_right_result_is_accepted_and_conserves_every_sum() {
    let mut data = data_after(500);
    assert_eq!(BANK.verify(&mut data, 500).unwrap(), None);
    let accounts = data.accounts.download().unwrap();
    assert_eq!(
        Bank::sums(&data.plan, &accounts),
        data.sums.download().unwrap()
    );
    assert_ne!(BANK.initial(data.seed), accounts);
    // More checks than audits: attempts that did not commit looked too.
    data.findings.upload(&[499, 0, 0]).unwrap();
    assert_eq!(BANK.verify(&mut data, 500).unwrap(), None);
}

#[test]
fn an_account_off_by_one_is_refused_with_the_total() {
    let mut data = data_after(500);
    let mut accounts = data.accounts.download().unwrap();
    accounts[999] += 1;
    data.accounts.upload(&accounts).unwrap();
    let what = verdict(data);
    assert!(what.contains("account 999 has"), "{what}");
    assert!(
        what.contains("0 more accounts differ; the total is "),
        "{what}"
    );
    assert!(!what.contains("right"), "{what}");
}

#[test]
fn money_in_the_wrong_account_is_refused_though_the_total_is_right() {
    let mut data = data_after(500);
    let mut accounts = data.accounts.download().unwrap();
    accounts[1] += 5;
    accounts[2] -= 5;
    data.accounts.upload(&accounts).unwrap();
    assert!(verdict(data).contains("the total is right"));
}

#[test]
fn one_transfer_too_few_is_refused() {
    let is_audit = |data: &BankData<Cpu>, i| {
        let tables = |at| data.tables_host[at as usize];
        matches!(
            data.plan.transaction(i, tables),
            BankTransaction::Audit { .. }
        )
    };
    let mut data = data_after(500);
    let last = (0..500).rev().find(|&i| !is_audit(&data, i)).unwrap();
    assert!(BANK.verify(&mut data, last).unwrap().is_some());
    assert!(verdict(data_after(last)).contains("account"));
}

#[test]
fn a_single_wrong_sum_is_refused_with_its_transaction() {
    let mut data = data_after(500);
    let checks = data.findings.download().unwrap()[0];
    data.findings.upload(&[checks, 1, 18]).unwrap();
    let what = verdict(data);
    assert!(
        what.contains("1 of ") && what.contains("transaction 17"),
        "{what}"
    );
}

#[test]
fn audits_that_did_not_look_are_refused() {
    let mut data = data_after(500);
    let checks = data.findings.download().unwrap()[0];
    data.findings.upload(&[checks - 1, 0, 0]).unwrap();
    assert!(verdict(data).contains(&format!("only {} of {checks}", checks - 1)));
    assert!(audit_difference(&[1, 0, 0], 0).is_some());
}

#[test]
fn the_account_that_loses_follows_zipfs_law() {
    let bank = Bank {
        accounts: 103,
        audit_range: 10,
        audit_percent: 0,
        ..BANK
    };
    let plan = bank.plan(3);
    let tables = bank.tables(&plan);
    let mut taken = vec![0u32; 103];
    let n = 400_000;
    for i in 0..n {
        if let BankTransaction::Transfer { from, .. } =
            plan.transaction(i, |at| tables[at as usize])
        {
            taken[from as usize] += 1;
        }
    }
    let weight = |rank: u64| ((rank + 1) as f64).powf(-0.99);
    let all: f64 = (0..103).map(weight).sum();
    let mut ranks = [false; 103];
    for (account, &times) in taken.iter().enumerate() {
        let range = (account as u32 / 10).min(9);
        let rank = bank.rank(&plan, range, account as u32 - plan.start(range));
        ranks[rank as usize] = true;
        let mean = n as f64 * weight(rank) / all;
        // Six standard deviations.
        let off = (f64::from(times) - mean).abs();
        assert!(off < 6.0 * mean.sqrt(), "rank {rank}: {times}, not {mean}");
    }
    assert!(ranks.iter().all(|&r| r), "ranks are no permutation");
}
