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
use state::State;
use step::Bench;
use stm_core::algorithm::{Algorithm, Fast};
use stm_core::host::{Buffer, Pod, Statistics, Sums, TxArray};
use stm_core::{Element, Kernel, View};
use stm_kernels::bank::{BankAdds, BankPlan, BankWork, FINDINGS, Rows};
use stm_kernels::cells::{self, TransferParams};
use stm_kernels::rows::Transactional;

mod state;
mod step;

const LINE_EVERY: Duration = Duration::from_mins(1);

/// Soaks, and returns whether nothing was wrong, in this session and before.
pub(crate) fn soak(plan: &Plan) -> Result<bool> {
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

fn begin(plan: &Plan, device: &AnyDevice) -> Result<State> {
    let Some(path) = &plan.resume else {
        let seed = plan.seed.unwrap_or(1);
        return Ok(State::new(device.id(), device.name(), seed));
    };
    let state = State::read(path)?;
    let seed = plan.seed.unwrap_or(state.seed);
    for (what, was, is) in [
        ("device", state.device_name.clone(), device.name()),
        ("seed", state.seed.to_string(), seed.to_string()),
    ] {
        if was != is {
            let path = path.display();
            return refuse(format!("--resume {path}: the {what} was {was} and is {is}"));
        }
    }
    Ok(state)
}

const STEPS: [&str; 5] = ["memories", "transfers", "runs", "faults", "histories"];

#[derive(Parser, Clone, Debug)]
pub(crate) struct Plan {
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

/// Makes so many transfers, drawn from a seed, and adds up all accounts.
type Launcher = Box<dyn Fn(&mut Stm<AnyDevice>, u64, u64) -> host::Result<(Statistics, u64)>>;

/// Accounts, and the memory by which they change.
struct Transfers {
    stm: Stm<AnyDevice>,
    launch: Launcher,
    launches: u64,
}

fn count(device: &AnyDevice) -> u32 {
    device.kind().either(1 << 14, 1 << 20)
}

/// The sum of accounts, in a number that wraps as they do.
fn sum<T: Element>(accounts: &[T]) -> u64 {
    let add = |sum: u64, account: &T| sum.wrapping_add(account.to_bits64());
    let unused = 64 - 8 * size_of::<T>();
    accounts.iter().fold(0, add) << unused >> unused
}

fn cells<T: Element + Pod>(device: &AnyDevice) -> host::Result<Launcher>
where
    cells::Transfers<Fast, T>: Kernel<Params = TransferParams<Fast, T>>,
{
    let layout = <<Fast as Algorithm>::Array<T> as View<T>>::LAYOUT;
    let count = count(device) as usize;
    let accounts = TxArray::zeroed(device, layout, count, "the accounts")?;
    Ok(Box::new(move |stm, transactions, seed| {
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
fn rows(device: &AnyDevice) -> host::Result<Launcher> {
    let count = count(device);
    let rows = (count >> ROW_LOG2) as usize;
    let accounts = Sums::zeroed(device, rows, 1 << ROW_LOG2, "the accounts")?;
    let nothing = Buffer::zeroed(device, 1, "the sums of ranges")?;
    let tables = Buffer::zeroed(device, 1, "the tables")?;
    let findings = Buffer::zeroed(device, FINDINGS, "the findings")?;
    Ok(Box::new(move |stm, transactions, seed| {
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

impl Transfers {
    fn all(device: &AnyDevice) -> host::Result<Vec<Self>> {
        let (kind, p) = (device.kind(), device.limits().processors);
        let (blocks, threads) = kind.either((2, 1), (2 * p, 128));
        let config = StmConfig {
            time_limit: None,
            ..StmConfig::default()
        };
        let kinds = [cells::<u32>(device)?, cells::<u64>(device)?, rows(device)?];
        let with_memory = |launch| {
            Ok(Self {
                stm: Stm::new(device, Launch::new(blocks, threads), config)?,
                launch,
                launches: 0,
            })
        };
        kinds.into_iter().map(with_memory).collect()
    }

    /// Runs so many transfers, and returns what is wrong thereafter, if anything.
    fn run(&mut self, transactions: u64) -> Result<Statistics, String> {
        let launch = self.launches;
        let told = |error: host::Error| format!("launch {launch} of transfers: {error}");
        let (done, sum) = (self.launch)(&mut self.stm, transactions, launch).map_err(told)?;
        self.launches += 1;
        if (done.commits, sum) == (transactions, 0) {
            return Ok(done);
        }
        Err(format!(
            "launch {launch} of transfers: {} of {transactions} committed, and the accounts add up to \
             {sum}, and not to 0",
            done.commits
        ))
    }
}
