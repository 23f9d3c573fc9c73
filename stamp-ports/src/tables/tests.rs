//! Tests of the tables, on small data and on the documents of this repository.

use super::data::{self, File};
use super::{FILES, TABLES, made, tables};
use crate::report::jq::Sets;
use crate::report::stated;
use crate::testing::has;
use serde_json::Value;
use std::path::{Path, PathBuf};

const RUNS: &str = r#"{"device": {"name": "H200"}, "started": "2026-11-21T09:42:20Z", "commit": "abc1234", "ptx": "aa",
    "runs": [{"w": "ra", "n": 8, "p": {"k": 7}}, {"w": "ht", "n": 2}, {"w": "b c", "m": 5}],
    "one": "fig 1", "note": "3 of 12 saw it", "big": 28080000, "rate": 674738489}"#;

const LOG: &str = "\
verify 0.1.0 fuzz --seed 1, of the source at commit 8db504d
variant         launch transactions  violations  kernel s  check s
cgl               1x32         1000           0     0.688     0.03
verify: cgl: 1 launches were made again
fast           132x256          500           2     0.003     0.04
$ verify record --workload bank --transactions 200 --check --zipf 3
defect                      launch  transactions   kernel s  found
no-e1                       132x64           300     0.0169  wrong state: word 12
2 violations
";

const SOURCES: &str = r#"[{"file": "h200/a.json"},
    {"file": "simulator/log.txt", "machine": "Simulator", "date": "2026-11-22"}]"#;

fn data() -> Sets {
    let texts = [("h200/a.json", RUNS), ("simulator/log.txt", LOG)];
    let texts = texts.map(|(name, text)| (name.to_owned(), text.to_owned()));
    data::of(texts.into()).unwrap()
}

#[test]
fn a_program_finds_what_files_and_logs_say() {
    let program = r#"def log: file("simulator/log.txt"); def rows(of): log.rows | where(of);
        [file("h200/a.json").runs | where({w: "b c"}).m],
        [sum(log.rows[].transactions), (rows({variant: "fast"}) | .violations, .launch), rows({defect: "no-e1"}).found],
        (log | [.command, .commit, .violations])"#;
    let mut found = Vec::new();
    let done = data().each(&[program], |value| {
        found.push(Value::from(&value).to_string());
        Ok(())
    });
    assert_eq!(done, Ok(()));
    assert_eq!(
        found,
        [
            "[5]",
            r#"[1800,2,"132x256","wrong state: word 12"]"#,
            r#"["verify 0.1.0 fuzz --seed 1","8db504d",2]"#,
        ]
    );
}

/// A table that a program makes from small data.
fn table(program: &str) -> Result<String, String> {
    let made = made(&stated::<Vec<File>>(SOURCES), program, &data())?;
    Ok(made[0].1.clone())
}

#[test]
fn a_table_has_a_caption_and_a_cell_for_each_row_and_column() {
    let made = table(
        r#"table("t"; 0; ["ra", "W"], ["lb", "L"]; . as [$w, $what] | one(file("h200/a.json").runs | where({$w}).n) as $n
            | column(""; $what), column("n"; $n | show("n")), ((8, 2) as $by | column("/ \($by)"; $n / $by | show("x1"))))
            + {missing: "none"}"#,
    );
    let expected = "*H200, 2026-11-21, commit abc1234: `h200/a.json`.*\n\n\
        |  | n | / 8 | / 2 |\n| --- | --- | --- | --- |\n\
        | W | 8 | 1.0x | 4.0x |\n| L | none | none | none |\n";
    assert_eq!(made.as_deref(), Ok(expected));
    let made = table(
        r#"table("t"; 0; file("simulator/log.txt").rows[]; column("n"; .transactions | show("n")))"#,
    );
    let expected = "*Simulator, 2026-11-22, commit 8db504d: `simulator/log.txt`.*\n\n\
        | n |\n| --- |\n| 1,000 |\n| 500 |\n| 300 |\n";
    assert_eq!(made.as_deref(), Ok(expected));
}

#[test]
fn a_table_that_cannot_be_made_is_an_error_that_says_why() {
    for (program, why) in [
        (
            r#"table("t"; 0; 1; column("n"; file("h200/a.json").none))"#,
            "table `t` | nothing for `n`",
        ),
        (
            r#"table("t"; 0; 1; column("n"; file("h200/b.json").n))"#,
            "there is no result file h200/b.json",
        ),
        (r#"tabel("t"; 0; 1; 2)"#, "there is no filter `tabel`"),
    ] {
        has(&table(program).unwrap_err(), why);
    }
}

/// The error of a table of a file with this JSON text, of which the definitions say this.
fn refused(file: &str, json: &str, source: &str) -> String {
    let sources: Vec<File> =
        serde_json::from_str(&format!(r#"[{{"file": "{file}"{source}}}]"#)).unwrap();
    let data = data::of([(file.to_owned(), json.to_owned())].into()).unwrap();
    let program = format!(r#"table("t"; 0; 1; column(""; file("{file}").n))"#);
    made(&sources, &program, &data).err().unwrap_or_default()
}

#[test]
fn a_figure_without_machine_date_or_commit_is_refused_and_so_is_one_of_unknown_device_code() {
    let whole =
        r#"{"n": 1, "device": "H200", "date": "2026-11-21", "commit": "abc1234", "ptx": "a"}"#;
    assert_eq!(refused("h200/a.json", whole, ""), "");
    for (field, why) in [
        ("device", "no machine"),
        ("date", "no date"),
        ("commit", "no commit"),
    ] {
        let without = whole.replace(field, "other");
        has(&refused("h200/a.json", &without, ""), why);
    }
    let old = whole.replace("ptx", "other");
    has(
        &refused("h200/a.json", &old, ""),
        "names no checksum of the PTX",
    );
    assert_eq!(refused("simulator/a.json", &old, ""), "");
    let error = refused("h200/a.json", whole, r#", "commit": "c0ffee0""#);
    has(&error, "names its commit: take it off");
}

#[test]
fn the_documents_of_this_repository_show_every_table_as_the_data_say() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let results = root.join("docs/results");
    let folders = ["", "docs", "docs/book/src"].iter();
    let documents = folders.flat_map(|folder| std::fs::read_dir(root.join(folder)).unwrap());
    let mut documents: Vec<PathBuf> = documents.map(|entry| entry.unwrap().path()).collect();
    documents.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    assert!(tables(&results, &documents, true).unwrap());
    let read = |path| std::fs::read_to_string(path).unwrap();
    let texts: String = documents.iter().map(read).collect();
    let files: Vec<File> = stated(FILES);
    let data = data::load(&results, &files).unwrap();
    for (name, _) in made(&files, TABLES, &data).unwrap() {
        let marker = super::open(&name);
        assert!(texts.contains(&marker), "no document has {marker}");
    }
}
