//! The commands `list` and `device`.

use super::console::wrapped;
use super::machine::DeviceArgs;
use crate::devices::AnyDevice;
use crate::error::Result;
use crate::numbers::bytes;
use crate::nw::measure::SCHEMES;
use crate::output::aligned;
use crate::variants::AskedVariant;
use crate::workloads::contender::{Contender, ContenderKind};
use crate::workloads::input::{Occasion, SEED};
use crate::workloads::{AnyWorkload, WORKLOADS};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{Write, stdout};
use std::iter;
use stm_core::host::Device;

type Implementations = (&'static str, Vec<&'static str>);

/// The workloads that have implementations without transactions, with their names: those of `bench
/// floor`, and those of `bench sync` and `bench nw`.
fn implementations() -> Result<[Vec<Implementations>; 2]> {
    let mut all = [Vec::new(), Vec::new()];
    for &(workload, _) in WORKLOADS {
        let made = AnyWorkload::sized(workload, Occasion::Quick, SEED)?;
        let is_of_sync = |of: &Contender<'_>| of.kind == ContenderKind::Excluding;
        let (of_sync, of_floor): (Vec<_>, Vec<_>) =
            made.contenders().into_iter().partition(is_of_sync);
        for (all, of) in all.iter_mut().zip([of_floor, of_sync]) {
            let names: Vec<_> = of.iter().map(|contender| contender.name).collect();
            if !names.is_empty() {
                all.push((workload, names));
            }
        }
    }
    let schemes = SCHEMES.iter().map(|scheme| scheme.0);
    all[1].push(("nw", schemes.collect()));
    Ok(all)
}

const NAMES_WIDE: usize = 64;

pub(super) fn list(json: bool) -> Result<bool> {
    let (devices, refused) = AnyDevice::all();
    let variants = AskedVariant::all();
    let variants: Vec<_> = variants.iter().map(|v| (v.name(), v.about())).collect();
    let [of_floor, of_sync] = implementations()?;
    let mut out = stdout().lock();
    if json {
        let named = |all: &[(&str, &str)]| {
            let all = all.iter();
            let all = all.map(|(name, about)| json!({"name": name, "about": about}));
            all.collect::<Value>()
        };
        let devices = devices.iter();
        let devices = devices.map(|d| json!({"id": d.id(), "name": d.name()}));
        let list = json!({
            "workloads": named(WORKLOADS),
            "variants": named(&variants),
            "without_transactions": of_sync.into_iter().collect::<BTreeMap<_, _>>(),
            "beside_transactions": of_floor.into_iter().collect::<BTreeMap<_, _>>(),
            "devices": devices.collect::<Value>(),
            "refused": refused,
        });
        writeln!(out, "{list:#}")?;
        return Ok(true);
    }
    let pair = |&(a, b): &(&str, &str)| vec![a.to_owned(), b.to_owned()];
    let implementations = |all: &[Implementations]| {
        let rows = all.iter().flat_map(|(name, names)| {
            // One space does not tell names apart that have spaces.
            let lines = wrapped(names.iter().copied(), "; ", NAMES_WIDE);
            let first = iter::once(*name).chain(iter::repeat(""));
            first
                .zip(lines)
                .map(|(first, line)| vec![first.into(), line])
        });
        rows.collect::<Vec<_>>()
    };
    let usable = devices.iter().map(|d| vec![d.id(), d.name()]);
    let others = refused.into_iter();
    let others = others.map(|r| vec![r.id, format!("not usable: {}", r.why)]);
    for (title, rows) in [
        ("Workloads", WORKLOADS.iter().map(pair).collect()),
        ("Variants", variants.iter().map(pair).collect()),
        (
            "Without transactions, in `stamp bench floor`",
            implementations(&of_floor),
        ),
        (
            "Without transactions, in `stamp bench sync`",
            implementations(&of_sync),
        ),
        ("Devices", usable.chain(others).collect()),
    ] {
        write!(out, "{title}\n{}", aligned("  ", &rows, 2, true))?;
    }
    Ok(true)
}

pub(super) fn device(args: &DeviceArgs) -> Result<bool> {
    let (devices, refused) = AnyDevice::all();
    let mut out = stdout().lock();
    let described = devices.iter().map(AnyDevice::describe);
    let described: Vec<_> = described.collect::<Result<_>>()?;
    if args.json {
        let all = json!({"devices": described, "refused": refused});
        writeln!(out, "{all:#}")?;
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
        write!(out, "{}", aligned("  ", &rows, 2, true))?;
    }
    for r in &refused {
        writeln!(out, "{}: not usable: {}", r.id, r.why)?;
    }
    Ok(true)
}
