//! Kernels with an error of their own: each is found, named, made small and replayed by its line.

use crate::{found, pay};
use stm_core::Layout;
use stm_core::algorithm::{HvSorting, Variant};
use stm_core::host::Capacity;
use stm_core::prelude::*;
use verify::check::FailureKind::{
    Error, Invariant, Livelock, Memory, NotOpaque, NothingJudged, Panicked,
};
use verify::check::{Check, Checked, Run};
use verify::sim::{self, Sim};

#[test]
fn a_plain_access_inside_of_an_attempt_is_found() {
    let check = Check::new(|sim, run| {
        let total = TxArray::from_slice(sim, Layout::Cells, &[0_u32], "total")?;
        let seen = Buffer::<_, u32>::zeroed(sim, 1, "seen")?;
        run.name(&total)?;
        run.name(&seen)?;
        let (mut stm, n) = (run.stm(sim)?, run.transactions());
        let (handle, words) = (stm.handle::<Fast>(), total.view::<Fast>());
        sim::launch(&mut stm, |lane| {
            handle.for_each(lane, 0..n, |tx, _| {
                let count = tx.read(&words, 0)?;
                tx.write(&words, 0, count + 1)?;
                let word = seen.as_mut_ptr();
                // SAFETY: a live word. That it is wrong to count here is the point: the attempt may
                // abort, and others count too.
                unsafe { lane.store_relaxed_32(word, lane.load_relaxed_32(word) + 1) };
                Ok(())
            });
        })?;
        let counted = total.download()? == seen.download()?;
        run.holds("each payment is counted once", counted)
    })
    .cases(400)
    .seed(2);
    let found = found(&check, &[Invariant]);
    let text = "it does not hold that each payment is counted once";
    assert_eq!(found.failure.text, text);
    // Two payments, by two threads, are the fewest.
    assert_eq!(found.case.transactions, 2, "{found}");
    assert_eq!(found.case.blocks * found.case.threads, 2, "{found}");
}

/// Makes transfers, after which one thread puts an account right by a plain store.
fn puts_right(sim: &Sim, run: &mut Run) -> Checked {
    let accounts = TxArray::from_slice(sim, run.layout(), &[7_u32; 2], "accounts")?;
    run.name(&accounts)?;
    let (mut stm, n) = (run.stm(sim)?, run.transactions());
    let (handle, view) = (stm.handle::<HvSorting>(), accounts.view::<HvSorting>());
    sim::launch(&mut stm, |lane| {
        handle.for_each(lane, 0..n, |tx, i| {
            let balance = tx.read(&view, i % 2)?;
            tx.write(&view, i % 2, balance + 1)
        });
        if lane.grid_thread() == 0 {
            // SAFETY: in range of a live array; the error that is to be found.
            unsafe { lane.store_relaxed_32(view.get(1).unwrap(), 0) };
        }
    })?;
    Ok(())
}

#[test]
fn a_plain_store_to_a_transactional_word_is_found_and_the_word_is_named() {
    let check = Check::new(puts_right).algorithms(&[Variant::HvSorting]);
    // By one thread, after all transactions: only the memory shows it.
    let alone = check.clone().blocks(1..=1).threads(1..=1);
    let found_alone = found(&alone, &[Memory]);
    assert_eq!(
        found_alone.failure.text,
        "after the launch accounts[1] holds 0, where no commit changed 7: \
         does a plain access store to it?"
    );
    assert_eq!(found_alone.case.input, 0, "nothing is drawn");
    // Beside others, which read what nobody has committed.
    let beside = check.blocks(2..=3).transactions(12..=24).cases(400).seed(1);
    let found = found(&beside, &[Memory, NotOpaque]);
    let text = &found.failure.text;
    assert!(text.contains("accounts[1]") && text.contains("does a plain access"));
}

/// Waits for what nobody does, in plain loads or a transaction, with two threads, whatever the case has.
fn launched(sim: &Sim, n: u64) -> Checked {
    let mut stm = Stm::on(sim)?;
    stm.set_up::<Fast>(Launch::new(1, 2))?;
    let balances = stm.array("balances", &[0_i32; 2])?;
    let (handle, balances) = (stm.handle::<Fast>(), balances.view::<Fast>());
    sim::launch(&mut stm, |lane| {
        let _written = handle.atomically(lane, |tx| tx.write(&balances, 0, 1));
        while n > 3 && balances.peek(lane, 0) != Some(2) {
            lane.pause(10);
        }
        assert!(n != 3, "three is too many");
        if n == 0 {
            let _waited = handle.atomically(lane, |tx| match tx.read(&balances, 1)? {
                0 => tx.retry(),
                _ => Ok(()),
            });
        }
        if n == 2 {
            let _read = handle.atomically(lane, |tx| tx.read(&balances, 99));
        }
    })?;
    Ok(())
}

#[test]
fn a_lane_that_a_schedule_masks_off_for_ever_is_no_finding_whatever_shape_the_case_has() {
    // Before Volta a lane that looped could wait for ever for one of its warp. The case has but one lane.
    let check = Check::new(|sim, _| launched(sim, 1));
    let line = "fast 1x1 n=1 : sim:w2,stack,sc,seed=0x5f4cd33ad09d6447";
    let report = check.replay(line).unwrap_or_else(|found| panic!("{found}"));
    assert_eq!(report.unfair, 1, "{report}");
}

#[test]
fn kernels_that_hang_panic_or_fail_are_findings_of_their_kinds() {
    for (n, kind, part) in [
        (4, Livelock, "memory did not change"),
        (3, Panicked, "three is too many"),
        (2, Error, "index 99 of an array of 2"),
        (0, Error, "everybody waits"),
    ] {
        let check = Check::new(|sim, _| launched(sim, n)).warp_widths(&[1]);
        let found = found(&check.cases(20), &[kind]);
        assert!(found.failure.text.contains(part), "{found}");
    }
    Check::new(|sim, _| launched(sim, 1)).cases(20).run();
}

#[test]
fn a_set_that_is_too_small_names_the_setting_of_the_check() {
    let mut capacity = Capacity::DEFAULT;
    capacity.writes = 1;
    let found = found(&Check::new(pay::<Fast>).capacity(capacity), &[Error]);
    let message = found.to_string();
    assert!(message.contains("by `Check::capacity`"), "{message}");
}

#[test]
fn an_assertion_in_the_closure_is_a_finding_with_its_place() {
    let check = Check::new(|_, run| {
        assert_eq!(run.transactions(), 0, "not empty");
        Ok(())
    });
    let text = &found(&check, &[Panicked]).failure.text;
    assert!(text.contains("findings.rs") && text.contains("not empty"));
}

#[test]
fn a_check_that_checks_nothing_fails() {
    // On another device than the one that is given.
    let check = Check::new(|_, _| {
        let array = TxArray::from_slice(&Cpu::new(), Layout::Cells, &[0_u32], "elsewhere")?;
        assert_eq!(array.download()?, [0]);
        Ok(())
    });
    found(&check, &[NothingJudged]);
    // Launches without any transaction.
    let check = Check::new(|sim, run| {
        sim.run(&run.shape(), |lane| assert!(lane.warp_mask() != 0))?;
        Ok(())
    })
    .cases(10);
    let found = check.find().unwrap_err();
    let launched = "the kernel ran none: 10 cases with 10 launches";
    let launched = found.failure.text.contains(launched);
    assert!(found.failure.kind == NothingJudged && launched, "{found}");
}
