//! The search for a contender's best launch, and its measurement.
//!
//! 1. Every shape is launched once, after one launch that warms up.
//! 2. The best few are launched `TRIALS` times more, and judged by their
//!    shortest time.
//! 3. The best is measured: the data put back, launched, verified, as often as
//!    asked for.

use crate::devices::{AnyDevice, DeviceKind};
use crate::error::Result;
use crate::measure::launches;
use crate::measure::progress::Progress;
use crate::measure::run_report::TimeMs;
use crate::workloads::contender::{BoundContender, ContenderKind, PreparedContender};
use crate::workloads::shape::filling;
use crate::workloads::workload::Sizes;
use serde::Serialize;
use stm_core::host::Limits;

/// Shapes that are launched again.
const CANDIDATES: usize = 4;
/// Launches of each of those.
const TRIALS: u32 = 3;

/// The launch shapes that are tried: blocks, then threads a block.
#[derive(Clone, Debug)]
pub struct Shapes(Vec<(u32, u32)>);

impl Shapes {
    /// The shapes of `tune` that fill at least half of the device; with `quick`,
    /// one.
    pub fn new(kind: DeviceKind, limits: &Limits, resident: u64, quick: bool) -> Self {
        if quick {
            return Self(vec![filling(limits)]);
        }
        let mut shapes = launches::shapes(kind, limits, resident);
        if kind == DeviceKind::Cuda {
            shapes.retain(|&(b, t)| b >= limits.processors && t >= 2 * limits.warp_width);
        }
        Self(shapes)
    }
}

/// A launch that was tried.
#[derive(Clone, Debug, Serialize)]
pub struct TriedContender {
    /// The workload's name.
    pub workload: &'static str,
    /// The contender's name.
    pub name: &'static str,
    /// Blocks of the launch.
    pub blocks: u32,
    /// Threads of a block.
    pub threads: u32,
    /// The kernel's time.
    pub time_ms: f64,
}

/// A contender's measurement, as JSON has it.
#[derive(Clone, Debug, Serialize)]
pub struct ContenderReport {
    /// The workload's name.
    pub workload: &'static str,
    /// The contender's name within the workload.
    pub name: &'static str,
    /// What it is.
    pub kind: ContenderKind,
    /// `unsafe` for a floor, else `special-purpose`.
    pub label: &'static str,
    /// The kernel's entry point.
    pub kernel: &'static str,
    /// Blocks of the launch.
    pub blocks: u32,
    /// Threads of a block.
    pub threads: u32,
    /// Transactions of a launch.
    pub transactions: u64,
    /// The seed of the data.
    pub seed: u64,
    /// Timed launches.
    pub repeat: u32,
    /// The kernel's times.
    pub time_ms: TimeMs,
    /// Transactions' worth of work a second, by the median time.
    pub tx_per_s: f64,
    /// What an operation is.
    pub operations: &'static str,
    /// Operations a second, by the median time.
    pub ops_per_s: f64,
    /// Whether every repeat left the right result; null for a floor, which is
    /// unsafe and not verified.
    pub verified: Option<bool>,
    /// What is wrong, if anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What a floor's last launch lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost: Option<String>,
    /// What else is to be known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The workload's parameters.
    pub parameters: serde_json::Map<String, serde_json::Value>,
}

/// A measurement and its search.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The best launch, measured.
    pub run: ContenderReport,
    /// All launches, the fastest first.
    pub tried: Vec<TriedContender>,
}

/// What holds for all contenders of a workload.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'a> {
    /// The seed of the data.
    pub seed: u64,
    /// Transactions of a launch.
    pub transactions: u64,
    /// Timed launches.
    pub repeat: u32,
    /// The launch shapes to try.
    pub shapes: &'a Shapes,
}

/// A contender with its data.
struct Bench<'a> {
    device: &'a AnyDevice,
    workload: &'static str,
    contender: &'static str,
    data: Box<dyn PreparedContender>,
    transactions: u64,
}

impl Bench<'_> {
    /// Puts the data back and launches; the kernel's time in milliseconds.
    fn launch(&mut self, shape: (u32, u32)) -> Result<f64> {
        let time = self.data.launch(self.device, shape, self.transactions)?;
        Ok(time.as_secs_f64() * 1e3)
    }

    /// Steps 1 and 2.
    fn search(&mut self, shapes: &Shapes) -> Result<Vec<TriedContender>> {
        let mut tried = Vec::new();
        if let Some(&first) = shapes.0.first() {
            self.launch(first)?;
        }
        for &(blocks, threads) in &shapes.0 {
            tried.push(TriedContender {
                workload: self.workload,
                name: self.contender,
                blocks,
                threads,
                time_ms: self.launch((blocks, threads))?,
            });
        }
        let fastest = |tried: &mut Vec<TriedContender>| {
            tried.sort_by(|a, b| a.time_ms.total_cmp(&b.time_ms));
        };
        fastest(&mut tried);
        if tried.len() > 1 {
            for candidate in tried.iter_mut().take(CANDIDATES) {
                for _ in 0..TRIALS {
                    let again = self.launch((candidate.blocks, candidate.threads))?;
                    candidate.time_ms = candidate.time_ms.min(again);
                }
            }
        }
        fastest(&mut tried);
        Ok(tried)
    }
}

/// Searches and measures a contender.
///
/// # Errors
/// Too little memory, or of the device. A wrong result is no error, but a run
/// that is not verified.
pub fn measure(
    device: &AnyDevice,
    of: &dyn Sizes,
    contender: &BoundContender<'_>,
    setting: &Setting<'_>,
) -> Result<Outcome> {
    let progress = Progress::new();
    progress.say(format!("{}: {}", of.name(), contender.name));
    let data = contender.prepare(device, setting.seed, setting.transactions)?;
    let transactions = data.transactions(setting.transactions);
    let mut bench = Bench {
        device,
        workload: of.name(),
        contender: contender.name,
        data,
        transactions,
    };
    let tried = bench.search(setting.shapes)?;
    let shape = tried.first().map_or((1, 1), |t| (t.blocks, t.threads));
    let (mut times, mut wrong) = (Vec::new(), None);
    for repeat in 1..=setting.repeat {
        times.push(bench.launch(shape)?);
        if contender.kind == ContenderKind::SpecialPurpose || repeat == setting.repeat {
            wrong = wrong.or(bench.data.verify(transactions)?);
        }
    }
    times.sort_by(f64::total_cmp);
    let median = times[times.len() / 2];
    // A clock's tick at least, so that nothing is infinitely fast.
    let tx_per_s = transactions as f64 / (median * 1e-3).max(1e-9);
    // Those that are sizes.
    let parameters = of.parameters().into_iter();
    let parameters = parameters.filter(|(_, value)| value.is_u64());
    let floor = contender.kind == ContenderKind::Floor;
    let run = ContenderReport {
        workload: of.name(),
        name: contender.name,
        kind: contender.kind,
        label: if floor { "unsafe" } else { "special-purpose" },
        kernel: contender.entry,
        blocks: shape.0,
        threads: shape.1,
        transactions,
        seed: setting.seed,
        repeat: setting.repeat,
        time_ms: TimeMs {
            median,
            min: times[0],
            max: times[times.len() - 1],
        },
        tx_per_s,
        operations: contender.operations,
        ops_per_s: tx_per_s * contender.operations_a_transaction,
        verified: (!floor).then_some(wrong.is_none()),
        note: bench.data.note()?,
        error: wrong.clone().filter(|_| !floor),
        lost: wrong.filter(|_| floor),
        parameters: parameters
            .map(|(name, value)| (name.to_owned(), value))
            .collect(),
    };
    Ok(Outcome { run, tried })
}
