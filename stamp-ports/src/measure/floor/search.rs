//! The search for a contender's best launch, and its measurement. Every shape is launched once, after one
//! launch that warms up; the best few are launched `TRIALS` times more, and judged by their shortest time; the
//! best is measured and verified as often as asked for.
//!
//! Critical sections run one after the other, so they are tried with few transactions, and measured with as
//! many as fit in [`MEASURE`], which the report states; an input that says itself how many there are is
//! measured whole.

use crate::measure::search::LONG;
use crate::prelude::*;
use crate::workloads::contender::PreparedContender;

const CANDIDATES: usize = 4;
const TRIALS: u32 = 3;

/// Transactions with which critical sections are tried first, at least.
const PROBE: u64 = 4096;
/// The shortest trial of critical sections, if there are enough transactions, in milliseconds.
const PROBE_MS: f64 = 10.0;
/// The longest measurement of critical sections in `bench floor`.
pub(crate) const MEASURE: Duration = Duration::from_millis(500);

#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct TriedContender {
    pub workload: &'static str,
    pub name: &'static str,
    pub blocks: u32,
    pub threads: u32,
    pub transactions: u64,
    pub time_ms: f64,
}

impl TriedContender {
    fn each_ms(&self) -> f64 {
        self.time_ms / self.transactions.max(1) as f64
    }
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct ContenderReport {
    pub workload: &'static str,
    pub name: &'static str,
    pub kind: ContenderKind,
    /// `unsafe` without synchronisation, else the kind.
    pub label: &'static str,
    pub kernel: &'static str,
    pub blocks: u32,
    pub threads: u32,
    /// Transactions of a launch, over all of its passes.
    pub transactions: u64,
    /// Those asked for: critical sections have fewer where all would take too long.
    pub transactions_full: u64,
    pub seed: u64,
    pub repeat: u32,
    pub time_ms: TimeMs,
    /// Transactions' worth of work a second, by the median time.
    pub tx_per_s: f64,
    pub operations: &'static str,
    pub ops_per_s: f64,
    /// Whether every repeat left the right result; null where it is unsafe.
    pub verified: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    pub parameters: Map<String, Value>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting {
    pub seed: u64,
    pub transactions: u64,
    pub repeat: u32,
    /// The longest measurement of critical sections.
    pub measure: Duration,
}

struct Bench<'a> {
    device: &'a AnyDevice,
    data: Box<dyn PreparedContender>,
    /// A trial of nothing yet, of all transactions that a trial may have.
    first: TriedContender,
    is_slow: bool,
}

impl Bench<'_> {
    fn fill(&self, time_ms: f64, each_ms: f64) -> u64 {
        let n = time_ms / each_ms.max(1e-9);
        self.first.transactions.min(n.max(1.0) as u64)
    }

    fn probe(&mut self, shape: Shape) -> Result<TriedContender> {
        let mut tried = self.first;
        (tried.blocks, tried.threads) = shape;
        let all = tried.transactions;
        if self.is_slow {
            tried.transactions = all.min(PROBE.max(lanes(shape)));
        }
        self.again(&mut tried)?;
        if self.is_slow && tried.time_ms < PROBE_MS && tried.transactions < all {
            tried.transactions = self.fill(PROBE_MS, tried.each_ms());
            self.again(&mut tried)?;
        }
        Ok(tried)
    }

    /// Launches and notes the time, infinite if the device does not take so many threads.
    fn again(&mut self, tried: &mut TriedContender) -> Result<()> {
        let shape = (tried.blocks, tried.threads);
        tried.time_ms = match self.data.launch(self.device, shape, tried.transactions) {
            Err(Error::Host(host::Error::LaunchTooLarge { .. })) => f64::INFINITY,
            launched => ms(launched?),
        };
        Ok(())
    }

    fn search(&mut self, shapes: &[Shape]) -> Result<Vec<TriedContender>> {
        if let Some(&first) = shapes.first() {
            self.probe(first)?;
        }
        let probed = shapes.iter().map(|&shape| self.probe(shape));
        let mut found = probed.collect::<Result<Vec<_>>>()?;
        let by_time = |a: &TriedContender, b: &TriedContender| a.each_ms().total_cmp(&b.each_ms());
        found.sort_by(by_time);
        // Of one shape there is no better one.
        let candidates = [0, CANDIDATES.min(found.len())][usize::from(shapes.len() > 1)];
        for tried in &mut found[..candidates] {
            for _ in 0..TRIALS {
                let before = tried.time_ms;
                self.again(tried)?;
                tried.time_ms = tried.time_ms.min(before);
            }
        }
        found[..candidates].sort_by(by_time);
        found.retain(|tried| tried.time_ms.is_finite());
        Ok(found)
    }
}

/// Searches the best launch of a contender among these shapes. Returns it, measured, and all that were tried,
/// the fastest first. A wrong result is no error, but a run that is not verified.
pub(crate) fn measure(
    device: &AnyDevice,
    of: &dyn Sizes,
    contender: &Contender<'_>,
    (shapes, setting): (&[Shape], Setting),
) -> Result<(ContenderReport, Vec<TriedContender>)> {
    let progress = Progress::new();
    progress.say(format!("{}: {}", of.name(), contender.name));
    let data = (contender.prepare)(device, setting.seed, setting.transactions)?;
    let transactions = data.transactions(setting.transactions);
    // The input says how many, and fewer would be another result.
    let is_whole = data.transactions(1) != 1;
    let (workload, name, kind) = (of.name(), contender.name, contender.kind);
    let (operations, of_each) = contender.operations;
    let mut bench = Bench {
        device,
        first: TriedContender {
            workload,
            name,
            transactions: data.tried(transactions),
            ..TriedContender::default()
        },
        data,
        is_slow: kind == ContenderKind::CriticalSection,
    };
    let tried = bench.search(shapes)?;
    let best = tried.first();
    let shape = best.map_or((1, 1), |t| (t.blocks, t.threads));
    let launched = match best.filter(|_| bench.is_slow && !is_whole) {
        Some(best) => bench.fill(ms(setting.measure), best.each_ms()),
        None => transactions,
    };
    let is_unsafe = kind == ContenderKind::Unsynchronised;
    let (mut times, mut wrong) = (Vec::new(), None);
    // A loop of its own, as it verifies between launches and ends by the sum of their times.
    for repeat in 1..=setting.repeat {
        times.push(ms(bench.data.launch(device, shape, launched)?));
        if !is_unsafe || repeat == setting.repeat {
            wrong = wrong.or(bench.data.verify(launched)?);
        }
        if bench.is_slow && times.iter().sum::<f64>() > ms(LONG) {
            break;
        }
    }
    let made = bench.data.made(launched);
    times.sort_by(f64::total_cmp);
    let time_ms = TimeMs::of(&times);
    // A clock's tick at least, so that nothing is infinitely fast.
    let tx_per_s = made as f64 / (time_ms.median * 1e-3).max(1e-9);
    // Those that are sizes.
    let mut parameters = of.parameters();
    parameters.retain(|(_, value)| value.is_u64());
    let owned = |(name, value): (&str, Value)| (name.to_owned(), value);
    let is_all = launched == transactions;
    let run = ContenderReport {
        workload,
        name,
        kind,
        label: if is_unsafe { "unsafe" } else { kind.name() },
        kernel: contender.entry,
        blocks: shape.0,
        threads: shape.1,
        transactions: made,
        transactions_full: if is_all { made } else { transactions },
        seed: setting.seed,
        repeat: times.len() as u32,
        time_ms,
        tx_per_s,
        operations,
        ops_per_s: tx_per_s * of_each,
        verified: (!is_unsafe).then_some(wrong.is_none()),
        note: bench.data.note()?,
        error: wrong.clone().filter(|_| !is_unsafe),
        lost: wrong.filter(|_| is_unsafe),
        parameters: parameters.into_iter().map(owned).collect(),
    };
    Ok((run, tried))
}
