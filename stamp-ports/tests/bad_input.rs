//! Every input that cannot be carried out, given to the program `stamp`: one
//! line on standard error that names the value and the fix, status 2, nothing
//! on standard output, no panic. Only the CPU is used, so that the result does
//! not depend on the machine.

mod common;

use common::{TINY_RA, ended, refused, refused_rows, stamp, text};

/// What is refused: arguments, and what the refusal names.
const REFUSED: &str = r#"
    // Launches that are impossible.
    TINY_RA --threads 0 => 0 | 1 or more | --threads
    TINY_RA --blocks 0 => 0 | 1 or more | --blocks
    TINY_RA --threads 1025 => 1025 | at most 1024 | --threads
    TINY_RA --blocks 4000000000 => 4000000000 | at most 2147483647 | --blocks
    TINY_RA --blocks 2147483647 --read-capacity 1M => sets | available | --blocks | capacities
    // Sizes of the transactional memory.
    TINY_RA --locks 1000 => 1000 locks | 512 and 1024 | --locks
    TINY_RA --locks 0 => locks is 0 | --locks
    TINY_RA --locks 2^31 => 2147483648 | 2^30 | --locks
    TINY_RA --stripe-bytes 12 => 12 | power of two | --stripe-bytes
    TINY_RA --write-capacity 3 => CapacityExceeded | write set of 3 | --write-capacity 16
    TINY_RA --read-capacity 5 => CapacityExceeded | read set of 5 | --read-capacity 16
    TINY_HT --variant hv-sorting --write-capacity 7 => CapacityExceeded | write set of 7 | --write-capacity 8
    // `fast` fills its nodes without the write set.
    TINY_HT --write-capacity 3 => CapacityExceeded | write set of 3 | --write-capacity 8
    TINY_RA --read-capacity 0 => read set is 0 | from 1
    TINY_RA --read-capacity 4294967295 => read set is 4294967295 | 1048576 | --read-capacity
    // Options that nothing asked for takes.
    run ra,ht --device cpu --accounts 5 => --accounts 5 | bank | ra and ht | leave it out
    run labyrinth,kmeans -n 5 => -n 5 | name one instead of labyrinth,kmeans
    // Parameters that make no sense.
    TINY_RA --reads 0 => --reads 0 | 1 or more
    TINY_RA --reads 4 --writes 5 => --writes 5 | --reads 4
    run ra --device cpu --words 8 => --words 8 | --reads 16
    run ra --device cpu --transactions 0 => --transactions 0 | 1 or more
    TINY_HT --keys-per-tx 0 => --keys-per-tx 0 | 1 or more
    run ht --device cpu --buckets 0 => --buckets 0 | 1 or more
    run ht --device cpu --transactions 2G => 2147483648 transactions | fewer --transactions
    TINY_RA --buckets 5 => --buckets 5 | ht | leave it out
    run sorted --device cpu --entry-points 0 => --entry-points 0 | power of two
    TINY_RA --repeat 0 => --repeat | 1 or more
    TINY_RA --time-limit 0 => --time-limit | "0" | above 0
    // Those of bank.
    TINY_BANK --audit-range 1 => --audit-range 1 | 2 or more
    TINY_BANK --audit-range 0 --audit-share 0 => --audit-range 0 | 2 or more
    TINY_BANK --audit-range 2K => --accounts 1024 | --audit-range 2048
    TINY_BANK --audit-range 4294967295 => --accounts 1024 | --audit-range 4294967295
    TINY_BANK --audit-share 101 => --audit-share | "101" | 0 to 100
    TINY_BANK --audit-share 0.1 => --audit-share | whole
    TINY_BANK --zipf=-1 => "-1" | 0 to 10
    TINY_BANK --zipf 0.1234 => --zipf | three decimals
    TINY_BANK --zipf NaN => --zipf | "NaN"
    TINY_BANK --words 5 => --words 5 | ra | leave it out
    TINY_BANK --read-capacity 63 => CapacityExceeded | read set of 63 | --read-capacity 64
    TINY_BANK --write-capacity 1 => CapacityExceeded | write set of 1 | --write-capacity 2
    run bank --device cpu --accounts 1 => --audit-range 1 | 2 or more
    TINY_RA --zipf 1 => --zipf 1 | bank | leave it out
    // Those of vacation.
    run vacation --device cpu --transactions 500 -r 0 => --relations 0 | 1 or more
    run vacation --device cpu --transactions 500 -r 1G => --relations 1073741824 | at most 134217728
    run vacation --device cpu --transactions 500 -r 128M => vacation | available | --relations
    run vacation --device cpu --transactions 500 -n 0 => -n 0 | 1 or more
    run vacation --device cpu --transactions 500 -n 11 => -n 11 | at most 10
    run vacation --device cpu --transactions 500 -q 0 => --range-percent 0 | 1 to 100
    run vacation --device cpu --transactions 500 -q 101 => --range-percent | "101" | 0 to 100
    run vacation --device cpu --transactions 500 -u 101 => --users-percent | "101" | 0 to 100
    run vacation --device cpu --transactions 500 -u -1 => -1
    run vacation --device cpu --transactions 500 --keys 5 => --keys 5 | leave it out
    run vacation --device cpu --transactions 500 -r 64 --read-capacity 9 => CapacityExceeded | read set of 9 | --read-capacity
    run vacation --device cpu -r 100K --transactions 2^32 => 4294967296 tasks | fewer --transactions
    run vacation --device cpu -r 100K --transactions 1G => reservations | fewer --transactions
    run ra --device cpu -q 5 => --range-percent 5 | vacation | leave it out
    // Those of eigenbench.
    TINY_EIGENBENCH --blocks 64 --threads 1024 --hot-reads 0 --hot-writes 0 => nothing to do | --hot-reads
    TINY_EIGENBENCH --blocks 64 --threads 1024 --mild-reads 2 --mild-words 0 => --mild-words 0 | --mild-reads 2
    TINY_EIGENBENCH --blocks 64 --threads 1024 --cold-writes-outside 2 --cold-words 0 => --cold-words 0 | --cold-writes-outside 2
    TINY_EIGENBENCH --blocks 64 --threads 1024 --locality 101 => --locality | "101" | 0 to 100
    TINY_EIGENBENCH --blocks 64 --threads 1024 --loops 5 => --loops | --transactions
    TINY_EIGENBENCH --blocks 64 --threads 1024 --accounts 5 => --accounts 5 | bank
    TINY_EIGENBENCH --blocks 64 --threads 1024 --read-capacity 31 => CapacityExceeded | read set of 31 | --read-capacity 32
    TINY_EIGENBENCH --blocks 64 --threads 1024 --write-capacity 31 => CapacityExceeded | write set of 31 | --write-capacity 32
    TINY_EIGENBENCH --blocks 64 --threads 1024 --hot-reads 4294967295 => 4294967295 | --hot-reads | 1048576 at most
    TINY_EIGENBENCH --blocks 64 --threads 1024 --read-capacity 4294967295 => the read set is 4294967295 | to 1048576
    TINY_EIGENBENCH --blocks 64 --threads 1024 --mild-words 4294967295 --mild-reads 1 => lanes | available | --mild-words
    run eigenbench --device cpu --hot-words 0 => --hot-words 0 | --hot-reads 32
    run eigenbench --loops 0 => --loops | 1 or more
    tune eigenbench --loops 5 => '--loops'
    // Numbers that are none.
    run ra --words many => --words | "many" | 2^20
    run ra --words 1.5M => --words | "1.5M" | 2^20
    run ra --words "" => --words | "" | 2^20
    run ra --words 12Q => --words | "12Q" | 2^20
    run ra --words 8G => --words | 8G | at most 4294967295
    run ra --seed 2^64 => --seed | too large
    run ra --seed -1 => --seed | "-1" | stamp run ra --help
    // What memory cannot hold: more than any machine that runs this has; nothing is allocated.
    TINY_RA --blocks 2G --threads 1 => 2147483648 | at most
    TINY_RA --blocks 1G --threads 1024 => TiB | available | --threads
    // Names that are not known.
    run rs => "rs" | did you mean ra? | stamp list
    tune hta => "hta" | did you mean ht?
    run ra --variant hv-sort => "hv-sort" | did you mean hv-sorting?
    run ra --variant cgl,tvb-sorting => "tvb-sorting" | did you mean tbv-sorting?
    run ra --device cdua => "cdua" | did you mean cuda?
    run ra --device "" => "": known are auto, cpu, cuda, cuda:N and cuda:N,atomics=64 (try
    run ra --device cuda:x => "cuda:x" | cuda:0
    runn ra => 'runn' | 'run'
    run ra --thread 4 => '--thread' | '--threads'
    run => WORKLOAD | stamp run --help
"#;

#[test]
fn what_cannot_be_carried_out_is_refused_with_the_value_and_the_fix() {
    refused_rows(REFUSED);
    for option in ["--lanes-max 4", "--queue-after 9"] {
        let scheduler = format!("{option} --variant hv-sorting,cgl");
        let parts = format!("{option} | fast and fast-table | hv-sorting and cgl");
        refused(&format!("{TINY_RA} {scheduler}"), &parts);
        refused(&format!("tune ra --device cpu {scheduler}"), &parts);
    }
}

#[test]
fn a_gpu_that_is_not_there_is_refused_and_auto_falls_back_with_the_reason() {
    // Number 999 is there on no machine, with a driver or without.
    let gpu = "run ra --device cuda:999";
    let has_driver = text(&stamp(gpu).stderr).contains("GPU 999");
    refused(
        gpu,
        if has_driver {
            "GPU 999"
        } else {
            "NVIDIA driver"
        },
    );
    let (out, errors) = ended(0, "run ra --words 1K --transactions 500");
    if out.starts_with("cpu:") {
        assert!(errors.starts_with("note: no GPU can be used"), "{errors}");
        assert_eq!(errors.lines().count(), 1, "{errors}");
    } else {
        assert!(out.starts_with("cuda:"), "{out}");
    }
}

#[test]
fn what_tune_cannot_do_is_refused_before_the_first_search() {
    // `cgl` has no lock table; `ht` comes after `ra`. A search of these sizes
    // would take minutes.
    let start = std::time::Instant::now();
    refused_rows(
        "
        tune ra --device cpu --out no/such/folder/x.json => no/such/folder | make it first
        tune all --device cpu --repeat 1000 --variant cgl --locks 512,1000 => 1000 locks | 512 and 1024
        tune all --device cpu --repeat 1000 --stripe-bytes 12 => 12 | power of two
        tune all --device cpu --repeat 1000 --keys-per-tx 0 => --keys-per-tx 0 | 1 or more
        ",
    );
    if cfg!(target_os = "linux") {
        refused_rows(
            "tune ra --device cpu --out /proc/x.json => --out /proc/x.json | can be written",
        );
    }
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}
