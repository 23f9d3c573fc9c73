//! A kernel that is right: nothing is found in it, unless the library has a defect. The line that a
//! failure prints, given back by the variable that it names. And its page in a real browser, if there
//! is one: whatever the structure says, it must also be drawn.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use stm_core::algorithm::{Fast, Variant};
use stm_core::observe::Mutant;
use stm_core::prelude::*;
use stm_core::with_algorithm;
use verify::check::{CASES, Check, Checked, FailureKind, PAGE, REPLAY, Run};
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

/// Runs a test of this file in a process of its own.
fn run(test: &str, variables: &[(&str, &str)]) -> Output {
    Command::new(std::env::current_exe().unwrap())
        .args([test, "--exact", "--ignored", "--nocapture"])
        .envs(variables.iter().copied())
        .output()
        .unwrap()
}

fn text(output: &Output) -> String {
    let all = [&output.stdout[..], &output.stderr[..]].concat();
    String::from_utf8(all).unwrap()
}

#[test]
#[ignore = "fails, as the test below expects"]
fn fails() {
    Check::new(pay::<Fast>).defect(Mutant::LockedByStore).run();
}

#[test]
#[ignore = "the test below runs it"]
fn passes() {
    let report = Check::new(pay::<Fast>).run();
    println!("{report}");
}

#[test]
fn the_line_of_a_failure_replays_it_by_the_variable_and_the_test_that_it_names() {
    let page = tempfile::tempdir().unwrap();
    let page = page.path().join("failure.html");
    let first = run("bank::fails", &[(PAGE, page.to_str().unwrap())]);
    assert!(!first.status.success());
    let message = text(&first);
    let (_, line) = message.split_once("replay: ").unwrap();
    let line = line.lines().next().unwrap();
    let rest = line.strip_prefix(&format!("{REPLAY}='")).unwrap();
    let (case, command) = rest.split_once('\'').unwrap();
    assert!(case.starts_with("fast!locked-by-store "), "{case}");
    assert_eq!(command, " cargo test bank::fails -- --exact");
    assert!(
        message.contains(&format!("page: {}", page.display())),
        "{message}"
    );
    assert!(std::fs::read_to_string(&page).unwrap().contains(case));

    let again = run("bank::fails", &[(REPLAY, case)]);
    assert!(!again.status.success());
    let again = text(&again);
    assert!(again.contains("found by case 1; replay: "), "{again}");
    let explained = |message: &str| {
        let from = message.find("thread 'bank::fails'")?;
        let all = message[from..].lines().skip(1);
        Some(
            all.take_while(|line| !line.contains("replay: "))
                .map(str::to_owned)
                .collect(),
        )
    };
    let of: fn(&str) -> Option<Vec<String>> = explained;
    let mut first = of(&message).unwrap();
    first.retain(|line| !line.starts_with("page: "));
    assert_eq!(of(&again).unwrap(), first);

    // The right code passes under the same line.
    let right = case.replace("!locked-by-store", "");
    let passed = text(&run("bank::passes", &[(REPLAY, &right)]));
    assert!(passed.contains("1 cases with 1 launches"), "{passed}");
    // And under as many cases as one likes.
    let passed = text(&run("bank::passes", &[(CASES, "3")]));
    assert!(passed.contains("3 cases with 3 launches"), "{passed}");
}

#[test]
fn a_line_that_is_none_is_refused_in_words() {
    for (variables, part) in [
        (
            &[(REPLAY, "fast 1x1")][..],
            "`fast 1x1` in the line of a case",
        ),
        (&[(CASES, "many")], "STM_CASES=many"),
    ] {
        let output = run("bank::passes", variables);
        assert!(!output.status.success());
        assert!(text(&output).contains(part), "{}", text(&output));
    }
}

#[test]
fn the_seed_decides_the_cases() {
    let cases = |seed| {
        let check = Check::new(pay::<Fast>)
            .algorithms(&[Variant::Fast])
            .defect(Mutant::NoF1Begin)
            .seed(seed);
        let found = check.find().unwrap_err();
        (found.after, found.case)
    };
    assert_eq!(cases(3), cases(3));
    assert_ne!(cases(3).1.sim.seed, cases(4).1.sim.seed);
}

/// Returns the first browser that this machine has.
fn browser() -> Option<&'static str> {
    let names = ["chromium", "chromium-browser", "google-chrome", "chrome"];
    names.into_iter().find(|name| {
        Command::new(name)
            .arg("--version")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    })
}

/// Returns the page's elements after its script has run.
fn drawn(browser: &str, page: &Path, profile: &Path, width: u32) -> String {
    let output = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
        ])
        .args(["--no-first-run", "--disable-background-networking"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!("--window-size={width},900"))
        .args(["--virtual-time-budget=2000", "--dump-dom"])
        .arg(format!("file://{}", page.display()))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_browser_draws_the_arrows() {
    let Some(browser) = browser() else {
        println!("no browser is installed: not tested");
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let page = dir.path().join("page.html");
    let found = Check::new(pay::<Fast>)
        .defect(Mutant::ExtensionUnchecked)
        .seed(5)
        .page(&page)
        .find()
        .unwrap_err();
    assert_eq!(found.page, Some(Ok(page.clone())));
    let profile = dir.path().join("profile");
    let shown = drawn(browser, &page, &profile, 1280);
    let arrows = shown.matches("<path d=\"M").count();
    // Two are the heads of the arrows.
    let expected = 2 + shown
        .split("data-arrows=\"")
        .nth(1)
        .and_then(|rest| rest.split('"').next())
        .unwrap()
        .split(';')
        .count();
    let heads = shown.matches("<path class=\"").count();
    assert_eq!(arrows + heads, expected, "{shown}");
    assert!(arrows > 0, "{shown}");
}
