//! `stamp isolation`: verdicts in a document of `stamp bench paper`, and what is refused.

use stamp_ports::devices::AnyDevice;
use stamp_ports::paper::document::Paper;
use stamp_ports::paper::plan::Section;
use stamp_ports::paper::run::{PaperSpec, paper};
use stamp_ports::store::{BenchSpec, Document};
use std::fs;
use std::path::Path;
use std::process::Command;

fn isolation(folder: &Path, more: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_stamp"))
        .arg("isolation")
        .arg(folder)
        .args(more)
        .output()
        .expect("stamp starts");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

fn read(folder: &Path) -> Paper {
    let text = fs::read_to_string(folder.join(Paper::FILE_NAME)).expect("the document");
    Paper::parse(&text).expect("a document")
}

/// Figure 2 of two workloads, small.
fn spec(folder: &Path) -> PaperSpec {
    PaperSpec {
        bench: BenchSpec {
            device: None,
            quick: true,
            seconds: None,
            seed: 1,
            out: folder.into(),
            fresh: false,
        },
        only: vec![Section::Fig2],
        workload: vec!["ra", "kmeans"],
        retry: false,
    }
}

#[test]
fn each_result_gets_the_verdict_on_a_recorded_run_and_other_builds_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let spec = spec(folder.path());
    paper(&AnyDevice::cpu(), &spec, "stamp bench paper").expect("it is measured");
    let before = fs::read_to_string(folder.path().join(Paper::FILE_NAME)).expect("the document");
    let (status, said, _) = isolation(folder.path(), &["--for", "0.000000001"]);
    assert_eq!(status, Some(0), "{said}");
    let after = fs::read_to_string(folder.path().join(Paper::FILE_NAME)).expect("the document");
    assert_eq!(before, after);

    // One workload, and then the rest.
    let (status, said, errors) = isolation(folder.path(), &["--workload", "ra"]);
    assert_eq!(status, Some(0), "{said}{errors}");
    let half = read(folder.path());
    for result in &half.speedups {
        assert_eq!(
            result.isolation.is_some(),
            result.workload == "ra",
            "{result:?}"
        );
    }
    let (status, said, errors) = isolation(folder.path(), &[]);
    assert_eq!(status, Some(0), "{said}{errors}");
    let whole = read(folder.path());
    for result in &whole.speedups {
        let verdict = result.isolation.as_ref().expect("a verdict");
        assert_eq!(verdict.opaque, Some(true), "{result:?}");
        assert!(verdict.transactions > 0 && verdict.attempts >= verdict.transactions);
    }
    let units: Vec<&String> = whole.pieces.iter().flat_map(|piece| &piece.units).collect();
    let expected = ["fig2 ra", "fig2 kmeans", "isolation ra", "isolation kmeans"];
    assert_eq!(units, expected);

    // A buffer for less than all.
    let mut less = whole.clone();
    less.speedups
        .retain(|s| s.workload == "ra" && s.variant == "fast");
    less.speedups[0].isolation = None;
    let write = |paper: &Paper| {
        let text = paper.to_text().expect("text");
        fs::write(folder.path().join(Paper::FILE_NAME), text).expect("the document");
    };
    write(&less);
    let (status, said, _) = isolation(folder.path(), &["--buffer-bytes", "1M"]);
    assert_eq!(status, Some(0), "{said}");
    let fewer = read(folder.path()).speedups[0]
        .isolation
        .clone()
        .expect("a verdict");
    assert!(
        0 < fewer.transactions && fewer.transactions < 16 << 10,
        "{fewer:?}"
    );

    let mut other = less.clone();
    other.head.ptx = Some("77".into());
    write(&other);
    let (status, _, errors) = isolation(folder.path(), &[]);
    assert_eq!(status, Some(2), "{errors}");
    assert!(
        errors.contains("other kernels") && errors.contains("77"),
        "{errors}"
    );
    fs::write(folder.path().join(Paper::FILE_NAME), "{").expect("a file");
    let (status, _, errors) = isolation(folder.path(), &[]);
    assert_eq!((status, errors.lines().count()), (Some(2), 1), "{errors}");
    assert!(errors.contains("not JSON"), "{errors}");
}
