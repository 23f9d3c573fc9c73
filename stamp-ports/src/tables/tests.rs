//! Tests of the tables, on small data and on the documents of this repository.

use super::*;

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

/// A table that a program makes of these files, which definitions list.
fn table_of(sources: &str, files: &[(&str, &str)], program: &str) -> Result<String, String> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let sources: Vec<File> = serde_json::from_str(sources).unwrap();
    let data = load(folder.path(), &sources)?;
    Ok(made(&sources, program, &data)?.remove(0).1)
}

fn table(program: &str) -> Result<String, String> {
    let calls = r#"def a: file("h200/a.json"); def log: file("simulator/log.txt"); def rows(of): log.rows | where(of);"#;
    let files = [("h200/a.json", RUNS), ("simulator/log.txt", LOG)];
    table_of(SOURCES, &files, &format!("{calls} {program}"))
}

#[test]
fn a_table_has_a_caption_and_a_cell_for_each_row_and_column_or_an_error_says_why() {
    let of_both = "*H200, 2026-11-21, commit abc1234: `h200/a.json`; Simulator, 2026-11-22, commit 8db504d: `simulator/log.txt`.*\n\n";
    let of_a = "*H200, 2026-11-21, commit abc1234: `h200/a.json`.*\n\n";
    let of_log = "*Simulator, 2026-11-22, commit 8db504d: `simulator/log.txt`.*\n\n";
    for (program, caption, lines) in [
        (
            r#"table("t"; 0; ["ra", "W"], ["lb", "L"]; . as [$w, $what] | one(a.runs | where({$w}).n) as $n
                | column(""; $what), column("n"; $n | show("n")), ((8, 2) as $by | column("/ \($by)"; $n / $by | show("x1"))))
                + {missing: "none"}"#,
            of_a,
            "|  | n | / 8 | / 2 |\n| --- | --- | --- | --- |\n| W | 8 | 1.0x | 4.0x |\n| L | none | none | none |\n",
        ),
        (
            r#"table("t"; 0; log.rows[]; column("n"; .transactions | show("n")))"#,
            of_log,
            "| n |\n| --- |\n| 1,000 |\n| 500 |\n| 300 |\n",
        ),
        (
            r#"table("t"; 0; [a.runs | where({w: "b c"}).m], [sum(log.rows[].transactions)],
                [rows({variant: "fast"}) | .violations, .launch], [rows({defect: "no-e1"}).found], [log | .command, .commit, .violations];
                column("found"; .))"#,
            of_both,
            "| found |\n| --- |\n| [5] |\n| [1800] |\n| [2,\"132x256\"] |\n| [\"wrong state: word 12\"] |\n\
             | [\"verify 0.1.0 fuzz --seed 1\",\"8db504d\",2] |\n",
        ),
    ] {
        assert_eq!(table(program), Ok(format!("{caption}{lines}")));
    }
    let wrong = |program: &str, why: &str| has(&table(program).unwrap_err(), why);
    let of = |cell: &str| format!(r#"table("t"; 0; 1; column("n"; {cell}))"#);
    wrong(&of("a.none"), "table `t` | nothing for `n`");
    let missing = "there is no result file h200/b.json";
    wrong(&of(r#"file("h200/b.json").n"#), missing);
    wrong(r#"tabel("t"; 0; 1; 2)"#, "there is no filter `tabel`");
}

#[test]
fn a_figure_without_machine_date_or_commit_is_refused_and_so_is_one_of_unknown_device_code() {
    let whole =
        r#"{"n": 1, "device": "H200", "date": "2026-11-21", "commit": "abc1234", "ptx": "a"}"#;
    let twice = "names its commit: take it off";
    for (file, changed, more, why) in [
        ("h200/a.json", "", "", ""),
        ("h200/a.json", "device", "", "no machine"),
        ("h200/a.json", "date", "", "no date"),
        ("h200/a.json", "commit", "", "no commit"),
        ("h200/a.json", "ptx", "", "names no checksum of the PTX"),
        ("simulator/a.json", "ptx", "", ""),
        ("h200/a.json", "", r#", "commit": "c0ffee0""#, twice),
    ] {
        let text = whole.replace(&format!("\"{changed}\":"), "\"other\":");
        let program = format!(r#"table("t"; 0; 1; column(""; file("{file}").n))"#);
        let sources = format!(r#"[{{"file": "{file}"{more}}}]"#);
        let refused = table_of(&sources, &[(file, &text)], &program).err();
        assert_eq!(refused.is_none(), why.is_empty(), "{changed}: {refused:?}");
        has(&refused.unwrap_or_default(), why);
    }
}

#[test]
fn the_documents_of_this_repository_show_every_table_as_the_data_say() {
    let mut folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let root = folders
        .find(|folder| folder.join("docs/results").is_dir())
        .unwrap();
    let results = root.join("docs/results");
    let folders = ["", "docs", "docs/book/src"].iter();
    let documents = folders.flat_map(|folder| fs::read_dir(root.join(folder)).unwrap());
    let mut documents: Vec<PathBuf> = documents.map(|entry| entry.unwrap().path()).collect();
    documents.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    assert!(tables(&results, &documents, true).unwrap());
    let read = |path| fs::read_to_string(path).unwrap();
    let texts: String = documents.iter().map(read).collect();
    let files: Vec<File> = stated(FILES);
    let data = load(&results, &files).unwrap();
    for (name, _) in made(&files, TABLES, &data).unwrap() {
        let marker = open(&name);
        assert!(texts.contains(&marker), "no document has {marker}");
    }
}
