//! Scores and alignments of Needleman-Wunsch against another library's, and the command `nw`.

use crate::prelude::*;
use serde_json::Value;
use std::fs::{self, File};
use std::process::Command;
use stm_align::align::score;
use stm_align::divide::align;
use stm_align::matrix::{Gap, Matrix, Scoring};
use stm_kernels::draw::{below, draw};

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

/// Two files in a folder of their own.
struct Files(tempfile::TempDir);

impl Files {
    fn new(a: impl AsRef<[u8]>, b: impl AsRef<[u8]>) -> Self {
        let files = Self(tempfile::tempdir().expect("a folder"));
        files.write("a.fa", a);
        files.write("b.fa", b);
        files
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.path(name), text).expect("a file");
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }

    /// The program with both files and more.
    fn line(&self, more: &str) -> String {
        format!("nw {} {} {more}", self.path("a.fa"), self.path("b.fa"))
    }

    fn right(&self, more: &str) -> String {
        right(&self.line(more))
    }

    /// Calls the program with both files and each row of a table ([`refused_rows`]).
    fn refused(&self, table: &str) {
        rows(table).for_each(|row| refused_rows(&self.line(row)));
    }

    fn json(&self, more: &str) -> Vec<Value> {
        of_lines(&self.right(&format!("--json {more}")))
    }
}

const LINEAR: &str = "--match 1 --mismatch 1 --gap 1";

#[test]
fn batches_pair_records_in_order_and_cigars_have_their_scores() {
    let files = Files::new(">x one\nGATT\nACA\n>y\naaaa\n", ">u\nGCATGCA\n>v\nAA\n");
    let found = files.json(LINEAR);
    assert_eq!(found.len(), 2);
    holds!(found[0], {"a": "x", "b": "u", "a_length": 7});
    holds!(found[1], {"score": 0, "b": "v"});
    // Five pairs of equal letters, one of others, and two letters alone.
    holds!(found[0], {"cigar": "1=1D2=1X1I2=", "score": 5 - 1 - 2});
    // -X costs what X does.
    assert_eq!(files.json("--match 1 --mismatch -1 --gap 1"), found);
}

/// Two sequences, options, and what is found.
const PAIRS: &str = r#"
    // Letters of A alone are insertions.
    AAAACCCC CCCC => {"cigar": "4I4=", "score": 6}
    AAAA AAAACC --match 1 --mismatch 1 --gap 1 => {"cigar": "4=2D"}
    AAAACCGT CCGA --gap 0 => {"score": 15}
    // A U is a T where letters are nucleotides.
    GAUUACA GATTACA --match 1 --mismatch 1 --gap 1 => {"cigar": "7=", "score": 7}
    GAUNACA GATTACA --matrix nuc.4.4 => {"matrix": "nuc.4.4", "score": 28}
    GAUNACA GATTACA --matrix EDNAFULL => {"matrix": "nuc.4.4", "score": 28}
    MKWVW MKVW* --matrix BLOSUM62 --gap-open 11 --gap-extend 1 => {"matrix": "blosum62", "gap_open": 11}
"#;

#[test]
fn pairs_have_these_alignments_and_scores() {
    for (line, found) in rows(PAIRS).filter_map(|row| row.split_once(" => ")) {
        let mut words = line.split_whitespace();
        let [a, b] = [(); 2].map(|()| words.next().expect("a sequence"));
        let files = Files::new(format!(">x\n{a}\n"), format!(">y\n{b}\n"));
        let options: Vec<&str> = words.collect();
        let found = serde_json::from_str(found).expect("JSON");
        contains(&files.json(&options.join(" "))[0], &found);
    }
}

#[test]
fn people_see_the_alignment_or_the_score_alone() {
    let a = "ACGTACGTAC".repeat(7);
    let b = a.replacen("ACG", "A", 1);
    let files = Files::new(format!(">first\n{a}\n"), format!(">second\n{b}\n"));
    let shown = files.right(LINEAR);
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(
        lines[0],
        "first (70 letters) and second (68 letters): score 66"
    );
    assert!(lines[2].starts_with("first   1 ACGTACGTAC") && lines[2].ends_with(" 60"));
    assert!(lines[4].starts_with("second  1 A") && lines[4].ends_with(" 58"));
    assert_eq!(lines[2].split(' ').nth(4).map(str::len), Some(60));
    assert!(lines[6].ends_with(" 70") && lines.len() == 9);
    let only = files.right(&format!("{LINEAR} --score-only"));
    assert_eq!(only.lines().collect::<Vec<_>>(), [lines[0]]);
    let only = files.json("--score-only");
    assert!(only[0].get("cigar").is_none() && only[0]["score"].is_i64());
    // Long names, which are cut before letters, are whole above; letters are as they were given.
    let long = "n".repeat(120);
    let shown = Files::new(format!(">{long}\nGAUUACA\n"), ">y\nGATTACA\n").right("");
    assert!(shown.starts_with(&long), "{shown}");
    has(&shown, "GAUUACA | |||||||");
}

#[test]
fn one_of_two_costs_or_scores_may_be_given() {
    let files = Files::new(">x\nAAAACCGT\n", ">y\nCCGA\n");
    for (given, both) in [
        ("--gap-open 3", "--gap-open 3 --gap-extend 1"),
        ("--gap-extend 3", "--gap-open 10 --gap-extend 3"),
        ("--match 7", "--match 7 --mismatch 4"),
        ("--mismatch 0", "--match 5 --mismatch 0"),
    ] {
        let found = files.json(given);
        assert_eq!(found, files.json(both), "{given}");
        assert_ne!(found[0]["score"], files.json("")[0]["score"]);
    }
}

/// What the readers say of other files, their own tests show.
#[test]
fn files_of_other_systems_are_read() {
    let files = Files::new("\u{feff}>p\rA\rC\r", ">q\nCC\n");
    files.write("m.txt", "\u{feff}   A C\rc -2 9\rA  7 -1\r");
    // A letter of A is a row, of which there may be any first.
    let read = files.json(&format!("--matrix {} --gap 9", files.path("m.txt")));
    assert_eq!(read[0]["score"], 8);
}

#[test]
fn one_of_the_files_may_be_standard_input() {
    let files = Files::new(">x\nACGT\n", ">y\nACGT\n");
    let output = Command::new(env!("CARGO_BIN_EXE_stamp"))
        .args(["nw", "-", &files.path("b.fa"), "--json"])
        .stdin(File::open(files.path("a.fa")).expect("a file"))
        .output()
        .expect("stamp starts");
    assert!(output.status.success(), "{}", text(&output.stderr));
    has(&text(&output.stdout), "\"cigar\":\"4=\"");
    refused("nw - -", "both | standard input");
}

#[test]
fn what_cannot_be_aligned_is_refused_with_its_name_and_place() {
    let good = ">a\nACGT\n";
    // Both files, of which an empty one is good, and what is said.
    let table = r"
        NONE | => a.fa | no record
        | >b => b.fa | the sequence b is empty
        | >bee,AC,XA => b.fa | letter 3 of bee | 'X' | --matrix
        | >b,A,>c,A => a.fa has 1 sequence and | b.fa has 2 sequences
        >x,GAUNACA | => 'N' | --matrix nuc.4.4
        >x,MKWL* | => 'M' | --matrix blosum62
        // The matrix in use is not recommended.
        >x,GAJ | => --matrix nuc.4.4 => 'J' | no built-in matrix | FILE
        >x,GAJ | => --matrix blosum62 => 'J' | no built-in matrix | FILE
    ";
    for (files, row) in rows(table).filter_map(|row| row.split_once(" => ")) {
        let (a, b) = files.split_once('|').expect(row);
        let [a, b] = [a, b].map(|text| match text.trim() {
            "" => good.to_owned(),
            "NONE" => String::new(),
            lines => lines.replace(',', "\n") + "\n",
        });
        let options = if row.contains(" => ") { "" } else { "=> " };
        Files::new(a, b).refused(&format!("{options}{row}"));
    }
    let files = Files::new(good, good);
    files.refused(
        r#"
        --gap -2 => --gap | "-2" | 0 or more
        --gap 1.5 => --gap | "1.5" | whole number
        --gap 2 --gap-extend 1 => --gap
        --gap 2 --gap-open 2 --gap-extend 1 => --gap
        --matrix blosum61 => blosum61 | blosum62 | no built-in
        --match 600000000 --mismatch 1 => a and a | 2^29 | smaller
        --gap 400000000 => 2^29 | smaller costs
        --match 1 --mismatch 1 --matrix pam30 => --matrix
        --device gpu => --device | "gpu" | host
        "#,
    );
    let matrix = files.path("m.txt");
    for (text, parts) in [
        ("A C\nA 1 2\nC 1\n", "m.txt | line 3 | 'C'"),
        ("A C\nA 1 2\nC 2 1\n", "letter 3 of a | 'G' | none of AC"),
    ] {
        files.write("m.txt", text);
        files.refused(&format!("--matrix {matrix} => {parts}"));
    }
    let missing = files.path("missing.fa");
    refused(&format!("nw {missing} {missing}"), "missing.fa | FASTA");
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
    let files = Files::new(
        format!(">long\n{long}\n>short\nACGTA\n"),
        format!(">other\n{other}\n>other-short\nACTA\n"),
    );
    for options in ["--gap 6", "--score-only"] {
        let on = |device| files.json(&format!("--device {device} {options}"));
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
    assert_eq!(files.json("--score-only")[0]["device_asked"], "auto");
    // What is traced says where how much was filled.
    has(
        &ended(0, &files.line("-v --device cpu")).1,
        "fill tables | on=\"cpu\" | tables=2 | cells=4 | align small parts | busy",
    );
}

#[test]
fn the_help_shows_an_example_that_runs() {
    let help = help("nw", "k x G | O + k x E");
    // A line of the text that was too long would leave a word alone on the next.
    let whole =
        "\n`cigar`: `=` equal letters, `X` others, `I` letters of A alone, `D` of B alone;\n";
    has(&help, whole);
    let files = Files::new(">one\nGATTACA\n", ">two\nGCATGCA\n");
    has(&help, &format!("stamp nw a.fa b.fa {LINEAR}"));
    has(&files.right(LINEAR), "score 2");
}
