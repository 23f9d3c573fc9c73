//! What the program prints, for whom, and its exit status.
//!
//! Every input that cannot be carried out: one line on standard error that names the value and the
//! fix, status 2, nothing on standard output, no panic.

use crate::prelude::*;
use serde_json::Value;
use stamp_ports::variants::AskedVariant;
use stamp_ports::workloads::WORKLOADS;

/// The fields of a run of 500 transactions that the project's plan fixes, with their kinds.
fn check_run(run: &Value, workload: &str, variant: &str) {
    holds!(*run, {"workload": workload, "variant": variant, "device": "cpu"});
    holds!(*run, {"transactions": 500, "commits": 500, "verified": true});
    for field in ["blocks", "threads", "locks", "metadata_bytes"] {
        assert!(number(&run[field]) > 0, "{field}: {run}");
    }
    assert!(
        run["seed"].is_u64() && run["aborts"]["read_stale"].is_u64(),
        "{run}"
    );
    let time = |which: &str| run["time_ms"][which].as_f64().expect("a time");
    assert!(time("min") > 0.0 && time("min") <= time("median") && time("median") <= time("max"));
    let rate = 500.0 / (time("median") * 1e-3);
    let shown = run["tx_per_s"].as_f64().expect("a rate");
    assert!((shown / rate - 1.0).abs() < 1e-3, "{shown} and {rate}");
    assert!(run["parameters"].is_object() && run["jit_ms"].is_number());
    assert!(run["resolved"].is_string() && run["device_name"].is_string());
    assert!(run.get("error").is_none());
}

#[test]
fn json_is_one_object_a_run_and_a_table_fits_a_terminal() {
    let names: Vec<&str> = AskedVariant::all().iter().map(|v| v.name()).collect();
    for (workload, base) in [
        ("ra", TINY_RA),
        ("ht", TINY_HT),
        ("bank", TINY_BANK),
        ("eigenbench", TINY_EIGENBENCH),
    ] {
        let runs = objects(&format!("{base} --variant all --repeat 2 --json"));
        assert_eq!(runs.len(), names.len(), "{runs:?}");
        for (run, name) in runs.iter().zip(&names) {
            check_run(run, workload, name);
        }
        let out = right(&format!("{base} --variant all"));
        let head = "workload | launch | tx/s | commits | aborts | over cgl | verified";
        has(&out, &format!("All 9 results are verified. | {head}"));
        assert!(!out.contains("NO"), "{out}");
    }
}

#[test]
fn without_verification_no_row_no_object_and_no_last_line_claims_one() {
    let run = json(&format!("{TINY_RA} --no-verify --json"));
    let verification = "not verified (--no-verify)";
    holds!(run, {"verified": false, "verification": verification});
    assert!(run.get("error").is_none(), "{run}");
    let table = right(&format!("{TINY_RA} --no-verify"));
    has(
        &table,
        " not  | The result is not verified, as --no-verify asks.",
    );
    assert!(!table.contains("yes") && !table.contains("Verified, ra"));
    let several = right(&format!("{TINY_RA} --variant cgl,fast --no-verify"));
    has(&several, "No result is verified, as --no-verify asks.");
    // What fails is a failure all the same.
    let line = "run ra --device cpu --variant cgl --transactions 4M --time-limit 0.01 --no-verify";
    has(&ended(1, line).0, " NO  | FAILED: ra cgl: ");
}

/// The parameters in the JSON of a run.
fn parameters(arguments: &str) -> Value {
    let options = arguments.strip_prefix("run ").expect("a run");
    one_run(options)["parameters"].take()
}

/// Runs, and fields of their objects.
const RUNS: &str = r#"
    // 34 ranges, the last of 34 accounts; audits read 16 at a time.
    TINY_BANK --zipf 0.99 --audit-share 25% --audit-range 30 => {"parameters": {"zipf_thousandths": 990, "audit_percent": 25, "audit_range": 30, "accounts": 1024, "read_capacity": 48, "write_capacity": 2}}
    TINY_BANK --audit-share 0 => {"parameters": {"read_capacity": 2}}
    // Fewer accounts than a range are one range.
    run bank --device cpu --transactions 100 --accounts 10 --audit-share 100% --zipf 10 => {"parameters": {"audit_range": 10, "audit_percent": 100, "zipf_thousandths": 10000}}
    // Loops are transactions of each thread.
    run eigenbench --device cpu --hot-words 1K --blocks 2 --threads 3 --loops 50 => {"transactions": 300, "commits": 300}
    TINY_RA --lanes-max 4 --variant fast => {"parameters": {"lanes_max": 4}}
    TINY_RA --variant optimized --locks 512 => {"resolved": "hv-sorting"}
    TINY_RA --variant optimized --locks 1024 => {"resolved": "tbv-sorting"}
"#;

#[test]
fn runs_have_what_their_options_say_in_their_objects() {
    for (line, fields) in rows(RUNS).filter_map(|row| row.split_once(" => ")) {
        let run = json(&format!("{} --json", whole(line)));
        contains(&run, &serde_json::from_str(fields).expect("JSON"));
        assert_eq!(run["verified"], true, "{line}");
    }
}

#[test]
fn every_option_of_eigenbench_is_one_parameter() {
    let base = "run eigenbench --device cpu --transactions 300";
    let default = parameters(base);
    let options = "hot-words hot-reads hot-writes mild-words mild-reads mild-writes cold-words \
                   cold-reads cold-writes cold-reads-outside cold-writes-outside nops nops-outside \
                   locality";
    for option in options.split(' ') {
        let mut set = parameters(&format!("{base} --{option} 7"));
        let name = match option {
            "locality" => "locality_percent".to_owned(),
            option => option.replace('-', "_"),
        };
        assert_eq!(set[&name], 7, "{option}");
        // And no other: but for the sets, which follow.
        for follows in [&name[..], "read_capacity", "write_capacity"] {
            set[follows] = default[follows].clone();
        }
        assert_eq!(set, default, "{option}");
    }
}

/// What commands print: arguments, and parts of it.
const SHOWN: &str = "
    // Launches of every shape.
    tune {bank --accounts 1K,eigenbench --hot-words 1K --mild-writes 2 --cold-reads-outside 2} --device cpu --transactions 500 --variant egpgv,hv-sorting --repeat 1 --locks 1K => Both results are verified.
    tune labyrinth --device cpu -x 20 -y 10 -z 2 -n 12 --variant egpgv,hv-sorting --repeat 1 --locks 1K => Both results are verified.
    bench floor --device cpu --quick --workload ra --words 64K --transactions 2K => not verified (unsafe) | no bound | critical-section | special-purpose | atomic adds | hv-sorting | fast
    run nw --device cpu --letters 40 => yes
    list => diagonals | graph | locks | cells
    device => cpu: CPU | at most 1024
    --version => stamp 0.
";

#[test]
fn commands_print_what_they_find() {
    split(SHOWN).for_each(|(line, parts)| has(&right(&line), &parts));
}

#[test]
fn all_runs_every_workload_and_several_are_named_in_one_argument() {
    let known: Vec<&str> = WORKLOADS.iter().map(|(name, _)| *name).collect();
    for (line, expected) in [
        ("run all -x 32 -y 32 -z 12", known),
        ("run ht,ra --words 1K --buckets 64", vec!["ht", "ra"]),
    ] {
        let runs = objects(&format!("{line} --device cpu --transactions 100 --json"));
        assert!(
            runs.iter().map(|run| &run["workload"]).eq(expected),
            "{runs:?}"
        );
    }
}

#[test]
fn paths_that_are_left_unrouted_are_told() {
    // More ends than a path between each pair leaves room for.
    let base = "run labyrinth --device cpu -x 8 -y 8 -z 1 -n 14";
    let run = json(&format!("{base} --json"));
    assert!(number(&run["observed"]["unrouted"]) > 0, "{run}");
    has(&right(base), "Paths without a route | of 14 paths");
}

#[test]
fn list_names_workloads_variants_and_devices() {
    let out = right("list");
    let names = "ra ht bank eigenbench cgl egpgv hv-backoff fast fast-table optimized cpu";
    for name in names.split(' ') {
        has(&out, &format!("{name} "));
    }
    assert!(out.lines().all(|line| line.chars().count() <= 80), "{out}");
    let all = json("list --json");
    assert_eq!(all["workloads"][0]["name"], "ra");
    assert_eq!(list(&all["variants"]).len(), AskedVariant::all().len());
    assert_eq!(all["devices"][0]["id"], "cpu");
}

#[test]
fn device_tells_what_there_is_and_why_the_rest_is_not() {
    let all = json("device --json");
    let (devices, refused) = (list(&all["devices"]), list(&all["refused"]));
    assert!(devices[0]["threads_max"].is_u64() && devices[0]["available_bytes"].is_u64());
    assert!(devices.len() > 1 || !refused.is_empty(), "{all}");
    assert!(refused.iter().all(|r| r["why"].is_string()), "{all}");
}

#[test]
fn help_fits_eighty_columns_and_names_every_option() {
    let labyrinth = "-x < | -y < | -z < | -n < | -g < | -s < | -i, --input < | --walls <";
    let kmeans =
        "--input | --points | --dims | --centres | -m, | -n | -t, | --passes-max | --no-normalise";
    let against = "Examples: | Exit status: | ra-16k | --at-least | vacation";
    for (command, parts) in [
        ("", "stamp run ra"),
        ("run", "stamp"),
        ("tune", "stamp"),
        ("list", "stamp"),
        ("generate", "kmeans | labyrinth"),
        ("generate kmeans", "--seed"),
        ("generate labyrinth", "--walls"),
        ("run labyrinth,genome", labyrinth),
        ("run kmeans", kmeans),
        ("bench", "against"),
        ("bench against", against),
    ] {
        let help = help(command, parts);
        assert!(!help.contains("--this"), "{help}");
    }
}

#[test]
fn tracing_goes_to_standard_error_and_leaves_standard_output_alone() {
    let (out, errors) = ended(0, &format!("{TINY_RA} --json -v"));
    assert!(serde_json::from_str::<Value>(&out).is_ok());
    has(&errors, "launch | verify");
}

#[test]
fn a_time_limit_that_runs_out_is_a_run_that_is_not_verified() {
    // One word, so that every two transactions conflict and look at the flag.
    let (out, _) = ended(
        1,
        "run ra --device cpu --words 1 --reads 1 --writes 1 --variant hv-sorting --blocks 2 \
         --threads 4 --transactions 4M --time-limit 0.05 --json",
    );
    let run: Value = serde_json::from_str(&out).expect("one object");
    assert_eq!(run["verified"], false);
    let (commits, aborts) = (number(&run["commits"]), run["aborts"].as_object());
    let aborts: u64 = aborts.expect("by reason").values().map(number).sum();
    assert!(
        commits + aborts > 0 && number(&run["metadata_bytes"]) > 0,
        "{run}"
    );
    let shown = format!("{commits} transactions committed, {aborts} attempts aborted");
    let parts = format!("time limit | --time-limit | {shown}");
    has(run["error"].as_str().expect("an error"), &parts);
}

#[test]
fn tune_finds_a_launch_for_each_variant_and_writes_all_it_tried() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ra.json");
    let tune = "tune ra --device cpu --words 4K --transactions 2K --locks 512,1K --repeat 1 \
                --variant cgl,hv-sorting,optimized --out";
    let out = right(&format!("{tune} {}", path.display()));
    has(&out, "All 5 results are verified.");
    let file = std::fs::read(&path).expect("the file");
    let document: Value = serde_json::from_slice(&file).expect("JSON");
    let command = document["command"].as_str().expect("a command");
    // It names no folder.
    let is_whole = command.starts_with("stamp tune ra") && command.ends_with("--out ra.json");
    assert!(is_whole, "{command}");
    assert_eq!(document["device"]["id"], "cpu");
    let (runs, ratios) = (list(&document["runs"]), list(&document["ratios"]));
    let key = |run: &Value| format!("{} {}", run["variant"].as_str().unwrap_or(""), run["locks"]);
    let keys = runs.iter().map(key).collect::<Vec<_>>().join(", ");
    let expected = "cgl 512, hv-sorting 512, hv-sorting 1024, optimized 512, optimized 1024";
    assert_eq!(keys, expected);
    assert_eq!(ratios[0]["over_cgl"], 1.0);
    let rates = |of: &[Value]| -> Vec<Value> { of.iter().map(|r| r["tx_per_s"].clone()).collect() };
    assert_eq!(rates(runs), rates(ratios));
    let search = list(&document["search"]);
    // Three searches: `optimized` uses those of the algorithm it stands for.
    let tried = search.len();
    assert!(tried >= 3 * 3 && tried.is_multiple_of(3), "{tried}");
    assert!(search.iter().all(|tried| tried["tx_per_s"].is_number()));
}

#[test]
fn what_cannot_be_carried_out_is_refused_with_the_value_and_the_fix() {
    let start = std::time::Instant::now();
    refused_rows(include_str!("refused.txt"));
    assert!(start.elapsed().as_secs() < 120, "{:?}", start.elapsed());
    for option in ["--lanes-max 4", "--queue-after 9"] {
        let scheduler = format!("{option} --variant hv-sorting,cgl");
        let parts = format!("{option} | fast and fast-table | hv-sorting and cgl");
        refused(&format!("{TINY_RA} {scheduler}"), &parts);
        refused(&format!("tune ra --device cpu {scheduler}"), &parts);
    }
    // No word may begin with a dash, after `--` neither, so that is no advice.
    let (_, errors) = ended(2, "run ra --seed -1");
    assert!(!errors.contains("'--'"), "{errors}");
}

#[test]
fn a_gpu_that_is_not_there_is_refused_and_auto_falls_back_with_the_reason() {
    // Number 999 is there on no machine, with a driver or without.
    let gpu = "run ra --device cuda:999";
    let has_driver = text(&stamp(gpu).stderr).contains("GPU 999");
    let expected = ["NVIDIA driver", "GPU 999"][usize::from(has_driver)];
    refused(gpu, expected);
    let (out, errors) = ended(0, "run ra --words 1K --transactions 500");
    if out.starts_with("cpu:") {
        assert!(errors.starts_with("note: no GPU can be used"), "{errors}");
        assert_eq!(errors.lines().count(), 1, "{errors}");
    } else {
        assert!(out.starts_with("cuda:"), "{out}");
    }
}

#[test]
fn a_document_that_cannot_be_written_is_refused_before_the_first_search() {
    if cfg!(target_os = "linux") {
        let parts = "--out /proc/x.json | can be written";
        refused("tune ra --device cpu --out /proc/x.json", parts);
    }
}
