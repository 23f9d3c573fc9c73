//! What is reported about documents of one kind, and the kinds.

use super::jq::{LANGUAGE, Sets};
use super::stated;
use super::stated::{Claim, Report};
use crate::measure::floor::FORMAT;
use crate::measure::search::TIME_LIMIT;
use crate::nw::NwBench;
use crate::nw::reduction::SCHEMES;
use crate::paper::document::{Isolation, Paper};
use crate::prelude::*;
use crate::sync::Bench;
use std::cell::LazyCell;
use stm_sync::barrier::Kind;

pub(super) const PAGE: &str = "page";

/// Claims by the parts of a page that they are of.
type Judged = BTreeMap<&'static str, Vec<Claim>>;

/// Documents of one kind that were read, which may be none, and programs that make sets of records of them, judge
/// claims and targets by these, and state the page. What they know are the facts, and `$view`, for what the sets are
/// made: for the `page`, for claims that are of the `paper`'s variants alone, or for claims at the sizes of this
/// machine, `here`.
#[derive(Default)]
pub(super) struct Subject {
    pub(super) heads: Vec<Head>,
    /// An object of values by the names of variables, with a single document as `$document`.
    facts: Value,
    /// What all programs call.
    pub(super) shared: &'static str,
    /// The sets: an object of values by the names of variables, which the others know too.
    sets: &'static str,
    /// What claims and the page call.
    calls: &'static str,
    page: &'static str,
    /// The view by which claims are judged first.
    view: &'static str,
    /// Claims and targets: the part of the page that each are of, the paper if the document is
    /// about several, and the rows. Those of several papers are judged at this machine's sizes too.
    judged: &'static [(&'static str, &'static str, &'static str)],
}

impl Subject {
    pub(super) fn sets(&self, view: &str) -> Sets<'_> {
        let facts = LANGUAGE
            .sets(&self.facts)
            .and(&(&json!({"view": view})).into());
        let sets = facts.only(&[self.shared, self.sets]);
        facts.and(&sets)
    }

    /// Judges claims and targets; `page` are the sets of the page.
    pub(super) fn judged(&self, page: &Sets) -> Judged {
        let other = (self.view != PAGE).then(|| self.sets(self.view));
        let theirs = other.as_ref().unwrap_or(page);
        let here = LazyCell::new(|| self.sets("here"));
        let of = |&(id, paper, rows): &(_, &str, _)| {
            let programs = [self.shared, self.calls, rows, "| [.[] | judged]"];
            let mut claims: Vec<Claim> = theirs.run(&programs);
            if !paper.is_empty() {
                for (claim, own) in claims.iter_mut().zip(here.run::<Vec<Claim>>(&programs)) {
                    claim.paper = paper.into();
                    claim.verdict_here = Some(own.verdict);
                    claim.figures_here = Some(own.figures);
                }
            }
            (id, claims)
        };
        self.judged.iter().map(of).collect()
    }

    /// Returns what the page's program yields.
    pub(super) fn stated<T: DeserializeOwned>(&self) -> T {
        let sets = self.sets(PAGE);
        let judged = json!({"judged": self.judged(&sets)});
        let drawing = include_str!("drawing.jq");
        let programs = [drawing, self.shared, self.calls, self.page, "| ready"];
        sets.and(&(&judged).into()).run(&programs)
    }

    /// Returns the report about documents, of which there is at least one.
    pub(super) fn report(&self) -> Report {
        let seconds = self.heads.iter().map(|head| head.seconds).sum();
        let head = self.heads[0].clone();
        Report {
            head: Head { seconds, ..head },
            ..self.stated()
        }
    }
}

/// Reads the text of a file.
pub(super) type Read = fn(&str) -> Result<Subject>;

/// The files that are reported on, in the order of the page.
pub(super) const FILES: [(&str, Read); 4] = [
    ("fast.json", cost),
    (Paper::FILE_NAME, paper),
    (<Bench>::FILE_NAME, sync),
    (NwBench::FILE_NAME, nw),
];

/// A document of `bench floor`, as far as it is reported on.
#[derive(Deserialize)]
struct Floor {
    #[serde(flatten)]
    head: Head,
    runs: Vec<Value>,
    stm: Vec<Value>,
}

/// What transactions cost beside one lock, from all in conflict with each other to nearly none: transfers
/// between ever more accounts, as `bench all` measures them by `bench floor`; by `fast`, by `cgl`, and as
/// critical sections. Of a list of documents those count that have all three rates.
fn cost(text: &str) -> Result<Subject> {
    let all: Vec<Floor> = serde_json::from_str(text)
        .map_err(|error| Error::Usage(format!("it is no list of `bench floor`: {error}")))?;
    let mut formats = all.iter().map(|floor| &floor.head.format);
    if let Some(other) = formats.find(|format| *format != FORMAT) {
        let what = format!("a format in it is {other:?}, not {FORMAT:?}");
        return refuse(what + ": use the program that wrote it");
    }
    let (mut heads, mut rates) = (Vec::new(), Vec::new());
    for Floor { head, runs, stm } in all {
        let sets = LANGUAGE.sets(&json!({"runs": runs, "stm": stm}));
        let own: Vec<Value> = sets.run(&[include_str!("cost/rates.jq")]);
        heads.extend((!own.is_empty()).then_some(head));
        rates.extend(own);
    }
    rates.sort_by_key(|rate| rate["accounts"].as_u64());
    Ok(Subject {
        heads,
        facts: json!({"rates": rates}),
        sets: "{}",
        page: include_str!("cost/page.jq"),
        view: PAGE,
        ..Subject::default()
    })
}

/// The report of `stamp bench paper`: what Xu et al. 2014 evaluate, measured again.
///
/// A rule of `claims.jq` that applies to several workloads or settings is judged in those that the document
/// has points of. A gain over coarse-grained locking is one over the same transactions as critical sections
/// of a hand-written lock, of the same run, because `cgl` is slower than these.
///
/// `workloads.json` has the workloads in the paper's order, by their names at the command line: the paper's
/// name, what it stands for, and the row of Table 1, as printed, with the launch of Table 2: shared data in
/// words, words that a transaction reads and writes, transactions of a kernel, share of the time in
/// transactions, probability of conflicts, and blocks x threads of a block where its optimized variant is
/// fastest.
///
/// The pieces of a document are of one build; what is known beside it with its ratios are the paper's workloads and
/// variants, and a note that launches have.
fn paper(text: &str) -> Result<Subject> {
    let mut paper = Paper::parse(text)?;
    if let Some(why) = paper.mixed() {
        return refuse(format!(
            "{why}: figures of two builds are not compared, so measure it again with \
             `stamp bench paper --fresh`"
        ));
    }
    paper.relate();
    let mut document = json!(paper);
    for (i, run) in paper.speedups.iter().enumerate() {
        let recorded = run.isolation.as_ref().map(Isolation::summary);
        document["speedups"][i]["recorded"] = recorded.into();
    }
    let variants = AskedVariant::of_paper().into_iter();
    Ok(Subject {
        facts: json!({
            "document": document, "workloads": stated::<Value>(include_str!("paper/workloads.json")),
            "variants": variants.map(AskedVariant::name).collect::<Vec<_>>(), "time_limit": TIME_LIMIT,
        }),
        heads: vec![paper.head],
        shared: include_str!("paper/workloads.jq"),
        sets: include_str!("paper/sets.jq"),
        calls: include_str!("paper/calls.jq"),
        page: include_str!("paper/page.jq"),
        view: "paper",
        judged: &[("claims", "", include_str!("paper/claims.jq"))],
    })
}

/// The report of `stamp bench sync`: the benchmarks of three papers about synchronisation, and what the
/// library is to reach. `calls.jq` has what page, claims and targets call, and `sets.jq` what suits a
/// machine by ratios of memory accesses, too. A claim is judged at the papers' grids and once more at this
/// machine's, by the same rule.
///
/// Grote's lanes ask for the lock each by itself: the kinds with `/lane`. His MCS2 with one lock for each
/// entry point is `mcs` here, as one lock is held at a time. "All" locks of Gattani and Anickode are the spin
/// lock, measured twice as their mutex is the same code, ticket, MCS and Anderson's, and the spin spin lock
/// where it was measured. In the source that the slides seem to come from, the kernel with Anderson's lock
/// prints "MCS" and the other way round, so two claims are judged in both readings.
///
/// What is known beside the document are the names of our barriers, and the grids of the memory benchmarks, each
/// with how many groups a barrier has there, and with its ratios if its times are times.
fn sync(text: &str) -> Result<Subject> {
    let bench = <Bench>::parse(text)?;
    let kinds = || Kind::ALL.iter().copied();
    let grids = bench.machine.iter().flat_map(|machine| &machine.grids);
    let grids = grids.map(|grid| {
        let times = &grid.times_ns;
        let ratios = times.abstraction().map(|of| of.ratios());
        let groups = kinds().map(|kind| (kind.name(), kind.groups(times.blocks)));
        let groups: BTreeMap<&str, u32> = groups.collect();
        json!({"blocks": times.blocks, "times": times, "groups": groups, "ratios": ratios})
    });
    let (grids, barriers): (Vec<_>, Vec<_>) = (grids.collect(), kinds().map(Kind::name).collect());
    Ok(Subject {
        facts: json!({"document": bench, "barriers": barriers, "grids": grids}),
        heads: vec![bench.head],
        shared: include_str!("points.jq"),
        sets: include_str!("sync/sets.jq"),
        calls: include_str!("sync/calls.jq"),
        page: include_str!("sync/page.jq"),
        view: PAGE,
        judged: &[
            ("sync-targets", "", include_str!("sync/targets.jq")),
            ("claims-grote", "Grote 2020", include_str!("sync/grote.jq")),
            (
                "claims-stuart",
                "Stuart and Owens 2011",
                include_str!("sync/stuart.jq"),
            ),
            (
                "claims-gattani",
                "Gattani and Anickode 2024",
                include_str!("sync/gattani.jq"),
            ),
        ],
    })
}

/// The report of `stamp bench nw`.
fn nw(text: &str) -> Result<Subject> {
    let bench = NwBench::parse(text)?;
    let costs = SCHEMES.iter().map(|(scheme, _, cost, _)| {
        let (all, each) = cost();
        json!({"scheme": scheme, "bytes": format!("{all}, {each} a warp")})
    });
    Ok(Subject {
        facts: json!({"document": bench, "costs": costs.collect::<Vec<_>>()}),
        heads: vec![bench.head],
        shared: include_str!("points.jq"),
        // Each point has the side of a tile.
        sets: "[$document.points[] | point | . + {side_or_0: (.parameters.side // 0)}]
        | {points: ., hops: [where({part: \"hops\", counts: 1})]}",
        calls: include_str!("nw/calls.jq"),
        page: include_str!("nw/page.jq"),
        view: PAGE,
        judged: &[
            ("nw-targets", "", include_str!("nw/targets.jq")),
            ("nw-claims", "", include_str!("nw/claims.jq")),
        ],
    })
}
