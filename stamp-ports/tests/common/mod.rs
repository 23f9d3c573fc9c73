//! How the tests call the program.

use std::process::{Command, Output};

pub(crate) fn stamp(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_stamp"))
        .args(arguments)
        .output()
        .expect("stamp starts")
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("output is UTF-8")
}

pub(crate) const TINY_RA: [&str; 8] = [
    "run",
    "ra",
    "--device",
    "cpu",
    "--words",
    "1K",
    "--transactions",
    "500",
];
pub(crate) const TINY_HT: [&str; 8] = [
    "run",
    "ht",
    "--device",
    "cpu",
    "--buckets",
    "64",
    "--transactions",
    "500",
];
#[allow(dead_code)] // not every test program has a use for it
pub(crate) const TINY_BANK: [&str; 8] = [
    "run",
    "bank",
    "--device",
    "cpu",
    "--accounts",
    "1K",
    "--transactions",
    "500",
];
#[allow(dead_code)] // not every test program has a use for it
pub(crate) const TINY_EIGENBENCH: [&str; 8] = [
    "run",
    "eigenbench",
    "--device",
    "cpu",
    "--hot-words",
    "1K",
    "--transactions",
    "500",
];

pub(crate) fn with<'a>(base: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [base, more].concat()
}
