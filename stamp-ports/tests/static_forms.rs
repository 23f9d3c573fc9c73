//! `--static`: workloads as static updates, and what has no static form.

mod common;

use common::{Setting, TINY_BANK, TINY_RA, json, refused_rows, right};
use serde_json::Value;
use stamp_ports::devices::AnyDevice;
use stamp_ports::measure::runner::Runner;
use stamp_ports::variants::AskedVariant;
use stamp_ports::workloads::AnyWorkload;
use stamp_ports::workloads::bank::Bank;
use stamp_ports::workloads::eigenbench::Eigenbench;
use stamp_ports::workloads::form::Form;
use stamp_ports::workloads::ht::Ht;
use stamp_ports::workloads::ra::Ra;
use stm_core::algorithm::Variant;

#[test]
fn few_words_keep_every_update() {
    let ra = |words| Ra {
        words,
        form: Form::Static,
        ..Ra::default()
    };
    let bank = |accounts| Bank {
        accounts,
        audit_percent: 0,
        audit_range: accounts,
        form: Form::Static,
        ..Bank::default()
    };
    let ht = |buckets| Ht {
        form: Form::Static,
        ..Ht::of(buckets, 4)
    };
    let eigenbench = |hot_words| Eigenbench {
        form: Form::Static,
        ..Eigenbench::of_hot_words(hot_words)
    };
    let all: [AnyWorkload; 9] = [
        ra(16).into(),
        ra(32).into(),
        ra(1000).into(),
        bank(2).into(),
        bank(37).into(),
        ht(1).into(),
        ht(100).into(),
        eigenbench(1).into(),
        eigenbench(64).into(),
    ];
    for workload in all {
        for shape in [(2, 8), (5, 3)] {
            let setting = Setting {
                transactions: 3000,
                ..Setting::of(11, shape, (16, 4))
            };
            let cpu = AnyDevice::cpu();
            let mut runner = Runner::new(&cpu, &workload, 11, 3000).expect("data");
            let report = runner
                .measure(&setting.spec(&workload, Variant::Fast.into()))
                .expect("a run");
            assert!(report.verified, "{workload:?}: {:?}", report.error);
            assert_eq!(report.commits, 3000, "{workload:?}");
        }
    }
}

#[test]
fn tables_and_documents_name_the_static_form() {
    for base in [TINY_RA, &format!("{TINY_BANK} --audit-share 0")] {
        let table = right(&format!("{base} --static"));
        let row = table.lines().find(|line| line.contains("fast, static"));
        assert!(row.is_some_and(|row| row.contains("yes")), "{table}");
        assert!(!table.contains("optimized"), "{table}");
        let report = json(&format!("{base} --static --json"));
        assert_eq!(report["variant"], "fast, static");
        assert_eq!(report["resolved"], "fast");
        assert_eq!(report["verified"], true);
    }
}

#[test]
fn a_search_names_the_static_form_in_all_of_its_tables() {
    let document = json(
        "tune ra --device cpu --words 1K --transactions 2K --static --variant fast --repeat 1 --json",
    );
    for table in ["ratios", "runs", "search"] {
        let rows = document[table].as_array().expect("rows");
        assert!(!rows.is_empty() && rows.iter().all(|row| row["variant"] == "fast, static"));
    }
}

#[test]
fn recorded_histories_of_the_static_form_are_opaque_and_named() {
    let row = json(
        "record ra --device cpu --words 64 --transactions 2K --static --variant fast --check --json",
    );
    assert_eq!(row["variant"], "fast, static");
    assert!(
        row["violations"] == 0 && row["wrong_state"] == Value::Null,
        "{row}"
    );
}

#[test]
fn what_has_no_static_form_is_refused_with_the_value_and_the_fix() {
    for variant in AskedVariant::all() {
        if variant != Variant::Fast.into() {
            let name = variant.name();
            refused_rows(&format!(
                "TINY_RA --static --variant {name} => --static | {name} | --variant fast"
            ));
        }
    }
    refused_rows(
        "
        TINY_RA --static --variant all => cgl | --variant fast
        TINY_RA --static --reads 8 => --reads 8 | 16 | leave
        TINY_RA --static --writes 15 => --writes 15 | 16 | leave
        TINY_RA --static --reads 17 --writes 17 => --reads 17 | 16
        TINY_RA --static --profile => --profile | fast
        TINY_BANK --static => --audit-share 10 | --audit-share 0 | --static
        TINY_BANK --static --audit-share 0 --adds => --adds | --static | leave
        run ht --device cpu --static --keys-per-tx 5 => --keys-per-tx 5 | 4 | leave
        run ht --device cpu --static --nodes pool => --nodes pool | --static | leave
        run eigenbench --device cpu --static --hot-reads 31 => --static | 32 hot | leave
        run eigenbench --device cpu --static --mild-reads 1 => --static | nothing else
        run map --device cpu --static => --static | not for map
        tune ra --device cpu --static --variant vbv => --static | vbv | --variant fast
        record ra --device cpu --static --variant vbv => --static | vbv | --variant fast
        ",
    );
}
