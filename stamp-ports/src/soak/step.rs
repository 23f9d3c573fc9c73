//! One step of a soak. What it does is a function of the seed and its number.

use super::state::{SoakSpec, State};
use super::transfers::{Transfers, transfers};
use crate::faults::cases::{ROOMY, beyond_the_end, full_set, time_limit};
use crate::faults::{CASES, Case, Load, Memory, WORDS, inject};
use crate::measure::runner::Runner;
use crate::prelude::*;
use crate::record::{Settings, record_judged};
use crate::workloads::{AnyWorkload, WORKLOADS};
use stm_history::error::Error as Unjudged;
use stm_kernels::draw::{below, draw};

struct Chance {
    seed: u64,
    step: u64,
    next: u32,
}

impl Chance {
    fn below(&mut self, n: u32) -> u32 {
        self.next += 1;
        below(draw(self.seed, self.step, self.next), n)
    }

    fn one_of<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u32) as usize]
    }

    /// Draws a number from `low` to `high` so that each size is as likely.
    fn size(&mut self, low: u64, high: u64) -> u64 {
        let doublings = (high / low).ilog2();
        let n = low << self.below(doublings + 1);
        (n + u64::from(self.below(n.min(1 << 31) as u32))).min(high)
    }
}

const WEIGHTS: [(&str, usize); 3] = [("runs", 12), ("faults", 7), ("histories", 1)];

/// One in so many faults is one of `stamp faults`, in a process of its own.
const IN_A_PROCESS: u32 = 16;

pub(super) struct Bench<'a> {
    pub(super) device: &'a AnyDevice,
    /// Memories that live as long as a session.
    pub(super) service: Vec<Memory>,
    /// The same, for transfers.
    transfers: Vec<(u64, Transfers)>,
    only: NameList,
    /// Transactions of a launch of transfers, if they are not drawn.
    chunk: Option<u64>,
}

type Wrong = String;

/// The algorithms of the memories that live long, and of those that faults are injected into.
pub(super) const ALGORITHMS: [Variant; 3] = [Variant::Fast, Variant::FastTable, Variant::HvSorting];

impl<'a> Bench<'a> {
    pub(super) fn new(device: &'a AnyDevice, plan: &SoakSpec) -> host::Result<Self> {
        let mut only = plan.only.clone();
        only.retain(|&step| step != "histories" || !plan.no_histories);
        let shape = (device.kind()).either((2, 2), (device.limits().processors, 128));
        let make = |&algorithm| Memory::with_shape(device, algorithm, ROOMY, shape);
        let service = ALGORITHMS.iter().map(make).collect::<Result<_, _>>()?;
        let transfers = only.contains(&"transfers").then(|| transfers(device));
        let transfers = transfers.transpose()?.unwrap_or_default();
        Ok(Self {
            device,
            service,
            transfers,
            only,
            chunk: plan.chunk,
        })
    }

    /// Returns what was wrong. A lost device is wrong in every later step too.
    pub(super) fn step(&mut self, state: &mut State, number: u64) -> Result<(), Wrong> {
        let mut chance = Chance {
            seed: state.seed,
            step: number,
            next: 0,
        };
        if self.only.contains(&"memories") {
            self.serve(state, &mut chance)?;
        }
        if self.only.contains(&"transfers") {
            self.transfer(state, &mut chance)?;
        }
        let asked = WEIGHTS.into_iter().filter(|(s, _)| self.only.contains(s));
        let asked = asked.flat_map(|(step, weight)| std::iter::repeat_n(step, weight));
        let asked: Vec<&str> = asked.collect();
        if asked.is_empty() {
            return Ok(());
        }
        match chance.one_of(&asked) {
            "runs" => self.run(state, &mut chance),
            "faults" => self.inject(state, &mut chance),
            _ => self.record(state, &mut chance),
        }
    }

    /// Returns the most transactions of a launch on a memory that lives long.
    fn most(&self) -> u64 {
        self.device.kind().either(20_000, 4_000_000)
    }

    fn transfer(&mut self, state: &mut State, chance: &mut Chance) -> Result<(), Wrong> {
        let most = self.most();
        let drawn = chance.size(most / 100, most);
        let transactions = self.chunk.unwrap_or(drawn);
        let which = chance.below(self.transfers.len() as u32) as usize;
        let (launch, transfers) = &mut self.transfers[which];
        let what = format!("launch {launch} of transfers");
        let (done, sum) =
            transfers(transactions, *launch).map_err(|error| format!("{what}: {error}"))?;
        *launch += 1;
        if (done.commits, sum) != (transactions, 0) {
            return Err(format!(
                "{what}: {} of {transactions} committed, and the accounts add up to {sum}, and not to 0",
                done.commits
            ));
        }
        state.note_service(&done);
        Ok(())
    }

    fn serve(&mut self, state: &mut State, chance: &mut Chance) -> Result<(), Wrong> {
        let which = chance.below(ALGORITHMS.len() as u32) as usize;
        let most = self.most();
        let memory = &mut self.service[which];
        let accesses = 1 + chance.below(16);
        let words = (2 * accesses).max(WORDS >> chance.below(8));
        // The paper's algorithms commit a few ten thousand a second where all transactions meet each other.
        let most = if words < WORDS / 4 { most / 20 } else { most };
        let transactions = chance.size(most / 100, most);
        let load = Load {
            words,
            reads: accesses,
            writes: 1 + chance.below(accesses),
            transactions,
        };
        let in_service = |error| format!("{} in service, {load:?}: {error}", ALGORITHMS[which]);
        let statistics = memory.run(load).map_err(in_service)?;
        state.note_service(&statistics);
        if statistics.commits != transactions {
            return Err(format!("{} of {load:?} committed", statistics.commits));
        }
        memory.sum_is_zero()
    }

    pub(super) fn check_service(&mut self) -> Result<(), Wrong> {
        let mut all = self.service.iter_mut();
        let checked = all.try_for_each(|memory| memory.stm.check_in_full());
        checked.map_err(|error| error.to_string())
    }

    fn run(&self, state: &mut State, chance: &mut Chance) -> Result<(), Wrong> {
        let (name, _) = chance.one_of(WORKLOADS);
        let seed = u64::from(chance.below(1 << 30));
        let workload = AnyWorkload::sized(name, Occasion::Quick, seed);
        let workload = workload.map_err(|error| format!("{name}: {error}"))?;
        let variant = self.variant(chance);
        let spec = self.spec(variant, workload.sizes(), chance);
        let what = format!("{name} {}", variant.name());
        let ran = Runner::new(self.device, &workload, seed, spec.transactions)
            .and_then(|mut runner| runner.measure(&spec));
        let report = match ran {
            Ok(report) => report,
            Err(error) if error.is_too_large() => {
                *state.refused.entry(what).or_default() += 1;
                return Ok(());
            }
            Err(error) => return Err(format!("{what}, seed {seed}, {spec:?}: {error}")),
        };
        state.commits += report.commits;
        state.aborts += report.aborts.values().sum::<u64>();
        if !report.verified {
            let why = report.error.unwrap_or_default();
            return Err(format!("{what}, seed {seed}, {spec:?}: {why}"));
        }
        *state.runs.entry(what).or_default() += 1;
        Ok(())
    }

    /// Draws a variant; on a GPU those that take long are left out.
    fn variant(&self, chance: &mut Chance) -> AskedVariant {
        let mut all = AskedVariant::all();
        if self.device.kind() == DeviceKind::Cuda {
            let slow = [Variant::Cgl, Variant::Egpgv, Variant::Vbv].map(AskedVariant::from);
            all.retain(|variant| !slow.contains(variant));
        }
        let ours = [Variant::Fast, Variant::FastTable].map(AskedVariant::from);
        let from = [&ours[..], &all][chance.below(2) as usize];
        chance.one_of(from)
    }

    fn spec(&self, variant: AskedVariant, workload: &dyn Sizes, chance: &mut Chance) -> RunSpec {
        let p = self.device.limits().processors;
        let kind = self.device.kind();
        let shape = match kind {
            DeviceKind::Cpu => (1 + chance.below(4), 1 + chance.below(4)),
            DeviceKind::Cuda => {
                let blocks = chance.one_of(&[1, 4, p / 2, p]);
                (blocks, chance.one_of(&[32, 64, 128]))
            }
        };
        let most = match (kind, variant.has_scheduler()) {
            (DeviceKind::Cpu, _) => 16 << 10,
            (DeviceKind::Cuda, true) => 1 << 20,
            (DeviceKind::Cuda, false) => 64 << 10,
        };
        let (least, more) = kind.either((6, 15), (16, 5));
        let mut spec = RunSpec::new(workload, variant, shape, 0);
        let (config, limits) = (&mut spec.config, RetryLimits::DEFAULT);
        config.locks = 1 << (least + chance.below(more));
        if variant.has_scheduler() {
            let queue_after = chance.one_of(&[1, 8, 64, limits.queue_after]);
            config.retry_limits.queue_after = queue_after;
            config.retry_limits.lanes_max = chance.one_of(&[1, 8, 32]);
        }
        let drawn = chance.size(1 << 10, most).min(workload.transactions_max());
        config.stripe_bytes = 4 << chance.below(5);
        spec.transactions = workload.transactions().unwrap_or(drawn);
        spec
    }

    fn inject(&self, state: &mut State, chance: &mut Chance) -> Result<(), Wrong> {
        if chance.below(IN_A_PROCESS) == 0 {
            let is_shown = |case: &&Case| case.is_shown_by(self.device.kind());
            let cases: Vec<&Case> = CASES.iter().filter(is_shown).collect();
            let finding = inject(chance.one_of(&cases), &self.device.id());
            if !finding.passed {
                return Err(format!("{}: {}", finding.name, finding.seen.join("; ")));
            }
            *state.faults.entry(finding.name.into()).or_default() += 1;
            return Ok(());
        }
        let algorithm = chance.one_of(&ALGORITHMS);
        let (fault, seen) = match chance.below(4) {
            0 | 1 => {
                let limit = Duration::from_millis(1 + u64::from(chance.below(100)));
                ("time limit", time_limit(self.device, algorithm, limit))
            }
            2 => {
                // What runs thereafter must fit.
                let entries = (2 + chance.below(40)).max(Load::LIGHT.reads);
                let of_writes = chance.below(2) == 0;
                let seen = full_set(self.device, algorithm, entries, of_writes);
                ("full set", seen)
            }
            _ => {
                let words = WORDS + 1 + chance.below(WORDS);
                let seen = beyond_the_end(self.device, algorithm, words);
                ("out of range", seen)
            }
        };
        let what = format!("{fault}, {algorithm}");
        match seen {
            Ok(host::Error::Timeout { committed, .. }) => state.commits += committed,
            Ok(_) => {}
            Err(wrong) => return Err(format!("{what}: {wrong}")),
        }
        *state.faults.entry(what).or_default() += 1;
        Ok(())
    }

    fn record(&mut self, state: &mut State, chance: &mut Chance) -> Result<(), Wrong> {
        let (name, _) = chance.one_of(WORKLOADS);
        let variant = chance.one_of(&ALGORITHMS);
        let transactions = chance.size(500, 4000);
        let seed = u64::from(chance.below(1 << 30));
        let kind = self.device.kind();
        // Few lanes, each with room for as many attempts as contention may cost.
        let (blocks, threads) = match kind {
            DeviceKind::Cpu => (2, 2),
            DeviceKind::Cuda => (1 + chance.below(16), 32),
        };
        let what = format!("record {name} {variant} {blocks}x{threads}, seed {seed}");
        let mut settings = Settings::default();
        (settings.transactions, settings.seed) = (transactions, seed);
        (settings.blocks, settings.threads) = (blocks, threads);
        let workload = AnyWorkload::sized(name, Occasion::Recording(kind), seed);
        let workload = workload.map_err(|error| format!("{what}: {error}"))?;
        let line = match record_judged(self.device, variant, &workload, &settings) {
            Ok((_, None)) => {
                state.histories += 1;
                return Ok(());
            }
            Ok((_, Some(wrong))) => return Err(format!("{what}: {wrong}")),
            // The kernels that record are built on demand.
            Err(error @ Error::Host(host::Error::PtxNotBuilt { .. })) => {
                self.only.retain(|&step| step != "histories");
                format!("no histories on {}: {error}", self.device.id())
            }
            Err(error @ Error::History(Unjudged::BufferFull { .. })) => {
                format!("no room for a history: {what}: {error}")
            }
            Err(error) => return Err(format!("{what}: {error}")),
        };
        state.lines.push(line);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_of_a_step_repeat_and_stay_in_their_range() {
        let draws = |step| {
            let (seed, next) = (5, 0);
            let mut chance = Chance { seed, step, next };
            let mut next = || (chance.size(1 << 10, 5000), chance.below(7));
            [next(), next(), next()]
        };
        assert_eq!(draws(3), draws(3));
        assert_ne!(draws(3), draws(4));
        let mut all = (0..200).flat_map(draws);
        let mut is_right = |(size, n)| (1 << 10..=5000).contains(&size) && n < 7;
        assert!(all.clone().all(&mut is_right));
        assert!(all.any(|(size, _)| size > 4500));
    }

    #[test]
    fn a_memory_that_lives_long_and_is_damaged_is_wrong_in_the_next_check() {
        let cpu = AnyDevice::cpu();
        let mut state = State {
            seed: 1,
            ..State::default()
        };
        let line = "soak --minutes 1 --only memories,runs --out unused";
        let plan = SoakSpec::parse_from(line.split(' '));
        let mut bench = Bench::new(&cpu, &plan).unwrap();
        for step in 0..3 {
            bench.step(&mut state, step).unwrap();
        }
        assert_eq!(state.service_launches, 3);
        bench.check_service().unwrap();
        // One more than the transactions have left.
        for memory in &mut bench.service {
            let mut words = memory.array.download().unwrap();
            words[0] = words[0].wrapping_add(1);
            memory.array.upload(&words).unwrap();
        }
        let wrong = bench.step(&mut state, 3).unwrap_err();
        assert!(wrong.contains("the words add up to"), "{wrong}");
    }
}
