//! A kernel that is right: nothing is found in it, unless the library has a
//! defect.

use std::marker::PhantomData;
use stm_core::algorithm::{Algorithm, Variant};
use stm_core::host::{Stm, TxArray};
use stm_core::kernel::Kernel;
use stm_core::observe::Mutant;
use stm_core::{Lane, StmRef, View, with_algorithm};
use verify::check::{Check, Checked, FailureKind, Run};
use verify::sim::Sim;

/// Payments between accounts, each of which also looks at a third one.
pub(crate) struct Bank<A>(PhantomData<A>);

#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Params<A: Algorithm> {
    stm: StmRef<A>,
    accounts: A::Array<u32>,
    payments: u64,
}

impl<A: Algorithm> Kernel for Bank<A> {
    const ENTRY: &'static str = "bank";
    type Params = Params<A>;

    fn run<L: Lane>(lane: &L, p: &Params<A>) {
        let n = p.accounts.len();
        p.stm.for_each(lane, 0..p.payments, |tx, i| {
            let [from, to] = [i % n, (i + 1 + i / n % (n - 1)) % n];
            let [a, b] = tx.read_many(&p.accounts, [from, to])?;
            tx.read(&p.accounts, (i * 5) % n)?;
            tx.write(&p.accounts, from, a.wrapping_sub(1))?;
            tx.write(&p.accounts, to, b.wrapping_add(1))
        });
    }
}

/// Makes the payments of a run, and checks that none is lost.
pub(crate) fn pay<A: Algorithm>(sim: &Sim, run: &mut Run) -> Checked {
    let accounts = TxArray::from_slice(sim, run.layout(), &[100_u32; 4], "accounts")?;
    run.name(&accounts)?;
    let mut stm = Stm::new(sim, run.shape(), run.config())?;
    let params = Params {
        stm: stm.handle::<A>(),
        accounts: accounts.view::<A>(),
        payments: run.transactions(),
    };
    // SAFETY: the handle is of this `stm`, and `accounts` outlives the launch.
    let (_, statistics) = unsafe { stm.launch::<Bank<A>>(&params)? };
    run.holds(
        "every payment commits",
        statistics.commits == run.transactions(),
    )?;
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
