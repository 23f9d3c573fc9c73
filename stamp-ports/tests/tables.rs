//! The command `stamp report DIR --tables`: what it prints, writes and compares.

mod common;

use common::{ended, has, refused_rows, right};
use std::fs;
use std::path::Path;

/// The results of this repository.
fn results() -> String {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    let results = manifest.parent().unwrap().join("docs/results");
    results.to_str().unwrap().to_owned()
}

#[test]
fn the_tables_are_printed_each_between_its_markers() {
    let printed = right(&format!("report {} --tables", results()));
    let opened = printed.matches("<!-- table: ").count();
    assert!(opened > 10, "{printed}");
    assert_eq!(printed.matches("<!-- end -->").count(), opened);
    assert!(printed.contains("<!-- table: speedups -->\n*NVIDIA H200, 2026-11-21, commit "));
}

#[test]
fn a_document_is_compared_and_put_right() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("page.md");
    let write = format!("report {} --tables {}", results(), path.display());
    let check = format!("{write} --check");
    let empty = "# Page\n\n<!-- table: jit -->\n<!-- end -->\n\nMore.\n";
    fs::write(&path, empty).unwrap();
    has(&ended(1, &check).0, "page.md:4: table `jit`");
    assert_eq!(fs::read_to_string(&path).unwrap(), empty);

    right(&write);
    let made = fs::read_to_string(&path).unwrap();
    assert!(made.contains("| RA | 199 | 876 | 843 |"), "{made}");
    assert!(made.starts_with("# Page\n") && made.ends_with("<!-- end -->\n\nMore.\n"));
    assert_eq!(right(&check), "");

    let changed = |from: &str, to: &str| fs::write(&path, made.replace(from, to)).unwrap();
    changed("| 199 |", "| 198 |");
    ended(1, &check);
    changed("commit 498c9f0", "commit 498c9f1");
    ended(1, &check);
    changed("<!-- end -->", "");
    let (_, errors) = ended(2, &check);
    has(&errors, "page.md:3: table `jit` has no `<!-- end -->`");
}

#[test]
fn what_cannot_be_done_is_refused_on_one_line() {
    refused_rows(
        "report nowhere --tables => cannot read nowhere/h200/paper.json
         report nowhere README.md => --tables
         report nowhere --tables --check => FILE
         report nowhere --tables --title T => --title",
    );
}
