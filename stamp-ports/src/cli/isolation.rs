//! The command `isolation`: judges one recorded run of each result of Figure 2 in a document of `stamp bench
//! paper`, at its launch, and writes the verdicts into it. Where the input says how many transactions there are
//! and their records do not fit the buffers, a smaller input is recorded, which the verdict names. `optimized`
//! has the verdict of the algorithm that it ran as, which has the same launch.

use crate::cli::prelude::*;
use crate::measure::launches::Room;
use crate::paper::document::{Isolation, Paper, Speedup};
use crate::paper::plan::{Piece, Plan};
use crate::record::{Settings, record_judged};
use crate::store::{hold, row};
use stm_history::error::Error as Unjudged;

#[derive(Args, Debug)]
pub(crate) struct IsolationArgs {
    /// The folder of paper.json
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// A workload (`stamp list` names them), several separated by commas, or all
    #[arg(long, value_name = "W", value_parser = parse_names, default_value = "all")]
    pub workload: NameList,
    /// Begin no further run after so many seconds
    #[arg(long = "for", value_name = "SECONDS", value_parser = parse_seconds)]
    pub seconds: Option<Duration>,
    /// Bytes of all recording buffers [default: 8G, on the CPU 256M]
    #[arg(long, value_name = "N", value_parser = parse_count)]
    pub buffer_bytes: Option<u64>,
}

/// Judges what the document lacks. Returns whether all of its verdicts are good, and not all of them unknown.
pub(super) fn isolation(args: &IsolationArgs) -> Result<bool> {
    let began = Instant::now();
    let path = args.folder.join(Paper::FILE_NAME);
    let (shown, wrote) = (path.display(), "`stamp bench paper --out` wrote");
    let _held = hold(&args.folder)?;
    let text = fs::read_to_string(&path).or_else(|error| {
        let fix = format!("give the folder that {wrote}");
        refuse(format!("cannot read {shown}: {error}: {fix}"))
    })?;
    let mut paper = Paper::parse(&text).or_else(|error| refuse(format!("{shown}: {error}")))?;
    let id = &paper.head.device.id;
    let choice = parse_choice(id).or_else(|_| {
        let fix = "measure it again with `stamp bench paper --fresh`";
        refuse(format!("{shown}: there is no device {id:?}: {fix}"))
    });
    let (device, _) = AnyDevice::open(choice?)?;
    let command = format!("stamp isolation {}", args.folder.display());
    let command = published(&command, &args.folder);
    let asked = (paper.head.quick, paper.head.seed);
    let head = Head::new(Paper::FORMAT, &device, &command, asked)?;
    if let Some(what) = paper.head.other_build(&head).or_else(|| paper.mixed()) {
        return refuse(format!(
            "{shown}: it was measured {what}: judge it with the program and the machine that \
             measured it"
        ));
    }
    check_workloads(&args.workload, &paper)?;
    // So that a path that cannot be written is found before the first run.
    OutFile::new(&path)?;
    let mut piece = Piece::new(&head)?;
    let bytes = device.kind().either(256 << 20, 8 << 30);
    let number = paper.pieces.len();
    for result in lacking(&args.workload, &paper) {
        if args.seconds.is_some_and(|time| began.elapsed() >= time) {
            break;
        }
        let given = args.buffer_bytes;
        let verdict = match judge(&device, &paper.head, &result, given.unwrap_or(bytes)) {
            // A larger number may be given, and all is judged then.
            Err(Error::NoRoom(why)) if given.is_none() => Isolation {
                note: Some(why),
                ..Isolation::default()
            },
            verdict => verdict?,
        };
        let (workload, resolved) = (&result.workload, &result.resolved);
        writeln!(stdout(), "{workload} {resolved}: {}", verdict.summary())?;
        for speedup in paper
            .speedups
            .iter_mut()
            .filter(|s| run_of(s) == run_of(&result))
        {
            speedup.isolation = Some(verdict.clone());
        }
        let unit = format!("isolation {}", result.workload);
        if !piece.units.contains(&unit) {
            piece.units.push(unit);
        }
        piece.seconds = began.elapsed().as_secs_f64();
        paper.pieces.truncate(number);
        paper.pieces.push(piece.clone());
        OutFile::new(&path)?.write(&paper.to_text()?)?;
    }
    conclude(&paper)
}

/// Refuses a workload of which the document has no result, unless all are asked for.
fn check_workloads(asked: &[&str], paper: &Paper) -> Result<()> {
    let there: BTreeSet<&str> = paper.speedups.iter().map(|s| &*s.workload).collect();
    let missing = asked.iter().find(|name| !there.contains(*name));
    match missing {
        Some(name) if asked.len() < WORKLOADS.len() => {
            let (file, there) = (Paper::FILE_NAME, there.iter().joined(", "));
            refuse(format!(
                "--workload {name}: {file} has no result of it, only of {there}"
            ))
        }
        _ => Ok(()),
    }
}

/// What makes two results have one verdict.
fn run_of(of: &Speedup) -> (&str, &str, u32, u32) {
    (&of.workload, &of.resolved, of.blocks, of.threads)
}

/// The results that lack a verdict, one for each run, and behind them those that could not be judged before.
fn lacking(asked: &[&str], paper: &Paper) -> Vec<Speedup> {
    let is_known = |s: &Speedup| s.isolation.as_ref().is_some_and(|i| i.opaque.is_some());
    let lacks = |s: &&Speedup| asked.contains(&&*s.workload) && s.verified && !is_known(s);
    let mut all: Vec<Speedup> = Vec::new();
    for result in paper.speedups.iter().filter(lacks) {
        if all.iter().all(|other| run_of(other) != run_of(result)) {
            all.push(result.clone());
        }
    }
    all.sort_by_key(|s| s.isolation.is_some());
    all
}

fn conclude(paper: &Paper) -> Result<bool> {
    let verdicts = paper.speedups.iter().filter_map(|s| s.isolation.as_ref());
    let [opaque, others, unjudged] = [Some(true), Some(false), None].map(|opaque| {
        let alike = verdicts.clone().filter(|verdict| verdict.opaque == opaque);
        alike.count()
    });
    let (judged, all) = (verdicts.count(), paper.speedups.len());
    writeln!(
        stdout(),
        "{judged} of {all} results have a verdict: {opaque} are opaque, {others} are not, \
         {unjudged} could not be judged"
    )?;
    Ok(others == 0 && (opaque != 0 || unjudged == 0))
}

/// Records and judges a run of a result, in buffers of so many bytes. What the run itself cannot do is in the
/// verdict, unless the buffers are too small for any.
fn judge(device: &AnyDevice, head: &Head, result: &Speedup, bytes: u64) -> Result<Isolation> {
    let (name, resolved, seed) = (&result.workload, &result.resolved, head.seed);
    let is_known = WORKLOADS.iter().any(|(known, _)| known == name);
    let Some(variant) = Variant::from_name(resolved).filter(|_| is_known) else {
        let file = Paper::FILE_NAME;
        return refuse(format!(
            "{file} has a result of {name} {resolved}, which this program does not know: use the \
             program that wrote it"
        ));
    };
    let settings = Settings {
        transactions: result.transactions_full,
        runs_max: Some(1),
        blocks: result.blocks,
        threads: result.threads,
        locks: result.locks,
        seed,
        attempts: 2,
        buffer_bytes: bytes,
        time_limit: Some(Duration::from_mins(2)),
        ..Settings::default()
    };
    let record = |of: &AnyWorkload| {
        let (run, note) = record_judged(device, variant, of, &settings)?;
        let (opaque, histories) = (note.is_none(), run.histories);
        let more = json!({"opaque": opaque, "histories": histories, "note": note});
        row::<Isolation>(&run, more)
    };
    let (quick, room) = (head.quick, Room::of(device));
    let workload = Plan { quick, room }.workload(name, seed);
    match workload.and_then(|workload| record(&workload)) {
        Err(Error::History(Unjudged::BufferFull { .. })) => {}
        other => return or_note(other),
    }
    let small = AnyWorkload::sized(name, Occasion::Recording(device.kind()), seed)?;
    let mut verdict = or_note(record(&small))?;
    verdict.input = Some(small.sizes().summary());
    Ok(verdict)
}

/// The verdict where a run could not be made, if another one still can.
fn or_note(found: Result<Isolation>) -> Result<Isolation> {
    use stm_core::host::Error as Host;
    let opaque = match &found {
        Err(Error::History(Unjudged::Impossible { .. })) => Some(false),
        Err(
            Error::History(Unjudged::BufferFull { .. } | Unjudged::TooLarge { .. })
            | Error::Usage(_)
            | Error::Host(Host::Timeout { .. } | Host::OutOfMemory { .. }),
        ) => None,
        _ => return found,
    };
    let note = found.err().map(|error| error.to_string());
    Ok(Isolation {
        opaque,
        note,
        ..Isolation::default()
    })
}
