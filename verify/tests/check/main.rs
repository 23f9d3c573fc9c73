//! Checks of a kernel as a user writes it: nothing is found in it, unless the library has a defect; the line that a
//! failure prints, given back by the variable that it names; its page in a real browser, if there is one; and the
//! same kernel recorded on the CPU, as on a GPU.

use std::process::{Command, Output, Stdio};
use stm_core::algorithm::{Cgl, Fast, Variant};
use stm_core::internal::observe::Mutant;
use stm_core::prelude::*;
use stm_core::with_algorithm;
use verify::check::FailureKind::{Invariant, Memory, NotOpaque};
use verify::check::{CASES, Check, Checked, FailureKind, Found, PAGE, REPLAY, Run};
use verify::error::Error;
use verify::recording::{Judged, Recording, words_needed};
use verify::sim::Sim;

mod findings;

/// Returns what a check finds, of one of these kinds, which its line alone finds again.
fn found<F>(check: &Check<F>, kinds: &[FailureKind]) -> Box<Found>
where
    F: Fn(&Sim, &mut Run) -> Checked,
{
    let found = check.find().expect_err("nothing was found");
    assert!(kinds.contains(&found.failure.kind), "{found}");
    let line = found.case.to_string();
    let again = check.replay(&line).expect_err("the line finds nothing");
    assert_eq!(again.failure, found.failure, "{line}");
    assert_eq!(again.case, found.case, "{line}");
    // One line of the message has what replays it.
    let message = found.to_string();
    let lines = message.lines().filter(|text| text.contains(&line));
    assert_eq!(lines.count(), 1, "{message}");
    found
}

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

pub(crate) fn pay<A: Algorithm>(sim: &Sim, run: &mut Run) -> Checked {
    let mut accounts = TxArray::from_slice(sim, run.layout(), &[100_u32; 4], "accounts")?;
    run.name(&accounts)?;
    let (mut stm, payments) = (run.stm(sim)?, run.transactions());
    for _ in 0..2 {
        let done = bank::launch_with::<A, _>(&mut stm, run.shape(), &accounts, payments)?;
        run.holds("every payment commits", done.commits == payments)?;
        let total: u32 = accounts.download()?.iter().sum();
        run.holds("the total stays", total == 400)?;
        // What the host writes between two launches is no violation.
        accounts.upload(&[100; 4])?;
    }
    Ok(())
}

fn check() -> Check<impl Fn(&Sim, &mut Run) -> Checked> {
    Check::new(|sim, run| with_algorithm!(run.algorithm(), A => pay::<A>(sim, run)))
}

#[test]
fn several_launches_with_the_host_between_them_are_right_under_any_algorithm() {
    let report = check().algorithms(Variant::ALL).cases(300).run();
    assert_eq!(report.cases, 300);
    assert!(report.launches >= 500, "{report}");
    assert!(report.attempts > report.transactions, "{report}");
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
        let check = check().algorithms(&[algorithm]).cases(400);
        let check = check.defect(defect).seed(2);
        let found = found(&check, &[NotOpaque, Invariant, Memory]);
        assert_eq!(found.case.defect, Some(defect));
        assert!(found.case.transactions <= 12, "{found}");
        if found.failure.kind == NotOpaque {
            let text = &found.failure.text;
            let named = text.contains("accounts[") && !text.contains("word 0x");
            assert!(named && text.starts_with("transaction "), "{text}");
        }
        // Without the defect the same case is right.
        let (line, name) = (found.case.to_string(), format!("!{}", defect.name()));
        check.replay(&line.replace(&name, "")).unwrap();
    }
}

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
    let first = run("fails", &[(PAGE, page.to_str().unwrap())]);
    assert!(!first.status.success());
    let message = text(&first);
    let (_, line) = message.split_once("replay: ").unwrap();
    let line = line.lines().next().unwrap();
    let rest = line.strip_prefix(&format!("{REPLAY}='")).unwrap();
    let (case, command) = rest.split_once('\'').unwrap();
    assert!(case.starts_with("fast!locked-by-store "), "{case}");
    assert_eq!(command, " cargo test fails -- --exact");
    let of_page = format!("page: {}", page.display());
    assert!(message.contains(&of_page), "{message}");
    assert!(std::fs::read_to_string(&page).unwrap().contains(case));

    let again = run("fails", &[(REPLAY, case)]);
    assert!(!again.status.success());
    let again = text(&again);
    assert!(again.contains("found by case 1; replay: "), "{again}");
    let explained = |message: &str| -> Vec<String> {
        let (_, message) = message.split_once("thread 'fails'").unwrap();
        let all = message.lines().skip(1);
        let all = all.take_while(|line| !line.contains("replay: "));
        let all = all.filter(|line| !line.starts_with("page: "));
        all.map(str::to_owned).collect()
    };
    assert_eq!(explained(&again), explained(&message));

    // The right code passes under the same line.
    let right = case.replace("!locked-by-store", "");
    let passed = text(&run("passes", &[(REPLAY, &right)]));
    assert!(passed.contains("1 cases with 2 launches"), "{passed}");
    // And under as many cases as one likes.
    let passed = text(&run("passes", &[(CASES, "3")]));
    assert!(passed.contains("3 cases with 6 launches"), "{passed}");
}

#[test]
fn a_line_that_is_none_is_refused_in_words() {
    for (name, value, part) in [
        (REPLAY, "fast 1x1", "`fast 1x1` in the line of a case"),
        (CASES, "many", "STM_CASES=many"),
    ] {
        let output = run("passes", &[(name, value)]);
        assert!(!output.status.success());
        assert!(text(&output).contains(part), "{}", text(&output));
    }
}

#[test]
fn the_seed_decides_the_cases() {
    let cases = |seed| {
        let check = Check::new(pay::<Fast>).defect(Mutant::NoF1Begin);
        let found = check.seed(seed).find().unwrap_err();
        (found.after, found.case)
    };
    assert_eq!(cases(3), cases(3));
    assert_ne!(cases(3).1.sim.seed, cases(4).1.sim.seed);
}

/// Runs a browser, and returns what it prints, if this machine has it.
fn browsed(name: &str, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new(name);
    let output = command.args(arguments).stdin(Stdio::null()).output().ok()?;
    let printed = String::from_utf8(output.stdout).unwrap();
    output.status.success().then_some(printed)
}

#[test]
fn a_browser_draws_the_arrows() {
    let mut names = ["chromium", "chromium-browser", "google-chrome", "chrome"].into_iter();
    let Some(browser) = names.find(|name| browsed(name, &["--version"]).is_some()) else {
        println!("no browser is installed: not tested");
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let page = dir.path().join("page.html");
    let check = Check::new(pay::<Fast>).defect(Mutant::ExtensionUnchecked);
    let found = check.seed(5).page(&page).find().unwrap_err();
    assert_eq!(found.page, Some(Ok(page.clone())));
    let profile = format!("--user-data-dir={}", dir.path().join("profile").display());
    let address = format!("file://{}", page.display());
    let arguments = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
                     --disable-background-networking --window-size=1280,900 \
                     --virtual-time-budget=2000 --dump-dom";
    let arguments = arguments.split_whitespace();
    let arguments: Vec<&str> = arguments.chain([&profile[..], &address]).collect();
    // The page's elements after its script has run.
    let shown = browsed(browser, &arguments).unwrap();
    let arrows = shown.matches("<path d=\"M").count();
    // Two are the heads of the arrows.
    let (_, drawn) = shown.split_once("data-arrows=\"").unwrap();
    let expected = 2 + drawn.split('"').next().unwrap().split(';').count();
    let heads = shown.matches("<path class=\"").count();
    assert_eq!(arrows + heads, expected, "{shown}");
    assert!(arrows > 0, "{shown}");
}

const N: u64 = 400;

/// What a recorded run has: the verdict, and the first difference in memory.
fn record<A: Algorithm>(words: u64) -> Result<(Judged, Option<String>), Error> {
    let cpu = Cpu::new();
    let layout = <A::Array<u32> as View<u32>>::LAYOUT;
    let accounts = TxArray::from_slice(&cpu, layout, &[500_u32; 7], "accounts")?;
    let mut config = StmConfig::default();
    (config.capacity.reads, config.capacity.writes) = (8, 8);
    let mut stm = Stm::new(&cpu, Launch::new(2, 2), config)?;
    let mut recording = Recording::new(&cpu, &stm.shape(), words)?;
    recording.name(&accounts)?;
    stm.observe(recording.probe());
    for _ in 0..2 {
        bank::launch_with::<A, _>(&mut stm, Launch::new(2, 2), &accounts, N / 2)?;
    }
    let judged = recording.judge(A::NAME, "transfers")?;
    let difference = judged.difference(&accounts)?;
    assert_eq!(accounts.download()?.iter().sum::<u32>(), 3500);
    recording.clear()?;
    assert_eq!(recording.judge(A::NAME, "transfers")?.history.len(), 0);
    Ok((judged, difference))
}

#[test]
fn own_kernels_are_recorded_and_judged_under_every_algorithm() {
    // Thousands of attempts at each transaction, for whoever is preempted.
    let words = words_needed(1 << 14, 8);
    for &variant in Variant::ALL {
        let (judged, difference) = with_algorithm!(variant, A => record::<A>(words)).unwrap();
        assert!(judged.is_opaque(), "{variant}: {judged}");
        assert_eq!(difference, None, "{variant}");
        let counts = judged.verdict.counts;
        assert_eq!((counts.updates, counts.words), (N, 7), "{variant}");
        let unknown = judged.verdict.initial.unknown;
        assert_eq!(unknown, 0, "{variant}: all are named");
        // Each number of the two loops has committed twice.
        let mut committed = vec![0; N as usize / 2];
        for i in 0..judged.history.len() {
            let number = judged.history.transaction(i).unwrap();
            let outcome = judged.history.attempt(i).outcome;
            if matches!(outcome, verify::history::Outcome::Committed { .. }) {
                committed[number as usize] += 1;
            }
        }
        assert!(committed.iter().all(|&times| times == 2), "{variant}");
        assert_eq!(judged.history.header.variant, variant.name());
        assert!(judged.page().html().contains("<h1>Opaque</h1>"));
    }
}

#[test]
fn a_buffer_that_is_too_small_says_how_large_it_should_have_been() {
    let error = record::<Cgl>(16).unwrap_err();
    let Error::BufferFull { needed, .. } = error else {
        panic!("{error}");
    };
    let (judged, _) = record::<Cgl>(2 * needed).unwrap();
    assert!(judged.is_opaque());
}
