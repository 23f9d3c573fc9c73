//! The commands `bench paper`, `bench sync` and `bench nw`, which go on with a document of points, and `bench
//! against`, which compares two programs.

use crate::against::child::Program;
use crate::against::{self, Spec};
use crate::cli::prelude::*;
use crate::nw::reduction::{self, MEMORIES};
use crate::nw::{self, NwSpec, PARTS as NW_PARTS, SCHEMES, STM};
use crate::paper::document::{Paper, Speedup, is_of};
use crate::paper::{self, PaperSpec};
use crate::points::Point;
use crate::sync::{self, Bench, MACHINE, SyncSpec};

pub(super) fn paper(spec: &PaperSpec, command: &str) -> Result<bool> {
    let device = open(chosen(spec.bench.device, spec.bench.quick))?;
    let store = paper::paper(&device, spec, command)?;
    let verified = store.document.results().all(|(_, best)| best.verified)
        && (store.document.threads.iter()).all(|t| t.verified != Some(false));
    paper_summary(&mut stdout().lock(), &store)?;
    Ok(verified)
}

/// Which results had fewer transactions than others of their workload: a line for each workload.
fn fewer(paper: &Paper) -> String {
    let lines = WORKLOADS.iter().filter_map(|&(workload, _)| {
        let results = paper.results();
        let results = results.filter(|(_, best)| is_of(&best.workload, workload));
        let mut all = results.peekable();
        let full = count(all.peek()?.1.transactions_full);
        let fewer = all.filter(|(_, of)| (1..of.transactions_full).contains(&of.transactions));
        let fewer = fewer.map(|(name, of)| format!("{name} {}", count(of.transactions)));
        let before = format!("Fewer transactions than {full} a run, {workload}: ");
        Some(sentence(&before, fewer, (", ", ".\n")))
    });
    lines.collect()
}

fn not_verified(out: &mut impl Write, paper: &Paper) -> Result<()> {
    let mut tell = |what: String, why: &Option<String>| {
        let why = why.as_deref().unwrap_or("no result");
        writeln!(out, "NOT verified: {what}: {why}")
    };
    for (name, best) in paper.results().filter(|(_, best)| !best.verified) {
        tell(format!("{} {name}", best.workload), &best.error)?;
    }
    for t in paper.threads.iter().filter(|t| t.verified == Some(false)) {
        let (of, variant, blocks, threads) = (&t.workload, &t.variant, t.blocks, t.threads);
        tell(format!("{of} {variant} at {blocks}x{threads}"), &t.note)?;
    }
    Ok(())
}

type Ratio = fn(&Speedup) -> Option<f64>;

fn paper_summary(out: &mut impl Write, store: &Store<Paper>) -> Result<()> {
    let paper = &store.document;
    let variants = AskedVariant::all();
    let row = |first: &str, cell: &dyn Fn(&str) -> String| {
        let cells = variants.iter().map(|variant| cell(variant.name()));
        iter::once(first.to_owned()).chain(cells).joined("\t")
    };
    let ratios: [(&str, Ratio); 2] = [
        ("over cgl", |s| s.over_cgl),
        ("over critical-section", |s| s.over_critical_section),
    ];
    for (title, ratio) in ratios {
        let mut rows = vec![row(title, &str::to_owned)];
        rows.extend(WORKLOADS.iter().map(|&(workload, _)| {
            row(workload, &|variant| {
                let mut all = paper.speedups.iter();
                match all.find(|s| s.workload == workload && s.variant == variant) {
                    Some(s) if !s.verified => "WRONG".into(),
                    of => of.and_then(ratio).map_or_else(|| "-".into(), digits3),
                }
            })
        }));
        rows.retain(|row| row.split('\t').skip(1).any(|cell| cell != "-"));
        if rows.len() > 1 {
            writeln!(out, "{}", aligned("", &rows, 1, false))?;
        }
    }
    write!(out, "{}", fewer(paper))?;
    not_verified(out, paper)?;
    let [of_threads, of_eigenbench] = [paper.threads.len(), paper.eigenbench.len()];
    writeln!(
        out,
        "{} speed-ups, {} launches tried, {of_threads} points by threads, {of_eigenbench} of \
         EigenBench: {}",
        paper.speedups.len(),
        paper.search.len(),
        store.path.display()
    )?;
    tell_rest(out, paper.head.complete, "of the paper is")
}

fn tell_rest(out: &mut impl Write, complete: bool, what: &str) -> Result<()> {
    let more = "in it yet: the same command goes on, and see --only.";
    if !complete {
        writeln!(out, "Not all {what} {more}")?;
    }
    Ok(())
}

pub(super) fn sync(spec: &SyncSpec, command: &str) -> Result<bool> {
    let device = open(chosen(spec.bench.device, spec.bench.quick))?;
    let store = sync::sync(&device, spec, command)?;
    print_points(&store, &spec.only)
}

/// What `bench nw` measures the parts of: implementations, schemes and memories.
fn measured_by_nw() -> [(&'static str, Vec<(&'static str, &'static str)>); 3] {
    let tables = SCHEMES.iter().map(|&(name, _, about)| (name, about));
    let tables = tables.chain([(STM, "a transaction for each cell")]);
    let schemes = reduction::SCHEMES.iter();
    let schemes = schemes.map(|&(name, about, ..)| (name, about));
    let memories = MEMORIES.into_iter().map(|(name, about, ..)| (name, about));
    [
        ("Implementations of tables", tables.collect()),
        ("Schemes of the reduction", schemes.collect()),
        ("Memories of the hops", memories.collect()),
    ]
}

pub(super) fn nw_help() -> String {
    let lists = measured_by_nw().map(|(head, all)| described(head, &all));
    let parts = described("Parts", &NW_PARTS);
    let lists = lists.join("\n");
    format!("{parts}\n{lists}\n{}", below("bench nw"))
}

pub(super) fn nw(spec: &NwSpec, command: &str) -> Result<bool> {
    let device = open(chosen(spec.bench.device, spec.bench.quick))?;
    let store = nw::bench(&device, spec, command)?;
    print_points(&store, &spec.only)
}

fn is_wrong(point: &Point) -> bool {
    point.repeat > 0 && !point.verified
}

/// Prints the parts of a document that were asked for, and its path. Returns whether they are right.
fn print_points<const OF_NW: bool>(store: &Store<Bench<OF_NW>>, parts: &[&str]) -> Result<bool> {
    let (bench, path) = (&store.document, store.path.display());
    let of_parts = |point: &&Point| parts.contains(&point.asked.part.as_str());
    let points: Vec<&Point> = bench.points.iter().filter(of_parts).collect();
    let right = !points.iter().any(|point| is_wrong(point));
    let rows = points.iter().map(|point| {
        let (of, parameters) = (&point.asked, point.asked.parameters_joined(", "));
        let (part, name, launch) = (&of.part, &of.implementation, of.launch_in_words());
        let per_s = (point.repeat > 0).then(|| short(point.per_s));
        let per_s = per_s.unwrap_or_else(|| "-".into());
        let wrong = if is_wrong(point) { "WRONG: " } else { "" };
        let note = point.note.iter().map(|note| format!("{wrong}{note}"));
        let note: String = note.collect();
        format!("{part}\t{name}\t{launch}\t{parameters}\t{per_s}\t{note}")
    });
    let header = "part\timplementation\tlaunch\tparameters\ta second\tnote";
    let table = titled(("", "", header), rows, 1, false);
    let table = sentence("", iter::once(table), ("", "\n"));
    let mut out = stdout().lock();
    writeln!(out, "{table}{} points: {path}", bench.points.len())?;
    if parts == [MACHINE] && bench.machine.is_some() {
        writeln!(out, "The part {MACHINE} is measured, and has no points.")?;
    } else {
        tell_rest(&mut out, bench.head.complete, "points are")?;
    }
    Ok(right)
}

const REPEAT: u32 = 5;
const QUICK_REPEAT: u32 = 3;

pub(super) fn against_help() -> String {
    let rows = against::points::rows(false).iter();
    let rows: Vec<_> = rows.map(|row| (row.name, row.about)).collect();
    described("Points", &rows) + "\n" + below("bench against")
}

#[derive(Args, Debug, Clone)]
pub(crate) struct AgainstArgs {
    /// The other program: a `stamp` that was built from an earlier commit
    #[arg(value_name = "OTHER")]
    pub other: PathBuf,
    /// auto, cpu, cuda or cuda:N; on the CPU only with --quick
    #[arg(long, value_name = "NAME", value_parser = parse_choice, default_value = "auto")]
    pub device: Choice,
    /// Few small points, three launches
    #[arg(long)]
    pub quick: bool,
    /// Only these points, separated by commas [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub only: Vec<String>,
    /// The least ratio of this program's rate to OTHER's that holds, 0 to 2
    #[arg(long, value_name = "R", value_parser = parse_ratio, default_value = "0.97")]
    pub at_least: f64,
    /// Kill a run of a point after so many seconds; its launches end at half of that
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, default_value = "20")]
    pub time_limit: Duration,
    #[command(flatten)]
    pub document: DocumentArgs,
    /// The program that is measured as this one, for tests [default: this one]
    #[arg(long, value_name = "PATH", hide = true)]
    pub this: Option<PathBuf>,
}

fn parse_ratio(text: &str) -> Result<f64, String> {
    let ratio = text.parse().ok();
    let ratio = ratio.filter(|ratio| (0.0..=2.0).contains(ratio));
    let fix = "give this program's rate over OTHER's, from 0 to 2, such as 0.97";
    ratio.ok_or_else(|| format!("{text:?} is no such ratio: {fix}"))
}

/// Refuses to replace a file that is no document of this command, above all OTHER itself.
fn check_replaced(out: &Path, other: &Path) -> Result<()> {
    if !out.is_file() {
        return Ok(());
    }
    let what = if fs::canonicalize(out)? == fs::canonicalize(other)? {
        "it is OTHER, the program to compare with"
    } else {
        let there = fs::read(out)?;
        let document: Value = serde_json::from_slice(&there).unwrap_or_default();
        if there.is_empty() || document["format"] == against::FORMAT {
            return Ok(());
        }
        "it is there, and no document of `stamp bench against`"
    };
    let out = out.display();
    refuse(format!("--out {out}: {what}: name another file"))
}

pub(super) fn against(args: &AgainstArgs, command: &str) -> Result<bool> {
    let points = against::points::select(args.quick, &args.only)?;
    let other = Program::at(&args.other)?;
    if let Some(out) = &args.document.out {
        check_replaced(out, &args.other)?;
    }
    let this = args.this.clone().map_or_else(std::env::current_exe, Ok)?;
    let this = Program::at(&this)?;
    let command = published(command, &args.other);
    let of = (args.quick, SEED);
    let (device, begun) = (args.document).begin(against::FORMAT, args.device, &command, of)?;
    if device.kind() == DeviceKind::Cpu && !args.quick {
        let why = "the points are made for a GPU, and would take hours on the CPU: give --quick";
        return refuse(why);
    }
    let (id, name) = (device.id(), device.name());
    // Closed before the first child opens it.
    drop(device);
    let spec = Spec {
        points,
        repeat: if args.quick { QUICK_REPEAT } else { REPEAT },
        limit: args.time_limit,
        at_least: args.at_least,
        device: id,
    };
    let found = against::measure(&spec, &this, &other)?;
    begun.end(
        found.holds(),
        (against::ORDER, against::sections(&spec, &found)),
        |out, _| against::print(out, &format!("{}: {name}", spec.device), &spec, &found),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nw::points;

    #[test]
    fn the_help_and_the_documents_name_every_part_and_implementation() {
        let points = points(&AnyDevice::cpu(), false);
        let measured = points.iter().map(|asked| &*asked.implementation);
        let measured: BTreeSet<&str> = measured.collect();
        let listed = measured_by_nw().into_iter().flat_map(|(_, all)| all);
        let listed = listed.map(|(name, _)| name);
        assert_eq!(listed.collect::<BTreeSet<&str>>(), measured);
        let (help, document) = (nw_help(), include_str!("../../../docs/stamp.md"));
        for (name, what) in NW_PARTS {
            let first = what.split(' ').next().unwrap_or_default();
            has(&help, &format!("  {name} | {first}"));
        }
        for name in measured.into_iter().chain(NW_PARTS.map(|(name, _)| name)) {
            has(document, &format!("`{name}`"));
        }
        assert!(help.lines().all(|line| line.chars().count() <= 80));
    }
}
