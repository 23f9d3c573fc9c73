//! `stamp bench paper`: everything that the paper shows, measured in one run
//! that can be interrupted and gone on with.
//!
//! | module | is |
//! | --- | --- |
//! | [`document`] | `paper.json`: the types, reading and writing |
//! | [`plan`] | inputs and points, in tables |
//! | [`measure`] | one point: search, measure, verify |
//! | [`recorded`] | reads and writes of a transaction, counted |
//! | [`store`] | the document on disk, written whole after every point |
//! | [`meter`] | progress and the time left |
//!
//! Steps: list the points that the document lacks; group them by input, so that
//! data is made once; measure one after the other, writing the document after
//! each. The results of Figure 2 are verified; the points of Figures 3 and 4 are
//! launches of the same kernels whose results nobody looks at.

pub mod document;
pub mod measure;
pub mod meter;
pub mod plan;
pub mod recorded;
pub mod store;

use self::document::Paper;
use self::measure::Bench;
use self::meter::Meter;
use self::plan::{FIG4_VARIANTS, INPUTS, LOCKS, Plan, Room, Section, VARIANTS};
use self::recorded::Recordable;
use self::store::{Header, Store};
use crate::cli::{Cli, Command, PaperArgs, WorkloadArgs};
use crate::commands::open;
use crate::devices::{AnyDevice, Choice, Description};
use crate::error::{Error, Result};
use crate::launches;
use crate::numbers::{count, digits3, short};
use crate::output::align;
use crate::runner::Session;
use crate::variants::Variant;
use crate::workload::{AllAlgorithms, WORKLOADS};
use crate::workloads::AnyWorkload;
use crate::{on_device, on_workload};
use clap::Parser;
use std::collections::BTreeMap;
use std::io::{ErrorKind, Write, stdout};
use std::path::Path;
use std::time::Instant;
use stm_core::host::Device;

/// A point to measure.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Point {
    Speedup(Variant),
    Threads(Variant, (u32, u32)),
    Eigenbench(Variant, u64, u64, (u32, u32)),
    Characteristics,
}

impl Point {
    const fn section(&self) -> Section {
        match self {
            Self::Speedup(_) => Section::Fig2,
            Self::Threads(..) => Section::Fig3,
            Self::Eigenbench(..) => Section::Fig4,
            Self::Characteristics => Section::Table1,
        }
    }
}

/// Points that share their data.
#[derive(Debug)]
struct Group {
    workload: &'static str,
    /// As options of `stamp run`.
    options: String,
    points: Vec<Point>,
}

/// What a command was asked for.
struct Asked<'a> {
    plan: &'a Plan,
    room: &'a Room,
    sections: &'a [Section],
    workloads: &'a [&'static str],
}

impl Asked<'_> {
    fn section(&self, section: Section) -> bool {
        self.sections.contains(&section)
    }

    /// The points that the document lacks, in the order of measuring. A variant
    /// whose measurement failed is measured again.
    fn groups(&self, paper: &Paper) -> Vec<Group> {
        let mut groups = Vec::new();
        for (workload, ..) in INPUTS {
            if self.workloads.contains(&workload) {
                groups.push(Group {
                    workload,
                    options: self.plan.input(workload).into(),
                    points: self.points(paper, workload),
                });
            }
        }
        if self.section(Section::Fig4) && self.workloads.contains(&"eigenbench") {
            for &hot_words in self.plan.fig4_hot_words() {
                groups.push(Group {
                    workload: "eigenbench",
                    options: format!("--hot-words {hot_words} {}", self.plan.fig4_input()),
                    points: self.fig4(paper, u64::from(hot_words)),
                });
            }
        }
        groups.retain(|group| !group.points.is_empty());
        groups
    }

    fn points(&self, paper: &Paper, workload: &str) -> Vec<Point> {
        let mut points = Vec::new();
        if self.section(Section::Fig2) {
            let done = |variant: Variant| {
                paper.speedups.iter().any(|s| {
                    s.workload == workload && s.variant == variant.name() && s.error.is_none()
                })
            };
            let left = VARIANTS.into_iter().filter(|&variant| !done(variant));
            points.extend(left.map(Point::Speedup));
        }
        if self.section(Section::Table1) {
            let done = paper.characteristics.iter().any(|c| c.workload == workload);
            points.extend((!done).then_some(Point::Characteristics));
        }
        if self.section(Section::Fig3) {
            for shape in self.plan.thread_shapes(self.room, workload) {
                for variant in VARIANTS {
                    let done = paper.threads.iter().any(|t| {
                        t.workload == workload
                            && t.variant == variant.name()
                            && (t.blocks, t.threads) == shape
                    });
                    // It is one of the others, and would be the same line.
                    if !done && variant != Variant::Optimized {
                        points.push(Point::Threads(variant, shape));
                    }
                }
            }
        }
        points
    }

    fn fig4(&self, paper: &Paper, hot_words: u64) -> Vec<Point> {
        let mut points = Vec::new();
        for shape in self.plan.fig4_shapes(self.room) {
            for locks in self.plan.fig4_locks() {
                for variant in FIG4_VARIANTS {
                    let done = paper.eigenbench.iter().any(|p| {
                        p.variant == variant.name()
                            && (p.hot_words, p.locks) == (hot_words, locks)
                            && (p.blocks, p.threads) == shape
                    });
                    if !done {
                        points.push(Point::Eigenbench(variant, hot_words, locks, shape));
                    }
                }
            }
        }
        points
    }
}

/// The input that options of `stamp run` stand for.
fn input_of(workload: &str, options: &str, seed: u64) -> Result<WorkloadArgs> {
    let words = ["stamp", "run", workload].into_iter();
    let cli = Cli::try_parse_from(words.chain(options.split_whitespace()))
        .map_err(|error| Error::Usage(error.to_string().replace('\n', " ")))?;
    match cli.command {
        Some(Command::Run(args)) => Ok(WorkloadArgs { seed, ..args.input }),
        _ => Err(Error::Usage(format!("{options:?} are no options of run"))),
    }
}

/// The command; `command` is how it was called.
///
/// # Errors
/// Of the command line, the folder or the device. What a single point cannot do
/// is written into the document and is no error, but makes the result `false`.
pub fn paper(args: &PaperArgs, command: &str) -> Result<bool> {
    let choice = match args.device {
        Some(device) => device,
        None if args.quick => Choice::Cpu,
        None => Choice::Auto,
    };
    let any = open(choice)?;
    let device = any.describe()?;
    let plan = Plan::new(args.quick);
    let room = room_of(&any, &device);
    let asked = Asked {
        plan: &plan,
        room: &room,
        sections: &args.only,
        workloads: &args.workload,
    };
    let header = Header {
        command: &published(command, &args.out),
        quick: args.quick,
        seed: args.seed,
        settings: settings(args, &plan, &device),
        device,
        notes: notes(&plan),
    };
    let mut store = Store::open(&args.out, header, args.fresh)?;
    let groups = asked.groups(&store.paper);
    store.paper.complete = false;
    let points = groups.iter().flat_map(|group| &group.points);
    let mut meter = Meter::new(points.map(Point::section));
    for group in &groups {
        meter
            .progress()
            .say(format!("{}: its data", group.workload));
        let input = input_of(group.workload, &group.options, args.seed)?;
        let workload = AnyWorkload::new(group.workload, &input, meter.progress())?;
        on_workload!(&workload, w => on_device!(&any, d => {
            run_group(d, w, &input, &group.points, &asked, &mut store, &mut meter)
        }))?;
    }
    drop(meter);
    let everything = Asked {
        sections: &Section::ALL,
        workloads: &INPUTS.map(|(name, ..)| name),
        ..asked
    };
    store.paper.complete = everything.groups(&store.paper).is_empty();
    store.save()?;
    let verified = store.paper.speedups.iter().all(|s| s.verified);
    match summary(&mut stdout().lock(), &store) {
        Err(Error::Output(error)) if error.kind() == ErrorKind::BrokenPipe => {}
        other => other?,
    }
    Ok(verified)
}

/// The command without the folder's own folder, which is nobody else's: the
/// document may be published.
fn published(command: &str, folder: &Path) -> String {
    match folder.file_name() {
        Some(name) => command.replace(
            folder.to_string_lossy().as_ref(),
            name.to_string_lossy().as_ref(),
        ),
        None => command.to_owned(),
    }
}

fn room_of(any: &AnyDevice, device: &Description) -> Room {
    let limits = any.limits();
    let resident = device.gpu.as_ref().map_or(0, |gpu| {
        u64::from(gpu.resident_threads_per_processor) * u64::from(limits.processors)
    });
    Room {
        kind: any.kind(),
        limits,
        resident,
    }
}

/// All that changes a point: two commands with the same may share a document.
fn settings(args: &PaperArgs, plan: &Plan, device: &Description) -> BTreeMap<String, String> {
    let mut settings = BTreeMap::from([
        ("version".into(), env!("CARGO_PKG_VERSION").into()),
        ("device".into(), format!("{}: {}", device.id, device.name)),
        ("--quick".into(), args.quick.to_string()),
        ("--seed".into(), args.seed.to_string()),
        ("locks".into(), LOCKS.to_string()),
    ]);
    for (name, ..) in INPUTS {
        let input = format!("stamp run {name} {}", plan.input(name));
        settings.insert(format!("input of {name}"), input.trim_end().into());
    }
    settings
}

fn notes(plan: &Plan) -> Vec<String> {
    let mut notes = vec![
        "Rates are transactions that committed in a second of the kernel's own time; \
         slow variants get fewer transactions of the same data, so that a run stays short."
            .into(),
        "Figure 2: the best launch of each variant is searched, then measured; every run is \
         verified. Where several were timed, the first is not counted."
            .into(),
        "Figures 3 and 4: one launch a point, not verified by itself.".into(),
        "A launch that was stopped at its time limit counts by what it committed until then: \
         of a workload with several kernels, by the first of them."
            .into(),
        "Genome, labyrinth and k-means are always run whole, and their time includes what they \
         do outside transactions."
            .into(),
        "Table 1: reads and writes are counted in a recorded run of hv-sorting, conflicts at \
         the best launch of `optimized`."
            .into(),
    ];
    if plan.quick {
        notes.push("Quick: small inputs and short runs, to try the program; no results.".into());
    }
    notes
}

/// Measures the points of one input, and writes the document after each.
fn run_group<D: Device, W: AllAlgorithms + Recordable>(
    device: &D,
    workload: &W,
    input: &WorkloadArgs,
    points: &[Point],
    asked: &Asked<'_>,
    store: &mut Store,
    meter: &mut Meter,
) -> Result<()> {
    let given = workload.transactions().or(input.transactions);
    let transactions = given.unwrap_or(launches::TRANSACTIONS);
    let mut session = Session::new(device, workload, input.seed, transactions)?;
    let mut bench = Bench::new(asked.plan, asked.room, &mut session, transactions);
    for point in points {
        let began = Instant::now();
        let what = run_point(&mut bench, point, &mut store.paper, meter)?;
        store.save()?;
        let what = format!("{} {what}", workload.name());
        meter.done(point.section(), began.elapsed(), &what);
    }
    Ok(())
}

/// Measures a point, adds it, and says what it is.
fn run_point<D: Device, W: AllAlgorithms + Recordable>(
    bench: &mut Bench<'_, '_, D, W>,
    point: &Point,
    paper: &mut Paper,
    meter: &Meter,
) -> Result<String> {
    let rate = |tx_per_s, (blocks, threads): (u32, u32)| {
        format!("{} tx/s at {blocks}x{threads}", short(tx_per_s))
    };
    Ok(match *point {
        Point::Speedup(variant) => {
            let (found, tried) = bench.speedup(variant, &paper.speedups, meter.progress())?;
            let same =
                |workload: &str, of: &str, name: &str| workload == found.workload && of == name;
            // Of an attempt that failed.
            paper
                .speedups
                .retain(|s| !same(&s.workload, &s.variant, variant.name()));
            if let Some(first) = tried.first() {
                let name = first.variant.clone();
                paper
                    .search
                    .retain(|t| !same(&t.workload, &t.variant, &name));
            }
            paper.search.extend(tried);
            let verdict = if found.verified {
                "verified"
            } else {
                "NOT verified"
            };
            let what = rate(found.tx_per_s, (found.blocks, found.threads));
            paper.speedups.push(found);
            format!("{}: {what}, {verdict}", variant.name())
        }
        Point::Threads(variant, shape) => {
            let found = bench.threads(variant, shape)?;
            let what = rate(found.tx_per_s, shape);
            paper.threads.push(found);
            format!("{}: {what}", variant.name())
        }
        Point::Eigenbench(variant, hot_words, locks, shape) => {
            let found = bench.eigenbench(variant, hot_words, locks, shape)?;
            let what = rate(found.tx_per_s, shape);
            paper.eigenbench.push(found);
            let (words, locks) = (count(hot_words), count(locks));
            format!("{}, {words} words, {locks} locks: {what}", variant.name())
        }
        Point::Characteristics => match bench.characteristics(&paper.speedups)? {
            Ok(rows) => {
                paper.characteristics.extend(rows);
                "characteristics".into()
            }
            Err(why) => format!("characteristics: NOT measured: {why}"),
        },
    })
}

/// The speed-ups as a table, and what there is.
fn summary(out: &mut impl Write, store: &Store) -> Result<()> {
    let paper = &store.paper;
    let name = |name: &str| name.to_owned();
    let mut rows = vec![vec![name("over cgl")]];
    rows[0].extend(VARIANTS.iter().map(|v| name(v.name())));
    for (workload, _) in WORKLOADS {
        let mut row = vec![name(workload)];
        row.extend(VARIANTS.iter().map(|variant| {
            let of = paper
                .speedups
                .iter()
                .find(|s| s.workload == workload && s.variant == variant.name());
            match of {
                Some(s) if !s.verified => "WRONG".into(),
                Some(s) => s.over_cgl.map_or_else(|| "-".into(), digits3),
                None => "-".into(),
            }
        }));
        if row[1..].iter().any(|cell| cell != "-") {
            rows.push(row);
        }
    }
    if rows.len() > 1 {
        for line in align(&rows, 1, false) {
            writeln!(out, "{line}")?;
        }
        writeln!(out)?;
    }
    for s in paper.speedups.iter().filter(|s| !s.verified) {
        let why = s.error.as_deref().unwrap_or("no result");
        writeln!(out, "NOT verified: {} {}: {why}", s.workload, s.variant)?;
    }
    writeln!(
        out,
        "{} speed-ups, {} launches tried, {} points by threads, {} of EigenBench: {}",
        paper.speedups.len(),
        paper.search.len(),
        paper.threads.len(),
        paper.eigenbench.len(),
        store.path().display()
    )?;
    if !paper.complete {
        writeln!(
            out,
            "Not all of the paper is in it yet: see --only and --workload."
        )?;
    }
    Ok(())
}
