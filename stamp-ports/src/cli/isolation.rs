//! The command `isolation`: judges one recorded run of each result of Figure 2 in a document of `stamp bench
//! paper`, at its launch, and writes the verdicts into it. Where the input says how many transactions there are
//! and their records do not fit the buffers, a smaller input is recorded, which the verdict names. `optimized`
//! has the verdict of the algorithm that it ran as, which has the same launch.

use crate::cli::prelude::*;
use crate::measure::launches::Room;
use crate::paper::document::{Isolation, Paper, Speedup};
use crate::paper::plan::{Piece, Plan};
use crate::record::{Settings, record_judged};
use crate::store::row;
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

/// Judges what the document lacks. Returns whether all of its verdicts are good.
pub(super) fn isolation(args: &IsolationArgs) -> Result<bool> {
    let began = Instant::now();
    let path = args.folder.join(Paper::FILE_NAME);
    let (shown, wrote) = (path.display(), "`stamp bench paper --out` wrote");
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
    // So that a path that cannot be written is found before the first run.
    OutFile::new(&path)?;
    let mut piece = Piece::new(&head)?;
    let bytes = device.kind().either(256 << 20, 8 << 30);
    let bytes = args.buffer_bytes.unwrap_or(bytes);
    let number = paper.pieces.len();
    while args.seconds.is_none_or(|time| began.elapsed() < time) {
        let lacks = |s: &&Speedup| {
            let asked = args.workload.contains(&s.workload.as_str());
            asked && s.verified && s.isolation.is_none()
        };
        let Some(result) = paper.speedups.iter().find(lacks).cloned() else {
            break;
        };
        let verdict = judge(&device, &paper.head, &result, bytes)?;
        let (workload, resolved) = (&result.workload, &result.resolved);
        writeln!(stdout(), "{workload} {resolved}: {}", verdict.summary())?;
        let of = |s: &Speedup| (s.workload.clone(), s.resolved.clone(), s.blocks, s.threads);
        for speedup in paper.speedups.iter_mut().filter(|s| of(s) == of(&result)) {
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
    Ok(others == 0)
}

/// Records and judges a run of a result, in buffers of so many bytes. What the run itself cannot do is in the
/// verdict.
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
