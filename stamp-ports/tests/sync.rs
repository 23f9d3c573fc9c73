//! The command `bench sync`: what it measures, how it goes on, and what it refuses.

use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use stm_sync::barrier::Kind as BarrierKind;
use stm_sync::host::Defaults;
use stm_sync::semaphore::Kind as SemaphoreKind;

/// Runs `bench sync` on the CPU with these arguments.
fn sync(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_stamp"))
        .args(["bench", "sync", "--quick", "--out"])
        .arg(folder.join("out"))
        .args(arguments)
        .output()
        .expect("stamp starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("output is UTF-8")
}

fn document(folder: &Path) -> Value {
    let text = fs::read_to_string(folder.join("out/sync.json")).expect("a document");
    serde_json::from_str(&text).expect("JSON")
}

fn points(document: &Value) -> &Vec<Value> {
    document["points"].as_array().expect("points")
}

#[test]
fn the_same_command_goes_on_and_other_parts_are_added() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    // No time for any point.
    let none = sync(here, &["--only", "sections", "--for", "0"]);
    assert!(none.status.success(), "{}", text(&none.stderr));
    assert!(points(&document(here)).is_empty());
    let first = sync(here, &["--only", "sections"]);
    assert!(first.status.success(), "{}", text(&first.stderr));
    assert!(text(&first.stdout).contains("Not all points are in it yet"));
    let before = document(here);
    assert!(!points(&before).is_empty() && before["complete"] == false);
    for point in points(&before) {
        assert_eq!(
            (&point["part"], &point["verified"]),
            (&"sections".into(), &true.into())
        );
    }
    // Nothing is left to do, and nothing changes but the time.
    let again = sync(here, &["--only", "sections"]);
    assert!(again.status.success(), "{}", text(&again.stderr));
    assert_eq!(document(here)["points"], before["points"]);
    let more = sync(here, &["--only", "barrier,sections"]);
    assert!(more.status.success(), "{}", text(&more.stderr));
    let after = document(here);
    let there = points(&before).len();
    assert_eq!(points(&after)[..there], points(&before)[..]);
    assert!(
        points(&after)[there..]
            .iter()
            .all(|p| p["part"] == "barrier")
    );
    // The page is made of what there is.
    let out = here.join("out");
    let report = Command::new(env!("CARGO_BIN_EXE_stamp"))
        .arg("report")
        .arg(&out)
        .output();
    assert!(report.expect("stamp starts").status.success());
    assert!(out.join("report.html").is_file() && out.join("claims-sync.json").is_file());
}

#[test]
fn other_settings_and_unknown_parts_are_refused_and_the_document_stays() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let first = sync(here, &["--only", "sections", "--for", "0"]);
    assert!(first.status.success(), "{}", text(&first.stderr));
    let before = fs::read_to_string(here.join("out/sync.json")).unwrap();
    for (arguments, named) in [
        (
            &["--seed", "7"][..],
            &["--seed", "\"1\"", "\"7\"", "--fresh"][..],
        ),
        (&["--only", "mutx"], &["mutx", "mutex", "barrier"]),
        (&["--device", "cudda"], &["cudda"]),
    ] {
        let refused = sync(here, arguments);
        assert_eq!(refused.status.code(), Some(2), "{arguments:?}");
        let told = text(&refused.stderr);
        assert_eq!(told.trim_end().lines().count(), 1, "{told}");
        for word in named {
            assert!(told.contains(word), "{arguments:?}: {told}");
        }
        let after = fs::read_to_string(here.join("out/sync.json")).unwrap();
        assert_eq!(after, before, "{arguments:?}");
    }
}

/// Returns the rates of these implementations in a part of the recorded run, at each launch and
/// with each parameter.
fn recorded<'n>(
    all: &[Value],
    part: &str,
    names: impl Fn(&str) -> Option<&'n str>,
) -> BTreeMap<(u64, u64, u64), BTreeMap<&'n str, f64>> {
    let mut found = BTreeMap::<_, BTreeMap<_, _>>::new();
    for point in all.iter().filter(|point| point["part"] == part) {
        let Some(name) = names(point["implementation"].as_str().expect("a name")) else {
            continue;
        };
        let number = |value: &Value| value.as_u64().unwrap_or(0);
        let at = (
            number(&point["blocks"]),
            number(&point["threads"]),
            number(&point["parameters"]["count"]),
        );
        let rate = point["per_s"].as_f64().expect("a rate");
        found.entry(at).or_default().insert(name, rate);
    }
    assert!(found.values().all(|rates| rates.len() > 1), "{part}");
    found
}

/// The table of `Defaults` has these figures.
#[test]
fn the_defaults_of_a_gpu_are_the_fastest_of_the_recorded_run() {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../docs/results/h200/sync.json"
    );
    let document: Value =
        serde_json::from_str(&fs::read_to_string(file).expect("the document")).expect("JSON");
    let all = points(&document);
    let gpu = Defaults::CUDA;

    let barriers = recorded(all, "barrier", |n| {
        BarrierKind::from_name(n).map(BarrierKind::name)
    });
    assert!(barriers.contains_key(&(1056, 128, 0)));
    for ((blocks, threads, _), rates) in barriers {
        let chosen = rates[gpu.barrier_of(blocks as u32).name()];
        let best = rates.values().copied().fold(0.0, f64::max);
        assert!(
            chosen >= best,
            "{blocks} x {threads}: {chosen} of {rates:?}"
        );
    }

    // As types, the ticket lock and MCS have another name than as kinds that are chosen at launch.
    // One block asks for no order. Anderson's takes memory for each user.
    let first_come = ["ticket", "fetch-add", "mcs", "anderson"];
    let mutexes = recorded(all, "mutex", |n| {
        first_come.into_iter().find(|name| *name == n)
    });
    assert_eq!(gpu.mutex().name(), "ticket-handoff");
    for ((blocks, ..), rates) in mutexes.range((2, 0, 0)..) {
        let best = rates.values().copied().fold(0.0, f64::max);
        assert!(rates["ticket"] > 0.95 * best, "{blocks}: {rates:?}");
    }

    // With room for nearly all, the sleeping semaphore is faster at some launches.
    let semaphores = recorded(all, "semaphore", |n| {
        SemaphoreKind::from_name(n).map(SemaphoreKind::name)
    });
    for ((blocks, _, count), rates) in semaphores {
        let best = rates.values().copied().fold(0.0, f64::max);
        let least = if count < 120 { best } else { 0.85 * best };
        let chosen = rates[gpu.semaphore().name()];
        assert!(chosen >= least, "{blocks}, {count}: {rates:?}");
    }
}
