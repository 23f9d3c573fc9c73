//! The commands `list` and `device`.

use super::args::ListArgs;
use super::machine::DeviceArgs;
use crate::devices::AnyDevice;
use crate::error::Result;
use crate::numbers::bytes;
use crate::nw::schemes::SCHEMES;
use crate::output::align;
use crate::variants::AskedVariant;
use crate::workloads::contender::ContenderKind;
use crate::workloads::input::{Occasion, SEED};
use crate::workloads::{AnyInput, WORKLOADS};
use serde_json::json;
use std::collections::BTreeMap;
use std::io::{Write, stdout};
use stm_core::host::Device;

/// The workloads that have implementations without transactions, for `bench sync` and `bench nw` or
/// else for `bench floor`, with their names.
fn implementations(of_sync: bool) -> Result<Vec<(&'static str, Vec<&'static str>)>> {
    let mut all = Vec::new();
    for &(workload, _) in WORKLOADS {
        let input = AnyInput::sized(workload, Occasion::Quick);
        let Some(made) = input.map(|input| input.make(SEED)).transpose()? else {
            continue;
        };
        let mut contenders = made.contenders();
        contenders.retain(|c| (c.kind == ContenderKind::Excluding) == of_sync);
        let mut names: Vec<_> = contenders.iter().map(|contender| contender.name).collect();
        if of_sync && workload == "nw" {
            names.extend(SCHEMES.iter().map(|scheme| scheme.name));
        }
        if !names.is_empty() {
            all.push((workload, names));
        }
    }
    Ok(all)
}

/// The columns of a row that names fill.
const NAMES_WIDE: usize = 64;

/// A row for each line of names, the first of which has the workload.
fn wrapped(workload: &str, names: &[&str]) -> Vec<[String; 2]> {
    let mut rows = vec![[workload.to_owned(), String::new()]];
    for name in names {
        match rows.last_mut() {
            Some([_, line]) if line.is_empty() => line.push_str(name),
            // One space does not tell names apart that have spaces.
            Some([_, line]) if line.len() + name.len() + 1 < NAMES_WIDE => {
                line.push_str("; ");
                line.push_str(name);
            }
            _ => rows.push([String::new(), (*name).to_owned()]),
        }
    }
    rows
}

/// Lists workloads, variants and devices.
pub(super) fn list(args: ListArgs) -> Result<bool> {
    let (devices, refused) = AnyDevice::all();
    let mut out = stdout().lock();
    if args.json {
        let named = |name: &str, about: &str| json!({"name": name, "about": about});
        let list = json!({
            "workloads": WORKLOADS.iter().map(|(name, about)| named(name, about)).collect::<Vec<_>>(),
            "variants": AskedVariant::all().iter().map(|v| named(v.name(), v.about())).collect::<Vec<_>>(),
            "without_transactions": implementations(true)?.into_iter().collect::<BTreeMap<_, _>>(),
            "beside_transactions": implementations(false)?.into_iter().collect::<BTreeMap<_, _>>(),
            "devices": devices.iter().map(|d| json!({"id": d.id(), "name": d.name()})).collect::<Vec<_>>(),
            "refused": refused,
        });
        writeln!(out, "{list:#}")?;
        return Ok(true);
    }
    let mut section = |title: &str, rows: Vec<[String; 2]>| -> Result<()> {
        writeln!(out, "{title}")?;
        let rows: Vec<Vec<String>> = rows.into_iter().map(Vec::from).collect();
        for line in align(&rows, 2, true) {
            writeln!(out, "  {line}")?;
        }
        Ok(())
    };
    let pair = |a: &str, b: &str| [a.to_owned(), b.to_owned()];
    let workloads = WORKLOADS.iter().map(|(n, a)| pair(n, a));
    section("Workloads", workloads.collect())?;
    section(
        "Variants",
        AskedVariant::all()
            .iter()
            .map(|v| pair(v.name(), v.about()))
            .collect(),
    )?;
    for (title, of_sync) in [
        ("Without transactions, in `stamp bench floor`", false),
        ("Without transactions, in `stamp bench sync`", true),
    ] {
        let all = implementations(of_sync)?;
        let rows = all.iter().flat_map(|(n, names)| wrapped(n, names));
        section(title, rows.collect())?;
    }
    let mut rows: Vec<_> = devices.iter().map(|d| [d.id(), d.name()]).collect();
    rows.extend(
        refused
            .iter()
            .map(|r| pair(&r.id, &format!("not usable: {}", r.why))),
    );
    section("Devices", rows)?;
    Ok(true)
}

/// Shows what each device is.
pub(super) fn device(args: &DeviceArgs) -> Result<bool> {
    let (devices, refused) = AnyDevice::all();
    let mut out = stdout().lock();
    let described = devices
        .iter()
        .map(AnyDevice::describe)
        .collect::<Result<Vec<_>>>()?;
    if args.json {
        writeln!(
            out,
            "{:#}",
            json!({"devices": described, "refused": refused})
        )?;
        return Ok(true);
    }
    for d in &described {
        writeln!(out, "{}: {}", d.id, d.name)?;
        let mut rows: Vec<Vec<String>> = Vec::new();
        let mut row = |what: &str, value: String| rows.push(vec![what.into(), value]);
        if let Some(gpu) = &d.gpu {
            row("compute capability", gpu.compute_capability.clone());
            row("driver, newest CUDA", gpu.driver_cuda_version.clone());
            row("multiprocessors", d.processors.to_string());
            row("memory", bytes(gpu.memory_bytes));
            row("second-level cache", bytes(gpu.l2_bytes));
            let resident = gpu.resident_threads_per_processor;
            row("resident threads of each", resident.to_string());
        } else {
            row("cores", d.processors.to_string());
        }
        row("memory available", bytes(d.available_bytes));
        row("lanes of a warp", d.warp_width.to_string());
        row("threads of a block", format!("at most {}", d.threads_max));
        row("blocks", format!("at most {}", d.blocks_max));
        let shared = bytes(d.shared_bytes_max.into());
        row("shared memory of a block", format!("at most {shared}"));
        for line in align(&rows, 2, true) {
            writeln!(out, "  {line}")?;
        }
    }
    for r in &refused {
        writeln!(out, "{}: not usable: {}", r.id, r.why)?;
    }
    Ok(true)
}
