//! The goals that `fast` was written for, and what was reached.

use super::data::Data;
use super::expression::value;
use super::format::markdown;
use super::format::show;

/// Goals that were set before the work: what, how it is computed, whether
/// it is to be at least (`>`) or at most (`<`) the limit.
const GOALS: [(&str, &str, char, f64, &str); 17] = [
    (
        "RA: `fast` over `hv-sorting`",
        "fast/ra:stm[variant=fast].tx_per_s / fast/ra:stm[variant=hv-sorting].tx_per_s",
        '>',
        25.0,
        "x1",
    ),
    (
        "RA: `fast-table` over `hv-sorting`",
        "fast/ra:stm[variant=fast-table].tx_per_s / fast/ra:stm[variant=hv-sorting].tx_per_s",
        '>',
        8.0,
        "x1",
    ),
    (
        "RA: time of `fast` over the same accesses without synchronisation",
        "fast/ra:ratios[variant=fast to=plain_accesses].time",
        '<',
        4.0,
        "x2",
    ),
    (
        "bank, 1 M accounts: `fast`, tx/s",
        "fast/bank:stm[variant=fast].tx_per_s",
        '>',
        2e9,
        "si",
    ),
    (
        "bank, 10 K accounts: `fast`, tx/s",
        "fast/bank-10k:stm[variant=fast].tx_per_s",
        '>',
        150e6,
        "si",
    ),
    (
        "bank, Zipf 0.9: `fast` over `hv-sorting`, transfers that read",
        "fast/bank-zipf:stm[variant=fast].tx_per_s / fast/bank-zipf:stm[variant=hv-sorting].tx_per_s",
        '>',
        5.0,
        "x1",
    ),
    (
        "HT: `fast` over `hv-sorting`",
        "fast/ht:stm[variant=fast].tx_per_s / fast/ht:stm[variant=hv-sorting].tx_per_s",
        '>',
        10.0,
        "x1",
    ),
    (
        "HT: `fast` over the rival",
        "fast/ht:ratios[variant=fast kind=special-purpose].rate",
        '>',
        0.25,
        "x2",
    ),
    (
        "GN-1: `fast` over the rival",
        "fast/genome:ratios[variant=fast kind=special-purpose].rate",
        '>',
        0.25,
        "x2",
    ),
    (
        "GN-1: `fast` over `hv-sorting`",
        "fast/genome:stm[variant=hv-sorting].kernels[kernel=gn1_hv_sorting].time_ms / fast/genome:stm[variant=fast].kernels[kernel=gn1_fast].time_ms",
        '>',
        5.0,
        "x2",
    ),
    (
        "GN-2: `fast` over `hv-sorting`",
        "fast/genome:stm[variant=hv-sorting].kernels[kernel=gn2_hv_sorting].time_ms / fast/genome:stm[variant=fast].kernels[kernel=gn2_fast].time_ms",
        '>',
        5.0,
        "x2",
    ),
    (
        "KM: `fast` over `cgl`",
        "fast/kmeans:stm[variant=fast].tx_per_s / fast/kmeans-cgl:stm[variant=cgl].tx_per_s",
        '>',
        10.0,
        "x0",
    ),
    (
        "KM: `fast` by teams over `hv-sorting`",
        "fast/kmeans:stm[variant=fast].tx_per_s / fast/kmeans:stm[variant=hv-sorting].tx_per_s",
        '>',
        20.0,
        "x1",
    ),
    (
        "KM: `fast` with adds over the rival",
        "fast/kmeans:ratios[variant=fast,_adds kind=special-purpose].rate",
        '>',
        0.2,
        "x2",
    ),
    (
        "LB: time of a claim, `hv-sorting` over `fast` by teams",
        "fast/labyrinth:stm[variant=hv-sorting].observed.claim_us / fast/labyrinth:stm[variant=fast].observed.claim_us",
        '>',
        3.0,
        "x0",
    ),
    (
        "LB: whole program, `fast` over `hv-sorting`",
        "fast/labyrinth:stm[variant=fast].tx_per_s / fast/labyrinth:stm[variant=hv-sorting].tx_per_s",
        '>',
        1.0,
        "x2",
    ),
    (
        "EigenBench: `fast` over the best of `hv-sorting`, at the worst of 12 points",
        "computed:eigenbench-least",
        '>',
        1.0,
        "x2",
    ),
];

/// The goals and what was reached.
pub(super) fn targets(data: &Data) -> Result<String, String> {
    let mut rows = Vec::new();
    for (what, expression, sense, limit, format) in GOALS {
        let reached = value(expression, data)?;
        let met = if sense == '>' {
            reached >= limit
        } else {
            reached <= limit
        };
        let bound = if sense == '>' { "at least" } else { "at most" };
        rows.push([
            what.to_owned(),
            format!("{bound} {}", show(limit, format)?),
            show(reached, format)?,
            if met { "reached" } else { "missed" }.to_owned(),
        ]);
    }
    Ok(markdown(["goal", "limit", "measured", ""], &rows))
}
