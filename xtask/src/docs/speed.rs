//! Tables of rates and times.

use super::data::Data;
use super::format::markdown;
use super::format::{ratio, show, si};
use super::paper::{Paper, VARIANTS, WORKLOADS};

/// The gains over `cgl` of the paper's Figure 2; genome's two kernels apart.
pub(super) fn speedups(data: &Data) -> Result<String, String> {
    let paper = Paper(data);
    let mut rows = Vec::new();
    for (workload, name) in WORKLOADS.into_iter().chain([("bank", "bank")]) {
        let name = if name == "GN" {
            "GN, whole program"
        } else {
            name
        };
        let mut row = vec![name.to_owned(), si(paper.rate(workload, "cgl")?)];
        for variant in VARIANTS {
            row.push(ratio(paper.gain(workload, variant)?));
        }
        rows.push(to_row(row)?);
        if workload != "genome" {
            continue;
        }
        for (kernel, name) in [("gn1", "GN-1"), ("gn2", "GN-2")] {
            let commits = data.number(&format!(
                "h200/paper.json:speedups[workload=genome variant=cgl].kernels[kernel={kernel}_cgl].commits"
            ))?;
            let rate = commits / paper.kernel_ms(kernel, "cgl")? * 1e3;
            let mut row = vec![name.to_owned(), si(rate)];
            for variant in VARIANTS {
                row.push(ratio(paper.kernel_gain(kernel, variant)?));
            }
            rows.push(to_row(row)?);
        }
    }
    let mut header = ["", "`cgl`, tx/s", "", "", "", "", "", ""];
    header[2..].copy_from_slice(&VARIANTS);
    Ok(markdown(header, &rows))
}

fn to_row<const N: usize>(cells: Vec<String>) -> Result<[String; N], String> {
    cells
        .try_into()
        .map_err(|_| "a row is too short".to_owned())
}

/// RA and HT with two sizes of the lock table: `stamp tune`.
pub(super) fn ra_ht(data: &Data) -> Result<String, String> {
    let mut rows = Vec::new();
    for variant in ["cgl"].into_iter().chain(VARIANTS) {
        let mut row = vec![format!("`{variant}`")];
        for (workload, locks) in [("ra", 20), ("ra", 24), ("ht", 20), ("ht", 24)] {
            let locks = 1_u64 << locks;
            if matches!(variant, "cgl" | "vbv") && locks > 1 << 20 {
                row.push("uses no locks of the table".to_owned());
                continue;
            }
            let run = format!("workload={workload} variant={variant} locks={locks}");
            let field = |field: &str| data.number(&format!("h200/ra-ht.json:runs[{run}].{field}"));
            let rate = field("tx_per_s")?;
            let cgl = format!("h200/ra-ht.json:runs[workload={workload} variant=cgl].tx_per_s");
            let over = ratio(rate / data.number(&cgl)?);
            let (blocks, threads) = (field("blocks")?, field("threads")?);
            row.push(format!("{}, {over} ({blocks} x {threads})", si(rate)));
        }
        rows.push(to_row(row)?);
    }
    let header = [
        "",
        "RA, 1 M locks",
        "RA, 16 M locks",
        "HT, 1 M locks",
        "HT, 16 M locks",
    ];
    Ok(markdown(header, &rows))
}

/// The workloads of `stamp bench floor`: run, name, the kernel without
/// synchronisation, the kernel of genome that is measured.
const FLOORS: [(&str, &str, &str, &str); 9] = [
    ("fast/ra", "RA", "floor_ra", ""),
    ("fast/ht", "HT", "floor_ht", ""),
    ("fast/genome", "GN-1", "floor_gn1", "gn1_"),
    ("fast/kmeans", "KM", "floor_kmeans", ""),
    ("fast/eigenbench", "EigenBench", "floor_eigenbench", ""),
    ("fast/bank", "bank, transfers", "floor_bank", ""),
    ("fast/bank-10k", "bank, 10 K accounts", "floor_bank", ""),
    ("fast/bank-zipf", "bank, Zipf 0.9", "floor_bank", ""),
    ("fast/bank-audits", "bank, half audits", "floor_bank", ""),
];

/// A variant's rate in one run, in transactions a second.
fn rate(data: &Data, run: &str, variant: &str, kernel: &str) -> Result<f64, String> {
    let row = format!("{run}:stm[variant={variant}]");
    if kernel.is_empty() {
        return data.number(&format!("{row}.tx_per_s"));
    }
    let kernel = format!(
        "{row}.kernels[kernel={kernel}{}]",
        variant.replace('-', "_")
    );
    let commits = data.number(&format!("{kernel}.commits"))?;
    Ok(commits / data.number(&format!("{kernel}.time_ms"))? * 1e3)
}

/// A variant's rate and launch; a dash where it was not measured.
fn cell(data: &Data, run: &str, variant: &str, kernel: &str) -> Result<String, String> {
    if data.count(&format!("{run}:stm[variant={variant}]"))? == 0 {
        return Ok("–".to_owned());
    }
    let field = |field: &str| data.number(&format!("{run}:stm[variant={variant}].{field}"));
    let rate = si(rate(data, run, variant, kernel)?);
    Ok(format!(
        "{rate} ({} x {})",
        field("blocks")?,
        field("threads")?
    ))
}

/// `fast` and `fast-table` beside `hv-sorting`, the same accesses without
/// synchronisation, and hand-written rivals.
pub(super) fn rates(data: &Data) -> Result<String, String> {
    let mut rows = Vec::new();
    for (run, name, floor, kernel) in FLOORS {
        let fast = rate(data, run, "fast", kernel)?;
        let over = fast / rate(data, run, "hv-sorting", kernel)?;
        let floor = data.number(&format!("{run}:runs[kernel={floor}].tx_per_s"))?;
        let rival = format!("{run}:runs[kind=special-purpose]");
        let rival = if data.count(&rival)? > 0 {
            let rate = data.number(&format!("{rival}.tx_per_s"))?;
            let what = data.one(&format!("{rival}.name"))?.as_str();
            let what = what.unwrap_or_default().replace("GN-1, ", "");
            format!("{} ({what}); {}", si(rate), ratio(fast / rate))
        } else {
            "–".to_owned()
        };
        rows.push([
            name.to_owned(),
            transactions(data, run)?,
            cell(data, run, "hv-sorting", kernel)?,
            cell(data, run, "fast-table", kernel)?,
            cell(data, run, "fast", kernel)?,
            cell(data, run, "fast,_adds", kernel)?,
            ratio(over),
            si(floor),
            rival,
        ]);
    }
    let header = [
        "transactions a second",
        "transactions",
        "`hv-sorting`",
        "`fast-table`",
        "`fast`",
        "`fast`, adds",
        "`fast` over `hv-sorting`",
        "without synchronisation",
        "rival; `fast` over it",
    ];
    Ok(markdown(header, &rows))
}

/// A few of those rates, for the README.
pub(super) fn readme(data: &Data) -> Result<String, String> {
    let mut rows = Vec::new();
    for (run, what) in [
        ("fast/ra", "random array: 16 reads and writes of 8 M words"),
        ("fast/ht", "hash table: 4 keys into 256 K buckets"),
        ("fast/bank", "bank: transfers between 1 M accounts"),
        ("fast/bank-zipf", "bank, accounts drawn by Zipf with 0.9"),
        ("fast/kmeans", "k-means: points to 64 rows, by teams"),
    ] {
        let fast = rate(data, run, "fast", "")?;
        let rival = data.number(&format!("{run}:runs[kind=special-purpose].tx_per_s"))?;
        rows.push([
            what.to_owned(),
            si(fast),
            ratio(fast / rate(data, run, "hv-sorting", "")?),
            ratio(fast / rival),
        ]);
    }
    let header = ["", "`fast`", "over `hv-sorting`", "over the rival"];
    Ok(markdown(header, &rows))
}

/// How many transactions the variants ran: one number, or each one's.
fn transactions(data: &Data, run: &str) -> Result<String, String> {
    let each = ["hv-sorting", "fast-table", "fast"].map(|variant| {
        let count = data.number(&format!("{run}:stm[variant={variant}].transactions"));
        count.map(|count| (variant, count))
    });
    let [a, b, c] = each;
    let all = [a?, b?, c?];
    let one = show(all[0].1, "n")?;
    if all
        .iter()
        .all(|(_, count)| count.total_cmp(&all[0].1).is_eq())
    {
        return Ok(one);
    }
    let each = all.map(|(variant, count)| format!("`{variant}` {}", si(count)));
    Ok(format!("not equal: {}", each.join(", ")))
}

/// What is measured in time: genome's second kernel, labyrinth.
pub(super) fn times(data: &Data) -> Result<String, String> {
    let gn2 = |run: &str, variant: &str| {
        let kernel = format!("gn2_{}", variant.replace('-', "_"));
        format!("{run}:stm[variant={variant}].kernels[kernel={kernel}].time_ms")
    };
    let of = |run: &str, field: &str| {
        ["hv-sorting", "fast-table", "fast"]
            .map(|variant| format!("{run}:stm[variant={variant}].{field}"))
    };
    let variants = ["hv-sorting", "fast-table", "fast"];
    let measures = [
        ("GN-2, ms", variants.map(|v| gn2("fast/genome", v))),
        (
            "GN-2, 64-bit atomics, ms",
            variants.map(|v| gn2("fast/genome-64", v)),
        ),
        ("GN, whole program, ms", of("fast/genome", "time_ms.median")),
        (
            "GN, whole program, 64-bit atomics, ms",
            of("fast/genome-64", "time_ms.median"),
        ),
        (
            "LB, one claim, us",
            of("fast/labyrinth", "observed.claim_us"),
        ),
        (
            "LB, whole program, ms",
            of("fast/labyrinth", "time_ms.median"),
        ),
    ];
    let mut rows = Vec::new();
    for (name, [hv, table, fast]) in measures {
        let [hv, table, fast] = [hv, table, fast].map(|path| data.number(&path));
        let (hv, table, fast) = (hv?, table?, fast?);
        let cell = |time: f64| show(time, if time < 999.5 { "si" } else { "n" });
        rows.push([
            name.to_owned(),
            cell(hv)?,
            cell(table)?,
            cell(fast)?,
            ratio(hv / fast),
        ]);
    }
    let header = [
        "time",
        "`hv-sorting`",
        "`fast-table`",
        "`fast`",
        "`hv-sorting`'s time over `fast`'s",
    ];
    Ok(markdown(header, &rows))
}

/// `fast` at points of the paper's Figure 4, against `hv-sorting` with 64 M locks
/// in the same file, and with its best table in `paper.json`.
pub(super) fn eigenbench(data: &Data) -> Result<String, String> {
    let mut rows = Vec::new();
    for words in [1_u64, 4, 16, 64] {
        let mut row = vec![format!("{words} M words")];
        for blocks in [16, 132, 528] {
            let [fast, same, best] = eigenbench_point(data, words << 20, blocks)?;
            row.push(si(fast));
            row.push(format!("{}; {}", ratio(fast / same), ratio(fast / best)));
        }
        rows.push(to_row(row)?);
    }
    let header = [
        "",
        "16 x 64",
        "over `hv-sorting`",
        "132 x 64",
        "over `hv-sorting`",
        "528 x 64",
        "over `hv-sorting`",
    ];
    Ok(markdown(header, &rows))
}

/// The rates of `fast`, of `hv-sorting` in the same file, and of `hv-sorting` with
/// the table of locks that is best at this point in either file.
fn eigenbench_point(data: &Data, words: u64, blocks: u64) -> Result<[f64; 3], String> {
    let same = |variant: &str| {
        data.number(&format!(
            "h200/fast-eigenbench.jsonl:[variant={variant} blocks={blocks} parameters/hot_words={words}].tx_per_s"
        ))
    };
    let tables = data.numbers(&format!(
        "h200/paper.json:eigenbench[variant=hv-sorting blocks={blocks} hot_words={words}].tx_per_s"
    ))?;
    let same_file = same("hv-sorting")?;
    let best = tables.into_iter().fold(same_file, f64::max);
    Ok([same("fast")?, same_file, best])
}

/// How long the driver compiled the module of each workload.
pub(super) fn jit(data: &Data) -> Result<String, String> {
    let mut rows = Vec::new();
    for (run, name) in [
        ("fast/ra", "RA"),
        ("fast/ht", "HT"),
        ("fast/genome", "GN"),
        ("fast/labyrinth", "LB"),
        ("fast/kmeans", "KM"),
        ("fast/eigenbench", "EigenBench"),
        ("fast/bank", "bank"),
    ] {
        let ms = |variant: &str| -> Result<String, String> {
            show(
                data.number(&format!("{run}:stm[variant={variant}].jit_ms"))?,
                "n",
            )
        };
        let [a, b, c] = [ms("hv-sorting")?, ms("fast-table")?, ms("fast")?];
        rows.push([name.to_owned(), a, b, c]);
    }
    let header = ["ms", "`hv-sorting`", "`fast-table`", "`fast`"];
    Ok(markdown(header, &rows))
}

/// The figures that a document cannot write as an expression, by name.
pub(super) fn computed(name: &str, data: &Data) -> Result<f64, String> {
    if let Some(workload) = name.strip_prefix("abort-share-") {
        let run = format!("fast/{workload}:stm[variant=fast]");
        let aborts: f64 = data.numbers(&format!("{run}.aborts.*"))?.iter().sum();
        return Ok(aborts / (aborts + data.number(&format!("{run}.commits"))?));
    }
    let mut gains = Vec::new();
    for words in [1_u64, 4, 16, 64] {
        for blocks in [16, 132, 528] {
            let [fast, _, best] = eigenbench_point(data, words << 20, blocks)?;
            gains.push(fast / best);
        }
    }
    gains.sort_by(f64::total_cmp);
    match name {
        "eigenbench-least" => Ok(gains[0]),
        "eigenbench-most" => Ok(gains[gains.len() - 1]),
        _ => Err(format!("`computed:{name}` is not known")),
    }
}
