//! The command `record`: workloads recorded on a device, and their histories judged or kept.

use crate::cli::prelude::*;
use crate::points;
use crate::record::{RA_MUTANTS, Row, Settings, kernel_of, made, record};
use crate::variants::parse_algorithms;
use crate::workloads::form::Form;
use clap::Arg;
use stm_history::history::History;
use stm_history::named::Names;
use stm_history::opacity::{self, report::Verdict};
use stm_history::page::Page;

pub(crate) type AlgorithmList = std::vec::Vec<Variant>;

/// The help of the workloads' parameters, where a recording has other defaults than a measurement.
fn of_a_recording(arg: Arg) -> Arg {
    let help = match arg.get_id().as_str() {
        "transactions" => "Transactions of each variant, at least [default: 100K, in labyrinth 1K]",
        "words" => "Words of the array [default: 1M]",
        "n" => {
            "labyrinth: paths to route [default: 512]; genome: segments drawn [default: 64K]; \
             kmeans: fewest clusters, each number up to -m is run [default: as -m]"
        }
        "points" => "Points to generate [default: 4K]",
        "passes_max" => "Stop after so many passes in any case [default: 8]",
        "seed" => "Seed of the data of the first run, and of the others' seeds",
        _ => return arg,
    };
    arg.help(help)
}

#[derive(Args, Debug)]
#[command(mut_args(of_a_recording))]
pub(crate) struct RecordArgs {
    /// A workload (`stamp list` names them), several separated by commas, or all
    #[arg(value_name = "WORKLOAD", value_parser = parse_names)]
    pub workload: NameList,
    /// A variant, several separated by commas, or all
    #[arg(long, value_name = "NAME", value_parser = parse_algorithms, default_value = "all")]
    pub variant: AlgorithmList,
    /// auto, cpu, cuda or cuda:N
    #[arg(long, value_name = "NAME", value_parser = parse_choice, default_value = "cpu")]
    pub device: Choice,
    /// Instead of the variants, ra with this seeded defect, or all that have a
    /// kernel, until it shows (GPU only)
    #[arg(long, value_name = "NAME", value_parser = parse_mutants)]
    pub mutant: Option<NameList>,
    /// With --mutant: run each defect a second time, with delays at the fences
    #[arg(long, requires = "mutant")]
    pub delays: bool,
    /// Blocks of a launch [default: 2 on the CPU; on a GPU 132, 66 of kmeans,
    /// and 1 of cgl and vbv but for labyrinth]
    #[arg(long, value_name = "B", value_parser = parse_count_32)]
    pub blocks: Option<u32>,
    /// Threads of a block [default: 2 on the CPU; on a GPU 256, 32 of cgl,
    /// labyrinth and kmeans, 64 of vbv]
    #[arg(long, value_name = "T", value_parser = parse_count_32)]
    pub threads: Option<u32>,
    #[command(flatten)]
    pub settings: Settings,
    /// Keep the histories in this directory
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Judge the histories although they are kept
    #[arg(long)]
    pub check: bool,
    /// Show the first history with a violation as a page
    #[arg(long, value_name = "FILE")]
    pub page: Option<PathBuf>,
    /// Print JSON, one object a variant
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub input: WorkloadArgs,
}

fn parse_mutants(text: &str) -> Result<NameList> {
    let known: Vec<&str> = RA_MUTANTS.iter().map(|(m, _)| m.name()).collect();
    points::parse_names(text, "kernel with the defect", &known)
}

/// Records workloads and judges or keeps their histories. Returns whether all of them are right.
pub(super) fn record_command(args: &RecordArgs) -> Result<bool> {
    let is_gpu = matches!(args.device, Choice::Cuda(_) | Choice::CudaNarrow(_));
    if args.mutant.is_some() && !is_gpu {
        let fix = "give --device cuda, or use `verify mutants`";
        return refuse(format!("--mutant runs kernels built for a GPU: {fix}"));
    }
    if args.input.shared.transactions == Some(0) {
        return refuse("--transactions 0 leaves nothing to run: give 1 or more");
    }
    if args.settings.attempts == 0 {
        return refuse("--attempts 0 leaves no room to record any: give 1 or more");
    }
    let device = open(args.device)?;
    match &args.mutant {
        Some(wanted) => record_mutants(&device, args, wanted),
        None => record_on(&device, args),
    }
}

fn say(text: impl std::fmt::Display) -> Result<()> {
    Ok(writeln!(stdout(), "{text}")?)
}

fn default_shape(kind: DeviceKind, workload: &str, variant: Variant) -> Shape {
    match (kind, workload, variant) {
        (DeviceKind::Cpu, ..) => (2, 2),
        // A thread of each block records, and the others have buffers too.
        (DeviceKind::Cuda, "labyrinth", _) => (132, 32),
        // One lock is fastest with a warp or two, and retries least.
        (DeviceKind::Cuda, _, Variant::Cgl) => (1, 32),
        (DeviceKind::Cuda, _, Variant::Vbv) => (1, 64),
        // Few rows, and each transaction writes all of one.
        (DeviceKind::Cuda, "kmeans", _) => (66, 32),
        (DeviceKind::Cuda, ..) => (132, 256),
    }
}

/// The options of the input, once they suit the workloads.
fn input(args: &RecordArgs) -> Result<WorkloadArgs> {
    let mut input = args.input.clone();
    // How many transactions to record is the same for all, and of all runs together.
    input.shared.transactions = None;
    // One command line may serve both of these.
    let both = ["ra", "ht"];
    match args.workload[..] {
        [name] if both.contains(&name) => input.check(&both, false)?,
        _ => input.check(&args.workload, args.workload.len() > 1)?,
    }
    Ok(input)
}

/// How to record a workload, once the device takes the launch.
fn settings(
    device: &AnyDevice,
    args: &RecordArgs,
    workload: &AnyWorkload,
    shape: Shape,
) -> Result<Settings> {
    let shared = &args.input.shared;
    let blocks = args.blocks.unwrap_or(shape.0);
    let threads = args.threads.unwrap_or(shape.1);
    Launch::new(blocks, threads).check(&device.limits())?;
    // Few where blocks share them.
    let usual = [100 << 10, 1 << 10][usize::from(workload.sizes().by_blocks())];
    Ok(Settings {
        transactions: shared.transactions.unwrap_or(usual),
        blocks,
        threads,
        seed: shared.seed,
        ..args.settings
    })
}

const HEAD: &str = "\
variant         launch transactions      attempts      aborted     turns \
histories violations  kernel s  check s    all s";

/// What was recorded, and what the checker says of it.
#[derive(Default, Serialize)]
struct Judged {
    #[serde(flatten)]
    row: Row,
    attempts_checked: u64,
    violations: u64,
    check_seconds: f64,
    first_violation: Option<Verdict>,
}

fn record_on(device: &AnyDevice, args: &RecordArgs) -> Result<bool> {
    let kind = device.kind();
    let input = input(args)?;
    let form = Form::given(&args.input.shared).unwrap_or_default();
    let mut variants = args.variant.iter();
    variants.try_for_each(|&variant| form.check(variant.into()))?;
    if let Some(dir) = &args.out {
        make_folder(dir)?;
    }
    // After that, as it may be in the same folder.
    let page = args.page.as_deref();
    let page = page.map(|page| OutFile::of_option("--page", page));
    let mut page = page.transpose()?;
    let mut right = true;
    for name in &args.workload {
        let workload = input.workload(name, Occasion::Recording(kind))?;
        let mut head = format!("{name} on {}\n{HEAD}\n", device.name());
        for &variant in &args.variant {
            let settings = settings(device, args, &workload, default_shape(kind, name, variant))?;
            let judged = record_variant(device, args, &mut page, variant, (&workload, &settings))?;
            show(args, &judged, &std::mem::take(&mut head))?;
            right &= judged.violations == 0 && judged.row.wrong_state.is_none();
        }
    }
    Ok(right)
}

fn record_variant(
    device: &AnyDevice,
    args: &RecordArgs,
    page: &mut Option<OutFile>,
    variant: Variant,
    (workload, settings): (&AnyWorkload, &Settings),
) -> Result<Judged> {
    let judge = args.check || args.page.is_some() || args.out.is_none();
    let (mut judged, mut number) = (Judged::default(), 0);
    let form = match (args.input.shared.is_static, args.input.shared.wide) {
        (false, _) => "",
        (true, false) => "-static",
        (true, true) => "-static-wide",
    };
    judged.row = record(device, variant, workload, settings, |history: History| {
        if let Some(dir) = &args.out {
            let name = workload.sizes().name();
            history.save(&dir.join(format!("{name}-{variant}{form}-{number}.history")))?;
            number += 1;
        }
        if judge {
            judged.judge(&history)?;
            if let Some(file) = page.take_if(|_| judged.violations != 0) {
                let (names, verdict) = (Names::default(), judged.first_violation.as_ref());
                file.write(Page::of(&history, &names, verdict).html())?;
            }
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(judged)
}

/// Runs kernels with seeded defects until the hardware shows them. One that it does not show is no failure.
fn record_mutants(device: &AnyDevice, args: &RecordArgs, wanted: &[&str]) -> Result<bool> {
    if args.workload != ["ra"] {
        return refuse("seeded defects on a device run ra: record it alone");
    }
    let workload = input(args)?.workload("ra", Occasion::Recording(DeviceKind::Cuda))?;
    let settings = settings(device, args, &workload, (132, 256))?;
    say(format_args!(
        "{:<32}{:>9}{:>14}{:>14}{:>11}  {}",
        "defect", "launch", "transactions", "attempts", "kernel s", "found"
    ))?;
    let all = RA_MUTANTS.iter().map(|&(mutant, _)| mutant);
    for mutant in all.filter(|mutant| wanted.contains(&mutant.name())) {
        for &delayed in &[false, true][..=usize::from(args.delays)] {
            let defect = (mutant, delayed);
            say(record_defect(device, defect, &workload, &settings)?)?;
        }
    }
    Ok(true)
}

/// Runs one kernel with a seeded defect until the defect shows, and returns its line of the table.
fn record_defect(
    device: &AnyDevice,
    (mutant, delayed): (Mutant, bool),
    workload: &AnyWorkload,
    settings: &Settings,
) -> Result<String> {
    let mut judged = Judged::default();
    let mut impossible = None;
    let kernel = kernel_of(mutant, delayed);
    let row = made(device, kernel, (workload, settings), &mut |history| {
        match judged.judge(&history) {
            Err(Error::History(error @ stm_history::error::Error::Impossible { .. })) => {
                impossible = Some(error.to_string());
            }
            other => other?,
        }
        Ok(match (&impossible, judged.violations) {
            (None, 0) => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        })
    });
    let (row, found) = match row {
        Ok(row) => {
            let found = match (impossible, &row.wrong_state, judged.violations) {
                (Some(what), ..) => format!("impossible: {what}"),
                (_, Some(what), _) => format!("wrong state: {what}"),
                (.., 0) => "nothing".to_owned(),
                (.., n) => format!("{n} attempts not opaque"),
            };
            (row, found)
        }
        // What the launch's own checks found.
        Err(Error::Host(error)) => (Row::default(), error.to_string()),
        Err(error) => return Err(error),
    };
    let name = mutant.name().to_owned() + if delayed { "+delays" } else { "" };
    let shape = format!("{}x{}", settings.blocks, settings.threads);
    let (transactions, attempts, seconds) = (row.transactions, row.attempts, row.kernel_seconds);
    let counts = format!("{shape:>9}{transactions:>14}{attempts:>14}");
    Ok(format!("{name:<32}{counts}{seconds:>11.4}  {found}"))
}

impl Judged {
    fn judge(&mut self, history: &History) -> Result<()> {
        let start = Instant::now();
        let verdict = opacity::check(history)?;
        self.check_seconds += start.elapsed().as_secs_f64();
        self.attempts_checked += verdict.counts.attempts;
        self.violations += verdict.violations_total;
        if !verdict.is_opaque() {
            self.first_violation.get_or_insert(verdict);
        }
        Ok(())
    }
}

/// Prints a row, below `head` if it is the first of its table: a command that is refused prints neither.
fn show(args: &RecordArgs, judged: &Judged, head: &str) -> Result<()> {
    let row = &judged.row;
    if args.json {
        return say(serde_json::json!(judged));
    }
    let violations = match judged.attempts_checked {
        0 => "-".into(),
        _ => judged.violations.to_string(),
    };
    say(format_args!(
        "{head}{:<13}{:>9}{:>13}{:>14}{:>13}{:>10}{:>10}{violations:>11}{:>10.3}{:>9.2}{:>9.2}",
        row.variant,
        format!("{}x{}", row.blocks, row.threads),
        row.transactions,
        row.attempts,
        row.aborted,
        row.turns,
        row.histories,
        row.kernel_seconds,
        judged.check_seconds,
        row.seconds,
    ))?;
    if row.repeated != 0 {
        let (of_variant, count) = (row.variant, row.repeated);
        let blocks = of(row.blocks.into(), "block");
        let _ = writeln!(
            stderr(),
            "note: {of_variant}: {count} histories were recorded again, as their buffers were \
             full, with {blocks} at last: a larger --attempts or --buffer-bytes avoids that"
        );
    }
    if let Some(what) = &row.wrong_state {
        say(format_args!("WRONG STATE: {what}"))?;
    }
    let violation = judged.first_violation.as_ref();
    violation.map_or(Ok(()), |verdict| say(verdict.to_string().trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_given_fits_the_device() {
        let transactions = |kind| {
            let genome = AnyWorkload::sized("genome", Occasion::Recording(kind), 1);
            genome.unwrap().sizes().transactions()
        };
        assert!(transactions(DeviceKind::Cpu) < transactions(DeviceKind::Cuda));
    }
}
