//! The command `soak`: for minutes or days, mixed workloads with random launches and options, faults from
//! which a memory recovers, and recorded histories that are judged.
//!
//! In each step, one of a few memories that live as long as the session, so that versions may run out, runs
//! more transactions, and then transfers between accounts, whose totals and commits must be exact. Then a
//! step makes one of three things: a run of a workload that is verified; a fault, after which the memory must
//! be whole, or which the user of another process sees as he should; or a recording whose histories are
//! judged.

use crate::points::parse_names;
use crate::prelude::*;
use step::Bench;
use stm_core::Element;
use stm_core::algorithm::Fast;
use stm_core::host::{Pod, Sums};
use stm_kernels::bank::{BankAdds, BankPlan, BankWork, FINDINGS, Rows};
use stm_kernels::cells::{self, TransferParams};
use stm_kernels::rows::Transactional;

mod step;

const LINE_EVERY: Duration = Duration::from_mins(1);

/// Soaks, and returns whether nothing was wrong, in this session and before.
pub(crate) fn soak(plan: &SoakSpec) -> Result<bool> {
    let (device, note) = AnyDevice::open(plan.device)?;
    if let Some(note) = note {
        let why = "no GPU can be used, so this runs on the CPU";
        writeln!(stdout(), "{why}: {note}")?;
    }
    let mut state = begin(plan, &device)?;
    make_folder(&plan.out)?;
    state.sessions += 1;
    state.write(&plan.out)?;
    let mut bench = Bench::new(&device, plan)?;
    let (start, before) = (Instant::now(), state.seconds);
    let mut next_line = LINE_EVERY;
    while start.elapsed() < plan.minutes {
        let step = state.next_step;
        if let Err(wrong) = bench.step(&mut state, step) {
            state.note_wrong(step, &wrong);
            writeln!(stdout(), "WRONG: step {step}: {wrong}")?;
        }
        state.next_step = step + 1;
        state.seconds = before + start.elapsed().as_secs_f64();
        if start.elapsed() >= next_line {
            next_line += LINE_EVERY;
            check_and_tell(&mut bench, &mut state)?;
            state.write(&plan.out)?;
        }
        if device.available_bytes().is_err() {
            // The device is lost, and every later step would say so.
            break;
        }
    }
    check_and_tell(&mut bench, &mut state)?;
    state.write(&plan.out)?;
    Ok(state.wrong_count == 0)
}

/// Checks the memories that live long in full, and prints a line.
fn check_and_tell(bench: &mut Bench<'_>, state: &mut State) -> Result<()> {
    if let Err(wrong) = bench.check_service() {
        state.note_wrong(state.next_step, &wrong);
    }
    let line = state.line();
    writeln!(stdout(), "{line}")?;
    state.lines.push(line);
    Ok(())
}

fn begin(plan: &SoakSpec, device: &AnyDevice) -> Result<State> {
    let there = plan.out.join("soak.json");
    let place = |path: &Path| fs::canonicalize(path).ok();
    if there.exists() && plan.resume.as_deref().and_then(place) != place(&there) {
        let (out, there) = (plan.out.display(), there.display());
        let fix = format!("--resume {there} goes on, or name another folder");
        return refuse(format!("--out {out}: a soak is there: {fix}"));
    }
    let Some(path) = &plan.resume else {
        return Ok(State {
            version: env!("CARGO_PKG_VERSION").into(),
            device: device.id(),
            device_name: device.name(),
            seed: plan.seed.unwrap_or(1),
            ..State::default()
        });
    };
    let state = State::read(path)?;
    let seed = plan.seed.unwrap_or(state.seed);
    for (what, was, is) in [
        ("device", state.device_name.clone(), device.name()),
        ("seed", state.seed.to_string(), seed.to_string()),
    ] {
        if was != is {
            let path = path.display();
            return refuse(format!(
                "--resume {path}: the {what} was {was} and is {is}: leave --{what} out, or give that one"
            ));
        }
    }
    Ok(state)
}

const STEPS: [&str; 5] = ["memories", "transfers", "runs", "faults", "histories"];

#[derive(Parser, Clone, Debug)]
pub(crate) struct SoakSpec {
    /// How long this session takes, in minutes
    #[arg(long, value_name = "M", value_parser = parse_minutes)]
    pub minutes: Duration,
    /// Seed of everything that is drawn [default: 1, or that of --resume]
    #[arg(long, value_name = "S", value_parser = parse_count)]
    pub seed: Option<u64>,
    /// auto, cpu, cuda or cuda:N
    #[arg(long, value_name = "NAME", value_parser = parse_choice, default_value = "auto")]
    pub device: Choice,
    /// Go on with the soak whose state this file is
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,
    /// Only these steps, separated by commas, or all
    #[arg(long, value_name = "STEP,...", default_value = "all",
          value_parser = |text: &str| parse_names(text, "step", &STEPS))]
    pub only: NameList,
    /// Transactions of a launch of transfers [default: drawn]
    #[arg(long, value_name = "N", value_parser = parse_count)]
    pub chunk: Option<u64>,
    /// Record and judge no histories
    #[arg(long)]
    pub no_histories: bool,
    /// The folder of soak.json and soak.txt, made if it is not there
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
}

fn parse_minutes(text: &str) -> Result<Duration, String> {
    let minutes = text.parse().ok().filter(|minutes: &f64| *minutes > 0.0);
    let time = minutes.and_then(|minutes| Duration::try_from_secs_f64(60.0 * minutes).ok());
    time.ok_or_else(|| format!("{text:?} is no time: give minutes above 0, such as 10"))
}

/// The binary logarithm of the accounts of a row of sums.
const ROW_LOG2: u32 = 4;

/// Accounts, and the memory by which they change: makes so many transfers, drawn from a seed, and adds up all
/// accounts.
type Transfers = Box<dyn FnMut(u64, u64) -> host::Result<(Statistics, u64)>>;

fn accounts(device: &AnyDevice) -> u32 {
    device.kind().either(1 << 14, 1 << 20)
}

/// The sum of accounts, in a number that wraps as they do.
fn sum<T: Element>(accounts: &[T]) -> u64 {
    let add = |sum: u64, account: &T| sum.wrapping_add(account.to_bits64());
    let unused = 64 - 8 * size_of::<T>();
    accounts.iter().fold(0, add) << unused >> unused
}

fn cells<T: Element + Pod>(device: &AnyDevice, mut stm: Stm<AnyDevice>) -> host::Result<Transfers>
where
    cells::Transfers<Fast, T>: Kernel<Params = TransferParams<Fast, T>>,
{
    let layout = <<Fast as Algorithm>::Array<T> as View<T>>::LAYOUT;
    let count = accounts(device) as usize;
    let accounts = TxArray::zeroed(device, layout, count, "the accounts")?;
    Ok(Box::new(move |transactions, seed| {
        let params = TransferParams {
            stm: stm.handle::<Fast>(),
            accounts: accounts.try_view::<Fast>()?,
            transactions,
            seed,
        };
        // SAFETY: the parameters hold this memory's handle and a view of an array that lives on, and
        // nothing else uses them.
        let (_, done) = unsafe { stm.launch::<cells::Transfers<Fast, T>>(&params) }?;
        Ok((done, sum(&accounts.download()?)))
    }))
}

/// Accounts in rows of sums, which are added to.
fn rows(device: &AnyDevice, mut stm: Stm<AnyDevice>) -> host::Result<Transfers> {
    let count = accounts(device);
    let rows = (count >> ROW_LOG2) as usize;
    let accounts = Sums::zeroed(device, rows, 1 << ROW_LOG2, "the accounts")?;
    let nothing = Buffer::zeroed(device, 1, "the sums of ranges")?;
    let tables = Buffer::zeroed(device, 1, "the tables")?;
    let findings = Buffer::zeroed(device, FINDINGS, "the findings")?;
    Ok(Box::new(move |transactions, seed| {
        let work = BankWork {
            accounts: Rows {
                sums: accounts.view(),
                row_log2: ROW_LOG2,
            },
            sums: nothing.tarray(),
            tables: tables.tarray(),
            findings: findings.tarray(),
            transactions,
            plan: BankPlan::new(seed, count, count, 0, true),
        };
        let stm_ref = stm.handle::<Fast>();
        let params = Transactional { stm: stm_ref, work };
        // SAFETY: as in `cells`; the buffers live on, too.
        let (_, done) = unsafe { stm.launch::<BankAdds<Fast>>(&params) }?;
        Ok((done, sum(&accounts.download()?)))
    }))
}

/// Makes all of them, each with the number of its launches so far.
fn transfers(device: &AnyDevice) -> host::Result<Vec<(u64, Transfers)>> {
    let (kind, p) = (device.kind(), device.limits().processors);
    let (blocks, threads) = kind.either((2, 1), (2 * p, 128));
    let config = StmConfig {
        time_limit: None,
        ..StmConfig::default()
    };
    let made = [cells::<u32>, cells::<u64>, rows].into_iter().map(|make| {
        let stm = Stm::new(device, Launch::new(blocks, threads), config)?;
        Ok((0, make(device, stm)?))
    });
    made.collect()
}

/// The number of lines about what was wrong that are kept.
const WRONG_MAX: usize = 1000;

/// What a soak has done, in all its sessions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct State {
    version: String,
    device: String,
    device_name: String,
    seed: u64,
    sessions: u64,
    seconds: f64,
    /// The number of the next step; what a step does follows from it and the seed.
    next_step: u64,
    commits: u64,
    aborts: u64,
    /// Runs that were verified, by workload and variant.
    runs: BTreeMap<String, u64>,
    /// Faults that were injected and seen as they should be, by kind.
    faults: BTreeMap<String, u64>,
    histories: u64,
    /// Launches on the memories that live as long as a session.
    service_launches: u64,
    /// Runs that a device or a limit refused, and what it said last.
    refused: BTreeMap<String, u64>,
    /// What was wrong, with the step that repeats it.
    wrong: Vec<String>,
    wrong_count: u64,
    lines: Vec<String>,
}

impl State {
    fn read(path: &Path) -> Result<Self> {
        let fix = "give the soak.json that a soak wrote";
        let refused =
            |why: String| Error::Usage(format!("--resume {}: {why}: {fix}", path.display()));
        let text = fs::read_to_string(path).map_err(|error| refused(error.to_string()))?;
        let state: Self = serde_json::from_str(&text)
            .map_err(|error| refused(format!("it is no state of a soak: {error}")))?;
        match state.seconds {
            0.0.. => Ok(state),
            other => Err(refused(format!("it says that {other} seconds have passed"))),
        }
    }

    fn write(&self, folder: &Path) -> Result<()> {
        write_log(folder, "soak", self, &self.text())
    }

    fn note_service(&mut self, done: &Statistics) {
        self.service_launches += 1;
        self.commits += done.commits;
        self.aborts += done.aborted();
    }

    fn note_wrong(&mut self, step: u64, what: &str) {
        self.wrong_count += 1;
        if self.wrong.len() < WRONG_MAX {
            self.wrong.push(format!("step {step}: {what}"));
        }
    }

    fn line(&self) -> String {
        let sum = |of: &BTreeMap<String, u64>| of.values().sum::<u64>();
        format!(
            "{:.0} s: {} steps, {} commits, {} aborts, {} runs, {} faults, {} recordings, {} \
             service launches, {} refused, {} wrong",
            self.seconds,
            self.next_step,
            count(self.commits),
            count(self.aborts),
            sum(&self.runs),
            sum(&self.faults),
            self.histories,
            self.service_launches,
            sum(&self.refused),
            self.wrong_count
        )
    }

    fn text(&self) -> String {
        let mut lines = vec![format!(
            "{}: {}, seed {}, {} sessions",
            self.device, self.device_name, self.seed, self.sessions
        )];
        lines.extend_from_slice(&self.lines);
        lines.push(String::new());
        for (title, of) in [
            ("verified runs", &self.runs),
            ("faults seen as they should be", &self.faults),
            ("refused", &self.refused),
        ] {
            lines.push(format!("{title}:"));
            lines.extend(of.iter().map(|(name, n)| format!("    {n:>8}  {name}")));
        }
        lines.push(format!("wrong: {}", self.wrong_count));
        lines.extend(self.wrong.iter().map(|line| format!("    {line}")));
        lines.push(String::new());
        lines.join("\n")
    }
}
