//! A kernel that is right: nothing is found in it, unless the library has a
//! defect.

use stm_core::algorithm::Variant;
use stm_core::observe::Mutant;
use stm_core::prelude::*;
use stm_core::with_algorithm;
use verify::check::{Check, Checked, FailureKind, Run};
use verify::sim::Sim;

/// Makes payments between accounts, each of which also looks at a third one.
#[kernel(all)]
pub(crate) fn bank<L: Lane, A: Algorithm>(
    lane: &L,
    stm: &StmRef<A>,
    accounts: &A::Array<u32>,
    payments: u64,
) {
    let n = accounts.len();
    stm.for_each(lane, 0..payments, |tx, i| {
        let [from, to] = [i % n, (i + 1 + i / n % (n - 1)) % n];
        let [a, b] = tx.read_many(accounts, [from, to])?;
        tx.read(accounts, (i * 5) % n)?;
        tx.write(accounts, from, a.wrapping_sub(1))?;
        tx.write(accounts, to, b.wrapping_add(1))
    });
}

/// Makes the payments of a run, and checks that none is lost.
pub(crate) fn pay<A: Algorithm>(sim: &Sim, run: &mut Run) -> Checked {
    let accounts = TxArray::from_slice(sim, run.layout(), &[100_u32; 4], "accounts")?;
    run.name(&accounts)?;
    let (mut stm, payments) = (run.stm(sim)?, run.transactions());
    let done = bank::launch_with::<A, _>(&mut stm, run.shape(), &accounts, payments)?;
    run.holds("every payment commits", done.commits == payments)?;
    let total: u32 = accounts.download()?.iter().sum();
    run.holds("the total stays", total == 400)
}

fn check() -> Check<impl Fn(&Sim, &mut Run) -> Checked> {
    Check::new(|sim, run| with_algorithm!(run.algorithm(), A => pay::<A>(sim, run)))
}

#[test]
fn nothing_is_found_in_a_right_kernel_under_any_algorithm() {
    let report = check().algorithms(Variant::ALL).cases(600).run();
    assert_eq!(report.cases, 600);
    assert!(
        report.launches >= 600 && report.attempts > report.transactions,
        "{report}"
    );
    assert!(report.unfair * 5 < report.cases, "{report}");
}

#[test]
fn defects_of_the_library_are_found_within_a_few_hundred_cases() {
    for (algorithm, defect) in [
        (Variant::Fast, Mutant::NoF1Begin),
        (Variant::Fast, Mutant::NoF3),
        (Variant::Fast, Mutant::LockedByStore),
        (Variant::Fast, Mutant::ExtensionUnchecked),
        (Variant::FastTable, Mutant::LockBitIgnored),
        (Variant::HvSorting, Mutant::LockedStripeRead),
        (Variant::HvSorting, Mutant::NoE5),
        (Variant::TbvSorting, Mutant::ValidatedBeforeLocks),
        (Variant::Vbv, Mutant::NoS2),
        (Variant::Cgl, Mutant::NoC1Acquire),
    ] {
        let check = check()
            .algorithms(&[algorithm])
            .cases(400)
            .defect(defect)
            .seed(2);
        let found = check.find().expect_err(defect.name());
        // Its line alone finds the same again.
        let again = check.replay(&found.case.to_string()).unwrap_err();
        assert_eq!(again.failure, found.failure);
        assert_eq!(found.case.defect, Some(defect));
        let kinds = [
            FailureKind::NotOpaque,
            FailureKind::Invariant,
            FailureKind::Memory,
        ];
        assert!(kinds.contains(&found.failure.kind), "{found}");
        assert!(found.case.transactions <= 12, "{found}");
        // Without the defect the same case is right.
        let right = found
            .case
            .to_string()
            .replace(&format!("!{}", defect.name()), "");
        check.replay(&right).unwrap();
    }
}
