//! Scores and alignments of Needleman-Wunsch against another library's, and the command `nw`.
//!
//! The workload `nw` with every variant.

mod common;

use common::{
    Setting, all_variants, ended, has, help, of_lines, refused, refused_rows, right, text,
};
use serde_json::Value;
use stamp_ports::workloads::nw::Nw;
use stm_align::align::{Op, score, score_of};
use stm_align::divide::align;
use stm_align::matrix::{Gap, Matrix, Scoring};
use stm_kernels::draw::{below, draw};

/// Made by parasail (Daily 2016): matrices, costs, sequences, and the score of each.
const CASES: &str = include_str!("data/nw-parasail.json");

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
struct Files {
    folder: tempfile::TempDir,
}

impl Files {
    fn new(a: &str, b: &str) -> Self {
        let files = Self {
            folder: tempfile::tempdir().expect("a folder"),
        };
        files.write("a.fa", a);
        files.write("b.fa", b);
        files
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.folder.path().join(name), text).expect("a file");
    }

    fn path(&self, name: &str) -> String {
        let path = self.folder.path().join(name);
        path.to_str().expect("UTF-8").to_owned()
    }

    /// The program with both files and more.
    fn line(&self, more: &str) -> String {
        format!("nw {} {} {more}", self.path("a.fa"), self.path("b.fa"))
    }

    fn right(&self, more: &str) -> String {
        right(&self.line(more))
    }

    /// Calls the program with both files and each row of a table ([`refused_rows`]).
    fn refused(&self, rows: &str) {
        let rows = rows.lines().map(str::trim).filter(|row| !row.is_empty());
        rows.for_each(|row| refused_rows(&self.line(row)));
    }

    fn json(&self, more: &str) -> Vec<Value> {
        of_lines(&self.right(&format!("--json {more}")))
    }
}

/// What an alignment does, from its CIGAR.
fn ops(cigar: &str) -> Vec<Op> {
    let mut ops = Vec::new();
    let mut rest = cigar;
    while let Some(at) = rest.find(|c: char| !c.is_ascii_digit()) {
        let count: usize = rest[..at].parse().expect("a number");
        let op = match &rest[at..=at] {
            "=" | "X" => Op::Pair,
            "I" => Op::OnlyA,
            "D" => Op::OnlyB,
            other => panic!("{other} in {cigar}"),
        };
        ops.extend(std::iter::repeat_n(op, count));
        rest = &rest[at + 1..];
    }
    assert!(rest.is_empty(), "{cigar}");
    ops
}

const LINEAR: &str = "--match 1 --mismatch 1 --gap 1";

#[test]
fn batches_pair_records_in_order_and_cigars_have_their_scores() {
    let case = |a: &str, b: &str| Files::new(a, b);
    let files = case(">x one\nGATT\nACA\n>y\naaaa\n", ">u\nGCATGCA\n>v\nAA\n");
    let found = files.json(LINEAR);
    assert_eq!(found.len(), 2);
    let first = &found[0];
    assert_eq!(
        (&first["a"], &first["b"], &first["a_length"]),
        (&"x".into(), &"u".into(), &7.into())
    );
    assert_eq!(
        (&found[1]["score"], &found[1]["b"]),
        (&0.into(), &"v".into())
    );
    let scoring = Scoring {
        matrix: Matrix::of_match(b"ACGT", 1, -1).expect("a matrix"),
        gap: Gap { open: 0, extend: 1 },
    };
    let codes = |letters: &[u8]| {
        scoring
            .matrix
            .alphabet
            .codes("a", letters)
            .expect("letters")
    };
    let (a, b) = (codes(b"GATTACA"), codes(b"GCATGCA"));
    let score = score_of(
        &ops(first["cigar"].as_str().expect("text")),
        &a,
        &b,
        &scoring,
    );
    assert_eq!(first["score"], score);
    assert_eq!(score, stm_align::align::score(&a, &b, &scoring));
    // Letters of A alone are insertions, and -X costs what X does.
    assert_eq!(files.json("--match 1 --mismatch -1 --gap 1"), found);
    let ends = case(">x\nAAAACCCC\n", ">y\nCCCC\n").json("");
    assert_eq!(
        (&ends[0]["cigar"], &ends[0]["score"]),
        (&"4I4=".into(), &6.into())
    );
    let ends = case(">x\nAAAA\n", ">y\nAAAACC\n").json(LINEAR);
    assert_eq!(ends[0]["cigar"], "4=2D");
}

#[test]
fn people_see_the_alignment_or_the_score_alone() {
    let a = "ACGTACGTAC".repeat(7);
    let b = a.replacen("ACG", "A", 1);
    let files = Files::new(&format!(">first\n{a}\n"), &format!(">second\n{b}\n"));
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
}

#[test]
fn matrices_are_named_or_read() {
    let files = Files::new(">p\nMKWVW\n", ">q\nMKVW*\n");
    let named = files.json("--matrix BLOSUM62 --gap-open 11 --gap-extend 1");
    assert_eq!(
        (&named[0]["matrix"], &named[0]["gap_open"]),
        (&"blosum62".into(), &11.into())
    );
    files.write("m.txt", "   A C\nA  7 -2\nC -2 9\n");
    files.write("a.fa", ">p\nACC\n");
    files.write("b.fa", ">q\nAC\n");
    let read = files.json(&format!("--matrix {} --gap 3", files.path("m.txt")));
    assert_eq!(read[0]["score"], 13);
}

#[test]
fn one_of_two_costs_or_scores_may_be_given_and_costs_may_be_0() {
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
    assert_eq!(files.json("--gap 0")[0]["score"], 15);
}

#[test]
fn a_u_is_a_t_where_letters_are_nucleotides() {
    let files = Files::new(">x\nGAUUACA\n", ">y\nGATTACA\n");
    let found = files.json(LINEAR);
    assert_eq!(
        (&found[0]["cigar"], &found[0]["score"]),
        (&"7=".into(), &7.into())
    );
    has(&files.right(LINEAR), "GAUUACA | |||||||");
    files.write("a.fa", ">x\nGAUNACA\n");
    for name in ["nuc.4.4", "EDNAFULL"] {
        let found = files.json(&format!("--matrix {name}"));
        assert_eq!(
            (&found[0]["matrix"], &found[0]["score"]),
            (&"nuc.4.4".into(), &28.into())
        );
    }
    files.refused("=> 'N' | --matrix nuc.4.4");
    // The matrix in use is not recommended.
    files.write("a.fa", ">x\nGAJ\n");
    files.refused(
        "
        --matrix nuc.4.4 => 'J' | no built-in matrix | FILE
        --matrix blosum62 => 'J' | no built-in matrix | FILE
        ",
    );
}

#[test]
fn files_of_other_systems_are_read_and_other_formats_named() {
    let files = Files::new("\u{feff}>x\rACG\rT\r", ">y\nACGT\n");
    assert_eq!(files.json(LINEAR)[0]["cigar"], "4=");
    for (bytes, parts) in [
        (&b"\x1f\x8b\x08\x00"[..], "=> a.fa | gzip | gunzip"),
        (b"@r\nACGT\n+\nIIII\n", "=> a.fa | FASTQ"),
    ] {
        std::fs::write(files.folder.path().join("a.fa"), bytes).expect("a file");
        files.refused(parts);
    }
    files.write("m.txt", "\u{feff}   A C\rC -2 9\rA  7 -1\r");
    files.write("a.fa", ">p\nAC\n");
    files.write("b.fa", ">q\nCC\n");
    // A letter of A is a row.
    let matrix = files.path("m.txt");
    let read = files.json(&format!("--matrix {matrix} --gap 9"));
    assert_eq!(read[0]["score"], 8);
    files.write("m.txt", "A C\nA 1 99999999999\nC 1 1\n");
    files.refused(&format!("--matrix {matrix} => line 2 | too large"));
}

#[test]
fn one_of_the_files_may_be_standard_input() {
    let files = Files::new(">x\nACGT\n", ">y\nACGT\n");
    let b = files.path("b.fa");
    let piped = std::fs::File::open(files.path("a.fa")).expect("a file");
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_stamp"))
        .args(["nw", "-", &b, "--json"])
        .stdin(piped)
        .output()
        .expect("stamp starts");
    assert!(output.status.success(), "{}", text(&output.stderr));
    has(&text(&output.stdout), "\"cigar\":\"4=\"");
    refused("nw - -", "both | standard input");
}

#[test]
fn long_names_are_cut_before_letters_and_whole_above() {
    let long = "n".repeat(120);
    let files = Files::new(&format!(">{long}\nACGT\n"), ">y\nACGT\n");
    let shown = files.right("");
    let lines: Vec<&str> = shown.lines().collect();
    assert!(lines[0].contains(&long), "{shown}");
    assert!(lines[1..].iter().all(|line| line.len() < 80), "{shown}");
    assert_eq!(lines[2].find("ACGT"), lines[4].find("ACGT"));
}

#[test]
fn what_cannot_be_aligned_is_refused_with_its_name_and_place() {
    let good = ">a\nACGT\n";
    for (a, b, parts) in [
        ("", good, "a.fa | no record"),
        ("ACGT\n", good, "a.fa | line 1 | >NAME"),
        (good, ">b\n", "b.fa | the sequence b is empty"),
        (good, ">b\n>c\nA\n", "the sequence b is empty"),
        (good, ">b\nAC\nA7\n", "line 3 | letter 4 of b | '7'"),
        (
            good,
            ">bee\nAC\nXA\n",
            "b.fa | letter 3 of bee | 'X' | --matrix",
        ),
        (
            good,
            ">b\nA\n>c\nA\n",
            "a.fa has 1 sequence and | b.fa has 2 sequences",
        ),
    ] {
        Files::new(a, b).refused(&format!("=> {parts}"));
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
        "#,
    );
    let matrix = files.path("m.txt");
    for (text, parts) in [
        ("A C\nA 1 2\n", "not square | 'C'"),
        ("A C\nA 1 2\nC 1\n", "line 3 | 'C'"),
        ("A C\nA 1 2\nC 2 1\nG 1 1\n", "line 4 | \"G\" | no column"),
        ("", "empty"),
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
        &format!(">long\n{long}\n>short\nACGTA\n"),
        &format!(">other\n{other}\n>other-short\nACTA\n"),
    );
    for options in ["--gap 6", "--score-only"] {
        let on = |device| files.json(&format!("--device {device} {options}"));
        let (host, mut cpu) = (on("host"), on("cpu"));
        for (host, cpu) in host.iter().zip(&mut cpu) {
            assert_eq!(
                (&host["device_asked"], &cpu["device_asked"]),
                (&"host".into(), &"cpu".into())
            );
            // The host aligns what is short, whatever fills the tables of others.
            let is_long = options == "--score-only" || host["a"] == "long";
            let on = if is_long { "cpu" } else { "host" };
            assert_eq!(
                (&host["device"], &cpu["device"]),
                (&"host".into(), &on.into())
            );
            cpu["device"] = "host".into();
            cpu["device_asked"] = "host".into();
            assert_eq!(host, cpu);
        }
    }
    assert_eq!(files.json("--score-only")[0]["device_asked"], "auto");
    // What is traced says where how much was filled.
    let (_, answer) = ended(0, &files.line("-v --device cpu"));
    has(
        &answer,
        "fill tables | on=\"cpu\" | tables=2 | cells=4 | align small parts | busy",
    );
    files.refused("--device gpu => --device | \"gpu\" | host");
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

#[test]
fn every_variant_computes_all_cells_while_threads_wait_for_one_another() {
    let setting = Setting::of(5, (2, 3), (1 << 10, 4));
    for report in all_variants(Nw { letters: 23 }, [setting]) {
        assert_eq!(report.commits, 23 * 23, "{}", report.variant);
    }
}

#[test]
fn letters_are_an_option_and_bounded() {
    has(&right("run nw --device cpu --letters 40"), "yes");
    refused_rows(
        "
        run nw --device cpu --letters 0 => --letters 0 | 1 to
        run nw --device cpu --letters 9000 => --letters 9000 | 8192
        ",
    );
    has(&right("list"), "diagonals | graph | locks | cells");
}
