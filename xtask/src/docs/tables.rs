//! The tables of the documents, by the name that their marker gives.

use super::data::Data;
use super::format::markdown;
use super::{claims, goals, speed};

type Make = fn(&Data) -> Result<String, String>;

/// Every table.
const TABLES: [(&str, Make); 14] = [
    ("claims", claims::table),
    ("parameters", parameters),
    ("speedups", speed::speedups),
    ("readme", speed::readme),
    ("ra-ht", speed::ra_ht),
    ("fast-rates", speed::rates),
    ("fast-times", speed::times),
    ("fast-eigenbench", speed::eigenbench),
    ("fast-targets", goals::targets),
    ("jit", speed::jit),
    ("mutants", mutants),
    ("fuzz", fuzz),
    ("histories", histories),
    ("fences", fences),
];

/// The Markdown of a table, whole lines.
pub(super) fn table(name: &str, data: &Data) -> Result<String, String> {
    match TABLES.iter().find(|(known, _)| *known == name) {
        Some((_, make)) => make(data),
        None => Err("no table has this name".to_owned()),
    }
}

/// Table 1 of Xu et al. 2014: workload here, name, shared words, reads, writes and
/// transactions there.
const TABLE_1: [(&str, &str, [&str; 4]); 8] = [
    ("ra", "RA", ["8 M", "16", "16", "1 M"]),
    ("ht", "HT", ["256 K", "8", "8", "1 M"]),
    ("genome/gn1", "GN-1", ["16 K", "1", "1", "4 M"]),
    ("genome/gn2", "GN-2", ["1 M", "1", "1", "1 M"]),
    ("genome", "GN, both", ["", "", "", ""]),
    ("labyrinth", "LB", ["1.75 M", "352", "352", "512"]),
    ("kmeans", "KM", ["2 K", "32", "32", "64 K"]),
    (
        "eigenbench",
        "EigenBench",
        ["1 M to 64 M", "32", "32", "1 M"],
    ),
];

/// The paper's Table 1, and what the measured runs had.
fn parameters(data: &Data) -> Result<String, String> {
    let fields = [
        "shared_words",
        "reads_per_tx",
        "writes_per_tx",
        "transactions",
    ];
    let mut rows = Vec::new();
    for (workload, name, paper) in TABLE_1 {
        let mut row = vec![name.to_owned()];
        for (there, field) in paper.into_iter().zip(fields) {
            let path = format!("h200/paper.json:characteristics[workload={workload}].{field}");
            let here = match data.number(&path) {
                Ok(value) if value < 100.0 => format!("{value:.2}"),
                Ok(value) => super::format::show(value, "n")?,
                Err(_) => "not recorded".to_owned(),
            };
            row.push(if there.is_empty() { "–" } else { there }.to_owned());
            row.push(here);
        }
        let row: Result<[String; 9], _> = row.try_into();
        rows.push(row.map_err(|_| "a row is too short")?);
    }
    let header = [
        "",
        "shared words, paper",
        "here",
        "reads, paper",
        "here",
        "writes, paper",
        "here",
        "transactions, paper",
        "here",
    ];
    Ok(markdown(header, &rows))
}

/// The table that `verify mutants` printed.
fn mutants(data: &Data) -> Result<String, String> {
    let lines = data.text("simulator/mutants.txt")?.lines();
    let table: Vec<&str> = lines
        .skip_while(|line| !line.starts_with("mutant "))
        .collect();
    Ok(format!("```text\n{}\n```\n", table.join("\n").trim_end()))
}

/// Random programs on the simulator, a row a run.
fn fuzz(data: &Data) -> Result<String, String> {
    let mut rows = Vec::new();
    for file in [
        "simulator/fuzz-100m.txt",
        "simulator/fuzz-fast.txt",
        "simulator/fuzz-narrow.txt",
    ] {
        let all = |column: &str| data.number(&format!("{file}:[variant=all].{column}"));
        let text = data.text(file)?;
        let first = text.lines().next().unwrap_or_default();
        let command = first.split(", of the source").next().unwrap_or_default();
        let violations = text
            .lines()
            .find_map(|line| line.strip_suffix(" violations"))
            .ok_or_else(|| format!("{file} gives no number of violations"))?;
        let number = |column| super::format::show(all(column)?, "n");
        rows.push([
            format!("`{file}`"),
            format!("`{}`", command.replacen("verify 0.1.0", "verify", 1)),
            number("schedules")?,
            number("transactions")?,
            number("attempts")?,
            violations.to_owned(),
        ]);
    }
    let header = [
        "file",
        "command",
        "schedules",
        "transactions",
        "attempts",
        "violations",
    ];
    Ok(markdown(header, &rows))
}

/// Histories recorded on the GPU: sums over the rows of each log.
fn histories(data: &Data) -> Result<String, String> {
    let mut rows = Vec::new();
    for (file, of) in [
        (
            "h200/histories.txt",
            "RA and HT, the paper's six algorithms",
        ),
        (
            "h200/histories-ports.txt",
            "every workload; every variant, except `fast-table` in LB; RA and HT by `fast` and `fast-table` only",
        ),
        (
            "h200/histories-past.txt",
            "`fast` and `fast-table` with teams, captured words, cells of 128 bits and sums, except KM by teams",
        ),
    ] {
        let sum = |column: &str| -> Result<String, String> {
            let total = data.numbers(&format!("{file}:{column}"))?.iter().sum();
            super::format::show(total, "n")
        };
        rows.push([
            format!("`{file}`"),
            of.to_owned(),
            sum("transactions")?,
            sum("attempts")?,
            sum("violations")?,
        ]);
    }
    let header = ["file", "of", "transactions", "attempts", "violations"];
    Ok(markdown(header, &rows))
}

/// The seeded defects that ran on the GPU, and in how many of the settings each
/// was seen.
fn fences(data: &Data) -> Result<String, String> {
    let file = "h200/fence-mutants.txt";
    let mut names: Vec<&str> = Vec::new();
    for name in data.all(&format!("{file}:[defect!=none].defect"))? {
        let name = name.as_str().unwrap_or_default();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let mut rows = Vec::new();
    for name in names {
        let found = data.all(&format!("{file}:[defect={name}].found"))?;
        let seen = found.iter().filter(|found| **found != "nothing").count();
        let attempts: f64 = data
            .numbers(&format!("{file}:[defect={name}].attempts"))?
            .iter()
            .sum();
        rows.push([
            format!("`{name}`"),
            found.len().to_string(),
            super::format::show(attempts, "n")?,
            seen.to_string(),
        ]);
    }
    let header = [
        "defect",
        "settings",
        "attempts",
        "settings in which it was seen",
    ];
    Ok(markdown(header, &rows))
}
