//! Every input that cannot be carried out, given to the program `stamp`: one
//! line on standard error that names the value and the fix, status 2, nothing
//! on standard output, no panic. Only the CPU is used, so that the result does
//! not depend on the machine.

mod common;

use common::{TINY_BANK, TINY_EIGENBENCH, TINY_HT, TINY_RA, refused, stamp, text, with};

#[test]
fn impossible_launches_are_refused() {
    refused(
        &with(&TINY_RA, &["--threads", "0"]),
        &["0", "1 or more", "--threads"],
    );
    refused(
        &with(&TINY_RA, &["--blocks", "0"]),
        &["0", "1 or more", "--blocks"],
    );
    refused(
        &with(&TINY_RA, &["--threads", "1025"]),
        &["1025", "at most 1024", "--threads"],
    );
    refused(
        &with(&TINY_RA, &["--blocks", "4000000000"]),
        &["4000000000", "at most 2147483647", "--blocks"],
    );
    refused(
        &with(
            &TINY_RA,
            &["--blocks", "2147483647", "--read-capacity", "1M"],
        ),
        &["sets", "available", "--blocks", "capacities"],
    );
}

#[test]
fn bad_sizes_of_the_transactional_memory_are_refused() {
    refused(
        &with(&TINY_RA, &["--locks", "1000"]),
        &["1000 locks", "512 and 1024", "--locks"],
    );
    refused(
        &with(&TINY_RA, &["--locks", "0"]),
        &["locks is 0", "--locks"],
    );
    refused(
        &with(&TINY_RA, &["--locks", "2^31"]),
        &["2147483648", "2^30", "--locks"],
    );
    refused(
        &with(&TINY_RA, &["--stripe-bytes", "12"]),
        &["12", "power of two", "--stripe-bytes"],
    );
    refused(
        &with(&TINY_RA, &["--write-capacity", "3"]),
        &["CapacityExceeded", "write set of 3", "--write-capacity 16"],
    );
    refused(
        &with(&TINY_RA, &["--read-capacity", "5"]),
        &["CapacityExceeded", "read set of 5", "--read-capacity 16"],
    );
    refused(
        &with(
            &TINY_HT,
            &["--variant", "hv-sorting", "--write-capacity", "7"],
        ),
        &["CapacityExceeded", "write set of 7", "--write-capacity 8"],
    );
    refused(
        // `fast` fills its nodes without the write set.
        &with(&TINY_HT, &["--write-capacity", "3"]),
        &["CapacityExceeded", "write set of 3", "--write-capacity 8"],
    );
    refused(
        &with(&TINY_RA, &["--read-capacity", "0"]),
        &["read set is 0", "from 1"],
    );
    refused(
        &with(&TINY_RA, &["--read-capacity", "4294967295"]),
        &["read set is 4294967295", "1048576", "--read-capacity"],
    );
}

#[test]
fn options_that_nothing_asked_for_takes_are_refused() {
    for (option, value) in [("--lanes-max", "4"), ("--queue-after", "9")] {
        let scheduler = [option, value, "--variant", "hv-sorting,cgl"];
        let written = format!("{option} {value}");
        let parts = [&written, "fast and fast-table", "hv-sorting and cgl"];
        refused(&with(&TINY_RA, &scheduler), &parts);
        let all = with(&["tune", "ra", "--device", "cpu"], &scheduler);
        refused(&all, &parts);
    }
    refused(
        &["run", "ra,ht", "--device", "cpu", "--accounts", "5"],
        &["--accounts 5", "bank", "ra and ht", "leave it out"],
    );
    refused(
        &["run", "labyrinth,kmeans", "-n", "5"],
        &["-n 5", "name one instead of labyrinth,kmeans"],
    );
}

#[test]
fn parameters_that_make_no_sense_are_refused() {
    refused(
        &with(&TINY_RA, &["--reads", "0"]),
        &["--reads 0", "1 or more"],
    );
    refused(
        &with(&TINY_RA, &["--reads", "4", "--writes", "5"]),
        &["--writes 5", "--reads 4"],
    );
    refused(
        &["run", "ra", "--device", "cpu", "--words", "8"],
        &["--words 8", "--reads 16"],
    );
    refused(
        &["run", "ra", "--device", "cpu", "--transactions", "0"],
        &["--transactions 0", "1 or more"],
    );
    refused(
        &with(&TINY_HT, &["--keys-per-tx", "0"]),
        &["--keys-per-tx 0", "1 or more"],
    );
    refused(
        &["run", "ht", "--device", "cpu", "--buckets", "0"],
        &["--buckets 0", "1 or more"],
    );
    refused(
        &["run", "ht", "--device", "cpu", "--transactions", "2G"],
        &["2147483648 transactions", "fewer --transactions"],
    );
    refused(
        &with(&TINY_RA, &["--buckets", "5"]),
        &["--buckets 5", "ht", "leave it out"],
    );
    refused(
        &with(&TINY_RA, &["--repeat", "0"]),
        &["--repeat", "1 or more"],
    );
    refused(
        &with(&TINY_RA, &["--time-limit", "0"]),
        &["--time-limit", "\"0\"", "above 0"],
    );
}

#[test]
fn parameters_of_bank_that_make_no_sense_are_refused() {
    for (more, parts) in [
        (
            &["--audit-range", "1"][..],
            &["--audit-range 1", "2 or more"][..],
        ),
        (
            &["--audit-range", "0", "--audit-share", "0"],
            &["--audit-range 0", "2 or more"],
        ),
        (
            &["--audit-range", "2K"],
            &["--accounts 1024", "--audit-range 2048"],
        ),
        (
            &["--audit-range", "4294967295"],
            &["--accounts 1024", "--audit-range 4294967295"],
        ),
        (
            &["--audit-share", "101"],
            &["--audit-share", "\"101\"", "0 to 100"],
        ),
        (&["--audit-share", "0.1"], &["--audit-share", "whole"]),
        (&["--zipf=-1"], &["\"-1\"", "0 to 10"]),
        (&["--zipf", "0.1234"], &["--zipf", "three decimals"]),
        (&["--zipf", "NaN"], &["--zipf", "\"NaN\""]),
        (&["--words", "5"], &["--words 5", "ra", "leave it out"]),
        (
            &["--read-capacity", "63"],
            &["CapacityExceeded", "read set of 63", "--read-capacity 64"],
        ),
        (
            &["--write-capacity", "1"],
            &["CapacityExceeded", "write set of 1", "--write-capacity 2"],
        ),
    ] {
        refused(&with(&TINY_BANK, more), parts);
    }
    refused(
        &["run", "bank", "--device", "cpu", "--accounts", "1"],
        &["--audit-range 1", "2 or more"],
    );
    refused(
        &with(&TINY_RA, &["--zipf", "1"]),
        &["--zipf 1", "bank", "leave it out"],
    );
}

#[test]
fn parameters_of_vacation_that_make_no_sense_are_refused() {
    let tiny = [
        "run",
        "vacation",
        "--device",
        "cpu",
        "--transactions",
        "500",
    ];
    for (more, parts) in [
        (&["-r", "0"][..], &["--relations 0", "1 or more"][..]),
        (
            &["-r", "1G"],
            &["--relations 1073741824", "at most 134217728"],
        ),
        (&["-r", "128M"], &["vacation", "available", "--relations"]),
        (&["-n", "0"], &["-n 0", "1 or more"]),
        (&["-n", "11"], &["-n 11", "at most 10"]),
        (&["-q", "0"], &["--range-percent 0", "1 to 100"]),
        (&["-q", "101"], &["--range-percent", "\"101\"", "0 to 100"]),
        (&["-u", "101"], &["--users-percent", "\"101\"", "0 to 100"]),
        (&["-u", "-1"], &["-1"]),
        (&["--keys", "5"], &["--keys 5", "leave it out"]),
        (
            &["-r", "64", "--read-capacity", "9"],
            &["CapacityExceeded", "read set of 9", "--read-capacity"],
        ),
    ] {
        refused(&with(&tiny, more), parts);
    }
    let long = [
        "run",
        "vacation",
        "--device",
        "cpu",
        "-r",
        "100K",
        "--transactions",
    ];
    refused(
        &with(&long, &["2^32"]),
        &["4294967296 tasks", "fewer --transactions"],
    );
    refused(
        &with(&long, &["1G"]),
        &["reservations", "fewer --transactions"],
    );
    refused(
        &with(&["run", "ra", "--device", "cpu"], &["-q", "5"]),
        &["--range-percent 5", "vacation", "leave it out"],
    );
}

#[test]
fn parameters_of_eigenbench_that_make_no_sense_are_refused() {
    for (more, parts) in [
        (
            &["--hot-reads", "0", "--hot-writes", "0"][..],
            &["nothing to do", "--hot-reads"][..],
        ),
        (
            &["--mild-reads", "2", "--mild-words", "0"],
            &["--mild-words 0", "--mild-reads 2"],
        ),
        (
            &["--cold-writes-outside", "2", "--cold-words", "0"],
            &["--cold-words 0", "--cold-writes-outside 2"],
        ),
        (
            &["--locality", "101"],
            &["--locality", "\"101\"", "0 to 100"],
        ),
        (&["--loops", "5"], &["--loops", "--transactions"]),
        (&["--accounts", "5"], &["--accounts 5", "bank"]),
        (
            &["--read-capacity", "31"],
            &["CapacityExceeded", "read set of 31", "--read-capacity 32"],
        ),
        (
            &["--write-capacity", "31"],
            &["CapacityExceeded", "write set of 31", "--write-capacity 32"],
        ),
        (
            &["--hot-reads", "4294967295"],
            &["4294967295", "--hot-reads", "1048576 at most"],
        ),
        (
            &["--read-capacity", "4294967295"],
            &["the read set is 4294967295", "to 1048576"],
        ),
        (
            &["--mild-words", "4294967295", "--mild-reads", "1"],
            &["lanes", "available", "--mild-words"],
        ),
    ] {
        let base = with(&TINY_EIGENBENCH, &["--blocks", "64", "--threads", "1024"]);
        refused(&with(&base, more), parts);
    }
    refused(
        &["run", "eigenbench", "--device", "cpu", "--hot-words", "0"],
        &["--hot-words 0", "--hot-reads 32"],
    );
    refused(
        &["run", "eigenbench", "--loops", "0"],
        &["--loops", "1 or more"],
    );
    refused(&["tune", "eigenbench", "--loops", "5"], &["'--loops'"]);
}

#[test]
fn numbers_that_are_none_are_refused() {
    for bad in ["many", "1.5M", "", "12Q"] {
        refused(
            &["run", "ra", "--words", bad],
            &["--words", &format!("{bad:?}"), "2^20"],
        );
    }
    refused(
        &["run", "ra", "--words", "8G"],
        &["--words", "8G", "at most 4294967295"],
    );
    refused(&["run", "ra", "--seed", "2^64"], &["--seed", "too large"]);
    refused(
        &["run", "ra", "--seed", "-1"],
        &["--seed", "\"-1\"", "stamp run ra --help"],
    );
}

#[test]
fn what_memory_cannot_hold_is_refused_with_needed_and_available() {
    // More than any machine that runs this has; nothing of it is allocated.
    refused(
        &with(&TINY_RA, &["--blocks", "2G", "--threads", "1"]),
        &["2147483648", "at most"],
    );
    refused(
        &with(&TINY_RA, &["--blocks", "1G", "--threads", "1024"]),
        &["TiB", "available", "--threads"],
    );
}

#[test]
fn unknown_names_are_refused_with_the_nearest() {
    refused(
        &["run", "rs"],
        &["\"rs\"", "did you mean ra?", "stamp list"],
    );
    refused(&["tune", "hta"], &["\"hta\"", "did you mean ht?"]);
    refused(
        &["run", "ra", "--variant", "hv-sort"],
        &["\"hv-sort\"", "did you mean hv-sorting?"],
    );
    refused(
        &["run", "ra", "--variant", "cgl,tvb-sorting"],
        &["\"tvb-sorting\"", "did you mean tbv-sorting?"],
    );
    refused(
        &["run", "ra", "--device", "cdua"],
        &["\"cdua\"", "did you mean cuda?"],
    );
    refused(
        &["run", "ra", "--device", ""],
        &["\"\": known are auto, cpu, cuda, cuda:N and cuda:N,atomics=64 (try"],
    );
    refused(
        &["run", "ra", "--device", "cuda:x"],
        &["\"cuda:x\"", "cuda:0"],
    );
    refused(&["runn", "ra"], &["'runn'", "'run'"]);
    refused(
        &["run", "ra", "--thread", "4"],
        &["'--thread'", "'--threads'"],
    );
    refused(&["run"], &["WORKLOAD", "stamp run --help"]);
}

#[test]
fn a_gpu_that_is_not_there_is_refused_and_auto_falls_back_with_the_reason() {
    // Number 999 is there on no machine, with a driver or without.
    refused(
        &with(&["run", "ra"], &["--device", "cuda:999"]),
        &["NVIDIA driver"].map(|part| {
            if text(&stamp(&["run", "ra", "--device", "cuda:999"]).stderr).contains("GPU 999") {
                "GPU 999"
            } else {
                part
            }
        }),
    );
    let output = stamp(&["run", "ra", "--words", "1K", "--transactions", "500"]);
    assert_eq!(output.status.code(), Some(0));
    let (out, errors) = (text(&output.stdout), text(&output.stderr));
    if out.starts_with("cpu:") {
        assert!(errors.starts_with("note: no GPU can be used"), "{errors}");
        assert_eq!(errors.lines().count(), 1, "{errors}");
    } else {
        assert!(out.starts_with("cuda:"), "{out}");
    }
}

#[test]
fn a_path_that_cannot_be_written_is_refused_before_the_search() {
    refused(
        &[
            "tune",
            "ra",
            "--device",
            "cpu",
            "--out",
            "no/such/folder/x.json",
        ],
        &["no/such/folder", "make it first"],
    );
    if cfg!(target_os = "linux") {
        refused(
            &["tune", "ra", "--device", "cpu", "--out", "/proc/x.json"],
            &["--out /proc/x.json", "can be written"],
        );
    }
}

#[test]
fn all_that_tune_cannot_do_is_refused_before_the_first_search() {
    // `cgl` has no lock table; `ht` comes after `ra`. A search of these sizes
    // would take minutes.
    let tune = ["tune", "all", "--device", "cpu", "--repeat", "1000"];
    let start = std::time::Instant::now();
    refused(
        &with(&tune, &["--variant", "cgl", "--locks", "512,1000"]),
        &["1000 locks", "512 and 1024"],
    );
    refused(
        &with(&tune, &["--stripe-bytes", "12"]),
        &["12", "power of two"],
    );
    refused(
        &with(&tune, &["--keys-per-tx", "0"]),
        &["--keys-per-tx 0", "1 or more"],
    );
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}
