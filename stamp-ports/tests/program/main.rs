//! The program `stamp`, driven from outside: what it prints, writes and refuses, and its exit status.
//! Only the CPU is used, so that the result does not depend on the machine. `paper.rs` and `against.rs`,
//! in which time matters, are programs of their own.

#[path = "../prelude/mod.rs"]
mod prelude;

#[cfg(target_os = "linux")]
mod streams;

use prelude::*;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::{fs, time};
use stm_align::align::score;
use stm_align::divide::align;
use stm_align::matrix::{Gap, Matrix, Scoring};
use stm_kernels::draw::{below, draw};
use stm_sync::barrier::Kind as BarrierKind;
use stm_sync::host::Defaults;
use stm_sync::semaphore::Kind as SemaphoreKind;

/// Tests whose cases are text: the name of each, and its file.
macro_rules! texts {
    ($($name:ident: $file:literal;)*) => {$(
        #[test]
        fn $name() {
            cases(include_str!($file));
        }
    )*};
}

texts! {
    runs_print_what_they_find_and_its_status: "runs.txt";
    inputs_are_generated_and_read: "inputs.txt";
    histories_are_recorded_and_soaks_go_on: "record.txt";
    floors_locks_and_devices_are_measured: "floor.txt";
    files_are_aligned: "nw.txt";
    reports_are_written: "report.txt";
}

#[test]
fn what_cannot_be_carried_out_is_refused_before_anything_runs() {
    let start = time::Instant::now();
    cases(include_str!("refused.txt"));
    assert!(start.elapsed().as_secs() < 120, "{:?}", start.elapsed());
}

#[test]
fn a_gpu_that_is_not_there_is_refused_and_auto_falls_back_with_the_reason() {
    // Number 999 is there on no machine, with a driver or without.
    let gpu = "run ra --device cuda:999";
    let has_driver = text(&stamp(gpu).stderr).contains("GPU 999");
    let expected = ["NVIDIA driver", "GPU 999"][usize::from(has_driver)];
    cases(&format!("= a GPU that is not there\n{gpu} => {expected}"));
    let (out, errors) = ended(0, "run ra --words 1K --transactions 500");
    if out.starts_with("cpu:") {
        assert!(errors.starts_with("note: no GPU can be used"), "{errors}");
        assert_eq!(errors.lines().count(), 1, "{errors}");
    } else {
        assert!(out.starts_with("cuda:"), "{out}");
    }
}

/// A new measurement or another rule changes these files; then the prose around the table of
/// `docs/evaluation.md` has to be read again. Of the figures, all of which the page has, only the README's
/// is committed by itself.
#[test]
fn the_committed_page_is_what_the_program_makes_of_the_committed_documents() {
    let (folder, report) = (tempfile::tempdir().unwrap(), Path::new("../docs/report"));
    let made = folder.path();
    let out = made.display();
    right(&format!("report ../docs/results/h100 --out {out}"));
    let entries = fs::read_dir(report).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let names: BTreeSet<String> = names.collect();
    let all = ["claims.json", "contention.svg", "report.html"];
    assert!(names.iter().eq(all));
    for name in names {
        let read = |of: &Path| fs::read_to_string(of.join(&name)).unwrap();
        let what = format!("docs/report/{name} is not what `stamp report` writes of docs/results");
        assert!(read(made) == read(report), "{what}/h100");
    }
}

/// Returns the rates of these implementations in a part of the recorded run, at each launch and
/// with each parameter.
fn recorded<'n>(
    all: &Value,
    part: &str,
    names: impl Fn(&str) -> Option<&'n str>,
) -> BTreeMap<(u64, u64, u64), BTreeMap<&'n str, f64>> {
    let mut found = BTreeMap::<_, BTreeMap<_, _>>::new();
    for point in list(all).iter().filter(|point| point["part"] == part) {
        if let Some(name) = names(point["implementation"].as_str().expect("a name")) {
            let count = point["parameters"]["count"].as_u64().unwrap_or(0);
            let at = (number(&point["blocks"]), number(&point["threads"]), count);
            let rate = point["per_s"].as_f64().expect("a rate");
            found.entry(at).or_default().insert(name, rate);
        }
    }
    assert!(found.values().all(|rates| rates.len() > 1), "{part}");
    found
}

/// The table of `Defaults` has these figures.
#[test]
fn the_defaults_of_a_gpu_are_the_fastest_of_the_recorded_run() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/results/h200/");
    let text = fs::read_to_string(format!("{folder}sync.json")).expect("the document");
    let all: Value = serde_json::from_str(&text).expect("a document");
    let all = &all["points"];
    let gpu = Defaults::CUDA;

    let best = |rates: &BTreeMap<_, f64>| rates.values().copied().fold(0.0, f64::max);
    let barriers = recorded(all, "barrier", |n| Some(BarrierKind::from_name(n)?.name()));
    assert!(barriers.contains_key(&(1056, 128, 0)));
    for ((blocks, threads, _), rates) in barriers {
        let chosen = rates[gpu.barrier_of(blocks as u32).name()];
        let what = format!("{blocks} x {threads}: {chosen}");
        assert!(chosen >= best(&rates), "{what} of {rates:?}");
    }

    // As types, the ticket lock and MCS have another name than as kinds that are chosen at launch.
    // One block asks for no order. Anderson's takes memory for each user.
    let first_come = ["ticket", "fetch-add", "mcs", "anderson"];
    let mutexes = recorded(all, "mutex", |n| {
        first_come.into_iter().find(|name| *name == n)
    });
    assert_eq!(gpu.mutex().name(), "ticket-handoff");
    for ((blocks, ..), rates) in mutexes.range((2, 0, 0)..) {
        assert!(rates["ticket"] > 0.9 * best(rates), "{blocks}: {rates:?}");
    }

    // With room for nearly all, the sleeping semaphore is faster at some launches.
    let semaphores = recorded(all, "semaphore", |n| {
        Some(SemaphoreKind::from_name(n)?.name())
    });
    for ((blocks, _, count), rates) in semaphores {
        let least = if count < 120 { 1.0 } else { 0.85 } * best(&rates);
        let chosen = rates[gpu.semaphore().name()];
        assert!(chosen >= least, "{blocks}, {count}: {rates:?}");
    }
}

/// Made by parasail (Daily 2016): matrices, costs, sequences, and the score of each.
const CASES: &str = include_str!("../data/nw-parasail.json");

#[test]
fn scores_are_those_of_parasail() {
    let document: Value = serde_json::from_str(CASES).expect("JSON");
    let cases = document["cases"].as_array().expect("cases");
    assert_eq!(cases.len(), 192);
    for case in cases {
        let text = |field: &str| case[field].as_str().expect("a string");
        let number = |field: &str| case[field].as_i64().expect("a number");
        let matrix = match Matrix::named(text("matrix")) {
            Some(matrix) => matrix.expect("a matrix"),
            None => Matrix::of_match(b"ACGT", 5, -4).expect("a matrix"),
        };
        let codes = |field: &str| matrix.alphabet.codes(field, text(field).as_bytes());
        let (a, b) = (codes("a").expect("letters"), codes("b").expect("letters"));
        let gap = Gap {
            open: number("open") as i32,
            extend: number("extend") as i32,
        };
        let scoring = Scoring { matrix, gap };
        scoring.check(a.len(), b.len()).expect("it fits");
        assert_eq!(score(&a, &b, &scoring), number("score"), "{case}");
        assert_eq!(align(&a, &b, &scoring).score, number("score"), "{case}");
    }
}

#[test]
fn the_kernels_on_the_cpu_find_the_same_scores_and_alignments_as_the_host() {
    // More than 4 M cells, of which the device fills the tables.
    let letters = |seed: u64, len: u64| -> String {
        let letter = |i| [b'A', b'C', b'G', b'T'][below(draw(seed, i, 0), 4) as usize];
        (0..len).map(|i| char::from(letter(i))).collect()
    };
    let long = letters(1, 2100);
    let other = format!("{}{}{}", &long[..900], letters(2, 70), &long[1000..]);
    let folder = tempfile::tempdir().expect("a folder");
    let [a, b] = ["a.fa", "b.fa"].map(|name| folder.path().join(name));
    fs::write(&a, format!(">long\n{long}\n>short\nACGTA\n")).expect("a file");
    fs::write(&b, format!(">other\n{other}\n>other-short\nACTA\n")).expect("a file");
    let nw = format!("nw {} {}", a.display(), b.display());
    for options in ["--gap 6", "--score-only"] {
        let on = |device| objects(&format!("{nw} --json --device {device} {options}"));
        let (host, mut cpu) = (on("host"), on("cpu"));
        for (host, cpu) in host.iter().zip(&mut cpu) {
            // The host aligns what is short, whatever fills the tables of others.
            let is_long = options == "--score-only" || host["a"] == "long";
            let on = if is_long { "cpu" } else { "host" };
            let devices = |of: &Value| [of["device_asked"].clone(), of["device"].clone()];
            assert_eq!(devices(host), ["host", "host"]);
            assert_eq!(devices(cpu), ["cpu", on]);
            (cpu["device"], cpu["device_asked"]) = ("host".into(), "host".into());
            assert_eq!(host, cpu);
        }
    }
    // What is traced says where how much was filled.
    let parts = "fill tables | on=\"cpu\" | tables=2 | cells=4 | align small parts | busy";
    has(&ended(0, &format!("{nw} -v --device cpu")).1, parts);
}
