//! Scores and alignments of Needleman-Wunsch against another library's, and by the kernels on the CPU.
//! `nw.txt` has the rest of the command `nw`.

use crate::prelude::*;
use serde_json::Value;
use std::fs;
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
