//! Tests of the tables, on small data and on the documents of this repository.

use super::data::{self, Definitions};
use super::{DEFINITIONS, made, render, tables};
use crate::report::formula::{Failure, Scope, Sets};
use crate::testing::has;
use std::collections::BTreeMap;
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

/// Definitions with these tables, of which `alias` stands for the runs.
fn definitions(tables: &str) -> Definitions {
    let files = r#"[{"file": "h200/a.json"},
        {"file": "simulator/log.txt", "machine": "Simulator", "date": "2026-11-22"}]"#;
    let aliases = r#"{"alias": "h200/a.json:runs"}"#;
    let text = format!(r#"{{"files": {files}, "aliases": {aliases}, "tables": [{tables}]}}"#);
    Definitions::parse(text.leak()).unwrap()
}

fn data(definitions: &Definitions) -> Sets {
    let texts = [("h200/a.json", RUNS), ("simulator/log.txt", LOG)];
    let texts = texts.map(|(name, text)| (name.to_owned(), text.to_owned()));
    data::of(definitions, texts.into()).unwrap()
}

fn text(template: &str) -> Result<String, Failure> {
    Scope::new(&data(&definitions("")), &[]).text(template)
}

#[test]
fn templates_show_what_the_data_say_and_tell_what_is_not_measured_from_what_is_wrong() {
    let rows = "
        no figure => no figure
        {alias:[w=ra].n / alias:[w=ht].n | x1} of {h200/a.json:device.name | text} => 4.0x of H200
        {1 + 2 * 3 - 4 / 2 | n} => 5
        {12 / (2 * 3) | n} => 2
        {sum(h200/a.json:runs.n) | n} => 10
        {median(h200/a.json:runs.n, 4) | d1} => 4.0
        {max(h200/a.json:runs.n) - min(alias:n, 1) | n} => 7
        {min(alias:[w=ra].n * 2, alias:[w=ht].n * 2) | n} => 4
        {same(alias:[w=ra].n, 8) | n} => 8
        {count(alias:[w=lb]) | n}, {count(alias:[w=ra]) | n} => 0, 1
        {alias:[w=b_c].m | n} {alias:[w!=ra w^=h].n | n} => 5 2
        {alias:[p/k=7].p.* | n} => 7
        {number(h200/a.json:note, 1) / number(h200/a.json:note, 2) | %0} => 25 %
        {0.354 | %1} => 35.4 %
        {4830.07 | x0} {4830.07 | r} {0.066 | r} {0.001 | r} => 4,830x 4,830x 0.066x 0.0010x
        {h200/a.json:rate | si} {5471364167 | si} {31036 | si} {999700 | si} {5 | si} => 675 M 5.47 G 31.0 K 1.00 M 5
        {1364.9 | 3} {h200/a.json:big | n} => 1,365 28,080,000
        {2 - 3 | more} {2 - 3 | less} {3 - 3 | more} => missed reached reached
        {sum(simulator/log.txt:rows.transactions) | n} => 1,800
        {simulator/log.txt:rows[variant=fast].violations | n} => 2
        {simulator/log.txt:rows[defect=no-e1].found | text} => wrong state: word 12
        {simulator/log.txt:command | text} => verify 0.1.0 fuzz --seed 1
        {simulator/log.txt:commit | text} {simulator/log.txt:violations | n} => 8db504d 2
        {alias:[w=lb].n | n} => MISSING
        {alias:z | n} => MISSING
        {1 | n => WRONG
        {1 + | n} => WRONG
        {1 ? 2 | n} => WRONG
        {1 | furlongs} => WRONG
        {1 / 0 | n} => WRONG
        {alias:n | n} => WRONG
        {alias:n / 2 | n} => WRONG
        {meen(alias:n) | n} => WRONG
        {same(alias:n) | n} => WRONG
        {number(h200/a.json:note, 3) | n} => WRONG
        {h200/a.json:one | n} => WRONG
        {h200/b.json:n | n} => WRONG
        {h200/a.json | text} => WRONG
        {alias:[w] | n} => WRONG
    ";
    for row in rows.trim().lines().map(str::trim) {
        let (template, expected) = row.split_once(" => ").expect("a template and its text");
        let shown = match text(template) {
            Ok(text) => text,
            Err(Failure::Missing(_)) => "MISSING".into(),
            Err(Failure::Wrong(_)) => "WRONG".into(),
        };
        assert_eq!(shown, expected, "{template}");
    }
}

/// A table with a row for each word of `rows`, made from small data.
fn table(fields: &str) -> Result<String, String> {
    let definitions = definitions(&format!(r#"{{"name": "t", {fields}}}"#));
    let made = made(&definitions, &data(&definitions))?;
    Ok(made["t"].clone())
}

#[test]
fn a_table_has_a_caption_and_a_cell_for_each_row_and_column() {
    let made = table(
        r#""words": ["w", "what"], "let": {"n": "alias:[w=$w].n", "what": "W"},
           "across": "8 2", "missing": "none", "rows": [["ra"], ["lb", "L"]],
           "columns": [["", "$what"], ["n", "{$n | n}"], ["/ $across", "{$n / $across | x1}"]]"#,
    );
    let expected = "*H200, 2026-11-21, commit abc1234: `h200/a.json`.*\n\n\
        |  | n | / 8 | / 2 |\n| --- | --- | --- | --- |\n\
        | W | 8 | 1.0x | 4.0x |\n| L | none | none | none |\n";
    assert_eq!(made.as_deref(), Ok(expected));
    let made =
        table(r#""of": "simulator/log.txt:rows", "columns": [["n", "{.transactions | n}"]]"#);
    let expected = "*Simulator, 2026-11-22, commit 8db504d: `simulator/log.txt`.*\n\n\
        | n |\n| --- |\n| 1,000 |\n| 500 |\n| 300 |\n";
    assert_eq!(made.as_deref(), Ok(expected));
}

#[test]
fn a_table_that_cannot_be_made_is_an_error_that_names_it() {
    for (fields, why) in [
        (
            r#""rows": [[]], "columns": [["", "$what"]]"#,
            "`$what` is no word",
        ),
        (
            r#""rows": [[]], "columns": [["", "{alias:[w=lb].n | n}"]]"#,
            "nothing in the data",
        ),
        (r#""of": "alias:[w=lb]""#, "nothing in the data"),
    ] {
        let error = table(fields).unwrap_err();
        has(&error, &format!("table `t` | {why}"));
    }
}

/// The error of a table of a file with this JSON text, of which the definitions say this.
fn refused(file: &str, json: &str, source: &str) -> String {
    let text = format!(
        r#"{{"files": [{{"file": "{file}"{source}}}], "aliases": {{}}, "tables":
           [{{"name": "t", "rows": [[]], "columns": [["", "{{{file}:n | n}}"]]}}]}}"#
    );
    let definitions = Definitions::parse(text.leak()).unwrap();
    let texts = BTreeMap::from([(file.to_owned(), json.to_owned())]);
    let data = data::of(&definitions, texts).unwrap();
    made(&definitions, &data).err().unwrap_or_default()
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

const PAGE: &str = "# Page\n```\n<!-- table: unknown -->\n```\n<!-- table: t -->\n| 1 |\n| 2 |\n<!-- end -->\nmore\n";

#[test]
fn what_stands_between_the_markers_is_compared_and_put_right() {
    let tables = BTreeMap::from([("t", "| 1 |\n| 2 |\n".to_owned())]);
    let page = render(PAGE, &tables).unwrap();
    assert_eq!((page.text.as_str(), page.differences.len()), (PAGE, 0));
    for (lines, line, says, data) in [
        ("| 3 |\n", 7, "| 3 |", "| 2 |"),
        ("", 7, "(no line)", "| 2 |"),
        ("| 2 |\n| 3 |\n", 8, "| 3 |", "(no line)"),
    ] {
        let page = render(&PAGE.replace("| 2 |\n", lines), &tables).unwrap();
        assert_eq!(page.text, PAGE);
        let what = format!("{line}: table `t`\n  says {says}\n  data {data}");
        assert_eq!(page.differences, [what]);
    }
    // A marker that cannot be used is an error with its line.
    for (text, why) in [
        (
            "\n<!-- table: u -->\n<!-- end -->\n",
            "2: no table has the name `u`",
        ),
        (
            "\n<!-- table: t -->\n",
            "2: table `t` has no `<!-- end -->`",
        ),
    ] {
        assert_eq!(render(text, &tables).unwrap_err(), why);
    }
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
    for table in Definitions::parse(DEFINITIONS).unwrap().tables {
        let marker = super::open(table.name);
        assert!(texts.contains(&marker), "no document has {marker}");
    }
}
